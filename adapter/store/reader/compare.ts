import type { ComparedRow, ReaderMethods, ValueNode } from '../../../protocol/timeline';
import { Dict, SetValue, Tagged, type Value } from '../values/model';
import type { Pair } from './align';
import { children, content, distinct, keyText, type Child } from './children';
import { pairItems } from './pairItems';
import { node } from './render';
import { comparable, isIndexed, same } from './same';
import type { StoredValues } from './stored';
import { bytesText, quote, whole } from './text';
import { unrecorded } from './unrecorded';
import { MOST_BYTES, MOST_CHARACTERS, excerpt } from './wholeText';

/** Longest part of a text that is shown of each side, and how much of what is equal stands in front of the first difference. */
const SHOWN = 160;
const LEAD = 30;
/** What stands in front of it where they are opened. */
const WHOLE_LEAD = 1000;
/** A byte is written with up to four characters. */
const BYTES = { shown: SHOWN / 4, lead: LEAD / 2, wholeLead: WHOLE_LEAD / 4 };

type Which = ReaderMethods['compare']['params']['which'];

/** One level of two values beside each other. What is equal is told by its name and not fetched. */
export function compareValues(
  before: Value | undefined,
  after: Value | undefined,
  stored: StoredValues,
  part: { which: Which; start: number; count: number },
): ReaderMethods['compare']['result'] {
  const root = rowOf({ before: child(before), after: child(after) }, stored);
  const pairs = root.change === 'same' ? unchanged(after!, stored) : pairsOf(before, after, root.alike, stored);
  const wanted: Pair[] = [];
  let different = 0;
  for (const pair of pairs) {
    const equal = isSame(pair, stored);
    if (!equal) different += 1;
    if (equal === (part.which === 'equal')) wanted.push(pair);
  }
  const rows = wanted.slice(part.start, part.start + part.count).map((pair) => rowOf(pair, stored));
  const answer = { root, rows, different, equal: pairs.length - different };
  if (before === undefined || after === undefined || different > 0) return answer;
  if (root.change !== 'same' && !root.alike) return answer;
  const mark = unrecorded(root.change === 'same' ? [after] : [before, after], stored);
  return {
    ...answer,
    ...(mark !== undefined && { unrecorded: mark }),
    ...(root.change !== 'same' && isReordered(before, after, pairs, stored) && { reordered: true }),
  };
}

/** The order is no part of what they are, as that of an OrderedDict or of a table's columns is. Pairs stand in the order of what was before. */
function isReordered(before: Value, after: Value, pairs: readonly Pair[], stored: StoredValues): boolean {
  const both = [stored.resolve(before), stored.resolve(after)];
  if (!both.every((value) => value instanceof Dict)) return false;
  const news = children(after, stored);
  return pairs.some(({ after: now }, index) => now?.name !== news[index]?.name);
}

/** The parts of both, those that belong together in one pair. */
function pairsOf(before: Value | undefined, after: Value | undefined, together: boolean, stored: StoredValues): Pair[] {
  const olds = before === undefined ? [] : children(before, stored);
  const news = after === undefined ? [] : children(after, stored);
  if (!together) return [...olds.map((old) => ({ before: old })), ...news.map((fresh) => ({ after: fresh }))];
  const plain = content(before!, stored);
  if (isIndexed(plain, stored) || plain instanceof SetValue)
    return pairItems(olds, news, stored, !(plain instanceof SetValue));
  const fresh = new Map(keyed(after!, news, stored));
  const pairs: Pair[] = keyed(before!, olds, stored).map(([key, old]) => {
    const now = fresh.get(key);
    fresh.delete(key);
    return now === undefined ? { before: old } : { before: old, after: now };
  });
  return [...pairs, ...[...fresh.values()].map((entry) => ({ after: entry }))];
}

