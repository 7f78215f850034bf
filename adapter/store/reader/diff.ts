import type { Change } from '../../../protocol/timeline';
import { Dict, Tagged, type Value } from '../values/model';
import { children, content, distinct, keyText, type Child } from './children';
import { pairItems } from './pairItems';
import { keptCount, line, markOf } from './render';
import { alike, equal, isIndexed, sameName } from './same';
import type { StoredValues } from './stored';

/** Differences that are listed; a state that is rewritten as a whole is not worth more. */
const LISTED = 200;
const DEEPEST = 50;
/** The name of what stands for the fields of an object that had no room. */
const REST = '…';

/**
 * What was added, removed and changed, each with its path: `verdict`, `visits[1]`, `order.lines[0].price`. A place in a list is the one after the
 * change, of what was removed the one before it. Bounded, and says when there is more; what is equal is never fetched. Of a value that was cut
 * nothing is said where it is not known: behind the cut something may have been added, removed or changed, or nothing.
 */
export function diff(before: Value, after: Value, stored: StoredValues): { changes: Change[]; more: boolean } {
  const changes: Change[] = [];
  compare('', before, after, 0);
  return { changes: changes.slice(0, LISTED), more: changes.length > LISTED };

  function add(change: Change['change'], path: string, old: Value | undefined, fresh: Value | undefined): void {
    if (changes.length > LISTED) return;
    changes.push({
      change,
      path,
      ...(old === undefined ? {} : { before: line(old, stored) }),
      ...(fresh === undefined ? {} : { after: line(fresh, stored) }),
    });
  }

  function compare(path: string, old: Value, fresh: Value, depth: number): void {
    if (changes.length > LISTED || sameName(old, fresh)) return;
    const one = stored.resolve(old);
    const other = stored.resolve(fresh);
    // A state may be an object before a node, and is its keys and values after it.
    if (depth === 0 && isObject(one) !== isObject(other) && (isFields(one) || isFields(other)))
      return named(path, one, other, depth);
    const [was, is] = [partOf(one, stored), partOf(other, stored)];
    if (was.isCut || is.isCut) return partly(path, one, other, was, is, depth);
    if (depth < DEEPEST && alike(one, other, stored)) {
      if (children(one, stored, 0, 1).length > 0 || children(other, stored, 0, 1).length > 0) {
        const listed = changes.length;
        inside(path, was, is, depth);
        // Of two arrays the head that was recorded may be equal, and how much there was is not.
        if (changes.length === listed && markOf(one, stored) !== markOf(other, stored))
          add('changed', path, one, other);
        return;
      }
    }
    if (!equal(one, other, stored, 0)) add('changed', path, one, other);
  }

  /** Two of which one at least was cut. */
  function partly(path: string, one: Value, other: Value, was: Part, is: Part, depth: number): void {
    const listed = changes.length;
    const [old, fresh] = [content(was.head, stored), content(is.head, stored)];
    const isLonger = (): boolean => totalOf(one, stored) !== totalOf(other, stored);
    if (classOf(one, stored) !== classOf(other, stored)) add('changed', path, one, other);
    else if (old === null || fresh === null) {
      // Of an object only its type is known.
      if (typeName(one, stored) !== typeName(other, stored)) add('changed', path, one, other);
    } else if (depth < DEEPEST && alike(old, fresh, stored)) {
      inside(path, was, is, depth);
      if (changes.length === listed && isLonger()) add('changed', path, one, other);
    } else if (isLonger() || !startAlike(old, fresh)) add('changed', path, one, other);
  }

  function inside(path: string, was: Part, is: Part, depth: number): void {
    if (isIndexed(was.head, stored)) indexed(path, was, is, depth);
    else named(path, was.head, is.head, depth, was.isCut, is.isCut);
  }

  function isFields(value: Value): boolean {
    return content(value, stored) instanceof Dict;
  }

  function indexed(path: string, was: Part, is: Part, depth: number): void {
    const [olds, news] = [children(was.head, stored), children(is.head, stored)];
    const isBehind = (part: Part, kept: readonly Child[], { name }: Child): boolean =>
      part.isCut && Number(name) >= kept.length;
    for (const { before, after } of pairItems(olds, news, stored, true)) {
      if (changes.length > LISTED) return;
      const place = `${path}[${(after ?? before)!.name}]`;
      if (before !== undefined && after !== undefined) compare(place, before.value, after.value, depth + 1);
      else if (before === undefined && !isBehind(was, olds, after!)) add('added', place, undefined, after!.value);
      else if (after === undefined && !isBehind(is, news, before!)) add('removed', place, before!.value, undefined);
    }
  }

  function named(path: string, old: Value, fresh: Value, depth: number, wasCut = false, isCut = false): void {
    const olds = pairs(old, stored);
    const news = pairs(fresh, stored);
    const lackedSome = takeRest(olds, stored) || wasCut;
    const lacksSome = takeRest(news, stored) || isCut;
    for (const [key, value] of news) {
      const place = join(path, key);
      const was = olds.get(key);
      if (was !== undefined) compare(place, was, value, depth + 1);
      else if (!lackedSome) add('added', place, undefined, value);
    }
    if (lacksSome) return;
    for (const [key, value] of olds) if (!news.has(key)) add('removed', join(path, key), value, undefined);
  }
}

