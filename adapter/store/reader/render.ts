import { MASK } from '../../../protocol/secrets';
import { errorText, type ValueNode } from '../../../protocol/timeline';
import { Complex, Dict, Float, Ref, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { child, childCount, children, content, keyText } from './children';
import { MESSAGE, messageLine } from './messageText';
import type { StoredValues } from './stored';
import { LINE, PREVIEW, bytesText, oneLine, quote, scalarText, shorten, sized } from './text';

/** A length of time. */
export const SECONDS = /^-?\d+(\.\d+)?$/;

/** Classes of Python that make a value from its text. */
export const FROM_TEXT =
  /^(?:decimal\.Decimal|fractions\.Fraction|uuid\.UUID|ipaddress\.\w+|zoneinfo\.ZoneInfo|pathlib\.(?:_local\.)?\w*Path)$/;

/** One line, one type and a mark for a value. Nothing of the app runs, nothing is fetched that is not shown. */
export function node(name: string, value: Value, stored: StoredValues): ValueNode {
  const plain = stored.resolve(value);
  const mark = markOf(plain, stored);
  return {
    name,
    text: whole(plain, stored),
    type: typeName(plain, stored),
    children: childCount(plain, stored),
    ...(isLong(textOf(plain, stored)) && { long: true }),
    ...(mark === undefined ? {} : { mark }),
  };
}

/** A line of so many characters may end in an ellipsis where the window is narrow. */
const SHORT = 60;

function isLong(text: string | Uint8Array | undefined): boolean {
  return text !== undefined && (text.length > SHORT || (typeof text === 'string' && /[\n\r\u2028\u2029]/.test(text)));
}

/** The text or the bytes that a value is, or is told by. */
export function textOf(value: Value, stored: StoredValues): string | Uint8Array | undefined {
  const plain = stored.resolve(value);
  if (plain instanceof Tagged && plain.tag === 'opaque') return textPart(plain, 1, stored);
  const inner = content(plain, stored);
  return typeof inner === 'string' || inner instanceof Uint8Array ? inner : undefined;
}

/**
 * A line above the lines of its parts, so that it does not tell them as well: `dict (3)`. With `toEnd`, what has nothing below it is told to its
 * end.
 */
export function headLine(value: Value, stored: StoredValues, toEnd = false): string {
  const plain = stored.resolve(value);
  if (!toEnd) return whole(plain, stored, Infinity);
  const isOpen = childCount(plain, stored) > 0 && !(plain instanceof Tagged && plain.tag === 'error');
  return line(plain, stored, isOpen ? LINE : Infinity, Infinity);
}

/** The line, with the length of a text that it only shows the ends of. */
function whole(plain: Value, stored: StoredValues, depth = 0): string {
  const text = shorten(line(plain, stored, LINE, depth));
  if (typeof plain !== 'string' || plain.length <= LINE) return text;
  const pairs = plain.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
  return `${text} (${plain.length - pairs} characters)`;
}

/** `depth`: containers around it that show what is in them; beyond the deepest, such as Infinity, only how many there are is told. */
export function line(value: Value, stored: StoredValues, limit = LINE, depth = 0): string {
  const plain = stored.resolve(value);
  const scalar = scalarText(plain);
  if (scalar !== undefined) return shorten(scalar, limit);
  if (typeof plain === 'string') return quote(shorten(plain, limit));
  if (plain instanceof Uint8Array) {
    return plain.length > limit
      ? `${bytesText(plain.subarray(0, limit / 4))}… (${plain.length} bytes)`
      : shorten(bytesText(plain), limit);
  }
  const message = messageLine(plain, stored);
  if (message !== undefined) return shorten(message, limit);
  if (plain instanceof Tagged) return tagged(plain, stored, limit, depth);
  return contents(plain, stored, limit, depth) ?? label(plain);
}

/** `dict (3)`, or what is empty as Python writes it. */
function label(plain: Value): string {
  if (Array.isArray(plain)) return sized('list', plain.length, '[]');
  if (plain instanceof Tuple) return sized('tuple', plain.items.length, '()');
  if (plain instanceof Dict) return sized('dict', plain.entries.length, '{}');
  if (!(plain instanceof SetValue)) return '';
  const type = plain.frozen ? 'frozenset' : 'set';
  return sized(type, plain.items.length, `${type}()`);
}

/** `Counter (400000)…`, where this is what was kept of one; undefined for all else. */
function cutContainer(plain: Value, type: string, stored: StoredValues): string | undefined {
  if (!(plain instanceof Tagged) || plain.tag !== 'cut') return undefined;
  const all = stored.resolve(plain.parts[2] ?? null);
  const isContainer = sizeOf(stored.resolve(plain.parts[1] ?? null)) !== undefined;
  return isContainer && typeof all === 'number' ? `${type} (${all})…` : undefined;
}

/** How many are in a container; undefined for all else. */
export function sizeOf(plain: Value): number | undefined {
  if (Array.isArray(plain)) return plain.length;
  if (plain instanceof Tuple || plain instanceof SetValue) return plain.items.length;
  return plain instanceof Dict ? plain.entries.length : undefined;
}

/** What is in a container, where it fits: much as in the Variables pane. Nothing for a list of messages, each of which has its own line. */
function contents(plain: Value, stored: StoredValues, limit: number, depth: number): string | undefined {
  if (plain instanceof Dict) {
    return joined('{', plain.entries, '}', limit, depth, ([key, value]) => {
      return `${keyLine(key, stored, depth + 1)}: ${partLine(value, stored, PREVIEW.item, depth + 1)}`;
    });
  }
  const item = (value: Value): string | undefined =>
    isMessage(value, stored) ? undefined : partLine(value, stored, PREVIEW.item, depth + 1);
  if (Array.isArray(plain)) return joined('[', plain, ']', limit, depth, item);
  if (plain instanceof Tuple)
    return joined('(', plain.items, plain.items.length === 1 ? ',)' : ')', limit, depth, item);
  if (!(plain instanceof SetValue)) return undefined;
  return plain.frozen
    ? joined('frozenset({', plain.items, '})', limit, depth, item)
    : joined('{', plain.items, '}', limit, depth, item);
}

/** A part that is stored on its own is told by its first bytes where it is large: a line is not worth fetching it. */
function partLine(part: Value, stored: StoredValues, limit: number, depth: number): string {
  const seen = part instanceof Ref ? stored.glimpse(part) : { value: part };
  if (seen === undefined) return '…';
  if ('value' in seen) return line(seen.value, stored, limit, depth);
  if ('text' in seen) return quote(`${seen.text.slice(0, limit - 1)}…`);
  if ('object' in seen) return `${shortType(seen.object)}(…)`;
  return seen.type === 'dict' ? '{…}' : `${seen.type} (${seen.count})`;
}

function isMessage(part: Value, stored: StoredValues): boolean {
  const seen = part instanceof Ref ? stored.glimpse(part) : { value: part };
  if (seen === undefined) return false;
  if ('value' in seen) return messageLine(seen.value, stored) !== undefined;
  return 'object' in seen && MESSAGE.test(seen.object);
}

function joined<T>(
  open: string,
  items: readonly T[],
  close: string,
  limit: number,
  depth: number,
  textOf: (item: T) => string | undefined,
): string | undefined {
  if (items.length === 0 || items.length > PREVIEW.items || depth > PREVIEW.deepest) return undefined;
  let room = Math.min(limit, PREVIEW.room);
  const texts: string[] = [];
  for (const item of items) {
    const text = textOf(item);
    room -= (text?.length ?? room) + 2;
    if (text === undefined || room < 0) return undefined;
    texts.push(text);
  }
  return `${open}${texts.join(', ')}${close}`;
}

function keyLine(key: Value, stored: StoredValues, depth: number): string {
  const plain = stored.resolve(key);
  return isShortKey(plain, stored)
    ? shorten(keyText(plain, stored), PREVIEW.key)
    : line(plain, stored, PREVIEW.key, depth);
}

/** An object, or a tuple of a few that are no containers: written out to its end in no time, it is told by both ends. */
function isShortKey(key: Value, stored: StoredValues): boolean {
  const isObject = (value: Value): boolean => value instanceof Tagged && value.tag === 'object';
  if (!(key instanceof Tuple)) return isObject(key);
  const items = key.items.length > PREVIEW.items ? undefined : key.items.map((item) => stored.resolve(item));
  return items?.every((item) => isObject(item) || typeof item !== 'object' || item === null) ?? false;
}

export function typeName(value: Value, stored: StoredValues): string {
  const plain = stored.resolve(value);
  if (plain === null) return 'NoneType';
  if (typeof plain === 'boolean') return 'bool';
  if (typeof plain === 'number' || typeof plain === 'bigint') return 'int';
  if (typeof plain === 'string') return 'str';
  if (plain instanceof Float) return 'float';
  if (plain instanceof Complex) return 'complex';
  if (plain instanceof Uint8Array) return 'bytes';
  if (Array.isArray(plain)) return 'list';
  if (plain instanceof Tuple) return 'tuple';
  if (plain instanceof SetValue) return plain.frozen ? 'frozenset' : 'set';
  if (plain instanceof Dict) return 'dict';
  if (!(plain instanceof Tagged)) return '';
  if (plain.tag === 'bytearray' || plain.tag === 'ellipsis') return plain.tag;
  return plain.tag === 'masked' || plain.tag === 'cycle' ? '' : textPart(plain, 0, stored);
}

/** `langchain_core.messages.human.HumanMessage` to `HumanMessage`. */
export function shortType(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1);
}

