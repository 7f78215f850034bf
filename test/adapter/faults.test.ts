import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFault, readFault } from '../../adapter/common/faults';

const HEAD = '{"own": "/run/toolbreak", "library": "/usr/lib/python3.11"}\n';
const FAULT = `Fatal Python error: Bus error

Stack (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/usr/lib/python3.11/site-packages/box/read.py", line 7 in <lambda>
  File "/app/k\\xf6\\u20ac\\U0001f600/tools.py", line 12 in read, all
  File "/run/toolbreak/_boundaries.py", line 90 in execute
  File "/app/main.py", line 3 in <module>

Extension modules: numpy (total: 1)
`;

describe("What Python's fault handler writes", () => {
  it('is read: what happened, where, without our own frames', () => {
    assert.deepEqual(parseFault(HEAD + FAULT), {
      text: 'Bus error',
      frames: [
        { name: 'string_at', path: '/usr/lib/python3.11/ctypes/__init__.py', line: 519 },
        { name: '<lambda>', path: '/usr/lib/python3.11/site-packages/box/read.py', line: 7 },
        { name: 'read, all', path: '/app/kö€😀/tools.py', line: 12 },
        { name: '<module>', path: '/app/main.py', line: 3 },
      ],
      place: { name: 'read, all', path: '/app/kö€😀/tools.py', line: 12 },
    });
  });

  it('is nothing while there is no fault, and what is cut short is read as far as it goes', () => {
    assert.equal(parseFault(HEAD), undefined);
    assert.equal(parseFault(''), undefined);
    assert.deepEqual(parseFault('Fatal Python error: Aborted\n\nStack (most rec'), { text: 'Aborted', frames: [] });
    const cut = parseFault(`torn\n${FAULT.slice(0, FAULT.indexOf('line 7'))}`);
    assert.deepEqual(
      cut?.frames.map(({ name }) => name),
      ['string_at'],
    );
  });

  it('is the last of several: what was before was survived', () => {
    const before =
      'Fatal Python error: Aborted\n\nStack (most recent call first):\n  File "/app/a.py", line 1 in a\n\n';
    assert.deepEqual(parseFault(HEAD + before + FAULT), parseFault(HEAD + FAULT));
  });

  it('is read from a file of ours alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'faults-'));
    try {
      writeFileSync(join(folder, '1-a.fault'), HEAD + FAULT);
      symlinkSync(join(folder, '1-a.fault'), join(folder, '2-b.fault'));
      assert.equal(readFault(folder, '1-a')?.text, 'Bus error');
      assert.equal(readFault(folder, '2-b'), undefined);
      assert.equal(readFault(folder, '3-c'), undefined);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
