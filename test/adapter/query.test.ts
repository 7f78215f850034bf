import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { FoundCall, Query, QueryAnswer } from '../../protocol/query';
import { callTree } from '../../adapter/store/query/tree';
import { runQuery } from '../../adapter/store/query/query';
import { wholeCall } from '../../adapter/store/query/wholeCall';
import { isoText, momentIn, RunClock } from '../../adapter/store/query/times';
import { conditionIn, findCall } from '../../adapter/store/query/words';
import { Float, Tagged, Tuple } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';
import { AGENT_EVENTS, agentSpool, RecordedProject } from './recorded';
import { ReaderProcess } from './store-support';

/** What was found, as `lookup_order 1.3`, `output stdout`. */
const found = (answer: QueryAnswer): string[] =>
  answer.rows.map((row) => (row.type === 'call' ? `${row.call.name} ${row.call.id}` : `${row.type} ${row.name}`));

describe('query: one run', function () {
  this.timeout(30_000);
  let project: RecordedProject;
  let file: string;
  const ask = (query: Query): string[] => found(runQuery([file], query));

  before(() => {
    project = new RecordedProject();
    file = project.record('agent', [agentSpool()], AGENT_EVENTS);
  });
  after(() => project.remove());

  it('answers a call with all that a line about it needs', () => {
    const { rows, runs, more, cursor } = runQuery([file], { name: { equals: 'refund' } });
    assert.deepEqual(rows, [
      {
        type: 'call',
        run: 'agent',
        at: '2023-11-14T22:13:33.999999000Z',
        call: {
          id: '1.4',
          parent: '1.2',
          task: 2 ** 32 + 2,
          depth: 0,
          kind: 'tool',
          name: 'refund',
          start: 4e9,
          end: 4.003e9,
          state: 'error',
          holds: [],
          edited: false,
        },
        task: 'support_agent › check_stock',
        pid: 4000001,
        source: { path: '/app/shop/tools.py', line: 30 },
        arguments: 'amount=700',
        error: 'ApprovalNeeded: amount 700 needs approval',
      },
    ]);
    assert.deepEqual(
      [runs[0]!.number, runs[0]!.name, more, cursor],
      [1, 'support_agent', { count: 0, exact: true }, undefined],
    );
  });

  it('tells once what the session and the app say of a hold', () => {
    const twice = project.record('twice', [agentSpool()], AGENT_EVENTS);
    const db = new Database(twice);
    const add = db.prepare(
      'INSERT INTO events (time, name, call, data) SELECT time, ?, call, ? FROM events WHERE name = ?',
    );
    add.run('stop', JSON.stringify({ reason: 'breakpoint' }), 'held');
    add.run('edit', JSON.stringify({ text: 'order_id' }), 'edited');
    add.run('release', JSON.stringify({ client: 'editor' }), 'resumed');
    db.close();
    assert.deepEqual(found(runQuery([twice], { types: ['event'] })), ['event held', 'event edited', 'event resumed']);
  });

  it('shows calls, output, crashes and events on one timeline', () => {
    const types: Query['types'] = ['call', 'output', 'crash', 'event'];
    const all = [
      'support_agent 1.1', 'tools 1.2', 'lookup_order 1.3', 'output stdout', 'event held', 'event edited', 'event resumed', 'refund 1.4',
      'lookup_order 1.5', 'crash crashed',
    ]; // prettier-ignore
    assert.deepEqual(ask({ types }), all);
    assert.deepEqual(ask({ types, order: '-start' }), all.toReversed());
    assert.deepEqual(ask({ types: ['crash', 'output'], text: 'Order 7' }), ['output stdout']);
    assert.deepEqual(ask({ types: ['event'], name: { equals: 'lookup_order' }, task: 'support' }).length, 3);
    assert.deepEqual(ask({ types: ['event'], name: { equals: 'refund' } }), []);
    // Of the kind only with its colon: only `tools` has this in its name.
    assert.deepEqual(ask({ name: { contains: 'ool' } }), ['tools 1.2']);
    assert.deepEqual(ask({ name: { contains: 'TOOL:ref' } }).length, 1);
    assert.deepEqual(ask({ name: { contains: 'ol:ref' } }), []);
    assert.deepEqual(ask({ types, process: 4000001, from: '-2s' }), ['crash crashed']);
    assert.deepEqual(ask({ types, minimumDuration: '3s' }), ['support_agent 1.1', 'tools 1.2']);
    const [crash] = runQuery([file], { types: ['crash'] }).rows;
    assert.equal(crash?.type === 'crash' && crash.text, 'Process 4000001 (app.py) crashed');
  });

  it('finds by time from the start, before the end, and on the clock', () => {
    assert.deepEqual(ask({ from: '+2s', to: '4s' }), ['lookup_order 1.3', 'refund 1.4']);
    assert.deepEqual(ask({ from: '-3s' }), ['lookup_order 1.5']);
    assert.deepEqual(ask({ to: '2023-11-14T22:13:30.999999Z' }), ['support_agent 1.1', 'tools 1.2']);
    assert.deepEqual(ask({ to: '2023-11-14T22:13:30.999998999Z' }), ['support_agent 1.1']);
    assert.deepEqual(ask({ from: 3e9, to: 5e9 }), ['refund 1.4']);
    for (const order of ['start', '-start', 'duration', '-duration'] as const) {
      const first = ask({ to: '2023-11-14T22:13:30.999999Z', order });
      assert.deepEqual(first.sort(), ['support_agent 1.1', 'tools 1.2'], order);
      assert.deepEqual(ask({ to: '2020-01-01', order }), [], order);
      assert.equal(ask({ from: '2020-01-01', order }).length, 5, order);
    }
  });

  it('finds by parts of the arguments, the result, the error and the state', () => {
    const where = (...conditions: string[]): string[] => ask({ where: conditions.map(conditionIn) });
    assert.deepEqual(where('argument.order_id equals 7'), ['lookup_order 1.3']);
    assert.deepEqual(where('argument.order_id matches ^[78]$', 'argument.region = us'), ['lookup_order 1.5']);
    assert.deepEqual(where('result.price = 3'), ['lookup_order 1.3']);
    assert.deepEqual(where('result.lines[0]["a b"] = "x\\"y"'), ['lookup_order 1.3']);
    assert.deepEqual(where("result.lines[-1]['a b'] ~ ^x.y$"), ['lookup_order 1.3']);
    assert.deepEqual(where('result.lines = [{"a b": "x\\"y"}]'), ['lookup_order 1.3']);
    assert.deepEqual(where('result = null'), ['lookup_order 1.5']);
    assert.deepEqual(where('error.type contains approval', 'error.limit = 500'), ['refund 1.4']);
    for (const condition of [
      'error.type equals ApprovalNeeded',
      'error.type equals shop.errors.ApprovalNeeded',
      'error.stack[0].function equals refund',
      'error.stack[-1].line equals 33',
    ])
      assert.deepEqual(where(condition), ['refund 1.4'], condition);
    for (const condition of ['error.type equals Needed', 'error.stack.function equals refund'])
      assert.deepEqual(where(condition), [], condition);
    assert.deepEqual(where('state.verdict = scored'), ['tools 1.2']);
    assert.deepEqual(where('stateBefore.verdict = ""', 'state.messages[1].content contains DONE'), ['tools 1.2']);
    assert.deepEqual(where('argument.key contains secret'), [], 'what is masked has no text');
    const contained = (text: string): unknown => conditionIn(`result contains ${text}`).contains;
    assert.deepEqual(['"needs approval"', 'needs approval', '"', '"a" or "b"', '"\\"sent\\""', '""'].map(contained), [
      'needs approval',
      'needs approval',
      '"',
      '"a" or "b"',
      '"sent"',
      '""',
    ]);
    assert.throws(() => conditionIn('result contains '), /has nothing behind contains\.$/);
    assert.throws(() => conditionIn('result = '), /An empty text is "" in quotes\.$/);
    assert.deepEqual(where('argument.none = null'), [], 'what is not there is nothing');
  });

  it('finds text in names, arguments, results and errors, without case', () => {
    assert.deepEqual(ask({ text: 'REFUND order' }), ['support_agent 1.1', 'tools 1.2']);
    assert.deepEqual(ask({ text: 'sent' }), ['lookup_order 1.3']);
    assert.deepEqual(ask({ text: 'needs approval' }), ['refund 1.4']);
    assert.deepEqual(ask({ text: 'tool:look' }), ['lookup_order 1.3', 'lookup_order 1.5']);
    assert.deepEqual(ask({ text: 'tools.py' }), [], 'files are asked for with "file"');
  });

  it('says what is wrong with a query in a sentence', () => {
    const wrong = (query: unknown, sentence: RegExp): void =>
      void assert.throws(() => runQuery([file], query), { name: 'UserError', message: sentence });
    wrong([], /^A query is an object\.$/);
    wrong({ nme: 1 }, /^A query has no field "nme"\.$/);
    wrong({ status: ['dead'] }, /^"status" cannot be "dead": it is one of running, returned/);
    wrong({ name: {} }, /"name" needs one of/);
    wrong({ where: [{ path: 'argument.x' }] }, /needs one of equals, shown, contains and matches/);
    wrong({ where: [{ path: 7, equals: 1 }] }, /"where\[0\]\.path" is a text/);
    wrong({ limit: 501 }, /from 1 to 500/);
    wrong({ limit: 1.5 }, /from 1 to 500/);
    wrong({ from: 'yesterday' }, /"from" is a moment/);
    wrong({ from: '2026-13-45' }, /"from" is a moment/);
    wrong({ from: '2026-02-30' }, /"from" is a moment/);
    wrong({ minimumDuration: '5' }, /in ns, us, ms, s, m, h or d/);
    wrong({ minimumDuration: -5 }, /in ns, us, ms, s, m, h or d/);
    wrong({ order: 'duration', types: ['output'] }, /Only calls have a duration/);
    wrong({ order: 'duration', status: ['running'] }, /have no duration yet/);
    wrong({ name: { regex: '(' } }, /"\(" is no regular expression: /);
    wrong({ name: { regex: 'a'.repeat(1001) } }, /at most 1000 characters/);
    wrong({ text: 'x'.repeat(10_001) }, /"text" is too long/);
    for (const path of [
      '',
      'x',
      'argument..a',
      'argument[',
      'argument["a',
      "result['a]",
      'result[1.5]',
      'state; DROP TABLE calls',
      '__proto__',
      'argument["\\u12"]',
    ])
      wrong({ where: [{ path, equals: 1 }] }, /is no path to a value/);
    for (const text of ['argument.a', 'argument.a is 7', 'argument.a  ', '7 = 7'])
      assert.throws(() => conditionIn(text), /is no (condition|path)/);
  });

  it('finds a process by its own name and by that of its main thread', () => {
    const worker = new SpoolFile('4000002-abd')
      .add(1, 1, 'tool', 'pack', 'pack', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'ForkProcess-2', 0)
      .add(2, 2, 'reader', 0)
      .add(3, 1, 0, 1, 1, 20_000_000_000, dict({}), null)
      .add(3, 2, 0, 1, 2, 20_000_000_001, dict({}), null);
    const both = project.record('both', [agentSpool(), worker]);
    const named = (process: string): string[] => found(runQuery([both], { process }));
    assert.deepEqual(named('forkprocess-2'), ['pack 2.1', 'pack 2.2']);
    assert.deepEqual(named('reader'), [], 'a thread is no process');
  });

  it('refuses a cursor that is none, or belongs to another query', () => {
    const { cursor } = runQuery([file], { limit: 1 });
    assert.ok(cursor);
    assert.deepEqual(ask({ limit: 1, cursor }), ['tools 1.2']);
    assert.deepEqual(ask({ limit: 2, cursor }), ['tools 1.2', 'lookup_order 1.3'], 'the limit may change');
    assert.throws(() => ask({ kinds: ['tool'], cursor }), /belongs to another query/);
    assert.throws(() => ask({ order: '-start', cursor }), /belongs to another query/);
    const other = project.record('other', [agentSpool()], AGENT_EVENTS);
    assert.throws(() => runQuery([other], { limit: 1, cursor }), /belongs to another query/);
    // The same run by another way to it; and of several, those that are left.
    const link = join(project.root, 'link.db');
    symlinkSync(file, link);
    assert.equal(runQuery([link], { limit: 1, cursor }).rows.length, 1);
    const both = runQuery([file, other], { limit: 1, order: 'start' }).cursor;
    assert.ok(both);
    for (const left of [file, other]) runQuery([left], { limit: 1, order: 'start', cursor: both });
    const coded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [, name, , at] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
    for (const nonsense of [
      '', 'x', '💥', 'A'.repeat(100_000), coded(null), coded({}), coded([1, 2, 3]), coded([2, name, '1', 'f', 0, 1, {}, true]),
      coded([1, name, '1e9', 'f', 0, 1, {}, true]), coded([1, name, '1', 'f', 7, 1, {}, true]), coded([1, name, '1', 'f', 0, 'x', {}, true]),
      coded([1, name, '1', 'f', 0, 1, { f: 'x' }, true]), coded([1, name, '9'.repeat(30), 'f', 0, 1, {}, true]),
    ]) assert.throws(() => ask({ cursor: nonsense }), /is not what an answer gave/, nonsense.slice(0, 40)); // prettier-ignore
    // A place that nobody was at is a place all the same.
    assert.deepEqual(ask({ cursor: coded([1, name, '-9999999999999999999', at, 0, 1, {}, true]) }).length, 5);
    assert.deepEqual(ask({ cursor: coded([1, name, '9999999999999999999', at, 1, -1, {}, true]) }), []);
  });

  it('a value equals what is shown of it, to its last digit', () => {
    const opaque = (type: string, text: string): Tagged => new Tagged('opaque', [type, text, null]);
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'keep', 'keep', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(
        3, 1, 0, 1, 1, 2000,
        dict({
          id: 1234567890123456789n,
          float: new Float(1e20),
          least: new Float(2 ** 53),
          big: 10n ** 20n,
          path: opaque('pathlib.PosixPath', '/a/b'),
          grid: new Tagged('array', ['numpy.ndarray', new Tuple([2, 3]), 'int64', [1, 2, 3, 4, 5, 6]]),
          one: new Tagged('array', ['numpy.ndarray', new Tuple([]), 'int64', [7]]),
          part: new Tagged('array', ['numpy.ndarray', new Tuple([9, 2]), 'int64', [1, 2, 3]]),
          cut: new Tagged('cut', ['list', [1, 2, 3], 9, 'larger']),
          queue: new Tagged('subclass', ['collections.deque', new Tagged('cut', ['list', [1, 2, 3], 9, 'larger'])]),
          table: new Tagged('array', ['pandas.DataFrame', new Tuple([9, 1]), null, dict({ price: [1, 2, 3] })]),
          color: new Tagged('enum', ['app.Color', 'RED', 1]),
          counter: new Tagged('subclass', ['collections.Counter', dict({ a: 2, b: 1 })]),
          nothing: new Tagged('subclass', ['collections.deque', []]),
          sizes: new Tagged('subclass', ['app.Größen', [1]]),
          none: null,
          yes: true,
        }),
        null,
      ) // prettier-ignore
      .add(4, 1, 3000, 1, new Tagged('error', ['m.Refused', 'no', [], new Tagged('error', ['KeyError', "'x'", [], null, dict({})]), dict({ code: 7 })]), null); // prettier-ignore
    const one = project.record('values', [spool]);
    const matches = (condition: string): boolean =>
      runQuery([one], { where: [conditionIn(condition)] }).rows.length === 1;
    for (const yes of [
      'argument.grid equals [[1,2,3],[4,5,6]]', 'argument.grid[1][-1] equals 6', 'argument.grid[0] equals [1,2,3]', 'argument.part[1][0] equals 3', 'argument.one equals 7', 'argument.one[0] equals 7',
      'argument.cut[2] equals 3', 'argument.cut[-7] equals 3', 'argument.queue[-9] equals 1', 'argument.part[-9] equals [1,2]', 'argument.part[0][-1] equals 2', 'argument.table.price[-8] equals 2',
      'argument.float equals 100000000000000000000', 'argument.float equals 1e20', 'argument.big equals 100000000000000000000', 'argument.big equals 1e20', 'argument.least equals 9007199254740992',
      'argument.id equals 1234567890123456789', 'argument.path equals /a/b', 'argument.path equals "/a/b"', 'argument.color equals Color.RED',
      "argument.counter equals Counter({'a': 2, 'b': 1})", 'argument.nothing equals deque()', 'argument.sizes equals Größen([1])',
      'argument.color equals 1', 'argument.none equals None', 'argument.none equals null', 'argument.yes equals True', 'argument.yes equals true',
      'error.cause.type equals KeyError', 'error.cause.type equals builtins.KeyError', `error.cause.message equals 'x'`, 'error.fields.code equals 7', 'error.code equals 7', 'error.message equals no',
    ]) assert.ok(matches(yes), yes); // prettier-ignore
    // The end of what was recorded is not that of the value.
    for (const no of ['argument.cut[-1] equals 3', 'argument.queue[-1] equals 3', 'argument.part[-1] equals 3', 'argument.part[-1][0] equals 3', 'argument.part[1][-1] equals 3', 'argument.table.price[-1] equals 3', 'argument.one equals [7]', 'argument.grid equals [1,2,3,4,5,6]', 'argument.part equals [[1,2],[3]]', 'argument.part[1] equals [3]', 'argument.part[1][1] equals 3', 'argument.id equals 1234567890123456788', 'argument.id equals 1234567890123456800', 'argument.least equals 9007199254740993', 'argument.float equals 100000000000000000001', 'argument.float equals -100000000000000000000', 'argument.path equals /a', "argument.counter equals Counter({'a': 2})", 'argument.queue equals deque([1, 2, 3])', 'argument.sizes equals Großen([1])', 'argument.none equals "None"'])
      assert.ok(!matches(no), no); // prettier-ignore
  });

  it('looks for a crash through no more than crashes', () => {
    const printed = Array.from({ length: 30_000 }, (_, index) => ({
      name: 'output',
      data: { category: 'stdout', text: `line ${index}\n` },
      wall: 1_700_000_012_000_000_000n,
    }));
    const noisy = project.record('noisy', [agentSpool()], printed);
    const { looked, more } = runQuery([noisy], { types: ['crash'] });
    assert.deepEqual([looked, more], [0, { count: 0, exact: true }]);
  });

  it('keeps names and texts of a query away from SQL', () => {
    for (const text of [`'; DROP TABLE calls; --`, '"', '%', '\\', '\0', '💥']) {
      assert.deepEqual(ask({ name: { contains: text }, file: text, task: text, error: text, text, process: text }), []);
      assert.deepEqual(ask({ where: [{ path: `argument[${JSON.stringify(text)}]`, equals: text }] }), []);
    }
    assert.equal(ask({}).length, 5);
  });

  it('the tree of calls has each below the one that made it', () => {
    const { tops, left, exact } = callTree(file, 100);
    type Shape = [string, Shape[]];
    const shape = (nodes: typeof tops): Shape[] => nodes.map(({ call, below }) => [call.call.name, shape(below)]);
    assert.deepEqual(shape(tops), [
      ['support_agent', [['tools', [['lookup_order', []], ['refund', []]]], ['lookup_order', []]]],
    ]); // prettier-ignore
    assert.deepEqual([left, exact], [0, true]);
    assert.deepEqual([callTree(file, 2).shown, callTree(file, 2).left], [2, 3]);
    const listed = ({ rows }: QueryAnswer): string[] =>
      rows.map((row) => (row.type === 'call' ? row.call.id : row.type));
    assert.equal(findCall(file, 'refund', listed), '1.4');
    assert.throws(
      () => findCall(file, 'lookup_order', listed),
      /^UserError: 2 calls are named lookup_order\. Say which, by its number:\n1\.3\n1\.5$/,
    );
    assert.throws(() => findCall(file, 'nobody', listed), /No call of this run is named nobody/);
  });

  it('the timeline asks the same, beside a name', async () => {
    const reader = new ReaderProcess();
    try {
      const search = async (query: Query, text = ''): Promise<unknown> => {
        const { calls, total } = await reader.ask('search', { file, text, limit: 10, query });
        return [calls.map(({ id }) => id), total];
      };
      assert.deepEqual(await search({ status: ['error'] }), [['1.4'], 1]);
      assert.deepEqual(await search({ minimumDuration: '3s' }), [['1.1', '1.2'], 2]);
      assert.deepEqual(await search({ text: 'refund order' }, 'tools'), [['1.2'], 1]);
      assert.deepEqual(await search({ text: 'sent' }, 'LOOK'), [['1.3'], 1]);
      const both = { file, text: '', limit: 1, query: { kinds: ['tool', 'node'] }, kinds: ['tool'], errors: true };
      assert.deepEqual(
        (await reader.ask('search', both)).calls.map(({ id }) => id),
        ['1.4'],
      );
      assert.deepEqual(await reader.ask('search', { ...both, query: { status: ['running'] } }), {
        calls: [],
        total: 0,
      });
      const found = async (...conditions: string[]): Promise<string[]> =>
        (await reader.ask('search', { file, text: '', limit: 10, conditions })).calls.map(({ id }) => id);
      for (const typed of ['argument.order_id = 7', 'argument.order_id=7', 'args.order_id==7'])
        assert.deepEqual(await found(typed), ['1.3'], typed);
      assert.deepEqual(await found('argument.order_id = 7', 'argument.order_id = 8'), []);
      await assert.rejects(found('argument.order_id'), /"argument.order_id" is no condition/);
      await assert.rejects(search({ status: ['dead'] } as unknown as Query), /"status" cannot be "dead": it is one of/);
      await assert.rejects(search([] as unknown as Query), /"query" is an object/);
    } finally {
      reader.end();
    }
  });
});

