import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesOf, shownName } from '../../adapter/store/functionName';

describe('store: what a function is called', () => {
  it('is as the Python runtime has it', () => {
    const path = join(__dirname, '../../fixtures/shown_names.json');
    const cases = JSON.parse(readFileSync(path, 'utf8')) as [string, string, string, string, string][];
    for (const [kind, name, qualified, module, shown] of cases)
      assert.equal(shownName({ kind, name, qualified, module }), shown, qualified);
    assert.equal(shownName({ kind: 'function', name: 'run', qualified: null, module: '' }), 'run');
  });

  it('finds it by every one of its names', () => {
    assert.deepEqual(namesOf({ kind: 'function', name: 'run', qualified: 'make.<locals>.Agent.run', module: 'shop' }), [
      'run',
      'Agent.run',
      'make.<locals>.Agent.run',
      'function:run',
      'function:Agent.run',
    ]);
    assert.deepEqual(namesOf({ kind: 'tool', name: 'find', qualified: 'Shop.find', module: 'shop' }), [
      'find',
      'Shop.find',
      'tool:find',
      'tool:Shop.find',
    ]);
    assert.deepEqual(namesOf({ kind: 'tool', name: 'find', qualified: 'find', module: '' }), ['find', 'tool:find']);
  });
});
