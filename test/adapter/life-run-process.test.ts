import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toolbreakCommand } from '../support/adapter';
import { AGENT, LifePlace, run, type Said } from './life-support';
import { python, until } from './target-support';

const LOOK = 'look at it with "toolbreak show 1".\n';

describe('life: run, in place of the command', function () {
  this.timeout(120_000);
  let place: LifePlace;

  beforeEach(() => (place = new LifePlace()));
  afterEach(() => place.remove());

  const names = 'SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.start';

  it('passes signals, and ends as the command does', async () => {
    // Its handler does not print: the signal may come in the middle of the other print.
    place.file(
      'wait.py',
      'import os, signal, sys, time\ndef stop(*_):\n    os.write(1, b"bye\\n")\n    sys.exit(7)\nsignal.signal(signal.SIGTERM, stop)\nprint("ready", flush=True)\nwhile True:\n    time.sleep(0.05)\n',
    );
    for (const [signal, code, output] of [
      ['SIGTERM', 7, 'ready\nbye\n'],
      ['SIGINT', 130, 'ready\n'],
    ] as const) {
      const child = spawn(
        process.execPath,
        toolbreakCommand('run', '--functions', '@usercode', '--', python, 'wait.py'),
        {
          cwd: place.project,
          env: place.env,
          stdio: ['ignore', 'pipe', 'pipe'],
          // Not of the terminal that the tests may run in, whose keys would send this.
          detached: true,
        },
      );
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
        if (stdout === 'ready\n') child.kill(signal);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const [ended] = (await once(child, 'close')) as [number];
      assert.deepEqual([ended, stdout], [code, output], stderr);
      assert.match(stderr, /recorded \d+ calls?[;:]/);
    }
  });

  it('does so under an older Node, too, which hands over to another', async () => {
    const other = join(place.folder, 'node_modules', 'node', 'bin');
    mkdirSync(other, { recursive: true });
    symlinkSync(process.execPath, join(other, 'node'));
    const doors = pathToFileURL(join(__dirname, '../../adapter/doors/node.ts')).href;
    const script = place.file(
      'outer.mjs',
      `if (process.env.OTHER) {
        process.on('SIGTERM', () => { console.log('bye'); process.exit(7); });
        setInterval(() => {}, 1000);
        console.log('ready');
      } else {
        process.env.OTHER = '1';
        const { needNode } = await import(${JSON.stringify(doors)});
        await needNode({ ...process.versions, node: '20.9.0' }, ${JSON.stringify(place.folder)});
        console.log('came back');
      }\n`,
    );
    const child = spawn(process.execPath, ['--import', pathToFileURL(require.resolve('tsx')).href, script], {
      env: place.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout === 'ready\n') child.kill('SIGTERM');
    });
    const [ended] = (await once(child, 'close')) as [number];
    assert.deepEqual([ended, stdout], [7, 'ready\nbye\n']);
  });

  it('leaves the command its exit code where the disk is full, and its run can be deleted', async function () {
    const small = join(place.folder, 'small');
    mkdirSync(small);
    if (
      process.platform !== 'linux' ||
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', small]).status !== 0
    )
      return;
    try {
      place.file(
        'full.py',
        'import sys\ndef f(i): return i\nfor i in range(400000): f(i)\nprint("end")\nsys.exit(7)\n',
      );
      const env = { ...place.env, XDG_STATE_HOME: small };
      const toolbreak = (...args: string[]): Promise<Said> =>
        run(process.execPath, toolbreakCommand(...args), { cwd: place.project, env });
      const full = await toolbreak(
        ...['run', '--functions', '@usercode', '--functions', '__main__.never'],
        ...['--', python, 'full.py'],
      );
      assert.deepEqual([full.code, full.stdout], [7, 'end\n'], full.stderr);
      assert.match(full.stderr, /No space left on device/);
      assert.doesNotMatch(full.stderr, /ENOSPC|failed inside|no function/);
      assert.match(full.stderr, /recorded [\d,]+ calls so far: the run file could not take all of it\./);
      writeFileSync(join(small, 'rest'), '');
      assert.throws(() => writeFileSync(join(small, 'rest'), Buffer.alloc(8 << 20)), /ENOSPC/);
      const refused = await toolbreak('run', '--', python, '-c', '');
      assert.deepEqual([refused.code, /its disk is full/.test(refused.stderr)], [1, true], refused.stderr);
      const deleted = await toolbreak('delete', 'last');
      assert.deepEqual([deleted.code, deleted.stdout.startsWith('Deleted run 1')], [0, true], deleted.stderr);
    } finally {
      spawnSync('umount', ['-l', small]);
    }
  });

  it('passes on SIGUSR1, at which Node itself would open a debugger', async function () {
    if (process.platform === 'win32') this.skip();
    place.file(
      'reopens.py',
      'import signal, time\ngot = []\nsignal.signal(signal.SIGUSR1, lambda *_: got.append(1))\nprint("ready", flush=True)\nwhile not got:\n    time.sleep(0.02)\nprint("reopened")\n',
    );
    const child = spawn(process.execPath, toolbreakCommand('run', '--', python, 'reopens.py'), {
      cwd: place.project,
      env: place.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout === 'ready\n') child.kill('SIGUSR1');
    });
    const [code] = (await once(child, 'close')) as [number];
    assert.deepEqual([code, stdout], [0, 'ready\nreopened\n'], stderr);
    assert.doesNotMatch(stderr, /Debugger/);
  });

  it('has Ctrl-C of a terminal reach the command once, wherever its streams go', async function () {
    if (process.platform !== 'linux') this.skip();
    place.file(
      'clean.py',
      'import time\ntry:\n    print("ready", flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    time.sleep(0.3)\n    print("cleaned up")\n',
    );
    const command = toolbreakCommand('run', '--', python, 'clean.py').map((word) => `'${word}'`);
    // What a person does in a terminal: the group of its foreground gets the key.
    place.file(
      'terminal.py',
      `import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", sys.argv[1]])
end = time.monotonic() + 60
while b"ready" not in (open("out", "rb").read() if os.path.exists("out") else b""):
    assert time.monotonic() < end
    time.sleep(0.02)
os.write(terminal, b"\\x03")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`,
    );
    const script = `exec '${process.execPath}' ${command.join(' ')} </dev/null >out 2>&1`;
    const said = await run(python, ['terminal.py', script], { cwd: place.project, env: place.env });
    const out = readFileSync(join(place.project, 'out'), 'utf8');
    assert.equal(said.code, 0, said.stderr + out);
    assert.match(out, /^ready\ncleaned up\ntoolbreak: recorded /);
  });

  it('outlives its terminal under nohup, as the command does', async function () {
    if (process.platform !== 'linux') this.skip();
    place.file(
      'night.py',
      'import os, signal, time\nassert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\nprint("ready", flush=True)\nwhile not os.path.exists("morning"):\n    time.sleep(0.02)\nprint("done")\n',
    );
    // What nohup leaves of a terminal: a stdin that can only be written.
    const stdin = openSync('/dev/null', 'w');
    const child = spawn(process.execPath, toolbreakCommand('run', '--', python, 'night.py'), {
      cwd: place.project,
      env: place.env,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    closeSync(stdin);
    let stdout = '';
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout !== 'ready\n') return;
      child.kill('SIGHUP');
      place.file('morning', '');
    });
    const [code] = (await once(child, 'close')) as [number];
    assert.deepEqual([code, stdout], [0, 'ready\ndone\n'], stderr);
    assert.match(stderr, /^toolbreak: recorded 0 calls/);
  });

  it('leaves what outlives the command running, unrecorded', async () => {
    place.file(
      'parent.py',
      `import subprocess, sys\nchild = subprocess.Popen([sys.executable, "child.py"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)\nprint(child.stdout.readline().strip(), child.pid, flush=True)\n`,
    );
    place.file('child.py', 'import time\nprint("up", flush=True)\ntime.sleep(600)\n');
    const said = await place.say('run', '--', python, 'parent.py');
    const pid = Number(/^up (\d+)\n$/.exec(said.stdout)?.[1]);
    try {
      assert.equal(said.code, 0, said.stderr);
      assert.match(said.stderr, /Still running, and not recorded any more: child\.py \(\d+\)\./);
      assert.match(said.stderr, /recorded 0 calls until then\./);
      assert.doesNotThrow(() => process.kill(pid, 0));
      assert.match((await place.say('runs')).stdout, /, recorded in part\n/);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  it('says from where on output is missing where it is killed, and has the calls', async () => {
    place.file(
      'goes_on.py',
      `import os, time
def step(x):
    return x
print("early", flush=True)
step(1)
for _ in range(2000):
    if os.path.exists("go"):
        break
    time.sleep(0.02)
print("late", flush=True)
step(2)
open("done", "w").close()
`,
    );
    const child = spawn(
      process.execPath,
      toolbreakCommand('run', '--functions', '@usercode', '--', python, 'goes_on.py'),
      {
        cwd: place.project,
        env: place.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const parts = async (): Promise<string> => (await place.say('query', '1', '--type', 'output,call,event')).stdout;
    await until(async () => /early\n.*step/.test(await parts()), 'what it printed and called');
    child.kill('SIGKILL');
    await once(child, 'exit');
    place.file('go', '');
    await until(() => existsSync(join(place.project, 'done')), 'the end');
    await until(async () => /\b2 calls, recorded in part\n/.test((await place.say('runs')).stdout), 'the run');
    assert.match(
      await parts(),
      / early\n.* step\(x=1\).*\n.* Note: Output from here on was not recorded: .*\n(?:.* Note: Toolbreak went away; the app went on\.\n)?.* step\(x=2\)/,
    );
    assert.doesNotMatch(await parts(), /late|(not recorded[^]*){2}/);
  });

  for (const [end, said] of [
    ['', '1 call, recorded in part'],
    ['os.kill(os.getpid(), 9)', '1 call, no end recorded, recorded in part'],
  ] as const)
    it(`knows how its app ended where it is killed itself: ${end || 'well'}`, async () => {
      place.file(
        'ends.py',
        `import os, subprocess, sys, time
def step():
    pass
step()
print("up", flush=True)
if os.fork() == 0:
    os._exit(0)
os.wait()
other = subprocess.Popen(["sh", "-c", f"'{sys.executable}' other.py; true"])
for _ in range(2000):
    if os.path.exists("go"):
        break
    time.sleep(0.02)
other.wait()
open("done", "w").close()
${end}
`,
      );
      // Started by what is not recorded, and no child of anybody here.
      place.file('other.py', 'import os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.02)\n');
      const args = toolbreakCommand('run', '--functions', '@usercode', '--', python, 'ends.py');
      const child = spawn(process.execPath, args, {
        cwd: place.project,
        env: place.env,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const told = async (): Promise<string> => (await place.say('query', 'last', '--type', 'event')).stdout;
      await until(async () => (await told()).includes('Toolbreak went away; the app went on.'), 'the app to be alone');
      place.file('go', '');
      await until(() => existsSync(join(place.project, 'done')), 'the end');
      await until(async () => (await place.say('runs')).stdout.includes(said), said);
      const events = await told();
      assert.deepEqual([/ Ended/.test(events), /other\.py.* no end/.test(events)], [end === '', false], events);
      await place.say('run', '--', python, '-c', 'pass');
      assert.equal((await place.json<{ number: number }[]>('runs'))[0]!.number, 2);
    });

  it('records into a folder that the locale of the command cannot write', async () => {
    place.file('many.py', 'def step(x):\n    return x\nfor i in range(20):\n    step(i)\nprint("end")\n');
    const said = await run(
      process.execPath,
      toolbreakCommand('run', '--functions', '@usercode', '--', python, 'many.py'),
      {
        cwd: place.project,
        env: {
          ...place.env,
          XDG_STATE_HOME: join(place.folder, 'jörg'),
          LC_ALL: 'C',
          PYTHONUTF8: '0',
          PYTHONCOERCECLOCALE: '0',
        },
      },
    );
    assert.deepEqual([said.code, said.stdout], [0, 'end\n'], said.stderr);
    assert.equal(said.stderr, `toolbreak: recorded 20 calls; ${LOOK}`);
  });

  it('ends as the command does where nothing more can be written, and does not call that an empty run', async function () {
    if (process.platform === 'win32') this.skip();
    place.file('agent.py', AGENT);
    const command = (words: string, redirection = ''): string =>
      [process.execPath, ...toolbreakCommand('run', '--functions', '@usercode', '--', ...words.split(' '))]
        .map((word) => `'${word}'`)
        .join(' ') + redirection;
    const shell = (script: string): ReturnType<typeof run> =>
      run('sh', ['-c', script], { cwd: place.project, env: place.env });
    // Its own words go to a full disk, too.
    if (existsSync('/dev/full')) {
      const full = await shell(command(`${python} agent.py`, ' 2>/dev/full'));
      assert.deepEqual([full.code, full.stdout], [0, '4\n']);
      assert.deepEqual(place.rows(names).length, 5);
    }
    // Files cannot grow.
    const said = await shell(`ulimit -f 8; ${command(`${python} agent.py`)}`);
    assert.deepEqual([said.code, said.stdout], [0, '4\n'], said.stderr);
    assert.match(
      said.stderr,
      /The disk refused the run file [^]*\ntoolbreak: recorded, but nothing is in the run file so far: "toolbreak runs" tries again/,
    );
    assert.doesNotMatch(said.stderr, /recorded 0 calls/);
  });

  it('says what to do where its folder cannot be made', async () => {
    const blocked = place.file('blocked', '');
    for (const state of [join(blocked, 'state'), ...(existsSync('/proc/self') ? ['/proc/nowhere'] : [])]) {
      const said = await run(process.execPath, toolbreakCommand('run', '--', python, '-c', 'print(1)'), {
        cwd: place.project,
        env: { ...place.env, XDG_STATE_HOME: state },
      });
      assert.deepEqual([said.code, said.stdout], [1, '']);
      assert.match(
        said.stderr,
        /^toolbreak: Toolbreak keeps what it records in .*toolbreak, which cannot be used \(.*\)\. Make it writable, or set XDG_STATE_HOME to a folder that is\.\n$/,
      );
      const spans = place.file('spans.json', '{"resourceSpans":[]}');
      const taken = await run(process.execPath, toolbreakCommand('import', spans), {
        cwd: place.project,
        env: { ...place.env, XDG_STATE_HOME: state },
      });
      assert.match(
        taken.stderr,
        /^toolbreak: Toolbreak keeps what it records in .* set XDG_STATE_HOME to a folder that is\.\n$/,
      );
    }
  });

  it('says that the folder of the terminal is gone, or that a run file may not be read', async function () {
    if (process.platform === 'win32') this.skip();
    const words = toolbreakCommand('runs').map((word) => `'${word}'`);
    const script = `mkdir gone && cd gone && rmdir ../gone && '${process.execPath}' ${words.join(' ')}`;
    const gone = await run('sh', ['-c', script], { cwd: place.project, env: place.env });
    assert.deepEqual(
      [gone.code, gone.stderr],
      [1, 'toolbreak: The folder that this terminal stands in was deleted. Change to another one.\n'],
    );
    // Whatever the rights say, root may read it.
    if (process.getuid?.() === 0) return;
    await place.say('run', '--', python, '-c', 'print(1)');
    const [file] = place.files();
    chmodSync(file!, 0);
    const sentence = `The run file ${file} cannot be read: its rights, or those of its folder, do not let you.`;
    assert.equal((await place.say('show', file!)).stderr, `toolbreak: ${sentence}\n`);
    assert.ok((await place.say('runs')).stdout.includes(sentence));
  });

  it('says when there was nothing to record, and when there is no such command', async () => {
    const plain = await place.say('run', '--', 'echo', 'hi');
    assert.deepEqual([plain.code, plain.stdout], [0, 'hi\n']);
    assert.match(
      plain.stderr,
      /^toolbreak: nothing was recorded, and no run is kept: no Python loaded Toolbreak, .*-I, -S or -E.*\n$/,
    );
    assert.deepEqual(await place.json('runs'), []);
    const before = place.files().length;
    const none = await place.say('run', '--', 'no-such-command');
    assert.equal(none.code, 127);
    assert.match(none.stderr, /^toolbreak: The command no-such-command was not found\.\n$/);
    const text = place.file('text.txt', 'hello\n');
    const script = place.file('script', '#!/no/such/interpreter\n');
    chmodSync(script, 0o755);
    for (const [command, code, sentence] of [
      ['', 127, 'The command is empty. Name one behind "--".'],
      [join(text, 'x'), 127, `The command ${join(text, 'x')} was not found.`],
      [script, 127, `The interpreter that the first line of ${script} names was not found.`],
      ['/', 126, '/ is a folder, not a command.'],
      [text, 126, `${text} may not be executed. Make it executable (chmod +x), or name its interpreter first.`],
    ] as const)
      assert.deepEqual(await place.say('run', '--', command), { code, stdout: '', stderr: `toolbreak: ${sentence}\n` });
    // A folder of that name on the PATH, or a file that is not executable, is none.
    mkdirSync(join(place.folder, 'bin', 'tool'), { recursive: true });
    const onPath = (command: string): Promise<Said> =>
      run(process.execPath, toolbreakCommand('run', '--', command), {
        cwd: place.project,
        env: { ...place.env, PATH: `${join(place.folder, 'bin')}:${place.env['PATH']}` },
      });
    const tool = await onPath('tool');
    assert.deepEqual([tool.code, tool.stderr], [127, 'toolbreak: The command tool was not found.\n']);
    writeFileSync(join(place.folder, 'bin', 'other'), '');
    assert.equal((await onPath('other')).code, 126);
    for (const pattern of ['', '@bogus']) {
      const refused = await place.say('run', '--functions', pattern, '--', python, '-c', '1');
      assert.deepEqual([refused.code, refused.stdout], [2, '']);
    }
    assert.equal(place.files().length, before);
    const empty = await place.say('run');
    assert.equal(empty.code, 2);
  });

  it('says of which patterns no function was called', async () => {
    writeFileSync(
      join(place.project, 'named.py'),
      'import json\nclass Agent:\n    def run(self): return json\nAgent().run()\n',
    );
    const words = async (...patterns: string[]): Promise<string> => {
      const flags = patterns.flatMap((one) => ['--functions', one]);
      const said = await place.say('run', ...flags, '--', python, 'named.py');
      return said.stderr.replace(/"toolbreak show \d+"/, 'SHOW').replaceAll('toolbreak: ', '');
    };
    const named =
      'One is named with its module, such as search_agent.search, and * stands for anything in it; the module of the file that runs is __main__.';
    const recorded = 'recorded 1 call; look at it with SHOW.\n';
    assert.equal(await words('__main__.Ag*n', '@file:other.py'), recorded);
    assert.equal(
      await words('__main__.*', 'named.*', 'json.loads'),
      `${recorded}no function of a source file was called that "named.*" or "json.loads" names. ${named}\n`,
    );
    assert.equal(
      await words('named.*'),
      `recorded 0 calls: no tool, node or model call was made, and no function of a source file was called that "named.*" names. ${named}\n`,
    );
  });
});
