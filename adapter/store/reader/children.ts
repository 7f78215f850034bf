import { MASK } from '../../../protocol/secrets';
import type { StoredValues } from './stored';
import { bytesText, quote, scalarText, shorten } from './text';
import { Dict, SetValue, Tagged, Tuple, type Value } from '../values/model';

export interface Child {
  /** Key, index or field name; unique among its siblings. */
  name: string;
  value: Value;
}

/** What a person can open below a value. */
export function childCount(value: Value, stored: StoredValues): number {
  const inner = content(value, stored);
  if (Array.isArray(inner)) return inner.length;
  if (inner instanceof Tuple || inner instanceof SetValue) return inner.items.length;
  if (inner instanceof Dict) return inner.entries.length;
  return inner instanceof Tagged ? tagged(inner, stored).length : 0;
}

/** Children from `start`, at most `count`; names are made for these only where that is possible. */
export function children(value: Value, stored: StoredValues, start = 0, count = Infinity): Child[] {
  const inner = content(value, stored);
  const items = Array.isArray(inner)
    ? inner
    : inner instanceof Tuple || inner instanceof SetValue
      ? inner.items
      : undefined;
  if (items !== undefined)
    return items.slice(start, start + count).map((item, index) => ({ name: String(start + index), value: item }));
  const all = inner instanceof Dict ? entries(inner, stored) : inner instanceof Tagged ? tagged(inner, stored) : [];
  return all.slice(start, start + count);
}

/** The child of that name. */
export function child(value: Value, name: string, stored: StoredValues): Value | undefined {
  const inner = content(value, stored);
  const items = Array.isArray(inner)
    ? inner
    : inner instanceof Tuple || inner instanceof SetValue
      ? inner.items
      : undefined;
  if (items !== undefined) return /^\d{1,10}$/.test(name) ? items[Number(name)] : undefined;
  const found = children(inner, stored).find((entry) => entry.name === name);
  if (found !== undefined || !(inner instanceof Dict)) return found?.value;
  return inner.entries.find(([key]) => enumText(key, stored) === name)?.[1];
}

/** How Python calls an exception's link to an earlier one: it was raised from its `cause`, or while its `context` was handled. */
export type ErrorLink = 'cause' | 'context';

export function linkName(error: Tagged, stored: StoredValues): ErrorLink {
  return stored.resolve(error.parts[5] ?? null) === true ? 'context' : 'cause';
}

/** Through the wrappers that stand for what is in them: a cut value's head, a subclass's plain part. */
export function content(value: Value, stored: StoredValues): Value {
  let inner = stored.resolve(value);
  for (let level = 0; inner instanceof Tagged && level < 100; level++) {
    if (inner.tag !== 'cut' && inner.tag !== 'subclass') break;
    inner = stored.resolve(inner.parts[1] ?? null);
  }
  return inner;
}

/** Of so many keys it is seen without a set that no two are the same. */
const FEW = 8;

/** Of a key that is a text of a class of the app's, the text: Python finds it by that. */
function keyString(key: Value, stored: StoredValues): string | undefined {
  if (typeof key === 'string') return key;
  const plain = stored.resolve(key);
  if (!(plain instanceof Tagged) || plain.tag !== 'subclass') return undefined;
  const text = content(plain, stored);
  return typeof text === 'string' ? text : undefined;
}

/** The value of a key that is a member of an enum, where that is a text. */
function enumText(key: Value, stored: StoredValues): string | undefined {
  const plain = stored.resolve(key);
  if (!(plain instanceof Tagged) || plain.tag !== 'enum') return undefined;
  return keyString(plain.parts[2] ?? null, stored);
}

function entries(dict: Dict, stored: StoredValues): Child[] {
  if (dict.entries.length <= FEW && areOtherTexts(dict)) {
    return dict.entries.map(([name, value]) => ({ name: name as string, value }));
  }
  const keys = dict.entries.map(([key]) => keyString(key, stored) ?? stored.resolve(key));
  const texts = keys.map((key) => (typeof key === 'string' ? key : keyText(key, stored)));
  // Beside 7, '7' has its quotes.
  const others = new Set(texts.filter((_text, index) => typeof keys[index] !== 'string'));
  const names = texts.map((text, index) => (typeof keys[index] === 'string' && others.has(text) ? quote(text) : text));
  return distinct(names).map((name, index) => ({ name, value: dict.entries[index]![1] }));
}

/** Keys that read the same, such as two that are masked: the later one says that it is another, by a name that none before it has. */
export function distinct(texts: readonly string[]): string[] {
  const seen = new Map<string, number>();
  const taken = new Set<string>();
  return texts.map((text) => {
    let count = (seen.get(text) ?? 0) + 1;
    let name = count === 1 ? text : `${text} (${count})`;
    while (taken.has(name)) name = `${text} (${++count})`;
    seen.set(text, count);
    taken.add(name);
    return name;
  });
}

function areOtherTexts({ entries: all }: Dict): boolean {
  for (let index = 0; index < all.length; index++) {
    const key = all[index]![0];
    if (typeof key !== 'string') return false;
    for (let before = 0; before < index; before++) if (all[before]![0] === key) return false;
  }
  return true;
}

/** Of a key that is a container: parts told, and levels of such in it. */
const KEY_PARTS = 8;
const KEY_DEEPEST = 3;
/** Of a key that the recording cut. */
const CUT_KEY = 40;