export function textPart(value: Tagged, index: number, stored: StoredValues): string {
  const part = stored.resolve(value.parts[index] ?? null);
  return typeof part === 'string' ? part : '';
}

const MOST_ARGUMENTS = 100;

/** With its arguments as Python writes them, where the recorded sentence is made of their types: `{'order': 7}` for `<dict>`. */
export function errorMessage(error: Tagged, stored: StoredValues): string {
  const message = textPart(error, 1, stored);
  if (!message.includes('<')) return message;
  // A bare object, such as one that a task is cancelled with, says nothing.
  if (message === '<object>') return '';
  const args = stored.resolve(child(error, 'args', stored) ?? null);
  if (!(args instanceof Tuple) || args.items.length === 0 || args.items.length > MOST_ARGUMENTS) return message;
  const several = args.items.length > 1;
  const texts: string[] = [];
  let at = several ? 1 : 0;
  for (const arg of args.items) {
    const item = stored.resolve(arg);
    const leaf =
      typeof item === 'string' ? quote(item) : item instanceof Uint8Array ? bytesText(item) : scalarText(item);
    const said = leaf ?? `<${typeName(item, stored)}>`;
    // A sentence that is made in another way stays as it is.
    if (!message.startsWith(said, at)) return message;
    texts.push(leaf ?? keyText(item, stored));
    at += said.length + 2;
  }
  const length = at - (several ? 1 : 2);
  if (message.length !== length) return message;
  return several ? `(${texts.join(', ')})` : texts[0]!;
}

