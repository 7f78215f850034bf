import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ALL, CORPUS } from './inputs';

describe('fuzz: the corpus', () => {
  it('is what the script writes', () => {
    assert.deepEqual(readdirSync(CORPUS).sort(), Object.keys(ALL).sort());
    for (const [folder, inputs] of Object.entries(ALL)) {
      assert.deepEqual(readdirSync(join(CORPUS, folder)).sort(), Object.keys(inputs).sort());
      for (const [name, bytes] of Object.entries(inputs))
        assert.ok(readFileSync(join(CORPUS, folder, name)).equals(bytes), `${folder}/${name}: run test/fuzz/inputs.ts`);
    }
  });
});