export function keyText(key: Value, stored: StoredValues, depth = 0): string {
  const plain = stored.resolve(key);
  if (Array.isArray(plain)) return someOf('[', plain, ']', depth, (item) => keyText(item, stored, depth + 1));
  if (plain instanceof Dict)
    return someOf('{', plain.entries, '}', depth, ([name, value]) =>
      [name, value].map((part) => keyText(part, stored, depth + 1)).join(': '),
    );
  if (plain instanceof Tuple)
    return `(${plain.items.map((item) => keyText(item, stored, depth)).join(', ')}${plain.items.length === 1 ? ',' : ''})`;
  if (plain instanceof SetValue)
    return `frozenset({${plain.items.map((item) => keyText(item, stored, depth)).join(', ')}})`;
  if (plain instanceof Uint8Array) return bytesText(plain);
  if (plain instanceof Tagged) return taggedKey(plain, stored, depth);
  return typeof plain === 'string' ? quote(plain) : (scalarText(plain) ?? 'key');
}

/** A key that is a container: as much of it as tells it from others. */
function someOf<T>(open: string, items: readonly T[], close: string, depth: number, text: (item: T) => string): string {
  if (depth >= KEY_DEEPEST && items.length > 0) return `${open}…${close}`;
  const rest = items.length > KEY_PARTS ? ['…'] : [];
  return `${open}${[...items.slice(0, KEY_PARTS).map(text), ...rest].join(', ')}${close}`;
}

function taggedKey(key: Tagged, stored: StoredValues, depth: number): string {
  const [first, second, third] = key.parts.map((part) => stored.resolve(part));
  const type = typeof first === 'string' ? first.slice(first.lastIndexOf('.') + 1) : '?';
  const text = typeof second === 'string' ? second : '';
  switch (key.tag) {
    case 'object': {
      const fields = children(key, stored, 0, KEY_PARTS + 1);
      return (
        type + someOf('(', fields, ')', depth, ({ name, value }) => `${name}=${keyText(value, stored, depth + 1)}`)
      );
    }
    case 'enum':
      return text === '' ? `${type}(${keyText(third ?? null, stored, depth)})` : `${type}.${text}`;
    case 'time':
      return text;
    case 'opaque':
      return text === '' ? `<${type}>` : text;
    case 'subclass': {
      const plain = keyText(second ?? null, stored, depth);
      return second instanceof Tuple ? `${type}${plain}` : plain;
    }
    case 'masked':
      return MASK;
    case 'ellipsis':
      return '...';
    case 'cut': {
      const all = typeof third === 'number' && third > 0 ? ` of ${third} in all` : '';
      if (second === undefined || second === null) return `<${type}, cut${all}>`;
      const kept = typeof second === 'string' ? second : keyText(second, stored, depth);
      return `${shorten(kept, CUT_KEY)}… (cut${all})`;
    }
    default:
      return `<${type === '?' ? key.tag : type}>`;
  }
}

/**
 * What is recorded of an array: its elements; of one with more dimensions its rows, each of them an array, as far as there are elements;
 * of a table its columns. Null where nothing is.
 */
export function arrayContent(array: Tagged, stored: StoredValues): Value {
  const [type, shape, kind, content] = [0, 1, 2, 3].map((index) => stored.resolve(array.parts[index] ?? null));
  const sizes = shape instanceof Tuple ? shape.items.map((size) => stored.resolve(size)) : [];
  if (!Array.isArray(content) || sizes.length < 2) return content ?? null;
  const length = sizes.slice(1).reduce<number>((product, size) => product * (typeof size === 'number' ? size : NaN), 1);
  if (!Number.isSafeInteger(length) || length < 1) return content;
  const rows = Array.from({ length: Math.ceil(content.length / length) }, (_, row) =>
    content.slice(row * length, (row + 1) * length),
  );
  return rows.map((row) => new Tagged('array', [type!, new Tuple(sizes.slice(1)), kind!, row]));
}

/** The same where a value stands for it, as in JSON: an array without dimensions is its only element. */
export function arrayValue(array: Tagged, stored: StoredValues): Value {
  const inner = arrayContent(array, stored);
  const shape = stored.resolve(array.parts[1] ?? null);
  const isOne = shape instanceof Tuple && shape.items.length === 0 && Array.isArray(inner) && inner.length === 1;
  return isOne ? (inner[0] ?? inner) : inner;
}

function tagged(value: Tagged, stored: StoredValues): Child[] {
  const parts = value.parts.map((part) => stored.resolve(part));
  const fields = (part: Value | undefined): Child[] => (part instanceof Dict ? entries(part, stored) : []);
  switch (value.tag) {
    case 'object':
      return fields(parts[1]);
    case 'error': {
      const cause = parts[3] ?? null;
      const own = fields(parts[4]);
      if (cause === null) return own;
      const link = linkName(value, stored);
      // Many classes of exceptions have a field of that name.
      const name = own.some((field) => field.name === link) ? `__${link}__` : link;
      return [{ name, value: cause }, ...own];
    }
    case 'enum':
      return parts[2] === undefined ? [] : [{ name: 'value', value: parts[2] }];
    case 'array':
      return children(arrayContent(value, stored), stored);
    default:
      return [];
  }
}
