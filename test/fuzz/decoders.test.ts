import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseFrame } from '../../adapter/store/spool/frames';
import { decodeMarshal, type Kept } from '../../adapter/store/spool/marshal';
import { SegmentReader } from '../../adapter/store/spool/segment';
import { Sink, decodeCanonical } from '../../adapter/store/values/canonical';
import { DecodeError } from '../../adapter/store/values/model';
import { frames, spools, values } from './inputs';
import { mutate, tries } from './mutate';
import { Shelf } from './runs';

/** Only the decoder's own error may come out. */
function harmless(work: () => void): void {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof DecodeError, error instanceof Error ? error.stack : String(error));
  }
}

const share = (part: Buffer): Buffer => createHash('sha256').update(part).digest();

/** What is made of a frame: canonical bytes of its values, or the sentence that refuses it. */
function outcome(bytes: Buffer, kept: Kept, from: number, to: number): string {
  const said: string[] = [];
  try {
    const parsed = parseFrame(bytes, kept, from, to);
    if (parsed === undefined || !('reader' in parsed)) return 'nothing';
    for (let part = 0; part < 2 && !parsed.reader.atEnd; part++) {
      const sink = new Sink();
      parsed.reader.transcode(sink, share);
      const made = Buffer.from(sink.bytes.subarray(0, sink.length));
      // What the store writes it can read.
      decodeCanonical(made);
      said.push(made.toString('latin1'));
    }
  } catch (error) {
    assert.ok(error instanceof DecodeError, error instanceof Error ? error.stack : String(error));
    said.push(error.message);
  }
  return said.join('\n');
}

/** All that is made of a frame; its neighbours in the file make no difference, whatever they are. */
function readFrame(payload: Buffer, kept: Kept): void {
  harmless(() => decodeMarshal(payload));
  const alone = outcome(payload, new Map(kept), 0, payload.length);
  for (const neighbour of ['0', 'N', '(', '\xff']) {
    const beside = Buffer.alloc(64, neighbour, 'latin1');
    const all = Buffer.concat([beside, payload, beside]);
    assert.equal(outcome(all, new Map(kept), beside.length, beside.length + payload.length), alone);
  }
  outcome(payload, kept, 0, payload.length);
}

describe('fuzz: decoders', function () {
  this.timeout(600_000);
  let shelf: Shelf;
  before(() => (shelf = new Shelf()));
  after(() => shelf.remove());

  it('of values', async () => {
    for (const bytes of Object.values(values)) harmless(() => decodeCanonical(bytes));
    await tries(4_000, (chance, about) => {
      const { bytes } = mutate(chance.one(Object.values(values)), chance);
      about(bytes);
      harmless(() => decodeCanonical(bytes));
    });
  });

  it('of frames', async () => {
    for (const payload of Object.values(frames)) readFrame(payload, new Map());
    await tries(4_000, (chance, about) => {
      const kept: Kept = new Map();
      readFrame(frames['state-that-keeps']!, kept);
      const { bytes } = mutate(chance.one(Object.values(frames)), chance);
      about(bytes);
      readFrame(bytes, kept);
    });
  });

  /** Ends of the frames, in order; ends in any case. */
  function frameEnds(path: string, dead: boolean): number[] {
    const reader = new SegmentReader(path, 0);
    const kept: Kept = new Map();
    const ends: number[] = [];
    try {
      do {
        const before = reader.offset;
        reader.read(7, dead, (bytes, from, to, end) => {
          outcome(bytes, kept, from, to);
          ends.push(end);
        });
        assert.ok(reader.tail !== 'more' || reader.offset > before, 'it reads the same for ever');
      } while (reader.tail === 'more');
    } finally {
      reader.close();
    }
    return ends;
  }

  it('of segments: all before the first change is read, while the writer lives and when it is dead', async () => {
    const path = join(shelf.folder, '10-a-1.spool');
    const whole = new Map<Buffer, number[]>();
    for (const bytes of Object.values(spools)) {
      writeFileSync(path, bytes);
      assert.deepEqual(frameEnds(path, false), frameEnds(path, false));
      whole.set(bytes, frameEnds(path, true));
    }
    await tries(800, (chance, about) => {
      const given = chance.one(Object.values(spools));
      const { bytes, first } = mutate(given, chance);
      about(bytes);
      writeFileSync(path, bytes);
      for (const dead of [false, true]) {
        const expected = whole.get(given)!.filter((end) => end <= first);
        assert.deepEqual(frameEnds(path, dead).slice(0, expected.length), expected);
      }
    });
  });
});
