import type { Connection } from '../database';
import { Sink } from '../values/canonical';
import { Chunk, chunkOf, LONG } from './chunk';
import { LongestWriter } from './longestCalls';
import { TotalsWriter } from './totals';

/** Blocks kept in memory when nothing in them changed: what ends late is mostly in one of these. */
const KEPT = 128;

/** A value of a call: its row, or 0 and its bytes. */
export interface TakenValue {
  row: number;
  bytes: Uint8Array;
  length: number;
}

/**
 * Writes calls into their blocks. Whatever frame of a call comes first makes its place, what comes later is added to it; each block that
 * changed is packed and written once a batch.
 */
export class CallWriter {
  private readonly chunks = new Map<number, Chunk>();
  private readonly changed = new Set<Chunk>();
  private readonly sink = new Sink();
  private readonly read;
  private readonly write;
  private readonly addLong;
  private readonly addFailed;
  private readonly dropLong;
  private readonly dropFailed;
  private readonly addFunction;
  private version: number;
  /** The block that was changed last, in this batch, and its functions. */
  private latest: Chunk | undefined;
  private latestFunctions = new Set<number>();
  private long: { chunk: Chunk; slot: number }[] = [];
  private failed: { chunk: Chunk; slot: number }[] = [];
  private readonly totals: TotalsWriter;
  private readonly longest: LongestWriter | undefined;
  /** Functions that each block is known to have, for blocks in memory. */
  private readonly functions = new WeakMap<Chunk, Set<number>>();
  private fresh: { func: number; chunk: number }[] = [];

  /** `earlier`: the file is on its way from an earlier version, and has not all tables yet. */
  constructor(db: Connection, { earlier = false } = {}) {
    this.longest = earlier ? undefined : new LongestWriter(db);
    this.read = db.prepare<[number], { heads: Buffer; bodies: Buffer | null }>(
      'SELECT heads, bodies FROM chunks WHERE id = ?',
    );
    this.write = db.prepare(
      `INSERT INTO chunks (id, version, calls, open, errors, first, last, shortest, longest, longest_short, heads, bodies)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET version = excluded.version, calls = excluded.calls, open = excluded.open, errors = excluded.errors,
         first = excluded.first, last = excluded.last, shortest = excluded.shortest, longest = excluded.longest,
         longest_short = excluded.longest_short, heads = excluded.heads, bodies = excluded.bodies`,
    );
    const columns = '(id, size, start, end, parent, task, function, depth, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
    this.addLong = db.prepare(`INSERT OR IGNORE INTO long_calls ${columns}`);
    this.addFailed = db.prepare(`INSERT OR IGNORE INTO failed_calls ${columns}`);
    this.totals = new TotalsWriter(db);
    this.dropLong = db.prepare('DELETE FROM long_calls WHERE size = ? AND start = ? AND id = ?');
    this.dropFailed = db.prepare('DELETE FROM failed_calls WHERE id = ?');
    this.addFunction = db.prepare('INSERT OR IGNORE INTO function_chunks (function, chunk) VALUES (?, ?)');
    this.version = db.prepare('SELECT coalesce(max(version), 0) FROM chunks').pluck().get() as number;
  }

  /** A call that has not started yet. Answers its end, if that was read before. */
  start(
    id: number,
    parent: number,
    task: number,
    func: number,
    start: number,
  ): { end: number; status: number | null } | undefined {
    const chunk = this.chunk(id);
    const slot = id - chunk.base;
    this.totals.started(func);
    chunk.setStart(slot, parent, task, func, 0, start);
    const known = this.latestFunctions;
    if (!known.has(func)) {
      known.add(func);
      this.fresh.push({ func, chunk: chunk.id });
    }
    if (!chunk.isEnded(slot)) return undefined;
    this.settle(chunk, slot);
    return { end: chunk.end[slot]!, status: chunk.statusOf(slot) };
  }

  depth(id: number, depth: number): void {
    const chunk = this.chunk(id);
    chunk.depth[id - chunk.base] = depth;
  }

  /** Answers when the call started, if that was read already. */
  end(id: number, end: number, status: number, tokens: number | undefined): number | undefined {
    const chunk = this.chunk(id);
    const slot = id - chunk.base;
    const again = chunk.isEnded(slot);
    if (again && chunk.isStarted(slot)) this.unsettle(chunk, slot);
    chunk.setEnd(slot, end, status, tokens);
    if (!chunk.isStarted(slot)) return undefined;
    this.settle(chunk, slot);
    return chunk.start[slot]!;
  }

  hasStarted(id: number): boolean {
    const chunk = this.chunk(id);
    return chunk.isStarted(id - chunk.base);
  }

  /** It is known to have ended with an error. */
  hasFailed(id: number): boolean {
    const chunk = this.chunk(id);
    const slot = id - chunk.base;
    return chunk.isEnded(slot) && chunk.statusOf(slot) === 1;
  }

  startOf(id: number): number {
    const chunk = this.chunk(id);
    return chunk.start[id - chunk.base]!;
  }

  /** Undefined while it runs. */
  endOf(id: number): number | undefined {
    const chunk = this.chunk(id);
    const slot = id - chunk.base;
    return chunk.isEnded(slot) ? chunk.end[slot]! : undefined;
  }

