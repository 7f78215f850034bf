import type { QueryOrder } from '../../../protocol/query';
import type { RunFile } from '../reader/runFile';
import { Heap } from './heap';

/** A call as a query needs it, times on the file's own scale. */
export interface CallCandidate {
  type: 'call';
  id: number;
  parent: number | null;
  task: number;
  function: number;
  depth: number;
  start: number;
  end: number | null;
  status: number | null;
  edited: number;
  args: number | null;
  result: number | null;
  error: number | null;
  state_before: number | null;
  state_after: number | null;
}

export interface EventCandidate {
  type: 'event';
  id: number;
  time: number;
  name: string;
  process: number | null;
  call: number | null;
  value: number | null;
  data: string | null;
}

export type Candidate = CallCandidate | EventCandidate;

/** Which calls and events can be meant, as far as indexes tell. */
export interface Range {
  from: number;
  to: number;
  minimum: number;
  failedOnly: boolean;
  /** Functions of which there are calls to find; all when this is not given. */
  functions: readonly number[] | undefined;
  calls: boolean;
  events: boolean;
  /** Nothing before this key in the order asked for. */
  after: number | undefined;
}

/** Functions up to which each is asked for its own calls. */
const FEW = 100;
/** Rows of the first step of a source; most questions end soon, so the steps grow. */
const FIRST_STEP = 32;
/** Each step by duration reads and sorts a whole class of durations, so there are few of them. */
const STEPS = { start: { times: 4, most: 2048 }, duration: { times: 16, most: 32_768 } };
/** Before and after any time of a run. */
export const EVER = 9e15;

const CALL = `'call' AS type, id, parent, task, function, depth, start, end, status, edited, args, result, error, state_before, state_after`;
const EVENT = `'event' AS type, id, time, name, process, call, value, data`;

/** Rows in the order asked for, fetched as they are needed. */
export class Source {
  private rows: Candidate[] = [];
  private at = 0;
  private step = FIRST_STEP;
  private last: { key: number; id: number };
  private ended = false;

  constructor(
    /** No row comes before this key. */
    readonly bound: number,
    private readonly order: {
      descending: boolean;
      key: (row: Candidate) => number;
      steps: { times: number; most: number };
    },
    private readonly fetch: (last: { key: number; id: number }, limit: number) => Candidate[],
  ) {
    // A row at the bound itself is still to come.
    this.last = { key: bound, id: order.descending ? EVER : -1 };
  }

  get descending(): boolean {
    return this.order.descending;
  }

  peek(): Candidate | undefined {
    if (this.at < this.rows.length) return this.rows[this.at];
    if (this.ended) return undefined;
    this.rows = this.fetch(this.last, this.step);
    this.at = 0;
    this.ended = this.rows.length < this.step;
    this.step = Math.min(this.step * this.order.steps.times, this.order.steps.most);
    const end = this.rows.at(-1);
    if (end !== undefined) this.last = { key: this.order.key(end), id: end.id };
    return this.rows[0];
  }

  shift(): void {
    this.at++;
  }

  key(row: Candidate): number {
    return this.order.key(row);
  }
}

/** The least number of sources whose rows together are all that can match. */
export function sourcesOf(file: RunFile, order: QueryOrder, range: Range): Source[] {
  const sources: Source[] = [];
  if (range.calls)
    sources.push(...(order.endsWith('start') ? byStart(file, order, range) : byDuration(file, order, range)));
  if (range.events && order.endsWith('start')) sources.push(inOrder(file, order, range, 'events', 'time', ''));
  return sources;
}

/** Calls that match these conditions and stand in an index by their start. */
function byStart(file: RunFile, order: QueryOrder, range: Range): Source[] {
  const calls = (condition: string, ...params: number[]): Source =>
    inOrder(file, order, range, 'calls', 'start', `${condition} AND `, params);
  if (range.failedOnly) return [calls('status = 1')];
  const { functions } = range;
  if (functions !== undefined && functions.length <= FEW) return functions.map((id) => calls('function = ?', id));
  const running = calls('end IS NULL');
  const minimum = range.minimum;
  return [
    running,
    ...classes(file)
      .filter((size) => above(size) >= minimum)
      .map((size) => (minimum > 0 ? calls('size = ? AND end - start >= ?', size, minimum) : calls('size = ?', size))),
  ];
}

