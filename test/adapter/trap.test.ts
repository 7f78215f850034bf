import assert from 'node:assert/strict';
import { numbersAt } from '../../adapter/targets/native/trap';

describe('Breakpoints at a trap', () => {
  const list = `Current breakpoints:
1: file = '/a/t.c', line = 78, exact_match = 0, locations = 1, resolved = 1, hit count = 1
  1.1: where = t\`main + 57 at t.c:78:9, address = 0x0000555555555472, resolved, hit count = 1
2: address = t[0x00000000000012ee], locations = 1, resolved = 1, hit count = 0
  2.1: where = t\`wander + 4 at t.c:41:14, address = 0x00005555555552EE, hardware, resolved, hit count = 0
3: file = '/a/t.c', line = 41, exact_match = 0, locations = 1, resolved = 0, hit count = 0
  3.1: where = t\`wander + 4 at t.c:41:14, address = 0x00005555555552ee, unresolved, hit count = 0
`;

  it('are those that are in the program at its address', () => {
    assert.deepEqual(numbersAt(list, '0x5555555552EE'), [2]);
    assert.deepEqual(numbersAt(list, '0x555555555472'), [1]);
    assert.deepEqual(numbersAt(list, '0x555555555473'), []);
  });

  it('are none where the address is none, or lldb said nothing', () => {
    assert.deepEqual(numbersAt(list, 'wander+4'), []);
    assert.deepEqual(numbersAt('', '0x555555555472'), []);
  });
});
