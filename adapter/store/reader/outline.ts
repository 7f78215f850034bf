import { withCommas } from '../../../protocol/withCommas';
import type { Value } from '../values/model';
import { childCount, children, type Child } from './children';
import { errorValue } from './errorValue';
import { shortFrame } from './eventPlace';
import { headLine, markOf } from './render';
import type { StoredValues } from './stored';

/** One line of a value and what is below it. */
export interface OutlineLine {
  depth: number;
  name: string;
  text: string;
  mark: string | undefined;
  /** It says what is left out here, and is no part of the value. */
  isRest?: true;
}

/** Lines that each of few parts has at least. */
const LEAST_SHARE = 5;
/** Levels that are opened, unless all is asked for. */
const DEEPEST = 20;
/** Parts that stand in many places are told in each: all of them could be without end. */
const MOST_CHARACTERS = 64e6;

/**
 * A value and its parts, line by line; the line after the last that fits says how much is left out. Parts of a part stay together. With
 * `whole`, texts are not shortened and every level is opened. Not by calling itself: values may be deep.
 */
export function outline(value: Value, stored: StoredValues, most: number, whole = false): OutlineLine[] {
  const lines = laidOut(value, stored, most, whole, Infinity);
  const parts = childCount(value, stored);
  const seen = lines.filter(({ depth, isRest }) => depth === 0 && isRest === undefined).length;
  if (whole || seen === parts || parts > most / LEAST_SHARE) return lines;
  // One of few parts does not take the lines of all the others.
  return laidOut(value, stored, most, whole, Math.floor(most / parts));
}

/** `share`: lines of one part at most. */
function laidOut(value: Value, stored: StoredValues, most: number, whole: boolean, share: number): OutlineLine[] {
  const lines: OutlineLine[] = [];
  let characters = 0;
  const open = [partsOf(value, stored)];
  let began = 0;
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const next = level.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const depth = open.length - 1;
    if (depth === 0) began = lines.length;
    else if (lines.length - began >= share) {
      lines.push({ depth, name: '…', text: 'more', mark: undefined, isRest: true });
      open.length = 1;
      continue;
    }
    if (lines.length >= most || characters > MOST_CHARACTERS) {
      const text = whole ? tooMuch(most) : left(childCount(value, stored), lines, depth);
      lines.push({ depth, name: '…', text, mark: undefined, isRest: true });
      return lines;
    }
    const { name, value: item } = next.value;
    const text = headLine(item, stored, whole) + raisedAt(item, stored);
    const line = { depth, name, text, mark: markOf(stored.resolve(item), stored) };
    lines.push(line);
    characters += line.name.length + line.text.length;
    if (whole || depth < DEEPEST) open.push(partsOf(item, stored));
    else if (childCount(item, stored) > 0)
      lines.push({ depth: depth + 1, name: '…', text: 'deeper levels: --full', mark: undefined, isRest: true });
  }
  return lines;
}

/** `, at work @ agent.py:7` of an exception: a group's members have nothing else that says where they are from. */
function raisedAt(value: Value, stored: StoredValues): string {
  const frame = errorValue(value, stored)?.stack.at(-1);
  if (frame === undefined) return '';
  return `, at ${shortFrame(frame)}`;
}

function* partsOf(value: Value, stored: StoredValues): Generator<Child> {
  const all = childCount(value, stored);
  for (let start = 0; start < all; start += 100) yield* children(value, stored, start, 100);
}

function left(all: number, lines: readonly OutlineLine[], depth: number): string {
  return depth === 0 ? `${all - lines.filter((line) => line.depth === 0).length} more` : 'more';
}

function tooMuch(most: number): string {
  return `There is more: of one value, ${withCommas(most)} lines or ${MOST_CHARACTERS / 1e6} million characters are printed.`;
}