function inOrder(
  file: RunFile,
  order: QueryOrder,
  range: Range,
  table: 'calls' | 'events',
  time: 'start' | 'time',
  condition: string,
  params: readonly number[] = [],
): Source {
  const descending = order === '-start';
  const sql = `SELECT ${table === 'calls' ? CALL : EVENT} FROM ${table} WHERE ${condition}${time} BETWEEN ? AND ?
    AND (${time} ${descending ? '<' : '>'} ? OR id ${descending ? '<' : '>'} ?)
    ORDER BY ${time}${descending ? ' DESC' : ''}, id${descending ? ' DESC' : ''} LIMIT ?`;
  const after = range.after ?? (descending ? EVER : -EVER);
  const bound = descending ? Math.min(range.to, after) : Math.max(range.from, after);
  const key = (row: Candidate): number => (row.type === 'call' ? row.start : row.time);
  return new Source(bound, { descending, key, steps: STEPS.start }, (last, limit) => {
    const from = descending ? range.from : last.key;
    const to = descending ? last.key : range.to;
    return file.sql(sql).all(...params, from, to, last.key, last.id, limit) as Candidate[];
  });
}

/** Calls that have ended, one class of durations after the other: only those that are reached are sorted. */
function byDuration(file: RunFile, order: QueryOrder, range: Range): Source[] {
  const descending = order === '-duration';
  const { functions, minimum } = range;
  const few = functions !== undefined && functions.length <= FEW ? functions : undefined;
  const wanted = range.failedOnly ? ' AND status = 1' : '';
  const source = (condition: string, bound: number, ...params: number[]): Source => {
    const sql = `SELECT ${CALL} FROM calls WHERE ${condition}${wanted} AND start BETWEEN ? AND ? AND end - start >= ?
      AND (end - start ${descending ? '<' : '>'} ? OR (end - start = ? AND id ${descending ? '<' : '>'} ?))
      ORDER BY end - start${descending ? ' DESC' : ''}, id${descending ? ' DESC' : ''} LIMIT ?`;
    const key = (row: Candidate): number => (row.type === 'call' ? row.end! - row.start : 0);
    return new Source(
      bound,
      { descending, key, steps: STEPS.duration },
      (last, limit) =>
        file.sql(sql).all(...params, range.from, range.to, minimum, last.key, last.key, last.id, limit) as Candidate[],
    );
  };
  const within = (bound: number): number => {
    if (range.after === undefined) return bound;
    return descending ? Math.min(bound, range.after) : Math.max(bound, range.after);
  };
  if (few !== undefined)
    return few.map((id) => source('function = ? AND end IS NOT NULL', within(descending ? EVER : minimum), id));
  return classes(file)
    .filter((size) => above(size) >= minimum)
    .map((size) => source('size = ?', within(descending ? above(size) : below(size)), size));
}

/** Longest and shortest possible duration of a class, with room for rounding. */
const above = (size: number): number => Math.ceil(2 ** (size + 1) * 1.001);
const below = (size: number): number => Math.floor(2 ** size * 0.999) - 1;

/** Classes of durations that occur. Each is found with one step in the index. */
function classes(file: RunFile): number[] {
  const next = file.sql('SELECT max(size) FROM calls WHERE size IS NOT NULL AND size < ?').pluck();
  const all: number[] = [];
  for (let size = next.get(1000) as number | null; size !== null; size = next.get(size) as number | null)
    all.push(size);
  return all;
}

/** Rows of several sources as one; a source is asked only when its turn can have come. */
export class Merge {
  private readonly heap: Heap<Turn>;

  constructor(sources: readonly Source[]) {
    // Before its first row a source stands ahead of all that have the same key.
    const turns = sources.map((source) => ({ source, key: source.bound * sign(source), rank: -2, id: 0 }));
    this.heap = new Heap<Turn>(turns, before);
  }

  peek(): Candidate | undefined {
    for (;;) {
      const turn = this.heap.least;
      if (turn === undefined) return undefined;
      if (turn.row !== undefined) return turn.row;
      this.next(turn);
    }
  }

  shift(): void {
    const turn = this.heap.least;
    if (turn?.row === undefined) return;
    turn.source.shift();
    this.next(turn);
  }

  private next(turn: Turn): void {
    const row = turn.source.peek();
    turn.row = row;
    if (row === undefined) return this.heap.drop();
    turn.key = turn.source.key(row) * sign(turn.source);
    turn.rank = rankOf(row) * sign(turn.source);
    turn.id = row.id * sign(turn.source);
    this.heap.changed();
  }
}

/** The row of a source that comes next; the least is first, so descending keys are turned round. */
interface Turn {
  source: Source;
  row?: Candidate | undefined;
  key: number;
  rank: number;
  id: number;
}

function sign(source: Source): number {
  return source.descending ? -1 : 1;
}

export function rankOf(row: Candidate): number {
  return row.type === 'call' ? 0 : 1;
}

function before(one: Turn, other: Turn): boolean {
  if (one.key !== other.key) return one.key < other.key;
  return one.rank !== other.rank ? one.rank < other.rank : one.id < other.id;
}
