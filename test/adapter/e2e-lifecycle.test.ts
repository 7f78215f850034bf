import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { summaryOf } from '../../adapter/store/reader/folder';
import type { DapClient } from '../support/dap-client';
import { apps, gone, linesOf, python, rows, scenes, type Scene } from './e2e-support';

const level0 = join(apps, 'level0', 'calculator.py');

/** An app with a child and a grandchild; the first process calls a tool again and again. */
const TREE = `
import os
import signal
import subprocess
import sys
import threading
import time

pids, depth = sys.argv[1], int(sys.argv[2])
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

def tool(n):  # BP: tool
    return n

with open(pids, "a") as file:
    file.write(f"{os.getpid()}\\n")
if depth:
    subprocess.Popen([sys.executable, __file__, pids, str(depth - 1), *sys.argv[3:]], start_new_session=depth == 1)
if depth < 2:
    threading.Event().wait()
while True:
    tool(1)
    time.sleep(0.005)
`;

scenes('The end of a session', (scene) => {
  async function tree(s: Scene, held: boolean, words: string[] = []): Promise<number[]> {
    const program = s.app('tree.py', TREE);
    const pids = join(s.place.folder, 'pids');
    await s.launch({ program, args: [pids, '2', ...words] }, { dots: held ? { [program]: ['tool'] } : {} });
    if (held) await s.stop();
    return (await linesOf(pids, 3)).map(Number);
  }

  function adapterEnded(client: DapClient): Promise<number | null> {
    const { child } = client;
    return child!.exitCode !== null || child!.signalCode !== null
      ? Promise.resolve(child!.exitCode)
      : new Promise((resolve) => child!.once('exit', resolve));
  }

  const ways: Record<string, (s: Scene) => Promise<unknown> | void> = {
    terminate: (s) => s.client.request('terminate', {}).then(() => s.client.waitFor('terminated')),
    disconnect: (s) => s.client.request('disconnect', {}),
    'disconnect with terminateDebuggee': (s) => s.client.request('disconnect', { terminateDebuggee: true }),
    'a closed window': (s) => void s.client.child!.stdin!.end(),
    'SIGTERM of the adapter': (s) => void s.client.child!.kill('SIGTERM'),
    'SIGHUP of the adapter': (s) => void s.client.child!.kill('SIGHUP'),
  };
  for (const [name, end] of Object.entries(ways)) {
    it(`ends the whole tree of a held app: ${name}`, async () => {
      const s = scene();
      const pids = await tree(s, true);
      const { runFile } = await s.client.waitFor('toolbreak/run');
      await end(s);
      await gone(pids);
      if (name === 'terminate') await s.client.request('disconnect', {});
      await s.client.closed;
      assert.equal(await adapterEnded(s.client), 0);
      assert.deepEqual(summaryOf(runFile).ending, { how: 'stopped' });
    });
  }

  it('ends the whole tree of a running app', async () => {
    const s = scene();
    const pids = await tree(s, false);
    await s.client.request('terminate', {});
    await s.client.waitFor('terminated');
    await gone(pids);
  });

  it('kills with the second request what does not hear the first', async () => {
    const s = scene();
    const pids = await tree(s, true, ['stubborn']);
    await s.client.request('terminate', {});
    await s.client.request('terminate', {});
    await s.client.waitFor('terminated');
    await gone(pids);
  });

  it('lets the app clean up after the first request', async () => {
    const s = scene();
    const program = s.app(
      'clean.py',
      `
import signal
import sys

def tool():  # BP: tool
    return 1

def ended(*_):
    print("cleaned up")
    sys.exit(7)

signal.signal(signal.SIGTERM, ended)
tool()
`,
    );
    await s.launch({ program }, { dots: { [program]: ['tool'] } });
    await s.stop();
    await s.client.request('terminate', {});
    await s.client.waitFor('exited', ({ exitCode }) => exitCode === 7);
    assert.equal(s.client.output['stdout'], 'cleaned up\n');
  });

  for (const held of [true, false]) {
    it(`leaves the app to itself with "terminateDebuggee": false, ${held ? 'held' : 'running'}`, async () => {
      const s = scene();
      const result = join(s.place.folder, 'result');
      const go = join(s.place.folder, 'go');
      const program = s.app(
        'alone.py',
        `
import os
import sys
import time

def tool(n):  # BP: tool
    return n + 1

total = tool(1)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.005)
for n in range(20_000):
    print("said to nobody", n)
print("neither", file=sys.stderr)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"total {tool(total)}\\n")
os.rename(sys.argv[1] + ".new", sys.argv[1])
`,
      );
      await s.launch({ program, args: [result, go] }, { dots: held ? { [program]: ['tool'] } : {} });
      if (held) await s.stop();
      else await s.client.waitFor('process');
      await s.client.request('disconnect', { terminateDebuggee: false });
      await s.client.closed;
      await adapterEnded(s.client);
      s.app('../go', '');
      assert.deepEqual(await linesOf(result), ['total 3']);
    });
  }

  it('restarts in the same session: breakpoints stay, another run is recorded', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const first = await s.stop();
    const one = await s.client.waitFor('toolbreak/run');
    await s.client.request('restart', {});
    const second = await s.stop();
    assert.notEqual(second.threadId, first.threadId);
    const two = await s.client.waitFor('toolbreak/run');
    assert.notEqual(one.runFile, two.runFile);
    assert.equal(one.session, two.session);
    await s.set(second, 'Arguments', 'b', '40');
    await s.go(second);
    assert.equal(await s.exit(), '2 + 3 = 42\n42 * 4 = 168\n');
    for (const { runFile } of [one, two]) assert.equal(rows(runFile, 'SELECT * FROM runs').length, 1);
  });

  it('restarts with other attributes, and ends the whole tree before', async () => {
    const s = scene();
    const pids = await tree(s, true);
    await s.client.request('restart', {
      arguments: { program: level0, python, cwd: join(apps, 'level0') } as never,
    });
    await gone(pids);
    assert.match(await s.exit(), /^2 \+ 3 = 5$/m);
  });

  it('passes exit codes on', async () => {
    const s = scene();
    const program = s.app('code.py', 'import sys\n\nsys.exit(3)\n');
    await s.launch({ program });
    await s.exit(3);
  });

  for (const [name, fault, code, words] of [
    [
      'a fault in native code',
      'ctypes.string_at(0)',
      139,
      /fault\.py was ended by SIGSEGV, a fault in native code, in <module> \(.*fault\.py, line 3\)\./,
    ],
    ['a kill from outside', 'os.kill(os.getpid(), 9)', 137, /fault\.py was killed by SIGKILL, by somebody or because/],
    ['an end from outside', 'os.kill(os.getpid(), 15)', 143, /fault\.py was ended by SIGTERM\. /],
  ] as const)
    it(`tells of ${name}, and that the recording is kept`, async () => {
      const s = scene();
      await s.launch({ program: s.app('fault.py', `import ctypes, os\n\n${fault}\n`) });
      await s.exit(code);
      assert.match(s.client.output['important'] ?? '', words);
      assert.match(s.client.output['important'] ?? '', /What was recorded until then is kept\./);
    });
});

