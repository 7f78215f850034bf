import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { maskPattern } from '../../protocol/maskPattern';
import { python } from './target-support';

const IN_PYTHON = `
import json, re, sys
given = json.load(sys.stdin)
print(json.dumps([[re.sub(pattern, "<masked>", text) for text in given["texts"]] for pattern in given["patterns"]]))
`;

describe('a mask pattern', () => {
  it('masks what it masks in Python, or is none', () => {
    const patterns = [
      'C-\\d+',
      '(?i)kunde\\w*',
      '(?s)a.b',
      'a.b',
      'end$',
      '(?m)^x.*$',
      '[]a]+',
      '[^]a]+',
      '[[a]x',
      '\\bé\\b',
      '\\Bb',
      '\\Aab',
      'b\\Z',
      '\\-\\#\\ \\"',
      '[\\-\\#\\w.]+@',
      '(?P<n>a)b',
      '(a)\\1',
      'a{2}',
      '\\W+',
      '\\D',
      '\\s+',
      '\\S{3}',
      '[\\d\\s]+',
      '(?<=C-)1',
      '\\x41',
      '\\u00e9',
      'a/b',
      '\\.\\*',
      'x|y',
    ];
    const texts = [
      'C-123 C-٣٤',
      'KUNDEé kunde 7',
      'a\nb a\u2028b axb',
      'the end\n',
      'x1\ny\nx2',
      ']a[ax',
      'é be éb',
      'abab\nb',
      '-# "  a-b.é@',
      'aab/b A.*',
      '',
    ];
    const input = JSON.stringify({ patterns, texts });
    const said = spawnSync(python, ['-c', IN_PYTHON], { input, encoding: 'utf8' });
    const expected = JSON.parse(said.stdout) as string[][];
    patterns.forEach((pattern, index) =>
      assert.deepEqual(
        texts.map((text) => text.replace(maskPattern(pattern)!, '<masked>')),
        expected[index],
        pattern,
      ),
    );
    for (const pattern of ['(', 'a++', '[^\\W]', '(?x)a', 'a{,3}', '(?>a)', '\\N{DIGIT ONE}', '(?P=n)', '\\a'])
      assert.equal(maskPattern(pattern), undefined, pattern);
  });
});
