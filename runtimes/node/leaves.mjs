import { MAX_CUT_BYTES, MAX_TIME, MAX_VALUE_BYTES } from './limits.mjs';
import { markHead } from './marks.mjs';
import {
  BEYOND,
  maskBinary,
  maskHead,
  maskText,
  mayHoldSecret,
  NOTABLE,
  SHORTEST_SECRET,
  withinEdge,
} from './masking.mjs';

/** Texts, numbers and bytes with their masks, the marks, and what may still be spent on a value. */

const { apply } = Reflect;
const { byteLength } = Buffer;
const utf8 = new TextEncoder();
const now = performance.now.bind(performance);

export const TOO_LARGE = `larger than the limit of ${MAX_VALUE_BYTES} bytes`;
const TOO_LONG = `took longer than ${MAX_TIME} ms to record`;
const LARGEST_BIGINT = 1n << 1048576n;
/** Longer texts are remembered when they are seen to be clean. */
const WORTH_REMEMBERING = 48;
const MOST_REMEMBERED = 4_000_000;
/** Characters of a text for which there is no room. */
const SOME_ANYWAY = 64;
/** Characters of what a mark tells. */
const LONGEST_SHORT = 1000;

const CUT = markHead('cut', 4);
const OPAQUE = markHead('opaque', 3);
const SUBCLASS = markHead('subclass', 2);

export class Leaves {
  /** @param {import('./bytes.mjs').Bytes} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    /** @protected */ this.limit = 0;
    /** @protected */ this.steps = 0;
    /** @protected */ this.late = false;
    /** @private */ this.deadline = 0;
    /** @private @type {Set<string>} */ this.clean = new Set();
    /** @private */ this.cleanSize = 0;
  }

  /** Bytes that are left of the value's limit. */
  get left() {
    return this.limit - this.bytes.at;
  }

  /** @param {string} text */
  text(text) {
    const { bytes } = this;
    const { length } = text;
    if (length < SHORTEST_SECRET) return bytes.text(text);
    if (length < WORTH_REMEMBERING) {
      let notable = 0;
      for (let index = 0; index < length; index++) notable |= NOTABLE[text.charCodeAt(index) & 0x7f];
      if (notable === 0 || !mayHoldSecret(text)) return bytes.text(text);
      return bytes.text(maskText(text));
    }
    if (!this.fits(text)) return this.longText(text);
    if (!this.clean.has(text)) {
      const masked = mayHoldSecret(text) ? maskText(text) : text;
      if (masked !== text) return bytes.text(masked);
      this.cleanSize += length + 100;
      if (this.cleanSize > MOST_REMEMBERED) {
        this.clean.clear();
        this.cleanSize = 0;
      }
      this.clean.add(copyOf(text));
    }
    bytes.text(text);
  }

  /** @private @param {string} text */
  fits(text) {
    const { left } = this;
    return text.length * 3 <= left || (text.length <= left && byteLength(text) <= left);
  }

  /** @private @param {string} text */
  longText(text) {
    // What stands beside it has room, too.
    const room = this.left - Math.floor(this.left / 8);
    const keep = fitting(text, room);
    // Masks beyond the cut, so that no half of a secret is left at its edge. What moves up in its place may be longer in bytes.
    const masked = maskText(text.slice(0, keep + BEYOND));
    const safe = masked.slice(0, withinEdge(masked.length, keep, text.length));
    const head = safe.slice(0, fitting(safe, room));
    this.openCut('str');
    this.bytes.text(head);
    this.closeCut(text.length, TOO_LARGE);
  }

  /** @protected @param {bigint} value */
  bigint(value) {
    if (value > LARGEST_BIGINT || value < -LARGEST_BIGINT)
      return this.opaque('bigint', 'an integer of more than 1048576 bits', TOO_LARGE);
    const wide = value > 9007199254740991n || value < -9007199254740991n;
    // A small one is told from a number of the same value.
    if (!wide) this.openSubclass('bigint');
    this.bytes.bigint(value);
  }

  /** @param {Uint8Array} data */
  binary(data) {
    const { left } = this;
    if (data.length <= left || data.length <= 64) return this.bytes.binary(maskBinary(data));
    const keep = Math.max(64, Math.min(left, MAX_CUT_BYTES));
    this.openCut('bytes');
    const masked = maskBinary(data.subarray(0, keep + BEYOND));
    this.bytes.binary(masked.subarray(0, withinEdge(masked.length, keep, data.length)));
    this.closeCut(data.length, TOO_LARGE);
  }

  // ------------------------------------------------------------ marks

  /**
   * @param {string} type
   * @param {string} text
   * @param {string | null} reason
   */
  opaque(type, text, reason) {
    const { bytes } = this;
    bytes.copy(OPAQUE);
    bytes.text(short(type));
    bytes.text(maskHead(text, LONGEST_SHORT));
    if (reason === null) bytes.none();
    else bytes.text(reason);
  }

  /** What follows is the plain value. @param {string} type */
  openSubclass(type) {
    this.bytes.copy(SUBCLASS);
    this.bytes.text(short(type));
  }

  /** @protected @param {string} kind */
  openCut(kind) {
    this.bytes.copy(CUT);
    this.bytes.text(kind);
  }

  /**
   * @protected
   * @param {number} length
   * @param {string} reason
   */
  closeCut(length, reason) {
    this.bytes.number(length);
    this.bytes.text(reason);
  }

  /**
   * What was written since `start` is only a head.
   * @protected
   * @param {number} start
   * @param {string} kind
   * @param {number} length
   * @param {string} reason
   */
  cut(start, kind, length, reason) {
    this.bytes.insert(start, markHead.cut(kind));
    this.closeCut(length, reason);
  }

  /** Why no more can be taken, or nothing. @protected */
  spent() {
    if (this.bytes.at >= this.limit) return TOO_LARGE;
    if (this.late) return TOO_LONG;
    if ((++this.steps & 63) !== 0) return undefined;
    const time = now();
    if (this.steps === 64) this.deadline = time + MAX_TIME;
    this.late = time > this.deadline;
    return this.late ? TOO_LONG : undefined;
  }
}

/**
 * Characters of a text's beginning that take so many bytes, and some in any case.
 * @param {string} text
 * @param {number} size
 */
function fitting(text, size) {
  if (size <= SOME_ANYWAY) return Math.min(text.length, SOME_ANYWAY);
  const { read } = utf8.encodeInto(text.slice(0, size), new Uint8Array(size));
  return Math.max(Math.min(text.length, SOME_ANYWAY), read);
}

const { from: bytesFrom } = Buffer;
const { latin1Slice, ucs2Slice } = Buffer.prototype;

/** The same text, which keeps no other one alive: a part of a text does so with the whole. @param {string} text */
export function copyOf(text) {
  const narrow = apply(latin1Slice, bytesFrom(text, 'latin1'), []);
  return narrow === text ? narrow : apply(ucs2Slice, bytesFrom(text, 'utf16le'), []);
}

/** @param {string} text */
function short(text) {
  return text.length > LONGEST_SHORT ? `${text.slice(0, LONGEST_SHORT)}… (${text.length} characters)` : text;
}
