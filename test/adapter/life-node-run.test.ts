import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundCall, QueryAnswer } from '../../protocol/query';
import { toolbreakCommand } from '../support/adapter';
import { openWithCalls } from '../support/run-file';
import { LifePlace, run } from './life-support';
import { writeOwner } from '../../adapter/store/spoolOwner';
import { pidNamespaceHere } from '../../adapter/common/processes';
import { python, until } from './target-support';

const AGENT = `
import { wrap } from 'toolbreak';
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';

const way = process.argv[2];
const lookup = wrap(
  async function lookup(order_id, note) {
    if (order_id === 13) throw new RangeError('unlucky order');
    if (way === 'kill') setTimeout(() => process.kill(process.pid, 'SIGKILL'), 5);
    if (way === 'kill') await new Promise(() => undefined);
      return { order_id, api_key: 'hunter2hunter2', note, pages: 'page '.repeat(1000) };
  },
  { kind: 'tool' },
);
const agent = wrap(async function agent(question) {
  const order = await lookup(7, 'patient C-1234 of Kölnstraße');
  await lookup(13).catch(() => undefined);
  return order;
}, { kind: 'workflow' });
await agent('where is it?');
if (way === 'child') spawnSync(process.execPath, [process.argv[1]], { stdio: 'inherit' });
if (way === 'worker') await new Promise((resolve) => new Worker(new URL('agent.mjs', import.meta.url)).on('exit', resolve));
console.log('done');
process.exitCode = 3;
`;

const pidNamespace = pidNamespaceHere();
const NAMESPACE = pidNamespace === undefined ? {} : { pidNamespace };

