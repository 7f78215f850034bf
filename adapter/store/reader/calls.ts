import type { CallRow, CallState, CallTable, ReaderMethods } from '../../../protocol/timeline';
import { callName } from '../callNames';
import { LONG } from '../chunks/chunk';
import type { StoredCall } from '../chunks/rows';
import { count, select, type Selection } from '../chunks/select';
import { ENDED_WITH_PROCESS } from '../callNames';
import { isNamed, type Named } from '../functionName';
import type { RunFile } from './runFile';

/** Rows answered at most, whatever is asked for. */
export const MOST_ROWS = 20_000;

/** Columns of `long_calls` and `failed_calls` that are drawn. What was edited is marked by its event. */
const DRAWN = 'id, parent, task, function, depth, start, end, status';

type DrawnRow = [
  id: number,
  parent: number | null,
  task: number,
  func: number,
  depth: number,
  start: number,
  end: number,
  status: number | null,
];

/** What a row of the timeline is made from. */
export interface CallHead {
  id: number;
  parent: number | null;
  task: number;
  function: number;
  depth: number;
  start: number;
  end: number | null;
  status: number | null;
  edited?: number;
}

interface StoredHold {
  start: number;
  end: number | null;
  description: string;
}

const STATES: readonly CallState[] = ['returned', 'error', 'cancelled', 'skipped', 'cancelled', 'interrupted'];
const TABLE_STATES: CallState[] = [...STATES, 'running'];

/** `held`: the calls that were held, where that is known. */
export function callRow(file: RunFile, call: CallHead, zero = file.zero(), held?: ReadonlySet<number>): CallRow {
  const { kind, name } = functionOf(file, call.function);
  const { holds, edited } = stops(file, call, zero, held);
  const row: CallRow = {
    id: callName(call.id),
    task: call.task,
    depth: call.depth,
    kind,
    name,
    start: call.start - zero,
    state: stateOf(call.status),
    holds,
    edited,
  };
  if (call.parent !== null) row.parent = callName(call.parent);
  if (call.end !== null) row.end = call.end - zero;
  if (call.status === ENDED_WITH_PROCESS) row.unended = true;
  const tokens = kind === 'llm' ? file.calls.get(call.id)?.tokens : undefined;
  if (typeof tokens === 'number') row.tokens = tokens;
  return row;
}

function stops(
  file: RunFile,
  call: CallHead,
  zero: number,
  held: ReadonlySet<number> | undefined,
): Pick<CallRow, 'holds' | 'edited'> {
  // Only who is held can be edited.
  if (held?.has(call.id) === false) return { holds: [], edited: call.edited === 1 };
  const holds = holdsOf(file, call.id);
  const edited = call.edited ?? (holds.length > 0 ? file.calls.get(call.id)?.edited : 0);
  return {
    holds: holds.map(({ start, end, description }) => ({
      start: start - zero,
      // That a program goes on is noted a moment later: the call that waits for it may have ended meanwhile.
      ...(end === null ? {} : { end: Math.min(end, call.end ?? end) - zero }),
      description,
    })),
    edited: edited === 1,
  };
}

/** Calls in the order of their starts. */
function callTable(file: RunFile, calls: readonly CallHead[]): CallTable {
  const zero = file.zero();
  const known = heldCalls(file);
  const functions = new Map<number, number>();
  const table: CallTable = {
    ...{ functions: [], function: [], id: [], parent: [], task: [], depth: [], start: [], duration: [], state: [] },
    states: TABLE_STATES,
    held: {},
  };
  let before = zero;
  for (const [index, call] of calls.entries()) {
    let number = functions.get(call.function);
    if (number === undefined) {
      functions.set(call.function, (number = functions.size));
      const { kind, name } = functionOf(file, call.function);
      table.functions.push([kind, name]);
    }
    table.function.push(number);
    table.id.push(callName(call.id));
    table.parent.push(call.parent === null ? '' : callName(call.parent));
    table.task.push(call.task);
    table.depth.push(call.depth);
    table.start.push(call.start - before);
    before = call.start;
    table.duration.push(call.end === null ? -1 : call.end - call.start);
    table.state.push(stateNumber(call.status));
    // Of most calls nothing else is to be told.
    if (call.edited !== 1 && known?.has(call.id) === false) continue;
    const stopped = stops(file, call, zero, known);
    if (stopped.holds.length > 0 || stopped.edited) table.held[index] = stopped;
  }
  return table;
}

function holdsOf(file: RunFile, call: number): StoredHold[] {
  const all = file.sql('SELECT start, end, description FROM holds WHERE call = ? ORDER BY start').all(call);
  return all as StoredHold[];
}

/** So many calls are known as held, or not; where more were, each is asked for. */
const MOST_HELD = 10_000;

