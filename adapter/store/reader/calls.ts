import type { CallRow, CallState, ReaderMethods } from '../../../protocol/timeline';
import { callName } from '../callNames';
import type { RunFile } from './runFile';

/** Rows answered at most, whatever is asked for. */
export const MOST_ROWS = 20_000;

export interface StoredCall {
  id: number;
  parent: number | null;
  task: number;
  function: number;
  depth: number;
  start: number;
  end: number | null;
  status: number | null;
  edited: number;
  kind: string | null;
  name: string | null;
}

interface StoredHold {
  start: number;
  end: number | null;
  description: string;
}

const COLUMNS = `c.id, c.parent, c.task, c.function, c.depth, c.start, c.end, c.status, c.edited, f.kind, f.name
  FROM calls c LEFT JOIN functions f ON f.id = c.function`;
const STATES: readonly CallState[] = ['returned', 'error', 'cancelled', 'skipped', 'cancelled'];

export function callRow(file: RunFile, call: StoredCall, zero = file.zero()): CallRow {
  const holds = file
    .sql('SELECT start, end, description FROM holds WHERE call = ? ORDER BY start')
    .all(call.id) as StoredHold[];
  return {
    id: callName(call.id),
    ...(call.parent === null ? {} : { parent: callName(call.parent) }),
    task: call.task,
    depth: call.depth,
    kind: call.kind ?? 'function',
    name: call.name ?? '?',
    start: call.start - zero,
    ...(call.end === null ? {} : { end: call.end - zero }),
    state: stateOf(call.status),
    holds: holds.map(({ start, end, description }) => ({
      start: start - zero,
      ...(end === null ? {} : { end: end - zero }),
      description,
    })),
    edited: call.edited !== 0,
  };
}

export function stateOf(status: number | null): CallState {
  return status === null ? 'running' : (STATES[status] ?? 'returned');
}

export function storedCall(file: RunFile, id: number): StoredCall | undefined {
  return file.sql(`SELECT ${COLUMNS} WHERE c.id = ? AND c.start IS NOT NULL`).get(id) as StoredCall | undefined;
}

/** Calls that overlap the range. When there are more than may be answered, errors and the longest calls are kept. */
export function callsBetween(
  file: RunFile,
  params: ReaderMethods['calls']['params'],
): ReaderMethods['calls']['result'] {
  const zero = file.zero();
  const range = { from: params.from + zero, to: params.to + zero, minimum: params.minimum };
  const limit = Math.min(params.limit, MOST_ROWS);
  const running = file
    .sql(`SELECT ${COLUMNS} WHERE c.end IS NULL AND c.start <= ? ORDER BY c.start LIMIT ?`)
    .all(range.to, limit) as StoredCall[];
  // A call that runs is as long as anything.
  const found = new Map(running.map((call) => [call.id, call]));
  const ended = longest(file, range, limit - found.size, '');
  if (ended.length === limit - found.size) {
    // There may be more than these: then half of the room is for those that failed.
    for (const call of longest(file, range, Math.ceil((limit - found.size) / 2), ' AND c.status = 1'))
      found.set(call.id, call);
  }
  for (const call of ended) if (found.size < limit) found.set(call.id, call);
  const calls = [...found.values()].sort((one, other) => one.start - other.start || one.id - other.id);
  return { calls: calls.map((call) => callRow(file, call, zero)), left: total(file, range) - calls.length };
}

interface Range {
  from: number;
  to: number;
  minimum: number;
}

/** Longest possible duration of a class, with room for rounding. */
const below = (size: number): number => 2 ** (size + 1) * 1.001;

/** Classes of durations that occur, the longest first. Each is found with one step in the index. */
function sizes(file: RunFile): number[] {
  const next = file.sql('SELECT max(size) FROM calls WHERE size IS NOT NULL AND size < ?').pluck();
  const all: number[] = [];
  for (let size = next.get(1000) as number | null; size !== null; size = next.get(size) as number | null)
    all.push(size);
  return all;
}

/** Ended calls of the range, class by class: in each, those that could reach into the range start within a known distance of it. */
function longest(
  file: RunFile,
  { from, to, minimum }: Range,
  limit: number,
  and: '' | ' AND c.status = 1',
): StoredCall[] {
  const statement = file.sql(
    `SELECT ${COLUMNS} WHERE c.size = ? AND c.start BETWEEN ? AND ? AND c.end >= ? AND c.end - c.start >= ?${and} ORDER BY c.start LIMIT ?`,
  );
  const calls: StoredCall[] = [];
  for (const size of sizes(file)) {
    if (calls.length >= limit || below(size) < minimum) break;
    calls.push(...(statement.all(size, from - below(size), to, from, minimum, limit - calls.length) as StoredCall[]));
  }
  return calls;
}

