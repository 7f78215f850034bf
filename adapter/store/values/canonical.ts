import { Complex, DecodeError, Dict, Float, MAX_NESTING, Ref, SetValue, Tagged, Tuple, type Value } from './model';

/**
 * The canonical form: one sequence of bytes for equal content, whatever language recorded it. See the README for the layout.
 * A part of `SHARED_SIZE` bytes or more is stored on its own and stands in its parent as the SHA-256 of its bytes.
 */
export const SHARED_SIZE = 256;

/** Largest whole number, in bytes, and largest text that are turned into JavaScript's own; its limits lie a little higher. */
export const MAX_MAGNITUDE = 64 * 1024 * 1024;
const MAX_TEXT = 256 * 1024 * 1024;
/** A text of up to this many bytes is looked at before it is decoded. */
const SHORT_TEXT = 64;

export const CODE = {
  null: 0x00,
  false: 0x01,
  true: 0x02,
  int: 0x03,
  float: 0x04,
  complex: 0x05,
  text: 0x06,
  bytes: 0x07,
  list: 0x08,
  tuple: 0x09,
  dict: 0x0a,
  set: 0x0b,
  frozenset: 0x0c,
  tagged: 0x0d,
  ref: 0x0e,
  bigint: 0x0f,
  end: 0x1f,
} as const;

const ITEMS = new Map<number, 'list' | 'tuple' | 'set' | 'frozenset'>([
  [CODE.list, 'list'],
  [CODE.tuple, 'tuple'],
  [CODE.set, 'set'],
  [CODE.frozenset, 'frozenset'],
]);

/** Bytes being put together. Cheaper than many small buffers; grows by doubling, and gives memory back after something huge. */
export class Sink {
  bytes: Buffer;
  length = 0;

  constructor(size = 64 * 1024) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  private room(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + count));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  reset(): void {
    this.length = 0;
    if (this.bytes.length > 8 * 1024 * 1024) this.bytes = Buffer.allocUnsafe(64 * 1024);
  }

  byte(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }

  copy(source: Uint8Array): void {
    this.range(source, 0, source.length);
  }

  /** Bytes of `source` from one place up to another, which are there. */
  range(source: Uint8Array, from: number, to: number): void {
    const count = to - from;
    this.room(count);
    const { bytes, length } = this;
    // A short copy costs less than the call that would make it.
    if (count < 100) for (let index = 0; index < count; index++) bytes[length + index] = source[from + index]!;
    else bytes.set(count === source.length ? source : source.subarray(from, to), length);
    this.length = length + count;
  }

  /** LEB128 of a whole number from 0 to 2^54. */
  varint(value: number): void {
    this.room(9);
    const { bytes } = this;
    let at = this.length;
    let rest = value;
    // Beyond what bit operators take.
    while (rest >= 0x80000000) {
      bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.length = at;
  }

  int(value: number): void {
    this.byte(CODE.int);
    if (Math.abs(value) < 2 ** 52) this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
    else this.wideZigzag(BigInt(value));
  }

  private wideZigzag(value: bigint): void {
    let rest = value >= 0n ? value * 2n : -value * 2n - 1n;
    while (rest > 0x7fn) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest));
  }

  /** A whole number that JavaScript's numbers do not hold: sign and magnitude, high byte first. */
  bigint(value: bigint): void {
    const negative = value < 0n;
    const hex = (negative ? -value : value).toString(16);
    this.magnitude(negative, Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'));
  }

  magnitude(negative: boolean, magnitude: Uint8Array): void {
    this.byte(CODE.bigint);
    this.byte(negative ? 1 : 0);
    this.varint(magnitude.length);
    this.copy(magnitude);
  }

  double(value: number): void {
    this.room(8);
    if (Number.isNaN(value)) this.bytes.write('7ff8000000000000', this.length, 'hex');
    else this.bytes.writeDoubleBE(value, this.length);
    this.length += 8;
  }

  /** Bytes that are UTF-8 already, single surrogates included. */
  utf8(bytes: Uint8Array): void {
    this.byte(CODE.text);
    this.varint(bytes.length);
    this.copy(bytes);
  }
}

/** UTF-8 with single surrogates kept as three bytes each, as Python's `surrogatepass` writes them. */
export function encodeText(text: string): Buffer {
  if ((text as string & { isWellFormed(): boolean }).isWellFormed()) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code >= 0xd800 && code <= 0xdfff)
      parts.push(Buffer.from([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]));
    else parts.push(Buffer.from(character, 'utf8'));
  }
  return Buffer.concat(parts);
}

export function decodeText(bytes: Buffer): string {
  if (bytes.length > MAX_TEXT) throw new DecodeError('a text is too large');
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let result = '';
  let from = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    const second = bytes[at + 1];
    const third = bytes[at + 2];
    if (second === undefined || third === undefined || second < 0xa0 || second > 0xbf || (third & 0xc0) !== 0x80)
      continue;
    result += bytes.toString('utf8', from, at);
    result += String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f));
    from = at + 3;
    at += 2;
  }
  return result + bytes.toString('utf8', from);
}