/** The calls that were held, unless they are too many to be known. */
export function heldCalls(file: RunFile): ReadonlySet<number> | undefined {
  return file.once('held calls', () => {
    const held = file.sql('SELECT DISTINCT call FROM holds LIMIT ?').pluck().all(MOST_HELD) as number[];
    return held.length < MOST_HELD ? new Set(held) : undefined;
  });
}

/** Rows of many calls: those that were held are looked up once. */
function callRows(file: RunFile, calls: readonly CallHead[]): CallRow[] {
  const zero = file.zero();
  const known = heldCalls(file);
  return calls.map((call) => callRow(file, call, zero, known));
}

export function stateOf(status: number | null): CallState {
  return status === null ? 'running' : (STATES[status] ?? 'returned');
}

/** Its place in the states of a table. */
function stateNumber(status: number | null): number {
  if (status === null) return STATES.length;
  return STATES[status] === undefined ? 0 : status;
}

/** Kind and name of what was called. */
export function functionOf(file: RunFile, id: number): { kind: string; name: string } {
  return file.functionOf(id) ?? { kind: 'function', name: '?' };
}

type Between = ReaderMethods['calls']['params'];

/** Calls that overlap the range. When there are more than may be answered, errors and the longest calls are kept. */
export function callsBetween(file: RunFile, params: Between): ReaderMethods['calls']['result'] {
  const { calls, left } = between(file, params);
  return { calls: callRows(file, calls), left };
}

/** The same as a table. */
export function barsBetween(file: RunFile, params: Between): Omit<ReaderMethods['bars']['result'], 'events'> {
  const { calls, left } = between(file, params);
  return { calls: callTable(file, calls), left };
}

function between(file: RunFile, params: Between): { calls: CallHead[]; left: number } {
  const zero = file.zero();
  const range = { from: params.from + zero, to: params.to + zero, minimum: params.minimum };
  const limit = Math.min(params.limit, MOST_ROWS);
  // A call that runs is as long as anything.
  const open = running(file, range.to, limit);
  const ended = longest(file, range, limit - open.length);
  const isFull = ended.length === limit - open.length;
  const calls = isFull ? withFailed(file, range, open, ended, limit) : [...open, ...ended];
  calls.sort((one, other) => one.start - other.start || one.id - other.id);
  return { calls, left: total(file, range) - calls.length };
}

/** There may be more calls than these: then half of the room is for those that failed. */
function withFailed(
  file: RunFile,
  range: Range,
  open: readonly CallHead[],
  ended: readonly CallHead[],
  limit: number,
): CallHead[] {
  const found = new Map(open.map((call) => [call.id, call]));
  for (const call of failed(file, range, Math.ceil((limit - found.size) / 2))) found.set(call.id, call);
  for (const call of ended) if (found.size < limit) found.set(call.id, call);
  return [...found.values()];
}

interface Range {
  from: number;
  to: number;
  minimum: number;
}

/** Longest possible duration of a class, with room for rounding. */
const below = (size: number): number => 2 ** (size + 1) * 1.001;

/** The first calls that run, up to this time. */
function running(file: RunFile, to: number, limit: number): StoredCall[] {
  const found: StoredCall[] = [];
  for (const zone of file.calls.openZones()) {
    if (zone.first! > to || found.length >= limit) break;
    for (const call of file.calls.inChunk(zone.id)) if (call.end === null && call.start <= to) found.push(call);
  }
  return found.sort((one, other) => one.start - other.start || one.id - other.id).slice(0, limit);
}

/** Classes of durations that occur in a table, the longest first. Each is found with one step in the index. */
function sizes(file: RunFile, table: 'long_calls' | 'failed_calls'): number[] {
  return file.once(`sizes of ${table}`, () => {
    const next = file.sql(`SELECT max(size) FROM ${table} WHERE size < ? AND size >= 0`).pluck();
    const all: number[] = [];
    for (let size = next.get(64) as number | null; size !== null; size = next.get(size) as number | null)
      all.push(size);
    return all;
  });
}

/**
 * A table's calls that could reach to a time, class by class: those of one start within a known distance before it. As one statement, since each
 * costs more than the few rows it finds. SQLite takes the left side of a CROSS JOIN as the outer loop, so the longest come first.
 */
function classes(file: RunFile, table: 'long_calls' | 'failed_calls'): string | undefined {
  return file.once(`classes of ${table}`, () => {
    const rows = sizes(file, table).map((size) => `(${size}, ${below(size)})`);
    if (rows.length === 0) return undefined;
    return `WITH classes (class, reach) AS (VALUES ${rows.join()})
      %columns FROM classes CROSS JOIN ${table} ON size = class`;
  });
}

