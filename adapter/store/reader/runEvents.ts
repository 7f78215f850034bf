import type { CallDetail, CallRow, Lane } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import { EventFields } from './eventPlace';
import { eventLine, wholeText, type StoredEvent } from './eventWords';
import { node } from './render';
import type { RunFile } from './runFile';
import { shorten } from './text';

/** The lane of what belongs to no call; tasks have positive numbers. */
const TASK = -1;
/** Rows answered at most. */
const MOST = 2_000;
/** Rows of events looked at for them; of a range with more, one of each part is told. */
const MOST_LOOKED_AT = 50_000;
const PARTS = 500;
/** A stop from before the range is looked for among so many events, and what ended a stop among so many more. */
const BEFORE = 500;
const AFTER = 5_000;
/** Of text that is longer the whole is read only where it is shown. */
const LONG = 16 * 1024;
const LONGEST_TEXT = 100_000;

/** What is said by the rows of others: that a stop ended by the stop, that the app ended by the run. */
const UNTOLD = "('release', 'exited')";

/** Text of much output is cut here, since thousands of rows may be read. */
const COLUMNS = `id, time, name, value, CASE WHEN data IS NULL OR octet_length(data) <= ${LONG} OR NOT json_valid(data) THEN data
  ELSE json_object('text', substr(json_extract(data, '$.text'), 1, 2000), 'category', json_extract(data, '$.category'),
    'reason', json_extract(data, '$.reason'), 'description', json_extract(data, '$.description'),
    'signal', json_extract(data, '$.signal'), 'backtrace', json(json_extract(data, '$.backtrace')), 'thread', json_extract(data, '$.thread'))
  END AS data`;

/** The lane of events, if there are any to be shown. */
export function eventLane(file: RunFile, lanes: readonly Lane[]): Lane | undefined {
  const zero = file.zero();
  return file.once('event lane', () => {
    const one = (which: 'ASC' | 'DESC'): number | undefined =>
      file
        .sql(
          `SELECT time FROM (SELECT time, call, name FROM events ORDER BY time ${which} LIMIT ${MOST_LOOKED_AT})
           WHERE call IS NULL AND name NOT IN ${UNTOLD} ORDER BY time ${which} LIMIT 1`,
        )
        .pluck()
        .get() as number | undefined;
    const [first, last] = [one('ASC'), one('DESC')];
    if (first === undefined || last === undefined) return undefined;
    return {
      task: TASK,
      name: laneName(file, lanes),
      depth: depthOf(file),
      first: Math.max(0, first - zero),
      last: Math.max(0, last - zero),
      events: true,
    };
  });
}

/** When the last of them was, where it was after the last call. */
export function lastEvent(file: RunFile): number {
  const sql = `SELECT max(time) FROM (SELECT time, call FROM events ORDER BY time DESC LIMIT 1000) WHERE call IS NULL`;
  const last = file.once(sql, () => file.sql(sql).pluck().get() as number | null);
  return last === null ? 0 : last - file.zero();
}

/** What the program is called, unless a lane is called so. */
function laneName(file: RunFile, lanes: readonly Lane[]): string {
  const names = file.sql("SELECT name FROM processes WHERE name <> '' LIMIT 2").pluck().all() as string[];
  const [name] = names;
  return name === undefined || names.length > 1 || lanes.some((lane) => lane.name === name) ? 'Program' : name;
}

/** Stops have a row of their own above all else, since they last. */
function depthOf(file: RunFile): 1 | 2 {
  const seen = file
    .sql(
      `SELECT count(DISTINCT name = 'stop') FROM
       (SELECT name, call FROM events ORDER BY time LIMIT ${MOST_LOOKED_AT}) WHERE call IS NULL AND name NOT IN ${UNTOLD}`,
    )
    .pluck()
    .get() as number;
  return seen > 1 ? 2 : 1;
}

/** Events of the range, in order; `left`: how many are left out. */
export function eventsBetween(file: RunFile, range: { from: number; to: number }): { events: CallRow[]; left: number } {
  const zero = file.zero();
  // What was before the first call stands at the beginning.
  const from = range.from <= 0 ? -Number.MAX_SAFE_INTEGER : Math.floor(range.from + zero);
  const to = Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(range.to + zero));
  if (to < from) return { events: [], left: 0 };
  const depth = file.once('event depth', () => depthOf(file));
  const { rows, left } = inRange(file, from, to);
  const events = [...reachingIn(file, from), ...rows].map((row) => rowOf(file, row, zero, depth));
  return { events: events.filter((row) => (row.end ?? Infinity) >= range.from || range.from <= 0), left };
}

function inRange(file: RunFile, from: number, to: number): { rows: StoredEvent[]; left: number } {
  const among = `FROM (SELECT * FROM events WHERE time BETWEEN ? AND ? ORDER BY time, id LIMIT ${MOST_LOOKED_AT + 1})`;
  const here = `call IS NULL AND name NOT IN ${UNTOLD}`;
  const [looked, own] = file.sql(`SELECT count(*), coalesce(sum(${here}), 0) ${among}`).raw().get(from, to) as [
    number,
    number,
  ];
  if (looked <= MOST_LOOKED_AT && own <= MOST) {
    const sql = `SELECT ${COLUMNS} ${among} WHERE ${here} ORDER BY time, id`;
    return { rows: own === 0 ? [] : (file.sql(sql).all(from, to) as StoredEvent[]), left: 0 };
  }
  const rows = sampled(file, from, to, here);
  return { rows, left: Math.max(1, own - rows.length) };
}

