import { Unpacker } from './chunks/pack';
import type { Connection } from './database';
import { UserError } from '../common/errors';
import { Sink } from './values/canonical';
import { DecodeError } from './values/model';

/** Widths of the tiles that are kept, as powers of two in nanoseconds: from 0.26 ms, each four times the one before, to five hours. */
export const LEVELS = [18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44] as const;
/** Tiles that are stored together. */
const TILES = 256;
/** Tasks of fewer calls have no tiles of their own: these would take more room than the calls. */
export const SMALL_TASK = 100;
/** Blocks kept in memory; each task goes on in the same ones for a while. */
const KEPT = 4000;
/** Small tasks that are counted at a time; what an older one has so far is not shown. */
const KEPT_SMALL = 5000;
/** Stands for all tasks together. */
export const EVERY_TASK = 0;

/** Calls and errors of each tile of a block, in turn. */
type Block = Uint32Array;

/** Counts by the time of their start, for each task: how busy it was at any zoom is read from these, whatever the number of calls. */
export class Tiles {
  private readonly pending = new Map<number, Map<number, { calls: number; errors: number }>>();
  /** Calls of tasks that are still small. */
  private readonly small = new Map<number, number>();
  private readonly grown = new Set<number>([EVERY_TASK]);
  private readonly blocks = new Map<string, Block>();
  private readonly read;
  private readonly write;
  private readonly sink = new Sink(4096);
  private last = { task: -1, tile: -1, isGrown: false, counts: { calls: 0, errors: 0 }, all: { calls: 0, errors: 0 } };

  constructor(db: Connection) {
    this.read = db
      .prepare<[number, number, number], Buffer>('SELECT counts FROM tiles WHERE task = ? AND level = ? AND block = ?')
      .pluck();
    this.write = db.prepare('INSERT OR REPLACE INTO tiles (task, level, block, counts) VALUES (?, ?, ?, ?)');
    for (const task of db.prepare('SELECT DISTINCT task FROM tiles').pluck().all() as number[]) this.grown.add(task);
  }

  count(task: number, start: number, calls: number, errors: number): void {
    const tile = Math.floor(start / 2 ** LEVELS[0]);
    if (tile !== this.last.tile || task !== this.last.task) {
      const isGrown = this.grown.has(task);
      this.last = { task, tile, isGrown, counts: this.at(task, tile), all: this.at(EVERY_TASK, tile) };
    }
    const { counts, all, isGrown } = this.last;
    counts.calls += calls;
    counts.errors += errors;
    all.calls += calls;
    all.errors += errors;
    if (!isGrown && !this.grown.has(task)) this.grow(task, calls);
  }

  /** For a call that is in the file already, of a task that is still small. */
  recount(task: number, start: number, failed: boolean): void {
    if (this.grown.has(task)) return;
    const counts = this.at(task, Math.floor(start / 2 ** LEVELS[0]));
    counts.calls++;
    if (failed) counts.errors++;
    this.grow(task, 1);
    this.trim();
  }

  /** Small tasks that began longest ago are given up. */
  private trim(): void {
    for (const task of this.pending.keys()) {
      if (this.pending.size <= KEPT_SMALL) break;
      if (this.grown.has(task)) continue;
      this.pending.delete(task);
      this.small.delete(task);
    }
  }

  private grow(task: number, calls: number): void {
    const count = (this.small.get(task) ?? 0) + calls;
    if (count < SMALL_TASK) this.small.set(task, count);
    else {
      this.small.delete(task);
      this.grown.add(task);
    }
  }

  private at(task: number, tile: number): { calls: number; errors: number } {
    let tiles = this.pending.get(task);
    if (tiles === undefined) this.pending.set(task, (tiles = new Map<number, { calls: number; errors: number }>()));
    let counts = tiles.get(tile);
    if (counts === undefined) tiles.set(tile, (counts = { calls: 0, errors: 0 }));
    return counts;
  }

