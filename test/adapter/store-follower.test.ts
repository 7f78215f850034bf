import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Follower, type Item } from '../../adapter/store/spool/follower';
import { SpoolFile, dict } from '../support/spool';

const CLOSED = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** A segment of calls that begin at these times, closed or not. */
function segment(folder: string, number: number, times: readonly number[], closed: boolean): void {
  const file = new SpoolFile('4000001-abc', number);
  for (const time of times) file.add(3, time, 0, 1, 1, time, dict({ time }), null);
  if (closed) file.raw(CLOSED);
  file.write(folder, closed ? 0 : 4096);
}

describe('store: the follower', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'toolbreak-test-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  // The first one takes several reads, while the frames of the second wait; both orders of their last frames, and of who is closed.
  for (const late of [1_000_000, 4_000])
    for (const [first, second] of [
      [true, true],
      [false, true],
      [true, false],
      [false, false],
    ] as const)
      it(`gives on all frames in their order: closed ${first} and ${second}, the second at ${late}`, () => {
        const long = Array.from({ length: 6000 }, (_, index) => 2000 + index);
        const short = [late, late + 1, late + 2];
        segment(folder, 1, long, first);
        segment(folder, 2, short, second);
        const host = { offset: () => 0, ready: () => true, dead: () => false, damaged: assert.fail };
        const follower = new Follower(folder, host);
        const items: Item[] = [];
        let more = true;
        for (let passes = 0; more && passes < 100; passes++) {
          const pass = follower.pass();
          items.push(...pass.items);
          more = pass.more;
        }
        assert.equal(more, false, 'there is no end');
        const times = items.map(({ time }) => time);
        const expected = [1000, 1000, ...long, ...short].sort((one, other) => one - other);
        assert.deepEqual(times, expected);
        assert.equal(follower.finished().length, Number(first) + Number(second));
        follower.close();
      });
});