/** The first of each part of the range that has one, and the last of all, where a crash would be. */
function sampled(file: RunFile, from: number, to: number, here: string): StoredEvent[] {
  const [first, last] = file
    .sql('SELECT min(time), max(time) FROM events WHERE time BETWEEN ? AND ?')
    .raw()
    .get(from, to) as [number, number];
  const found = new Map<number, StoredEvent>();
  const next = file.sql(
    `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time BETWEEN ? AND ? ORDER BY time, id LIMIT 100) WHERE ${here} LIMIT 1`,
  );
  const width = Math.max(1, Math.ceil((last - first + 1) / PARTS));
  for (let at = first; at <= last; at += width) {
    const row = next.get(at, Math.min(last, at + width - 1)) as StoredEvent | undefined;
    if (row !== undefined) found.set(row.id, row);
  }
  const end = file.sql(
    `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time BETWEEN ? AND ? ORDER BY time DESC, id DESC LIMIT 100) WHERE ${here}`,
  );
  for (const row of end.all(from, to) as StoredEvent[]) found.set(row.id, row);
  return [...found.values()].sort((one, other) => one.time - other.time || one.id - other.id);
}

/** The neighbouring crash. */
export function crashNear(file: RunFile, time: number, direction: 'next' | 'previous'): CallRow | undefined {
  const [compare, order] = direction === 'next' ? ['>', 'ASC'] : ['<', 'DESC'];
  const zero = file.zero();
  const found = file
    .sql(
      `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time ${compare} ? ORDER BY time ${order} LIMIT ${MOST_LOOKED_AT})
       WHERE call IS NULL AND name IN ('crash', 'crashed') ORDER BY time ${order}, id ${order} LIMIT 1`,
    )
    .get(time + zero) as StoredEvent | undefined;
  return found && rowOf(file, found, zero, depthOf(file));
}

/** Stops that began before the range and may last into it. */
function reachingIn(file: RunFile, from: number): StoredEvent[] {
  const sql = `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time < ? ORDER BY time DESC, id DESC LIMIT ${BEFORE})
    WHERE call IS NULL AND name = 'stop' ORDER BY time, id`;
  return file.sql(sql).all(from) as StoredEvent[];
}

function rowOf(file: RunFile, event: StoredEvent, zero: number, depth: number): CallRow {
  const { id, time, name } = event;
  const start = Math.max(0, time - zero);
  const stopped = name === 'stop';
  const until = stopped ? endOfStop(file, event) : time;
  const end = until === undefined ? undefined : Math.max(start, until - zero);
  return {
    id: `e${id}`,
    task: TASK,
    depth: stopped || depth === 1 ? 0 : 1,
    kind: 'event',
    name: eventLine(file, event),
    start,
    state: name === 'crash' || name === 'crashed' ? 'error' : end === undefined ? 'running' : 'returned',
    ...(end === undefined ? {} : { end }),
    holds: stopped ? [{ start, ...(end === undefined ? {} : { end }), description: 'The program stood still' }] : [],
    edited: false,
  };
}

/** When it went on, or with the run. Of a run that goes on nothing where it still stands. */
function endOfStop(file: RunFile, { id, time, value, data }: StoredEvent): number | undefined {
  const thread = new EventFields(file, value, data).number('thread') ?? null;
  const sql = `SELECT time FROM (SELECT id, time, name, call, data FROM events WHERE time >= ? ORDER BY time, id LIMIT ${AFTER})
    WHERE name IN ('release', 'stop') AND call IS NULL AND id > ? AND CASE WHEN json_valid(data) THEN json_extract(data, '$.thread') END IS ?
    ORDER BY time, id LIMIT 1`;
  const released = file.sql(sql).pluck().get(time, id, thread) as number | undefined;
  if (released !== undefined) return released;
  return file.live() ? undefined : Math.max(time, file.zero() + file.length());
}

/** `e12`. */
export function eventId(name: string): number | undefined {
  const [, digits] = /^e([1-9]\d{0,14})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** What is known of one event. Throws a sentence when it is not in the run. */
export function eventDetail(file: RunFile, id: number): CallDetail {
  const event = file.sql('SELECT id, time, name, value, data FROM events WHERE id = ? AND call IS NULL').get(id) as
    StoredEvent | undefined;
  if (event === undefined) throw new UserError(`There is no event ${id} in this run.`);
  const zero = file.zero();
  const call = rowOf(file, event, zero, depthOf(file));
  const fields = new EventFields(file, event.value, event.data);
  const { stack, place } = fields;
  const early = event.time - zero;
  return {
    call,
    path: [{ id: call.id, name: call.name, kind: call.kind }],
    ...(place === undefined ? {} : { source: { path: place.path!, line: place.line! } }),
    ...(event.value === null
      ? {}
      : {
          input: { value: event.value, root: node('', file.values.root(event.value), file.values) },
        }),
    attributes: [
      ...fields.facts(),
      ...(early < 0 ? [{ name: 'before the first call', value: `${-early / 1e6} ms` }] : []),
    ],
    events: [],
    event: { text: shorten(wholeText(file, event), LONGEST_TEXT), stack },
  };
}
