import type { Statistics } from '../../../protocol/timeline';
import { chunkOf } from '../chunks/chunk';
import { durationIn, totalsOf } from '../chunks/totals';
import { DecodeError } from '../values/model';
import { UserError } from '../../common/errors';
import { namesOf } from '../functionName';
import { stateOf } from './calls';
import type { RunFile } from './runFile';

/** Calls that one answer looks at, and the time it takes at most. */
const MOST_CALLS = 2_000_000;
const MOST_MILLISECONDS = 600;
/** A run of up to this many calls is counted call by call, whatever part of it is asked for. */
const FEW = 100_000;
/** Calls between two looks at the clock. */
const STRIDE = 1024;

export interface StatisticsRange {
  from: number;
  to: number;
  kinds: readonly string[] | undefined;
  name: string | undefined;
  /** Of calls that failed alone. */
  errors?: boolean;
}

/** Sums for each kind of call. */
class Kinds {
  private readonly sums = new Map<string, Statistics['kinds'][number]>();

  add(kind: string, calls: number, total: number): void {
    let sum = this.sums.get(kind);
    if (sum === undefined) this.sums.set(kind, (sum = { kind, calls: 0, total: 0 }));
    sum.calls += calls;
    sum.total += total;
  }

  largestFirst(): Statistics['kinds'] {
    return [...this.sums.values()].sort((one, other) => other.total - one.total);
  }
}

/** A call as it counts. */
interface CountedCall {
  kind: string;
  error: boolean;
  /** Nanoseconds; of one that runs, those until now. */
  duration: number;
  ended: boolean;
  tokens: number;
}

/** Figures of the calls that overlap a range. Bounded; says when it did not look at all of them. */
export function statistics(file: RunFile, range: StatisticsRange, few = FEW): Statistics {
  const run = file.row();
  const whole = range.from <= 0 && range.to >= file.length();
  return whole && range.errors !== true && Number(run?.calls ?? 0) > few
    ? ofWholeRun(file, range)
    : ofCalls(file, range);
}

/** From the sums that are kept for each function: half of the calls stay within a tenth of what is said. */
function ofWholeRun(file: RunFile, range: StatisticsRange): Statistics {
  const fits = fitting(file, range);
  const found = { calls: 0, errors: 0, total: 0, tokens: 0 };
  const histogram = new Map<number, number>();
  const kinds = new Kinds();
  let ended = 0;
  for (const [id, totals] of sums(file)) {
    if (!fits(id)) continue;
    kinds.add(kindOf(file, id), totals.calls, totals.duration);
    found.calls += totals.calls;
    found.errors += totals.errors;
    found.total += totals.duration;
    found.tokens += totals.tokens;
    for (const [index, count] of totals.histogram) {
      histogram.set(index, (histogram.get(index) ?? 0) + count);
      ended += count;
    }
  }
  const now = file.zero() + file.length();
  for (const zone of file.calls.openZones())
    for (const call of file.calls.inChunk(zone.id))
      if (call.end === null && fits(call.function)) {
        found.total += Math.max(0, now - call.start);
        kinds.add(kindOf(file, call.function), 0, Math.max(0, now - call.start));
      }
  const classes = [...histogram].sort(([one], [other]) => one - other);
  const within = (share: number): number => {
    let left = Math.max(1, Math.ceil(ended * share));
    const [index] = classes.find(([, count]) => (left -= count) <= 0)!;
    return Math.round(durationIn(index));
  };
  const times = ended === 0 ? {} : { p50: within(0.5), p95: within(0.95), approximate: true };
  return { ...found, kinds: kinds.largestFirst(), ...times, sampled: false };
}

function kindOf(file: RunFile, id: number | null): string {
  return (id === null ? undefined : file.functionOf(id)?.kind) ?? 'function';
}

function sums(file: RunFile): ReturnType<typeof totalsOf> {
  try {
    return totalsOf(file.db);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new UserError('The sums of the run cannot be read: they are damaged.');
  }
}

function ofCalls(file: RunFile, range: StatisticsRange): Statistics {
  const until = performance.now() + MOST_MILLISECONDS;
  const ended: number[] = [];
  const kinds = new Kinds();
  let [calls, errors, total, tokens, sampled] = [0, 0, 0, 0, false];
  for (const call of callsOfRange(file, range)) {
    if (calls >= MOST_CALLS || (calls % STRIDE === STRIDE - 1 && performance.now() > until)) {
      sampled = true;
      break;
    }
    calls += 1;
    kinds.add(call.kind, 1, call.duration);
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
    kinds: kinds.largestFirst(),
    sampled,
  };
}

/** Whether a function is of these kinds and this name; looked up once each. */
function fitting(file: RunFile, { kinds, name }: StatisticsRange): (id: number) => boolean {
  const known = new Map<number, boolean>();
  return (id) => {
    let fits = known.get(id);
    if (fits === undefined) {
      const named = file.named(id);
      fits =
        (kinds === undefined || kinds.includes(kindOf(file, id))) &&
        (name === undefined || (named !== undefined && namesOf(named).includes(name)));
      known.set(id, fits);
    }
    return fits;
  };
}

/** The chunks that hold a call that failed. */
function failedIn(file: RunFile): ReadonlySet<number> {
  const sql = 'SELECT id FROM failed_calls';
  return file.once(sql, () => new Set((file.sql(sql).pluck().all() as number[]).map(chunkOf)));
}

/** Those that overlap the range, and are of these kinds and this name. */
function* callsOfRange(file: RunFile, range: StatisticsRange): Generator<CountedCall> {
  const zero = file.zero();
  const [first, last, now] = [range.from + zero, range.to + zero, zero + file.length()];
  const fits = fitting(file, range);
  const failed = range.errors === true ? failedIn(file) : undefined;
  for (const zone of file.calls.zones()) {
    if (zone.first! > last) break;
    if (failed?.has(zone.id) === false) continue;
    if (zone.open === 0 && zone.last! + (zone.longest ?? Infinity) < first) continue;
    const chunk = file.calls.chunk(zone.id);
    for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++) {
      if (!chunk.isStarted(slot) || !fits(chunk.func[slot]!)) continue;
      const ended = chunk.isEnded(slot);
      const [start, end] = [chunk.start[slot]!, ended ? chunk.end[slot]! : now];
      if (start > last || end < first) continue;
      const error = stateOf(chunk.statusOf(slot)) === 'error';
      if (failed !== undefined && !error) continue;
      yield {
        kind: kindOf(file, chunk.func[slot]!),
        error,
        duration: Math.max(0, end - start),
        ended,
        tokens: chunk.tokensOf(slot) ?? 0,
      };
    }
  }
}
