import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Terminal } from '../support/terminal';
import { apps, gone, refusal, scenes, type Scene } from './e2e-support';

const chat = join(apps, 'chat', 'chat.py');

scenes('Internal console', (scene) => {
  it('shows both streams, each in its order, no later than the stop', async () => {
    const s = scene();
    const program = s.app(
      'talk.py',
      `
import sys

def tool(n):  # BP: tool
    print("inside", n)
    print("problem", n, file=sys.stderr)

for n in range(3):
    print("before", n)
    print("zwölf €", n, end="…", file=sys.stderr)
    tool(n)
print("last without newline", end="")
`,
    );
    await s.launch({ program }, { dots: { [program]: ['tool'] } });
    let out = '';
    let err = '';
    for (let n = 0; n < 3; n++) {
      const stop = await s.stop();
      out += `before ${n}\n`;
      err += `zwölf € ${n}…`;
      assert.equal(s.client.output['stdout'], out);
      assert.equal(s.client.output['stderr'], err);
      await s.go(stop);
      out += `inside ${n}\n`;
      err += `problem ${n}\n`;
    }
    assert.equal(await s.exit(), `${out}last without newline`);
    assert.equal(s.client.output['stderr'], err);
  });

  it('lets Python collect its output where the person says so', async () => {
    const s = scene();
    const program = s.app(
      'env.py',
      'import os\nprint(os.environ.get("PYTHONUNBUFFERED"), flush=True)\nprint("lost")\nos._exit(0)\n',
    );
    await s.launch({ program, env: { PYTHONUNBUFFERED: '' } });
    assert.equal(await s.exit(), '\n');
  });

  it('has an empty standard input', async () => {
    const s = scene();
    await s.launch({ program: chat });
    assert.equal(await s.exit(), '> \nturns: 0\n');
  });

  it('passes a lot of output on whole', async () => {
    const s = scene();
    const program = s.app('much.py', 'for n in range(50_000):\n    print(n)\n');
    await s.launch({ program });
    const text = await s.exit();
    assert.equal(text, Array.from({ length: 50_000 }, (_, n) => `${n}\n`).join(''));
  });
});