function bySize(
  file: RunFile,
  table: 'long_calls' | 'failed_calls',
  { from, to, minimum }: Range,
  limit: number,
): CallHead[] {
  const among = classes(file, table);
  if (among === undefined || limit <= 0) return [];
  const rows = file
    .sql(
      `${among.replace('%columns', `SELECT ${DRAWN}`)} WHERE reach >= ? AND start BETWEEN ? - reach AND ? AND end >= ? AND end - start >= ? LIMIT ?`,
    )
    .raw()
    .all(minimum, from, to, from, minimum, limit) as DrawnRow[];
  return rows.map(([id, parent, task, func, depth, start, end, status]) => ({
    id,
    parent,
    task,
    function: func,
    depth,
    start,
    end,
    status,
  }));
}

/** Ended calls of the range, the longest first. */
function longest(file: RunFile, range: Range, limit: number): CallHead[] {
  const calls = bySize(file, 'long_calls', range, limit);
  if (calls.length >= limit || range.minimum >= LONG) return calls;
  return [...calls, ...select(file.calls, shortIn(range), '-duration', FIRST, limit - calls.length, SHORT_CALLS_MS)];
}

/** Milliseconds that short calls of a range are looked for; the others are left out, and counted. */
const SHORT_CALLS_MS = 200;
/** Before every call in an order that falls. */
const FIRST = { key: Infinity, id: Infinity };

/** Calls of the range that are no long ones: they start within it, or shortly before. */
function shortIn({ from, to, minimum }: Range): Selection {
  return { from: from - LONG, to, until: from, minimum, maximum: LONG - 1 };
}

function failed(file: RunFile, range: Range, limit: number): CallHead[] {
  return bySize(file, 'failed_calls', range, limit);
}

function total(file: RunFile, { from, to }: Range): number {
  const sql = 'SELECT coalesce(first, 0) AS first, coalesce(last, 0) AS last, calls FROM runs';
  const row = file.once(sql, () => file.sql(sql).get()) as { first: number; last: number; calls: number };
  if (from <= row.first && to >= row.last) return row.calls;
  const started = count(file.calls, { from, to, minimum: 0 });
  const justBefore = count(file.calls, {
    from: from - LONG,
    to: from - 0.5,
    until: from,
    minimum: 0,
    maximum: LONG - 1,
  });
  const among = classes(file, 'long_calls')?.replace('%columns', 'SELECT count(*)');
  const reaching = 'start >= ? - reach AND start < ? AND end >= ?';
  const long =
    among === undefined ? 0 : (file.sql(`${among} WHERE ${reaching}`).pluck().get(from, from, from) as number);
  const open = running(file, from - 0.5, Infinity).length;
  return started + justBefore + long + open;
}

export function search(file: RunFile, params: ReaderMethods['search']['params']): ReaderMethods['search']['result'] {
  const text = params.text.trim().toLowerCase();
  const { kinds = [] } = params;
  const functions = file.db.prepare('SELECT id, kind, name, qualified, module FROM functions').all() as (Named & {
    id: number;
  })[];
  const matching = functions.filter(
    (one) => (kinds.length === 0 || kinds.includes(one.kind)) && (text === '' || isNamed(one, text)),
  );
  const limit = Math.min(params.limit, MOST_ROWS);
  const ids = new Set(matching.map(({ id }) => id));
  const { calls, total } = params.errors === true ? failedOf(file, ids, limit) : callsOf(file, ids, limit);
  return { calls: callRows(file, calls), total };
}

function callsOf(file: RunFile, functions: ReadonlySet<number>, limit: number): { calls: StoredCall[]; total: number } {
  const totals = file.db.prepare('SELECT function, calls FROM function_totals').all() as {
    function: number;
    calls: number;
  }[];
  const total = totals.reduce((sum, { function: id, calls }) => sum + (functions.has(id) ? calls : 0), 0);
  const all = { from: -Infinity, to: Infinity, minimum: 0, functions };
  return { calls: select(file.calls, all, 'start', { key: -Infinity, id: -1 }, limit), total };
}

function failedOf(file: RunFile, functions: ReadonlySet<number>, limit: number): { calls: CallHead[]; total: number } {
  const ids = JSON.stringify([...functions]);
  const among = 'function IN (SELECT value FROM json_each(?))';
  const total = file.sql(`SELECT count(*) FROM failed_calls WHERE ${among}`).pluck().get(ids) as number;
  const first = file.sql(`SELECT ${DRAWN} FROM failed_calls WHERE ${among} ORDER BY start, id LIMIT ?`);
  return { calls: first.all(ids, limit) as CallHead[], total };
}

/** Strictly after or before the time, by start. */
export function errorNear(
  file: RunFile,
  params: ReaderMethods['errorNear']['params'],
): ReaderMethods['errorNear']['result'] {
  const [compare, order] = params.direction === 'next' ? ['>', 'ASC'] : ['<', 'DESC'];
  const call = file
    .sql(`SELECT ${DRAWN} FROM failed_calls WHERE start ${compare} ? ORDER BY start ${order}, id ${order} LIMIT 1`)
    .get(params.time + file.zero()) as CallHead | undefined;
  return call === undefined ? {} : { call: callRow(file, call) };
}
