import type { Change } from '../../../protocol/timeline';
import { Complex, Dict, Float, Ref, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { children, content, distinct, keyText } from './children';
import { line } from './render';
import type { StoredValues } from './stored';

/** Differences that are listed; a state that is rewritten as a whole is not worth more. */
const LISTED = 200;
const DEEPEST = 50;

/**
 * What was added, removed and changed, each with its path: `verdict`, `visits[1]`, `order.lines[0].price`. Bounded, and says when there is more;
 * what is equal is never fetched.
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
    if (depth < DEEPEST && alike(one, other, stored)) {
      if (isIndexed(content(one, stored))) return indexed(path, children(one, stored), children(other, stored), depth);
      if (children(one, stored, 0, 1).length > 0 || children(other, stored, 0, 1).length > 0)
        return named(path, one, other, depth);
    }
    if (!equal(one, other, stored, 0)) add('changed', path, one, other);
  }

  function indexed(path: string, old: { value: Value }[], fresh: { value: Value }[], depth: number): void {
    for (let index = 0; index < Math.max(old.length, fresh.length) && changes.length <= LISTED; index++) {
      const place = `${path}[${index}]`;
      const [one, other] = [old[index], fresh[index]];
      if (one !== undefined && other !== undefined) compare(place, one.value, other.value, depth + 1);
      else if (other !== undefined) add('added', place, undefined, other.value);
      else add('removed', place, one!.value, undefined);
    }
  }

  function named(path: string, old: Value, fresh: Value, depth: number): void {
    const olds = pairs(old, stored);
    const news = pairs(fresh, stored);
    for (const [key, value] of news) {
      const place = join(path, key);
      const was = olds.get(key);
      if (was === undefined) add('added', place, undefined, value);
      else compare(place, was, value, depth + 1);
    }
    for (const [key, value] of olds) if (!news.has(key)) add('removed', join(path, key), value, undefined);
  }
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

function join(path: string, key: string): string {
  return path === '' || key.startsWith('[') ? path + key : `${path}.${key}`;
}

export function isIndexed(value: Value): boolean {
  return Array.isArray(value) || value instanceof Tuple;
}

/** Of one kind, so that their parts can be compared one by one. */
export function alike(one: Value, other: Value, stored: StoredValues): boolean {
  if (one instanceof Tagged || other instanceof Tagged) {
    if (!(one instanceof Tagged && other instanceof Tagged) || one.tag !== other.tag) return false;
    if (one.tag === 'error' || one.tag === 'array') return false;
    if ((one.tag === 'object' || one.tag === 'subclass') && one.parts[0] !== other.parts[0]) return false;
    if (one.tag === 'object') return true;
  }
  const [left, right] = [content(one, stored), content(other, stored)];
  if (left instanceof Dict) return right instanceof Dict;
  if (Array.isArray(left)) return Array.isArray(right);
  return left instanceof Tuple && right instanceof Tuple;
}

function sameName(one: Value, other: Value): boolean {
  return one instanceof Ref && other instanceof Ref && one.cid.equals(other.cid);
}

/** Equal content of two values, each as it is or by its name. */
export function same(one: Value, other: Value, stored: StoredValues): boolean {
  if (one instanceof Ref && other instanceof Ref) return sameName(one, other);
  return equal(stored.resolve(one), stored.resolve(other), stored, 0);
}

/** Equal content. Parts that are stored on their own are equal when their names are. */
export function equal(one: Value, other: Value, stored: StoredValues, depth: number): boolean {
  if (one instanceof Ref || other instanceof Ref) return sameName(one, other);
  if (one === other) return true;
  if (one instanceof Float) return other instanceof Float && Object.is(one.value, other.value);
  if (one instanceof Complex)
    return other instanceof Complex && Object.is(one.real, other.real) && Object.is(one.imaginary, other.imaginary);
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  const [left, right] = [parts(one), parts(other)];
  if (
    left === undefined ||
    right === undefined ||
    left.length !== right.length ||
    one?.constructor !== other?.constructor
  )
    return false;
  if (one instanceof Tagged && other instanceof Tagged && one.tag !== other.tag) return false;
  return depth < 2000 && left.every((part, index) => equal(part, right[index]!, stored, depth + 1));
}

function parts(value: Value): Value[] | undefined {
  if (Array.isArray(value)) return value;
  if (value instanceof Tuple || value instanceof SetValue) return value.items;
  if (value instanceof Dict) return value.entries.flat();
  return value instanceof Tagged ? value.parts : undefined;
}