describe('query: several runs', function () {
  let project: RecordedProject;
  beforeEach(() => (project = new RecordedProject()));
  afterEach(() => project.remove());

  it('are one timeline, the newest first, page by page', () => {
    const one = project.record('one', [agentSpool()]);
    const two = project.record('two', [agentSpool()]);
    const all = runQuery([one, two], { kinds: ['tool'] });
    assert.deepEqual(
      all.rows.map((row) => row.type === 'call' && row.call.start / 1e9),
      [7, 7, 4, 4, 2, 2],
    );
    const paged: unknown[] = [];
    for (let cursor: string | undefined; ;) {
      const page: QueryAnswer = runQuery([one, two], { kinds: ['tool'], limit: 1, ...(cursor ? { cursor } : {}) });
      paged.push(...page.rows);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    assert.deepEqual(paged, all.rows);
  });

  it('that are damaged in a part do not keep the others from answering', () => {
    const good = project.record('good too', [agentSpool()]);
    const whole = readFileSync(good);
    const torn = project.fileOf('torn');
    let damaged = 0;
    for (let page = 1; page * 4096 < whole.length; page++) {
      const bytes = Buffer.from(whole);
      bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
      writeFileSync(torn, bytes);
      const { rows, problems } = runQuery([good, torn], { kinds: ['node'] });
      assert.ok(rows.length >= 1, `page ${page}`);
      damaged += problems.length;
      for (const problem of problems) assert.match(problem, /torn\.db/);
    }
    assert.ok(damaged > 3);
  });

  it('whose page of values is damaged tell the calls all the same', () => {
    const long = 'order number 7 '.repeat(40);
    const spool = agentSpool().add(3, 6, 1, 3, 1, 19_000_000_000, dict({ note: long }), null);
    const file = project.record('page', [spool]);
    const bytes = readFileSync(file);
    const page = Math.trunc(bytes.indexOf('order number 7') / 4096);
    assert.ok(page > 0);
    bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
    writeFileSync(file, bytes);
    const { rows, more } = runQuery([file], { values: true });
    assert.deepEqual([rows.length, more], [6, { count: 0, exact: false }]);
    const last = rows.at(-1) as FoundCall;
    assert.equal(last.arguments, 'note=(damaged)');
    assert.match(JSON.stringify(last.values), /"\$mark":"opaque".*the file is damaged/);
    const [told] = wholeCall(file, last.call.id, 10).values;
    assert.deepEqual(
      told!.lines.map(({ name, text, mark }) => [name, text, mark]),
      [['note', '(damaged)', 'Not looked into: this part cannot be read (the file is damaged).']],
    );
  });

  it('whose values are damaged say that these were not searched', async () => {
    const long = 'order number 7 '.repeat(40);
    const spool = agentSpool().add(3, 6, 1, 3, 1, 19_000_000_000, dict({ note: long }), null);
    const file = project.record('values', [spool]);
    const ask = (query: Query): QueryAnswer => runQuery([file], query);
    assert.deepEqual(ask({ text: 'order number 7' }).problems, []);
    const db = new Database(file);
    assert.ok(db.prepare(`UPDATE "values" SET bytes = x'c1' WHERE instr(bytes, 'order number 7')`).run().changes > 0);
    db.close();
    const said = `Values of the run file ${file} are damaged and were not searched: a match may be missing.`;
    const where = [{ path: 'argument.note', contains: 'order number 7' }];
    for (const query of [
      { text: 'order number 7' },
      { where },
      { where: [{ path: 'argument.note', matches: 'order' }] },
    ])
      assert.deepEqual([ask(query).rows, ask(query).problems], [[], [said]], JSON.stringify(query));
    const last = ask({ order: '-start', limit: 1 }).rows[0];
    assert.equal(last?.type === 'call' && last.arguments, 'note=(damaged)');
    // Where no value is asked about, the call itself says what is damaged.
    assert.deepEqual([ask({ name: { equals: 'lookup_order' } }).problems, ask({}).rows.length], [[], 6]);
    const reader = new ReaderProcess();
    try {
      const search = { file, text: '', limit: 10, query: { text: 'order number 7' } };
      assert.deepEqual((await reader.ask('search', search)).notes, [said]);
    } finally {
      reader.end();
    }
  });

  it('that cannot be read are said, and the others answer', () => {
    const good = project.record('good', [agentSpool()]);
    const newer = project.record('newer', [agentSpool()]);
    const db = new Database(newer);
    db.pragma('user_version = 99');
    db.close();
    const foreign = project.fileOf('foreign');
    const other = new Database(foreign);
    other.exec('CREATE TABLE calls (id INTEGER)');
    other.close();
    const text = project.fileOf('text');
    writeFileSync(text, 'no database at all, but long enough to look like one'.repeat(100));
    const answer = runQuery([good, newer, foreign, text, project.fileOf('gone')], { kinds: ['node'] });
    assert.deepEqual(found(answer), ['tools 1.2']);
    assert.match(
      answer.problems.join('\n'),
      /newer Toolbreak.*\n.*is not a Toolbreak run file.*\n.*is damaged.*\n.*does not exist/,
    );
    for (const bad of [newer, foreign, text]) assert.throws(() => runQuery([bad], {}), { name: 'UserError' });
  });

  it('a run that goes on is paged without a row twice, and times before its end stay where they were', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 't', 't', 'm', null, 1, 1).add(2, 1, 'agent', 0);
    let next = 1;
    const grow = (calls: number): void => {
      for (let call = 0; call < calls; call++, next++)
        spool.add(3, next, 0, 1, 1, 2000 + next * 10, dict({}), null).add(4, next, 2005 + next * 10, 0, null, null);
    };
    grow(10);
    const { recording, spool: folder, file } = project.begin('live', [spool]);
    try {
      const seen: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < 20 && (page < 10 || seen.length < 30); page++) {
        const answer: QueryAnswer = runQuery([file], { limit: 4, from: '-900000h', ...(cursor ? { cursor } : {}) });
        seen.push(...found(answer));
        assert.ok(answer.cursor, 'more may come');
        if (cursor !== undefined) assert.deepEqual(endsIn(answer.cursor), endsIn(cursor));
        cursor = answer.cursor;
        if (page < 5) {
          grow(4);
          spool.write(folder);
          while (recording.pass().more);
        }
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 30 }, (_, index) => `t 1.${index + 1}`),
      );
    } finally {
      recording.close();
    }
  });
});

