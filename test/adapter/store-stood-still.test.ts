import assert from 'node:assert/strict';
import { agentSpool, RecordedProject } from './recorded';
import { rows } from './e2e-support';

describe('A call that stood still in native code', () => {
  let project: RecordedProject;
  beforeEach(() => (project = new RecordedProject()));
  afterEach(() => project.remove());

  it('is held as long as the stop lasted, also where the stop was known before the first of the recording was read', () => {
    const { recording, spool, file } = project.begin('early', []);
    const now = BigInt(Date.now()) * 1_000_000n;
    const data = { native: true, thread: 7, description: 'Paused on breakpoint' };
    recording.write((writer) => {
      writer.sessionEvent('stop', '1.4', data, now);
      writer.sessionEvent('release', '1.4', data, now + 5_000_000n);
      writer.sessionEvent('stop', '1.4', data, now + 9_000_000n);
    });
    agentSpool().write(spool);
    while (recording.pass().more);
    recording.close();
    const [stop, release, again] = rows<{ time: number }>(
      file,
      "SELECT time FROM events WHERE name IN ('stop', 'release') ORDER BY id",
    ).map(({ time }) => time);
    const holds = rows<{ start: number; end: number | null }>(file, 'SELECT start, end FROM holds WHERE hold = -8');
    assert.deepEqual(
      holds.map(({ start, end }) => [start, end]),
      [
        [stop, release],
        [again, null],
      ],
    );
  });
});
