import { FrameKind } from '../../../protocol/spool';
import { DecodeError } from '../values/model';
import type { Segment } from './follower';
import { parseFrame } from './frames';
import type { MarshalReader } from './marshal';
import { SegmentReader } from './segment';

const FRAMES_AT_ONCE = 4096;

/**
 * For a segment that somebody else read in part: takes up what its earlier frames keep for later ones. Those values are in the run file
 * already, where equal content has one row.
 */
export function keepEarlier(segment: Segment, take: (reader: MarshalReader) => void): void {
  const { began } = segment;
  segment.began = 0;
  const reader = new SegmentReader(segment.reader.path, 0);
  try {
    for (;;) {
      const payloads: Buffer[] = [];
      reader.read(FRAMES_AT_ONCE, true, (bytes, from, to, end) => {
        const payload = bytes.subarray(from, to);
        if (end <= began && payload.includes('keep')) payloads.push(payload);
      });
      for (const payload of payloads) keepIn(payload, segment, take);
      if (reader.tail !== 'more' || reader.offset >= began) return;
    }
  } finally {
    reader.close();
  }
}

function keepIn(payload: Buffer, segment: Segment, take: (reader: MarshalReader) => void): void {
  try {
    const frame = parseFrame(payload, segment.kept);
    if (frame?.kind === FrameKind.Start || frame?.kind === FrameKind.End || frame?.kind === FrameKind.State)
      take(frame.reader);
  } catch (error) {
    // Whoever read it first said so.
    if (!(error instanceof DecodeError)) throw error;
  }
}
