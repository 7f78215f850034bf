import type { Statistics } from '../../../protocol/timeline';
import { functionOf, stateOf } from './calls';
import type { RunFile } from './runFile';

/** Calls that one answer looks at, and the time it takes at most. */
const MOST_CALLS = 2_000_000;
const MOST_MILLISECONDS = 600;
/** Calls between two looks at the clock. */
const STRIDE = 1024;

export interface StatisticsRange {
  from: number;
  to: number;
  kinds: readonly string[] | undefined;
  name: string | undefined;
}

/** A call as it counts. */
interface CountedCall {
  error: boolean;
  /** Nanoseconds; of one that runs, those until now. */
  duration: number;
  ended: boolean;
  tokens: number;
}

/** Figures of the calls that overlap a range. Bounded; says when it did not look at all of them. */
export function statistics(file: RunFile, range: StatisticsRange): Statistics {
  const until = performance.now() + MOST_MILLISECONDS;
  const ended: number[] = [];
  let [calls, errors, total, tokens, sampled] = [0, 0, 0, 0, false];
  for (const call of callsOfRange(file, range)) {
    if (calls >= MOST_CALLS || (calls % STRIDE === STRIDE - 1 && performance.now() > until)) {
      sampled = true;
      break;
    }
    calls += 1;
    if (call.error) errors += 1;
    total += call.duration;
    tokens += call.tokens;
    if (call.ended) ended.push(call.duration);
  }
  const sorted = Float64Array.from(ended).sort();
  const within = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
  return {
    calls,
    errors,
    total,
    ...(sorted.length === 0 ? {} : { p50: within(0.5), p95: within(0.95) }),
    tokens,
    sampled,
  };
}

/** The one place that knows where calls come from: those that overlap the range, and are of these kinds and this name. */
function* callsOfRange(file: RunFile, { from, to, kinds, name }: StatisticsRange): Generator<CountedCall> {
  const zero = file.zero();
  const [first, last, now] = [from + zero, to + zero, zero + file.length()];
  const fitting = new Map<number, boolean>();
  const fits = (id: number): boolean => {
    let known = fitting.get(id);
    if (known === undefined) {
      const { kind, name: called } = functionOf(file, id);
      known = (kinds === undefined || kinds.includes(kind)) && (name === undefined || called === name);
      fitting.set(id, known);
    }
    return known;
  };
  for (const zone of file.calls.zones()) {
    if (zone.first! > last) break;
    if (zone.open === 0 && zone.last! + (zone.longest ?? Infinity) < first) continue;
    const chunk = file.calls.chunk(zone.id);
    for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++) {
      if (!chunk.isStarted(slot) || !fits(chunk.func[slot]!)) continue;
      const ended = chunk.isEnded(slot);
      const [start, end] = [chunk.start[slot]!, ended ? chunk.end[slot]! : now];
      if (start > last || end < first) continue;
      yield {
        error: stateOf(chunk.statusOf(slot)) === 'error',
        duration: Math.max(0, end - start),
        ended,
        tokens: chunk.tokensOf(slot) ?? 0,
      };
    }
  }
}
