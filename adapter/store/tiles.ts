import type { Connection } from './database';

/** Widths of the tiles that are kept, as powers of two in nanoseconds: 1 ms, 67 ms, 4.3 s. */
export const LEVELS = [20, 26, 32] as const;

/** Counts of calls by the time of their start: an overview of any run is read from these, whatever the number of calls. */
export class Tiles {
  private readonly counts = new Map<number, { calls: number; errors: number }>();
  private last = -1;
  private lastTile = { calls: 0, errors: 0 };
  private readonly add;

  constructor(db: Connection) {
    this.add = db.prepare(
      `INSERT INTO tiles (level, tile, calls, errors) VALUES (?, ?, ?, ?)
       ON CONFLICT (level, tile) DO UPDATE SET calls = calls + excluded.calls, errors = errors + excluded.errors`,
    );
  }

  count(start: number, calls: number, errors: number): void {
    const tile = Math.floor(start / 2 ** LEVELS[0]);
    if (tile !== this.last) {
      this.last = tile;
      const known = this.counts.get(tile);
      if (known === undefined) this.counts.set(tile, (this.lastTile = { calls: 0, errors: 0 }));
      else this.lastTile = known;
    }
    this.lastTile.calls += calls;
    this.lastTile.errors += errors;
  }

  flush(): void {
    if (this.counts.size === 0) return;
    for (const level of LEVELS) {
      const sums = new Map<number, { calls: number; errors: number }>();
      for (const [tile, { calls, errors }] of this.counts) {
        const at = Math.floor(tile / 2 ** (level - LEVELS[0]));
        const sum = sums.get(at);
        if (sum === undefined) sums.set(at, { calls, errors });
        else {
          sum.calls += calls;
          sum.errors += errors;
        }
      }
      for (const [tile, { calls, errors }] of sums) this.add.run(level, tile, calls, errors);
    }
    this.counts.clear();
    this.last = -1;
  }
}
