import assert from 'node:assert/strict';
import { conditionIn } from '../../adapter/store/query/words';

describe('query: conditions as people type them', () => {
  it('take what was copied from a line that tells a call', () => {
    for (const [typed, value] of [
      ["'7'", '7'],
      ["'it\\'s \"late\"'", 'it\'s "late"'],
      ["'two\\nlines \\x41'", 'two\nlines A'],
      ["{'id': 7, 'lines': ['mug', None], 'paid': True}", { id: 7, lines: ['mug', null], paid: true }],
      ["('mug',)", ['mug']],
      ["[(1, 2.5), {}, '']", [[1, 2.5], {}, '']],
      ['["mug"]', ['mug']],
      ['"7"', '7'],
      ['[]', []],
      ['{1, 2}', [1, 2]],
      ["frozenset({'a'})", ['a']],
      ["[{1}, {}, {'a': {2, (3,)}}]", [[1], {}, { a: [2, [3]] }]],
    ] as const)
      assert.deepEqual(conditionIn(`argument.x equals ${typed}`), { path: 'argument.x', equals: value }, typed);
    // What Python writes otherwise, or what is no value at all, is a text.
    for (const typed of [
      "{'a': list (3)}",
      "'open",
      "'a' and 'b'",
      '(maybe)',
      'mug',
      'Order(id=7)',
      "b'hi'",
      "{Decimal('1')}",
      'frozenset()',
      `Order(note='${'x'.repeat(2000)}')`,
    ])
      assert.deepEqual(conditionIn(`argument.x equals ${typed}`), { path: 'argument.x', shown: typed }, typed);
  });

  it('leave the quotes to what an error says', () => {
    assert.deepEqual(conditionIn("error.message equals 'x'"), { path: 'error.message', shown: "'x'" });
  });

  it('say which path is none', () => {
    assert.throws(() => conditionIn('x equals 1'), /^UserError: "x" is no path to a value\. It begins with argument,/);
    assert.throws(() => conditionIn(''), /"" is no path to a value/);
  });
});
