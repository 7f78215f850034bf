import { closeSync, ftruncateSync, openSync, readdirSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Bytes } from './bytes.mjs';
import { MAX_VALUE_BYTES } from './limits.mjs';
import { isOutOfStack } from './report.mjs';

/**
 * Spool files, as `protocol/spool.ts` describes them. Node maps no files, so frames are gathered in memory and written once in a turn of the event
 * loop: when it ends, when there is much, and when the turn takes long.
 */

const MAGIC = 'TBSPOOL1';
const SEGMENT_BYTES = 64 * 1024 * 1024;
/** As much as this is written without waiting for the turn's end. */
const FULL = 1024 * 1024;
/** A value at most, what it may take beyond its limit, and marks in front of all that contains it and in place of what has no room; a multiple of 4. */
const LARGEST_FRAME = 4 * Math.ceil(Math.max(MAX_VALUE_BYTES, 65_536) / 2);
const CLOSED = Buffer.from([0xff, 0xff, 0xff, 0xff]);
/** Nanoseconds after which a turn's frames are written although it goes on. */
const LONG_TURN = 50e6;

// Tests put others in their place.
const immediately = setImmediate;
const soon = setTimeout;
const never = clearTimeout;

export class Spool {
  /**
   * @param {string} folder
   * @param {string} process names the files
   * @param {number} limit bytes of files of this process that may lie on the disk at a time
   * @param {(bytes: Bytes) => void} header writes the payload of a segment's first frame
   * @param {(bytes: Bytes, reason: string) => void} mark writes the payload of the last frame of a recording that ends early
   * @param {(reason: string) => void} ended told once, when nothing can be recorded any more
   */
  constructor(folder, process, limit, header, mark, ended) {
    this.folder = folder;
    this.process = process;
    this.limit = limit;
    this.header = header;
    this.mark = mark;
    /** @private */ this.full = Math.min(FULL, limit / 8);
    this.ended = ended;
    this.bytes = new Bytes(FULL + LARGEST_FRAME);
    this.open = true;
    /** The process ends: nobody will write later. */
    this.last = false;
    /** Where the next frame begins, behind those that are whole. @private */
    this.frame = 0;
    /** @private */ this.number = 0;
    /** @private */ this.total = 0;
    /** @private */ this.size = 0;
    /** @private */ this.scheduled = false;
    /** @private @type {NodeJS.Immediate | undefined} */ this.immediate = undefined;
    /** @private @type {NodeJS.Timeout | undefined} */ this.timer = undefined;
    /** @private */ this.since = 0;
    /** @private */ this.turn = () => {
      never(this.timer);
      this.scheduled = false;
      this.flush();
    };
    this.file = -1;
    this.openSegment();
  }

  /** The frame's payload is what is written into the bytes that this answers. One that was begun and not committed is forgotten. */
  begin() {
    const { bytes } = this;
    bytes.at = this.frame + 8;
    return bytes;
  }

  /** @param {number} time in nanoseconds, of the frame */
  commit(time) {
    const { bytes, frame } = this;
    this.finishFrame();
    if (frame === 0) this.since = time;
    if (this.last || this.frame > this.full || time - this.since > LONG_TURN) this.flush();
    else if (!this.scheduled) this.schedule();
  }

  /** @private */
  schedule() {
    this.immediate = immediately(this.turn);
    // For a loop that has nothing to do but to wait, which is no reason to go on for the first one.
    this.timer = soon(this.turn, 1);
    if (process.listenerCount('beforeExit') > 0) this.waitForNothing();
    // Last: where the app has no stack left, any of these fails.
    this.scheduled = true;
  }

  /** A loop that goes on for us alone would have timers of the app fire that never do: `beforeExit` is to write what is left. */
  waitForNothing() {
    this.immediate?.unref();
    this.timer?.unref();
  }

  /** Length and checksum, and zeros up to a multiple of 4. */
  finishFrame() {
    const { bytes, frame } = this;
    const { at } = bytes;
    bytes.view.setInt32(frame + 4, bytes.checksum(frame + 8), true);
    bytes.view.setInt32(frame, at - frame - 8, true);
    const after = (at + 3) & -4;
    for (let place = at; place < after; place++) bytes.buffer[place] = 0;
    this.frame = after;
  }

  /** Writes what is there. */
  flush() {
    const { bytes, frame: length } = this;
    if (length === 0) return;
    try {
      if (!this.open) return void (this.frame = 0);
      if (this.size + length > SEGMENT_BYTES) {
        const gathered = Buffer.from(bytes.buffer.subarray(0, length));
        this.nextSegment();
        this.write(gathered, gathered.length);
      } else this.write(bytes.buffer, length);
    } catch (error) {
      // Where the app has no stack left there will be another place to write from.
      if (isOutOfStack(error)) return;
      this.stop(`the spool file could not be written (${reasonOf(error)})`);
    }
    this.frame = 0;
  }

  /** @private @param {string} reason */
  stop(reason) {
    this.open = false;
    this.note(reason);
    this.ended(reason);
  }

  /** Why it ended, behind what is there: a little more than may be, and lost where nothing can be written. @private @param {string} reason */
  note(reason) {
    const { bytes, size, file } = this;
    try {
      this.frame = 0;
      this.mark(this.begin(), reason);
      this.finishFrame();
      const { frame: length } = this;
      if (writeSync(file, bytes.buffer, 0, length) < length) ftruncateSync(file, size);
    } catch {
      // What the recording ended of is said in any case.
    }
    this.frame = 0;
  }

  /**
   * All of it or nothing: a part of a frame would hide those after it.
   * @private
   * @param {Uint8Array} buffer
   * @param {number} length
   */
  write(buffer, length) {
    if (this.total + length > this.limit) this.recount();
    if (this.total + length > this.limit)
      return this.stop(`nothing read the recording and it reached ${Math.round(this.limit / 2 ** 20)} MB`);
    let written = 0;
    try {
      while (written < length) written += writeSync(this.file, buffer, written, length - written);
    } catch (error) {
      if (written > 0) ftruncateSync(this.file, this.size);
      throw error;
    }
    this.size += length;
    this.total += length;
  }

  /** @private */
  nextSegment() {
    const { file } = this;
    // Nothing may follow in it, whatever happens now.
    this.file = -1;
    writeSync(file, CLOSED);
    closeSync(file);
    this.openSegment();
  }

  /** @private */
  openSegment() {
    this.number++;
    const path = join(this.folder, `${this.process}-${this.number}.spool`);
    // Readable by the person alone.
    this.file = openSync(path, 'ax', 0o600);
    this.size = 0;
    try {
      const first = Buffer.from(MAGIC, 'latin1');
      this.write(first, first.length);
      this.frame = 0;
      this.header(this.begin());
      this.finishFrame();
      const length = this.frame;
      this.frame = 0;
      this.write(this.bytes.buffer, length);
    } catch (error) {
      closeSync(this.file);
      unlinkSync(path);
      throw error;
    }
  }

  /** What still lies on the disk: a follower deletes what it has read. @private */
  recount() {
    let total = 0;
    for (const name of readdirSync(this.folder)) {
      if (!name.startsWith(`${this.process}-`) || !name.endsWith('.spool')) continue;
      total += statSync(join(this.folder, name), { throwIfNoEntry: false })?.size ?? 0;
    }
    this.total = total;
  }
}

/** @param {unknown} error */
export function reasonOf(error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  if (code === 'ENOSPC') return 'No space left on device';
  return code ?? message;
}
