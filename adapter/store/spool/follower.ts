import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DecodeError } from '../values/model';
import { readFrame, usualFrames, type Frame } from './frames';
import { MarshalReader, type Kept } from './marshal';
import { SegmentReader } from './segment';
import { WaitingFrames } from './waiting';

/** Its process, and its number there, from 1 on. */
export const SPOOL_NAME = /^(.+)-(\d{1,9})\.spool$/;

const FRAMES_AT_ONCE = 4096;
/** More open files than this are closed again after each read. */
const OPEN_FILES = 200;

export interface Segment {
  /** File name in the spool folder. */
  file: string;
  process: string;
  /** Number of the segment in its process. */
  number: number;
  reader: SegmentReader;
  kept: Kept;
  /** Where reading began, until `kept` has what stands before that; then 0. */
  began: number;
  /** Its writer closed it, and everything in it was read. */
  done: boolean;
  /** Time of the last frame read, never falling: what orders frames of different segments. */
  time: number;
  waiting: WaitingFrames;
}

/** A frame in its place. `frame` is absent for what could not be read, or is of a later version. */
export interface Item {
  segment: Segment;
  frame: Frame | undefined;
  /** Offset behind it. */
  end: number;
}

export interface FollowerHost {
  /** Where reading goes on, for a segment that was read in part before. */
  offset(file: string): number;
  /** False while frames of this process cannot be taken yet; asked again with the next pass. */
  ready(process: string): boolean;
  dead(process: string): boolean;
  /** Bytes with a right checksum that are no frame, or frames of a damaged file. */
  damaged(segment: Segment, reason: string): void;
}

export interface Pass {
  /** Frames given on. */
  read: number;
  /** There is more to read now. */
  more: boolean;
  /** Every segment was read to its end; with the next such pass, all that was written by now was given on. */
  caughtUp: boolean;
  /** Processes that were not ready. */
  blocked: string[];
}

/**
 * Follows all spool files of a folder. One `pass` reads what is there; nobody's timer lives here.
 *
 * Threads write segments of their own, so a call's frames may come from several. To give them on in the order in which they happened,
 * every segment is read twice a pass: whatever precedes a frame of the first round was written before the second round began. What
 * is younger than the first round, or than the end of a segment with more to read, waits for the next pass.
 */
export class Follower {
  private readonly segments = new Map<string, Segment>();
  private readonly damage = new Map<string, number>();
  private readonly reader = new MarshalReader(Buffer.alloc(0));
  private readonly usual = usualFrames(this.reader);

  constructor(
    private readonly folder: string,
    private readonly host: FollowerHost,
  ) {}

  /**
   * Gives on frames of all segments in the order of their times; within a segment in the order in which they were written. An item, its frame
   * and its reader are good until the next is given.
   */
  pass(take: (item: Item) => void): Pass {
    this.discover();
    const blocked = new Set<string>();
    const active: Segment[] = [];
    for (const segment of this.segments.values()) {
      if (segment.done) continue;
      if (this.host.ready(segment.process)) active.push(segment);
      else blocked.add(segment.process);
    }
    // Those that wait may be of segments that were read to their end.
    let latest = -Infinity;
    for (const { waiting } of this.segments.values()) latest = Math.max(latest, waiting.latest);
    const idle = active.filter(({ waiting }) => waiting.isEmpty);
    for (const segment of idle) this.read(segment);
    let watermark = active.reduce((time, segment) => Math.max(time, segment.time), latest);
    if (active.length > 1) for (const segment of active) if (segment.reader.tail !== 'more') this.read(segment);
    for (const segment of active) if (segment.reader.tail === 'more') watermark = Math.min(watermark, segment.time);
    for (const segment of active) if (segment.reader.tail === 'closed') this.finish(segment);
    if (this.segments.size > OPEN_FILES) for (const segment of active) segment.reader.close();
    const caughtUp = active.every((segment) => segment.reader.tail !== 'more');
    const read = this.give(watermark, take);
    const more = this.waiting().length > 0 || !caughtUp;
    return { read, more, caughtUp, blocked: [...blocked] };
  }

