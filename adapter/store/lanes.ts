import type { Chunk } from './chunks/chunk';
import { Places } from './places';

/** Up to so many rows, looking at one after the other is quickest. */
const FEW_ROWS = 64;

interface Row {
  open: number;
  lastEnd: number;
}

interface OpenCall {
  id: number;
  lane: Lane;
  depth: number;
  start: number;
}

/**
 * Which row of its task's lane a call is drawn on: below its parent if that is on the same lane, and never on a row that another call
 * takes at the time. Calls come in the order of their starts, so the open calls and the last end of each row are all that is needed.
 */
export class Lanes {
  private readonly lanes = new Map<number, Lane>();
  private readonly open = new Map<number, OpenCall>();
  /** The open call that started last: it is kept out of the map until another starts, since most calls call nothing. */
  private latest: OpenCall | undefined;
  private lastTask = -1;
  private lastLane = new Lane();

  /** A call that an earlier writer of the file put on its row. */
  known(chunk: Chunk, slot: number): void {
    const depth = chunk.depth[slot]!;
    const lane = this.lane(chunk.task[slot]!);
    if (chunk.isEnded(slot)) lane.endedAt(depth, chunk.end[slot]!);
    else this.enter(chunk.base + slot, lane, depth, chunk.start[slot]!);
  }

  /** Calls that run, of those with an id from `from` up to `to`. */
  openFrom(from: number, to: number): number[] {
    this.putDown();
    return [...this.open.keys()].filter((id) => id >= from && id < to);
  }

  /** The row of a call that starts. `ended`: its end is known already. */
  start(id: number, parent: number, task: number, start: number, ended: number | undefined): number {
    const above = this.latest?.id === parent ? this.latest : this.open.get(parent);
    const lane = this.lane(task);
    const depth = lane.free(above?.lane === lane ? above.depth + 1 : 0, start);
    if (ended === undefined) this.enter(id, lane, depth, start);
    else lane.endedAt(depth, ended);
    return depth;
  }

  /** Answers when the call started, if it was open. */
  end(id: number, end: number): number | undefined {
    let call = this.latest;
    if (call?.id === id) this.latest = undefined;
    else {
      call = this.open.get(id);
      if (call === undefined) return undefined;
      this.open.delete(id);
    }
    call.lane.leave(call.depth, end);
    return call.start;
  }

  private enter(id: number, lane: Lane, depth: number, start: number): void {
    this.putDown();
    this.latest = { id, lane, depth, start };
    lane.enter(depth);
  }

  private putDown(): void {
    if (this.latest !== undefined) this.open.set(this.latest.id, this.latest);
    this.latest = undefined;
  }

  private lane(task: number): Lane {
    if (task === this.lastTask) return this.lastLane;
    let lane = this.lanes.get(task);
    if (lane === undefined) this.lanes.set(task, (lane = new Lane()));
    this.lastTask = task;
    return (this.lastLane = lane);
  }
}

/** The rows of one task. */
class Lane {
  private readonly rows: Row[] = [];
  /** From when on each row is free, once there are many. */
  private places: Places | undefined;

  /** The first row from this one on that no call takes at the time. */
  free(from: number, start: number): number {
    if (this.places !== undefined) return this.places.first(from, start)!;
    let depth = from;
    for (let row = this.row(depth); row.open > 0 || row.lastEnd > start;) row = this.row(++depth);
    if (this.rows.length > FEW_ROWS) {
      this.places = new Places(-Infinity);
      for (const index of this.rows.keys()) this.note(index);
    }
    return depth;
  }

  enter(depth: number): void {
    this.row(depth).open++;
    this.note(depth);
  }

  leave(depth: number, end: number): void {
    this.rows[depth]!.open--;
    this.endedAt(depth, end);
  }

  endedAt(depth: number, end: number): void {
    const row = this.row(depth);
    row.lastEnd = Math.max(row.lastEnd, end);
    this.note(depth);
  }

  private note(depth: number): void {
    if (this.places === undefined) return;
    const { open, lastEnd } = this.rows[depth]!;
    this.places.set(depth, open > 0 ? Infinity : lastEnd);
  }

  private row(depth: number): Row {
    while (this.rows.length <= depth) this.rows.push({ open: 0, lastEnd: -Infinity });
    return this.rows[depth]!;
  }
}
