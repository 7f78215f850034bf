import { Dict, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { children } from './children';
import { errorMessage, FROM_TEXT, SECONDS, shortType, sizeOf, textPart } from './render';
import type { StoredValues } from './stored';
import { bytesText, oneLine, quote, scalarText } from './text';

const DEEPEST = 200;

/**
 * The line of `line` in `render.ts` to its end, for a value of which it leaves nothing out. Nothing for one that is longer than so many characters,
 * or not all there: cut, masked, an array, an object that has more than its fields. A message is told like any other value.
 */
export function exactLine(value: Value, stored: StoredValues, longest: number): string | undefined {
  let room = longest;
  const parts: string[] = [];
  return tell(value, 0) ? parts.join('') : undefined;

  function put(text: string): boolean {
    parts.push(text);
    room -= text.length;
    return room >= 0;
  }

  /** Too long to fit even without the spaces and ends of lines that a line leaves out. */
  function isLong(text: string): boolean {
    return text.length > 8 * room + 200;
  }

  function each<T>(open: string, items: readonly T[], close: string, one: (item: T) => boolean): boolean {
    return put(open) && items.every((item, index) => (index === 0 || put(', ')) && one(item)) && put(close);
  }

  function tell(part: Value, depth: number): boolean {
    if (depth > DEEPEST) return false;
    const plain = stored.resolve(part);
    const item = (inner: Value): boolean => tell(inner, depth + 1);
    // A number of a million digits is not written out in vain.
    if (typeof plain === 'bigint' && plain.toString(16).length > room + 3) return false;
    const scalar = scalarText(plain);
    if (scalar !== undefined) return put(scalar);
    if (typeof plain === 'string') return plain.length <= room && put(quote(plain));
    if (plain instanceof Uint8Array) return plain.length <= room && put(bytesText(plain));
    if (Array.isArray(plain)) return each('[', plain, ']', item);
    if (plain instanceof Tuple) return each('(', plain.items, plain.items.length === 1 ? ',)' : ')', item);
    if (plain instanceof SetValue) {
      const name = plain.frozen ? 'frozenset' : 'set';
      if (plain.items.length === 0) return put(`${name}()`);
      return plain.frozen ? each('frozenset({', plain.items, '})', item) : each('{', plain.items, '}', item);
    }
    if (plain instanceof Dict)
      return each('{', plain.entries, '}', ([key, inner]) => item(key) && put(': ') && item(inner));
    return plain instanceof Tagged && tagged(plain, item);
  }

  function tagged(plain: Tagged, item: (inner: Value) => boolean): boolean {
    const text = (index: number): string => textPart(plain, index, stored);
    const inner = plain.parts[plain.tag === 'bytearray' ? 0 : plain.tag === 'enum' ? 2 : 1];
    switch (plain.tag) {
      case 'object':
        if (text(2) !== '' || !(stored.resolve(inner ?? null) instanceof Dict)) return false;
        return each(
          `${shortType(text(0))}(`,
          children(plain, stored),
          ')',
          ({ name, value: field }) => put(`${name}=`) && item(field),
        );
      case 'opaque':
        if (text(1) === '' || text(2) !== '' || isLong(text(1))) return false;
        return put(FROM_TEXT.test(text(0)) ? `${shortType(text(0))}(${quote(text(1))})` : oneLine(text(1), Infinity));
      case 'error': {
        const message = isLong(text(1)) ? undefined : errorMessage(plain, stored);
        // What lines say of one without a message are words of ours.
        const told = [shortType(text(0)), message].filter((said) => said !== '').join(': ');
        return message !== undefined && put(oneLine(told, Infinity));
      }
      case 'enum':
        if (text(1) !== '') return put(`${shortType(text(0))}.${text(1)}`);
        return inner !== undefined && put(`${shortType(text(0))}(`) && item(inner) && put(')');
      case 'time':
        return put(SECONDS.test(text(1)) && !text(0).startsWith('numpy.') ? `${text(1)} s` : text(1));
      case 'bytearray':
        return inner !== undefined && put('bytearray(') && item(inner) && put(')');
      case 'subclass': {
        const known = stored.resolve(inner ?? null);
        // A cut one has no end.
        if (known instanceof Tagged) return false;
        if (sizeOf(known) === undefined) return item(known);
        const isEmpty = sizeOf(known) === 0;
        return put(`${shortType(text(0))}(`) && (isEmpty || item(known)) && put(')');
      }
      case 'ellipsis':
        return put('...');
      default:
        return false;
    }
  }
}
