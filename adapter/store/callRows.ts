import type { Connection } from './database';

/** Rows put in by one statement: what a statement costs by itself is paid once. */
const ROWS = 32;

/** What is known of a call and not in the file yet; null says nothing about what is there. Whole numbers. */
export interface CallRecord {
  id: number;
  parent: number | null;
  task: number | null;
  function: number | null;
  depth: number;
  start: number | null;
  args: number | null;
  start_attributes: number | null;
  end: number | null;
  size: number | null;
  status: number | null;
  result: number | null;
  error: number | null;
  end_attributes: number | null;
  tokens: number | null;
  state_before: number | null;
  state_after: number | null;
  edited: number;
}

const SAID = [
  'parent',
  'task',
  'function',
  'start',
  'args',
  'start_attributes',
  'end',
  'size',
  'status',
  'result',
  'error',
  'end_attributes',
  'tokens',
  'state_before',
  'state_after',
];
const COLUMNS = ['id', ...SAID, 'depth', 'edited'];
/** All that most calls have: to bind the rest as null would take as long again. */
const USUAL = ['parent', 'task', 'function', 'start', 'args', 'end', 'size', 'status', 'result'];
const USUAL_COLUMNS = ['id', ...USUAL, 'depth'];

/** Class of a duration, the power of two below it: long calls are found by it without a look at the short ones. */
export function sizeOf(duration: number): number {
  return Math.floor(Math.log2(Math.max(0, duration) + 1));
}

/**
 * Rows of calls. Most calls start and end within one batch and are written once, many by one statement. Whatever frame of a call comes
 * first makes its row, what comes later is added to it.
 */
export class CallRows {
  private readonly pending = new Map<number, CallRecord>();
  /** Rows in the file that have no start yet. */
  private readonly early: Set<number>;
  private readonly usual: Rows;
  private readonly any: Rows;
  private readonly ended;

  constructor(db: Connection) {
    this.usual = new Rows(db, USUAL_COLUMNS.length, (rows) => upsert(USUAL_COLUMNS, USUAL, rows));
    this.any = new Rows(db, COLUMNS.length, (rows) => upsert(COLUMNS, SAID, rows));
    this.ended = db.prepare('SELECT end, status FROM calls WHERE id = ?');
    this.early = new Set(db.prepare('SELECT id FROM calls WHERE start IS NULL').pluck().all() as number[]);
  }

  /** What is to be added to a call. */
  of(id: number): CallRecord {
    let record = this.pending.get(id);
    if (record === undefined) {
      record = {
        id,
        parent: null,
        task: null,
        function: null,
        depth: 0,
        start: null,
        args: null,
        start_attributes: null,
        end: null,
        size: null,
        status: null,
        result: null,
        error: null,
        end_attributes: null,
        tokens: null,
        state_before: null,
        state_after: null,
        edited: 0,
      };
      this.pending.set(id, record);
    }
    return record;
  }

  /** The end of a call whose start comes only now, if it was read before. */
  endBefore(record: CallRecord): { end: number; status: number | null } | undefined {
    if (record.end !== null) return { end: record.end, status: record.status };
    if (!this.early.delete(record.id)) return undefined;
    const row = this.ended.get(record.id) as { end: number | null; status: number | null } | undefined;
    return row === undefined || row.end === null ? undefined : { end: row.end, status: row.status };
  }

  flush(): void {
    for (const r of this.pending.values()) {
      if (isUsual(r))
        this.usual.push(
          r.id,
          r.parent,
          r.task,
          r.function,
          r.start,
          r.args,
          r.end,
          r.size,
          r.status,
          r.result,
          r.depth,
        );
      else {
        if (r.start === null && r.end !== null) this.early.add(r.id);
        this.any.push(
          r.id,
          r.parent,
          r.task,
          r.function,
          r.start,
          r.args,
          r.start_attributes,
          r.end,
          r.size,
          r.status,
          r.result,
          r.error,
          r.end_attributes,
          r.tokens,
          r.state_before,
          r.state_after,
          r.depth,
          r.edited,
        );
      }
    }
    this.usual.flush();
    this.any.flush();
    this.pending.clear();
  }
}

function isUsual(r: CallRecord): boolean {
  return (
    r.start !== null &&
    r.start_attributes === null &&
    r.end_attributes === null &&
    r.error === null &&
    r.tokens === null &&
    r.state_before === null &&
    r.state_after === null &&
    r.edited === 0
  );
}

/** Rows on their way into a table. */
class Rows {
  private values: (number | null)[] = [];
  private readonly many;
  private readonly one;

  constructor(
    db: Connection,
    private readonly columns: number,
    sql: (rows: number) => string,
  ) {
    this.many = db.prepare(sql(ROWS));
    this.one = db.prepare(sql(1));
  }

  push(...row: (number | null)[]): void {
    for (const value of row) this.values.push(value);
    if (this.values.length < ROWS * this.columns) return;
    this.many.run(this.values);
    this.values = [];
  }

  flush(): void {
    for (let at = 0; at < this.values.length; at += this.columns)
      this.one.run(this.values.slice(at, at + this.columns));
    this.values = [];
  }
}

function upsert(columns: readonly string[], said: readonly string[], rows: number): string {
  const row = `(${columns.map(() => '?').join()})`;
  const added = said.map((name) => `${name} = coalesce(excluded.${name}, ${name})`).join();
  const edited = columns.includes('edited') ? ', edited = max(edited, excluded.edited)' : '';
  return `INSERT INTO calls (${columns.join()}) VALUES ${new Array<string>(rows).fill(row).join()}
    ON CONFLICT (id) DO UPDATE SET ${added}${edited}, depth = CASE WHEN excluded.start IS NULL THEN depth ELSE excluded.depth END`;
}
