import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { pythonBootFolder, pythonRuntimeFolder } from '../../adapter/common/installation';
import type { QueryAnswer } from '../../protocol/query';
import { importSpools, type Taken } from '../../adapter/store/life/importSpools';
import { EventFields } from '../../adapter/store/reader/eventPlace';
import { eventText } from '../../adapter/store/reader/eventText';
import { RunFile } from '../../adapter/store/reader/runFile';
import { AGENT, LifePlace, run, SECRET_OPTIONS, type Said } from './life-support';
import { python } from './target-support';
import { openWithCalls } from '../support/run-file';

describe('life: recording without an adapter', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    place = new LifePlace();
    folder = join(place.folder, 'recorded');
    env = {
      ...place.env,
      PYTHONPATH: pythonBootFolder(),
      TOOLBREAK_RECORD: folder,
      TOOLBREAK_RECORD_FUNCTIONS: '@usercode',
    };
    place.file('agent.py', AGENT);
  });
  afterEach(() => place.remove());

  const app = (more: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<Said> =>
    run(python, args.length > 0 ? args : ['agent.py'], { cwd: place.project, env: { ...env, ...more } });
  const taken = (path = folder): Promise<Taken[]> => place.json<Taken[]>('import', path);
  const rows = (file: string, sql: string): unknown[] => {
    const db = openWithCalls(file);
    try {
      return db.prepare(sql).pluck().all();
    } finally {
      db.close();
    }
  };

  it('records into a folder, and the run is as any other once it is imported', async () => {
    assert.deepEqual(await app(), { code: 0, stdout: '4\n', stderr: '' });
    const [first] = await taken();
    assert.deepEqual([first!.calls, first!.name, first!.alive, first!.number], [5, 'agent.py', false, 1]);
    const [summary] = await place.json<{ calls: number; errors: number; live: boolean }[]>('runs');
    assert.deepEqual([summary!.calls, summary!.errors, summary!.live], [5, 1, false]);
    assert.deepEqual(
      rows(first!.file, 'SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.start'),
      ['agent', 'lookup', 'lookup', 'lookup', 'lookup'],
    );
    assert.equal((await place.say('check', 'last')).code, 0);
    // Nothing is taken twice.
    assert.equal((await taken())[0]!.calls, 5);
    assert.equal((await app()).code, 0);
    assert.deepEqual(
      (await taken()).map(({ calls }) => calls),
      [5, 5],
    );
    assert.deepEqual(
      readdirSync(place.runs).filter((name) => !name.endsWith('.db')),
      [],
    );
  });

  it('writes a large value that comes again once, and every call has it, also of a further import', async () => {
    const again = `def count(rows):
    return len(rows)
rows = [{"id": n, "text": "mugs " * 20} for n in range(200)]
for _ in range(25):
    count(rows)
print(flush=True)
input()
for _ in range(25):
    count(rows)
`;
    const child = spawn(python, [place.file('again.py', again)], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      assert.deepEqual([(await taken())[0]!.calls, child.exitCode], [25, null]);
    } finally {
      child.stdin.end('\n');
      await ended;
    }
    const [name] = readdirSync(folder);
    const spools = readdirSync(join(folder, name!)).filter((file) => file.endsWith('.spool'));
    const written = spools.map((file) => readFileSync(join(folder, name!, file), 'latin1')).join('');
    const times = written.split('mugs '.repeat(20)).length - 1;
    assert.ok(times >= 200 && times <= 600, `${times} texts were written.`);
    await taken();
    const found = await place.json<QueryAnswer>('query', 'last', '--where', 'argument.rows[199].id equals 199');
    assert.equal(found.rows.length, 50);
  });

  it('says where a fault below Python ended the app', async () => {
    place.file('fault.py', 'import ctypes\ndef read():\n    return ctypes.string_at(0)\nread()\n');
    const child = spawn(python, ['fault.py'], { cwd: place.project, env, stdio: 'ignore' });
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGSEGV']);
    const [first] = await taken();
    const crash = `SELECT json_extract(e.data, '$.text') || ' in ' || f.name FROM events e
      JOIN calls c ON c.id = e.call JOIN functions f ON f.id = c.function WHERE e.name = 'crash'`;
    assert.deepEqual(rows(first!.file, crash), ['Segmentation fault in read']);
  });

  for (const copied of [false, true])
    it(`${copied ? 'does not say how long a call ran' : 'says that a call ran'} until a fault${copied ? ' in a copy, whose files have other times' : ''}`, async () => {
      place.file('fault.py', 'import ctypes\ndef read():\n    return ctypes.string_at(0)\nread()\n');
      const child = spawn(python, ['fault.py'], { cwd: place.project, env, stdio: 'ignore' });
      assert.deepEqual(await once(child, 'exit'), [null, 'SIGSEGV']);
      const [name] = readdirSync(folder);
      const files = readdirSync(join(folder, name!)).filter((file) => copied || file.endsWith('.fault'));
      for (const file of files) {
        const path = join(folder, name!, file);
        const later = statSync(path).mtimeMs / 1000 + 60;
        utimesSync(path, later, later);
      }
      await taken();
      const [row] = (await place.json<QueryAnswer>('query', 'last')).rows;
      assert.ok(row?.type === 'call');
      const seconds = (row.call.end! - row.call.start) / 1e9;
      assert.ok(copied ? seconds < 30 : seconds > 59 && seconds < 90, String(seconds));
    });

  it('tells an exception that ends the app, or one of its threads, also where the app itself began to record', async () => {
    place.file(
      'own.py',
      `import threading, toolbreak\ndef work():\n    return {}["mug"]\ndef begin():\n    toolbreak.record(${JSON.stringify(folder)})\nbegin()\nthread = threading.Thread(target=work)\nthread.start()\nthread.join()\nwork()\n`,
    );
    const said = await app({ PYTHONPATH: pythonRuntimeFolder(), TOOLBREAK_RECORD: '' }, 'own.py');
    assert.equal(said.code, 1);
    assert.equal(said.stderr.match(/KeyError: 'mug'/g)?.length, 2);
    await taken();
    const { rows: found } = await place.json<QueryAnswer>('query', 'last', '--type', 'event,crash');
    assert.deepEqual(
      found.map((row) => [row.type, row.type === 'call' ? '' : row.text.replace(/ @ .*/, '')]),
      [
        ['event', "Uncaught exception in thread Thread-1 (work): KeyError: 'mug', at work"],
        ['crash', "Crash: KeyError: 'mug', at work"],
        ['event', 'Ended with exit code 1'],
      ],
    );
  });

  it('tells how the process that began it ended, and that one which was killed said nothing of its end', async () => {
    const forks = 'pid = os.fork()\nif pid == 0:\n    work()\n    CHILD\nos.waitpid(pid, 0)\n';
    const noEnd = 'NAME recorded no end: it was killed, ended at once, as by os._exit, or became another program';
    const ends: Record<string, [string, string | undefined, string]> = {
      comes: ['', undefined, 'Ended with exit code 0'],
      exits: ['sys.exit(3)', undefined, 'Ended'],
      crashes: ['raise ValueError("no tea")', 'crashed', 'Ended with exit code 1'],
      // After it said so.
      faults: [
        'import ctypes\nclass Last:\n    def __del__(self, read=ctypes.string_at):\n        read(0)\nlast = Last()',
        'crashed',
        'Ended with exit code 0',
      ],
      // It may end the process with another code.
      hooks: ['sys.excepthook = lambda *_: sys.exit(2)\nraise ValueError("no tea")', 'crashed', 'Ended'],
      killed: ['os.kill(os.getpid(), signal.SIGKILL)', 'vanished', noEnd],
      terminated: ['os.kill(os.getpid(), signal.SIGTERM)', 'vanished', noEnd],
      leaves: ['os._exit(0)', 'vanished', noEnd],
      // A child's end is not that of the run.
      forks: [forks.replace('CHILD', 'os._exit(3)'), undefined, 'Ended with exit code 0'],
      parent: [`${forks.replace('CHILD', 'sys.exit(5)')}os._exit(0)`, 'vanished', noEnd],
      becomes: ['os.execv(sys.executable, [sys.executable, "agent.py"])', undefined, 'Ended with exit code 0'],
    };
    for (const [name, [source]] of Object.entries(ends)) {
      place.file(`${name}.py`, `import os, signal, sys\ndef work():\n    return 1\nwork()\n${source}\n`);
      await app({}, `${name}.py`);
    }
    // Once, however often it is taken over.
    for (let times = 0; times < 2; times++) {
      const told = importSpools(folder, place.runs).taken.map((run) => {
        const file = new RunFile(run.file);
        try {
          const name = run.name.replace('.py', '');
          const sql = `SELECT name, value, data FROM events WHERE name IN ('exited', 'vanished')`;
          const events = file.sql(sql).all() as { name: string; value: number | null; data: string | null }[];
          // The sentence is all there is to say.
          for (const { value, data } of events) assert.deepEqual(new EventFields(file, value, data).facts(), []);
          const said = events.map((event) => eventText(file, event.name, event.value, event.data));
          const who = new RegExp(`^Process \\d+ \\(${name}\\.py\\)`);
          return [name, [file.summary().ending?.how, ...said.map((text) => text.replace(who, 'NAME'))]];
        } finally {
          file.close();
        }
      });
      const wanted = Object.entries(ends).map(([name, [, how, text]]) => [name, [how, text]]);
      assert.deepEqual(Object.fromEntries(told), Object.fromEntries(wanted));
    }
    assert.match(
      (await place.say('import', folder)).stdout,
      /^Run \d+ \(killed\.py, 1 call, no end recorded\) was imported/m,
    );
    const lines = (await place.say('runs')).stdout.split('\n').filter((line) => line.endsWith(', no end recorded'));
    assert.equal(lines.length, 4);
    const [number] = lines[0]!.split(' ');
    assert.match((await place.say('show', number!)).stdout, / · no end recorded · /);
  });

  it('says of a copy that the app may still have run, and of one that is made later what it says', async () => {
    place.file('end.py', 'def work():\n    return 1\nwork()\nprint("ready", flush=True)\ninput()\n');
    const child = spawn(python, ['end.py'], { cwd: place.project, env, stdio: ['pipe', 'pipe', 'inherit'] });
    const copy = join(place.folder, 'copy');
    const copyIt = (): void => {
      cpSync(folder, copy, { recursive: true });
      const note = join(copy, readdirSync(copy)[0]!, 'run.json');
      writeFileSync(note, JSON.stringify({ ...(JSON.parse(readFileSync(note, 'utf8')) as object), machine: 'x' }));
    };
    const ending = async (): Promise<string | undefined> => {
      await taken(copy);
      return (await place.json<{ ending?: { how: string } }[]>('runs'))[0]!.ending?.how;
    };
    try {
      await once(child.stdout, 'data');
      copyIt();
      assert.equal(await ending(), 'vanished');
      const { rows: found } = await place.json<QueryAnswer>('query', 'last', '--type', 'event');
      assert.match(
        found[0]?.type === 'event' ? found[0].text : '',
        /recorded no end: it was killed, .*, or still ran when this was copied$/,
      );
      child.stdin.end('\n');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    } finally {
      child.kill('SIGKILL');
    }
    copyIt();
    assert.equal(await ending(), undefined);
  });

  it('knows a forked process that goes on', async () => {
    place.file(
      'daemon.py',
      'import os, signal\ndef work():\n    return 1\nwork()\nif os.fork() == 0:\n    work()\n    print(os.getpid(), flush=True)\n    signal.pause()\n',
    );
    const child = spawn(python, ['daemon.py'], { cwd: place.project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const closed = once(child, 'close');
    const [pid] = (await once(child.stdout, 'data')) as [Buffer];
    try {
      await ended;
      assert.equal((await taken())[0]!.alive, true);
    } finally {
      process.kill(Number(pid.toString()), 'SIGKILL');
    }
    await closed;
    assert.deepEqual([(await taken())[0]!.alive, (await taken())[0]!.calls], [false, 2]);
  });

  it('has the calls of child processes, started and forked, in one run', async () => {
    place.file(
      'parent.py',
      `import os, subprocess, sys\ndef mine(number):\n    return number\nmine(1)\nsubprocess.run([sys.executable, "agent.py"], check=True)\npid = os.fork()\nif pid == 0:\n    mine(2)\n    os._exit(0)\nos.waitpid(pid, 0)\nmine(3)\n`,
    );
    const said = await app({}, 'parent.py');
    assert.deepEqual([said.code, said.stderr], [0, '']);
    const all = await taken();
    assert.equal(all.length, 1);
    assert.deepEqual([all[0]!.calls, all[0]!.name], [8, 'parent.py']);
    assert.deepEqual(rows(all[0]!.file, 'SELECT count(*) FROM processes'), [3]);
  });

  it('writes no secret of the command line', async () => {
    const said = await app({}, 'agent.py', ...SECRET_OPTIONS);
    assert.deepEqual([said.code, said.stderr], [0, '']);
    const [name] = readdirSync(folder);
    const files = readdirSync(join(folder, name!));
    assert.equal(files.length, 3);
    for (const file of files) assert.doesNotMatch(readFileSync(join(folder, name!, file), 'latin1'), /hunter2/, file);
  });

  it('masks what the person names, and says once that a size is none', async () => {
    place.file(
      'child.py',
      'import subprocess, sys\ndef find(patient):\n    return len(patient)\nfind("Ann Miller")\nsubprocess.run([sys.executable, "agent.py", "--patient", "Ann Miller"])\n',
    );
    for (const megabytes of ['x', '0', '²', '-5']) {
      rmSync(folder, { recursive: true, force: true });
      const said = await app(
        { TOOLBREAK_RECORD_MASK_KEYS: 'case, PATIENT*', TOOLBREAK_RECORD_MEGABYTES: megabytes },
        'child.py',
      );
      assert.equal(said.code, 0);
      assert.match(
        said.stderr,
        /^Toolbreak: TOOLBREAK_RECORD_MEGABYTES is ".{1,6}", and has to be a whole number from 1 on: 2048 is taken\.\n$/,
      );
    }
    const [name] = readdirSync(folder);
    for (const file of readdirSync(join(folder, name!)))
      assert.doesNotMatch(readFileSync(join(folder, name!, file), 'latin1'), /Miller/, file);
  });

  it('says once which pattern can name no function', async () => {
    place.file(
      'child.py',
      'import subprocess, sys\nsubprocess.run([sys.executable, "-c", "def find(): return 1\\nfind()"])\n',
    );
    const said = await app({ TOOLBREAK_RECORD_FUNCTIONS: '@user, @usercode' }, 'child.py');
    assert.equal(
      said.stderr,
      'Toolbreak: "@user" of TOOLBREAK_RECORD_FUNCTIONS names no function: behind "@" there is "usercode", or "file:" and a path.\n',
    );
    assert.equal(said.code, 0);
  });

  it('is begun by the app itself, too', async () => {
    place.file(
      'own.py',
      `import toolbreak\n@toolbreak.tool\ndef find(number):\n    return number\nown = toolbreak.record(${JSON.stringify(folder)})\nprint(own, toolbreak.record("elsewhere") == own)\nfind(7)\ntry:\n    toolbreak.record()\nexcept ValueError as error:\n    print(error)\n`,
    );
    const said = await app({ PYTHONPATH: pythonRuntimeFolder(), TOOLBREAK_RECORD: '' }, 'own.py');
    assert.equal(said.stderr, '');
    assert.match(said.stdout, /recorded\/\S* True\nname a folder, or set TOOLBREAK_RECORD\n$/);
    const [one] = await taken();
    assert.deepEqual(
      rows(one!.file, "SELECT f.kind || ':' || f.name FROM calls c JOIN functions f ON f.id = c.function"),
      ['tool:find'],
    );
  });

  it('is taken over while the app runs, after kill -9, and again for the rest', async () => {
    const child = spawn(python, ['agent.py', 'wait'], { cwd: place.project, env, stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const said = await place.say('import', folder);
      assert.match(
        said.stdout,
        /^Imported run 1 \(agent\.py, 5 calls\)\. The app still runs: import again for what it records from now on\.\n$/,
      );
      assert.equal((await taken())[0]!.alive, true);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const [last] = await taken();
    assert.deepEqual([last!.calls, last!.alive], [5, false]);
  });

  it('says what a further import took', async () => {
    const text = 'def one():\n    return 1\none()\nprint(flush=True)\ninput()\none()\none()\n';
    const child = spawn(python, [place.file('two.py', text)], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    assert.match(
      (await place.say('import', folder)).stdout,
      /^Imported run 1 \(two\.py, 1 call\)\. The app still runs/,
    );
    const ended = once(child, 'exit');
    child.stdin.end('\n');
    await ended;
    assert.equal((await place.say('import', folder)).stdout, 'Imported 2 calls more into run 1 (two.py, 3 calls).\n');
    assert.equal(
      (await place.say('import', folder)).stdout,
      'Run 1 (two.py, 3 calls) was imported before: no further calls.\n',
    );
  });

  it('takes all runs of a folder but the one that it cannot', async () => {
    for (let time = 0; time < 3; time++) await app();
    const middle = readdirSync(folder).sort()[1]!;
    mkdirSync(place.runs, { recursive: true });
    writeFileSync(join(place.runs, `${middle}.db`), 'no database');
    const said = await place.say('import', folder);
    assert.equal(said.code, 1);
    assert.match(said.stdout, /^Imported run \d \(.*\)\.\nImported run \d \(.*\)\.\n$/);
    assert.match(said.stderr, /^toolbreak: [^\n]* was not imported: The run file [^\n]* is damaged\.\n$/);
    assert.ok(said.stderr.includes(join(folder, middle)));
    const last = readdirSync(folder).sort()[2]!;
    rmSync(join(folder, last, 'run.json'));
    const told = JSON.parse((await place.say('import', folder, '--json')).stdout) as {
      problem?: string;
      earlier?: number;
    }[];
    assert.deepEqual(
      told.map(({ problem, earlier }) => problem?.replace(/ \S*\.db/, '') ?? earlier),
      [5, 'It has spool files, but no run.json that can be read.', 'The run file is damaged.'],
    );
  });

  it('says that an app called nothing that is recorded', async () => {
    await app({}, '-c', '1');
    const said = await place.say('import', folder);
    assert.deepEqual([said.code, said.stdout], [1, '']);
    assert.match(
      said.stderr,
      /^toolbreak: .*recorded holds no call: no tool, node or model call was made there\. TOOLBREAK_/,
    );
  });

  it('does not take a recording that ended early for whole, or its calls for ended', async () => {
    place.file(
      'many.py',
      'def outer():\n    for number in range(5000):\n        work(number)\n    return "done"\ndef work(number):\n    return "x" * 1000 + str(number)\nouter()\n',
    );
    assert.equal((await app({ TOOLBREAK_RECORD_MEGABYTES: '2' }, 'many.py')).code, 0);
    const said = await place.say('import', folder);
    assert.match(
      said.stdout,
      /calls\)\. The recording ended before the app did: "toolbreak query 1 --type event" says why\.\n$/,
    );
    assert.match((await place.say('runs')).stdout, /, recorded in part\n/);
    assert.match(
      (await place.say('show', '1', '--limit', '1')).stdout,
      /^run 1 · .* · recorded in part · .*\n1\.1 +≥ /,
    );
    const detail = (await place.say('show', '1', '1.1')).stdout;
    assert.match(detail, /^function outer, ran for at least .*\n/);
    assert.match(detail, /\n {2}Ended: Its end is missing: the process ended first, or that part was not recorded/);
  });

  /** Of the one process in the one run that is recorded. */
  function spoolFile(number: number): string {
    const run = join(folder, readdirSync(folder)[0]!);
    return join(
      run,
      readdirSync(run).find((name) => name.endsWith(`-${number}.spool`))!,
    );
  }

  it('says what of a damaged recording could not be read, and keeps all around it', async () => {
    place.file(
      'many.py',
      'def work(number):\n    return [number] * 20\nfor number in range(1000):\n    work(number)\n',
    );
    assert.equal((await app({}, 'many.py')).code, 0);
    const spool = spoolFile(1);
    const bytes = readFileSync(spool);
    bytes[50_000]! ^= 0xff;
    writeFileSync(spool, bytes);
    const said = await place.say('import', folder);
    const told =
      /^Imported run 1 \(many\.py, ([\d,]+) calls\)\. 1 part of the recording could not be read; all around it is there: "toolbreak query 1 --type event" says where\. A whole copy of the folder can be imported after "toolbreak delete .*\.db"\.\n$/;
    assert.match(said.stdout, told);
    // One frame is lost: a call, or the end of one.
    assert.ok(Number(told.exec(said.stdout)![1]!.replace(',', '')) >= 999);
    const [run] = await taken();
    assert.equal(run!.damaged, 1);
    assert.match((await place.say('runs')).stdout, /, 1 part unreadable\n/);
    assert.match((await place.say('show', 'last', '--limit', '1')).stdout, /^run 1 · .* · 1 part unreadable · /);
    const { rows: events } = await place.json<QueryAnswer>('query', '1', '--type', 'event');
    assert.match(
      (events[0] as { text: string }).text,
      /^Part of the recording could not be read: a checksum does not fit/,
    );
    const { rows: open } = await place.json<QueryAnswer>('query', '1', '--status', 'cancelled');
    for (const row of open)
      assert.match((row as { error: string }).error, /^Its end is missing: .*could not be read\.$/);
    bytes[50_000]! ^= 0xff;
    writeFileSync(spool, bytes);
    assert.equal((await place.say('delete', '1')).code, 0);
    assert.match((await place.say('import', folder)).stdout, /^Imported run 2 \(many\.py, 1,000 calls\)\.\n$/);
  });

  for (const [what, spoil] of [
    ['missing', (file: string) => renameSync(file, join(place.folder, basename(file)))],
    ['empty', (file: string) => truncateSync(file, 8)],
  ] as const)
    it(`says which spool file is ${what} in the middle, once`, async () => {
      place.file(
        'many.py',
        'def work(number):\n    return "x" * 1000 + str(number)\nfor number in range(3000):\n    work(number)\n',
      );
      assert.equal((await app({}, 'many.py')).code, 0);
      const middle = spoolFile(2);
      spoil(middle);
      for (const begin of ['Imported run 1 (', 'Run 1 (']) {
        const { stdout } = await place.say('import', folder);
        assert.ok(stdout.startsWith(begin), stdout);
        assert.match(
          stdout,
          /calls\)( was imported before: no further calls)?\. 1 part of the recording could not be read; /,
        );
      }
      const { rows } = await place.json<QueryAnswer>('query', '1', '--type', 'event');
      assert.deepEqual(
        (rows as { text: string }[]).map(({ text }) => text).filter((text) => text.startsWith('Part of')),
        [`Part of the recording could not be read: the spool file ${basename(middle)} is ${what}`],
      );
    });

  it('says which spool files it passes over: a pipe, and one with another name', async () => {
    assert.equal((await app()).code, 0);
    const inside = join(folder, readdirSync(folder)[0]!);
    const [spool] = readdirSync(inside).filter((name) => name.endsWith('.spool'));
    const odd = spool!.replace('-', '\n-').replace('.spool', 'x.spool');
    renameSync(join(inside, spool!), join(inside, odd));
    assert.equal(spawnSync('mkfifo', [join(inside, 'pipe-1.spool')]).status, 0);
    const [{ calls, damaged, passedOver }] = (await taken()) as [Taken];
    assert.deepEqual([calls, damaged, passedOver?.toSorted()], [0, 2, [odd, 'pipe-1.spool'].toSorted()]);
    const { stdout } = await place.say('import', folder);
    assert.match(stdout, /Passed over, since no spool file is named so or it is no file: .*pipe-1\.spool/);
    assert.equal(stdout.trim().split('\n').length, 1);
  });

  it('ends at its limit and where nothing can be written, and the app goes on', async () => {
    place.file(
      'many.py',
      'def work(number):\n    return "x" * 1000 + str(number)\nfor number in range(5000):\n    work(number)\nprint("done")\n',
    );
    const capped = await app({ TOOLBREAK_RECORD_MEGABYTES: '2' }, 'many.py');
    assert.deepEqual([capped.code, capped.stdout], [0, 'done\n']);
    assert.match(
      capped.stderr,
      /^Toolbreak: Recording ended: nothing read the recording and it reached 2 MB\. The app goes on without it\.\n$/,
    );
    const { calls } = (await taken())[0]!;
    // Each takes some 1,100 bytes: nearly all of the two megabytes was used.
    assert.ok(calls > 1600 && calls < 2000, `${calls}`);
    writeFileSync(join(place.folder, 'file'), '');
    const none = await app({ TOOLBREAK_RECORD: join(place.folder, 'file') });
    assert.deepEqual([none.code, none.stdout], [0, '4\n']);
    assert.match(none.stderr, /^Toolbreak: nothing is recorded \(.*\); the program runs all the same\.\n$/);
    const small = join(place.folder, 'small');
    mkdirSync(small);
    if (
      process.platform !== 'linux' ||
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]).status !== 0
    )
      return;
    try {
      const full = await app({ TOOLBREAK_RECORD: small }, 'many.py');
      assert.deepEqual([full.code, full.stdout], [0, 'done\n']);
      assert.match(full.stderr, /No space left on device/);
    } finally {
      spawnSync('umount', ['-l', small]);
    }
  });

  it('knows another machine, and touches no other run', async () => {
    await app();
    const [name] = readdirSync(folder);
    const note = join(folder, name!, 'run.json');
    const text = readFileSync(note, 'utf8');
    const change = (more: object): void =>
      writeFileSync(note, JSON.stringify({ ...(JSON.parse(text) as object), ...more }));
    change({ machine: 'elsewhere', pid: process.pid });
    const [run] = importSpools(folder, place.runs).taken;
    assert.equal(run!.alive, false);
    change({ id: '0123456789abcdef' });
    assert.throws(() => importSpools(folder, place.runs), /Another run is there already: .*\. Delete it first\./);
    for (const wrong of [
      '',
      '[]',
      '{}',
      JSON.stringify({ ...(JSON.parse(text) as object), id: '../x' }),
      'x'.repeat(2 << 20),
    ]) {
      writeFileSync(note, wrong);
      assert.throws(
        () => importSpools(folder, place.runs),
        /: spool files are there, but no run\.json that can be read\.$/,
      );
    }
    writeFileSync(note, text);
    rmSync(run!.file);
    writeFileSync(join(folder, name!, '1-ff-1.spool'), 'TBSPOOL1 and nothing that can be read');
    assert.equal(importSpools(folder, place.runs).taken[0]!.calls, 5);
    assert.ok(existsSync(note));
  });
});