/** For a place without marks: `1.50` of a decimal, whose text is all there is to it, and `<generator lines>`. */
export function opaqueText(value: Tagged, stored: StoredValues): string {
  const [type, text, reason] = [0, 1, 2].map((index) => textPart(value, index, stored)) as [string, string, string];
  if (text === '') return `<${type}>`;
  // What cannot be read has no type.
  if (type === '') return text;
  return reason === '' ? text : `<${type} ${text}>`;
}

/** Why something is missing, as a sentence. */
export function markOf(value: Value, stored: StoredValues): string | undefined {
  if (!(value instanceof Tagged)) return undefined;
  switch (value.tag) {
    case 'masked':
      return sentence(`Masked: ${textPart(value, 0, stored) || 'a secret'}`);
    case 'cut': {
      const length = stored.resolve(value.parts[2] ?? null);
      const reason = textPart(value, 3, stored);
      const all = typeof length === 'number' ? length : 0;
      const kept = keptCount(value.parts[1] ?? null, stored);
      const size = all <= 0 ? '' : kept > 0 ? ` after ${kept} of ${all}` : ` of ${all} in all`;
      return sentence(`Cut${size}${reason === '' ? '' : `: ${reason}`}`);
    }
    case 'opaque':
      // Its text is all there is to it, such as a decimal's.
      if (textPart(value, 1, stored) !== '' && textPart(value, 2, stored) === '') return undefined;
      return sentence(`Not looked into: ${textPart(value, 2, stored) || 'it has no fields to show'}`);
    case 'cycle':
      return 'The value contains itself here.';
    case 'object':
      return textPart(value, 2, stored) === '' ? undefined : sentence(textPart(value, 2, stored));
    case 'array':
      return isWhole(value, stored) ? undefined : partOf(value, stored);
    case 'subclass':
      return markOf(stored.resolve(value.parts[1] ?? null), stored);
    default:
      return undefined;
  }
}

