import assert from 'node:assert/strict';
import { badFunctionPattern } from '../../adapter/common/functionPattern';

describe('patterns of functions to record', () => {
  it('say why they can name none', () => {
    for (const good of ['pkg.*', 'run', '@usercode', '@file:src/*.py'])
      assert.equal(badFunctionPattern(good), undefined);
    assert.equal(badFunctionPattern('  '), 'It is empty.');
    assert.equal(badFunctionPattern(' @usercode'), 'It begins or ends with a space.');
    assert.equal(badFunctionPattern('--'), 'No name of a function begins with "-".');
    assert.equal(badFunctionPattern('@file:'), 'Behind "@file:" there is a path.');
    assert.equal(badFunctionPattern('@user'), 'Behind "@" there is "usercode" or "file:".');
  });
});
