import assert from 'node:assert/strict';
import fc from 'fast-check';
import { argumentsLine } from '../../adapter/store/query/rows';
import { exactLine } from '../../adapter/store/reader/exactLine';
import { outline } from '../../adapter/store/reader/outline';
import { plainArguments, plainLine } from '../../adapter/store/reader/plainLine';
import { headLine, line, markOf, node } from '../../adapter/store/reader/render';
import type { StoredValues } from '../../adapter/store/reader/stored';
import { quote } from '../../adapter/store/reader/text';
import { wholeText } from '../../adapter/store/reader/wholeText';
import { CODE, decodeCanonical, decodeHead, encodeText, Sink } from '../../adapter/store/values/canonical';
import {
  Complex,
  DecodeError,
  Dict,
  Float,
  Ref,
  SetValue,
  Tagged,
  Tuple,
  type Value,
} from '../../adapter/store/values/model';

/** All that is stored on its own here is one text. */
const stored = {
  resolve: (value: Value) => (value instanceof Ref ? 'user' : value),
  glimpse: () => ({ value: 'user' }),
} as unknown as StoredValues;

function put(sink: Sink, value: Value): void {
  const all = (code: number, items: readonly Value[]): void => {
    sink.byte(code);
    sink.varint(items.length);
    for (const item of items) put(sink, item);
  };
  if (value === null) sink.byte(CODE.null);
  else if (typeof value === 'boolean') sink.byte(value ? CODE.true : CODE.false);
  else if (typeof value === 'number') sink.int(value);
  else if (typeof value === 'string') sink.utf8(encodeText(value));
  else if (Array.isArray(value)) all(CODE.list, value);
  else if (value instanceof Tuple) all(CODE.tuple, value.items);
  else if (value instanceof Tagged) all(CODE.tagged, [value.tag, ...value.parts]);
  else if (value instanceof Ref) {
    sink.byte(CODE.ref);
    for (const byte of value.cid) sink.byte(byte);
  } else if (value instanceof Float) {
    sink.byte(CODE.float);
    sink.double(value.value);
  } else if (value instanceof Dict) {
    sink.byte(CODE.dict);
    for (const pair of value.entries) for (const part of pair) put(sink, part);
    sink.byte(CODE.end);
  } else assert.fail();
}

/** Its bytes, between others. */
function placed(value: Value): { bytes: Buffer; from: number; to: number } {
  const sink = new Sink(64);
  sink.varint(7);
  put(sink, value);
  const to = sink.length;
  sink.byte(CODE.end);
  return { bytes: Buffer.from(sink.bytes.subarray(0, sink.length)), from: 1, to };
}

