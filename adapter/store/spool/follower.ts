import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DecodeError } from '../values/model';
import { parseFrame, type Frame } from './frames';
import type { Kept } from './marshal';
import { SegmentReader } from './segment';

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
}

/** A frame in its place. `frame` is absent for what could not be read, or is of a later version. */
export interface Item {
  segment: Segment;
  frame: Frame | undefined;
  time: number;
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
  /** Frames of all segments in the order of their times; within a segment in the order in which they were written. */
  items: Item[];
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
  private waiting: Item[] = [];

  constructor(
    private readonly folder: string,
    private readonly host: FollowerHost,
  ) {}

  pass(): Pass {
    this.discover();
    const blocked = new Set<string>();
    const active: Segment[] = [];
    for (const segment of this.segments.values()) {
      if (segment.done) continue;
      if (this.host.ready(segment.process)) active.push(segment);
      else blocked.add(segment.process);
    }
    const behind = new Set(this.waiting.map((item) => item.segment));
    const items = this.waiting;
    // Those that wait may be of segments that were read to their end.
    const latest = items.at(-1)?.time ?? -Infinity;
    for (const segment of active) if (!behind.has(segment)) this.read(segment, items);
    let watermark = active.reduce((time, segment) => Math.max(time, segment.time), latest);
    if (active.length > 1) for (const segment of active) if (segment.reader.tail !== 'more') this.read(segment, items);
    for (const segment of active) if (segment.reader.tail === 'more') watermark = Math.min(watermark, segment.time);
    for (const segment of active) if (segment.reader.tail === 'closed') this.finish(segment);
    if (this.segments.size > OPEN_FILES) for (const segment of active) segment.reader.close();
    if (active.length > 1 || behind.size > 0) items.sort((one, other) => one.time - other.time);
    // In their order, those that wait are the last ones.
    let count = items.length;
    while (count > 0 && items[count - 1]!.time > watermark) count--;
    const ready = count === items.length ? items : items.slice(0, count);
    this.waiting = items.slice(count);
    const caughtUp = active.every((segment) => segment.reader.tail !== 'more');
    return { items: ready, more: this.waiting.length > 0 || !caughtUp, caughtUp, blocked: [...blocked] };
  }

  /** Files of segments that are complete and given on. */
  finished(): string[] {
    const waiting = new Set(this.waiting.map((item) => item.segment));
    return [...this.segments.values()]
      .filter((segment) => segment.done && !waiting.has(segment))
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
    this.waiting = [];
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
      .map((file) => ({ file, match: /^(.+)-(\d{1,9})\.spool$/.exec(file) }))
      .filter((entry) => entry.match !== null)
      .filter(({ file }) => lstatSync(join(this.folder, file), { throwIfNoEntry: false })?.isFile() === true)
      .map(({ file, match }) => ({ file, process: match![1]!, number: Number(match![2]) }))
      .sort((one, other) => one.number - other.number);
    for (const { file, process, number } of fresh) {
      const began = this.host.offset(file);
      const reader = new SegmentReader(join(this.folder, file), began);
      const segment = { file, process, number, reader, kept: new Map(), began, done: false, time: -Infinity };
      this.segments.set(file, segment);
    }
  }

  private read(segment: Segment, items: Item[]): void {
    segment.reader.read(FRAMES_AT_ONCE, this.host.dead(segment.process), (bytes, from, to, end) => {
      const frame = this.parse(segment, bytes, from, to);
      if (frame !== undefined && 'time' in frame && frame.time > segment.time) segment.time = frame.time;
      items.push({ segment, frame, time: segment.time, end });
    });
    if (segment.reader.damaged > (this.damage.get(segment.file) ?? 0)) {
      this.damage.set(segment.file, segment.reader.damaged);
      this.host.damaged(segment, 'a checksum does not fit');
    }
  }

  private parse(segment: Segment, bytes: Buffer, from: number, to: number): Frame | undefined {
    try {
      return parseFrame(bytes, segment.kept, from, to);
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
