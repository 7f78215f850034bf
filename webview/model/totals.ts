import type { CallRow } from '../../protocol/timeline';
import { endOf } from './bars';
import type { Nanoseconds } from './time';

export interface Totals {
  calls: number;
  errors: number;
  /** Time covered by at least one call, counted once however many ran. */
  busy: Nanoseconds;
  /** Per kind: number of calls and the sum of their times, both inside the range only. Largest first. */
  kinds: { kind: string; calls: number; time: Nanoseconds }[];
}

/** What happened in from..to. Calls count with the part of them that lies inside. */
export function totals(calls: readonly CallRow[], from: Nanoseconds, to: Nanoseconds, now: Nanoseconds): Totals {
  const kinds = new Map<string, { kind: string; calls: number; time: Nanoseconds }>();
  let counted = 0;
  let errors = 0;
  let busy = 0;
  let reached = from;
  for (const call of [...calls].sort((a, b) => a.start - b.start)) {
    const start = Math.max(from, call.start);
    const end = Math.min(to, endOf(call, now));
    if (end < start || call.start > to) continue;
    counted++;
    if (call.state === 'error') errors++;
    const kind = kinds.get(call.kind) ?? { kind: call.kind, calls: 0, time: 0 };
    kind.calls++;
    kind.time += end - start;
    kinds.set(call.kind, kind);
    if (end > reached) {
      busy += end - Math.max(start, reached);
      reached = end;
    }
  }
  return { calls: counted, errors, busy, kinds: [...kinds.values()].sort((a, b) => b.time - a.time) };
}
