import { CODE, MAX_MAGNITUDE, Sink, SHARED_SIZE, decodeText } from '../values/canonical';
import { Complex, DecodeError, Dict, Float, MAX_NESTING, SetValue, Tagged, Tuple, type Value } from '../values/model';

/** Stores canonical bytes and answers their 32-byte SHA-256. */
export type Share = (bytes: Buffer) => Buffer;

/** Values of one spool file that its later frames refer to, by their number: each as it stands in its parent, so never longer than a shared part. */
export type Kept = Map<number, Buffer>;

const NULL = 0x30; // '0' ends a dict
const NONE = 0x4e; // 'N'
const FALSE = 0x46; // 'F'
const TRUE = 0x54; // 'T'
const ELLIPSIS = 0x2e; // '.'
const INT = 0x69; // 'i'
const INT64 = 0x49; // 'I', written by nobody today
const LONG = 0x6c; // 'l'
const FLOAT = 0x67; // 'g'
const COMPLEX = 0x79; // 'y'
const BYTES = 0x73; // 's'
const TEXT = 0x75; // 'u'
const INTERNED = 0x74; // 't'
const TUPLE = 0x28; // '('
const LIST = 0x5b; // '['
const DICT = 0x7b; // '{'
const SET = 0x3c; // '<'
const FROZENSET = 0x3e; // '>'

const KEEP = Buffer.from('keep').readUInt32LE();
const SAME = Buffer.from('same').readUInt32LE();
const LOST = 'it stood in a part of the recording that is damaged';

/**
 * Reads Python's `marshal` format, version 2: no references, no code objects. Bytes may be hostile: every length is compared with what
 * is left, nesting has a limit, and nothing but `DecodeError` is thrown.
 */
export class MarshalReader {
  /** `kept`: of the file that the bytes are from; without it `keep` and `same` are tags like any other. */
  constructor(
    private bytes: Buffer,
    private kept?: Kept,
    private at = 0,
    private end = bytes.length,
  ) {}

  /** Goes on with other bytes: one reader is enough for many frames. */
  turnTo(bytes: Buffer, kept: Kept | undefined, at: number, end: number): void {
    this.bytes = bytes;
    this.kept = kept;
    this.at = at;
    this.end = end;
  }

  /** Where the next value starts in the bytes. */
  get place(): number {
    return this.at;
  }

  get atEnd(): boolean {
    return this.at === this.end;
  }

  /** Whether the next value is None. */
  get isNone(): boolean {
    return this.at < this.end && this.bytes[this.at] === NONE;
  }

  /** The next value, without going on behind it. */
  peek(): Value {
    const start = this.at;
    const value = this.value();
    this.at = start;
    return value;
  }

  /** Opens a tuple and answers its size; the items are read one by one. */
  openTuple(): number {
    if (this.byte() !== TUPLE) throw new DecodeError('a frame is not a tuple');
    return this.count();
  }

  /** The next value, which is mostly a whole number of 32 bits, or a time. */
  number(): Value {
    const { bytes, at } = this;
    if (at + 5 <= this.end && bytes[at] === INT) {
      this.at = at + 5;
      return bytes[at + 1]! | (bytes[at + 2]! << 8) | (bytes[at + 3]! << 16) | (bytes[at + 4]! << 24);
    }
    return this.value();
  }

  private byte(): number {
    if (this.at >= this.end) throw new DecodeError('a value ends too early');
    return this.bytes[this.at++]!;
  }

  /** Behind the mark that ends a dict, which may only seem to be one: what follows the frame is somebody else's. */
  private endDict(): void {
    if (this.at >= this.end) throw new DecodeError('a value ends too early');
    this.at++;
  }

