import assert from 'node:assert/strict';
import type { Query, QueryAnswer } from '../../protocol/query';
import { Patterns } from '../../adapter/store/query/pattern';
import { noteWords } from '../../adapter/store/life/words';
import { runQuery } from '../../adapter/store/query/query';
import { conditionIn } from '../../adapter/store/query/words';
import { Complex, Dict, Float, SetValue, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

/** Names and ids of the calls that were found. */
const found = ({ rows }: QueryAnswer): string[] =>
  rows.flatMap((row) => (row.type === 'call' ? [`${row.call.name} ${row.call.id}`] : []));

/** `t 1.5` to 0 and 4: which process, and which call of it. */
const placeOf = (name: string): [process: number, call: number] => {
  const [process, call] = name.slice(2).split('.').map(Number);
  return [process! - 1, call! - 1];
};

describe('query: values', function () {
  let project: RecordedProject;
  beforeEach(() => (project = new RecordedProject()));
  afterEach(() => project.remove());

  const tellings = (process: number, results: readonly Value[]): SpoolFile => {
    const spool = new SpoolFile(`${4_000_001 + process}-abc`)
      .add(1, 1, 'tool', 't', 't', 'm', null, 1, 1)
      .add(2, 1, 'agent', 0);
    results.forEach((result, index) =>
      spool.add(3, index + 1, 0, 1, 1, 2000 + index, dict({}), null).add(4, index + 1, 9000 + index, 0, result, null),
    );
    return spool;
  };

  /** Records calls with these results; answers which of them a condition finds. */
  function finder(...results: Value[]): (condition: string) => number[] {
    const file = project.record('values', [tellings(0, results)]);
    return (condition) => found(runQuery([file], { where: [conditionIn(condition)] })).map((name) => placeOf(name)[1]);
  }

  /** The same with a process for each call, of which there are so many that it is noted which texts are in which block. */
  function notedFinder(...results: Value[]): (condition: string) => number[] {
    assert.ok(results.length >= 16);
    const file = project.record(
      'noted',
      results.map((result, index) => tellings(index, [result])),
    );
    noteWords(file);
    return (condition) => found(runQuery([file], { where: [conditionIn(condition)] })).map((name) => placeOf(name)[0]);
  }

  it('of an error in any place have a type that is named with its module or without', () => {
    const error = (type: string): Value => new Tagged('error', [type, 'gone', [], null, null]);
    const all = finder(
      error('shop.OutOfStock'),
      dict({ last: error('shop.OutOfStock') }),
      dict({ type: 'shop.OutOfStock' }),
    );
    for (const name of ['OutOfStock', 'shop.OutOfStock', '"OutOfStock"'])
      assert.deepEqual(
        [all(`result.type equals ${name}`), all(`result.last.type equals ${name}`)],
        [name === 'shop.OutOfStock' ? [0, 2] : [0], [1]],
        name,
      );
  });

  it('are amounts, equal to the numbers that they are', () => {
    const money = finder(
      new Tagged('opaque', ['decimal.Decimal', '12.50', null]),
      new Tagged('opaque', ['uuid.UUID', '12', null]),
    );
    for (const text of ['12.5', '12.50', '"12.50"']) assert.deepEqual(money(`result = ${text}`), [0], text);
    for (const text of ['12', '12.51', 'null']) assert.deepEqual(money(`result = ${text}`), [], text);
  });

  it('are equal to JSON where they mean the same', () => {
    const all = finder(
      7, new Float(7), '7', true, null, [1, 2], new Tuple([1, 2]), new SetValue([2, 1], false), dict({ a: 1 }),
      new Dict([[1, 'x']]), new Tagged('object', ['m.Order', dict({ a: 1 }), null]), new Tagged('enum', ['m.Colour', 'RED', 'r']),
      new Tagged('time', ['datetime.date', '2026-11-22']), new Tagged('subclass', ['m.Id', 7]), new Tagged('cut', ['str', 'abc', 9, 'long']),
      new Tagged('masked', ['secret']), 2n ** 70n, new Float(NaN), [[1, [2]]], Buffer.from('7'),
    ); // prettier-ignore
    assert.deepEqual(all('result = 7'), [0, 1, 13]);
    assert.deepEqual(all('result = "7"'), [2]);
    assert.deepEqual(all('result = true'), [3]);
    assert.deepEqual(all('result = null'), [4]);
    assert.deepEqual(all('result = [1, 2]'), [5, 6, 7]);
    assert.deepEqual(all('result = [2, 1]'), [7]);
    assert.deepEqual(all('result = {"a": 1}'), [8, 10]);
    assert.deepEqual(all('result = {"1": "x"}'), [9]);
    assert.deepEqual(all('result = RED'), [11]);
    assert.deepEqual(all('result = r'), [11]);
    assert.deepEqual(all('result = 2026-11-22'), [12]);
    assert.deepEqual(all('result = abc'), [], 'of what was cut only a part is known');
    assert.deepEqual(all('result matches ^abc$'), [14]);
    assert.deepEqual(all('result = 1180591620717411303424'), [16]);
    assert.deepEqual(all('result = [[1, [2]]]'), [18]);
    assert.deepEqual(all('result[0][1][0] = 2'), [18]);
    assert.deepEqual(all('result = {}'), []);
  });

  it('are equal to the line that tells them, which an answer may have been copied from', () => {
    const order = (id: number, ...more: [string, Value][]): Value =>
      new Tagged('object', ['shop.Order', new Dict([['order_id', id], ...more]), null]);
    const decimal = new Tagged('opaque', ['decimal.Decimal', '12.50', null]);
    const lines: [Value, string][] = [
      [order(4711), 'Order(order_id=4711)'],
      [new Tagged('object', ['shop.Nothing', dict({}), null]), 'Nothing()'],
      [new Tagged('opaque', ['pathlib.PosixPath', '/srv/shop', null]), "PosixPath('/srv/shop')"],
      [order(4711, ['region', 'eu']), "Order(order_id=4711, region='eu')"],
      [decimal, "Decimal('12.50')"],
      [[decimal, null], "[Decimal('12.50'), None]"],
      [dict({ paid: decimal }), "{'paid': Decimal('12.50')}"],
      [Buffer.from('hello \0world'), "b'hello \\x00world'"],
      [new Tagged('bytearray', [Buffer.from('hello')]), "bytearray(b'hello')"],
      [new Complex(1, 2000), '(1+2000j)'],
      [new SetValue(['eu', 'us'], false), "{'eu', 'us'}"],
      [new SetValue([3, 4], true), 'frozenset({3, 4})'],
      [new Tagged('enum', ['m.Colour', 'RED', 'r']), 'Colour.RED'],
      [new Tagged('time', ['datetime.timedelta', '3600.5']), '3600.5 s'],
      [new Tagged('error', ['shop.OutOfStock', '', [], null, null]), 'OutOfStock'],
      [new Tagged('error', ['shop.Refused', 'no stamp:\n        card', [], null, null]), 'Refused: no stamp: card'],
      [new Tagged('subclass', ['shop.OrderId', 4712]), '4712'],
      [order(1, ['name', 'ΟΔΟΣ.ΑΘΗΝΑ']), "Order(order_id=1, name='ΟΔΟΣ.ΑΘΗΝΑ')"],
      [
        [order(2, ['of', order(3, ['of', order(4)])])],
        '[Order(order_id=2, of=Order(order_id=3, of=Order(order_id=4)))]',
      ],
      [order(5, ['title', 'Chapter (3)…']), "Order(order_id=5, title='Chapter (3)…')"],
      [
        new Tagged('object', [
          'm.Wide',
          new Dict(Array.from({ length: 14 }, (_, at) => [`f${at}`, 'x'.repeat(30)])),
          null,
        ]),
        `Wide(${Array.from({ length: 14 }, (_, at) => `f${at}='${'x'.repeat(30)}'`).join(', ')})`,
      ],
      [new Tagged('error', ['shop.OutOfStock', 'none left', [], null, null]), 'OutOfStock: none left'],
    ];
    const all = notedFinder(...lines.map(([value]) => value));
    for (const [index, [, line]] of lines.entries()) assert.deepEqual(all(`result = ${line}`), [index], line);
    const typed: [string, string][] = [
      ["Order(order_id=4711, region='eu')", 'Order(order_id=4711, region="eu")'],
      ["PosixPath('/srv/shop')", 'PosixPath("/srv/shop")'],
      ["[Decimal('12.50'), None]", '[Decimal("12.50"), None]'],
    ];
    for (const [line, other] of typed) {
      const at = lines.findIndex(([, each]) => each === line);
      assert.deepEqual(all(`result = ${other}`), [at], other);
    }
    // A set is one in any order, and what is in quotes is a text alone.
    assert.deepEqual(all("result = {'us', 'eu'}"), all("result = {'eu', 'us'}"));
    assert.deepEqual(all('result = "Order(order_id=4711)"'), []);
    assert.deepEqual(all('result = ""'), []);
    assert.deepEqual(all('result = Order(order_id=4712)'), []);
  });

  it('are not told by a line that leaves something out, nor by that of a text', () => {
    const some = finder(
      new Tagged('object', ['m.Order', dict({ id: 7, note: 'x'.repeat(90) }), null]),
      new Tagged('object', ['m.Order', dict({ id: Array.from({ length: 12 }, () => 'long text') }), null]),
      new Tagged('subclass', ['m.Rows', [1, 2]]), new Tagged('masked', ['secret']), new Tagged('cut', ['str', 'abc', 9, 'long']),
      new Tagged('cut', ['bytes', Buffer.from('abc'), 9, 'long']), dict({ role: 'user', content: 'hi' }),
      new Tagged('object', ['m.Wide', new Dict(Array.from({ length: 13 }, (_, index) => [`f${index}`, index])), null]),
      "b'abc'",
      new Tagged('object', ['m.Order', dict({ id: 1, card: new Tagged('masked', ['secret']) }), null]),
      new Tagged('object', ['m.Order', dict({ message: dict({ role: 'user', content: 'hi', more: 7 }) }), null]),
      [new Tagged('array', ['numpy.ndarray', new Tuple([]), 'float64', [5]])],
      new Tagged('object', ['m.Partly', dict({ id: 7 }), 'It keeps more than these fields']),
      new Tagged('opaque', ['m.Session', 'Session(id=7)', 'it has no fields']),
      new Tagged('opaque', ['m.Session', null, 'it has no fields']),
    ); // prettier-ignore
    for (const line of [
      `Order(id=7, note='${'x'.repeat(27)}…${'x'.repeat(12)}')`,
      'Order(id=list (12))',
      'Rows (2)',
      '***',
      "'abc…'",
      'user: hi',
      `Wide(${Array.from({ length: 12 }, (_, index) => `f${index}=${index}`).join(', ')}, …)`,
      'Order(id=1, card=***)',
      'Order(message=user: hi)',
      '[ndarray () float64]',
      'Partly(id=7)',
      'Session(id=7)',
      '<Session>',
    ])
      assert.deepEqual(some(`result = ${line}`), [], line);
    assert.deepEqual(some('result = {"id": 7}'), [], 'it may have more fields');
    assert.deepEqual(some("result = b'abc'"), [8], 'a text that reads so');
  });

  it('of a call that was edited while it was held are those that it got', () => {
    const spools = Array.from({ length: 16 }, (_, index) => {
      const spool = new SpoolFile(`${4_000_001 + index}-abc`)
        .add(1, 1, 'tool', 't', 't', 'm', null, 1, 1)
        .add(2, 1, 'agent', 0)
        .add(3, 1, 0, 1, 1, 2000 + index, dict({ region: 'europe' }), null);
      if (index === 5)
        spool
          .add(6, 3000, 'held', 1, dict({ description: 'Paused before t', boundary: 'before' }))
          .add(6, 4000, 'edited', 1, dict({ text: 't: region', args: dict({ region: 'antarctica' }) }))
          .add(6, 5000, 'resumed', 1, dict({ why: 'release' }));
      return spool.add(4, 1, 9000 + index, 0, null, null);
    });
    const file = project.record('edited', spools);
    noteWords(file);
    const names = (query: Query): number[] => found(runQuery([file], query)).map((name) => placeOf(name)[0]);
    const others = spools.map((_, index) => index).filter((index) => index !== 5);
    for (const condition of ['equals', 'contains', 'matches']) {
      assert.deepEqual(names({ where: [conditionIn(`argument.region ${condition} antarctica`)] }), [5], condition);
      assert.deepEqual(names({ where: [conditionIn(`argument.region ${condition} europe`)] }), others, condition);
    }
    assert.deepEqual(names({ text: 'antarctica' }), [5]);
    assert.deepEqual(names({ text: 'europe' }), others);
  });

  it('that are shared, huge or deep are searched, and what is not is said', () => {
    let deep: Value = 'needle';
    for (let level = 0; level < 400; level++) deep = [deep];
    const shared = dict({ text: `${'x'.repeat(5000)} needle` });
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 't', 't', 'm', null, 1, 1).add(2, 1, 'agent', 0);
    const results: Value[] = [
      shared,
      [shared, shared],
      deep,
      `${'y'.repeat(200_000)}needle`,
      Array.from({ length: 30_000 }, (_, index) => index),
    ];
    results.forEach((result, index) =>
      spool.add(3, index + 1, 0, 1, 1, 2000 + index, dict({}), null).add(4, index + 1, 9000 + index, 0, result, null),
    );
    const file = project.record('large', [spool]);
    const plain = runQuery([file], { text: 'NEEDLE' });
    assert.deepEqual(found(plain), ['t 1.1', 't 1.2', 't 1.4']);
    assert.equal(plain.partly, 1);
    const matched = runQuery([file], { where: [{ path: 'result', matches: 'needle$' }] });
    assert.deepEqual(found(matched), ['t 1.1', 't 1.2']);
    assert.equal(matched.partly, 3);
  });

  it('do not hang on an expression that grows without bounds, nor on many slow ones', () => {
    const all = finder(`${'a'.repeat(40)}!`, 'aaa', 'b');
    assert.throws(() => all('result matches (a+)+$'), {
      name: 'UserError',
      message: /^The regular expression \(a\+\)\+\$ takes too long on what was recorded\. Make it simpler/,
    });
    assert.deepEqual(all('result matches ^a+$'), [1]);
    const file = project.fileOf('values');
    assert.throws(() => runQuery([file], { where: [{ path: 'result', matches: '^(\\w|a)*$' }] }), /takes too long/);
    const patterns = new Patterns(50);
    assert.throws(() => patterns.test(patterns.compile('(x+x+)+y'), [['x'.repeat(60)]]), /takes too long/);
    assert.throws(
      () => patterns.test(patterns.compile('(x+x+)+y'), [['x'.repeat(60)]]),
      /takes too long/,
      'the allowance is spent',
    );
  });

  it('under a text are others than under the number that reads the same', () => {
    const keys = finder(
      new Dict([
        [1, 'number'],
        ['1', 'text'],
      ]),
      new Dict([[1, 'number']]),
    );
    assert.deepEqual(keys('result["1"] equals text'), [0]);
    assert.deepEqual(keys('result[1] equals number'), [0, 1]);
    assert.deepEqual(keys('result["1"] equals number'), [1], 'where there is no other, the number is meant');
    assert.deepEqual(keys('result[1] equals text'), []);
  });

  it('give what they have where an expression has used up its time, and go on from there', () => {
    finder(...Array.from({ length: 600 }, (_, at) => (at < 300 ? `order ${at + 1}` : `${'a'.repeat(40)}!`)));
    const file = project.fileOf('values');
    const query: Query = { where: [{ path: 'result', matches: '^order 299$|^(a+)+$' }], limit: 5 };
    const first = runQuery([file], query);
    assert.deepEqual([found(first), first.more.exact, first.looked], [[], false, 256]);
    assert.ok(first.cursor);
    assert.throws(() => runQuery([file], { ...query, cursor: first.cursor! }), /takes too long/);
    const all = runQuery([file], { where: [{ path: 'result', matches: '^order 2\\d9$|^(a+)+$' }], limit: 5 });
    assert.deepEqual(found(all), ['t 1.209', 't 1.219', 't 1.229', 't 1.239', 't 1.249']);
  });

  it('by length are counted behind a page only where the runs are short', () => {
    finder(...Array.from({ length: 1000 }, (_, at) => at));
    const file = project.fileOf('values');
    const looked = (order: '-duration' | 'start', rows: number): number =>
      runQuery([file], { order, limit: 5 }, { rows, counting: 20_000, milliseconds: 60_000 }).looked;
    assert.deepEqual([looked('start', 500), looked('-duration', 500), looked('-duration', 2000)], [500, 256, 1000]);
  });
});
