import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { LaunchAttributes } from '../../protocol/launch';
import { isAlive } from '../../adapter/common/processes';
import { LaunchTarget, type LaunchOptions } from '../../adapter/targets/python/launch';
import { configuration, Heard, Place, python, standInBoot, until } from './target-support';

describe('Launching a Python app', function () {
  this.timeout(30_000);
  let place: Place;
  let target: LaunchTarget | undefined;
  const pids: number[] = [];

  beforeEach(() => (place = new Place()));
  afterEach(async () => {
    await target?.kill();
    for (const pid of pids.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    place.remove();
  });

  function make(text: string, attributes: LaunchAttributes = {}, options: Partial<LaunchOptions> = {}): Heard {
    const program = place.file('app.py', text);
    target = new LaunchTarget({
      attributes: { program, cwd: place.folder, python, ...attributes },
      log: place.log(),
      bootFolder: standInBoot,
      ...options,
    });
    return new Heard(target);
  }
  async function launch(text: string, attributes?: LaunchAttributes, options?: Partial<LaunchOptions>): Promise<Heard> {
    const heard = make(text, attributes, options);
    await target!.start(configuration);
    return heard;
  }
  const refused = (attributes: LaunchAttributes, message: RegExp | string): Promise<void> => {
    make('', attributes);
    return assert.rejects(target!.start(configuration), { name: 'UserError', message });
  };
  /** The number the app printed, as a process that must be gone at the end. */
  async function printedPid(heard: Heard): Promise<number> {
    await until(() => /pid \d+\n/.test(heard.stdout), 'the pid').catch((error: Error) => {
      throw new Error(`${error.message}; printed was ${JSON.stringify(heard.stdout + heard.stderr)}`);
    });
    const pid = Number(/pid (\d+)/.exec(heard.stdout)![1]);
    pids.push(pid);
    return pid;
  }
  const waiting = 'import time\nprint("up", flush=True)\nwhile True: time.sleep(0.05)\n';

  it('runs to the end: arguments, environment, output, exit code', async () => {
    const heard = await launch(
      'import os, sys\nprint(sys.argv[1:], os.getcwd(), os.environ["GIVEN"], "HOME" in os.environ, sys.stdin.read() == "")\nprint("é" * 40000, end="")\nsys.exit(3)',
      { args: ['a b', '--x'], env: { GIVEN: 'yes', HOME: null } },
    );
    await heard.exited();
    assert.deepEqual(heard.exits, [3]);
    assert.equal(heard.stdout, `['a b', '--x'] ${place.folder} yes False True\n${'é'.repeat(40000)}`);
    assert.equal(heard.started.length, 1);
    assert.equal(heard.started[0]!.index, 1);
    assert.deepEqual(
      heard.ended.map(({ crashed }) => crashed),
      [false],
    );
    assert.deepEqual(heard.notices, []);
  });

  it('runs a module, keeps the own PYTHONPATH behind the boot folder', async () => {
    place.file('things.py', 'import os, sys\nprint(os.environ["PYTHONPATH"], sys.argv[1:])');
    const heard = make('', { module: 'things', program: undefined, args: ['1'], env: { PYTHONPATH: '/nowhere' } });
    await target!.start(configuration);
    await heard.exited();
    assert.equal(heard.stdout, `${standInBoot}:/nowhere ['1']\n`);
  });

  it('reads an env file, and "env" wins', async () => {
    place.file('.env', 'export A="one\\ntwo" # said\nB=file\n\n# no\nC=\'x # y\'\n');
    const heard = await launch('import os; print([os.environ[n] for n in "ABC"])', {
      envFile: '.env',
      env: { B: 'own' },
    });
    await heard.exited();
    assert.equal(heard.stdout, `['one\\ntwo', 'own', 'x # y']\n`);
  });

  it('answers requests, refusals and cancelling; drops junk', async () => {
    const heard = await launch(waiting);
    const [process] = heard.started;
    const evaluate = (expression: string, signal?: AbortSignal) =>
      target!.request(process!, 'evaluate', { expression, context: 'repl' }, signal);
    await assert.rejects(evaluate('nothing'), { name: 'UserError', message: 'No such name.' });
    assert.equal((await evaluate('junk')).value, 'fine');
    const controller = new AbortController();
    const pending = evaluate('never', controller.signal);
    controller.abort();
    await assert.rejects(pending, { message: 'Cancelled.' });
    assert.equal((await evaluate('stop')).value, '0');
    target!.setStopFlag(true);
    assert.equal((await evaluate('stop')).value, '1');
    const states = await target!.configure({
      ...configuration,
      breakpoints: [{ id: 7, enabled: true, target: { type: 'function', glob: 'x' }, boundaries: ['before'] }],
    });
    assert.deepEqual(states, [{ id: 7, verified: true }]);
    const never = evaluate('never');
    await Promise.all([assert.rejects(never, { name: 'UserError', message: /has ended/ }), target!.kill()]);
    assert.equal(heard.exits.length, 1);
  });

  it('says what is missing or wrong before anything runs', async () => {
    await refused({ program: undefined }, /Nothing to run/);
    await refused({ module: 'x' }, /Both "program" and "module"/);
    await refused({ program: 'nope.py' }, 'The program nope.py does not exist. Check "program" in launch.json.');
    await refused({ cwd: '/no/such' }, 'The folder /no/such does not exist. Check "cwd" in launch.json.');
    await refused({ args: 'x' as unknown as string[] }, /"args" in launch.json must be a list/);
    await refused({ env: { A: 1 as unknown as string } }, /"env" in launch.json must be/);
    await refused({ envFile: 'no.env' }, /no.env cannot be read \(it does not exist\)/);
    place.file('bad.env', 'A=1\nthis is wrong\n');
    await refused({ envFile: 'bad.env' }, /Line 2 of .*bad.env is not NAME=value: this is wrong/);
    await refused(
      { python: '.venv/bin/python' },
      'Python not found at .venv/bin/python. Choose an interpreter (button) or set "python" in launch.json.',
    );
    const old = place.file('old', '#!/bin/sh\necho \'{"version": [3, 9, 1], "executable": "x", "free": false}\'\n');
    const { chmodSync } = await import('node:fs');
    await refused({ python: old }, /does not run: it is not executable/);
    chmodSync(old, 0o755);
    await refused({ python: old }, 'Python 3.9 is too old; Toolbreak needs 3.10 or later.');
    const free = place.file('free', '#!/bin/sh\necho \'{"version": [3, 13, 1], "executable": "x", "free": true}\'\n');
    chmodSync(free, 0o755);
    await refused({ python: free }, /free-threaded/);
    await refused({ console: 'integratedTerminal' }, /cannot run programs in its terminal/);
  });

  it('an app that ends before it connects is told with its exit code', async () => {
    const bare = place.file('bare', `#!/bin/sh\nexec ${python} -I -S "$@"\n`);
    (await import('node:fs')).chmodSync(bare, 0o755);
    const heard = await launch('import sys; sys.exit(2)', { python: bare });
    await heard.exited();
    assert.deepEqual(heard.exits, [2]);
    assert.match(heard.notices.join(), /app.py ended with exit code 2 before the debugger could connect/);
  });

  it('an app that ignores the boot folder runs on, with a notice', async () => {
    const bare = place.file('bare', `#!/bin/sh\nexec ${python} -I -S "$@"\n`);
    (await import('node:fs')).chmodSync(bare, 0o755);
    const heard = await launch(waiting, { python: bare }, { connectWithin: 100 });
    assert.match(heard.notices.join(), /app.py runs without the debugger/);
    assert.deepEqual(heard.exits, []);
    await target!.terminate();
    await heard.exited();
  });

  it('refuses a runtime of another version, and a wrong token, and the app runs on', async () => {
    const heard = await launch('print("ran")', { env: { STAND_IN_VERSION: '99' } });
    await heard.exited();
    assert.match(heard.notices.join(), /toolbreak 0\.0\.1, which does not fit/);
    assert.equal(heard.stdout, 'ran\n');
    assert.equal(heard.started.length, 0);
    const other = await launch('print("ran")', { env: { STAND_IN_TOKEN: 'guess' } });
    await other.exited();
    assert.equal(other.stdout, 'ran\n');
    assert.equal(other.started.length, 0);
  });

  it('runs without debugging on request', async () => {
    const heard = await launch('import os; print("TOOLBREAK_CONNECT" in os.environ, "PYTHONPATH" in os.environ)', {
      noDebug: true,
      env: { PYTHONPATH: null },
    });
    await heard.exited();
    assert.equal(heard.stdout, 'False False\n');
    assert.deepEqual(heard.notices, []);
  });

  it('terminate ends the app; what ignores it is killed by the second one, and by time', async () => {
    const kind = await launch(waiting);
    await until(() => kind.stdout.includes('up'), 'the app');
    await target!.terminate();
    await kind.exited();
    assert.deepEqual(kind.exits, [143]);
    assert.deepEqual(
      kind.ended.map(({ crashed }) => crashed),
      [false],
    );

    const deaf = `import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n${waiting}`;
    const heard = await launch(deaf);
    await until(() => heard.stdout.includes('up'), 'the app');
    await target!.terminate();
    await target!.terminate();
    assert.deepEqual(heard.exits, [137]);

    const slow = await launch(deaf, {}, { endWithin: 50 });
    await until(() => slow.stdout.includes('up'), 'the app');
    await target!.terminate();
    await slow.exited();
    assert.deepEqual(slow.exits, [137]);
  });

  it('a crash of the app ends the session', async () => {
    const heard = await launch('import os, signal; os.kill(os.getpid(), signal.SIGKILL)');
    await heard.exited();
    assert.deepEqual(heard.exits, [137]);
    assert.deepEqual(
      heard.ended.map(({ crashed }) => crashed),
      [true],
    );
  });

  it('children connect as processes of their own, and outlive the first one until they end or are stopped', async () => {
    place.file(
      'child.py',
      `import os, time\nprint("pid", os.getpid(), flush=True)\nwhile not os.path.exists("go"): time.sleep(0.02)`,
    );
    const heard = await launch('import subprocess, sys\nsubprocess.Popen([sys.executable, "child.py"])');
    const pid = await printedPid(heard);
    await until(() => heard.ended.length === 1, 'the end of the parent');
    assert.deepEqual(heard.started.map(({ index }) => index).sort(), [1, 2]);
    await until(() => heard.notices.length > 0, 'a notice');
    assert.match(heard.notices[0]!, new RegExp(`app.py ended with exit code 0; still running: .*\\(${pid}\\)`));
    assert.deepEqual(heard.exits, []);
    place.file('go', '');
    await heard.exited();
    assert.deepEqual(heard.exits, [0]);
  });

  it('subProcess false leaves children alone', async () => {
    const heard = await launch('import subprocess, sys\nsubprocess.run([sys.executable, "-c", "print(1)"])', {
      subProcess: false,
    });
    await heard.exited();
    assert.equal(heard.stdout, '1\n');
    assert.equal(heard.started.length, 1);
  });

  it('kill finds children that left the group and lost their parent', async () => {
    // In one write: where Python does not buffer, `print` makes four, and its parent's line may come between them.
    const daemon =
      'import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    os.write(1, f"pid {os.getpid()}\\n".encode())\n    time.sleep(600)\n  os._exit(0)\n';
    const heard = await launch(`${daemon}${waiting}`);
    const pid = await printedPid(heard);
    await target!.kill();
    await until(() => !isAlive(pid), 'the end of the daemon');
    assert.deepEqual(heard.exits, [137]);
  });

  it('detach lets the app run on', async () => {
    const heard = await launch(
      'import os, time\nprint("pid", os.getpid(), flush=True)\nwhile not os.path.exists("go"): time.sleep(0.02)\nopen("done", "w").close()',
    );
    const pid = await printedPid(heard);
    await target!.detach();
    assert.equal(heard.exits.length, 1);
    assert.ok(isAlive(pid));
    place.file('go', '');
    await until(() => existsSync(join(place.folder, 'done')) && !isAlive(pid), 'the app to finish');
  });

  it('in a terminal the app is known by its hello', async () => {
    let asked: { args: string[]; env: Record<string, string | null> } | undefined;
    const heard = await launch(
      'x = input()\nprint("got", x)',
      { console: 'integratedTerminal', env: { GONE: null } },
      {
        runInTerminal: (request) => {
          asked = request;
          const env = { ...process.env };
          for (const [name, value] of Object.entries(request.env))
            value === null ? delete env[name] : (env[name] = value);
          const child = spawn(request.args[0]!, request.args.slice(1), {
            cwd: request.cwd,
            env,
            stdio: ['pipe', 'ignore', 'ignore'],
          });
          child.stdin.end('hello\n');
          return Promise.resolve({});
        },
      },
    );
    await heard.exited();
    assert.deepEqual(heard.exits, [undefined]);
    assert.equal(heard.started.length, 1);
    assert.equal(asked!.env['GONE'], null);
    assert.ok(asked!.env['TOOLBREAK_CONNECT']);
  });

  it('stop in the middle of starting leaves nothing behind', async () => {
    make(waiting);
    const starting = target!.start(configuration);
    await target!.kill();
    await assert.rejects(starting, /Cancelled/);
    assert.ok(!readFileSync(join(place.folder, 'adapter.log'), 'utf8').includes('connected:'));
  });
});