/** What there is of a value; null where it was cut and only its type is known. */
interface Part {
  head: Value;
  isCut: boolean;
}

function partOf(value: Value, stored: StoredValues): Part {
  const cut = cutOf(value, stored);
  return { head: cut === undefined ? value : stored.resolve(cut.parts[1] ?? null), isCut: cut !== undefined };
}

function cutOf(value: Value, stored: StoredValues): Tagged | undefined {
  const plain = value instanceof Tagged && value.tag === 'subclass' ? stored.resolve(value.parts[1] ?? null) : value;
  return plain instanceof Tagged && plain.tag === 'cut' ? plain : undefined;
}

/** How many characters, bytes, elements or keys there were. */
function totalOf(value: Value, stored: StoredValues): Value {
  const cut = cutOf(value, stored);
  return cut === undefined ? keptCount(content(value, stored), stored) : stored.resolve(cut.parts[2] ?? null);
}

/** The class of the app's that is derived from one of Python's own. */
function classOf(value: Value, stored: StoredValues): Value | undefined {
  return value instanceof Tagged && value.tag === 'subclass' ? typeName(value, stored) : undefined;
}

function typeName(value: Value, stored: StoredValues): Value {
  return value instanceof Tagged ? stored.resolve(value.parts[0] ?? null) : value;
}

/** Two texts, or two of bytes: whether one goes on where the other ends. */
function startAlike(one: Value, other: Value): boolean {
  if (typeof one === 'string' && typeof other === 'string') return one.startsWith(other) || other.startsWith(one);
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return false;
  const shorter = Math.min(one.length, other.length);
  return Buffer.compare(one.subarray(0, shorter), other.subarray(0, shorter)) === 0;
}

function isObject(value: Value): boolean {
  return value instanceof Tagged && value.tag === 'object';
}

/** Keys as they stand in a path: plain text as it is, everything else in brackets. */
function pairs(value: Value, stored: StoredValues): Map<string, Value> {
  const plain = content(value, stored);
  if (!(plain instanceof Dict)) return new Map(children(value, stored).map((entry) => [entry.name, entry.value]));
  const keys = plain.entries.map(([key]) => {
    const text = stored.resolve(key);
    return typeof text === 'string' && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text) ? text : `[${keyText(text, stored)}]`;
  });
  return new Map(distinct(keys).map((key, index) => [key, plain.entries[index]![1]]));
}

/** Whether some fields had no room; what stands for them is taken out. */
function takeRest(fields: Map<string, Value>, stored: StoredValues): boolean {
  const rest = fields.get(REST);
  const plain = rest === undefined ? null : stored.resolve(rest);
  return plain instanceof Tagged && plain.tag === 'cut' && plain.parts[0] === 'fields' && fields.delete(REST);
}

function join(path: string, key: string): string {
  return path === '' || key.startsWith('[') ? path + key : `${path}.${key}`;
}
