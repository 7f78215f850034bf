import { MASK } from '../../../protocol/secrets';
import { partsOf, Ref, Tagged, type Value } from '../values/model';
import { markOf } from './render';
import type { StoredValues } from './stored';

/** How long values are looked through; what is found out of their stored parts is kept, so the next look comes further. */
const MOST_TIME = 200;
/** After so many parts the clock is asked. */
const BETWEEN = 4096;
const DEEPEST = 500;
const MOST_KEPT = 200_000;

/** Older runtimes wrote the second one. */
const MASKS = [MASK, '•••'];
const MASKED = `Where a text has ${MASK}, a secret may have stood.`;
/** Nobody knows: it was not looked through to its end. */
const UNKNOWN = '';

/** Of parts that are stored on their own, by their names: equal content has equal marks, so these never get old. */
const found = new WeakMap<StoredValues, Map<string, string | undefined>>();

/**
 * Why some of these values was not recorded, wherever in them it is: the first mark. Two such values may differ although what was recorded of both
 * is equal. Empty where they are too large to be looked through; undefined where all of them is there.
 */
export function unrecorded(values: readonly Value[], stored: StoredValues): string | undefined {
  const known = found.get(stored) ?? new Map<string, string | undefined>();
  found.set(stored, known);
  const end = performance.now() + MOST_TIME;
  let seen = 0;
  return firstOf(values, 0);

  function isLate(): boolean {
    return performance.now() > end;
  }

  function firstOf(parts: readonly Value[], depth: number): string | undefined {
    let result: string | undefined;
    for (const part of parts) {
      const mark = look(part, depth);
      if (mark) return mark;
      result ??= mark;
      if (mark === UNKNOWN && isLate()) return UNKNOWN;
    }
    return result;
  }

  function look(value: Value, depth: number): string | undefined {
    if (++seen % BETWEEN === 0 && isLate()) return UNKNOWN;
    if (typeof value === 'string') return MASKS.some((mask) => value.includes(mask)) ? MASKED : undefined;
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > DEEPEST) return UNKNOWN;
    if (value instanceof Ref) return storedPart(value, depth);
    const mark = markOf(value, stored);
    // That a value contains itself is all there is to know of it.
    if (mark !== undefined && !(value instanceof Tagged && value.tag === 'cycle')) return mark;
    return firstOf(partsOf(value), depth + 1);
  }

  function storedPart(part: Ref, depth: number): string | undefined {
    const key = part.cid.toString('latin1');
    if (known.has(key)) return known.get(key);
    if (isLate()) return UNKNOWN;
    const { lost } = stored;
    const mark = look(stored.resolve(part), depth);
    if (known.size >= MOST_KEPT) known.clear();
    // Of a part that is not in the file the mark is of its place, and a run that goes on may have it later.
    if (mark !== UNKNOWN && lost === stored.lost) known.set(key, mark);
    return mark;
  }
}