/** Characters, bytes, elements or keys that are there of a value that is cut. */
export function keptCount(head: Value, stored: StoredValues): number {
  const plain = stored.resolve(head);
  if (typeof plain === 'string') return countCharacters(plain);
  if (plain instanceof Uint8Array) return plain.length;
  if (plain instanceof Tagged && plain.tag === 'bytearray') return keptCount(plain.parts[0] ?? null, stored);
  return childCount(plain, stored);
}

/** As Python counts them. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}

/** Whether every element of the array is there: of a table, every row and column. */
export function isWhole(array: Tagged, stored: StoredValues): boolean {
  return sizesOf(array, stored).every(({ kept, all }) => kept === all);
}

interface Size {
  of: 'elements' | 'rows' | 'columns';
  kept: number;
  /** Infinite where nobody can tell. */
  all: number;
}

function sizesOf(array: Tagged, stored: StoredValues): Size[] {
  const shape = stored.resolve(array.parts[1] ?? null);
  const sizes = (shape instanceof Tuple ? shape.items : []).map((size) => {
    const number = stored.resolve(size);
    return typeof number === 'number' ? number : Infinity;
  });
  const head = stored.resolve(array.parts[3] ?? null);
  if (!(head instanceof Dict)) {
    const all = sizes.reduce((product, size) => product * size, 1);
    // The one element of an array without dimensions stands alone.
    return [{ of: 'elements', kept: Array.isArray(head) ? head.length : 0, all }];
  }
  // A series has rows alone; a column in front may name the rows, and no other is called like that.
  const [rows = Infinity, columns = sizes.length === 1 ? 1 : Infinity] = sizes;
  const [name] = head.entries.map(([key]) => stored.resolve(key));
  const isNamed = typeof name === 'string' && /^\(index[^()]*\)$/.test(name);
  const [first] = head.entries.map(([, column]) => stored.resolve(column));
  return [
    { of: 'rows', kept: first === undefined ? rows : childCount(first, stored), all: rows },
    { of: 'columns', kept: head.entries.length - (isNamed ? 1 : 0), all: columns },
  ];
}

