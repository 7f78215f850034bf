import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkRun } from '../../adapter/store/life/check';
import { runQuery } from '../../adapter/store/query/query';
import { toolbreakCommand } from '../support/adapter';
import { SmallDisk } from '../support/small-disk';
import { LifePlace, run, type Said } from './life-support';
import { python } from './target-support';

const CALLS = 6000;

/** Some MB of calls; its own files may be of any size. Says after each call how many returned. */
const APP = `
import resource, sys

def tool(n, text):
    return {"n": n, "text": text}

hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
if "unlimited" in sys.argv:
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
total = 0
for n in range(${CALLS}):
    total += len(tool(n, str(n) * 200)["text"])
print("total", total)
sys.exit(3)
`;

describe('disks: an app that is recorded', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let disk: SmallDisk | undefined;
  let app: string;
  let bare: Said;

  beforeEach(async () => {
    place = new LifePlace();
    disk = undefined;
    app = place.file('app.py', APP);
    bare = await run(python, [app], { cwd: place.project, env: place.env });
    assert.equal(bare.code, 3, bare.stderr);
  });
  afterEach(async () => {
    disk?.remove();
    await place.remove();
  });

  async function record(onDisk: SmallDisk, args: string[], kilobytes: number): Promise<Said> {
    const command = [
      process.execPath,
      ...toolbreakCommand('run', '--functions', '@usercode', '--', python, app, ...args),
    ];
    const [file, ...rest] = onDisk.limited(command, kilobytes);
    return run(file!, rest, { cwd: place.project, env: place.env });
  }

  /** Calls of the tool that are stored, without a gap; the file is whole. */
  function stored(): number {
    const [file] = place.files();
    assert.ok(file !== undefined, 'there is no run file');
    const { problems } = checkRun(file);
    assert.deepEqual(problems, []);
    const whole = { rows: 1e9, counting: 1e9, milliseconds: 60_000 };
    const ask = (equals?: number): number => {
      const query = { name: { equals: 'tool' }, status: ['returned' as const], limit: 1 };
      const where = equals === undefined ? {} : { where: [{ path: 'argument.n', equals }] };
      const { rows, more } = runQuery([file], { ...query, ...where }, whole);
      return rows.length + more.count;
    };
    const count = ask();
    if (count > 0) assert.deepEqual([ask(0), ask(count - 1)], [1, 1], 'some call in the middle is missing');
    return count;
  }

  /** The app did what it does alone, and we said one sentence. */
  function assertUnharmed({ code, stdout, stderr }: Said, sentence: RegExp): void {
    assert.deepEqual({ code, stdout }, { code: bare.code, stdout: bare.stdout });
    const said = stderr.split('\n').filter((line) => line !== '' && !/^toolbreak: (Recorded|recorded)/.test(line));
    assert.equal(said.length, 1, stderr);
    assert.match(said[0]!, sentence);
  }

  it('ends its recording with one sentence when the disk of the spool is full, and all up to there is stored', async () => {
    disk = new SmallDisk(join(place.state, 'sessions'), 'size=5m');
    assertUnharmed(
      await record(disk, [], 1024),
      /Recording ended: the spool file could not be written \((No space left on device|File too large)\)\. The app goes on without it\./,
    );
    const count = stored();
    assert.ok(count > 50 && count < CALLS, `${count} calls`);
  });

  it('goes on when the disk of the run file is full, and stores all of it when there is room again', async () => {
    const projects = join(place.state, 'projects');
    disk = new SmallDisk(projects, 'size=600k');
    assertUnharmed(
      await record(disk, ['unlimited'], 400),
      /(The disk is full: the run file .* cannot grow\. Free some space\.|The disk refused the run file .*) The app goes on; what it records is kept and added to the timeline as soon as that is possible\./,
    );
    // The limit that stands in for a small disk is only for the command.
    if (disk.mounted) {
      const waits = /The disk is full: .* A part of what was recorded waits beside it, and is not in it yet\./;
      for (const command of ['show', 'query']) assert.match((await place.say(command, 'last')).stderr, waits);
      const { code, stdout } = await place.say('check', 'last');
      assert.equal(code, 1);
      assert.match(
        stdout,
        /^Run 1 .* is not whole\.\n {2}✗ The disk is full: .* is not in it yet\. \(1\)\nRead: \d+ calls/,
      );
    }
    disk.remount('size=200m');
    const { code, stderr } = await place.say('tidy');
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.equal(stored(), CALLS);
    assert.match((await place.say('check', 'last')).stdout, /is whole\./);
  });

  it('goes on when the folder of the run file is read-only, and stores all of it when it can be written', async () => {
    const projects = join(place.state, 'projects');
    disk = new SmallDisk(projects, 'ro,size=200m');
    // Without a mount a file in its place refuses the folder to everybody, who may write everything, too.
    if (!disk.mounted) {
      rmSync(projects, { recursive: true });
      writeFileSync(projects, '');
    }
    assertUnharmed(
      await record(disk, ['unlimited'], 10_000),
      /The run file .* cannot be (written|used): .* The app goes on; what it records is kept and added to the timeline as soon as that is possible\./,
    );
    if (disk.mounted) disk.remount('rw');
    else {
      rmSync(projects);
      mkdirSync(projects);
    }
    const { code, stderr } = await place.say('tidy');
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.equal(stored(), CALLS);
  });

  it('runs where it records by itself into a full disk, and all up to there can be imported', async () => {
    const into = join(place.folder, 'records');
    disk = new SmallDisk(into, 'size=5m');
    const [file, ...rest] = disk.limited([python, app], 1024);
    const boot = join(__dirname, '..', '..', 'runtimes', 'python', 'toolbreak', 'boot');
    assert.ok(existsSync(boot));
    const env = {
      ...place.env,
      TOOLBREAK_RECORD: into,
      TOOLBREAK_RECORD_FUNCTIONS: '@usercode',
      PYTHONPATH: boot,
    };
    assertUnharmed(
      await run(file!, rest, { cwd: place.project, env }),
      /Recording ended: the spool file could not be written \((No space left on device|File too large)\)\. The app goes on without it\./,
    );
    const imported = await place.say('import', into);
    assert.equal(imported.code, 0, imported.stderr);
    const count = stored();
    assert.ok(count > 50 && count < CALLS, `${count} calls`);
  });
});
