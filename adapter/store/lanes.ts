import type { Chunk } from './chunks/chunk';

interface Row {
  open: number;
  lastEnd: number;
}

interface OpenCall {
  task: number;
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

  /** A call that an earlier writer of the file put on its row. */
  known(chunk: Chunk, slot: number): void {
    const [task, depth] = [chunk.task[slot]!, chunk.depth[slot]!];
    const row = this.row(task, depth);
    if (chunk.isEnded(slot)) row.lastEnd = Math.max(row.lastEnd, chunk.end[slot]!);
    else this.enter(chunk.base + slot, task, depth, chunk.start[slot]!);
  }

  /** Calls that run, of those with an id from `from` up to `to`. */
  openFrom(from: number, to: number): number[] {
    return [...this.open.keys()].filter((id) => id >= from && id < to);
  }

  /** The row of a call that starts. `ended`: its end is known already. */
  start(id: number, parent: number, task: number, start: number, ended: number | undefined): number {
    const above = this.open.get(parent);
    let depth = above !== undefined && above.task === task ? above.depth + 1 : 0;
    for (;;) {
      const row = this.row(task, depth);
      if (row.open === 0 && row.lastEnd <= start) break;
      depth++;
    }
    if (ended === undefined) this.enter(id, task, depth, start);
    else this.row(task, depth).lastEnd = Math.max(this.row(task, depth).lastEnd, ended);
    return depth;
  }

  /** Answers when the call started, if it was open. */
  end(id: number, end: number): number | undefined {
    const call = this.open.get(id);
    if (call === undefined) return undefined;
    this.open.delete(id);
    const row = this.row(call.task, call.depth);
    row.open--;
    row.lastEnd = Math.max(row.lastEnd, end);
    return call.start;
  }

  private enter(id: number, task: number, depth: number, start: number): void {
    this.open.set(id, { task, depth, start });
    this.row(task, depth).open++;
  }

  private row(task: number, depth: number): Row {
    let rows = this.lanes.get(task);
    if (rows === undefined) this.lanes.set(task, (rows = []));
    while (rows.length <= depth) rows.push({ open: 0, lastEnd: -Infinity });
    return rows[depth]!;
  }
}