const { value: anyValue } = fc.letrec<{ value: Value; dense: Value }>((tie) => {
  const text = fc.oneof(
    fc.constantFrom(
      'role',
      'type',
      'content',
      'parts',
      'ai',
      'id',
      'order_id',
      "it's",
      '\u00e9',
      'x'.repeat(61),
      'y'.repeat(1030),
    ),
    fc.string(),
  );
  const items = fc.array(tie('value'), { maxLength: 4 });
  const small = fc.oneof(fc.integer({ min: 0, max: 99_999 }), fc.constantFrom('ok', 'ai', '', null, true));
  const key = fc.oneof(
    fc.constantFrom('role', 'type', 'content', 'parts', 'a', 'order_id'),
    fc.string({ minLength: 28, maxLength: 32, unit: fc.constantFrom('k', "'") }),
  );
  // About as long as a line has room for, in each other, and what may be a message.
  const dense = fc.array(
    fc.tuple(key, fc.oneof({ maxDepth: 4, depthIdentifier: 'dense' }, { weight: 5, arbitrary: small }, tie('dense'))),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  return {
    dense: dense.map((pairs) => new Dict(pairs)),
    value: fc.oneof(
      { depthSize: 'small' },
      tie('dense'),
      fc.oneof(
        text,
        fc.constantFrom(null, true, false, -1, 2 ** 52, -(2 ** 53) + 1, new Ref(Buffer.alloc(32, 7))),
        fc.integer(),
        fc.double().map((number) => new Float(number)),
      ),
      fc.array(fc.tuple(fc.oneof(text, tie('value')), tie('value')), { maxLength: 14 }).map((pairs) => new Dict(pairs)),
      items,
      items.map((all) => new Tuple(all)),
      items.map((all) => new Tagged('object', ['app.Thing', ...all])),
    ),
  };
});

describe('reader: texts', () => {
  it('is told to its end as lines tell it, or not at all', () => {
    const value = fc.letrec<{ one: Value }>((tie) => {
      const { one } = { one: tie('one') };
      const few = fc.array(one, { maxLength: 3 });
      const name = fc.constantFrom('m.Order', 'decimal.Decimal', 'pathlib.PosixPath', 'numpy.timedelta64', 'shop.Gone');
      const text = fc.oneof(fc.constantFrom('', 'RED', '12.50', '3600.5', '2026-11-22', "it's"), fc.string({ maxLength: 12 }));
      const reason = fc.constantFrom<Value>(null, 'it keeps more');
      return {
        one: fc.oneof(
          { depthSize: 'small' },
          fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.double().map((number) => new Float(number))),
          fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
          fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
          fc.tuple(fc.double(), fc.double()).map(([real, imaginary]) => new Complex(real, imaginary)),
          few,
          few.map((items) => new Tuple(items)),
          fc.tuple(few, fc.boolean()).map(([items, frozen]) => new SetValue(items, frozen)),
          fc.array(fc.tuple(text, one), { maxLength: 3 }).map((pairs) => new Dict(pairs)),
          fc.tuple(name, fc.array(fc.tuple(text, one), { maxLength: 3 }), reason)
            .map(([type, fields, why]) => new Tagged('object', [type, new Dict(fields), why])),
          fc.tuple(name, text, reason).map(([type, said, why]) => new Tagged('opaque', [type, said, why])),
          fc.tuple(name, text).map(([type, said]) => new Tagged('error', [type, said, [], null, null])),
          fc.tuple(name, text, one).map(([type, member, inner]) => new Tagged('enum', [type, member, inner])),
          fc.tuple(name, text).map(([type, said]) => new Tagged('time', [type, said])),
          fc.tuple(name, one).map(([type, inner]) => new Tagged('subclass', [type, inner])),
          fc.uint8Array({ maxLength: 8 }).map((bytes) => new Tagged('bytearray', [Buffer.from(bytes)])),
          fc.constantFrom(new Tagged('ellipsis', []), new Tagged('masked', ['secret']), new Tagged('cut', ['str', 'ab', 9, 'long'])),
        ),
      };
    }).one; // prettier-ignore
    let told = 0;
    fc.assert(
      fc.property(value, (one) => {
        const exact = exactLine(one, stored, 10_000);
        const shown = line(one, stored, 10_000);
        // What a line only counts, or shortens, is told here.
        if (exact === undefined || /\u2026|\w \(\d+\)/.test(shown)) return;
        told++;
        assert.equal(exact, shown);
        assert.equal(exactLine(one, stored, exact.length), exact);
        if (exact !== '') assert.equal(exactLine(one, stored, exact.length - 1), undefined);
      }),
      { seed: 1, numRuns: 3000 },
    );
    assert.ok(told > 1000, String(told));
    for (const never of [new Tagged('masked', ['secret']), new Tagged('cut', ['str', 'ab', 9, 'long'])])
      for (const around of [
        never,
        [never],
        new Dict([['a', never]]),
        new Tagged('object', ['m.Order', new Dict([['a', never]]), null]),
      ])
        assert.equal(exactLine(around, stored, 10_000), undefined);
  });

  it('says where the members of a group were raised', () => {
    const member = new Tagged('error', ['ValueError', 'no tea', [new Tuple(['/app/shop/agent.py', 7, 'work'])], null, new Dict([])]); // prettier-ignore
    const lines = outline([member, 3], stored, 10);
    assert.deepEqual(lines.map(({ text }) => text), ['ValueError: no tea, at work @ agent.py:7', '3']); // prettier-ignore
  });

  it('tells a long text with its lines, and of a very long one how long it is', () => {
    const opens = (value: Value): boolean => node('', value, stored).long === true;
    assert.deepEqual(['ok', 'two\nlines', 'x'.repeat(61), new Uint8Array(61), 7, ['x'.repeat(61)]].map(opens), [false, true, true, true, false, false]); // prettier-ignore
    assert.deepEqual(wholeText('two\n <b>lines</b>', stored), { text: 'two\n <b>lines</b>' });
    assert.deepEqual(wholeText(new Tagged('cut', ['str', 'begin', 9, 'too long']), stored), { text: 'begin' });
    assert.deepEqual(wholeText(new Uint8Array([104, 10]), stored), { text: "b'h\\n'" });
    const { text, all } = wholeText('\ud83e\udd89'.repeat(10_001), stored);
    assert.deepEqual([text.length, all], [20_001, { count: 10_001, of: 'characters' }]);
    assert.deepEqual(wholeText(new Uint8Array(5001), stored).all, { count: 5001, of: 'bytes' });
    assert.deepEqual(wholeText(7, stored), { text: '' });
  });

  it('shows both ends of a long error in its line', () => {
    const error = new Tagged('error', ['ValueError', `first\n${'long '.repeat(1000)}\n last`, [], null, new Dict([])]);
    assert.match(line(error, stored), /^ValueError: first long (long )+.*….*long last$/);
    assert.equal(line(error, stored).length, 200);
  });

  it('names the role of a message also by its class', () => {
    const types = ['AIMessageChunk', 'ToolMessageChunk', 'HumanMessage', 'ai', 'my_role'];
    const lines = types.map(
      (type) =>
      line(new Tagged('object', ['app.AIMessageChunk', new Dict([['type', type], ['content', 'yes']]), null]), stored), // prettier-ignore
    );
    assert.deepEqual(lines, ['ai: yes', 'tool: yes', 'human: yes', 'ai: yes', 'my_role: yes']);
  });

  it('says how much of an array or a table was recorded', () => {
    const shaped = (head: Value, ...shape: number[]): string | undefined =>
      markOf(new Tagged('array', ['t', new Tuple(shape), 'd', head, 1]), stored);
    const table = (columns: number, rows: number): Value =>
      new Dict(Array.from({ length: columns }, (_, index) => [`c${index}`, Array<Value>(rows).fill(1)]));
    assert.equal(shaped([1, 2], 2), undefined);
    assert.equal(shaped([1, 2], 3, 4), 'Only the first 2 of 12 elements were recorded.');
    assert.equal(shaped(table(2, 3), 3, 2), undefined);
    assert.equal(shaped(table(2, 3), 90, 2), 'Only the first 3 of 90 rows were recorded.');
    assert.equal(shaped(table(2, 3), 3, 8), 'Only the first 2 of 8 columns were recorded.');
    assert.equal(shaped(table(2, 3), 90, 8), 'Only the first 3 of 90 rows and 2 of 8 columns were recorded.');
  });

  it('quotes a text the same whether it stands alone or beside what is escaped', () => {
    for (let code = 0; code < 0x10000; code++) {
      const character = String.fromCharCode(code);
      if (character === "'") continue;
      const alone = quote(character).slice(1, -1);
      assert.equal(alone, quote(`${character}\t`).slice(1, -3), `U+${code.toString(16)}`);
    }
  });

  it('escapes what cannot be seen', () => {
    const texts = ['a\u202eb', 'a\u200bb', 'a\u00adb', 'a\u2066b', 'a\u3000b', 'a\ufeffb', 'é 日本 мир 한'];
    const quoted = ['a\\u202eb', 'a\\u200bb', 'a\\xadb', 'a\\u2066b', 'a\\u3000b', 'a\\ufeffb', 'é 日本 мир 한'];
    assert.deepEqual(
      texts.map((text) => quote(text)),
      quoted.map((text) => `'${text}'`),
    );
  });

  it('are read from stored bytes as from the values, or not at all', () => {
    const same = (plain: string | undefined, whole: () => string): void => {
      if (plain !== undefined) assert.equal(plain, whole());
    };
    fc.assert(
      fc.property(anyValue, fc.nat(), fc.nat(255), fc.nat(2), (value, at, byte, damage) => {
        const place = placed(value);
        // What one byte of it changes into may be damaged, or another value.
        if (damage === 0) place.bytes[1 + (at % (place.to - 1))] = byte;
        const read = (): Value => decodeCanonical(place.bytes.subarray(place.from, place.to));
        try {
          read();
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error;
        }
        same(plainLine(place), () => line(read(), stored));
        same(plainArguments(place, 60), () => argumentsLine(read(), stored));
      }),
      { numRuns: 3000 },
    );
  });

  it('are read from stored bytes where they are plain', () => {
    const dict = new Dict([
      ['order_id', 7],
      ['region', 'eu'],
      ['share', new Float(2)],
      ['parts', [1, 'two', new Tuple([null])]],
      ['more', new Dict([['one', true]])],
    ]);
    const told = "order_id=7, region='eu', share=2.0, parts=[1, 'two', (None,)], more={'one': True}";
    assert.equal(plainArguments(placed(dict), 60), told);
    assert.equal(
      plainLine(placed(dict)),
      `{'order_id': 7, 'region': 'eu', 'share': 2.0, 'parts': [1, 'two', (None,)], 'more': {'one': True}}`,
    );
    assert.equal(plainLine(placed(new Dict([]))), '{}');
    assert.equal(plainLine(placed('Your order is late.')), "'Your order is late.'");
    const message = new Dict([
      ['role', 'user'],
      ['content', 'hello'],
    ]);
    assert.equal(plainLine(placed(message)), undefined);
    assert.equal(line(message, stored), 'user: hello');
    assert.equal(plainArguments(placed(new Dict([['name', 'x'.repeat(61)]])), 60), undefined);
  });

  it('shows what is in a container where that fits on a line, else how many there are', () => {
    const large = new Ref(Buffer.alloc(32));
    const nested = (depth: number): Value => (depth === 0 ? 7 : [nested(depth - 1)]);
    const user = new Dict([['role', 'user'], ['content', 'hello']]); // prettier-ignore
    const both = (value: Value): string => {
      const text = line(value, stored);
      const plain = plainLine(placed(value));
      if (plain !== undefined) assert.equal(plain, text);
      return text;
    };
    assert.equal(both(nested(3)), '[[[7]]]');
    assert.equal(both(nested(4)), '[[[list (1)]]]');
    assert.equal(both(Array<Value>(20).fill(1)), `[${Array(20).fill(1).join(', ')}]`);
    assert.equal(both(Array<Value>(21).fill(1)), 'list (21)');
    assert.equal(both(Array<Value>(10).fill('x'.repeat(7))), 'list (10)');
    assert.equal(both(new Dict([['note', 'x'.repeat(70)]])), `{'note': '${'x'.repeat(42)}…${'x'.repeat(17)}'}`);
    assert.equal(both(new Dict([['note', large], ['id', 7]])), "{'note': 'user', 'id': 7}"); // prettier-ignore
    assert.equal(both([large, 7]), "['user', 7]");
    assert.equal(both([user, user]), 'list (2)');
    assert.equal(both(new Dict([['last', user]])), "{'last': user: hello}");
    assert.equal(headLine(new Dict([['id', 7]]), stored), 'dict (1)');
  });

  it('tells a large part that is stored on its own by its first bytes', () => {
    const bytes = (value: Value): Buffer => {
      const { bytes, from, to } = placed(value);
      return bytes.subarray(from, Math.min(to, 64));
    };
    const lines = (part: Value): string[] => {
      const seen = { ...stored, glimpse: () => decodeHead(bytes(part)) } as unknown as StoredValues;
      const ref = new Ref(Buffer.alloc(32));
      return [line(new Dict([['a', ref]]), seen), line([ref], seen)];
    };
    assert.deepEqual(lines('x'.repeat(300)), [`{'a': '${'x'.repeat(59)}…'}`, `['${'x'.repeat(59)}…']`]);
    assert.deepEqual(lines('\u00e9'.repeat(300)), [`{'a': '${'\u00e9'.repeat(30)}…'}`, `['${'\u00e9'.repeat(30)}…']`]);
    assert.deepEqual(lines(Array<Value>(300).fill(1)), ["{'a': list (300)}", '[list (300)]']);
    assert.deepEqual(lines(new Tuple(Array<Value>(300).fill(1))), ["{'a': tuple (300)}", '[tuple (300)]']);
    assert.deepEqual(lines(new Dict([['k', 'x'.repeat(300)]])), ["{'a': {…}}", '[{…}]']);
    const object = (type: string): Value =>
      new Tagged('object', [type, new Dict([['content', 'x'.repeat(300)]]), null]);
    assert.deepEqual(lines(object('shop.Order')), ["{'a': Order(…)}", '[Order(…)]']);
    assert.deepEqual(lines(object('lc.AIMessage')), ["{'a': AIMessage(…)}", 'list (1)']);
    assert.deepEqual(lines(new Tagged('cut', ['str', 'x'.repeat(300), 900, 'long'])), ["{'a': …}", '[…]']);
    assert.deepEqual(
      [decodeHead(Buffer.alloc(0)), decodeHead(Buffer.from([0x0d, 0xff, 0xff]))],
      [undefined, undefined],
    );
  });
});