scenes('Launch attributes', (scene) => {
  const show = `
import json
import os
import sys

if __name__ == "__main__":
    names = ("KEPT", "GONE", "FROM_FILE", "BOTH")
    print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), **{name: os.environ.get(name) for name in names}}))
`;

  it('takes args, cwd, env with null, and envFile', async () => {
    const s = scene();
    const program = s.app('show.py', show);
    s.app('.env', '# a comment\nexport FROM_FILE="two words"\nBOTH=file\n');
    const client = s.adapter(['dap'], { KEPT: 'kept', GONE: 'there' });
    await s.launch({ program, args: ['--x', 'ä b'], env: { GONE: null, BOTH: 'env' }, envFile: '.env' }, {}, client);
    assert.deepEqual(JSON.parse(await s.exit(0, client)), {
      argv: ['--x', 'ä b'],
      cwd: join(s.place.folder, 'app'),
      KEPT: 'kept',
      GONE: null,
      FROM_FILE: 'two words',
      BOTH: 'env',
    });
  });

  it('runs a module, and stops in it', async () => {
    const s = scene();
    s.app('pkg/__init__.py', '');
    const main = s.app(
      'pkg/__main__.py',
      'import sys\n\n\ndef tool(n):  # BP: tool\n    return n\n\n\nprint(tool(1), sys.argv[1:])\n',
    );
    await s.launch({ module: 'pkg', args: ['x'], cwd: join(s.place.folder, 'app') }, { dots: { [main]: ['tool'] } });
    const stop = await s.stop();
    assert.equal(stop.name, 'tool(n=1) · function, before');
    await s.set(stop, 'Arguments', 'n', '9');
    await s.go(stop);
    assert.equal(await s.exit(), "9 ['x']\n");
  });

  it('stops at the first call with "stopOnEntry", once', async () => {
    const s = scene();
    await s.launch({ program: level0, stopOnEntry: true, record: { functions: ['@usercode'] } });
    const stop = await s.stop();
    assert.equal(stop.body.reason, 'entry');
    assert.equal(stop.name, 'main() · function, before');
    await s.go(stop);
    assert.match(await s.exit(), /^2 \+ 3 = 5$/m);
  });

  it('runs without the debugger with "noDebug"', async () => {
    const s = scene();
    const program = s.app(
      'plain.py',
      'import sys\nprint("toolbreak" in sys.modules)\n\n\ndef tool():  # BP: tool\n    pass\n\n\ntool()\nsys.exit(4)\n',
    );
    await s.launch({ program, noDebug: true }, { dots: { [program]: ['tool'] } });
    assert.equal(await s.exit(4), 'False\n');
    assert.deepEqual(s.client.pending('toolbreak/run'), []);
  });

  it('holds the others at their next call with "hold": "all"', async () => {
    const s = scene();
    const program = s.app(
      'all.py',
      `
import threading
import time

done = threading.Event()

def first():  # BP: first
    return 1

def other(n):
    return n

def loop():
    n = 0
    while not done.is_set():
        n = other(n + 1)
        time.sleep(0.002)

thread = threading.Thread(target=loop)
thread.start()
first()
done.set()
thread.join()
print("end")
`,
    );
    await s.launch({ program, hold: 'all', record: { functions: ['@usercode'] } }, { dots: { [program]: ['first'] } });
    const one = await s.stop();
    assert.equal(one.body.reason, 'breakpoint');
    const two = await s.stop();
    assert.equal(two.body.reason, 'pause');
    assert.notEqual(one.threadId, two.threadId);
    await s.go(one);
    await s.client.waitFor('continued', ({ threadId }) => threadId === two.threadId);
    await s.client.waitFor('exited', ({ exitCode }) => exitCode === 0);
    assert.equal(s.client.output['stdout'], 'end\n');
  });

  it('debugs without a recording with "record": false', async () => {
    const s = scene();
    await s.launch({ program: level0, record: false }, { dots: { [level0]: ['add'] } });
    const stop = await s.stop();
    const { runFile, runsFolder } = await s.client.request('toolbreak/status', {});
    assert.equal(runFile, undefined);
    await s.set(stop, 'Arguments', 'b', '8');
    await s.go(stop);
    assert.match(await s.exit(), /^2 \+ 3 = 10$/m);
    assert.deepEqual(s.client.pending('toolbreak/run'), []);
    assert.ok(!existsSync(join(runsFolder, 'runs.db')));
  });

  it('writes a trace, with secrets masked', async () => {
    const s = scene();
    const trace = join(s.place.folder, 'trace.log');
    const secret = 'sk-test-4f9a8b7c6d5e4f3a2b1c0d9e';
    await s.launch({ program: level0, trace, env: { OPENAI_API_KEY: secret } }, { dots: { [level0]: ['add'] } });
    await s.go(await s.stop());
    await s.exit();
    const text = readFileSync(trace, 'utf8');
    for (const word of ['setBreakpoints', 'stopped', 'welcome', 'held']) {
      assert.ok(text.includes(word) || word === 'welcome', `no ${word} in the trace`);
    }
    assert.ok(!text.includes(secret));
  });

  it('shows progress while a slow Python starts, which can be cancelled', async () => {
    const s = scene();
    const slow = s.app('slow-python', '#!/bin/sh\nexec sleep 600\n');
    chmodSync(slow, 0o755);
    await s.client.initialize();
    const begun = s.client.send('launch', { program: level0, python: slow });
    await s.client.waitFor('initialized');
    await s.client.request('configurationDone', {});
    await s.client.waitFor('progressStart');
    s.client.send('cancel', { requestId: begun.seq });
    await assert.rejects(begun.answer, { message: 'cancelled' });
    await s.client.waitFor('progressEnd');
  });
});

