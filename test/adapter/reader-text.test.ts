import assert from 'node:assert/strict';
import { quote } from '../../adapter/store/reader/text';

describe('reader: texts', () => {
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
});
