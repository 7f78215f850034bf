import { densityOf, MOST_LANES, tilesOf, type TilePlace } from '../../protocol/tiles';
import type { Nanoseconds } from '../model/time';
import type { Viewport } from '../model/viewport';
import type { Ask } from './client';

const KEPT_PIECES = 24;

/** A tile of the same zoom as those of calls. */
interface Piece extends TilePlace {
  /** Calls that began in each part, by task, and those of them that failed; nothing for a task while they are on their way. */
  lanes: Map<number, { calls: readonly number[]; errors: readonly number[] }>;
  /** Tasks that were asked about, or will be with the next question. */
  asked: Set<number>;
  waiting: number[];
  /** The file changed since. */
  stale: boolean;
}

/** How busy each lane is where its calls are too many to be drawn one by one. */
export class Density {
  private readonly pieces = new Map<string, Piece>();

  constructor(
    private readonly ask: Ask,
    private readonly file: string,
    private readonly arrived: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  /** Asks about lanes before they are painted. */
  expect(view: Viewport, width: number, tasks: readonly number[]): void {
    for (const piece of this.look(view, width))
      for (const task of tasks) if (!piece.asked.has(task)) this.want(piece, task);
  }

  /** Tells the parts of a lane that are within the window and have calls. What is not known yet is fetched. */
  each(
    view: Viewport,
    width: number,
    task: number,
    tell: (from: Nanoseconds, to: Nanoseconds, calls: number, errors: number) => void,
  ): void {
    for (const piece of this.look(view, width)) {
      if (!piece.asked.has(task)) this.want(piece, task);
      const counts = piece.lanes.get(task);
      if (counts === undefined) continue;
      const part = (piece.to - piece.from) / counts.calls.length;
      const first = Math.max(0, Math.floor((view.from - piece.from) / part));
      const last = Math.min(counts.calls.length - 1, Math.floor((view.to - piece.from) / part));
      for (let index = first; index <= last; index++) {
        const calls = counts.calls[index]!;
        if (calls > 0) tell(piece.from + index * part, piece.from + (index + 1) * part, calls, counts.errors[index]!);
      }
    }
  }

  /** After the file changed: what reaches past `time` is fetched again. */
  outdate(time: Nanoseconds): void {
    for (const piece of this.pieces.values()) if (piece.to >= time) piece.stale = true;
  }

  private look(view: Viewport, width: number): Piece[] {
    const wanted: Piece[] = [];
    for (const place of tilesOf(view.from, view.to, width)) {
      const key = `${place.scale}/${place.from}`;
      let piece = this.pieces.get(key);
      if (piece === undefined || piece.stale)
        piece = {
          ...place,
          lanes: piece?.lanes ?? new Map<number, { calls: readonly number[]; errors: readonly number[] }>(),
          asked: new Set(),
          waiting: [],
          stale: false,
        };
      // The latest looked at are the last to be forgotten.
      this.pieces.delete(key);
      this.pieces.set(key, piece);
      wanted.push(piece);
    }
    for (const key of this.pieces.keys()) {
      if (this.pieces.size <= KEPT_PIECES) break;
      this.pieces.delete(key);
    }
    return wanted;
  }

  /** All lanes that are painted together are asked about together. */
  private want(piece: Piece, task: number): void {
    piece.asked.add(task);
    piece.waiting.push(task);
    if (piece.waiting.length === 1) queueMicrotask(() => void this.load(piece));
  }

  private async load(piece: Piece): Promise<void> {
    const tasks = piece.waiting.splice(0);
    try {
      for (let at = 0; at < tasks.length; at += MOST_LANES) {
        const some = tasks.slice(at, at + MOST_LANES);
        const { lanes } = await this.ask('density', densityOf(this.file, piece, some));
        for (const { task, calls, errors } of lanes) piece.lanes.set(task, { calls, errors });
        this.arrived();
      }
    } catch (error) {
      this.failed(error as Error);
    }
  }
}
