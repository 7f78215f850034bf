import type { Connection } from './database';

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

  /** Goes on where an earlier writer of the file stopped. */
  constructor(db: Connection) {
    const rows = db
      .prepare(
        'SELECT task, depth, max(coalesce(end, 0)) AS lastEnd FROM calls WHERE start IS NOT NULL GROUP BY task, depth',
      )
      .all() as { task: number; depth: number; lastEnd: number }[];
    for (const { task, depth, lastEnd } of rows) this.row(task, depth).lastEnd = lastEnd;
    const open = db
      .prepare('SELECT id, task, depth, start FROM calls WHERE end IS NULL AND start IS NOT NULL')
      .all() as ({ id: number } & OpenCall)[];
    for (const { id, task, depth, start } of open) this.enter(id, task, depth, start);
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
