import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apps, assertSentence, python, refusal, rows, scenes, type Scene } from './e2e-support';

const level0 = join(apps, 'level0', 'calculator.py');

scenes('Bad input: a launch that cannot be', (scene) => {
  const cases: Record<string, [attributes: Record<string, unknown>, sentence: RegExp]> = {
    'no program and no module': [{}, /^Nothing to run: set "program"/],
    'program and module': [{ program: level0, module: 'json.tool' }, /^Both "program" and "module" are set\./],
    'a missing program': [
      { program: 'nowhere.py', cwd: apps },
      /^The program nowhere\.py does not exist\. Check "program"/,
    ],
    'a missing folder': [
      { program: level0, cwd: '/no/such/folder' },
      /^The folder \/no\/such\/folder does not exist\./,
    ],
    'a missing Python': [{ program: level0, python: '/no/such/python' }, /^Python not found at \/no\/such\/python\. /],
    'a missing env file': [{ program: level0, envFile: '/no/such/.env' }, /^The file \/no\/such\/\.env cannot be read/],
    'an attribute of a wrong type': [{ program: level0, args: 'x' }, /^"args" must be a list/],
    'a wrong word': [{ program: level0, console: 'externalTerminal' }, /^"console" must be one of: /],
  };
  for (const [name, [attributes, sentence]] of Object.entries(cases)) {
    it(name, async () => {
      const s = scene();
      assert.match(await refusal(s.launch({ cwd: apps, ...attributes })), sentence);
      await s.client.request('disconnect', {});
      await s.client.closed;
    });
  }

  it('a line of the env file that is none, its value not shown', async () => {
    const s = scene();
    s.app('.env', 'GOOD=1\nsecret value\n');
    const text = await refusal(s.launch({ program: level0, envFile: join(s.place.folder, 'app', '.env') }));
    assert.match(text, /^Line 2 of .*\.env is not NAME=value/);
  });

  function fakePython(s: Scene, answer: string): string {
    const path = s.app('fake-python', `#!/bin/sh\n${answer}\n`);
    chmodSync(path, 0o755);
    return path;
  }
  const says = (version: string, free: boolean): string =>
    `echo '{"version": [${version}], "executable": "x", "implementation": "cpython", "free": ${free}}'`;

  it('a Python that is too old', async () => {
    const s = scene();
    const fake = fakePython(s, says('3, 9, 18', false));
    assert.equal(
      await refusal(s.launch({ program: level0, python: fake })),
      'Python 3.9 is too old; Toolbreak needs 3.10 or later.',
    );
  });

  it('a free-threaded Python', async () => {
    const s = scene();
    const fake = fakePython(s, says('3, 13, 1', true));
    assert.match(await refusal(s.launch({ program: level0, python: fake })), /free-threaded build/);
  });

  it('a Python that does not run', async () => {
    const s = scene();
    const fake = fakePython(s, 'echo broken >&2; exit 1');
    assert.match(await refusal(s.launch({ program: level0, python: fake })), /does not run: broken\./);
  });
});

scenes('Bad input: an app that is not to be debugged', (scene) => {
  it('ends at once, with its own exit code and what it said', async () => {
    const s = scene();
    const program = s.app('broken.py', 'def broken(:\n');
    await s.launch({ program });
    await s.exit(1);
    assert.match(s.client.output['stderr'] ?? '', /SyntaxError/);
    assert.doesNotMatch(s.client.output['stderr'] ?? '', /toolbreak/i);
  });

  it('an app that never connects is said to run without the debugger, or to have ended', async () => {
    const s = scene();
    // A wrapper that starts Python without our boot folder.
    const wrapper = s.app('isolated', `#!/bin/sh\nexec "${python}" -I "$@"\n`);
    chmodSync(wrapper, 0o755);
    await s.launch({ program: level0, python: wrapper });
    assert.equal(await s.exit(), '2 + 3 = 5\n5 * 4 = 20\n');
    const sentence = (s.client.output['important'] ?? '').trim();
    assertSentence(sentence);
    assert.match(
      sentence,
      /^calculator\.py (ended with exit code 0 before the debugger could connect|runs without the debugger)/,
    );
  });

  it('another package named toolbreak in the way of ours', async () => {
    const s = scene();
    s.app('toolbreak/__init__.py', '__version__ = "0.0.1"\n');
    const program = s.app(
      'main.py',
      'import toolbreak\n\n\ndef tool():  # BP: tool\n    return 1\n\n\nprint(tool())\n',
    );
    await s.launch({ program, env: { PYTHONPATH: join(s.place.folder, 'app') } }, { dots: { [program]: ['tool'] } });
    const stop = await s.stop();
    await s.go(stop);
    assert.equal(await s.exit(), '1\n');
  });
});