function total(file: RunFile, { from, to }: Range): number {
  const row = file.sql('SELECT coalesce(first, 0) AS first, coalesce(last, 0) AS last, calls FROM runs').get() as {
    first: number;
    last: number;
    calls: number;
  };
  if (from <= row.first && to >= row.last) return row.calls;
  const running = file.sql('SELECT count(*) FROM calls WHERE end IS NULL AND start <= ?').pluck().get(to) as number;
  const statement = file
    .sql('SELECT count(*) FROM calls WHERE size = ? AND start BETWEEN ? AND ? AND end >= ?')
    .pluck();
  return sizes(file).reduce(
    (sum, size) => sum + (statement.get(size, from - below(size), to, from) as number),
    running,
  );
}

export function search(file: RunFile, params: ReaderMethods['search']['params']): ReaderMethods['search']['result'] {
  const text = params.text.trim().toLowerCase();
  const functions = file.db.prepare('SELECT id, kind, name, qualified FROM functions').all() as {
    id: number;
    kind: string;
    name: string;
    qualified: string;
  }[];
  const matching = functions.filter(({ kind, name, qualified }) => {
    if (params.kinds !== undefined && params.kinds.length > 0 && !params.kinds.includes(kind)) return false;
    return (
      text === '' ||
      name.toLowerCase().includes(text) ||
      qualified.toLowerCase().includes(text) ||
      `${kind}:${name}`.toLowerCase().includes(text)
    );
  });
  const limit = Math.min(params.limit, MOST_ROWS);
  const ids = JSON.stringify(matching.map(({ id }) => id));
  const errors = params.errors === true ? ' AND status = 1' : '';
  const total = file
    .sql(`SELECT count(*) FROM calls WHERE ${among(errors)}`)
    .pluck()
    .get(ids) as number;
  const first = firstCalls(
    file,
    matching.map(({ id }) => id),
    errors,
    limit,
  );
  const statement = file.sql(`SELECT ${COLUMNS} WHERE c.id = ?`);
  const zero = file.zero();
  return { calls: first.map((id) => callRow(file, statement.get(id) as StoredCall, zero)), total };
}

/** With errors only, the index of these is the shorter way: the plus sign keeps SQLite from that of functions. */
function among(errors: '' | ' AND status = 1'): string {
  return `${errors === '' ? '' : '+'}function IN (SELECT value FROM json_each(?))${errors}`;
}

/** Functions up to which each is asked for its own first calls. */
const FEW = 200;

/** The earliest calls of these functions. */
function firstCalls(
  file: RunFile,
  functions: readonly number[],
  errors: '' | ' AND status = 1',
  limit: number,
): number[] {
  type Found = { id: number; start: number };
  if (errors !== '' || functions.length > FEW) {
    const all = file.sql(
      `SELECT id FROM calls WHERE start IS NOT NULL AND ${among(errors)} ORDER BY start, id LIMIT ?`,
    );
    return all.pluck().all(JSON.stringify(functions), limit) as number[];
  }
  // The index has each function's calls in their order.
  const statement = file.sql(
    'SELECT id, start FROM calls WHERE function = ? AND start IS NOT NULL ORDER BY start, id LIMIT ?',
  );
  const found = functions.flatMap((id) => statement.all(id, limit) as Found[]);
  return found
    .sort((one, other) => one.start - other.start || one.id - other.id)
    .slice(0, limit)
    .map(({ id }) => id);
}

/** Strictly after or before the time, by start. */
export function errorNear(
  file: RunFile,
  params: ReaderMethods['errorNear']['params'],
): ReaderMethods['errorNear']['result'] {
  const [compare, order] = params.direction === 'next' ? ['>', 'ASC'] : ['<', 'DESC'];
  const call = file.db
    .prepare<[number], StoredCall>(
      `SELECT ${COLUMNS} WHERE c.status = 1 AND c.start ${compare} ? ORDER BY c.start ${order}, c.id ${order} LIMIT 1`,
    )
    .get(params.time + file.zero());
  return call === undefined ? {} : { call: callRow(file, call) };
}
