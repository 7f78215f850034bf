import type { CallRow } from '../../protocol/timeline';
import { isEvent } from './kinds';

export type Direction = 'previous' | 'next' | 'out' | 'in';

/** Order of calls on the page: by start, outer before inner, then by name of the call. */
export function byStart(a: CallRow, b: CallRow): number {
  return a.start - b.start || a.depth - b.depth || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The call one key press away from `from` among `calls`: its neighbour in the same row, its caller, or its first own call. */
export function neighbour(calls: readonly CallRow[], from: CallRow, direction: Direction): CallRow | undefined {
  switch (direction) {
    case 'out':
      return calls.find((call) => call.id === from.parent);
    case 'in':
      return first(calls.filter((call) => call.parent === from.id));
    case 'next':
      return first(sameRow(calls, from).filter((call) => byStart(call, from) > 0));
    case 'previous':
      return first(
        sameRow(calls, from).filter((call) => byStart(call, from) < 0),
        true,
      );
  }
}

function sameRow(calls: readonly CallRow[], from: CallRow): CallRow[] {
  // Events have no nesting: their rows only keep long ones apart from the others.
  return calls.filter(
    (call) => call.task === from.task && (call.depth === from.depth || isEvent(from)) && call.id !== from.id,
  );
}

function first(calls: readonly CallRow[], fromEnd = false): CallRow | undefined {
  const sorted = [...calls].sort(byStart);
  return fromEnd ? sorted[sorted.length - 1] : sorted[0];
}
