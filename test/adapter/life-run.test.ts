import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryAnswer } from '../../protocol/query';
import { toolbreakCommand } from '../support/adapter';
import { AGENT, LifePlace, run } from './life-support';
import { apps } from './e2e-support';
import { python, until } from './target-support';

const LOOK = 'look at it with "toolbreak show 1".\n';

describe('life: run', function () {
  this.timeout(120_000);
  let place: LifePlace;

  beforeEach(() => (place = new LifePlace()));
  afterEach(() => place.remove());

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
    assert.deepEqual(place.rows(names), ['agent', 'lookup', 'lookup', 'lookup', 'lookup']);
    const [summary] = await place.json<{ live: boolean; name: string; calls: number }[]>('runs');
    assert.deepEqual([summary!.live, summary!.calls, summary!.name.endsWith('talk.py --name x')], [false, 5, true]);
    assert.equal((await place.say('show', 'last')).code, 0);
    assert.match((await place.say('query', 'last', '--type', 'event')).stdout, / Ended with exit code 3\n$/);
    const sessions = join(place.state, 'sessions');
    const [session] = readdirSync(sessions, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.deepEqual(readdirSync(join(sessions, session!.name)).sort(), ['logs', 'session.json']);
  });

  it('gives each of those that begin together a number of its own, and none again', async () => {
    const numbers = async (): Promise<number[]> =>
      (await place.json<{ number: number }[]>('runs')).map(({ number }) => number).sort((one, other) => one - other);
    const command = toolbreakCommand('run', '--', python, '-c', 'pass');
    const options = { cwd: place.project, env: place.env };
    const together = await Promise.all([1, 2, 3, 4, 5].map(() => run(process.execPath, command, options)));
    assert.deepEqual(
      together.map(({ code }) => code),
      [0, 0, 0, 0, 0],
    );
    assert.deepEqual(await numbers(), [1, 2, 3, 4, 5]);
    // What is written to last is not what came last.
    for (const number of ['1', '2', '3']) await place.say('keep', number);
    await run(process.execPath, command, options);
    await place.say('delete', '6');
    await run(process.execPath, command, options);
    assert.deepEqual(await numbers(), [1, 2, 3, 4, 5, 7]);
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
    assert.deepEqual(place.rows('SELECT name FROM runs'), ['mine']);
    const said = await place.say('run', python, join(apps, 'langgraph', 'triage.py'), 'please refund order 7');
    assert.equal(said.code, 0, said.stderr);
    const kinds = new Set(place.rows('SELECT f.kind FROM calls c JOIN functions f ON f.id = c.function'));
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

  it('names a method with its class, and finds it by either name', async () => {
    place.file(
      'methods.py',
      'class Agent:\n  def run(self, n):\n    def inner(x):\n      return x + 1\n    return inner(n)\n' +
        'def make():\n  class Tool:\n    def run(self):\n      return 2\n  return Tool()\nAgent().run(3)\nmake().run()\n' +
        'class Box:\n  @staticmethod\n  def pair(self, cls):\n    return self\nBox.pair(3, 4)\n',
    );
    const command = toolbreakCommand('run', '--functions', '@usercode', '--', python, 'methods.py');
    assert.equal((await run(process.execPath, command, { cwd: place.project, env: place.env })).code, 0);
    const { stdout } = await place.say('show', 'last');
    for (const line of [
      'Agent.run(n=3) → 4',
      '└─ inner(x=3) → 4',
      'make() → Tool()',
      'Tool.run() → 2',
      'Box.pair(self=3, cls=4) → 3',
    ])
      assert.ok(stdout.includes(line), stdout);
    const found = async (...name: string[]): Promise<string[]> => {
      const { rows } = await place.json<QueryAnswer>('query', 'last', ...name);
      return rows.map((row) => (row.type === 'call' ? row.call.name : row.type));
    };
    assert.deepEqual(await found('--name-is', 'run'), ['Agent.run', 'Tool.run']);
    assert.deepEqual(await found('--name-is', 'Tool.run'), ['Tool.run']);
    assert.deepEqual(await found('--name-is', 'function:Tool.run'), ['Tool.run']);
    assert.deepEqual(await found('--name', 'agent.'), ['Agent.run', 'inner']);
    const written = await place.say('export', 'last', '--format', 'perfetto', '-o', '-');
    assert.match(written.stdout, /"name":"Agent\.run"/);
  });

  it('has the calls of the standard library that the app makes, and none of those that recording makes', async () => {
    place.file('wide.py', 'import json\ndef f():\n    return json.dumps({"a": 1})\nf()\nprint("ok")\n');
    const calls = async (pattern: string): Promise<string[]> => {
      const command = toolbreakCommand('run', '--functions', pattern, '--', python, 'wide.py');
      const { code, stdout } = await run(process.execPath, command, { cwd: place.project, env: place.env });
      assert.deepEqual([code, stdout], [0, 'ok\n']);
      const { rows } = await place.json<QueryAnswer>('query', 'last', '--limit', '500');
      return rows.map((row) => (row.type === 'call' ? row.call.name : row.type));
    };
    const ofJson = ['dumps', 'JSONEncoder.encode', 'JSONEncoder.iterencode'];
    assert.deepEqual(await calls('json.*'), ofJson);
    // Loaded before the app, and named by itself.
    assert.deepEqual(await calls('json.dumps'), ['dumps']);
    assert.deepEqual(await calls('toolbreak.*'), []);
    assert.deepEqual(await calls('importlib.*'), []);
  });

  it('has what a generator gives itself up to inside it, and its consumer outside', async () => {
    place.file(
      'given.py',
      'def leaf(x):\n  return x\nclass Reader:\n  def inner(self, n):\n    for i in range(n):\n      yield leaf(i)\n    return n\n' +
        '  def outer(self):\n    left = yield from self.inner(1)\n    yield from [7]\n    leaf(left)\n' +
        'def consume():\n  for x in Reader().outer():\n    leaf("took")\nconsume()\n',
    );
    for (const compiled of ['0', '1']) {
      const env = { ...place.env, TOOLBREAK_COMPILED: compiled };
      const command = toolbreakCommand('run', '--functions', '@usercode', '--', python, 'given.py');
      assert.equal((await run(process.execPath, command, { cwd: place.project, env })).code, 0);
      const { stdout } = await place.say('show', 'last');
      const tree = stdout.split('\n').slice(1, -1);
      assert.deepEqual(
        tree.map((line) => line.replace(/^\S+ +\S+ \S+ +/, '')),
        [
          'consume()',
          '├─ Reader.outer()',
          '│  ├─ Reader.inner(n=1) → 1',
          '│  │  └─ leaf(x=0) → 0',
          '│  └─ leaf(x=1) → 1',
          "├─ leaf(x='took') → 'took'",
          "└─ leaf(x='took') → 'took'",
        ],
      );
    }
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
    assert.deepEqual(place.rows(names), ['mine']);
  });

  it('says which Pythons were too old, once, however many processes there were', async () => {
    // What such a process does before anything else; nothing of it has to be there.
    const note = (version: string): string => `: > "$(dirname "$TOOLBREAK_CONNECT")/old-${version}"`;
    place.file('old.sh', `${note('3.8')}\n${note('3.8')}\n${note('2.7')}\n`);
    place.file('agent.py', AGENT);
    place.file('parent.py', 'import runpy, subprocess\nsubprocess.run(["sh", "old.sh"])\nrunpy.run_path("agent.py")\n');
    const sentence =
      /Processes of Python 2\.7 and 3\.8 were neither debugged nor recorded: Toolbreak needs Python 3\.10 or later\./g;
    assert.equal((await place.say('run', '--', python, 'parent.py')).stderr.match(sentence)?.length, 1);
    assert.equal((await place.say('run', '--no-subprocess', '--', python, 'parent.py')).stderr.match(sentence), null);
  });

  it('records a daemon on, whose parents are gone before it connects', async () => {
    place.file(
      'daemon.py',
      'import os\ndef work(i):\n    return i\nwork(0)\nfor _ in range(2):\n    if os.fork():\n        os._exit(0)\n    os.setsid()\nfor i in range(1, 4):\n    work(i)\n',
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'daemon.py');
    const { rows } = await place.json<QueryAnswer>('query', 'last', '--name-is', 'work');
    assert.deepEqual(
      rows.map((row) => (row.type === 'call' ? row.arguments : row.type)),
      ['i=0', 'i=1', 'i=2', 'i=3'],
    );
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

  it('has what is printed when it was printed, also where its line ends late or never', async () => {
    place.file(
      'speaks.py',
      `import sys
def work():
    return sum(range(200_000))
def speak():
    work()
    print("inside", end="")
    work()
    print(" of it")
    work()
sys.stderr.write("open")
speak()
work()
`,
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'speaks.py');
    const { rows } = await place.json<QueryAnswer>('query', 'last', '--type', 'call,output');
    const told = rows.map((row) =>
      row.type === 'call' ? row.call.name : row.type === 'output' ? row.text.trim() : '',
    );
    assert.deepEqual(told, ['open', 'speak', 'work', 'inside of it', 'work', 'work', 'work']);
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
    const all = place.rows(
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

  it('has the whole of a long line for who asks for few', async () => {
    place.file('long.py', 'print("a" * 90_000 + "end")\n');
    await place.say('run', '--', python, 'long.py');
    /** How many characters, the last of them, and how many there are. */
    const text = async (limit: string): Promise<[number, string, number?]> => {
      const { rows } = await place.json<QueryAnswer>('query', 'last', '--type', 'output', '--limit', limit);
      const [row] = rows;
      assert.ok(row !== undefined && row.type === 'output');
      return [row.text.length, row.text.slice(-4).trim(), row.length];
    };
    assert.deepEqual(await text('1'), [90_003, 'aend', undefined]);
    assert.deepEqual(await text('50'), [40_001, 'aaa…', 90_003]);
    assert.deepEqual(await text('500'), [4001, 'aaa…', 90_003]);
  });

  it('notes the texts of a long run behind its end', async () => {
    place.file(
      'long.py',
      'def tell(number, note):\n    return note\n\n\nfor number in range(20_000):\n    tell(number, f"note {number}!")\n',
    );
    const { code } = await place.say('run', '--functions', '@usercode', '--', python, 'long.py');
    assert.equal(code, 0);
    const groups = (): number => place.rows('SELECT count(*) FROM word_groups')[0] as number;
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
});
