import type { CallRow } from '../../protocol/timeline';
import { endOf } from './bars';
import type { Nanoseconds } from './time';

/** Time in from..to in which at least one of the calls ran, counted once however many did. */
export function busyIn(calls: readonly CallRow[], from: Nanoseconds, to: Nanoseconds, now: Nanoseconds): Nanoseconds {
  let busy = 0;
  let reached = from;
  for (const call of [...calls].sort((a, b) => a.start - b.start)) {
    const start = Math.max(from, call.start);
    const end = Math.min(to, endOf(call, now));
    if (end <= reached) continue;
    busy += Math.max(0, end - Math.max(start, reached));
    reached = end;
  }
  return busy;
}
