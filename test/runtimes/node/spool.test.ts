import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { FrameKind } from '../../../protocol/spool';
import { Bytes } from '../../../runtimes/node/bytes.mjs';
import { shared } from '../../../runtimes/node/shared.mjs';
import { wrap } from '../../../runtimes/node/wrap.mjs';
import { Recorded } from './support';

const echo = wrap((value: unknown) => value, { name: 'echo' });

describe('node runtime: spool files', () => {
  let recorded: Recorded;
  afterEach(() => {
    shared.recorder = null;
    recorded.close();
  });
  const size = (): number =>
    recorded.files().reduce((sum, file) => sum + statSync(join(recorded.folder, file)).size, 0);

  it('begin with what the process is', () => {
    recorded = new Recorded();
    const [first] = recorded.frames();
    assert.ok(first?.kind === FrameKind.Segment);
    const { version, process: key, pid, parentPid, threadName, wall, time } = first;
    assert.deepEqual([version, key, pid, parentPid, threadName], [2, '1-a', process.pid, process.ppid, 'main']);
    assert.ok(Math.abs(Number(wall / 1_000_000n) - Date.now()) < 60_000);
    assert.ok(Math.abs(Number(process.hrtime.bigint()) - time) < 60e9, 'the clock of the system');
    assert.equal(statSync(join(recorded.folder, recorded.files()[0]!)).mode & 0o777, 0o600);
  });

  it('are written once in a turn of the event loop', async () => {
    recorded = new Recorded();
    shared.recorder = recorded.recorder;
    const before = size();
    echo(1);
    await Promise.resolve();
    echo(2);
    assert.equal(size(), before, 'the turn goes on');
    await turn();
    await turn();
    assert.equal(recorded.calls().length, 2);
    const all = size();
    echo(3);
    recorded.recorder.spool.last = true;
    assert.equal(size(), all);
    echo(4);
    assert.equal(recorded.calls().length, 4, 'and at once when there is no later turn');
  });

  it('are written in a long turn, too, when there is much', () => {
    recorded = new Recorded();
    shared.recorder = recorded.recorder;
    const text = 'x'.repeat(100_000);
    for (let round = 0; round < 30; round++) echo(`${text}${round}`);
    const calls = recorded.calls();
    assert.ok(calls.length >= 20, `${calls.length} calls`);
  });

  it('go on in another file when one is full, and say so', async () => {
    recorded = new Recorded();
    const bytes = Buffer.alloc(1_000_000, 7);
    await recorded.during(() => {
      for (let round = 0; round < 70; round++) echo(bytes);
    });
    assert.deepEqual(recorded.files(), ['1-a-1.spool', '1-a-2.spool', '1-a-3.spool']);
    const first = readFileSync(join(recorded.folder, '1-a-1.spool'));
    assert.equal(first.readUInt32LE(first.length - 4), 0xffffffff);
    const calls = recorded.calls();
    assert.equal(calls.length, 70);
    assert.ok(calls.every(({ status }) => status === 0));
  });

  it('end at their limit with a sentence, and the app goes on', async () => {
    recorded = new Recorded(3_000_000);
    const bytes = Buffer.alloc(500_000);
    await recorded.during(() => {
      for (let round = 0; round < 10; round++) assert.equal(echo(bytes), bytes);
    });
    assert.deepEqual(recorded.reasons, ['nothing read the recording and it reached 3 MB']);
    assert.ok(recorded.calls().length >= 2);
  });

  it('carry the checksum that everybody computes', () => {
    recorded = new Recorded();
    const bytes = new Bytes(64 * 1024);
    for (let length = 0; length < 300; length++) {
      bytes.at = 8;
      for (let index = 0; index < length; index++) bytes.byte((index * 37 + length) & 0xff);
      assert.equal(bytes.checksum(8) >>> 0, crc32(bytes.buffer.subarray(8, 8 + length)));
    }
  });
});
