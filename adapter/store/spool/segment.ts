import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { SPOOL_MAGIC } from '../../../protocol/spool';
import { messageOf, UserError } from '../../common/errors';

const HEADER = 8;
/** A quiet segment is asked for little; a busy one for more with each read. */
const SMALLEST_READ = 4 * 1024;
const LARGEST_READ = 1024 * 1024;
/** No value is allowed to be so large that a frame would be; what claims to be is not loaded into memory, but passed over. */
const LARGEST_FRAME = 512 * 1024 * 1024;
/** Bytes that are looked through for the frame behind a damaged one, and of what is checked meanwhile. */
const LARGEST_SEARCH = 64 * 1024 * 1024;
const MAGIC = Buffer.from(SPOOL_MAGIC, 'latin1');

/** What the last read came upon. `more`: read again. `waiting`: nothing more yet. `unsettled`: bytes that do not fit yet, or never will. `closed`: its writer said that nothing will follow. */
export type Tail = 'more' | 'waiting' | 'unsettled' | 'closed';

const CLOSED = 0xffffffff;
const WORD = 4;

/** A frame's payload is what lies in `bytes` from one place up to another; the next frame starts at `end` of the file. */
export type EachFrame = (bytes: Buffer, from: number, to: number, end: number) => void;

/**
 * Reads the frames of one spool file, as far as they are committed. A frame whose length is there is whole, since the length is written
 * last; a checksum that does not fit means "look again" while the writer lives.
 */
export class SegmentReader {
  private fd: number | undefined;
  private window: Buffer = Buffer.alloc(0);
  /** The same memory, four bytes at once, as far as there are four. */
  private words: Int32Array = new Int32Array(0);
  private filled = 0;
  /** Where the next frame starts in the window. */
  private at = 0;
  /** Somebody still looks at frames in the window. */
  private lent = false;
  /** There may be more in the file than the window took. */
  private full = false;
  private readSize = SMALLEST_READ;
  private ended = false;
  tail: Tail = 'more';
  /** Frames given up, because their process is dead and they are damaged. */
  damaged = 0;

  constructor(
    readonly path: string,
    /** Where the next frame starts; 0 before the magic was seen. */
    public offset: number,
  ) {}

  /**
   * Tells frames in order, at most `limit` of them. `dead`: nobody writes any more, so what does not fit is
   * damaged, and reading goes on behind it where a whole frame follows. Throws a `UserError` that names the file when it cannot be read.
   */
  read(limit: number, dead: boolean, each: EachFrame): void {
    try {
      this.frames(limit, dead, each);
    } catch (error) {
      throw new UserError(`The spool file ${this.path} cannot be read: ${messageOf(error)}.`);
    }
  }

  private frames(limit: number, dead: boolean, each: EachFrame): void {
    this.tail = 'waiting';
    if (this.ended || !this.start(dead)) return;
    // Frames that were whole when the window was read still are; whatever else is there may have changed, and is read again.
    let fresh = false;
    let count = 0;
    for (;;) {
      if (count >= limit) {
        this.tail = 'more';
        return;
      }
      if (!fresh && !this.holdsFrame()) {
        // What was told just now is looked at before the window is used again.
        if (count > 0) {
          this.tail = 'more';
          return;
        }
        this.loadNext();
        fresh = true;
      }
      const { at } = this;
      const left = this.filled - at;
      if (left < HEADER && this.full) {
        this.tail = 'more';
        return;
      }
      // A writer that maps no files writes the word that closes a segment, and nothing behind it.
      const length = left < WORD ? 0 : this.window.readUInt32LE(at);
      if (length === CLOSED) {
        this.tail = 'closed';
        return;
      }
      if (length === 0 || left < HEADER) return;
      if (left < HEADER + length) {
        if (HEADER + length > fstatSync(this.fd!).size - this.offset) return this.torn(dead);
        if (at > 0) {
          this.tail = 'more';
          return;
        }
        if (length > LARGEST_FRAME) {
          this.damaged++;
          this.passed(wholeSize(length));
          this.tail = 'more';
          return;
        }
        this.load(HEADER + length);
        if (this.filled < HEADER + length) return;
      }
      const from = at + HEADER;
      const to = from + length;
      const whole = wholeSize(length);
      if (checksum(this.window, this.words, from, to) === this.window.readUInt32LE(at + 4)) {
        count++;
        this.passed(whole);
        this.lent = true;
        each(this.window, from, to, this.offset);
      } else if (!fresh) {
        this.loadNext();
        fresh = true;
      } else if (dead && this.wholeFrameAt(this.offset + whole)) {
        this.damaged++;
        this.passed(whole);
      } else return this.torn(dead);
    }
  }

  private passed(whole: number): void {
    this.offset += whole;
    this.at += whole;
  }

  /** Whether the window has a frame to its end, as far as its length tells, or the word that closes the segment. */
  private holdsFrame(): boolean {
    const left = this.filled - this.at;
    if (left < HEADER) return false;
    const length = this.window.readUInt32LE(this.at);
    return length > 0 && (left >= HEADER + length || length === CLOSED);
  }

  /** Nobody looks at frames any more that were told so far. */
  release(): void {
    this.lent = false;
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    this.fd = undefined;
    this.window = Buffer.alloc(0);
    this.words = new Int32Array(0);
    this.filled = this.at = 0;
    this.lent = false;
  }

