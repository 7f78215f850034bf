import { withCommas } from '../../../protocol/withCommas';
import { Dict, type Value } from '../values/model';
import { children } from './children';
import { inlineText } from './inlineText';
import { countCharacters, line } from './render';
import type { RunFile } from './runFile';
import type { StoredValues } from './stored';
import { shorten } from './text';

const MOST = 200;
const LONGEST = 1000;

/** What the app said at the start and at the end of the call; the later word counts. */
export function attributesOf(
  file: RunFile,
  call: { start_attributes: number | null; end_attributes: number | null },
): Map<string, Value> {
  const all = new Map<string, Value>();
  for (const id of [call.start_attributes, call.end_attributes]) {
    const value: Value = id === null ? null : file.values.root(id);
    if (!(value instanceof Dict)) continue;
    for (const { name, value: item } of children(value, file.values, 0, MOST)) all.set(name, item);
  }
  return all;
}

/** What a model had streamed when its stream ended early. */
export const PARTIAL = 'toolbreak.partial';

/** What stands among the messages is not told twice. */
export function shownAttributes(all: ReadonlyMap<string, Value>): [string, Value][] {
  return [...all].filter(([name]) => name !== PARTIAL);
}

/** Text as it is, a list or a dict with what is in it, and all else in one line. A long one says how much more there is. */
export function attributeText(value: Value, stored: StoredValues, longest = LONGEST): string {
  const plain = stored.resolve(value);
  if (typeof plain !== 'string') return inlineText(plain, stored, longest) ?? line(plain, stored, longest);
  if (plain.length <= longest) return plain;
  const rest = ` (${withCommas(countCharacters(plain))} characters)`;
  return shorten(plain, longest - rest.length) + rest;
}

/** Keys of a node's state that only the app's own reducer could have merged. */
export function unmergedOf(attributes: ReadonlyMap<string, Value>, stored: StoredValues): string[] {
  const keys = stored.resolve(attributes.get('langgraph.unmerged') ?? null);
  if (!Array.isArray(keys)) return [];
  return keys.map((key) => stored.resolve(key)).filter((key) => typeof key === 'string');
}
