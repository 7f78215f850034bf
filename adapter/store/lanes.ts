import type { Chunk } from './chunks/chunk';

interface Row {
  open: number;
  lastEnd: number;
}

interface OpenCall {
  id: number;
  lane: Row[];
  depth: number;
  start: number;
}

/**
 * Which row of its task's lane a call is drawn on: below its parent if that is on the same lane, and never on a row that another call
 * takes at the time. Calls come in the order of their starts, so the open calls and the last end of each row are all that is needed.
 */
export class Lanes {
  private readonly lanes = new Map<number, Row[]>();
  private readonly open = new Map<number, OpenCall>();
  /** The open call that started last: it is kept out of the map until another starts, since most calls call nothing. */
  private latest: OpenCall | undefined;
  private lastTask = -1;
  private lastLane: Row[] = [];

  /** A call that an earlier writer of the file put on its row. */
  known(chunk: Chunk, slot: number): void {
    const depth = chunk.depth[slot]!;
    const lane = this.lane(chunk.task[slot]!);
    const row = rowOf(lane, depth);
    if (chunk.isEnded(slot)) row.lastEnd = Math.max(row.lastEnd, chunk.end[slot]!);
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
    let depth = above?.lane === lane ? above.depth + 1 : 0;
    let row = rowOf(lane, depth);
    while (row.open > 0 || row.lastEnd > start) row = rowOf(lane, ++depth);
    if (ended === undefined) this.enter(id, lane, depth, start);
    else row.lastEnd = Math.max(row.lastEnd, ended);
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
    const row = call.lane[call.depth]!;
    row.open--;
    row.lastEnd = Math.max(row.lastEnd, end);
    return call.start;
  }

  private enter(id: number, lane: Row[], depth: number, start: number): void {
    this.putDown();
    this.latest = { id, lane, depth, start };
    rowOf(lane, depth).open++;
  }

  private putDown(): void {
    if (this.latest !== undefined) this.open.set(this.latest.id, this.latest);
    this.latest = undefined;
  }

  private lane(task: number): Row[] {
    if (task === this.lastTask) return this.lastLane;
    let lane = this.lanes.get(task);
    if (lane === undefined) this.lanes.set(task, (lane = []));
    this.lastTask = task;
    return (this.lastLane = lane);
  }
}

function rowOf(lane: Row[], depth: number): Row {
  while (lane.length <= depth) lane.push({ open: 0, lastEnd: -Infinity });
  return lane[depth]!;
}
