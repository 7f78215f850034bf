import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';

/**
 * Bytes in the form that spools have: Python's `marshal`, version 2. Nothing here looks whether there is room: whoever begins a frame makes
 * sure that the largest one has it.
 */

const NONE = 0x4e;
const FALSE = 0x46;
const TRUE = 0x54;
const INT = 0x69;
const LONG = 0x6c;
const FLOAT = 0x67;
const TEXT = 0x75;
const BYTES = 0x73;
const DICT = 0x7b;
const DICT_END = 0x30;
export const TUPLE = 0x28;
export const LIST = 0x5b;
export const SET = 0x3c;

/** Up to so many characters a loop is quicker than a call into native code. */
const SHORT = 48;
/** What a byte does to the checksum that stands so many bytes before the end of eight. */
const TABLES = [0, 1, 2, 3, 4, 5, 6, 7].map((after) =>
  new Int32Array(256).map((_, index) => {
    let value = index;
    for (let bit = 0; bit < 8 * (after + 1); bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  }),
);
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES;
const LITTLE = endianness() === 'LE';

export class Bytes {
  /** @param {number} size a multiple of 4 */
  constructor(size) {
    this.buffer = Buffer.allocUnsafeSlow(size);
    this.view = new DataView(this.buffer.buffer);
    this.words = new Int32Array(this.buffer.buffer);
    /** Where the next byte goes. */
    this.at = 0;
  }

  /** @param {number} value */
  byte(value) {
    this.buffer[this.at++] = value;
  }

  /** @param {Uint8Array} source */
  copy(source) {
    const { buffer, at } = this;
    const { length } = source;
    if (length < SHORT) for (let index = 0; index < length; index++) buffer[at + index] = source[index];
    else buffer.set(source, at);
    this.at = at + length;
  }

  none() {
    this.buffer[this.at++] = NONE;
  }

  /** @param {boolean} value */
  boolean(value) {
    this.buffer[this.at++] = value ? TRUE : FALSE;
  }

  /**
   * @param {number} type TUPLE, LIST or SET
   * @param {number} count
   */
  open(type, count) {
    const { at } = this;
    this.buffer[at] = type;
    this.view.setInt32(at + 1, count, true);
    this.at = at + 5;
  }

  openDict() {
    this.buffer[this.at++] = DICT;
  }

  closeDict() {
    this.buffer[this.at++] = DICT_END;
  }

  /** @param {number} value a whole number of 32 bits */
  int(value) {
    const { at } = this;
    this.buffer[at] = INT;
    this.view.setInt32(at + 1, value, true);
    this.at = at + 5;
  }

  /** A whole number from 0 to 2^53, as Python writes those that take more than 32 bits: digits of 15 bits. @param {number} value */
  long(value) {
    if (value < 0x80000000) return this.int(value);
    const high = Math.floor(value / 0x40000000);
    const low = value - high * 0x40000000;
    const { at, view } = this;
    this.buffer[at] = LONG;
    view.setUint16(at + 5, low & 0x7fff, true);
    view.setUint16(at + 7, low >>> 15, true);
    view.setUint16(at + 9, high & 0x7fff, true);
    const last = high >>> 15;
    if (last > 0) view.setUint16(at + 11, last, true);
    view.setInt32(at + 1, last > 0 ? 4 : 3, true);
    this.at = at + (last > 0 ? 13 : 11);
  }

  /** Whole numbers that JavaScript holds exactly are integers; -0 and all others are floating point. @param {number} value */
  number(value) {
    const small = value | 0;
    if (small === value && (small !== 0 || 1 / value > 0)) return this.int(small);
    if (Number.isSafeInteger(value) && value !== 0) return value > 0 ? this.long(value) : this.bigint(BigInt(value));
    this.buffer[this.at] = FLOAT;
    this.view.setFloat64(this.at + 1, value, true);
    this.at += 9;
  }

  /** @param {bigint} value */
  bigint(value) {
    const negative = value < 0n;
    const hex = (negative ? -value : value).toString(16);
    const start = this.at;
    this.buffer[start] = LONG;
    let at = start + 5;
    let held = 0;
    let bits = 0;
    for (let index = hex.length - 1; index >= 0; index--) {
      held |= Number.parseInt(hex[index], 16) << bits;
      bits += 4;
      if (bits < 15) continue;
      this.view.setUint16(at, held & 0x7fff, true);
      at += 2;
      held >>>= 15;
      bits -= 15;
    }
    if (held > 0) {
      this.view.setUint16(at, held, true);
      at += 2;
    }
    // Leading zeros of a hexadecimal digit may have made an empty one.
    while (at > start + 5 && this.view.getUint16(at - 2, true) === 0) at -= 2;
    const count = (at - start - 5) / 2;
    this.view.setInt32(start + 1, negative ? -count : count, true);
    this.at = at;
  }

  /** Text as it is, single surrogates as three bytes each as Python writes them. @param {string} text */
  text(text) {
    const { length } = text;
    const { buffer, at } = this;
    const from = at + 5;
    buffer[at] = TEXT;
    let written = 0;
    if (length < SHORT) {
      for (; written < length; written++) {
        const code = text.charCodeAt(written);
        if (code > 0x7f) break;
        buffer[from + written] = code;
      }
    }
    if (written < length) written = text.isWellFormed() ? buffer.write(text, from) : this.surrogates(text, from);
    this.view.setInt32(at + 1, written, true);
    this.at = from + written;
  }

  /**
   * @param {string} text
   * @param {number} from
   */
  surrogates(text, from) {
    const { buffer } = this;
    let at = from;
    for (const character of text) {
      const code = /** @type {number} */ (character.codePointAt(0));
      if (code >= 0xd800 && code <= 0xdfff) {
        buffer[at++] = 0xed;
        buffer[at++] = 0x80 | ((code >> 6) & 0x3f);
        buffer[at++] = 0x80 | (code & 0x3f);
      } else at += buffer.write(character, at);
    }
    return at - from;
  }

  /** @param {Uint8Array} bytes */
  binary(bytes) {
    this.open(BYTES, bytes.length);
    this.buffer.set(bytes, this.at);
    this.at += bytes.length;
  }

  /**
   * Makes room for `bytes` in front of what was written since `start`.
   * @param {number} start
   * @param {Uint8Array} bytes
   */
  insert(start, bytes) {
    this.buffer.copyWithin(start + bytes.length, start, this.at);
    this.buffer.set(bytes, start);
    this.at += bytes.length;
  }

  /** CRC-32 of what was written since `from`, a multiple of 4. @param {number} from */
  checksum(from) {
    const { buffer, words, at } = this;
    if (!LITTLE) return crc32(buffer.subarray(from, at));
    let value = -1;
    const whole = at >>> 2;
    let word = from >>> 2;
    // Two words at once, so that their look-ups do not wait for each other.
    for (; word + 1 < whole; word += 2) {
      value ^= words[word];
      const next = words[word + 1];
      value =
        T7[value & 0xff] ^
        T6[(value >>> 8) & 0xff] ^
        T5[(value >>> 16) & 0xff] ^
        T4[value >>> 24] ^
        T3[next & 0xff] ^
        T2[(next >>> 8) & 0xff] ^
        T1[(next >>> 16) & 0xff] ^
        T0[next >>> 24];
    }
    for (let place = word << 2; place < at; place++) value = T0[(value ^ buffer[place]) & 0xff] ^ (value >>> 8);
    return ~value;
  }
}