/** Where the cursor says that runs ended. */
function endsIn(cursor: string): unknown {
  return (JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[])[6];
}

describe('query: times', () => {
  it('are read as people write them', () => {
    const local = BigInt(new Date(2026, 10, 22).getTime()) * 1_000_000n;
    assert.deepEqual(momentIn('2026-11-22', 'from'), { since: 'epoch', time: local });
    assert.deepEqual(momentIn('2026-11-22 10:00', 'from'), { since: 'epoch', time: local + 36_000_000_000_000n });
    assert.deepEqual(momentIn('1970-01-01T01:00:00.5+0100', 'from'), { since: 'epoch', time: 500_000_000n });
    assert.deepEqual(momentIn('1.5s', 'from'), { since: 'start', time: 1.5e9 });
    assert.deepEqual(momentIn('+2 m', 'from'), { since: 'start', time: 120e9 });
    assert.deepEqual(momentIn('-200ms', 'from'), { since: 'end', time: -200e6 });
    assert.deepEqual(momentIn('-1d', 'from'), { since: 'end', time: -86400e9 });
    assert.equal(isoText(1_700_000_000_123_456_789n), '2023-11-14T22:13:20.123456789Z');
    assert.equal(isoText(-1n), '1969-12-31T23:59:59.999999999Z');
    for (const started of [1_700_000_000_999_999_999n, 5n, -5n])
      for (const time of [0, 1, 999_999_999, 1e9, 86_400e9 + 7, -1, -4e9, 8e15, 9e15])
        assert.equal(new RunClock(started).text(time), isoText(started + BigInt(time)), `${started} ${time}`);
  });
});
