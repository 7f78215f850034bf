import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Taken } from '../../adapter/store/life/importSpools';
import type { QueryAnswer } from '../../protocol/query';
import { NodePlace, rows } from './life-node-support';
import type { Said } from './life-support';

describe('life: the end of an app in Node', function () {
  this.timeout(120_000);
  let place: NodePlace;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    place = new NodePlace();
    folder = place.recorded;
    env = place.recording;
  });
  afterEach(() => place.remove());

  const node = (args: string[], more?: NodeJS.ProcessEnv): Promise<Said> => place.node(args, more);
  const taken = (): Promise<Taken[]> => place.taken();

  const KINDS = {
    'an uncaught error': ["setTimeout(() => { last(9); throw new Error('crash'); })", 1],
    'a rejection that nobody handles': ["setTimeout(async () => { last(9); throw new Error('crash'); })", 1],
    'process.exit in the middle of a turn': ['last(9); process.exit(3)', 3],
    'process.exit where nothing listens to it any more': [
      "process.removeAllListeners('exit'); last(9); process.exit(3)",
      3,
    ],
    'a listener that ends it': ["process.prependListener('exit', () => process.exit(7)); last(9)", 7],
    'an error of what was told of an error': [
      "process.on('uncaughtException', () => { last(9); throw new Error('second'); }); setTimeout(() => { throw new Error('first'); })",
      7,
    ],
    'calls while it exits': ["process.on('exit', () => last(9))", 0],
    'calls of beforeExit': [
      "let times = 0; process.on('beforeExit', () => { if (times++ > 50) process.exit(4); last(9); })",
      0,
    ],
  } as const;
  for (const [kind, [code, exit]] of Object.entries(KINDS)) {
    it(`has every call at ${kind}`, async () => {
      place.file(
        'end.mjs',
        `import { wrap } from 'toolbreak';\nconst last = wrap(function last(n) { return n; });\nlast(1);\n${code};\n`,
      );
      assert.equal((await node(['end.mjs'])).code, exit);
      const [{ file }] = (await taken()) as [Taken];
      assert.deepEqual(rows(file, 'SELECT status FROM calls').flat(), [0, 0]);
      assert.equal((await place.say('check', 'last')).code, 0);
    });
  }

  it('keeps what was recorded before the turn in which kill -9 comes, and is taken while it runs', async () => {
    place.file(
      'killed.mjs',
      `import { wrap } from 'toolbreak';
const step = wrap(function step(n) { return n; });
step(1);
setImmediate(() => {
  step(2);
  setTimeout(() => console.log('ready'), 1);
  process.stdin.once('data', () => {
    step(3);
    process.kill(process.pid, 'SIGKILL');
  });
});
`,
    );
    const child = spawn(process.execPath, ['--import', 'toolbreak/register', 'killed.mjs'], {
      cwd: place.project,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      const [live] = await taken();
      assert.deepEqual([live!.alive, live!.calls], [true, 2]);
      const ended = once(child, 'exit');
      child.stdin.write('now\n');
      await ended;
    } finally {
      child.kill('SIGKILL');
    }
    const [dead] = await taken();
    assert.deepEqual([dead!.alive, dead!.calls], [false, 2]);
    assert.deepEqual(rows(dead!.file, 'SELECT status FROM calls').flat(), [0, 0]);
  });

  it('leaves at most one cut frame at its end when kill -9 comes while it writes', async () => {
    place.file(
      'busy.mjs',
      `import { wrap } from 'toolbreak';
const work = wrap(function work(n, text) { return { n, text }; });
const later = wrap(async function later(n) { await null; return work(n, 'x'.repeat(n % 2000)); });
let n = 0;
async function turn() {
  for (let i = 0; i < 50; i++) await later(n++);
  process.stdout.write('.');
  setImmediate(turn);
}
turn();
`,
    );
    for (const turns of [2, 7, 20, 45]) {
      const into = join(folder, String(turns));
      const child = spawn(process.execPath, ['--import', 'toolbreak/register', 'busy.mjs'], {
        cwd: place.project,
        env: { ...env, TOOLBREAK_RECORD: into },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let seen = 0;
      child.stdout.on('data', (text: Buffer) => {
        if ((seen += text.length) >= turns) child.kill('SIGKILL');
      });
      await once(child, 'close');
      const [{ file, run: id }] = (await place.json<Taken[]>('import', into)) as [Taken];
      const calls = rows(file, 'SELECT status FROM calls ORDER BY id').flat();
      // Each turn was written before the next began. Calls follow each other: only the last ones can be without their end.
      assert.ok(calls.length >= 100 * (turns - 1));
      assert.ok(calls.slice(0, -2).every((status) => status === 0));
      const [[damaged]] = rows(file, 'SELECT damaged FROM runs') as [[number]];
      assert.ok(damaged <= 1);
      assert.equal((await place.say('check', id)).code, damaged);
    }
  });

  it('tells what ended the app, or a worker of it, and nothing of what the app caught', async () => {
    const told = async (name: string, source: string): Promise<string[]> => {
      place.file(name, `import { wrap } from 'toolbreak';\nwrap(function look() {})();\n${source}`);
      const before = (await place.json<unknown[]>('runs')).length;
      await node([name], { TOOLBREAK_RECORD: join(place.folder, name) });
      await place.json<Taken[]>('import', join(place.folder, name));
      assert.equal((await place.json<unknown[]>('runs')).length, before + 1);
      const { rows: found } = await place.json<QueryAnswer>('query', 'last', '--type', 'crash,event');
      return found.map(
        (row) => `${row.type}: ${row.type === 'call' ? '' : row.text.replaceAll(`${place.project}/`, '')}`,
      );
    };
    const thrower = 'function pay() {\n  throw new TypeError("no card");\n}\n';
    assert.deepEqual(await told('throws.mjs', `${thrower}setTimeout(() => pay());\n`), [
      'crash: Crash: TypeError: no card, at pay @ throws.mjs:4 ← Timeout._onTimeout @ throws.mjs:6',
      'event: Ended with exit code 1',
    ]);
    assert.match((await place.say('runs')).stdout.split('\n')[1]!, /throws\.mjs .*, crashed$/);
    assert.deepEqual(
      await told('rejects.mjs', 'void (async function pay() {\n  throw new RangeError("limit");\n})();\n'),
      [
        'crash: Crash: RangeError: limit, at pay @ rejects.mjs:4 ← <anonymous> @ rejects.mjs:5',
        'event: Ended with exit code 1',
      ],
    );
    assert.deepEqual(await told('text.mjs', 'throw "no tea";\n'), [
      'crash: Crash: string: no tea',
      'event: Ended with exit code 1',
    ]);
    assert.deepEqual(
      await told('caught.mjs', `${thrower}process.on("uncaughtException", () => {});\nsetTimeout(pay);\n`),
      ['event: Ended with exit code 0'],
    );
    // So it is where an app goes on with it, and ends later with a code of another reason.
    for (const [name, before, later] of [
      ['fails.mjs', '', 'process.exitCode = 3;'],
      ['failed.mjs', 'process.exitCode = 3;\n', ''],
    ] as const)
      assert.deepEqual(
        await told(
          name,
          `${before}${thrower}process.on("uncaughtException", () => {});\nsetTimeout(pay);\nsetTimeout(() => {\n  ${later}\n}, 30);\n`,
        ),
        ['event: Ended with exit code 3'],
      );
    // An app that logs it and ends for it has crashed, too; one that goes on, and ends well, has not.
    const logs =
      'process.on("uncaughtException", (error) => {\n  console.log(error.message);\n  process.exit(3);\n});\n';
    assert.deepEqual(await told('logs.mjs', `${logs}${thrower}setTimeout(() => pay());\n`), [
      'crash: Crash: TypeError: no card, at pay @ logs.mjs:8 ← Timeout._onTimeout @ logs.mjs:10',
      'event: Ended with exit code 3',
    ]);
    place.file(
      'causes.mjs',
      "import { wrap } from 'toolbreak';\nconst pay = wrap((cause) => { throw new Error('no card', { cause }); }, { name: 'pay' });\nfor (const cause of ['expired', { code: 5 }]) try { pay(cause); } catch {}\n",
    );
    await node(['causes.mjs'], { TOOLBREAK_RECORD: join(place.folder, 'causes') });
    await place.json<Taken[]>('import', join(place.folder, 'causes'));
    assert.match((await place.say('show', 'last', '1.1')).stdout, /\n\nCaused by\n {2}'expired'\n/);
    assert.match((await place.say('show', 'last', '1.2')).stdout, /\n\nCaused by\n {2}dict \(1\)\n {4}code = 5\n/);
    // What the app did to the language is no reason to lose its own error.
    place.file(
      'broken.mjs',
      `import 'toolbreak';\nString.prototype.split = () => {\n  throw new Error('no split');\n};\n${thrower}pay();\n`,
    );
    const broken = await node(['broken.mjs']);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /TypeError: no card/);
    place.file('worker.mjs', `import 'toolbreak';\n${thrower}pay();\n`);
    const worker = `import { Worker } from 'node:worker_threads';\nnew Worker(new URL('./worker.mjs', import.meta.url)).on('error', () => {});\n`;
    assert.deepEqual(await told('parent.mjs', worker), [
      'event: Uncaught exception in thread worker 1: TypeError: no card, at pay @ worker.mjs:3 ← <anonymous> @ worker.mjs:5',
      'event: Ended with exit code 0',
    ]);
    assert.deepEqual(await told('exits.mjs', 'process.exit(3);\n'), ['event: Ended with exit code 3']);
    assert.match((await place.say('runs')).stdout.split('\n')[1]!, /exits\.mjs .*, exit code 3$/);
    const later =
      'process.on("uncaughtException", async () => {\n  await new Promise((done) => setTimeout(done, 20));\n  wrap(() => {})();\n  process.exit(3);\n});\n';
    assert.deepEqual((await told('later.mjs', `${later}${thrower}setTimeout(() => pay());\n`)).length, 2);
    assert.deepEqual(await told('prepended.mjs', 'process.prependListener("exit", () => process.exit(7));\n'), [
      'event: Ended with exit code 7',
    ]);
    assert.deepEqual(await told('listens.mjs', 'process.on("exit", () => {\n  process.exitCode = 3;\n});\n'), [
      'event: Ended',
    ]);
    const [killed, ...rest] = await told('killed.mjs', 'setTimeout(() => process.kill(process.pid, 9));\n');
    assert.match(killed!, /^event: Process \d+ \(killed\.mjs\) recorded no end: it was killed, /);
    assert.deepEqual(rest, []);
    assert.match((await place.say('runs')).stdout.split('\n')[1]!, /killed\.mjs .*, no end recorded$/);
  });

  it('keeps no timer of the app going, warns of nothing, and keeps no text that one was cut from', async () => {
    place.file(
      'ends.mjs',
      `import { EventEmitter } from 'node:events';
import { wrap } from 'toolbreak';
const busy = wrap((ms) => { for (const end = performance.now() + ms; performance.now() < end; ); });
setTimeout(() => { console.log('late'); process.exit(1); }, 20).unref();
for (let each = 0; each < 10; each++) process.on('exit', () => {});
EventEmitter.defaultMaxListeners = 20;
for (let each = 0; each < 20; each++) process.on('SIGUSR2', () => {});
process.setMaxListeners(3);
for (let each = 0; each < 3; each++) process.on('SIGHUP', () => {});
busy(40);
console.log(process.getActiveResourcesInfo().filter((each) => /Immediate|Timeout/.test(each)).length);
`,
    );
    assert.deepEqual(await node(['ends.mjs']), { code: 0, stdout: '0\n', stderr: '' });
    place.file(
      'cuts.mjs',
      `import { wrap } from 'toolbreak';
const head = wrap((text, map) => text.length + map.size);
for (let round = 0; round < 60; round++) {
  const page = \`page \${round} \`.repeat(1_000_000);
  page.charCodeAt(5);
  head(page.slice(10, 2000), new Map([[page.slice(20, 90), round]]));
  await new Promise(setImmediate);
}
console.log('done');
`,
    );
    assert.deepEqual(await node(['--max-old-space-size=150', 'cuts.mjs']), { code: 0, stdout: 'done\n', stderr: '' });
  });
});
