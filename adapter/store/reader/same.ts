import { Complex, Dict, Float, Ref, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { arrayContent, children, content } from './children';
import type { StoredValues } from './stored';

/** Its parts have places and no names: a list, a tuple, an array of numbers or its rows. */
export function isIndexed(value: Value, stored: StoredValues): boolean {
  const plain = content(value, stored);
  const inner = isArray(plain) ? stored.resolve(arrayContent(plain, stored)) : plain;
  return Array.isArray(inner) || inner instanceof Tuple;
}

function isArray(value: Value): value is Tagged {
  return value instanceof Tagged && value.tag === 'array';
}

/** Of one class and one kind of elements, and of as many dimensions: what is a row in one of them is none that is an element in the other. */
function alikeArrays(one: Tagged, other: Tagged, stored: StoredValues): boolean {
  const [left, right] = [one, other].map(({ parts: [type, shape, kind] }) => {
    const sizes = stored.resolve(shape ?? null);
    return [stored.resolve(type ?? null), stored.resolve(kind ?? null), sizes instanceof Tuple && sizes.items.length];
  });
  return left!.every((part, index) => part === right![index]) && isIndexed(one, stored) === isIndexed(other, stored);
}

/** Of one kind, so that their parts can be compared one by one. */
export function alike(one: Value, other: Value, stored: StoredValues): boolean {
  if (one instanceof Tagged || other instanceof Tagged) {
    if (!(one instanceof Tagged && other instanceof Tagged) || one.tag !== other.tag) return false;
    if (one.tag === 'error') return false;
    if (isArray(one) && isArray(other)) return alikeArrays(one, other, stored);
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
