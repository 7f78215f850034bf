import { Complex, Dict, Float, Ref, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { children, content } from './children';
import type { StoredValues } from './stored';

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

/** Both have parts that can be put beside each other. */
export function comparable(one: Value, other: Value, stored: StoredValues): boolean {
  const [left, right] = [content(one, stored), content(other, stored)];
  if (left instanceof SetValue || right instanceof SetValue)
    return left instanceof SetValue && right instanceof SetValue && left.frozen === right.frozen;
  return alike(one, other, stored);
}

/** Likely one and the same thing that was changed: both have parts of one kind, or neither has any. */
export function sameShape(one: Value, other: Value, stored: StoredValues): boolean {
  const [left, right] = [children(one, stored, 0, 1).length > 0, children(other, stored, 0, 1).length > 0];
  return left && right ? comparable(one, other, stored) : left === right;
}

export function sameName(one: Value, other: Value): boolean {
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