  private waiting(): Segment[] {
    return [...this.segments.values()].filter(({ waiting }) => !waiting.isEmpty);
  }

  /** Gives on what is not later than this, and answers how much that is. */
  private give(watermark: number, take: (item: Item) => void): number {
    const segments = this.waiting();
    const times = Float64Array.from(segments, ({ waiting }) => waiting.time);
    let count = 0;
    for (;;) {
      // One segment mostly has many frames before the next one's. Of equal times those of the earlier segment are first.
      let first = -1;
      let [earliest, before, behind] = [Infinity, Infinity, Infinity];
      for (let index = 0; index < times.length; index++) {
        const time = times[index]!;
        if (time < earliest) {
          [before, behind] = [Math.min(before, earliest, behind), Infinity];
          [first, earliest] = [index, time];
        } else if (time < behind) behind = time;
      }
      if (first < 0 || earliest > watermark) break;
      const until = Math.min(behind, watermark);
      const segment = segments[first]!;
      const { waiting } = segment;
      const item: Item = { segment, frame: undefined, end: 0 };
      let time = earliest;
      do {
        const { frame, end } = waiting.take(this.usual, this.reader, segment.kept);
        item.frame = frame;
        item.end = end;
        take(item);
        count++;
        time = waiting.time;
      } while (time < before && time <= until);
      times[first] = time;
    }
    for (const { waiting, reader } of segments) {
      if (!waiting.isEmpty) continue;
      waiting.clear(reader.tail !== 'more');
      reader.release();
    }
    return count;
  }

  /** Files of segments that are complete and given on. */
  finished(): string[] {
    return [...this.segments.values()]
      .filter((segment) => segment.done && segment.waiting.isEmpty)
      .map((segment) => segment.file);
  }

  /** The file is gone. */
  forget(file: string): void {
    this.segments.delete(file);
    this.damage.delete(file);
  }

  close(): void {
    for (const segment of this.segments.values()) segment.reader.close();
    this.segments.clear();
  }

  private discover(): void {
    let names: string[];
    try {
      names = readdirSync(this.folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const fresh = names
      .filter((name) => name.endsWith('.spool') && !this.segments.has(name))
      .map((file) => ({ file, match: SPOOL_NAME.exec(file) }))
      .filter((entry) => entry.match !== null)
      .filter(({ file }) => lstatSync(join(this.folder, file), { throwIfNoEntry: false })?.isFile() === true)
      .map(({ file, match }) => ({ file, process: match![1]!, number: Number(match![2]) }))
      .sort((one, other) => one.number - other.number);
    for (const { file, process, number } of fresh) {
      const began = this.host.offset(file);
      const reader = new SegmentReader(join(this.folder, file), began);
      const waiting = new WaitingFrames();
      const state = { began, done: false, time: -Infinity, waiting };
      this.segments.set(file, { file, process, number, reader, kept: new Map(), ...state });
    }
  }

  private read(segment: Segment): void {
    const { waiting } = segment;
    segment.reader.read(FRAMES_AT_ONCE, this.host.dead(segment.process), (bytes, from, to, end) => {
      const frame = this.parse(segment, bytes, from, to);
      if (frame !== undefined && 'time' in frame && frame.time > segment.time) segment.time = frame.time;
      waiting.add(frame, segment.time, bytes, this.reader.place, to, end);
    });
    if (segment.reader.damaged > (this.damage.get(segment.file) ?? 0)) {
      this.damage.set(segment.file, segment.reader.damaged);
      this.host.damaged(segment, 'a checksum does not fit');
    }
  }

  private parse(segment: Segment, bytes: Buffer, from: number, to: number): Frame | undefined {
    try {
      this.reader.turnTo(bytes, segment.kept, from, to);
      return readFrame(this.reader, this.usual);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      this.host.damaged(segment, error.message);
      return undefined;
    }
  }

  private finish(segment: Segment): void {
    segment.done = true;
    segment.reader.close();
  }
}
