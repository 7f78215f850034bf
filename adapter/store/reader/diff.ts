import type { Change } from '../../../protocol/timeline';
import { Dict, Tagged, type Value } from '../values/model';
import { children, content, distinct, keyText, type Child } from './children';
import { pairItems } from './pairItems';
import { line, markOf } from './render';
import { alike, equal, isIndexed, sameName } from './same';
import type { StoredValues } from './stored';

/** Differences that are listed; a state that is rewritten as a whole is not worth more. */
const LISTED = 200;
const DEEPEST = 50;

/**
 * What was added, removed and changed, each with its path: `verdict`, `visits[1]`, `order.lines[0].price`. A place in a list is the one after the
 * change, of what was removed the one before it. Bounded, and says when there is more; what is equal is never fetched.
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
    if (depth < DEEPEST && alike(one, other, stored)) {
      if (children(one, stored, 0, 1).length > 0 || children(other, stored, 0, 1).length > 0) {
        const listed = changes.length;
        if (isIndexed(one, stored)) indexed(path, children(one, stored), children(other, stored), depth);
        else named(path, one, other, depth);
        // Of two that are cut what is there may be equal, and how much there was is not.
        if (changes.length === listed && markOf(one, stored) !== markOf(other, stored))
          add('changed', path, one, other);
        return;
      }
    }
    if (!equal(one, other, stored, 0)) add('changed', path, one, other);
  }

  function isFields(value: Value): boolean {
    return content(value, stored) instanceof Dict;
  }

  function indexed(path: string, olds: readonly Child[], news: readonly Child[], depth: number): void {
    for (const { before, after } of pairItems(olds, news, stored, true)) {
      if (changes.length > LISTED) return;
      const place = `${path}[${(after ?? before)!.name}]`;
      if (before !== undefined && after !== undefined) compare(place, before.value, after.value, depth + 1);
      else add(before === undefined ? 'added' : 'removed', place, before?.value, after?.value);
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

function join(path: string, key: string): string {
  return path === '' || key.startsWith('[') ? path + key : `${path}.${key}`;
}