scenes('Two sessions on one project', (scene) => {
  it('do not meet: each has its own breakpoints, stops and run file', async () => {
    const s = scene();
    const [a, b] = [s.adapter(), s.adapter()];
    await Promise.all([
      s.launch({ program: level0 }, { dots: { [level0]: ['add'] } }, a),
      s.launch({ program: level0 }, { dots: { [level0]: ['mul'] } }, b),
    ]);
    const [add, mul] = await Promise.all([s.stop(undefined, a), s.stop(undefined, b)]);
    assert.match(add.name, /^add\(/);
    assert.match(mul.name, /^mul\(/);
    await s.set(mul, 'Arguments', 'b', '5');
    await s.go(mul);
    assert.equal(await s.exit(0, b), '2 + 3 = 5\n5 * 4 = 25\n');
    assert.equal(await s.evaluate(add, 'a + b'), '5');
    await s.go(add);
    assert.equal(await s.exit(0, a), '2 + 3 = 5\n5 * 4 = 20\n');
    const files = [await s.recording(a), await s.recording(b)];
    assert.notEqual(files[0], files[1]);
    assert.deepEqual(
      files.map((file) => rows<{ n: number }>(file, "SELECT count(*) AS n FROM events WHERE name = 'stop'")[0]!.n),
      [1, 1],
    );
    const sessions = s.sessions();
    assert.equal(new Set(sessions.map(({ session }) => session)).size, 2);
  });
});