scenes('Bad input: values', (scene) => {
  it('a value whose repr raises, recurses or takes for ever can be looked at, and the view stays quick', async () => {
    const s = scene();
    const program = s.app(
      'values.py',
      `
import threading

class Raises:
    def __repr__(self):
        raise RuntimeError("no text")

class Recurses:
    def __repr__(self):
        return repr(self)

class Waits:
    def __repr__(self):
        threading.Event().wait()

def tool(raises, recurses, waits, plain):  # BP: tool
    return plain

loop = []
loop.append(loop)
print(tool(Raises(), Recurses(), Waits(), loop)[0] is loop)
`,
    );
    await s.launch({ program }, { dots: { [program]: ['tool'] } });
    const stop = await s.stop();
    const args = await s.values(stop, 'Arguments');
    assert.deepEqual(Object.keys(args), ['raises', 'recurses', 'waits', 'plain']);
    assert.match(args['raises']!, /Raises/);
    assert.match(args['recurses']!, /Recurses/);
    assert.match(args['waits']!, /Waits/);
    assert.equal(await s.evaluate(stop, 'len(plain)'), '1');
    await s.go(stop);
    assert.equal(await s.exit(), 'True\n');
  });
});

scenes('Bad input: where the recording goes', (scene) => {
  /** Debugging goes on, and one sentence says what is wrong with the recording. */
  async function debugs(s: Scene, said: RegExp): Promise<void> {
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const stop = await s.stop();
    await s.set(stop, 'Arguments', 'b', '4');
    await s.go(stop);
    assert.equal(await s.exit(), '2 + 3 = 6\n6 * 4 = 24\n');
    const told = `${s.client.output['important'] ?? ''}${s.client.output['stderr'] ?? ''}`.trim().split('\n');
    assert.equal(told.length, 1, told.join('\n'));
    assertSentence(told[0]!);
    assert.match(told[0]!, said);
  }

  it('a file where the folder of the runs is to be', async () => {
    const s = scene();
    const state = join(s.place.folder, 'state', 'toolbreak');
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'projects'), 'not a folder');
    await debugs(s, /record/i);
  });

  it('a run file that cannot grow, as on a full disk: the app and the debugging go on', async () => {
    const s = scene();
    const program = s.app(
      'grow.py',
      `
import resource
import signal

def first():
    return "kept"

first()

# As a full disk: no file of this process grows beyond a few kilobytes.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

def work(n):
    return "x" * 500

def tool():  # BP: tool
    return sum(len(work(n)) for n in range(2_000))

print(tool())
`,
    );
    await s.launch(
      { program, record: { functions: ['@usercode'] } },
      { dots: { [program]: [{ at: 'tool', mode: 'after' }] } },
    );
    const stop = await s.stop();
    await s.go(stop);
    assert.equal(await s.exit(), '1000000\n');
    const told = (s.client.output['important'] ?? '').trim().split('\n');
    assert.equal(told.length, 1, told.join('\n'));
    assertSentence(told[0]!);
    assert.equal(s.client.output['stderr'] ?? '', '');
    const { runFile } = await s.client.waitFor('toolbreak/run');
    await s.client.request('disconnect', {});
    await s.client.closed;
    assert.ok(rows<{ n: number }>(runFile, 'SELECT count(*) AS n FROM calls')[0]!.n > 0, 'what was recorded is kept');
  });
});
