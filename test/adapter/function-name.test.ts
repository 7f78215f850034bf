import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownName } from '../../adapter/store/functionName';

describe('store: what a function is called', () => {
  it('is as the Python runtime has it', () => {
    const path = join(__dirname, '../../fixtures/shown_names.json');
    const cases = JSON.parse(readFileSync(path, 'utf8')) as [string, string, string, string][];
    for (const [kind, name, qualified, shown] of cases) assert.equal(shownName(kind, name, qualified), shown);
    assert.equal(shownName('function', 'run', null), 'run');
  });
});