  private take(count: number): Buffer {
    if (count > this.end - this.at) throw new DecodeError('a length is larger than what is there');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  private int32(): number {
    const { bytes, at } = this;
    if (at + 4 > this.end) throw new DecodeError('a length is larger than what is there');
    this.at = at + 4;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  /** A number of few digits that JavaScript holds exactly, such as a time; nothing, and nothing read, for others. */
  private shortLong(): number | undefined {
    const { bytes, at } = this;
    const size = bytes[at]!;
    // Positive, of one to four digits of 15 bits.
    if (
      at + 4 > this.end ||
      size === 0 ||
      size > 4 ||
      bytes[at + 1] !== 0 ||
      bytes[at + 2] !== 0 ||
      bytes[at + 3] !== 0
    )
      return undefined;
    if (at + 4 + size * 2 > this.end) return undefined;
    let value = 0;
    let digit = 0;
    for (let place = at + 2 + size * 2; place > at + 2; place -= 2) {
      digit = bytes[place]! | (bytes[place + 1]! << 8);
      if (digit > 0x7fff || (value === 0 && digit === 0)) return undefined;
      value = value * 0x8000 + digit;
    }
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
    this.at = at + 4 + size * 2;
    return value;
  }

  /** A length or count: every item takes at least one byte, so it cannot be more than the bytes left. */
  private count(): number {
    const count = this.int32();
    if (count < 0 || count > this.end - this.at) throw new DecodeError('a count is larger than what is there');
    return count;
  }

  /** 15-bit digits, lowest first; answers sign and magnitude bytes, high byte first and without leading zeros. Linear in the length. */
  private long(): { negative: boolean; magnitude: Buffer } {
    const size = this.int32();
    const digits = Math.abs(size);
    const raw = this.take(digits * 2);
    const magnitude = Buffer.alloc(Math.ceil((digits * 15) / 8));
    let bits = 0;
    let held = 0;
    let out = magnitude.length;
    for (let index = 0; index < digits; index++) {
      const digit = raw.readUInt16LE(index * 2);
      if (digit > 0x7fff || (digit === 0 && index === digits - 1)) throw new DecodeError('a number has a bad digit');
      held |= digit << bits;
      bits += 15;
      while (bits >= 8) {
        magnitude[--out] = held & 0xff;
        held >>>= 8;
        bits -= 8;
      }
    }
    if (bits > 0) magnitude[--out] = held;
    let first = 0;
    while (first < magnitude.length && magnitude[first] === 0) first++;
    return { negative: size < 0, magnitude: magnitude.subarray(first) };
  }

  private wide(): number | bigint {
    const { negative, magnitude } = this.long();
    if (magnitude.length === 0) return 0;
    if (magnitude.length > MAX_MAGNITUDE) throw new DecodeError('a number is too large');
    const value = BigInt(`0x${magnitude.toString('hex')}`);
    return narrow(negative ? -value : value);
  }

  /** One value as plain data. An Ellipsis outside a tag comes out as the tag `ellipsis`. */
  value(depth = 0): Value {
    if (depth > MAX_NESTING) throw new DecodeError('a value is nested too deeply');
    const code = this.byte();
    switch (code) {
      case NONE:
        return null;
      case FALSE:
        return false;
      case TRUE:
        return true;
      case ELLIPSIS:
        return new Tagged('ellipsis', []);
      case INT:
        return this.int32();
      case INT64:
        return narrow(this.take(8).readBigInt64LE());
      case LONG:
        return this.shortLong() ?? this.wide();
      case FLOAT:
        return new Float(this.take(8).readDoubleLE());
      case COMPLEX: {
        const both = this.take(16);
        return new Complex(both.readDoubleLE(0), both.readDoubleLE(8));
      }
      case BYTES:
        return this.take(this.count());
      case TEXT:
      case INTERNED:
        return decodeText(this.take(this.count()));
      case TUPLE: {
        const count = this.count();
        if (count < 2 || this.bytes[this.at] !== ELLIPSIS) return new Tuple(this.items(count, depth + 1));
        this.at++;
        const tag = this.value(depth + 1);
        if (typeof tag !== 'string') throw new DecodeError('a tag is not text');
        return new Tagged(tag, this.items(count - 2, depth + 1));
      }
      case LIST:
        return this.items(this.count(), depth + 1);
      case SET:
      case FROZENSET:
        return new SetValue(this.items(this.count(), depth + 1), code === FROZENSET);
      case DICT: {
        const entries: [Value, Value][] = [];
        while (this.bytes[this.at] !== NULL) entries.push([this.value(depth + 1), this.value(depth + 1)]);
        this.endDict();
        return new Dict(entries);
      }
      default:
        throw new DecodeError(`unknown code ${code} in a value`);
    }
  }

  private items(count: number, depth: number): Value[] {
    const items: Value[] = [];
    for (let index = 0; index < count; index++) items.push(this.value(depth));
    return items;
  }

  /** One value as canonical bytes at the end of `sink`, without making objects on the way: the store's busiest path. */
  transcode(sink: Sink, share: Share, depth = 0): void {
    if (depth > MAX_NESTING) throw new DecodeError('a value is nested too deeply');
    const code = this.byte();
    switch (code) {
      case NONE:
        return sink.byte(CODE.null);
      case FALSE:
        return sink.byte(CODE.false);
      case TRUE:
        return sink.byte(CODE.true);
      case ELLIPSIS:
        sink.byte(CODE.tagged);
        sink.varint(1);
        return sink.utf8(Buffer.from('ellipsis'));
      case INT:
        return sink.int(this.int32());
      case INT64: {
        const value = narrow(this.take(8).readBigInt64LE());
        return typeof value === 'number' ? sink.int(value) : sink.bigint(value);
      }
      case LONG: {
        const short = this.shortLong();
        if (short !== undefined) return sink.int(short);
        const { negative, magnitude } = this.long();
        if (magnitude.length > 7) return sink.magnitude(negative, magnitude);
        const value = magnitude.length === 0 ? 0n : BigInt(`0x${magnitude.toString('hex')}`);
        const narrowed = narrow(negative ? -value : value);
        return typeof narrowed === 'number' ? sink.int(narrowed) : sink.magnitude(negative, magnitude);
      }
      case FLOAT:
        sink.byte(CODE.float);
        return sink.double(this.take(8).readDoubleLE());
      case COMPLEX: {
        const both = this.take(16);
        sink.byte(CODE.complex);
        sink.double(both.readDoubleLE(0));
        return sink.double(both.readDoubleLE(8));
      }
      case BYTES: {
        const bytes = this.take(this.count());
        sink.byte(CODE.bytes);
        sink.varint(bytes.length);
        return sink.copy(bytes);
      }
      case TEXT:
      case INTERNED: {
        const length = this.count();
        sink.byte(CODE.text);
        sink.varint(length);
        sink.range(this.bytes, this.at, this.at + length);
        this.at += length;
        return;
      }
      case TUPLE: {
        let count = this.count();
        if (count >= 2 && this.bytes[this.at] === ELLIPSIS) {
          this.at++;
          count--;
          const tag = this.bytes[this.at];
          if (tag !== TEXT && tag !== INTERNED) throw new DecodeError('a tag is not text');
          if (this.kept !== undefined && this.reference(count, this.kept, sink, share, depth)) return;
          sink.byte(CODE.tagged);
          sink.varint(count);
          // The tag itself always stays in place: readers need it to know what they look at.
          this.transcode(sink, share, depth + 1);
          count--;
        } else {
          sink.byte(CODE.tuple);
          sink.varint(count);
        }
        return this.parts(count, sink, share, depth);
      }
      case LIST: {
        const count = this.count();
        sink.byte(CODE.list);
        sink.varint(count);
        return this.parts(count, sink, share, depth);
      }
      case SET:
      case FROZENSET:
        return this.set(code === FROZENSET, sink, share, depth);
      case DICT:
        sink.byte(CODE.dict);
        while (this.bytes[this.at] !== NULL) this.parts(2, sink, share, depth);
        this.endDict();
        return sink.byte(CODE.end);
      default:
        throw new DecodeError(`unknown code ${code} in a value`);
    }
  }

  /** Takes a `keep` or a `same`, whose tag comes next, as the value that it stands for. False: it is another tag, and nothing was read. */
  private reference(count: number, kept: Kept, sink: Sink, share: Share, depth: number): boolean {
    const { bytes, at } = this;
    if (at + 9 > this.end || bytes.readInt32LE(at + 1) !== 4) return false;
    const tag = bytes.readUInt32LE(at + 5);
    if (!(tag === KEEP && count === 3) && !(tag === SAME && count === 2)) return false;
    this.at = at + 9;
    const number = this.value(depth + 1);
    if (typeof number !== 'number') throw new DecodeError('a reference is not a number');
    if (tag === KEEP) {
      const start = sink.length;
      this.parts(1, sink, share, depth);
      kept.set(number, Buffer.from(sink.bytes.subarray(start, sink.length)));
      return true;
    }
    const known = kept.get(number);
    if (known !== undefined) sink.copy(known);
    else {
      sink.byte(CODE.tagged);
      sink.varint(4);
      for (const text of ['opaque', 'value', '', LOST]) sink.utf8(Buffer.from(text));
    }
    return true;
  }

  private parts(count: number, sink: Sink, share: Share, depth: number): void {
    for (let index = 0; index < count; index++) {
      const start = sink.length;
      this.transcode(sink, share, depth + 1);
      if (sink.length - start < SHARED_SIZE) continue;
      const cid = share(sink.bytes.subarray(start, sink.length));
      sink.length = start;
      sink.byte(CODE.ref);
      sink.copy(cid);
    }
  }

  /** A set has no order of its own, so its items are put in the order of their bytes. */
  private set(frozen: boolean, sink: Sink, share: Share, depth: number): void {
    const count = this.count();
    const start = sink.length;
    const items: Buffer[] = [];
    for (let index = 0; index < count; index++) {
      this.parts(1, sink, share, depth);
      items.push(Buffer.from(sink.bytes.subarray(start, sink.length)));
      sink.length = start;
    }
    items.sort(Buffer.compare);
    sink.byte(frozen ? CODE.frozenset : CODE.set);
    sink.varint(count);
    for (const item of items) sink.copy(item);
  }
}

/** Reads one value that fills the bytes. */
export function decodeMarshal(bytes: Buffer): Value {
  const reader = new MarshalReader(bytes);
  const value = reader.value();
  if (!reader.atEnd) throw new DecodeError('bytes after the end of a value');
  return value;
}

function narrow(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