  flush(): void {
    for (const [task, tiles] of this.pending) {
      if (!this.grown.has(task)) continue;
      for (const level of LEVELS) this.add(task, level, tiles);
      this.pending.delete(task);
    }
    this.trim();
    this.last = { ...this.last, task: -1 };
    if (this.blocks.size > KEPT) this.blocks.clear();
  }

  private add(task: number, level: number, tiles: ReadonlyMap<number, { calls: number; errors: number }>): void {
    const changed = new Map<number, Block>();
    const share = 2 ** (level - LEVELS[0]);
    for (const [tile, { calls, errors }] of tiles) {
      const at = Math.floor(tile / share);
      const number = Math.floor(at / TILES);
      let block = changed.get(number);
      if (block === undefined) changed.set(number, (block = this.block(task, level, number)));
      const place = (at - number * TILES) * 2;
      block[place]! += calls;
      block[place + 1]! += errors;
    }
    for (const [number, block] of changed) this.write.run(task, level, number, this.pack(block));
  }

  private block(task: number, level: number, number: number): Block {
    const key = `${task}/${level}/${number}`;
    let block = this.blocks.get(key);
    if (block === undefined) {
      const stored = this.read.get(task, level, number);
      block = stored === undefined ? new Uint32Array(TILES * 2) : unpack(stored);
      this.blocks.set(key, block);
    }
    return block;
  }

  private pack(block: Block): Buffer {
    const { sink } = this;
    sink.reset();
    let before = -1;
    for (let tile = 0; tile < TILES; tile++) {
      const [calls, errors] = [block[tile * 2]!, block[tile * 2 + 1]!];
      if (calls === 0 && errors === 0) continue;
      sink.varint(tile - before - 1);
      sink.varint(calls);
      sink.varint(errors);
      before = tile;
    }
    return Buffer.from(sink.bytes.subarray(0, sink.length));
  }
}

function unpack(bytes: Buffer): Block {
  const block = new Uint32Array(TILES * 2);
  try {
    const reader = new Unpacker(bytes);
    for (let tile = -1; reader.at < bytes.length;) {
      tile += reader.varint() + 1;
      block[tile * 2] = reader.varint();
      block[tile * 2 + 1] = reader.varint();
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new UserError('The overview of the run cannot be read: it is damaged.');
  }
  return block;
}

/** The widest tiles of at most this many nanoseconds; nothing when there are none so narrow. */
export function levelFor(width: number): number | undefined {
  return [...LEVELS].reverse().find((level) => 2 ** level <= width);
}

/** Reads tiles of one run. */
export class TileReader {
  private readonly read;
  private readonly any;

  constructor(db: Connection) {
    this.any = db.prepare<[number], number>('SELECT 1 FROM tiles WHERE task = ? LIMIT 1').pluck();
    this.read = db.prepare<[number, number, number, number], { block: number; counts: Buffer }>(
      'SELECT block, counts FROM tiles WHERE task = ? AND level = ? AND block BETWEEN ? AND ?',
    );
  }

  /** Whether the task has tiles: small ones have none. */
  has(task: number): boolean {
    return this.any.get(task) !== undefined;
  }

  /** Tells each tile of the range that has a call, by the time in its middle. Throws a `UserError` when they are damaged. */
  each(
    task: number,
    level: number,
    from: number,
    to: number,
    tell: (time: number, calls: number, errors: number) => void,
  ): void {
    const width = 2 ** level;
    const block = (time: number): number => Math.floor(time / width / TILES);
    for (const { block: number, counts } of this.read.all(task, level, block(from), block(to))) {
      const tiles = unpack(counts);
      for (let tile = 0; tile < TILES; tile++) {
        const calls = tiles[tile * 2]!;
        const time = (number * TILES + tile + 0.5) * width;
        if (calls > 0 && time >= from - width && time <= to + width) tell(time, calls, tiles[tile * 2 + 1]!);
      }
    }
  }
}