scenes('Integrated terminal', (scene) => {
  async function start(
    s: Scene,
    program: string,
    dots: string[],
    more: Record<string, unknown> = {},
  ): Promise<Terminal> {
    const terminal = new Terminal(s.client);
    s.cleanup(() => terminal.close());
    const initialize = s.client.initialize.bind(s.client);
    s.client.initialize = () => initialize({ supportsRunInTerminalRequest: true });
    await s.launch({ program, console: 'integratedTerminal', ...more }, { dots: { [program]: dots } });
    return terminal;
  }

  it('runs a chat loop that reads input, held in between', async () => {
    const s = scene();
    const terminal = await start(s, chat, ['reply']);
    await terminal.waitFor('> ');
    assert.match(terminal.request?.title ?? '', /chat\.py/);
    terminal.type('hello\n');
    const stop = await s.stop();
    assert.equal(stop.name, "reply(text='hello', turn=1) · function, before");
    await s.set(stop, 'Arguments', 'text', '"abc"');
    await s.go(stop);
    await terminal.waitFor('1: cba');
    terminal.type('more\n');
    await s.go(await s.stop());
    await terminal.waitFor('2: erom');
    terminal.type('bye\n');
    await terminal.waitFor('turns: 2');
    assert.equal((await s.client.waitFor('exited')).exitCode, 0);
    await s.client.waitFor('terminated');
    assert.equal(await terminal.ended, 0);
    assert.equal(s.client.output['stdout'] ?? '', '');
  });

  it('ends with Ctrl-C while it runs', async () => {
    const s = scene();
    const terminal = await start(s, chat, []);
    await terminal.waitFor('> ');
    await terminal.reads();
    terminal.type('\x03');
    assert.equal((await s.client.waitFor('exited')).exitCode, 130);
    await s.client.waitFor('terminated');
    await terminal.waitFor('KeyboardInterrupt');
    assert.equal(await terminal.ended, -2);
  });

  it('ends with Ctrl-C while a call is held', async () => {
    const s = scene();
    const terminal = await start(s, chat, ['reply']);
    await terminal.waitFor('> ');
    terminal.type('hello\n');
    await s.stop();
    terminal.type('\x03');
    await s.client.waitFor('terminated');
    await terminal.waitFor('KeyboardInterrupt');
    assert.notEqual(await terminal.ended, 0);
    assert.match(terminal.shown, /chat\.py/);
    assert.doesNotMatch(terminal.shown, /toolbreak[/\\]_/);
  });

  it('lets an app that handles Ctrl-C go on, with the held call given up', async () => {
    const s = scene();
    const program = s.app(
      'handled.py',
      `
def tool():  # BP: tool
    return "never"

try:
    print(tool())
except KeyboardInterrupt:
    print("handled")
print("end")
`,
    );
    const terminal = await start(s, program, ['tool']);
    const stop = await s.stop();
    terminal.type('\x03');
    await terminal.waitFor('end');
    assert.match(terminal.shown, /handled\nend/);
    await s.client.waitFor('continued', ({ threadId }) => threadId === stop.threadId);
    await s.client.waitFor('terminated');
    assert.equal(await terminal.ended, 0);
  });

  // What Python itself cannot see of its end is left open, and never told wrong.
  for (const [how, text, told, real] of [
    ['runs to its end', 'print("end")', 0, 0],
    ['runs to its end, after an error that it handled', 'try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass', 0, 0],
    ['dies of an exception', 'def fail():\n    1 / 0\n\nfail()', 1, 1],
    ['dies of an exception that a hook of its own prints', 'import sys\nsys.excepthook = lambda *_: None\n1 / 0', 1, 1],
    ['exits with a code', 'import sys\nsys.exit(3)', undefined, 3],
    ['raises SystemExit', 'raise SystemExit(4)', undefined, 4],
    [
      'exits after an error that it printed',
      `
import sys, traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
    sys.exit(5)
`,
      undefined,
      5,
    ],
    ['ends without exit handlers', 'import os\nos._exit(6)', undefined, 6],
    ['dies of a signal', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)', undefined, -9],
    [
      'forks a child that ends otherwise',
      `
import os, sys
pid = os.fork()
if pid == 0:
    sys.exit(7)
os.waitpid(pid, 0)
`,
      0,
      0,
    ],
  ] as const) {
    it(`tells how an app ended that ${how}: ${told === undefined ? 'no exit code' : `exit code ${told}`}`, async () => {
      const s = scene();
      const terminal = await start(s, s.app('ends.py', `${text}\n`), []);
      await s.client.waitFor('terminated');
      assert.deepEqual(
        s.client.pending('exited').map(({ exitCode }) => exitCode),
        told === undefined ? [] : [told],
      );
      assert.equal(await terminal.ended, real);
    });
  }

  it('ends with the terminal when its window is closed', async () => {
    const s = scene();
    const terminal = await start(s, chat, ['reply']);
    await terminal.waitFor('> ');
    const { processes } = await s.client.request('toolbreak/status', {});
    terminal.close();
    await s.client.waitFor('terminated');
    await gone(processes.map(({ pid }) => pid));
  });

  it('ends the app in the terminal when the session is stopped, also while held', async () => {
    const s = scene();
    const terminal = await start(s, chat, ['reply']);
    await terminal.waitFor('> ');
    terminal.type('hello\n');
    await s.stop();
    const { processes } = await s.client.request('toolbreak/status', {});
    await s.client.request('disconnect', { terminateDebuggee: true });
    await gone(processes.map(({ pid }) => pid));
    await terminal.ended;
  });

  it('says so where the editor has no terminal', async () => {
    const s = scene();
    const sentence = await refusal(s.launch({ program: chat, console: 'integratedTerminal' }));
    assert.match(sentence, /Set "console" to "internalConsole"/);
  });
});
