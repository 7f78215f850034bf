import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { FoundCall } from '../../protocol/query';
import type { ComparedRow, ReaderMethods } from '../../protocol/timeline';
import { runQuery } from '../../adapter/store/query/query';
import { align } from '../../adapter/store/reader/align';
import { children } from '../../adapter/store/reader/children';
import { diff } from '../../adapter/store/reader/diff';
import { Reader } from '../../adapter/store/reader/reader';
import { RunFile } from '../../adapter/store/reader/runFile';
import { statistics } from '../../adapter/store/reader/statistics';
import type { StoredValues } from '../../adapter/store/reader/stored';
import { unrecorded } from '../../adapter/store/reader/unrecorded';
import { recoverSpool } from '../../adapter/store/recover';
import { writeOwner } from '../../adapter/store/spoolOwner';
import { Dict, SetValue, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';

/** Nothing here is stored on its own. */
const plain = { resolve: (value: Value) => value } as StoredValues;
const LONG = 'word '.repeat(200);

/** One call of `change(before)` that gives `after`, for each pair. */
function run(pairs: readonly (readonly [Value, Value])[], more?: (spool: SpoolFile) => void): SpoolFile {
  const spool = new SpoolFile('4000001-abc')
    .add(1, 1, 'tool', 'change', 'app.change', 'app', '/app/app.py', 3, 5)
    .add(1, 2, 'llm', 'model', 'app.model', 'app', '/app/app.py', 13, 15)
    .add(2, 1, 'app', 0);
  pairs.forEach(([before, after], index) => {
    const time = 1000 + index * 1000;
    spool.add(3, index + 1, 0, 1, 1, time, before, null).add(4, index + 1, time + 100, 0, after, null);
  });
  more?.(spool);
  return spool;
}

describe('store: what the reader compares and counts', function () {
  this.timeout(30_000);
  let root: string;
  let file: string;
  const reader = new Reader(() => undefined);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
    file = join(root, 'projects', 'p', 'runs', 'a.db');
    mkdirSync(dirname(file), { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  after(() => reader.close());

  function ask<K extends keyof ReaderMethods>(
    method: K,
    params: Omit<ReaderMethods[K]['params'], 'file'>,
  ): ReaderMethods[K]['result'] {
    return reader.handle(method, { file, ...params }) as ReaderMethods[K]['result'];
  }
  function record(...spools: SpoolFile[]): void {
    const folder = join(root, 'sessions', 's', 'spool', 'a');
    mkdirSync(folder, { recursive: true });
    for (const spool of spools) spool.write(folder);
    writeOwner(folder, { runFile: file, run: 'a', session: 's', name: 'app.py', pid: 4000002, pidStart: '1' });
    recoverSpool(folder);
  }
  function compare(
    id: string,
    path: string[] = [],
    which: 'different' | 'equal' = 'different',
    page: { start: number; count: number } = { start: 0, count: 100 },
  ): ReaderMethods['compare']['result'] {
    const { input, output } = ask('call', { id });
    const place = (value: number): { value: number; path: string[] } => ({ value, path });
    return ask('compare', { before: place(input!.value), after: place(output!.value), which, ...page });
  }
  const told = ({ rows }: { rows: ComparedRow[] }): (string | undefined)[][] =>
    rows.map(({ change, before, after }) => [
      change,
      before && `${before.name}: ${before.text}`,
      after && `${after.name}: ${after.text}`,
    ]);

  it('keys that read the same are told apart, also where they stand in pairs', () => {
    const pairs = (...numbers: number[]): Value =>
      new Tagged('subclass', ['dict', numbers.map((number): Value => ['***', number])]);
    record(
      run([
        [pairs(1, 2), pairs(7, 2)],
        [pairs(1, 2), pairs(1)],
      ]),
    );
    const changed = compare('1.1');
    assert.deepEqual(told(changed), [['changed', '***: 1', '***: 7']]);
    assert.equal(changed.equal, 1);
    assert.deepEqual(told(compare('1.2')), [['removed', '*** (2): 2', undefined]]);
    const { db, values } = new RunFile(file);
    try {
      assert.deepEqual(
        diff(pairs(1, 2), pairs(7, 3), values).changes.map(({ path }) => path),
        ["['***']", "['***'] (2)"],
      );
      // However deep a file says that such a one is.
      let deep: Value = [];
      for (let level = 0; level < 20_000; level++) deep = new Tagged('subclass', ['set', deep]);
      assert.equal(values.resolve(deep), deep);
    } finally {
      db.close();
    }
  });

  it('puts the parts of two values beside each other, those that differ and the number of those that do not', () => {
    const before = dict({ order: dict({ id: 7, lines: ['mug'] }), region: 'eu', old: 1, note: LONG });
    const after = dict({ order: dict({ id: 70, lines: ['mug'] }), region: 'eu', note: `${LONG}end`, fresh: [1, 2] });
    record(run([[before, after]]));
    const top = compare('1.1');
    assert.deepEqual([top.different, top.equal, top.root.change, top.root.alike], [4, 1, 'changed', true]);
    assert.deepEqual(
      told(top).filter(([, one]) => one?.startsWith('note') !== true),
      [
        ['changed', "order: {'id': 7, 'lines': ['mug']}", "order: {'id': 70, 'lines': ['mug']}"],
        ['removed', 'old: 1', undefined],
        ['added', undefined, 'fresh: [1, 2]'],
      ],
    );
    // Of a long text that part is shown in which it differs.
    const note = top.rows.find((row) => row.before?.name === 'note');
    assert.match(note?.before?.text ?? '', /^'…[word ]+'$/);
    assert.match(note?.after?.text ?? '', /^'…[word ]+ end'$/);
    assert.deepEqual(told(compare('1.1', ['order'])), [['changed', 'id: 7', 'id: 70']]);
    assert.deepEqual(told(compare('1.1', [], 'equal')), [['same', "region: 'eu'", "region: 'eu'"]]);
    // One side alone.
    const { output } = ask('call', { id: '1.1' });
    const alone = ask('compare', {
      after: { value: output!.value, path: ['fresh'] },
      which: 'different',
      start: 0,
      count: 9,
    });
    assert.deepEqual(
      [alone.root.change, told(alone)],
      [
        'added',
        [
          ['added', undefined, '0: 1'],
          ['added', undefined, '1: 2'],
        ],
      ],
    );
  });

  it('finds what was put into a list and what was taken out of it', () => {
    record(
      run([
        [
          [1, 2, 3, 'x'],
          [0, 1, 3, 'y', 4],
        ],
        [new SetValue([1, 2], false), new SetValue([2, 3], false)],
        [dict({ a: 1 }), [1]],
        [7, 7],
      ]),
    );
    const list = compare('1.1');
    assert.deepEqual(
      [list.equal, told(list)],
      [
        2,
        [
          ['added', undefined, '0: 0'],
          ['removed', '1: 2', undefined],
          ['changed', "3: 'x'", "3: 'y'"],
          ['added', undefined, '4: 4'],
        ],
      ],
    );
    const set = compare('1.2');
    assert.deepEqual(
      [set.equal, told(set)],
      [
        1,
        [
          ['removed', '0: 1', undefined],
          ['added', undefined, '1: 3'],
        ],
      ],
    );
    const kinds = compare('1.3');
    assert.deepEqual([kinds.root.change, kinds.root.alike], ['changed', false]);
    assert.deepEqual(told(kinds), [
      ['removed', 'a: 1', undefined],
      ['added', undefined, '0: 1'],
    ]);
    assert.deepEqual(compare('1.4'), {
      root: {
        change: 'same',
        before: { name: '', text: '7', type: 'int', children: 0 },
        after: { name: '', text: '7', type: 'int', children: 0 },
        alike: false,
      },
      rows: [],
      different: 0,
      equal: 0,
    });
  });

  it('finds what a few steps changed in lists of thousands', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 2999 }), { maxLength: 40 }),
        fc.array(fc.nat({ max: 2999 }), { maxLength: 40 }),
        (out, put) => {
          const olds = Array.from({ length: 3000 }, (_, index): Value => index);
          const news = olds.flatMap((item, index) => [
            ...put.filter((at) => at === index).map((): Value => 'new'),
            ...(out.includes(index) ? [] : [item]),
          ]);
          const rows = align(
            children(olds, plain),
            children(news, plain),
            (one, other) => one.value === other.value,
            () => false,
          );
          assert.deepEqual(
            rows.flatMap(({ before }) => (before === undefined ? [] : [before.value])),
            olds,
          );
          assert.deepEqual(
            rows.flatMap(({ after }) => (after === undefined ? [] : [after.value])),
            news,
          );
          for (const { before, after } of rows) assert.ok(!before || !after || before.value === after.value);
          assert.equal(rows.filter(({ before, after }) => !before || !after).length, new Set(out).size + put.length);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('puts the fields of a state that is an object beside its keys after a node', () => {
    const state = (n: number): Tagged => new Tagged('object', ['app.State', dict({ n, log: ['a'] }), null]);
    assert.deepEqual(diff(state(1), dict({ n: 9, log: ['a'] }), plain).changes, [
      { change: 'changed', path: 'n', before: '1', after: '9' },
    ]);
    assert.deepEqual(diff(state(1), dict({ n: 1, log: ['a'] }), plain).changes, []);
    assert.deepEqual(
      diff(state(1), null, plain).changes.map(({ path }) => path),
      [''],
    );
    assert.deepEqual(
      diff(dict({ state: state(1) }), dict({ state: dict({ n: 1, log: ['a'] }) }), plain).changes.map(
        ({ path }) => path,
      ),
      ['state'],
    );
  });

  it('tells messages of a list by their ids, and all else by what it is', () => {
    const message = (type: string, id: string | null, content: string): Tagged =>
      new Tagged('object', [`langchain_core.messages.${type}`, dict({ content, type: 'human', id }), null]);
    const said = (before: Value[], after: Value[]): (string | undefined)[][] =>
      diff(dict({ messages: before }), dict({ messages: after }), plain).changes.map(({ change, path, before, after }) => [change, path, before, after]); // prettier-ignore
    const ten = (withId: boolean): Tagged[] =>
      Array.from({ length: 10 }, (_, index) => message('HumanMessage', withId ? `m${index}` : null, `text ${index}`));
    for (const withId of [true, false])
      assert.deepEqual(said(ten(withId), ten(withId).slice(1)), [
        ['removed', 'messages[0]', 'human: text 0', undefined],
      ]);
    const [first, second, third] = ten(true) as [Tagged, Tagged, Tagged];
    assert.deepEqual(
      said(
        [first, second, third],
        [message('HumanMessage', 's', 'summary'), message('HumanMessage', 'm1', 'other'), third],
      ),
      [
        ['removed', 'messages[0]', 'human: text 0', undefined],
        ['added', 'messages[0]', undefined, 'human: summary'],
        ['changed', 'messages[1].content', "'text 1'", "'other'"],
      ],
    );
    // A reducer gives the new one its id only later.
    assert.deepEqual(said([first, second, third], [message('HumanMessage', null, 'summary'), third]), [
      ['removed', 'messages[0]', 'human: text 0', undefined],
      ['added', 'messages[0]', undefined, 'human: summary'],
      ['removed', 'messages[1]', 'human: text 1', undefined],
    ]);
    assert.deepEqual(said([1, 2, 3, 4], [2, 3, 9]), [
      ['removed', 'messages[0]', '1', undefined],
      ['changed', 'messages[2]', '4', '9'],
    ]);
  });

  it('answers large values in pages, and marks what is missing', () => {
    const many = Array.from({ length: 5000 }, (_, index) => index);
    const other = many.map((number) => (number % 2 === 0 ? number : -number));
    record(
      run([
        [many, other],
        [dict({ key: new Tagged('masked', ['key holds a secret']) }), dict({ key: 'plain' })],
      ]),
    );
    const page = compare('1.1', [], 'different', { start: 100, count: 2 });
    assert.deepEqual(
      [page.different, page.equal, told(page)],
      [
        2500,
        2500,
        [
          ['changed', '201: 201', '201: -201'],
          ['changed', '203: 203', '203: -203'],
        ],
      ],
    );
    assert.equal(compare('1.2').rows[0]?.before?.mark, 'Masked: key holds a secret.');
  });

  it('shows long bytes and texts from where they differ, also when they are opened', () => {
    const zeros = (count: number, end: string): Buffer => Buffer.concat([Buffer.alloc(count), Buffer.from(end)]);
    const array = (bytes: Uint8Array): Tagged => new Tagged('bytearray', [bytes]);
    const far = 'x'.repeat(100_000);
    const cut = (all: number): Tagged => new Tagged('cut', ['str', far, all, 'too long']);
    record(
      run([
        [zeros(100_000, '1'), zeros(100_000, '2')],
        [zeros(100, '1'), zeros(100, `2${'y'.repeat(200)}`)],
        [array(zeros(100, '1')), array(zeros(100, '2'))],
        [zeros(3, '1'), zeros(3, '2')],
        [`${far}1`, `${far}2`],
        [cut(200_000), cut(200_001)],
      ]),
    );
    const zero = '\\x00'.repeat(15);
    const texts = [1, 2, 3, 4].map((call) => {
      const { before, after } = compare(`1.${call}`).root;
      return [before?.text, after?.text];
    });
    assert.deepEqual(texts, [
      [`…b'${zero}1'`, `…b'${zero}2'`],
      [`…b'${zero}1'`, `…b'${zero}2${'y'.repeat(24)}'…`],
      [`bytearray(…b'${zero}1')`, `bytearray(…b'${zero}2')`],
      ["b'\\x00\\x00\\x001'", "b'\\x00\\x00\\x002'"],
    ]);
    const opened = (call: number): string[] => {
      const { input, output } = ask('call', { id: `1.${call}` });
      const { from } = compare(`1.${call}`).root;
      return [input!, output!].map(
        ({ value }) => ask('text', { value, path: [], ...(from !== undefined && { from }) }).text,
      );
    };
    assert.deepEqual(
      opened(1),
      ['1', '2'].map((end) => `…b'${'\\x00'.repeat(250)}${end}'`),
    );
    assert.deepEqual(
      opened(5),
      ['1', '2'].map((end) => `…${'x'.repeat(1000)}${end}`),
    );
    assert.equal(compare('1.2').root.from, undefined);
    const [begin, other] = [compare('1.6').root.before, compare('1.6').root.after];
    assert.match(begin?.text ?? '', /^'x+…x+…'$/);
    assert.equal(other?.text, begin?.text);
    assert.equal(begin?.mark, 'Cut after 100000 of 200000: too long.');
  });

  it('compares arrays element by element, row by row', () => {
    const numbers = (cells: Value[], sizes: number[], kind = 'int64'): Tagged =>
      new Tagged('array', ['numpy.ndarray', new Tuple(sizes), kind, cells]);
    const nine = (middle: number): Tagged => numbers([1, 2, 3, 4, middle, 6, 7, 8, 9], [3, 3]);
    const table = (last: number): Tagged =>
      new Tagged('array', ['pandas.DataFrame', new Tuple([2, 2]), 'mixed', dict({ a: [1, 2], b: [3, last] })]);
    record(
      run([
        [nine(5), nine(50)],
        [numbers([1, 2], [2]), numbers([1, 2, 3], [3])],
        [table(4), table(5)],
        [
          [nine(5), 1],
          [nine(50), 1],
        ],
        [numbers([1, 2], [2]), numbers([1, 2], [2], 'int32')],
        [numbers([1, 2], [2]), numbers([1, 2], [1, 2])],
        [numbers([1, 2], [1000]), numbers([1, 2], [2000])],
      ]),
    );
    const [matrix, longer, columns, within, ofOtherKind, ofMoreLevels, ofOtherSize] = [1, 2, 3, 4, 5, 6, 7].map(
      (call) => compare(`1.${call}`),
    );
    assert.deepEqual(
      [matrix, longer, columns, within].map((one) => [one!.root.alike, one!.different, one!.equal]),
      [
        [true, 1, 2],
        [true, 1, 2],
        [true, 1, 1],
        [true, 1, 1],
      ],
    );
    assert.deepEqual([matrix!.rows[0]?.alike, within!.rows[0]?.alike], [true, true]);
    assert.deepEqual(told(longer!), [['added', undefined, '2: 3']]);
    assert.deepEqual([ofOtherKind!.root.alike, ofMoreLevels!.root.alike], [false, false]);
    assert.deepEqual(
      [ofOtherSize!.different, ofOtherSize!.unrecorded],
      [0, 'Only the first 2 of 1000 elements were recorded.'],
    );
    assert.deepEqual(diff(dict({ m: nine(5) }), dict({ m: nine(50) }), plain).changes, [
      { change: 'changed', path: 'm[1][1]', before: '5', after: '50' },
    ]);
    assert.deepEqual(
      diff(dict({ t: table(4) }), dict({ t: table(5) }), plain).changes.map(({ path }) => path),
      ['t.b[1]'],
    );
  });

  it('takes a cut list of another length, or an array of another size, for changed', () => {
    const list = (all: number): Tagged => new Tagged('cut', ['list', [1, 2], all, 'too large']);
    const array = (all: number): Tagged => new Tagged('array', ['numpy.ndarray', new Tuple([all]), 'int64', [1, 2]]);
    for (const [make, before, after] of [
      [list, 'list (1000)…', 'list (2000)…'],
      [array, 'ndarray (1000) int64', 'ndarray (2000) int64'],
    ] as const) {
      assert.deepEqual(diff(dict({ a: make(1000) }), dict({ a: make(2000) }), plain).changes, [
        { change: 'changed', path: 'a', before, after },
      ]);
      assert.deepEqual(diff(dict({ a: make(1000) }), dict({ a: make(1000) }), plain).changes, []);
    }
    const empty = (rows: number): Tagged => new Tagged('array', ['numpy.ndarray', new Tuple([rows, 0]), 'int64', []]);
    assert.equal(diff(dict({ a: empty(2) }), dict({ a: empty(3) }), plain).changes.length, 1);
  });

  it('says why some of two values was not recorded, where what was recorded of both is equal', () => {
    const masked = new Tagged('masked', ['key holds a secret']);
    const cut = (all: number, kept: Value): Tagged => new Tagged('cut', ['list', kept, all, 'too large']);
    const array = (all: number): Tagged => new Tagged('array', ['numpy.ndarray', new Tuple([all]), 'int64', [1, 2]]);
    let deep: Value = new Tagged('cut', ['value', null, 0, 'nested too deep']);
    for (let level = 0; level < 150; level++) deep = dict({ level, deep });
    const generator = new Tagged('opaque', ['generator', '', 'generators are not run']);
    const both = (value: Value): [Value, Value] => [value, value];
    const cases: [readonly [Value, Value], string | undefined][] = [
      [both(dict({ a: 1, b: [LONG, null] })), undefined],
      [both(dict({ api_key: masked, note: LONG })), 'Masked: key holds a secret.'],
      [both(masked), 'Masked: key holds a secret.'],
      [both(cut(400_000, [1, 2])), 'Cut after 2 of 400000: too large.'],
      [[cut(400_000, [1, 2]), cut(400_001, [1, 2])], 'Cut after 2 of 400000: too large.'],
      [both([new Tuple([array(1000)])]), 'Only the first 2 of 1000 elements were recorded.'],
      [both(array(2)), undefined],
      [both(deep), 'Cut: nested too deep.'],
      [both(dict({ lines: generator })), 'Not looked into: generators are not run.'],
      [both(new Tagged('opaque', ['decimal.Decimal', '1.50', null])), undefined],
      [both(new Dict([[masked, 1]])), 'Masked: key holds a secret.'],
      [both(['Bearer ***']), 'Where a text has ***, a secret may have stood.'],
      [both([new Tagged('cycle', [1])]), undefined],
      [[dict({ a: 1 }), dict({ a: 2, b: masked })], undefined],
      [[dict({ a: 1 }), dict({ a: masked })], undefined],
    ];
    record(run(cases.map(([pair]) => pair)));
    cases.forEach(([, mark], index) => {
      // The second time it is known of the parts that are stored on their own.
      for (const time of [1, 2]) assert.equal(compare(`1.${index + 1}`).unrecorded, mark, `${index}, ${time}`);
    });
  });

  it('does not look for ever for what was not recorded', () => {
    const large = new Tagged('masked', ['key holds a secret']);
    const slow = { resolve: (value: Value) => value } as StoredValues;
    const many = Array.from({ length: 3_000_000 }, (): Value => ['x', 'y']);
    const start = performance.now();
    assert.equal(unrecorded([[...many, large]], slow), '');
    assert.ok(performance.now() - start < 2000);
  });

  it('says of a state without changes why some of it was not recorded', () => {
    const masked = new Tagged('masked', ['key holds a secret']);
    record(
      run([], (spool) => {
        [dict({ n: 1, api_key: masked }), dict({ n: 1 })].forEach((state, index) => {
          const [call, start] = [index + 1, 1000 * index];
          spool.add(3, call, 0, 1, 1, start, dict({}), null).add(5, call, start + 1, 'before', state);
          spool.add(5, call, start + 2, 'after', state).add(4, call, start + 500, 0, null, null);
        });
      }),
    );
    const told = ['1.1', '1.2']
      .map((id) => ask('call', { id }))
      .map(({ changes, unrecorded }) => [changes, unrecorded]);
    assert.deepEqual(told, [
      [[], 'Masked: key holds a secret.'],
      [[], undefined],
    ]);
  });

  it('tells values that differ in the order of their keys alone', () => {
    const [ab, ba] = [dict({ a: 1, b: 2 }), dict({ b: 2, a: 1 })];
    record(
      run([
        [ab, ba],
        [ab, ab],
        [dict({ in: ab, x: 1 }), dict({ in: ba, x: 1 })],
        // Of these the order is a part.
        [
          new Tagged('subclass', ['collections.OrderedDict', ab]),
          new Tagged('subclass', ['collections.OrderedDict', ba]),
        ],
        [new SetValue([1, 2], false), new SetValue([2, 1], false)],
      ]),
    );
    const told = ['1.1', '1.2', '1.3', '1.4', '1.5'].map((id) => compare(id));
    assert.deepEqual(
      told.map(({ different, equal, reordered, unrecorded }) => [different, equal, reordered, unrecorded]),
      [
        [0, 2, true, undefined],
        [0, 2, undefined, undefined],
        [1, 1, undefined, undefined],
        [0, 2, undefined, undefined],
        [0, 2, undefined, undefined],
      ],
    );
    assert.deepEqual(
      told.map(({ root }) => root.change),
      ['changed', 'same', 'changed', 'changed', 'same'],
    );
  });

  it('keeps every part of both sides, once, in its order', () => {
    const list = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(fc.tuple(list, list), { minLength: 1, maxLength: 5 }), (pairs) => {
        record(run(pairs));
        pairs.forEach(([olds, news], index) => {
          const id = `1.${index + 1}`;
          const rows = [...compare(id).rows, ...compare(id, [], 'equal').rows];
          for (const [side, list] of [
            ['before', olds],
            ['after', news],
          ] as const) {
            const texts = rows.flatMap((row) => (row[side] === undefined ? [] : [row[side]]));
            assert.deepEqual(
              texts.sort((one, other) => Number(one.name) - Number(other.name)).map(({ text }) => text),
              list.map(String),
            );
          }
          for (const { change, before, after } of rows)
            assert.equal(change === 'same', before?.text === after?.text, JSON.stringify({ before, after }));
        });
        reader.handle('unfollow', { file });
        rmSync(dirname(file), { recursive: true });
        mkdirSync(dirname(file));
      }),
      { numRuns: 15 },
    );
  });

  it('shows what a call got after it was edited, and what it is about to give', () => {
    record(
      run([[dict({ order_id: 7, region: 'eu' }), 'sent']], (spool) => {
        const edited = (text: string, more: Record<string, Value>): Tagged | ReturnType<typeof dict> =>
          dict({ text, client: 'vscode', ...more });
        spool
          .add(6, 1010, 'held', 1, dict({ boundary: 'before', description: 'Paused before tool' }))
          .add(
            6,
            1020,
            'edited',
            1,
            edited('change: order_id 7 → 70 (edited)', {
              boundary: 'before',
              args: dict({ order_id: 70, region: 'eu' }),
            }),
          )
          .add(3, 2, 0, 1, 1, 3000, dict({ order_id: 8 }), null)
          .add(6, 3010, 'held', 2, dict({ boundary: 'before', description: 'Paused before tool' }))
          .add(6, 3020, 'skipped', 2, dict({ client: 'vscode' }))
          .add(
            6,
            3030,
            'held',
            2,
            dict({ boundary: 'after', description: 'Paused after tool', result: dict({ state: 'made up' }) }),
          )
          // Edited when it had run: not what it got.
          .add(6, 3040, 'edited', 2, edited('', { boundary: 'after', args: dict({ order_id: 9 }), result: 'other' }));
      }),
    );
    const text = (handle: { value: number; path?: string[] } | undefined): string | undefined =>
      handle && ask('copy', { value: handle.value, path: handle.path ?? [], format: 'python' }).text;
    const first = ask('call', { id: '1.1' });
    assert.deepEqual(
      [text(first.input), text(first.inputBefore), text(first.output)],
      ["{'order_id': 70, 'region': 'eu'}", "{'order_id': 7, 'region': 'eu'}", "'sent'"],
    );
    // Their lines have the same, and what a query gives of their values.
    const [{ values }] = runQuery([file], { values: true }).rows as [FoundCall];
    assert.deepEqual(values!.arguments, { order_id: 70, region: 'eu' });
    assert.equal(ask('lines', { ids: ['1.2'] }).lines[0]!.arguments, 'order_id=8');
    assert.deepEqual(ask('lines', { ids: ['1.1'] }).lines, [
      { arguments: "order_id=70, region='eu'", result: "'sent'" },
    ]);
    const second = ask('call', { id: '1.2' });
    assert.deepEqual([text(second.input), second.inputBefore], ["{'order_id': 8}", undefined]);
    // The run ended with this call held: it gave nothing, then.
    assert.equal(second.call.state, 'cancelled');
    assert.equal(second.output, undefined);
  });

  it('names lanes and tasks of processes apart that have one name, the first one by its name alone', () => {
    const call = (process: string, start: number, ...tasks: string[]): SpoolFile => {
      const spool = new SpoolFile(process).add(1, 1, 'tool', 'f', 'f', 'app', '/app/app.py', 3, 5);
      for (const [index, name] of tasks.entries())
        spool
          .add(2, index + 1, name, 0)
          .add(3, index + 1, 0, 1, index + 1, start, dict({}), null)
          .add(4, index + 1, start + 5, 0, null, null);
      return spool;
    };
    // The later process calls first.
    record(call('4000001-abc', 2000, 'app.py', 'Worker'), call('4000005-abc', 1000, 'app.py', 'Worker', 'Other'));
    const lanes = ask('overview', { buckets: 1 }).lanes.flatMap(({ name }) => (name === 'Program' ? [] : [name]));
    assert.deepEqual(lanes.sort(), [
      'Worker',
      'Worker (pid 4000005)',
      'app.py',
      'app.py (pid 4000005)',
      'app.py › Other',
    ]);
    const tasks = (task: string): string[] =>
      runQuery([file], { task }).rows.map((row) => (row.type === 'call' ? row.task : ''));
    for (const lane of lanes) assert.ok(tasks(lane).length > 0, lane);
    assert.deepEqual(tasks('worker').sort(), ['Worker', 'Worker (pid 4000005)']);
  });

  it('lists a bounded number of changes of a state, and says when there are more', () => {
    const state = (keys: number, value: string): Value =>
      dict(Object.fromEntries(Array.from({ length: keys }, (_, index) => [`key${index}`, value])));
    record(
      run([], (spool) => {
        [200, 201].forEach((keys, index) => {
          const [call, start] = [index + 1, 1000 * index];
          spool.add(3, call, 0, 1, 1, start, dict({}), null).add(5, call, start + 1, 'before', state(keys, 'old'));
          spool.add(5, call, start + 2, 'after', state(keys, 'new')).add(4, call, start + 500, 0, null, null);
        });
      }),
    );
    for (const [id, more] of [
      ['1.1', undefined],
      ['1.2', true],
    ] as const) {
      const { changes, moreChanges } = ask('call', { id });
      assert.deepEqual([changes?.length, moreChanges], [200, more]);
    }
  });

  it('shows the first causes of an error, and says how many more there are', () => {
    let error: Value = null;
    for (let index = 0; index < 30; index++)
      error = new Tagged('error', ['ValueError', `no ${index}`, [], error, dict({})]);
    record(run([], (spool) => void spool.add(3, 1, 0, 1, 1, 0, dict({}), null).add(4, 1, 3000, 1, error, null)));
    const shown = ask('call', { id: '1.1' }).error;
    assert.deepEqual([shown?.message, shown?.causes?.length, shown?.moreCauses], ['no 29', 20, 9]);
    assert.equal(shown?.causes?.at(-1)?.message, 'no 9');
  });

  it('counts the calls of a range', () => {
    record(
      run([], (spool) => {
        spool.add(3, 1, 0, 1, 1, 0, dict({}), null);
        for (let index = 0; index < 100; index++) {
          const start = 1000 + index * 10;
          spool.add(3, index + 2, 1, index % 2 === 0 ? 1 : 2, 1, start, dict({}), null);
          const failed = index === 10;
          spool.add(
            4,
            index + 2,
            start + 1 + Math.trunc(index / 10),
            failed ? 1 : 0,
            failed ? new Tagged('error', ['ValueError', 'no', [], null, dict({})]) : null,
            index === 11 ? dict({ 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20 }) : null,
          );
        }
        spool.add(4, 1, 3000, 0, null, null);
      }),
    );
    assert.deepEqual(ask('statistics', { from: 0, to: 3000 }), {
      calls: 101,
      errors: 1,
      total: 3000 + 100 + Array.from({ length: 100 }, (_, index) => Math.trunc(index / 10)).reduce((a, b) => a + b),
      p50: 6,
      p95: 10,
      tokens: 120,
      kinds: [
        { kind: 'tool', calls: 51, total: 3275 },
        { kind: 'llm', calls: 50, total: 275 },
      ],
      sampled: false,
    });
    // The call around all counts, too: it overlaps.
    const { calls, errors, tokens } = ask('statistics', { from: 1095, to: 1115 });
    assert.deepEqual([calls, errors, tokens], [3, 1, 120]);
    assert.deepEqual(ask('statistics', { from: 1095, to: 1115, kinds: ['llm'] }), {
      calls: 1,
      errors: 0,
      total: 2,
      p50: 2,
      p95: 2,
      tokens: 120,
      kinds: [{ kind: 'llm', calls: 1, total: 2 }],
      sampled: false,
    });
    assert.deepEqual(ask('statistics', { from: 0, to: 3000, errors: true }), {
      calls: 1,
      errors: 1,
      total: 2,
      p50: 2,
      p95: 2,
      tokens: 0,
      kinds: [{ kind: 'tool', calls: 1, total: 2 }],
      sampled: false,
    });
    assert.deepEqual(ask('statistics', { from: 0, to: 3000, name: 'nobody' }), {
      calls: 0,
      errors: 0,
      total: 0,
      tokens: 0,
      kinds: [],
      sampled: false,
    });
    for (const name of ['model', 'app.model', 'llm:model'])
      assert.equal(ask('statistics', { from: 0, to: 3000, name }).calls, 50, name);
  });

  it('counts a whole run from its sums, its times to within a tenth', () => {
    record(
      run([], (spool) => {
        for (let index = 0; index < 3000; index++) {
          const start = index * 1_000_000;
          const failed = index % 50 === 0 ? new Tagged('error', ['ValueError', 'no', [], null, dict({})]) : null;
          spool.add(3, index + 1, 0, index % 3 === 0 ? 2 : 1, 1, start, dict({}), null);
          const took = 1000 + ((index * 7919) % 900_000);
          spool.add(4, index + 1, start + took, failed === null ? 0 : 1, failed, null);
        }
      }),
    );
    const opened = new RunFile(file);
    try {
      const end = opened.length();
      for (const kinds of [undefined, ['llm'], ['node']]) {
        const range = { from: 0, to: end, kinds, name: undefined };
        const { approximate, p50, p95, ...sums } = statistics(opened, range, 100);
        const { p50: half, p95: most, ...exact } = statistics(opened, range);
        assert.deepEqual(sums, exact);
        assert.equal(approximate, half === undefined ? undefined : true);
        for (const [told, real] of [
          [p50, half],
          [p95, most],
        ] as const)
          assert.ok(told === real || Math.abs(told! - real!) <= real! / 10, `${told} for ${real}`);
      }
      assert.equal(
        statistics(opened, { from: 0, to: end / 2, kinds: undefined, name: undefined }, 100).approximate,
        undefined,
      );
    } finally {
      opened.close();
    }
  });

  it('shades tasks of few calls, too', () => {
    record(
      run([], (spool) => {
        spool.add(2, 2, 'small', 0).add(2, 3, 'idle', 0);
        for (let index = 0; index < 3000; index++) {
          const task = index % 100 === 7 ? 2 : 1;
          spool.add(3, index + 1, 0, 1, task, index * 1_000_000, dict({}), null);
          spool.add(4, index + 1, index * 1_000_000 + 500, 0, null, null);
        }
      }),
    );
    const tasks = [1, 2, 3].map((task) => 2 ** 32 + task);
    // A tile at the edge lies on one side of it as a whole.
    const { lanes } = ask('density', { from: -1e8, to: 3.1e9, buckets: 32, tasks });
    assert.deepEqual(
      lanes.map(({ task, calls }) => [task - 2 ** 32, calls.reduce((sum, one) => sum + one)]),
      [
        [1, 2970],
        [2, 30],
      ],
    );
    assert.deepEqual(lanes[1]!.calls, [0, ...new Array<number>(30).fill(1), 0]);
    // Of a part only what began in it.
    const part = ask('density', { from: 1e9, to: 1.1e9, buckets: 10, tasks });
    assert.deepEqual(part.lanes.find(({ task }) => task === tasks[1])!.calls, [1, ...new Array<number>(9).fill(0)]);
  });

  it('answers nonsense with a sentence', () => {
    record(run([[1, 2]]));
    for (const [method, params] of [
      ['compare', { which: 'some', start: 0, count: 1 }],
      ['compare', { which: 'equal', start: 0, count: 1, before: 'x' }],
      ['compare', { which: 'equal', start: 0, count: 1, before: { value: 99_999, path: [] } }],
      ['statistics', { from: 'now', to: 1 }],
      ['lines', { ids: '1.1' }],
      ['lines', { ids: [1] }],
    ] as const)
      assert.throws(() => reader.handle(method, { file, ...params }), { name: 'UserError' }, JSON.stringify(params));
    assert.deepEqual(ask('compare', { which: 'equal', start: 0, count: 1 }).rows, []);
  });
});
