import type { Stretch } from '../chunks/chunk';
import { CODE } from '../values/canonical';
import { LINE, PREVIEW, floatText, quote, shorten, sized } from './text';

/** Entries of a dict that are told, and at most those that are compared with each other. */
const MOST_ENTRIES = 12;
/** Containers in each other that are passed over. */
const DEEPEST = 20;
/** A text of up to this many bytes, such as a name, is looked for among those that were read last. */
const SHORT = 16;
/** Larger whole numbers are read as a value. */
const WHOLE = 2 ** 52;

/** Of a byte: it is no ASCII, or has to be written otherwise between quotes. */
const OTHER = 2;
const QUOTED = 1;
const MARKS = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x80 ? OTHER : quote(String.fromCharCode(code)).length > 3 || code === 0x27 ? QUOTED : 0,
);

/**
 * The line of `line` in `render.ts`, straight from the stored bytes: a page of calls needs no values made for it. Nothing for all that is not
 * plain, such as what may be a chat message, and for what is damaged: these are read as values.
 */
export function plainLine(place: Stretch, limit = LINE): string | undefined {
  reader.begin(place);
  const text = reader.line(limit);
  return reader.at === place.to ? text : undefined;
}

/** The same of a call's arguments: `order_id=7, region='eu'`. */
export function plainArguments(place: Stretch, limit: number): string | undefined {
  reader.begin(place);
  const text = reader.entries(limit);
  return reader.at === place.to ? text : undefined;
}

class PlainReader {
  at = 0;
  private to = 0;
  private bytes: Buffer = Buffer.alloc(0);
  /** The text that was read last has nothing that is written otherwise between quotes. */
  private isPlain = false;
  private readonly known: string[] = new Array<string>(256).fill('');
  private readonly names: string[] = [];

  begin({ bytes, from, to }: Stretch): void {
    this.bytes = bytes;
    this.at = from;
    this.to = to;
  }

  /** `depth`: containers around it. */
  line(limit: number, depth = 0): string | undefined {
    switch (this.byte()) {
      case CODE.null:
        return 'None';
      case CODE.false:
        return 'False';
      case CODE.true:
        return 'True';
      case CODE.int: {
        const code = this.varint();
        return code < 0 ? undefined : shorten(String(code % 2 === 0 ? code / 2 : -(code + 1) / 2), limit);
      }
      case CODE.float:
        if (this.at + 8 > this.to) return undefined;
        this.at += 8;
        return shorten(floatText(this.bytes.readDoubleBE(this.at - 8)), limit);
      case CODE.text: {
        const text = this.text(depth === 0 ? limit : Infinity);
        return text === undefined ? undefined : this.quoted(text, limit);
      }
      case CODE.list: {
        const count = this.varint();
        return this.items('list', '[', ']', count, limit, depth);
      }
      case CODE.tuple: {
        const count = this.varint();
        return this.items('tuple', '(', count === 1 ? ',)' : ')', count, limit, depth);
      }
      case CODE.dict:
        return this.dict(limit, depth);
      default:
        return undefined;
    }
  }

  /** The text that was read last. */
  private quoted(text: string, limit: number): string {
    if (text.length > limit) return quote(shorten(text, limit));
    return this.isPlain ? `'${text}'` : quote(text);
  }

  /** Of a dict, name by name. */
  entries(limit: number): string | undefined {
    if (this.byte() !== CODE.dict) return undefined;
    const { names } = this;
    let result = '';
    names.length = 0;
    while (this.bytes[this.at] !== CODE.end) {
      if (names.length === MOST_ENTRIES || this.byte() !== CODE.text) return undefined;
      const name = this.text(Infinity);
      // Of two that are the same the later one is called otherwise.
      if (name === undefined || names.includes(name)) return undefined;
      const value = this.line(limit);
      if (value === undefined) return undefined;
      result += `${names.length === 0 ? '' : ', '}${name}=${value}`;
      names.push(name);
    }
    this.at++;
    return shorten(result, LINE);
  }

