import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deleteSpool, readOwner, writeOwner } from '../../adapter/store/spoolOwner';
import { openForWriting } from '../../adapter/store/database';
import { recoverSpool } from '../../adapter/store/recover';
import { StorePlace, until } from './store-support';

describe('store: disks', function () {
  this.timeout(120_000);
  let place: StorePlace;

  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.remove());

  const spoolFiles = (): string[] => readdirSync(place.spool).filter((name) => name.endsWith('.spool'));
  const returned = (): number => Number(place.rows('SELECT count(*) AS n FROM calls WHERE status = 0')[0]!['n']);

  it('deletes what was read while the app goes on', async () => {
    const recorder = place.recorder({ keptSpoolBytes: 0 });
    const { child, done } = place.writer(40_000);
    await done;
    // The app lives, and so does its last file.
    await until(() => !spoolFiles().some((name) => name.endsWith('-2.spool')), 'the first files to be deleted');
    assert.equal(child.exitCode, null);
    assert.ok(spoolFiles().length >= 1);
    child.stdin!.end();
    await once(child, 'exit');
    recorder.processEnded(1, 0);
    await recorder.close();
    assert.equal(returned(), 40_001);
    assert.deepEqual(place.problems, []);
    assert.equal(deleteSpool(place.spool), true);
  });

  it('lives through a full disk: one sentence, the app goes on, what was written can be read', async () => {
    const small = join(place.folder, 'small');
    const disk = place.disk(small, 'size=4m');
    Object.assign(place, { spool: join(small, 'spool'), runFile: join(small, 'runs', 'a.db') });
    mkdirSync(place.spool);
    mkdirSync(dirname(place.runFile));
    const recorder = place.recorder();
    const { child, done, stderr } = place.writer(50_000, disk);
    await done;
    child.stdin!.end();
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
    assert.match(
      stderr(),
      /^toolbreak: Recording ended: the spool file could not be written \((No space left on device|File too large)\)\. The app goes on without it\.\n$/,
    );
    recorder.processEnded(1, 0);
    await recorder.close();
    assert.ok(place.problems.length <= 1, place.problems.join('\n'));
    for (const problem of place.problems)
      assert.match(problem, /^The disk is full: the run file .* cannot grow\. Free some space\. The app goes on;/);
    assert.ok(returned() > 100, `${returned()} calls`);
    assert.deepEqual(place.rows('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  });

  it('calls a disk full also where it is the memory that a run file shares that has no room', () => {
    const small = join(place.folder, 'small');
    const disk = place.disk(small, 'size=1m');
    const file = join(small, 'a.db');
    openForWriting(file).close();
    const look = (): void => void openForWriting(file).prepare('SELECT * FROM runs').all();
    const { bavail, bsize } = statfsSync(small);
    if (disk.mounted) writeFileSync(join(small, 'other'), Buffer.alloc(bavail * bsize));
    if (disk.mounted)
      assert.throws(look, /^UserError: The disk is full: the run file .* cannot grow\. Free some space\.$/);
    // Without a disk of our own there is none to fill.
    else look();
  });

  it('lives through a folder that is read-only, and adds the run when it can be written', async () => {
    const runs = dirname(place.runFile);
    // Without a mount a file in its place refuses the folder to everybody, who may write everything, too.
    if (!place.disk(runs, 'ro,size=4m').mounted) {
      rmSync(runs, { recursive: true });
      writeFileSync(runs, '');
    }
    const recorder = place.recorder();
    const { child, done } = place.writer(100);
    await done;
    child.stdin!.end();
    await once(child, 'exit');
    await recorder.sync();
    recorder.processEnded(1, 0);
    await recorder.close();
    assert.equal(place.problems.length, 1);
    assert.match(place.problems[0]!, /The app goes on; what it records is kept/);
    assert.match(place.problems[0]!, /cannot be (written|opened|used)/);
    assert.equal(deleteSpool(place.spool), false);
    // The person sees to it; the session is over by then.
    Object.assign(place, { runFile: join(place.folder, 'a.db') });
    writeOwner(place.spool, { ...readOwner(place.spool)!, runFile: place.runFile, pid: 4000002, pidStart: '1' });
    assert.equal(recoverSpool(place.spool).state, 'recovered');
    assert.equal(returned(), 101);
  });

  it('takes up the run while the app goes on, when its folder can be written again', async () => {
    const runs = dirname(place.runFile);
    const disk = place.disk(runs, 'ro,size=8m');
    if (!disk.mounted) {
      rmSync(runs, { recursive: true });
      writeFileSync(runs, '');
    }
    const recorder = place.recorder();
    const { child, done } = place.writer(100);
    await done;
    await until(() => place.problems.length === 1, 'the sentence');
    if (disk.mounted) disk.remount('rw');
    else rmSync(runs);
    await until(() => existsSync(place.runFile), 'the run file');
    await recorder.sync();
    assert.equal(child.exitCode, null);
    assert.equal(returned(), 101);
    child.stdin!.end();
    await once(child, 'exit');
    recorder.processEnded(1, 0);
    await recorder.close();
    assert.equal(place.problems.length, 1);
    assert.equal(deleteSpool(place.spool), true);
  });
});
