import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Follower } from '../../adapter/store/spool/follower';
import { parseFrame, type Frame } from '../../adapter/store/spool/frames';
import { SegmentReader } from '../../adapter/store/spool/segment';
import { Sink } from '../../adapter/store/values/canonical';
import { DecodeError } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';

const CLOSED = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** A segment of calls that begin at these times, closed or not. */
function segment(folder: string, number: number, times: readonly number[], closed: boolean): void {
  const file = new SpoolFile('4000001-abc', number);
  for (const time of times) file.add(3, time, 0, 1, 1, time, dict({ time }), null);
  if (closed) file.raw(CLOSED);
  file.write(folder, closed ? 0 : 4096);
}

function timeOf(frame: Frame | undefined): number {
  assert.ok(frame !== undefined && 'time' in frame);
  return frame.time;
}

interface Seen {
  head: unknown;
  values: string;
  end: number;
}

/** All that is told of a frame, with its values as they are stored. */
function seenIn(frame: Frame | undefined, end: number): Seen {
  if (frame === undefined || !('reader' in frame)) return { head: frame, values: '', end };
  const { reader, ...head } = frame;
  const sink = new Sink();
  while (!reader.atEnd) reader.transcode(sink, (bytes) => Buffer.from(bytes));
  return { head, values: sink.bytes.toString('hex', 0, sink.length), end };
}

/** The frames of a file, one by one. */
function framesOf(path: string): Seen[] {
  const reader = new SegmentReader(path, 0);
  const seen: Seen[] = [];
  do {
    reader.read(100_000, false, (bytes, from, to, end) => {
      let frame: Frame | undefined;
      try {
        frame = parseFrame(bytes, new Map(), from, to);
      } catch (error) {
        assert.ok(error instanceof DecodeError);
      }
      seen.push(seenIn(frame, end));
    });
  } while (reader.tail === 'more');
  reader.close();
  return seen;
}

function addFrame(file: SpoolFile, kind: string, time: number, number: number): void {
  const values = dict({ number, text: 'x'.repeat(number % 300) });
  if (kind === 'start') file.add(3, number + 1, null, 2 ** 32 - 1, 1, time, values, null);
  else if (kind === 'end') file.add(4, number + 1, time, 300, values, values);
  else if (kind === 'state') file.add(5, number + 1, time, 'before', values);
  else if (kind === 'event') file.add(6, time, 'log', 0, values);
  else if (kind === 'task') file.add(2, number + 1, 'a task', 0);
  else if (kind === 'later') file.add(99, time);
  else file.add(3, number + 1);
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
        const times: number[] = [];
        let more = true;
        for (let passes = 0; more && passes < 100; passes++) {
          more = follower.pass(({ frame }) => void times.push(timeOf(frame))).more;
        }
        assert.equal(more, false, 'there is no end');
        const expected = [1000, 1000, ...long, ...short].sort((one, other) => one - other);
        assert.deepEqual(times, expected);
        assert.equal(follower.finished().length, Number(first) + Number(second));
        follower.close();
      });

  it('gives on every frame as it was written, and those of all segments in the order of their times', () => {
    /** Frames with times close to one another, so that many are equal, and some that are none. */
    const anyFrame = fc.tuple(fc.constantFrom('start', 'end', 'state', 'event', 'task', 'later', 'none'), fc.nat(40));
    const property = fc.property(
      fc.array(fc.tuple(fc.array(anyFrame, { maxLength: 300 }), fc.boolean()), { minLength: 1, maxLength: 6 }),
      (segments) => {
        const inner = mkdtempSync(join(folder, 'run-'));
        const expected = new Map<string, Seen[]>();
        segments.forEach(([frames, closed], index) => {
          const file = new SpoolFile('4000001-abc', index + 1);
          frames.forEach(([kind, late], number) => addFrame(file, kind, 1000 + number + late, number));
          if (closed) file.raw(CLOSED);
          expected.set(`4000001-abc-${index + 1}.spool`, framesOf(file.write(inner, closed ? 0 : 64)));
        });
        const damaged = segments.flatMap(([frames]) => frames.filter(([kind]) => kind === 'none')).length;
        let said = 0;
        const host = { offset: () => 0, ready: () => true, dead: () => false, damaged: () => said++ };
        const follower = new Follower(inner, host);
        const found = new Map<string, Seen[]>([...expected.keys()].map((file) => [file, []]));
        let latest = -Infinity;
        const times = new Map<string, number>();
        let more = true;
        for (let passes = 0; more && passes < 100; passes++) {
          const seen: number[] = [];
          const pass = follower.pass(({ segment: { file }, frame, end }) => {
            const time = Math.max(
              times.get(file) ?? -Infinity,
              frame !== undefined && 'time' in frame ? frame.time : -Infinity,
            );
            times.set(file, time);
            assert.ok(time >= latest, 'a frame comes too late');
            latest = time;
            found.get(file)!.push(seenIn(frame, end));
            seen.push(time);
          });
          assert.equal(pass.read, seen.length);
          more = pass.more;
        }
        follower.close();
        assert.equal(more, false, 'there is no end');
        assert.equal(said, damaged);
        assert.deepEqual(found, expected);
      },
    );
    fc.assert(property, { numRuns: 60 });
  });
});