describe('life: run of an app in Node', function () {
  this.timeout(120_000);
  let place: LifePlace;

  beforeEach(() => {
    place = new LifePlace();
    mkdirSync(join(place.project, 'node_modules'));
    symlinkSync(join(__dirname, '../../runtimes/node'), join(place.project, 'node_modules', 'toolbreak'));
    place.file('agent.mjs', AGENT);
  });
  afterEach(() => place.remove());

  const node = process.execPath;
  const names = (file: string): unknown[] => {
    const db = openWithCalls(file);
    try {
      return db.prepare('SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.id').pluck().all();
    } finally {
      db.close();
    }
  };
  const processes = (): unknown[] => place.rows("SELECT language || ' ' || name FROM processes ORDER BY id");

  it('is recorded as any other, with no way of its own', async () => {
    const said = await place.say('run', '--', node, 'agent.mjs');
    assert.deepEqual(
      [said.code, said.stdout, said.stderr],
      [3, 'done\n', 'toolbreak: recorded 3 calls (1 error); look at it with "toolbreak show 1".\n'],
    );
    assert.match(
      (await place.say('show', '1')).stdout,
      /workflow agent\(.*\n.*├─ tool lookup\(.*\n.*└─ tool ✗ lookup\(/,
    );
    assert.match((await place.say('query', '1', '--type', 'event')).stdout, / Ended with exit code 3\n$/);
    assert.deepEqual(place.rows('SELECT exit_code FROM processes'), [3]);
    assert.match((await place.say('runs')).stdout, /agent .*\b3 calls, 1 error, exit code 3\n/);
    assert.doesNotMatch(readFileSync(place.files()[0]!, 'latin1'), /hunter2/);
    assert.deepEqual(
      readdirSync(join(place.state, 'sessions'), { recursive: true }).filter((name) => /spool$/.test(String(name))),
      [],
    );
  });

  it('is said to be killed, and to have thrown', async () => {
    const killed = await place.say('run', '--', node, 'agent.mjs', 'kill');
    assert.equal(killed.code, 137);
    assert.match(killed.stderr, /^toolbreak: recorded 2 calls;.*\ntoolbreak: it was killed by SIGKILL/);
    assert.match((await place.say('runs')).stdout, /2 calls, killed by SIGKILL\n/);
    place.file('throws.mjs', 'import "toolbreak";\nthrow new TypeError("no way");\n');
    place.file(
      'object.mjs',
      "import { wrap } from 'toolbreak';\nwrap(function pay() { throw { code: 7, token: 'abc' }; })();\n",
    );
    await place.say('run', '--', node, 'object.mjs');
    assert.match(
      (await place.say('show', 'last', '1.1')).stdout,
      /Error\n {2}dict \(2\)\n {4}code = 7\n {4}token = \*\*\*/,
    );
    const { error } = await place.json<{ error: { value: { code: number } } }>('show', 'last', '1.1');
    assert.equal(error.value.code, 7);
    const thrown = await place.say('run', '--', node, 'throws.mjs');
    assert.match(thrown.stderr, /toolbreak: it crashed; see where with "toolbreak query 3 --type crash"\.\n$/);
  });

  it('is one run with what it starts, and with the Python that starts it', async () => {
    place.file(
      'both.py',
      'import subprocess, sys\n\ndef tool():\n    return subprocess.run(sys.argv[1:]).returncode\n\ntool()\n',
    );
    const both = ['run', '--functions', '@usercode', '--', python, 'both.py', node, 'agent.mjs'];
    assert.match((await place.say(...both)).stderr, /recorded 4 calls/);
    assert.deepEqual(processes(), ['python both.py', 'node agent.mjs']);
    assert.match((await place.say('show', 'last')).stdout, /\n.* agent\.mjs: workflow agent\(/);
    for (const [way, process] of [
      ['child', 'node agent.mjs'],
      ['worker', 'node agent.mjs (worker 1)'],
    ] as const) {
      const said = await place.say('run', '--', node, 'agent.mjs', way);
      assert.match(said.stderr, /recorded 6 calls \(2 errors\)/);
      assert.deepEqual(processes(), ['node agent.mjs', process]);
      const names = new Set((JSON.parse((await place.say('query', 'last', '--json')).stdout) as QueryAnswer).rows.map((row) => (row as FoundCall).task)); // prettier-ignore
      assert.deepEqual([...names].map((name) => name.replace(/pid \d+/, 'pid N')), ['agent.mjs', process.includes('worker') ? 'agent.mjs (worker 1)' : 'agent.mjs (pid N)']); // prettier-ignore
    }
    // The first process alone: a worker belongs to it.
    assert.match(
      (await place.say('run', '--no-subprocess', '--', node, 'agent.mjs', 'child')).stderr,
      /recorded 3 calls/,
    );
    assert.match(
      (await place.say('run', '--no-subprocess', '--', node, 'agent.mjs', 'worker')).stderr,
      /recorded 6 calls/,
    );
    const two = ['sh', '-c', `"${node}" agent.mjs; "${node}" agent.mjs`];
    assert.match((await place.say('run', '--no-subprocess', '--', ...two)).stderr, /recorded 3 calls/);
    both.splice(1, 0, '--no-subprocess');
    assert.match((await place.say(...both)).stderr, /recorded 1 call;/);
  });

  it('says where nothing could be recorded, and runs all the same', async () => {
    place.file('plain.mjs', 'console.log("plain");\n');
    const plain = await place.say('run', '--', node, 'plain.mjs');
    assert.deepEqual([plain.code, plain.stdout], [0, 'plain\n']);
    assert.match(
      plain.stderr,
      /nothing was recorded, and no run is kept: .* In Node, .* "wrap" of the package toolbreak\.\n$/,
    );
    assert.deepEqual(place.files(), []);
    const connect = place.file('connect.json', JSON.stringify({ version: 99, spool: place.folder }));
    for (const [file, words] of [
      [
        connect,
        /^Toolbreak: nothing is recorded of this Node process \(this package and the debugger are of different versions\)/,
      ],
      [place.file('torn.json', '{"version"'), /^Toolbreak: nothing is recorded of this Node process \(.*JSON/],
      [join(place.folder, 'gone.json'), /^$/],
    ] as const) {
      const said = await run(node, ['agent.mjs'], {
        cwd: place.project,
        env: { ...place.env, TOOLBREAK_CONNECT: file },
      });
      assert.equal(said.stdout, 'done\n');
      assert.match(said.stderr, words);
    }
    const folder = join(place.folder, 'full');
    const joining = {
      maxValueBytes: 1000,
      maxDepth: 9,
      maskKeys: [],
      maskPatterns: [],
      children: true,
      pid: process.pid,
      ...NAMESPACE,
    };
    const unwritable = place.file('unwritable.json', JSON.stringify({ version: 1, spool: folder, joining }));
    const said = await run(node, ['agent.mjs'], {
      cwd: place.project,
      env: { ...place.env, TOOLBREAK_CONNECT: unwritable },
    });
    assert.equal(said.stdout, 'done\n');
    assert.match(said.stderr, /^Toolbreak: nothing is recorded of this Node process \(ENOENT/);
    const masking = { ...joining, maskPatterns: ['a++'] };
    const unmasked = place.file('unmasked.json', JSON.stringify({ version: 1, spool: place.folder, joining: masking }));
    const refused = await run(node, ['agent.mjs'], {
      cwd: place.project,
      env: { ...place.env, TOOLBREAK_CONNECT: unmasked },
    });
    assert.equal(refused.stdout, 'done\n');
    assert.match(
      refused.stderr,
      /nothing is recorded .* \(of the mask pattern "a\+\+": it is no regular expression .*\);/,
    );
  });

  it('is found where it began once its session was dead, and joins none that is', async () => {
    const joining = { maxValueBytes: 1000, maxDepth: 9, maskKeys: [], maskPatterns: [], children: true };
    const dead = spawnSync(node, ['-e', '']).pid;
    const file = place.file('dead.json', JSON.stringify({ version: 1, spool: place.folder, joining: { ...joining, pid: dead, ...NAMESPACE } })); // prettier-ignore
    const alone = await run(node, ['agent.mjs'], {
      cwd: place.project,
      env: { ...place.env, TOOLBREAK_CONNECT: file },
    });
    assert.deepEqual([alone.stdout, alone.stderr], ['done\n', '']);
    // It does not know that the session is dead, as in a container: another pid namespace.
    const spool = join(place.state, 'sessions', 'old', 'spool', 'old');
    mkdirSync(spool, { recursive: true });
    mkdirSync(place.runs, { recursive: true });
    const runFile = join(place.runs, 'old.db');
    writeOwner(spool, { runFile, run: 'old', session: 'old', name: 'old', pid: dead, pidStart: '1', complete: true });
    const far = place.file('far.json', JSON.stringify({ version: 1, spool, joining: { ...joining, pid: dead, pidNamespace: 'pid:[1]' } })); // prettier-ignore
    await run(node, ['agent.mjs'], { cwd: place.project, env: { ...place.env, TOOLBREAK_CONNECT: far } });
    assert.match((await place.say('runs')).stdout, /agent .*\b3 calls, 1 error/);
  });

  it('is masked by every pattern, however many there are', async () => {
    const maskPatterns = ['C-\\d+', ...Array.from({ length: 255 }, (_, index) => `none${index}`)];
    const { client, file } = await place.launch(place.file('start.py', START), [node, 'agent.mjs'], { maskPatterns });
    await client.waitFor('terminated');
    await client.end();
    assert.deepEqual(names(file), ['agent', 'lookup', 'lookup']);
    assert.doesNotMatch(readFileSync(file, 'latin1'), /1234/);
  });

  it('is said to run on where it outlives its command', async () => {
    place.file(
      'starts.mjs',
      `import 'toolbreak';\nimport { spawn, spawnSync } from 'node:child_process';\nconst child = spawn(process.execPath, ['stays.mjs'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });\nchild.stdout.once('data', (pid) => { console.log(String(pid)); process.exit(); });\n`,
    );
    place.file('stays.mjs', "import 'toolbreak';\nconsole.log(process.pid);\nsetInterval(() => undefined, 1000);\n");
    const said = await place.say('run', '--', node, 'starts.mjs');
    const pid = Number(said.stdout);
    try {
      assert.match(
        said.stderr,
        new RegExp(`toolbreak: still running, and recorded on: stays\\.mjs \\(${pid}\\)\\. "toolbreak runs"`),
      );
      assert.match((await place.say('runs')).stdout, / 0 calls, its app still runs/);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  const START = 'import subprocess, sys\nsubprocess.run(sys.argv[1:])\n';

  it('belongs to the debugged app that starts it, with its limits and its masks', async () => {
    const program = place.file('start.py', START);
    const record = { maskPatterns: ['(?i)c-\\d+', 'straße$'], maskKeys: ['order_*'], maxValueBytes: 3001 };
    const { client, file } = await place.launch(program, [node, 'agent.mjs'], record);
    await client.waitFor('terminated');
    await client.end();
    assert.deepEqual(names(file), ['agent', 'lookup', 'lookup']);
    assert.doesNotMatch(readFileSync(file, 'latin1'), /1234/);
    const shown = (await place.say('show', file, '2.2')).stdout;
    assert.match(shown, /note = 'patient \*\*\* of Köln\*\*\*'/);
    assert.match(shown, /pages = .*Cut after \d+ of 5000/);
    assert.match(shown, /order_id = \*\*\*/);
  });

  it('is seen to be gone while its app goes on', async () => {
    place.file('waits.py', `${START}input()\n`);
    const command = spawn(node, toolbreakCommand('run', '--', python, 'waits.py', node, 'agent.mjs', 'kill'), {
      cwd: place.project,
      env: place.env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = once(command, 'exit');
    await until(async () => {
      const [file] = place.files();
      if (file === undefined) return false;
      const answer = await place.json<QueryAnswer>('query', file, '--status', 'cancelled').catch(() => undefined);
      return answer?.rows.length === 2;
    }, 'the end of the Node process');
    assert.equal(command.exitCode, null);
    command.stdin.end('\n');
    assert.deepEqual(await ended, [0, null]);
  });
});