  private start(dead: boolean): boolean {
    try {
      this.fd ??= openSync(this.path, 'r');
    } catch (error) {
      if (this.offset > 0 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // Its writer had no room for it and took it away again: nothing was in it, and nothing will be.
      this.tail = 'closed';
      return false;
    }
    if (this.offset > 0) return true;
    const magic = Buffer.alloc(MAGIC.length);
    const count = readSync(this.fd, magic, 0, magic.length, 0);
    if (count === MAGIC.length && magic.equals(MAGIC)) {
      this.offset = MAGIC.length;
      return true;
    }
    if (magic.some((byte) => byte !== 0)) this.unsettled(dead);
    return false;
  }

  private loadNext(): void {
    this.load(this.readSize);
    this.full = this.filled >= this.readSize;
    this.readSize = this.full ? Math.min(this.readSize * 2, LARGEST_READ) : SMALLEST_READ;
  }

  /** Reads `size` bytes from the next frame on, fewer at the end of the file. */
  private load(size: number): void {
    // Frames given out point into the window. A new one is memory that the system clears first.
    if (this.lent || this.window.length !== size) {
      this.window = Buffer.allocUnsafeSlow(size);
      this.words = new Int32Array(this.window.buffer, 0, size >> 2);
    }
    this.lent = false;
    this.filled = this.at = 0;
    while (this.filled < size) {
      const count = readSync(this.fd!, this.window, this.filled, size - this.filled, this.offset + this.filled);
      if (count === 0) break;
      this.filled += count;
    }
  }

  /** What stands here is no frame. Where nobody writes any more, a header may be damaged: reading goes on at the next whole frame. */
  private torn(dead: boolean): void {
    const next = dead ? this.nextFrame() : undefined;
    if (next === undefined) return this.unsettled(dead);
    this.damaged++;
    this.offset = next;
    this.filled = this.at = 0;
    this.tail = 'more';
  }

  private nextFrame(): number | undefined {
    const rest = Buffer.alloc(Math.min(fstatSync(this.fd!).size - this.offset, LARGEST_SEARCH));
    const there = rest.subarray(0, readSync(this.fd!, rest, 0, rest.length, this.offset));
    let left = LARGEST_SEARCH;
    for (let at = WORD; at + HEADER < there.length && left > 0; at += WORD) {
      const length = there.readUInt32LE(at);
      const end = at + HEADER + length;
      if (length === 0 || length > LARGEST_FRAME || end > there.length) continue;
      left -= length;
      if (crc32(there.subarray(at + HEADER, end)) === there.readUInt32LE(at + 4)) return this.offset + at;
    }
    return undefined;
  }

  private unsettled(dead: boolean): void {
    this.tail = dead ? 'waiting' : 'unsettled';
    if (!dead) return;
    this.damaged++;
    this.ended = true;
  }

  private wholeFrameAt(offset: number): boolean {
    const size = fstatSync(this.fd!).size;
    if (offset + HEADER > size) return false;
    const header = Buffer.alloc(HEADER);
    readSync(this.fd!, header, 0, HEADER, offset);
    const length = header.readUInt32LE(0);
    if (length === 0 || length > LARGEST_FRAME || offset + HEADER + length > size) return false;
    const payload = Buffer.alloc(length);
    readSync(this.fd!, payload, 0, length, offset + HEADER);
    return crc32(payload) === header.readUInt32LE(4);
  }
}

/** Up to here a loop is quicker than a call into native code. It takes words as a spool file has them. */
const SHORT = endianness() === 'LE' ? 240 : 0;
type Table = Int32Array;
/** What a byte does to the checksum that stands 0 to 7 bytes before the end of eight. */
const TABLES = [0, 1, 2, 3, 4, 5, 6, 7].map((after) =>
  new Int32Array(256).map((_, index) => {
    let value = index;
    for (let bit = 0; bit < 8 * (after + 1); bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  }),
) as unknown as readonly [Table, Table, Table, Table, Table, Table, Table, Table];

/** CRC-32 of the bytes from one place up to another, a multiple of four. `words`: the same bytes, four at once. */
function checksum(bytes: Buffer, words: Int32Array, from: number, to: number): number {
  if (to - from > SHORT) return crc32(bytes.subarray(from, to));
  const [last, seventh, sixth, fifth, fourth, third, second, first] = TABLES;
  let value = -1;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    value ^= words[at >> 2]!;
    const next = words[(at >> 2) + 1]!;
    value =
      first[value & 0xff]! ^
      second[(value >>> 8) & 0xff]! ^
      third[(value >>> 16) & 0xff]! ^
      fourth[value >>> 24]! ^
      fifth[next & 0xff]! ^
      sixth[(next >>> 8) & 0xff]! ^
      seventh[(next >>> 16) & 0xff]! ^
      last[next >>> 24]!;
  }
  for (; at < to; at++) value = last[(value ^ bytes[at]!) & 0xff]! ^ (value >>> 8);
  return (value ^ -1) >>> 0;
}

/** With header and padding; lengths go beyond what JavaScript's bit operators take. */
function wholeSize(length: number): number {
  return HEADER + Math.ceil(length / 4) * 4;
}
