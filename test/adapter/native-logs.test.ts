import assert from 'node:assert/strict';
import { recordedMessage } from '../../adapter/targets/native/logs';

describe('What is recorded of a native log message', () => {
  const recorded = (written: string): string => recordedMessage(written, 'filled');

  it('is what it says, unless an expression has the name of a secret', () => {
    for (const written of ['at {open}', 'no expression', '\\{password\\}', 'password', '{unclosed password'])
      assert.equal(recorded(written), 'filled', written);
  });

  it('is the message as it was written where one has', () => {
    assert.equal(recorded('as {user->name} with {user->password}'), 'as {user->name} with ***');
    // A backslash that is one itself hides no expression.
    assert.equal(recorded('C:\\\\{api_key}'), 'C:\\\\***');
    assert.equal(recorded('\\{a\\} {token}\\n'), '\\{a\\} ***\\n');
  });
});