/** Reads one canonical value; parts that are stored on their own come out as `Ref`. */
export function decodeCanonical(bytes: Buffer): Value {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (reader.at !== bytes.length) throw new DecodeError('bytes after the end of a value');
  return value;
}

/** What the first bytes of a longer value tell: how a text begins, how many items there are, the type of an object. */
export type Head =
  | { text: string }
  | { type: 'list' | 'tuple' | 'set' | 'frozenset'; count: number }
  | { type: 'dict' }
  | { object: string };

/** Nothing where they tell nothing, also since they are damaged. */
export function decodeHead(bytes: Buffer): Head | undefined {
  try {
    return new Reader(bytes).head();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

class Reader {
  at = 0;
  constructor(private readonly bytes: Buffer) {}

  private byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new DecodeError('a value ends too early');
    return value;
  }

  private take(count: number): Buffer {
    if (count > this.bytes.length - this.at) throw new DecodeError('a length is larger than what is there');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  /** Mostly the short name of something, in ASCII. */
  private text(count: number): string {
    const { bytes, at } = this;
    if (count > SHORT_TEXT) return decodeText(this.take(count));
    const end = at + count;
    let ascii = at;
    while (ascii < end && bytes[ascii]! < 0x80) ascii++;
    if (ascii < end) return decodeText(this.take(count));
    this.at = end;
    return bytes.toString('latin1', at, end);
  }

  private varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new DecodeError('a number is too long');
  }

  private int(): number {
    let value = 0n;
    let shift = 0n;
    const start = this.at;
    const quick = this.varint();
    if (quick < 2 ** 53) return quick % 2 === 0 ? quick / 2 : -(quick + 1) / 2;
    this.at = start;
    for (;;) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
      shift += 7n;
    }
    return Number((value & 1n) === 0n ? value >> 1n : -((value + 1n) >> 1n));
  }

  private items(count: number, depth: number): Value[] {
    if (count > this.bytes.length - this.at) throw new DecodeError('a count is larger than what is there');
    const items: Value[] = [];
    for (let index = 0; index < count; index++) items.push(this.value(depth));
    return items;
  }

  head(): Head | undefined {
    const code = this.byte();
    if (code === CODE.dict) return { type: 'dict' };
    const type = ITEMS.get(code);
    if (type !== undefined) return { type, count: this.varint() };
    if (code === CODE.text) {
      const rest = this.take(Math.min(this.varint(), this.bytes.length - this.at));
      // The last character may be there in part.
      return { text: decodeText(rest).replace(/\ufffd+$/, '') };
    }
    if (code !== CODE.tagged) return undefined;
    this.varint();
    if (this.value(0) !== 'object') return undefined;
    const object = this.value(0);
    return typeof object === 'string' ? { object } : undefined;
  }

  value(depth: number): Value {
    if (depth > MAX_NESTING) throw new DecodeError('a value is nested too deeply');
    const code = this.byte();
    switch (code) {
      case CODE.null:
        return null;
      case CODE.false:
        return false;
      case CODE.true:
        return true;
      case CODE.int:
        return this.int();
      case CODE.bigint: {
        const negative = this.byte() === 1;
        const bytes = this.take(this.varint());
        if (bytes.length > MAX_MAGNITUDE) throw new DecodeError('a number is too large');
        const hex = bytes.toString('hex');
        const magnitude = hex === '' ? 0n : BigInt(`0x${hex}`);
        return negative ? -magnitude : magnitude;
      }
      case CODE.float:
        return new Float(this.take(8).readDoubleBE());
      case CODE.complex: {
        const both = this.take(16);
        return new Complex(both.readDoubleBE(0), both.readDoubleBE(8));
      }
      case CODE.text:
        return this.text(this.varint());
      case CODE.bytes:
        return this.take(this.varint());
      case CODE.list:
        return this.items(this.varint(), depth + 1);
      case CODE.tuple:
        return new Tuple(this.items(this.varint(), depth + 1));
      case CODE.set:
      case CODE.frozenset:
        return new SetValue(this.items(this.varint(), depth + 1), code === CODE.frozenset);
      case CODE.dict: {
        const entries: [Value, Value][] = [];
        while (this.bytes[this.at] !== CODE.end) entries.push([this.value(depth + 1), this.value(depth + 1)]);
        this.at++;
        return new Dict(entries);
      }
      case CODE.tagged: {
        const count = this.varint();
        const tag = this.value(depth + 1);
        if (typeof tag !== 'string' || count < 1) throw new DecodeError('a tag is not text');
        return new Tagged(tag, this.items(count - 1, depth + 1));
      }
      case CODE.ref:
        return new Ref(this.take(32));
      default:
        throw new DecodeError(`unknown code ${code} in a value`);
    }
  }
}
