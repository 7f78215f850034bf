import type { Value } from '../values/model';
import { childCount, children } from './children';
import { node } from './render';
import type { StoredValues } from './stored';

/** One line of a value and what is below it. */
export interface OutlineLine {
  depth: number;
  name: string;
  text: string;
  mark: string | undefined;
}

/** Levels that are opened. */
const DEEPEST = 20;

/** A value and its parts, line by line; the line after the last that fits says how much is left out. Parts of a part stay together. */
export function outline(value: Value, stored: StoredValues, most: number): OutlineLine[] {
  const lines: OutlineLine[] = [];
  add(value, 0);
  return lines;

  function add(parent: Value, depth: number): void {
    const all = childCount(parent, stored);
    for (let start = 0; start < all; start += 100) {
      for (const { name, value: item } of children(parent, stored, start, 100)) {
        if (lines.length >= most) {
          const shown = lines.filter((line) => line.depth === depth).length;
          if (lines.at(-1)?.name !== '…')
            lines.push({ depth, name: '…', text: left(all, shown, depth), mark: undefined });
          return;
        }
        const { text, mark } = node(name, item, stored);
        lines.push({ depth, name, text, mark });
        if (depth < DEEPEST) add(item, depth + 1);
      }
    }
  }
}

function left(all: number, shown: number, depth: number): string {
  return depth === 0 ? `${all - shown} more` : 'more';
}
