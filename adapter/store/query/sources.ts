import { SAID_TWICE } from '../reader/eventWords';
import type { QueryOrder } from '../../../protocol/query';
import type { StoredCall } from '../chunks/rows';
import type { ZoneRow } from '../chunks/callReader';
import { select } from '../chunks/select';
import { isDamage } from '../database';
import type { RunFile } from '../reader/runFile';
import { Heap } from './heap';

export type CallCandidate = StoredCall;

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

/** What a damaged file lacks. */
export interface Lost {
  /** Blocks, and how many calls they have. */
  blocks: Map<number, number>;
  events: Set<number>;
}

/** Which calls and events can be meant, as far as indexes tell. */
export interface Range {
  from: number;
  to: number;
  minimum: number;
  failedOnly: boolean;
  /** Functions of which there are calls to find; all when this is not given. */
  functions: readonly number[] | undefined;
  /** Blocks of calls that can have one; all when this is not given. */
  chunks: ReadonlySet<number> | undefined;
  calls: boolean;
  events: boolean;
  /** What a program prints may be nearly all there is of it: whoever does not ask for that does not look through it. */
  types: ReadonlySet<string>;
  /** Nothing before this key in the order asked for. */
  after: number | undefined;
  /** Rows of a page, where every row of the range is one that is asked for. */
  page: number | undefined;
  lost: Lost;
}

/**
 * Rows of the first step of a source: a page, where all of them are on it, or some more than are matched together. The steps grow, since most
 * questions end soon.
 */
const FIRST_STEP = 320;
const LEAST_STEP = 64;
/** A step by duration may look at many blocks, so there are few of them. */
const STEPS = { start: { times: 4, most: 2048 }, duration: { times: 16, most: 32_768 } };
/** Before and after any time of a run. */
export const EVER = 9e15;

const EVENT = `'event' AS type, id, time, name, process, call, value, data`;

/** Rows in the order asked for, fetched as they are needed. */
export class Source {
  private rows: Candidate[] = [];
  private at = 0;
  private step;
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
    page: number | undefined,
  ) {
    // One more, since it is asked for before the page is known to be full.
    this.step = page === undefined ? FIRST_STEP : Math.max(LEAST_STEP, page + 1);
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

/** Sources whose rows together are all that can match. */
export function sourcesOf(file: RunFile, order: QueryOrder, range: Range): Source[] {
  const sources: Source[] = [];
  if (range.calls) sources.push(calls(file, order, range));
  if (range.events && order.endsWith('start')) sources.push(events(file, order, range));
  return sources;
}

function calls(file: RunFile, order: QueryOrder, range: Range): Source {
  const descending = order.startsWith('-');
  const byDuration = order.endsWith('duration');
  const { from, to, minimum, failedOnly: failed, chunks, lost } = range;
  const functions = range.functions === undefined ? undefined : new Set(range.functions);
  const key = (row: Candidate): number => {
    if (row.type !== 'call') return row.time;
    return byDuration ? row.end! - row.start : row.start;
  };
  const first = byDuration ? minimum : from;
  const last = byDuration ? EVER : to;
  const bound = within(descending ? last : first, range.after, descending);
  const steps = byDuration ? STEPS.duration : STEPS.start;
  const onLost = ({ id, calls: many }: ZoneRow): void => void lost.blocks.set(id, many);
  const selection = { from, to, minimum, failed, functions, chunks, onLost };
  return new Source(
    bound,
    { descending, key, steps },
    (after, limit) => select(file.calls, selection, order, after, limit),
    range.page,
  );
}

function events(file: RunFile, order: QueryOrder, range: Range): Source {
  const descending = order === '-start';
  const { types } = range;
  const onlyCrashes = !types.has('event') && !types.has('output');
  const isOf = types.has('output') ? 'TRUE' : onlyCrashes ? `name IN ('crash', 'crashed')` : `name <> 'output'`;
  const named = `${isOf} AND NOT ${SAID_TWICE}`;
  const inRange = `time BETWEEN ? AND ? AND (time ${descending ? '<' : '>'} ? OR id ${descending ? '<' : '>'} ?)`;
  const inOrder = `ORDER BY time${descending ? ' DESC' : ''}, id${descending ? ' DESC' : ''}`;
  const sql = `SELECT ${EVENT} FROM events WHERE ${inRange} AND ${named} ${inOrder} LIMIT ?`;
  const bound = within(descending ? range.to : range.from, range.after, descending);
  const key = (row: Candidate): number => (row.type === 'call' ? row.start : row.time);
  const fetch = (last: { key: number; id: number }, limit: number): Candidate[] => {
    const from = descending ? range.from : last.key;
    const to = descending ? last.key : range.to;
    try {
      return file.sql(sql).all(from, to, last.key, last.id, limit) as Candidate[];
    } catch (error) {
      if (!isDamage(error)) throw error;
      const ids = file
        .sql(`SELECT id FROM events WHERE ${inRange} ${inOrder}`)
        .pluck()
        .all(from, to, last.key, last.id);
      return oneByOne(file, ids as number[], named, limit, range.lost);
    }
  };
  return new Source(bound, { descending, key, steps: STEPS.start }, fetch, range.page);
}

/** Events of a damaged file: their ids stand in an index, too. */
function oneByOne(file: RunFile, ids: readonly number[], named: string, limit: number, lost: Lost): Candidate[] {
  const read = file.sql(`SELECT ${EVENT}, ${named} AS wanted FROM events WHERE id = ?`);
  const found: Candidate[] = [];
  for (const id of ids) {
    if (found.length >= limit) break;
    try {
      const row = read.get(id) as (EventCandidate & { wanted: number }) | undefined;
      if (row === undefined) lost.events.add(id);
      else if (row.wanted === 1) found.push(row);
    } catch (error) {
      if (!isDamage(error)) throw error;
      lost.events.add(id);
    }
  }
  return found;
}

function within(bound: number, after: number | undefined, descending: boolean): number {
  if (after === undefined) return bound;
  return descending ? Math.min(bound, after) : Math.max(bound, after);
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
