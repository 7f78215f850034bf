import { arrayValue, children, keyText } from '../reader/children';
import { exactLine } from '../reader/exactLine';
import { isWhole, textPart } from '../reader/render';
import type { StoredValues } from '../reader/stored';
import { scalarText } from '../reader/text';
import { eachText, type TextVisitor } from '../values/eachText';
import { DecodeError, Dict, Float, Ref, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { LONGEST_TEXT } from './pattern';

/** Texts of one value that are looked at, and their characters in all. */
const MOST_TEXTS = 20_000;
const MOST_CHARACTERS = 1024 * 1024;
const DEEPEST = 200;

/** Texts of a value, and whether these are all of it. */
export interface Texts {
  texts: string[];
  whole: boolean;
}

/** Every text of a value: keys, leaves as Python writes them, names of types. What is masked has none. */
export function textsOf(value: Value, stored: StoredValues): Texts {
  const texts: string[] = [];
  let characters = 0;
  let whole = true;
  const full = (): boolean => texts.length >= MOST_TEXTS || characters >= MOST_CHARACTERS;
  walk(value, 0);
  return { texts, whole };

  function put(text: string): void {
    if (text.length > LONGEST_TEXT) whole = false;
    texts.push(text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text);
    characters += Math.min(text.length, LONGEST_TEXT);
  }

  function walk(part: Value, depth: number): void {
    if (full() || depth > DEEPEST) {
      whole = false;
      return;
    }
    const plain = stored.resolve(part);
    if (typeof plain === 'string') return put(plain);
    const scalar = scalarText(plain);
    if (scalar !== undefined) return put(scalar);
    if (plain instanceof Uint8Array) return put(Buffer.from(plain.subarray(0, LONGEST_TEXT)).toString('utf8'));
    if (plain instanceof Dict) {
      for (const [key, item] of plain.entries) {
        if (full()) break;
        walk(key, depth + 1);
        walk(item, depth + 1);
      }
      if (full()) whole = false;
      return;
    }
    const parts = partsOf(plain);
    for (const item of parts) {
      if (full()) {
        whole = false;
        break;
      }
      walk(item, depth + 1);
    }
  }
}

function partsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Tuple || value instanceof SetValue) return value.items;
  if (!(value instanceof Tagged)) return [];
  switch (value.tag) {
    case 'masked':
    case 'cycle':
    case 'ellipsis':
      return [];
    case 'cut':
      return value.parts.slice(0, 2);
    case 'object':
    case 'opaque':
      // The last part says why something is missing; that is ours.
      return value.parts.slice(0, 2);
    case 'error':
      // The stack's files and lines are no text of the error.
      return value.parts.filter((part, index) => index !== 2 && !(index === 3 && part === null));
    default:
      return value.parts;
  }
}

const WORD = String.raw`[\p{L}\p{M}\p{N}_]`;
/** How lines write what JSON has no form for: `Order(id=7)`, `b'hi'`, `{1, 2}`, `Colour.RED`, `KeyError: 'eu'`, `<map>`, `3.5 s`, `...`. */
const TOLD = new RegExp(
  String.raw`^(?:(?:${WORD}|\.)+\(.*\)|b'.*'|[\[\{\(].*[\]\)\}]|${WORD}+\.${WORD}+|${WORD}(?:${WORD}|\.)*: .*|<.*>|-?\d+(?:\.\d+)? s|\.\.\.)$`,
  'su',
);
/** Words of ours in such a line, which are no text of the value. */
const OURS = /^(?:set|frozenset|bytearray)$/;
/** Those that are looked for tell a line from almost all others. */
const MOST_WORDS = 20;

/**
 * Of a text that may be a line copied from an answer, the texts that a value which is told by it has for certain: names of types and fields,
 * parts of texts. Nothing for other texts.
 */
export function wordsOfLine(text: string): string[] | undefined {
  if (!TOLD.test(text)) return undefined;
  // What is escaped in a line is another text in the value.
  if (text.includes('\\')) return [];
  // The lower case of a sigma depends on what stands behind it.
  const words = text.split(/[^\p{L}\p{M}\p{N}_]+/u).filter((word) => !OURS.test(word) && !/[Σσς]/.test(word));
  return [...new Set(words)].slice(0, MOST_WORDS);
}

