import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryAnswer } from '../../protocol/query';
import { toolbreakCommand } from '../support/adapter';
import { LifePlace, run } from './life-support';
import { python } from './target-support';

describe('life: run, errors and crashes', function () {
  this.timeout(120_000);
  let place: LifePlace;

  beforeEach(() => (place = new LifePlace()));
  afterEach(() => place.remove());

  it('tells of an error what it was raised from, its notes, its fields and the members of a group', async () => {
    place.file(
      'fails.py',
      `import enum

class Refused(Exception):
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

class Kind(str, enum.Enum):
    LARGE = "large"

class Name(str): pass

def keys(of): raise KeyError((1, [Kind.LARGE, {"password": "s3cr3t-9"}]))

try: keys({Name("mug"): 1, Kind.LARGE: 2})
except KeyError: pass

def own():
    try: raise KeyError("k")
    except KeyError:
        error = ValueError("of <dict>", {"n": 1})
        error.context = {"order": 7}
        raise error

def told(): raise ExceptionGroup("no <list> in <dict>", [ValueError("a")])

for each in own, told:
    try: each()
    except Exception: pass

def large():
    error = ValueError("large")
    error.items = ["x" * 1000] * 3000
    error.more = [[1]]
    raise error

def wide():
    error = ValueError("wide")
    error.items = ["x" * 1000] * 3000
    for index in range(70): setattr(error, f"field{index}", index)
    raise error

def deep(left):
    try:
        if left == 0: raise ValueError("bottom")
        deep(left - 1)
    except ValueError as error: raise ValueError(f"level {left}") from error

for each in large, wide, lambda: deep(30):
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
      /\nError\n {2}Refused: \('refused', 42\)\n {4}fails\.py:15 in price\n[^]*\n {4}__notes__ = list \(1\)\n {6}0 = 'tried twice'\n[^]*\nCaused by\n {2}KeyError: 'order 7'\n {4}fails\.py:11 in price\n {4}fails\.py:8 in look\n/,
    );
    assert.match(
      await shown('many'),
      /ExceptionGroup: both[^]*exceptions = tuple \(2\)\n {6}0 = ValueError: a\n {6}1 = KeyError: 'b'\n[^]*While handling\n {2}Refused[^]*Caused by\n {2}KeyError/,
    );
    assert.match(
      await shown('seen'),
      /\nResult\n {2}Refused: \('refused', 42\)\n {4}cause = KeyError: 'order 7', at look @ fails\.py:8\n {4}code = 42\n/,
    );

    // A place and what was said are whole, however narrow the terminal is taken to be.
    const far = join(place.project, 'a-folder-with-a-long-name'.repeat(4));
    mkdirSync(far);
    writeFileSync(join(far, 'far.py'), 'def far(): raise ValueError("x" * 300)\ntry: far()\nexcept ValueError: pass\n');
    await place.say('run', '--functions', '@usercode', '--', python, join(far, 'far.py'));
    const told = await shown('far');
    assert.match(told, /\n {4}(?:a-folder-with-a-long-name){4}\/far\.py:1 in far\n/);
    assert.match(told, /\n {2}ValueError: x{300}\n/);
    await place.say('run', '--functions', '@usercode', '--', python, 'fails.py');
    // What it was raised with, as Python says it; secrets in it are masked. Keys are found by their text.
    assert.match(await shown('keys'), /\nError\n {2}KeyError: \(1, \[Kind\.LARGE, \{'password': \*\*\*\}\]\)\n/);
    const found = async (condition: string): Promise<number> =>
      (await place.json<QueryAnswer>('query', 'last', '--where', condition)).rows.length;
    assert.equal(await found('argument.of.mug equals 1'), 1);
    assert.equal(await found('argument.of.large equals 2'), 1);
    assert.equal(await found('error.message contains Kind.LARGE'), 1);
    assert.equal(await found('error.context.type contains Refused'), 1);
    assert.equal(await found('error.cause.type contains Refused'), 0);
    // A field of that name is the exception's own.
    assert.equal(await found('error.context.order equals 7'), 1);
    assert.match(
      await shown('own'),
      /\n {2}ValueError: \('of <dict>', \{'n': 1\}\)\n[^]*context = dict \(1\)\n[^]*While handling\n {2}KeyError/,
    );
    assert.match(await shown('told'), /\n {2}ExceptionGroup: no <list> in <dict> \(1 sub-exception\)\n/);

    // What is left out says so, and why: what a field holds, fields, and the middle of a long chain.
    assert.match(
      await shown('large'),
      /\n {2}ValueError: large\n.*\n(?: {4}.*\n)* {4}more = list \(1\)… {2}\(Cut of 1 in all: larger than the limit/,
    );
    assert.match(
      await shown('wide'),
      /\n {2}ValueError: wide\n.*\n(?: {4}.*\n)* {4}… {2}\(Cut .*larger than the limit/,
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
      ['KeyError', "'order 7'", ['price:11', 'look:8']],
    );
    const { arguments: given, result } = await place.json<{ arguments: { error: Json }; result: Json }>(
      'show',
      'last',
      'seen',
    );
    assert.deepEqual(given.error, result);
    assert.equal(result.cause!.type, 'KeyError');
    const many = await place.json<{ error: { context: Json } }>('show', 'last', 'many');
    assert.equal(many.error.context.cause!.type, 'KeyError');
    await place.say('export', 'last', '-o', 'run.json', '--format', 'otlp');
    const written = readFileSync(join(place.project, 'run.json'), 'utf8');
    assert.match(written, /in many\\nWhile handling: [^ ]*Refused: \('refused', 42\)\\n/);
    assert.match(written, /line 15, in price\\nCaused by: KeyError: 'order 7'\\n {2}File [^,]*, line 11, in price/);
  });

  it('tells of calls at the recursion limit that it is their error, or that their end is missing', async () => {
    place.file(
      'deep.py',
      'class Deep:\n  def down(self, n):\n    return self.down(n + 1)\ndef after():\n  return 1\ntry:\n  Deep().down(0)\nexcept RecursionError:\n  pass\nafter()\nimport time\ntime.sleep(0.1)\n',
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'deep.py');
    const ask = (...more: string[]): Promise<QueryAnswer> =>
      place.json<QueryAnswer>('query', 'last', '--name', 'down', '--limit', '500', '--order', '-start', ...more);
    const failed = await ask('--error', 'RecursionError');
    const count = (answer: QueryAnswer): number => answer.rows.length + answer.more.count;
    const ends = (await ask('--status', 'cancelled')).rows;
    assert.equal(count(failed) + ends.length, count(await ask()));
    for (const row of failed.rows)
      assert.match((row.type === 'call' && row.error) || '', /^RecursionError: maximum recursion depth exceeded/);
    for (const row of ends)
      assert.match(
        (row.type === 'call' && row.error) || '',
        /^Its end is missing: it outlived its caller, or the recursion limit/,
      );
    const { rows } = await place.json<QueryAnswer>('query', 'last', '--name', 'after', '--from=-20ms');
    assert.equal(rows.length, 1, 'the run is no longer than its last call');
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
      /\ntoolbreak: 3 uncaught exceptions in threads; see them with "toolbreak query \d+ --type event --text uncaught"\.\n$/,
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
    assert.match(fault.stderr, /it crashed; see where with "toolbreak query \d+ --type crash"/);
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
    const lengths = place.rows(
      "SELECT c.end - c.start FROM calls c JOIN functions f ON f.id = c.function WHERE f.name IN ('go', 'down') ORDER BY c.id",
    ) as number[];
    assert.ok(lengths.length > 100);
    assert.ok(Math.max(...lengths.slice(1)) <= lengths[0]!, `${lengths[0]} < ${Math.max(...lengths.slice(1))}`);
  });
});