  /** 0: it has none. */
  parentOf(id: number): number {
    const chunk = this.chunk(id);
    return chunk.parent[id - chunk.base]!;
  }

  taskOf(id: number): number {
    const chunk = this.chunk(id);
    return chunk.task[id - chunk.base]!;
  }

  functionOf(id: number): number {
    const chunk = this.chunk(id);
    return chunk.func[id - chunk.base]!;
  }

  edited(id: number): void {
    const chunk = this.chunk(id);
    chunk.setEdited(id - chunk.base);
  }

  part(id: number, part: number, { row, bytes, length }: TakenValue): void {
    const chunk = this.chunk(id);
    chunk.setPart(id - chunk.base, part, row, bytes, length);
  }

  /** Every block there is, whether it changed or not. */
  *all(db: Connection): Generator<Chunk> {
    const ids = db.prepare('SELECT id FROM chunks ORDER BY id').pluck().all() as number[];
    for (const id of new Set([...ids, ...this.chunks.keys()])) yield this.chunks.get(id) ?? this.load(id)!;
  }

  flush(): void {
    if (this.changed.size > 0) this.version++;
    for (const chunk of this.changed) {
      const { calls, open, errors, first, last, shortest, longest, longestShort } = chunk.zone();
      const heads = chunk.packHeads(this.sink);
      const bodies = chunk.packBodies(this.sink);
      const zone = [calls, open, errors, first, last, shortest, longest, longestShort];
      this.write.run(chunk.id, this.version, ...zone, heads, bodies);
      this.longest?.note(chunk, longestShort);
    }
    this.changed.clear();
    this.latest = undefined;
    // What was taken back in the same batch is not among them any more.
    for (const { chunk, slot } of this.long)
      if (chunk.end[slot]! - chunk.start[slot]! >= LONG) this.addLong.run(drawn(chunk, slot));
    for (const { chunk, slot } of this.failed) if (chunk.statusOf(slot) === 1) this.addFailed.run(drawn(chunk, slot));
    this.totals.flush();
    for (const { func, chunk } of this.fresh) this.addFunction.run(func, chunk);
    this.long = [];
    this.failed = [];
    this.fresh = [];
    for (const id of this.chunks.keys()) {
      if (this.chunks.size <= KEPT) break;
      this.chunks.delete(id);
    }
  }

  /** A call of which both start and end are known now. */
  private settle(chunk: Chunk, slot: number): void {
    const duration = chunk.end[slot]! - chunk.start[slot]!;
    const failed = chunk.statusOf(slot) === 1;
    if (duration >= LONG) this.long.push({ chunk, slot });
    if (failed) this.failed.push({ chunk, slot });
    this.totals.ended(chunk.func[slot]!, duration, failed, chunk.tokensOf(slot) ?? 0);
  }

  /** It ended otherwise than was thought, such as with its process. */
  private unsettle(chunk: Chunk, slot: number): void {
    const [func, start, end] = [chunk.func[slot]!, chunk.start[slot]!, chunk.end[slot]!];
    this.dropLong.run(sizeOf(end - start), start, chunk.base + slot);
    this.dropFailed.run(chunk.base + slot);
    this.totals.notEnded(func, end - start, chunk.statusOf(slot) === 1, chunk.tokensOf(slot) ?? 0);
  }

  /** The block of a call, which is about to change. */
  private chunk(call: number): Chunk {
    const id = chunkOf(call);
    let chunk = this.latest;
    if (chunk?.id !== id) {
      chunk = this.chunks.get(id) ?? this.load(id) ?? new Chunk(id);
      // The latest is the last one to be let go.
      this.chunks.delete(id);
      this.chunks.set(id, chunk);
      this.latest = chunk;
      let known = this.functions.get(chunk);
      if (known === undefined) this.functions.set(chunk, (known = new Set()));
      this.latestFunctions = known;
      this.changed.add(chunk);
    }
    return chunk;
  }

  private load(id: number): Chunk | undefined {
    const row = this.read.get(id);
    if (row === undefined) return undefined;
    const chunk = Chunk.unpack(id, row.heads, () => row.bodies);
    const known = new Set<number>();
    for (let slot = 0; slot < chunk.length; slot++) if (chunk.isStarted(slot)) known.add(chunk.func[slot]!);
    this.functions.set(chunk, known);
    return chunk;
  }
}

/** What is drawn of a call, in the order of the columns. */
function drawn(chunk: Chunk, slot: number): (number | null)[] {
  const [start, end] = [chunk.start[slot]!, chunk.end[slot]!];
  const parent = chunk.parent[slot] === 0 ? null : chunk.parent[slot]!;
  return [
    ...[chunk.base + slot, sizeOf(end - start), start, end, parent],
    ...[chunk.task[slot]!, chunk.func[slot]!, chunk.depth[slot]!, chunk.statusOf(slot)],
  ];
}

/** Class of a duration, the power of two below it: long calls are found by it without a look at the short ones. */
export function sizeOf(duration: number): number {
  return Math.floor(Math.log2(Math.max(0, duration) + 1));
}
