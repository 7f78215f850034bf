import type { Value } from '../values/model';
import { align, type Common, type Pair } from './align';
import type { Child } from './children';
import { messageId } from './messageText';
import { same, sameShape } from './same';
import type { StoredValues } from './stored';

/** Messages that are fetched for their ids. */
const MOST_MESSAGES = 2000;

/** Elements of two lists, or of two sets, that belong together: messages by their ids, all others by what they are. */
export function pairItems(
  olds: readonly Child[],
  news: readonly Child[],
  stored: StoredValues,
  isOrdered: boolean,
): Pair[] {
  return align(
    olds,
    news,
    (one, other) => same(one.value, other.value, stored),
    (one, other) => isOrdered && isLikely(one.value, other.value, stored),
    (left, right) => (isOrdered ? byIds(left, right, stored) : undefined),
  );
}

/** Likely the same element, changed; a message has its id for good. */
function isLikely(one: Value, other: Value, stored: StoredValues): boolean {
  return (
    sameShape(stored.resolve(one), stored.resolve(other), stored) && messageId(one, stored) === messageId(other, stored)
  );
}

/** Nothing where one has no id, two have the same, or they stand in another order. */
function byIds(olds: readonly Child[], news: readonly Child[], stored: StoredValues): Common | undefined {
  const [before, after] = [idsOf(olds, stored), idsOf(news, stored)];
  if (before === undefined || after === undefined) return undefined;
  const common: Common = [];
  for (const [id, one] of before) {
    const other = after.get(id);
    if (other === undefined) continue;
    if (other < (common.at(-1)?.[1] ?? 0)) return undefined;
    common.push([one, other]);
  }
  return common;
}

function idsOf(items: readonly Child[], stored: StoredValues): Map<string, number> | undefined {
  if (items.length > MOST_MESSAGES) return undefined;
  const ids = new Map<string, number>();
  for (const [index, { value }] of items.entries()) {
    const id = messageId(value, stored);
    if (id === undefined || ids.has(id)) return undefined;
    ids.set(id, index);
  }
  return ids;
}