/** Whether this text is what is recorded, or a line that tells it with nothing left out; see `ValueQuery.shown`. */
export function isShownAs(value: Value, text: string, stored: StoredValues): boolean {
  if (equalsJson(value, text, stored)) return true;
  const plain = stored.resolve(value);
  const isError = plain instanceof Tagged && plain.tag === 'error';
  if (typeof plain === 'string' || (!isError && !TOLD.test(text))) return false;
  const line = exactLine(plain, stored, text.length);
  // What is typed between single quotes in a shell has double ones in it.
  return line !== undefined && (line === text || line === text.replace(/"([^"'\\]*)"/g, "'$1'"));
}

/** Whether a recorded value is this JSON value; see `ValueQuery.equals`. */
export function equalsJson(value: Value, json: unknown, stored: StoredValues, depth = 0): boolean {
  const plain = stored.resolve(value);
  if (depth > DEEPEST) return false;
  if (plain instanceof Tagged) return taggedEquals(plain, json, stored, depth);
  if (plain instanceof Float)
    return plain.value === json || (typeof json === 'string' && plain.value === floatOf(json));
  // As JSON has it, in which such a number is a text; a number that was rounded is another.
  if (typeof plain === 'bigint')
    return json === String(plain) || (typeof json === 'number' && Number.isInteger(json) && BigInt(json) === plain);
  if (plain === null || typeof plain !== 'object') return plain === json;
  if (plain instanceof Dict) return dictEquals(plain, json, stored, depth);
  const items = Array.isArray(plain)
    ? plain
    : plain instanceof Tuple || plain instanceof SetValue
      ? plain.items
      : undefined;
  if (items === undefined || !Array.isArray(json) || json.length !== items.length) return false;
  if (!(plain instanceof SetValue))
    return items.every((item, index) => equalsJson(item, json[index], stored, depth + 1));
  return (
    items.every((item) => json.some((other) => equalsJson(item, other, stored, depth + 1))) &&
    json.every((other) => items.some((item) => equalsJson(item, other, stored, depth + 1)))
  );
}

/** The float that is exactly this whole number, of which a query has the digits as a text where it is beyond 2^53. */
export function floatOf(digits: string): number | undefined {
  const value = /^-?\d{16,400}$/.test(digits) ? Number(digits) : NaN;
  return Number.isFinite(value) && BigInt(value) === BigInt(digits) ? value : undefined;
}

function dictEquals(dict: Dict, json: unknown, stored: StoredValues, depth: number): boolean {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  const entries = children(dict, stored);
  return (
    entries.length === Object.keys(json).length &&
    entries.every(
      ({ name, value }) =>
        Object.hasOwn(json, name) && equalsJson(value, (json as Record<string, unknown>)[name], stored, depth + 1),
    )
  );
}

/** `Decimal('12.50')` is 12.5. */
function isNumber(value: Tagged, json: unknown, stored: StoredValues): boolean {
  if (typeof json !== 'number' && typeof json !== 'bigint') return false;
  const text = textPart(value, 1, stored);
  return textPart(value, 0, stored) === 'decimal.Decimal' && /\d/.test(text) && Number(text) === Number(json);
}

function taggedEquals(value: Tagged, json: unknown, stored: StoredValues, depth: number): boolean {
  const part = (index: number): boolean =>
    value.parts[index] !== undefined && equalsJson(value.parts[index], json, stored, depth + 1);
  switch (value.tag) {
    case 'object':
      // It may have more than these fields.
      return textPart(value, 2, stored) === '' && part(1);
    case 'subclass':
    case 'time':
      return part(1);
    case 'enum':
      return part(1) || part(2) || json === keyText(value, stored);
    // Its text is all there is to a path, a decimal or a UUID.
    case 'opaque':
      return textPart(value, 2, stored) === '' && (part(1) || isNumber(value, json, stored));
    case 'array':
      return json !== null && isWhole(value, stored) && equalsJson(arrayValue(value, stored), json, stored, depth + 1);
    // Only a part of it is known, or none.
    default:
      return false;
  }
}

/** Looks for one text, without case, in many values of a run; parts that values share are searched once. */
export class TextSearch {
  private readonly needle: string;
  private readonly glance: Glance;
  private readonly known = new Map<string, boolean>();

  constructor(
    text: string,
    private readonly stored: StoredValues,
    private readonly onPart: () => void,
  ) {
    this.needle = text.toLowerCase();
    this.glance = new Glance(this.needle);
  }

  /** Whether it may be in a value, as far as its own bytes tell. */
  mayBeIn(bytes: Buffer): boolean {
    this.glance.full = false;
    try {
      eachText(bytes, 0, bytes.length, this.glance);
    } catch (error) {
      // What cannot be read is shown with a text of its own.
      if (error instanceof DecodeError) return true;
      throw error;
    }
    return this.glance.full;
  }

  found(value: Value): boolean {
    return this.search(value, 0);
  }

  private search(value: Value, depth: number): boolean {
    if (depth > DEEPEST) {
      this.onPart();
      return false;
    }
    if (!(value instanceof Ref)) return this.inside(this.stored.resolve(value), depth);
    const key = value.cid.toString('latin1');
    let found = this.known.get(key);
    if (found === undefined) {
      found = this.inside(this.stored.resolve(value), depth);
      if (this.known.size > 100_000) this.known.clear();
      this.known.set(key, found);
    }
    return found;
  }

  private inside(value: Value, depth: number): boolean {
    if (typeof value === 'string') return value.toLowerCase().includes(this.needle);
    const scalar = scalarText(value);
    if (scalar !== undefined) return scalar.toLowerCase().includes(this.needle);
    if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8').toLowerCase().includes(this.needle);
    const parts = value instanceof Dict ? value.entries.flat() : partsOf(value);
    return parts.some((part) => this.search(part, depth + 1));
  }
}

/** Looks whether some text of a value has another one in it, or a part that is stored elsewhere may have. */
class Glance implements TextVisitor {
  full = false;
  private readonly bytes: Buffer | undefined;

  constructor(private readonly needle: string) {
    const bytes = Buffer.from(needle, 'utf8');
    // What is not plain may be written in several ways.
    if (bytes.length === needle.length) this.bytes = bytes;
  }

  ascii(text: Buffer, from: number, to: number): boolean {
    const { bytes } = this;
    if (bytes === undefined) return false;
    const last = to - bytes.length;
    for (let at = from; at < to; at++) {
      if (text[at]! > 0x7f) return false;
      if (at > last || this.full) continue;
      let index = 0;
      while (index < bytes.length && lower(text[at + index]!) === bytes[index]) index++;
      if (index === bytes.length) this.full = true;
    }
    return true;
  }

  text(text: string): void {
    if (text.toLowerCase().includes(this.needle)) this.full = true;
  }

  part(): void {
    this.full = true;
  }
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
