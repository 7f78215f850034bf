import { withCommas } from '../../../protocol/withCommas';
import { Dict, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { content, keyText } from './children';
import { line } from './render';
import type { StoredValues } from './stored';

const DEEPEST = 6;
/** Of the words for what has no room. */
const MORE = 20;

/** A list, a dict, a tuple or a set with what is in it, in one line: `['stop']`, `[1, 2, … 40 more]`. About so long at most; nothing for any other value. */
export function inlineText(value: Value, stored: StoredValues, longest: number): string | undefined {
  let room = longest - MORE;
  return container(value, 0);

  function container(value: Value, depth: number): string | undefined {
    const plain = content(value, stored);
    const isCut = stored.resolve(value) instanceof Tagged && (stored.resolve(value) as Tagged).tag === 'cut';
    const all = <T>(open: string, items: readonly T[], close: string, text: (item: T) => string): string =>
      parts(open, items, close, text, depth) + (isCut ? '…' : '');
    const item = (each: Value): string => part(each, depth + 1);
    if (Array.isArray(plain)) return all('[', plain, ']', item);
    if (plain instanceof Tuple) return all('(', plain.items, plain.items.length === 1 ? ',)' : ')', item);
    if (plain instanceof SetValue) {
      if (plain.items.length === 0) return line(plain, stored);
      return plain.frozen ? all('frozenset({', plain.items, '})', item) : all('{', plain.items, '}', item);
    }
    if (!(plain instanceof Dict)) return undefined;
    return all('{', plain.entries, '}', ([key, each]) => `${keyText(key, stored)}: ${item(each)}`);
  }

  function part(value: Value, depth: number): string {
    const inner = container(value, depth);
    if (inner !== undefined) return inner;
    const told = line(value, stored, longest);
    room -= told.length + 2;
    return told;
  }

  function parts<T>(
    open: string,
    items: readonly T[],
    close: string,
    text: (item: T) => string,
    depth: number,
  ): string {
    const told: string[] = [];
    for (const item of items) {
      const next = room > 0 && depth < DEEPEST ? text(item) : '';
      if (next === '' || (room < 0 && told.length > 0)) {
        told.push(`… ${withCommas(items.length - told.length)} more`);
        break;
      }
      told.push(next);
    }
    return `${open}${told.join(', ')}${close}`;
  }
}
