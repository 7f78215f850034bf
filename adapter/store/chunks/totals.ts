import type { Connection } from '../database';
import { Sink } from '../values/canonical';
import { Unpacker } from './pack';

/** Four classes for each power of two: a duration is told to within a tenth. */
const CLASSES = 4;

/** Sums beyond this are not told exactly. */
const LARGEST = Number.MAX_SAFE_INTEGER;

export interface Totals {
  calls: number;
  errors: number;
  ended: number;
  /** Of those that ended, in nanoseconds. */
  duration: number;
  tokens: number;
  /** Calls by class of their duration. */
  histogram: Map<number, number>;
}

function none(): Totals {
  return { calls: 0, errors: 0, ended: 0, duration: 0, tokens: 0, histogram: new Map() };
}

function durationClass(duration: number): number {
  return Math.floor(Math.log2(Math.max(0, duration) + 1) * CLASSES);
}

/** A duration in the middle of a class. */
export function durationIn(index: number): number {
  return 2 ** ((index + 0.5) / CLASSES) - 1;
}

interface Row {
  function: number;
  calls: number;
  errors: number;
  ended: number;
  duration: number;
  tokens: number;
  histogram: Buffer;
}

/** Sums for each function, kept while writing. */
export class TotalsWriter {
  private readonly all = new Map<number, Totals>();
  private readonly changed = new Set<number>();
  private readonly write;
  private readonly sink = new Sink(4096);
  private last = -1;
  private lastTotals = none();

  constructor(db: Connection) {
    for (const [id, totals] of totalsOf(db)) this.all.set(id, totals);
    this.write = db.prepare(
      'INSERT OR REPLACE INTO function_totals (function, calls, errors, ended, duration, tokens, histogram) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
  }

  started(func: number): void {
    this.of(func).calls++;
  }

  ended(func: number, duration: number, failed: boolean, tokens: number): void {
    const totals = this.of(func);
    totals.ended++;
    totals.duration += Math.max(0, duration);
    totals.tokens += tokens;
    if (failed) totals.errors++;
    const index = durationClass(duration);
    totals.histogram.set(index, (totals.histogram.get(index) ?? 0) + 1);
  }

  /** Takes back what `ended` counted. */
  notEnded(func: number, duration: number, failed: boolean, tokens: number): void {
    const totals = this.of(func);
    totals.ended--;
    totals.duration -= Math.max(0, duration);
    totals.tokens -= tokens;
    if (failed) totals.errors--;
    const index = durationClass(duration);
    const count = (totals.histogram.get(index) ?? 0) - 1;
    if (count > 0) totals.histogram.set(index, count);
    else totals.histogram.delete(index);
  }

  private of(func: number): Totals {
    if (func === this.last) return this.lastTotals;
    let totals = this.all.get(func);
    if (totals === undefined) this.all.set(func, (totals = none()));
    this.changed.add(func);
    this.last = func;
    return (this.lastTotals = totals);
  }

  flush(): void {
    for (const func of this.changed) {
      const { calls, errors, ended, duration, tokens, histogram } = this.all.get(func)!;
      this.sink.reset();
      for (const [index, count] of histogram) {
        this.sink.varint(index);
        this.sink.varint(count);
      }
      const packed = Buffer.from(this.sink.bytes.subarray(0, this.sink.length));
      this.write.run(func, calls, errors, ended, Math.min(duration, LARGEST), Math.min(tokens, LARGEST), packed);
    }
    this.changed.clear();
    this.last = -1;
  }
}

/** Sums for each function of a run, by its id. Throws `DecodeError` when they are damaged. */
export function totalsOf(db: Connection): Map<number, Totals> {
  const rows = db.prepare('SELECT * FROM function_totals').all() as Row[];
  return new Map(
    rows.map(({ function: id, histogram, ...sums }) => {
      const reader = new Unpacker(histogram);
      const counts = new Map<number, number>();
      while (reader.at < histogram.length) counts.set(reader.varint(), reader.varint());
      return [id, { ...sums, histogram: counts }];
    }),
  );
}
