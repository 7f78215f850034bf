import { Complex, Float, type Value } from '../values/model';

/** Longest text of one line. */
export const LINE = 200;

/** Containers whose contents stand in a line: so many items, in so many characters, in so many containers around them. */
export const PREVIEW = { items: 20, room: 100, item: 60, key: 30, deepest: 2 } as const;

/** Cut in the middle, with an ellipsis. */
export function shorten(text: string, limit = LINE): string {
  if (text.length <= limit) return text;
  const head = Math.ceil((limit - 1) * 0.7);
  return `${whole(text.slice(0, head))}…${whole(text.slice(text.length - (limit - 1 - head)))}`;
}

/** Without half a character at either end. */
export function whole(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '').replace(/^[\udc00-\udfff]/, '');
}

/** `dict (3)`, or what is empty as Python writes it. */
export function sized(type: string, size: number, empty: string): string {
  return size === 0 ? empty : `${type} (${size})`;
}

export function oneLine(text: string, limit = LINE): string {
  const flat = (part: string): string => whole(part).replace(/\s+/g, ' ').trim();
  // Of a very long one no more than its ends is looked at.
  const isShort = text.length <= limit * 8;
  return shorten(isShort ? flat(text) : `${flat(text.slice(0, limit * 4))}…${flat(text.slice(-limit * 4))}`, limit);
}

/** What Python's repr writes as an escape too: marks of direction, joiners, odd spaces, letters of nobody. */
const UNSEEN = /[\p{C}\p{Z}]/u;

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** Nothing in it has to be written otherwise: ASCII, and letters of scripts in which all characters can be seen. */
const PLAIN =
  /^[ !#-&(-[\]-~\u00a1-\u00ac\u00ae-\u0377\u0400-\u052f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** Text as a Python literal. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  let result = mark;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (character === mark) result += `\\${mark}`;
    else if (NAMED[character] !== undefined) result += NAMED[character];
    else if (code === 0x20 || (code > 0x20 && code < 0x7f)) result += character;
    else if (code < 0xa1 || code === 0xad) result += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (!UNSEEN.test(character)) result += character;
    else if (code < 0x10000) result += `\\u${code.toString(16).padStart(4, '0')}`;
    else result += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return result + mark;
}

export function bytesText(bytes: Uint8Array): string {
  let result = "b'";
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    if (byte === 0x27) result += "\\'";
    else if (NAMED[character] !== undefined) result += NAMED[character];
    else if (byte < 0x20 || byte > 0x7e) result += `\\x${byte.toString(16).padStart(2, '0')}`;
    else result += character;
  }
  return `${result}'`;
}

export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  // Python writes from 1e16 and below 1e-4 with an exponent of two digits or more.
  const size = Math.abs(value);
  if (size === 0 || (size < 1e16 && size >= 1e-4)) return Number.isInteger(value) ? `${value}.0` : String(value);
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

/** Digits of a huge number take time that grows with their square; a line needs few of them. */
export function intText(value: number | bigint): string {
  if (typeof value === 'number') return String(value);
  const size = value < 0n ? -value : value;
  return size >> 20_000n > 0n ? hexText(value) : value.toString();
}

export function hexText(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Plain values but text and bytes, in Python's words; nothing for the others. */
export function scalarText(value: Value): string | undefined {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return intText(value);
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof Complex) {
    const part = (number: number): string => floatText(number).replace(/\.0$/, '');
    const imaginary = part(value.imaginary);
    return `(${part(value.real)}${imaginary.startsWith('-') ? '' : '+'}${imaginary}j)`;
  }
  return undefined;
}