  /** What is in it where that fits, else how many. */
  private items(
    type: string,
    open: string,
    close: string,
    count: number,
    limit: number,
    depth: number,
  ): string | undefined {
    let told = open;
    let isTold = count > 0 && count <= PREVIEW.items && depth <= PREVIEW.deepest;
    let room = Math.min(limit, PREVIEW.room);
    for (let left = count; left > 0; left--) {
      if (!isTold) {
        if (!this.pass(1)) return undefined;
        continue;
      }
      const text = this.line(PREVIEW.item, depth + 1);
      if (text === undefined) return undefined;
      room -= text.length + 2;
      isTold = room >= 0;
      told += left === count ? text : `, ${text}`;
    }
    if (isTold) return told + close;
    return count < 0 ? undefined : sized(type, count, open + close);
  }

  /** The same of a dict, unless it may be a chat message. */
  private dict(limit: number, depth: number): string | undefined {
    let told = '{';
    let count = 0;
    let hasRole = false;
    let hasContent = false;
    let isTold = depth <= PREVIEW.deepest;
    let room = Math.min(limit, PREVIEW.room);
    for (; this.bytes[this.at] !== CODE.end; count++) {
      if (this.byte() !== CODE.text) return undefined;
      const name = this.text(Infinity);
      if (name === undefined) return undefined;
      hasRole ||= name === 'role' || name === 'type';
      hasContent ||= name === 'content' || name === 'parts';
      isTold &&= count < PREVIEW.items;
      if (!isTold) {
        if (!this.pass(1)) return undefined;
        continue;
      }
      const key = this.quoted(name, PREVIEW.key);
      const text = this.line(PREVIEW.item, depth + 1);
      if (text === undefined) return undefined;
      room -= key.length + text.length + 4;
      isTold = room >= 0;
      told += `${count === 0 ? '' : ', '}${key}: ${text}`;
    }
    this.at++;
    if (hasRole && hasContent) return undefined;
    return isTold && count > 0 ? `${told}}` : sized('dict', count, '{}');
  }

  /** Passes over a value. */
  private pass(depth: number): boolean {
    if (depth > DEEPEST) return false;
    switch (this.byte()) {
      case CODE.null:
      case CODE.false:
      case CODE.true:
        return true;
      case CODE.int:
        return this.varint() >= 0;
      case CODE.float:
        return this.skip(8);
      case CODE.ref:
        return this.skip(32);
      case CODE.text:
      case CODE.bytes:
        return this.skip(this.varint());
      case CODE.list:
      case CODE.tuple: {
        const count = this.varint();
        for (let left = count; left > 0; left--) if (!this.pass(depth + 1)) return false;
        return count >= 0;
      }
      case CODE.dict:
        while (this.bytes[this.at] !== CODE.end) if (!this.pass(depth + 1) || !this.pass(depth + 1)) return false;
        this.at++;
        return true;
      default:
        return false;
    }
  }

  private skip(count: number): boolean {
    if (count < 0 || count > this.to - this.at) return false;
    this.at += count;
    return true;
  }

  /** At the end one that no value begins with. */
  private byte(): number {
    return this.at < this.to ? this.bytes[this.at++]! : CODE.end;
  }

  /** Below 0 for one that is too large, or ends too early. */
  private varint(): number {
    let value = 0;
    for (let scale = 1; scale < WHOLE; scale *= 0x80) {
      if (this.at >= this.to) return -1;
      const byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value < WHOLE ? value : -1;
    }
    return -1;
  }

  /** ASCII of so many characters at most; the same few names are read again and again. */
  private text(most: number): string | undefined {
    const count = this.varint();
    const { bytes, at } = this;
    if (count > most || !this.skip(count)) return undefined;
    let mark = count;
    let marks = 0;
    for (let index = 0; index < count; index++) {
      const code = bytes[at + index]!;
      marks |= MARKS[code]!;
      if (count <= SHORT) mark = (mark * 31 + code) & 0xff;
    }
    if (marks & OTHER) return undefined;
    this.isPlain = marks === 0;
    if (count > SHORT) return bytes.toString('latin1', at, at + count);
    const known = this.known[mark]!;
    if (known.length === count && isAt(known, bytes, at)) return known;
    return (this.known[mark] = bytes.toString('latin1', at, at + count));
  }
}

function isAt(text: string, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) !== bytes[at + index]) return false;
  return true;
}

const reader = new PlainReader();