/** What tells a part from the others on its own side: the keys 1 and '1' are two. */
function keyed(value: Value, parts: readonly Child[], stored: StoredValues): [string, Child][] {
  const plain = content(value, stored);
  const keys = parts.map((part, index) => {
    const key = plain instanceof Dict ? plain.entries[index]?.[0] : undefined;
    return key === undefined ? part.name : keyText(key, stored);
  });
  return distinct(keys).map((key, index) => [key, parts[index]!]);
}

function unchanged(value: Value, stored: StoredValues): Pair[] {
  return children(value, stored).map((entry) => ({ before: entry, after: entry }));
}

function isSame({ before, after }: Pair, stored: StoredValues): boolean {
  return before !== undefined && after !== undefined && same(before.value, after.value, stored);
}

function child(value: Value | undefined): Child | undefined {
  return value === undefined ? undefined : { name: '', value };
}

function rowOf({ before, after }: Pair, stored: StoredValues): ComparedRow {
  if (before === undefined || after === undefined) {
    return {
      change: before === undefined ? 'added' : 'removed',
      ...(before === undefined ? {} : { before: node(before.name, before.value, stored) }),
      ...(after === undefined ? {} : { after: node(after.name, after.value, stored) }),
      alike: false,
    };
  }
  const equal = same(before.value, after.value, stored);
  const [one, other] = [stored.resolve(before.value), stored.resolve(after.value)];
  const [left, right] = [node(before.name, one, stored), node(after.name, other, stored)];
  const from = equal ? undefined : differing(left, right, content(one, stored), content(other, stored));
  return {
    change: equal ? 'same' : 'changed',
    before: left,
    after: right,
    alike: left.children + right.children > 0 && comparable(one, other, stored),
    ...(from !== undefined && { from }),
  };
}

/**
 * Two long texts, or bytes, begin a little before the first place where they differ: their beginnings may read the same. Where they do so even when
 * they are opened, says from where they are to be shown.
 */
function differing(left: ValueNode, right: ValueNode, one: Value, other: Value): number | undefined {
  if (typeof one === 'string' && typeof other === 'string') {
    if (one.length <= SHOWN && other.length <= SHOWN) return undefined;
    const at = firstDifference(one.length, other.length, (index) => one.charCodeAt(index) === other.charCodeAt(index));
    if (at === undefined) return undefined;
    const from = Math.max(0, at - LEAD);
    left.text = around(one, from);
    right.text = around(other, from);
    return at < MOST_CHARACTERS ? undefined : at - WHOLE_LEAD;
  }
  const [some, others] = [bytesOf(one), bytesOf(other)];
  if (some === undefined || others === undefined) return undefined;
  if (some.length <= BYTES.shown && others.length <= BYTES.shown) return undefined;
  const at = firstDifference(some.length, others.length, (index) => some[index] === others[index]);
  if (at === undefined) return undefined;
  const from = Math.max(0, at - BYTES.lead);
  left.text = bytesAround(one, some, from);
  right.text = bytesAround(other, others, from);
  return at < MOST_BYTES ? undefined : at - BYTES.wholeLead;
}

/** None where what is there is equal, of texts that were cut. */
function firstDifference(one: number, other: number, isEqual: (index: number) => boolean): number | undefined {
  const shorter = Math.min(one, other);
  let at = 0;
  while (at < shorter && isEqual(at)) at++;
  return at === one && at === other ? undefined : at;
}

function bytesOf(value: Value): Uint8Array | undefined {
  if (value instanceof Tagged && value.tag === 'bytearray') return bytesOf(value.parts[0] ?? null);
  return value instanceof Uint8Array ? value : undefined;
}

function bytesAround(value: Value, bytes: Uint8Array, from: number): string {
  const text = excerpt(bytes, from, BYTES.shown, (range) => bytesText(bytes.subarray(...range)));
  return value instanceof Tagged ? `bytearray(${text})` : text;
}

function around(text: string, from: number): string {
  // Half a character at either end would be shown as nonsense.
  return quote(excerpt(text, from, SHOWN, (range) => whole(text.slice(...range))));
}
