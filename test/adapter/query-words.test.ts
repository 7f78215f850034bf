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
      // What Python writes otherwise, or what is no value at all, is a text.
      ['{1, 2}', '{1, 2}'],
      ["{'a': list (3)}", "{'a': list (3)}"],
      ["'open", "'open"],
      ["'a' and 'b'", "'a' and 'b'"],
      ['(maybe)', '(maybe)'],
      ['mug', 'mug'],
    ] as const)
      assert.deepEqual(conditionIn(`argument.x equals ${typed}`), { path: 'argument.x', equals: value }, typed);
  });

  it('leave the quotes to what an error says', () => {
    assert.deepEqual(conditionIn("error.message equals 'x'"), { path: 'error.message', equals: "'x'" });
  });

  it('say which path is none', () => {
    assert.throws(() => conditionIn('x equals 1'), /^UserError: "x" is no path to a value\. It begins with argument,/);
    assert.throws(() => conditionIn(''), /"" is no path to a value/);
  });
});