/** `Only the first 20 of 500 rows and 8 of 40 columns were recorded.` */
function partOf(array: Tagged, stored: StoredValues): string {
  const cut = sizesOf(array, stored).filter(({ kept, all }) => kept !== all);
  const sizes = cut.map(({ of, kept, all }) => (Number.isFinite(all) ? `${kept} of ${all} ${of}` : `${kept} ${of}`));
  return `Only the first ${sizes.join(' and ')} were recorded.`;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

function tagged(value: Tagged, stored: StoredValues, limit: number, depth: number): string {
  const text = (index: number): string => textPart(value, index, stored);
  const inside = (index: number): string => line(value.parts[index] ?? null, stored, limit, depth);
  switch (value.tag) {
    case 'object':
      return object(value, stored, limit, depth);
    case 'opaque':
      // As the pane has it: a path without quotes would be read as something else, beside others.
      if (FROM_TEXT.test(text(0)) && text(1) !== '' && text(2) === '')
        return `${shortType(text(0))}(${quote(shorten(text(1), limit))})`;
      return oneLine(text(1) || `<${shortType(text(0))}>`, limit);
    case 'cut': {
      const head = stored.resolve(value.parts[1] ?? null);
      if (typeof head === 'string') return quote(`${shorten(head, limit - 1)}…`);
      // Of a value that could not be looked into at all there is no head.
      if (head === null && text(0) === 'value') return '…';
      const all = stored.resolve(value.parts[2] ?? null);
      // Of an object behind a spent budget there is its type alone.
      if (head === null && text(0) !== '') return `${shortType(text(0))}…`;
      if (typeof all !== 'number' || all <= 0) return `${inside(1)}…`;
      // How many there were: how many of them were kept may be by chance, and the mark says it.
      if (head instanceof Uint8Array) return `${bytesText(head.subarray(0, limit / 8))}… (${all} bytes)`;
      return sizeOf(head) === undefined ? `${inside(1)}…` : `${typeName(head, stored)} (${all})…`;
    }
    case 'masked':
      return MASK;
    case 'cycle':
      return '↑';
    case 'error':
      return oneLine(errorText({ type: shortType(text(0)), message: errorMessage(value, stored) }), limit);
    case 'enum':
      // Some combined flags have no name of their own.
      return text(1) === '' ? `${shortType(text(0))}(${inside(2)})` : `${shortType(text(0))}.${text(1)}`;
    case 'time':
      // A length of time is stored as its seconds; numpy's own lengths say their unit.
      return SECONDS.test(text(1)) && !text(0).startsWith('numpy.') ? `${text(1)} s` : text(1);
    case 'array': {
      const shape = stored.resolve(value.parts[1] ?? null);
      const sizes = shape instanceof Tuple ? shape.items : Array.isArray(shape) ? shape : [];
      const kind = stored.resolve(value.parts[2] ?? null);
      return oneLine(
        `${shortType(text(0))} (${sizes.map((size) => scalarText(stored.resolve(size)) ?? '?').join(' × ')}) ${typeof kind === 'string' ? kind : ''}`,
        limit,
      );
    }
    case 'bytearray':
      return `bytearray(${inside(0)})`;
    case 'subclass': {
      const plain = stored.resolve(value.parts[1] ?? null);
      const size = sizeOf(plain);
      if (size === undefined) return cutContainer(plain, shortType(text(0)), stored) ?? inside(1);
      const told = size === 0 ? '' : contents(plain, stored, limit, depth);
      return told === undefined ? `${shortType(text(0))} (${size})` : `${shortType(text(0))}(${told})`;
    }
    case 'ellipsis':
      return '...';
    default:
      return `<${oneLine(value.tag, 40)}>`;
  }
}

/** Fields of an object that its line tells. */
const FIELDS = 12;

/** `Order(id=7, region='eu')`, as far as it fits. */
function object(value: Tagged, stored: StoredValues, limit: number, depth: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const field of children(value, stored, 0, FIELDS + 1)) {
    const text = `${field.name}=${partLine(field.value, stored, 40, depth + 1)}`;
    length += text.length + 2;
    if (parts.length === FIELDS || length > limit - 40) {
      parts.push('…');
      break;
    }
    parts.push(text);
  }
  return `${shortType(textPart(value, 0, stored))}(${parts.join(', ')})`;
}
