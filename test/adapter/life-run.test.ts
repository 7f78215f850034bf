import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { QueryAnswer } from '../../protocol/query';
import { toolbreakCommand } from '../support/adapter';
import { AGENT, LifePlace, run, type Said } from './life-support';
import { apps } from './e2e-support';
import { python, until } from './target-support';
import { openWithCalls } from '../support/run-file';

const LOOK = 'look at it with "toolbreak show last".\n';

describe('life: run', function () {
  this.timeout(120_000);
  let place: LifePlace;

  beforeEach(() => (place = new LifePlace()));
  afterEach(() => place.remove());

  /** Of the newest run: two of one second are told apart by their numbers, not by the names of their files. */
  const rows = (sql: string): unknown[] => {
    const answers = place.files().map((file) => {
      const db = openWithCalls(file);
      try {
        const number = db.prepare('SELECT number FROM runs').pluck().get() as number;
        return { number, rows: db.prepare(sql).pluck().all() };
      } finally {
        db.close();
      }
    });
    return answers.reduce((one, other) => (one.number > other.number ? one : other)).rows;
  };
  const names = 'SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.start';

  it("records a command: output, input and exit code are the command's own", async () => {
    place.file(
      'talk.py',
      `${AGENT}\nprint(sys.stdin.read().upper(), sys.argv[1:])\nprint("oops", file=sys.stderr)\nsys.exit(3)\n`,
    );
    const said = await run(
      process.execPath,
      toolbreakCommand('run', '--functions', '@usercode', '--', python, 'talk.py', '--name', 'x'),
      {
        cwd: place.project,
        env: place.env,
        input: 'hello',
      },
    );
    assert.equal(said.code, 3);
    assert.equal(said.stdout, "4\nHELLO ['--name', 'x']\n");
    assert.equal(said.stderr, `oops\ntoolbreak: recorded 5 calls (1 error); ${LOOK}`);
    assert.deepEqual(rows(names), ['agent', 'lookup', 'lookup', 'lookup', 'lookup']);
    const [summary] = await place.json<{ live: boolean; name: string; calls: number }[]>('runs');
    assert.deepEqual([summary!.live, summary!.calls, summary!.name.endsWith('talk.py --name x')], [false, 5, true]);
    assert.equal((await place.say('show', 'last')).code, 0);
    const sessions = join(place.state, 'sessions');
    const [session] = readdirSync(sessions, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.deepEqual(readdirSync(join(sessions, session!.name)).sort(), ['logs', 'session.json']);
  });

  it("takes a file or a module with this folder's Python, and an agent's frameworks", async () => {
    place.file('agent.py', AGENT);
    const path = `${join(python, '..')}:${place.env['PATH']}`;
    const env = { ...place.env, PATH: path };
    for (const command of [['agent.py'], ['-m', 'agent']]) {
      const said = await run(
        process.execPath,
        toolbreakCommand('run', '--functions', '@usercode', '--name', 'mine', '--', ...command),
        { cwd: place.project, env },
      );
      assert.deepEqual([said.code, said.stdout], [0, '4\n'], said.stderr);
      assert.match(said.stderr, /recorded 5 calls/);
    }
    assert.deepEqual(rows('SELECT name FROM runs'), ['mine']);
    const said = await place.say('run', python, join(apps, 'langgraph', 'triage.py'), 'please refund order 7');
    assert.equal(said.code, 0, said.stderr);
    const kinds = new Set(rows('SELECT f.kind FROM calls c JOIN functions f ON f.id = c.function'));
    for (const kind of ['workflow', 'node', 'tool', 'llm']) assert.ok(kinds.has(kind), kind);
    const named = await place.say(
      'run',
      '--name',
      'refunds',
      python,
      join(apps, 'langgraph', 'triage.py'),
      'please refund order 7',
    );
    assert.equal(named.code, 0, named.stderr);
    assert.match((await place.say('runs')).stdout, /\b4 .*\brefunds\b/);
  });

  it('begins a line of its own behind one that the command left open', async () => {
    for (const end of ['', '\\n']) {
      const said = await place.say('run', '--', python, '-c', `import sys; sys.stderr.write("half${end}")`);
      assert.match(said.stderr, /^half\ntoolbreak: recorded 0 calls/);
    }
    const apart = await place.say('run', '--', python, '-c', 'print("half", end="")');
    assert.equal(apart.stdout, 'half');
    assert.match(apart.stderr, /^toolbreak: /);
  });

  it('shows the name of a call however deep it is', async () => {
    place.file('deep.py', 'def down(left):\n    return left if left == 0 else down(left - 1)\ndown(60)\n');
    await place.say('run', '--functions', '@usercode', '--', python, 'deep.py');
    const lines = (await place.say('show', 'last')).stdout.split('\n').slice(1, -1);
    assert.equal(lines.length, 61);
    lines.forEach((line, index) => assert.ok(line.endsWith(`down(left=${60 - index}) → 0`), line));
    assert.match(lines.at(-1)!, /^1\.61 .* \(level 61\) down/);
  });

  it('has the calls of threads under the names of these', async () => {
    place.file(
      'threads.py',
      'import threading\ndef work(number):\n    return double(number)\ndef double(number):\n    return number * 2\nfor number in range(2):\n    thread = threading.Thread(target=work, args=(number,), name=f"worker {number}")\n    thread.start()\n    thread.join()\nwork(2)\n',
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'threads.py');
    const tree = (await place.say('show', 'last')).stdout.split('\n').slice(1, -1);
    assert.deepEqual(
      tree.map((line) => line.slice(19)),
      [
        'worker 0: work(number=0) → 0',
        '└─ double(number=0) → 0',
        'worker 1: work(number=1) → 2',
        '└─ double(number=1) → 2',
        'threads.py: work(number=2) → 4',
        '└─ double(number=2) → 4',
      ],
    );
  });

  it('records child processes, or not', async () => {
    place.file('agent.py', AGENT);
    place.file(
      'parent.py',
      `import subprocess, sys\ndef mine():\n    subprocess.run([sys.executable, "agent.py"], check=True)\nmine()\n`,
    );
    const args = ['--functions', '@usercode', '--', python, 'parent.py'];
    assert.match((await place.say('run', ...args)).stderr, /recorded 6 calls/);
    assert.match((await place.say('run', '--no-subprocess', ...args)).stderr, /recorded 1 call;/);
    assert.deepEqual(rows(names), ['mine']);
  });

  it('records what its processes write, line by line and masked, and leaves the streams as they are', async () => {
    place.file(
      'writes.py',
      `import logging, os, subprocess, sys
print("first", 1)
print("api_key=sk-abcdefghijklmnop", file=sys.stderr)
logging.warning("take care")
sys.stdout.write("no end")
sys.stdout.flush()
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
    if os.fork() == 0:
        print(" of the fork", flush=True)
        sys.exit(0)
    os.wait()
    raise LookupError("the end")
`,
    );
    // From 3.12 on Python may take a thread that has just ended for one that runs while it forks.
    place.env['PYTHONWARNINGS'] = 'ignore';
    const plain = await run(python, ['writes.py'], { cwd: place.project, env: place.env });
    const said = await place.say('run', '--', python, 'writes.py');
    assert.deepEqual([said.code, said.stdout], [1, plain.stdout]);
    assert.ok(said.stderr.startsWith(plain.stderr), said.stderr);
    const { rows: found } = await place.json<QueryAnswer>('query', 'last', '--type', 'output');
    const texts = found.map((row) => (row.type === 'output' ? `${row.name}: ${row.text}` : row.type));
    const all = texts.join('');
    for (const text of ['stdout: first 1\n', 'stderr: WARNING:root:take care\n'])
      assert.equal(texts.filter((one) => one === text).length, 2, all);
    // Each process has lines of its own; what has no end is recorded with the process's.
    assert.equal(texts.filter((text) => text === 'stdout: no end').length, 2, all);
    assert.equal(texts.filter((text) => text === 'stdout:  of the fork\n').length, 1, all);
    assert.match(all, /stderr: LookupError: the end\n/);
    assert.doesNotMatch(all, /abcdefghijklmnop/);
    assert.deepEqual((await place.json<QueryAnswer>('query', 'last', '--text', 'first')).rows, []);
  });

  it('keeps the secrets of a command line out of every file', async () => {
    place.file('quiet.py', 'def tell():\n    return 1\n\n\ntell()\n');
    const secrets = [
      '--password',
      'zebra11',
      '--api-key=zebra22',
      '--db-pass',
      'zebra66',
      '--smtp-pass=zebra77',
      'https://me:zebra33@example.com/x',
      '--keep',
      'plain44',
    ];
    const { code } = await place.say('run', '--functions', '@usercode', '--', python, 'quiet.py', ...secrets);
    assert.equal(code, 0);
    const named = await place.say('run', '--name', 'with password=zebra55', '--', python, 'quiet.py');
    assert.equal(named.code, 0);
    const texts = readdirSync(place.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => ({ file: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'latin1') }));
    for (const { file, text } of texts) assert.doesNotMatch(text, /zebra\d\d/, file);
    assert.ok(texts.some(({ file, text }) => file.endsWith('.db') && text.includes('plain44')));
    const [, first] = await place.json<{ name: string }[]>('runs');
    assert.match(first!.name, /^\S+ quiet\.py --password \*\*\* --api-key=\*\*\* .*…$/);
  });

  it('masks the keys that the environment names', async () => {
    place.file(
      'patients.py',
      'def admit(patient_name, data):\n    print("patient_name=Ann_Miller9")\n    return data\n\nadmit("Ann Miller9", {"iban": "DE89Miller9", "ward": "plain44"})\n',
    );
    const said = await run(
      process.execPath,
      toolbreakCommand('run', '--functions', '@usercode', '--', python, 'patients.py'),
      {
        cwd: place.project,
        env: { ...place.env, TOOLBREAK_RECORD_MASK_KEYS: 'patient*, iban' },
      },
    );
    assert.deepEqual([said.code, said.stdout], [0, 'patient_name=Ann_Miller9\n']);
    for (const file of readdirSync(place.folder, { recursive: true, withFileTypes: true }))
      if (file.isFile() && file.name !== 'patients.py')
        assert.doesNotMatch(readFileSync(join(file.parentPath, file.name), 'latin1'), /Miller9/, file.name);
    assert.match((await place.say('show', 'last', 'admit')).stdout, /plain44/);
  });

  it('says how much output came too fast, also at the end', async () => {
    place.file(
      'flood.py',
      'import sys\nprint("begins")\nfor number in range(40):\n    sys.stdout.write("".join(f"line {number} {each}\\n" for each in range(5000)))\nfor number in range(100_000):\n    print("line", number, "y" * 100)\n',
    );
    await place.say('run', '--', python, 'flood.py');
    const all = rows(
      "SELECT json_extract(data, '$.text') FROM events WHERE name = 'output' ORDER BY time, id",
    ) as string[];
    const text = all.join('');
    const lost = [...text.matchAll(/^\[toolbreak: ([\d,]+) characters of output came too fast to be recorded\]\n/gm)];
    const sum = lost.reduce((total, [, count]) => total + Number(count!.replaceAll(',', '')), 0);
    let written = 'begins\n'.length;
    for (let number = 0; number < 40; number++)
      for (let each = 0; each < 5000; each++) written += `line ${number} ${each}\n`.length;
    for (let number = 0; number < 100_000; number++) written += `line ${number} ${'y'.repeat(100)}\n`.length;
    const marks = lost.reduce((total, [mark]) => total + mark.length, 0);
    // Each gap may have a line's end of its own before it.
    const missing = written - (text.length - marks + sum);
    assert.ok(missing <= 0 && missing >= -lost.length, `${written} characters, ${text.length} recorded, ${sum} lost`);
  });

  it('notes the texts of a long run behind its end', async () => {
    place.file(
      'long.py',
      'def tell(number, note):\n    return note\n\n\nfor number in range(20_000):\n    tell(number, f"note {number}!")\n',
    );
    const { code } = await place.say('run', '--functions', '@usercode', '--', python, 'long.py');
    assert.equal(code, 0);
    const groups = (): number => rows('SELECT count(*) FROM word_groups')[0] as number;
    await until(() => groups() === 1, 'the texts to be noted');
    const query = ['query', 'last', '--text', 'NOTE 17123!'];
    const { rows: found, more, looked } = await place.json<QueryAnswer>(...query);
    assert.deepEqual(
      found.map((row) => row.type === 'call' && row.call.name),
      ['tell'],
    );
    assert.deepEqual(more, { count: 0, exact: true });
    assert.ok(looked <= 2048, `looked at ${looked} calls`);
  });

  it('tells of an error what it was raised from, its notes, its fields and the members of a group', async () => {
    place.file(
      'fails.py',
      `class Refused(Exception):
    def __init__(self, code):
        super().__init__("refused", code)
        self.code = code

def look(): raise KeyError("order 7")

def price():
    try: look()
    except KeyError as error:
        refused = Refused(42)
        refused.add_note("tried twice")
        raise refused from error

def many():
    try: price()
    except Refused: raise ExceptionGroup("both", [ValueError("a"), KeyError("b")])

def seen(error): return error

def large():
    error = ValueError("large")
    error.items = "x" * 3_000_000
    error.more = [1]
    raise error

def deep(left):
    try:
        if left == 0: raise ValueError("bottom")
        deep(left - 1)
    except ValueError as error: raise ValueError(f"level {left}") from error

for each in large, lambda: deep(30):
    try: each()
    except ValueError: pass
try: many()
except ExceptionGroup as error: seen(error.__context__)
`,
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'fails.py');
    const shown = async (call: string): Promise<string> =>
      (await place.say('show', 'last', call)).stdout.replaceAll(`${place.project}/`, '');
    assert.match(
      await shown('price'),
      /\nError\n {2}Refused: \('refused', 42\)\n {4}fails\.py:13 in price\n[^]*\n {4}__notes__ = list \(1\)\n {6}0 = 'tried twice'\n[^]*\nCaused by\n {2}KeyError: 'order 7'\n {4}fails\.py:9 in price\n {4}fails\.py:6 in look\n/,
    );
    assert.match(
      await shown('many'),
      /ExceptionGroup: both[^]*exceptions = tuple \(2\)\n {6}0 = ValueError: a\n {6}1 = KeyError: 'b'\n[^]*Caused by\n {2}Refused[^]*Caused by\n {2}KeyError/,
    );
    assert.match(
      await shown('seen'),
      /\nResult\n {2}Refused: \('refused', 42\)\n {4}cause = KeyError: 'order 7'\n {4}code = 42\n/,
    );

    // What is left out says so, and why: fields, and the middle of a long chain.
    assert.match(
      await shown('large'),
      /\n {2}ValueError: large\n.*\n(?: {4}.*\n)* {4}… {2}\(Cut .*larger than the limit/,
    );
    const tree = (await place.say('show', 'last')).stdout;
    const [outermost] = /^\S+(?=.*deep\(left=30\))/m.exec(tree) ?? [];
    const chain = await shown(outermost!);
    assert.match(chain, /level 30\n[^]*level 12\n[^]*\n… 12 more: --full\n\nCaused by\n {2}ValueError: bottom\n/);
    const whole = (await place.say('show', 'last', outermost!, '--full')).stdout;
    for (let level = 0; level <= 30; level++) assert.ok(whole.includes(`ValueError: level ${level}\n`), String(level));

    interface Json {
      type: string;
      message: string;
      stack: { line: number; function: string }[];
      cause?: Json;
      fields?: Record<string, unknown>;
    }
    const { error } = await place.json<{ error: Json }>('show', 'last', 'price');
    assert.deepEqual([error.type, error.fields!['code'], error.fields!['__notes__']], ['Refused', 42, ['tried twice']]);
    const cause = error.cause!;
    assert.deepEqual(
      [cause.type, cause.message, cause.stack.map((frame) => `${frame.function}:${frame.line}`)],
      ['KeyError', "'order 7'", ['price:9', 'look:6']],
    );
    const { arguments: given, result } = await place.json<{ arguments: { error: Json }; result: Json }>(
      'show',
      'last',
      'seen',
    );
    assert.deepEqual(given.error, result);
    assert.equal(result.cause!.type, 'KeyError');
    await place.say('export', 'last', '-o', 'run.json', '--format', 'otlp');
    const written = readFileSync(join(place.project, 'run.json'), 'utf8');
    assert.match(written, /line 13, in price\\nCaused by: KeyError: 'order 7'\\n {2}File [^,]*, line 9, in price/);
  });

  it('records that a process crashed', async () => {
    place.file('dies.py', 'import os, signal\nprint("now", flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n');
    const said = await place.say('run', '--', python, 'dies.py');
    assert.deepEqual([said.code, said.stdout], [137, 'now\n']);
    const { rows: found } = await place.json<QueryAnswer>('query', 'last', '--type', 'output,crash');
    assert.deepEqual(
      found.map((row) => (row.type === 'call' ? '' : row.text.replace(/\d+/, 'N'))),
      ['now\n', "Process N (dies.py) was killed by SIGKILL, by somebody or because the machine's memory was full"],
    );
    assert.match(said.stderr, /: it was killed by SIGKILL, by somebody or because the machine's memory was full\. /);
    await place.say('run', '--', python, '-c', 'print("well")');
    assert.deepEqual((await place.json<QueryAnswer>('query', 'last', '--type', 'crash')).rows, []);
    // An exception that ends it is one, too: with its type, its message and the way to where it was raised.
    place.file(
      'raises.py',
      'import sys, time\nprint("early", flush=True)\ntime.sleep(0.3)\ndef price(name):\n    return {}[name]\ndef main(way):\n    try:\n        price("mug")\n    except KeyError:\n        if way == "raise":\n            raise ValueError("no <b>mug</b>") from None\n        sys.exit(1) if way == "exit" else print(way)\nmain(sys.argv[1])\n',
    );
    for (const [way, code] of [
      ['raise', 1],
      ['exit', 1],
      ['well', 0],
    ] as const) {
      assert.equal((await place.say('run', '--functions', '@usercode', '--', python, 'raises.py', way)).code, code);
      const { rows: raised } = await place.json<QueryAnswer>('query', 'last', '--type', 'crash');
      assert.equal(raised.length, way === 'raise' ? 1 : 0, way);
      if (way === 'raise')
        assert.match(
          (raised[0] as { text: string }).text,
          /^Crash: ValueError: no <b>mug<\/b>, at main @ .*raises\.py:11 ← <module> @ .*raises\.py:13$/,
        );
      // What was printed before the first call was before it.
      const { rows: first } = await place.json<QueryAnswer>('query', 'last', '--type', 'output,call');
      assert.deepEqual(
        first.slice(0, 2).map((row) => (row.type === 'call' ? row.call.name : row.text)),
        ['early\n', 'main'],
        way,
      );
    }
    // One that ends a thread is an event, and no crash.
    place.file(
      'thread.py',
      'import threading\ndef work(way):\n    if way:\n        raise SystemExit\n    return {}["mug"]\nfor way in (0, 1):\n    thread = threading.Thread(target=work, args=(way,), name="worker")\n    thread.start()\n    thread.join()\ndef own():\n    for key in ("cup", "jug"):\n        try:\n            {}[key]\n        except KeyError as error:\n            me = threading.current_thread()\n            threading.excepthook(threading.ExceptHookArgs((KeyError, error, error.__traceback__, me)))\nthread = threading.Thread(target=own, name="own")\nthread.start()\nthread.join()\n',
    );
    const died = await place.say('run', '--', python, 'thread.py');
    assert.equal(died.code, 0);
    assert.match(died.stderr, /^Exception in thread worker:\n[^]*\nKeyError: 'mug'\n/);
    assert.doesNotMatch(died.stderr, /toolbreak\/_|it crashed/);
    assert.match(
      died.stderr,
      /\ntoolbreak: 3 uncaught exceptions in threads; see them with "toolbreak query last --type event --text uncaught"\.\n$/,
    );
    const seen = await place.say('query', 'last', '--type', 'event', '--text', 'uncaught');
    assert.equal(seen.stdout.match(/ Uncaught exception in thread (?:worker|own): /g)?.length, 3, seen.stdout);
    // However long it is: the message and its place are what was asked for.
    assert.match(seen.stdout, /KeyError: 'mug', at work @ thread\.py:5 ← …\n/);
    const { rows: events } = await place.json<QueryAnswer>('query', 'last', '--type', 'event,crash');
    const uncaught = events.filter((row) => row.type !== 'call' && row.text.startsWith('Uncaught'));
    assert.equal(uncaught[0]!.type, 'event');
    // One that the app itself hands to the hook is as good, and each is another one.
    assert.deepEqual(
      uncaught.map((row) =>
        /thread (.*), at own @|thread (.*), at work @/
          .exec((row as { text: string }).text)
          ?.slice(1)
          .join(''),
      ),
      ["worker: KeyError: 'mug'", "own: KeyError: 'cup'", "own: KeyError: 'jug'"],
    );
    assert.match(
      (uncaught[0] as { text: string }).text,
      /^Uncaught exception in thread worker: KeyError: 'mug', at work @ thread\.py:5 ← …$/,
    );
    // A fault below Python tells where it was, too.
    place.file('fault.py', 'import ctypes\ndef read():\n    return ctypes.string_at(0)\nread()\n');
    const fault = await place.say('run', '--', python, 'fault.py');
    assert.equal(fault.code, 139);
    assert.match(fault.stderr, /it crashed; see where with "toolbreak query last --type crash"/);
    const { rows: told } = await place.json<QueryAnswer>('query', 'last', '--type', 'crash');
    const texts = told.map((row) => (row.type === 'call' ? '' : row.text)).sort();
    assert.equal(texts.length, 2);
    assert.match(texts[0]!, /^Crash: Segmentation fault .*read @ .*fault\.py:3 ← <module> @ .*fault\.py:4$/);
    assert.match(texts[1]!, /^Process \d+ \(fault\.py\) crashed by SIGSEGV, a fault in native code$/);
    // Also as lines: the place comes last, and is what was asked for.
    const lines = await place.say('query', 'last', '--type', 'crash');
    assert.match(lines.stdout, /Segmentation fault .* ← <module> @ .*fault\.py:4$/m);
  });

  it('records that a program, or a module of it, cannot be compiled, and where', async () => {
    const crashes = async (file: string, ...more: string[]): Promise<string[]> => {
      assert.equal((await place.say('run', '--', python, ...more, file)).code, more[0] === '-i' ? 0 : 1);
      const { rows: told } = await place.json<QueryAnswer>('query', 'last', '--type', 'crash');
      return told.map((row) => (row.type === 'call' ? '' : row.text));
    };
    place.file('wrong.py', 'total = 1\ndef price(:\n    pass\n');
    place.file('uses.py', 'def buy():\n    import wrong\nbuy()\n');
    assert.deepEqual(await crashes('wrong.py'), ['Crash: SyntaxError: invalid syntax, at <module> @ wrong.py:2']);
    assert.deepEqual(await crashes('uses.py'), [
      'Crash: SyntaxError: invalid syntax, at <module> @ wrong.py:2 ← buy @ uses.py:2 ← <module> @ uses.py:3',
    ]);
    mkdirSync(join(place.project, 'shop'));
    place.file('shop/__init__.py', '');
    place.file('shop/__main__.py', 'total = (\n');
    const open = "Crash: SyntaxError: '(' was never closed, at <module> @ ";
    for (const [words, begin] of [
      [['-m', 'wrong'], 'Crash: SyntaxError: invalid syntax, at <module> @ wrong.py:2'],
      [['-m', 'shop'], `${open}shop/__main__.py:1`],
      [['shop'], `${open}shop/__main__.py:1`],
      [['-c', 'total = ('], `${open}<string>:1`],
    ] as const) {
      const [one] = await crashes(words.at(-1)!, ...words.slice(0, -1));
      assert.ok(one?.startsWith(begin), one);
    }
    writeFileSync(join(place.project, 'latin.py'), Buffer.from('name = "\xe9"\n', 'latin1'));
    assert.match((await crashes('latin.py'))[0]!, /^Crash: SyntaxError: .*UTF-8/);
    assert.deepEqual(await crashes('wrong.py', '-i'), []);
    // What the app itself has read is no place of its own.
    place.file(
      'page.py',
      'def render():\n    raise SyntaxError("no tag", ("page.html", 12, 1, "<b", 12, 2))\nrender()\n',
    );
    assert.deepEqual(await crashes('page.py'), [
      'Crash: SyntaxError: no tag (page.html, line 12), at render @ page.py:2 ← <module> @ page.py:3',
    ]);
    // What is typed wrongly into an interpreter, which goes on, is none.
    const typed = await run(process.execPath, toolbreakCommand('run', '--', python, '-i'), {
      cwd: place.project,
      env: place.env,
      input: 'def price(:\n',
    });
    assert.deepEqual([typed.code, (await place.json<QueryAnswer>('query', 'last', '--type', 'crash')).rows], [0, []]);
  });

  it('an error that comes out of a graph is printed as it is without us', async () => {
    place.file(
      'graph.py',
      `from typing import TypedDict
from langgraph.graph import END, START, StateGraph


class Bill(TypedDict):
    total: int


def tax(state):
    raise ValueError("no such city")


graph = StateGraph(Bill)
graph.add_node("tax", tax)
graph.add_edge(START, "tax")
graph.add_edge("tax", END)
graph.compile(name="desk").invoke({"total": 0})
`,
    );
    const plain = spawnSync(python, ['graph.py'], { cwd: place.project, encoding: 'utf8' });
    const { code, stderr } = await place.say('run', '--', python, 'graph.py');
    assert.equal(code, 1);
    // Each run of a task has an id of its own.
    const lines = (text: string): string[] =>
      text.split('\n').filter((line) => !/^toolbreak: |^During task with name/.test(line));
    assert.match(plain.stderr, /ValueError: no such city/);
    assert.deepEqual(lines(stderr), lines(plain.stderr));
    const crash = await place.say('query', 'last', '--type', 'crash');
    assert.match(
      crash.stdout,
      /✗ Crash: ValueError: no such city, at tax @ graph\.py:10 ← … ← <module> @ graph\.py:17\n/,
    );
  });

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

  it('has Ctrl-C of a terminal reach the command once, wherever its streams go', async function () {
    if (process.platform !== 'linux') this.skip();
    place.file(
      'clean.py',
      'import time\nprint("ready", flush=True)\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    time.sleep(0.3)\n    print("cleaned up")\n',
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
      assert.deepEqual(rows(names).length, 5);
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
      /^toolbreak: nothing was recorded, and no run is kept: no Python loaded Toolbreak\. .*-I, -S or -E.*\n$/,
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

  it('a StopIteration out of a function is its error, and the end of an iterator is none', async () => {
    place.file(
      'stops.py',
      'class Two:\n    def __iter__(self):\n        self.left = 2\n        return self\n    def __next__(self):\n        if self.left == 0:\n            raise StopIteration\n        self.left -= 1\n        return self.left\n\ndef find(orders, number):\n    return next(order for order in orders if order == number)\n\nassert list(Two()) == [1, 0]\nfind([1], 2)\n',
    );
    const said = await place.say('run', '--functions', '@usercode', '--', python, 'stops.py');
    assert.match(said.stderr, /recorded 5 calls \(1 error\);/);
    const { rows: failed } = await place.json<QueryAnswer>('query', 'last', '--status', 'error');
    assert.deepEqual(
      failed.map((row) => (row.type === 'call' ? [row.call.name, row.error] : [])),
      [['find', 'StopIteration']],
    );
  });

  it('a call whose end was not recorded ends no later than its caller', async () => {
    place.file(
      'deep.py',
      'import time\ndef down(number):\n    return down(number + 1)\ndef go():\n    try:\n        down(0)\n    except RecursionError:\n        pass\ndef rest():\n    time.sleep(0.3)\ngo()\nrest()\n',
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'deep.py');
    const lengths = rows(
      "SELECT c.end - c.start FROM calls c JOIN functions f ON f.id = c.function WHERE f.name IN ('go', 'down') ORDER BY c.id",
    ) as number[];
    assert.ok(lengths.length > 100);
    assert.ok(Math.max(...lengths.slice(1)) <= lengths[0]!, `${lengths[0]} < ${Math.max(...lengths.slice(1))}`);
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
      assert.doesNotThrow(() => process.kill(pid, 0));
      assert.match((await place.say('runs')).stdout, /, recorded in part\n/);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });
});
