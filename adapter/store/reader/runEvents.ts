import type { CallDetail, CallRow, Lane } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import { crashWay } from './crashPlace';
import { EventFields } from './eventPlace';
import { askedBy } from './releaseWords';
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

/** What is said by the rows of others: that a stop ended, and what the app said of it, by the stop; that the app ended by the run. */
const UNTOLD = "('release', 'exited', 'held', 'resumed')";
/** Where no call was held, older sessions said that it was number 0. */
const OUTSIDE = '(call IS NULL OR call & 4294967295 = 0)';
/** What was edited is told by the app, where it can. */
const HERE = `${OUTSIDE} AND name NOT IN ${UNTOLD}
  AND (name <> 'edit' OR CASE WHEN json_valid(data) THEN json_extract(data, '$.native') END IS 1
    OR NOT EXISTS (SELECT 1 FROM events WHERE name = 'edited'))`;

/** Text of much output is cut here, since thousands of rows may be read. */
const COLUMNS = `id, time, name, value, CASE WHEN data IS NULL OR octet_length(data) <= ${LONG} OR NOT json_valid(data) THEN data
  ELSE json_object('text', substr(json_extract(data, '$.text'), 1, 2000), 'category', json_extract(data, '$.category'),
    'reason', json_extract(data, '$.reason'), 'description', json_extract(data, '$.description'),
    'signal', json_extract(data, '$.signal'), 'backtrace', json(json_extract(data, '$.backtrace')),
    'path', json_extract(data, '$.path'), 'line', json_extract(data, '$.line'), 'function', json_extract(data, '$.function'), 'thread', json_extract(data, '$.thread'))
  END AS data`;

/** The lane of events, if there are any to be shown. */
export function eventLane(file: RunFile, lanes: readonly Lane[]): Lane | undefined {
  const zero = file.zero();
  return file.once('event lane', () => {
    const one = (which: 'ASC' | 'DESC'): number | undefined =>
      file
        .sql(
          `SELECT time FROM (SELECT time, call, name, data FROM events ORDER BY time ${which} LIMIT ${MOST_LOOKED_AT})
           WHERE ${HERE} ORDER BY time ${which} LIMIT 1`,
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

/** When the last of them was, where it was after the last call. That a process ended is not drawn, and may be long after all else. */
export function lastEvent(file: RunFile): number {
  const sql = `SELECT max(time) FROM (SELECT time, call, name FROM events ORDER BY time DESC LIMIT 1000) WHERE ${OUTSIDE} AND name <> 'exited'`;
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
       (SELECT name, call, data FROM events ORDER BY time LIMIT ${MOST_LOOKED_AT}) WHERE ${HERE}`,
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
  const [looked, own] = file.sql(`SELECT count(*), coalesce(sum(${HERE}), 0) ${among}`).raw().get(from, to) as [
    number,
    number,
  ];
  if (looked <= MOST_LOOKED_AT && own <= MOST) {
    const sql = `SELECT ${COLUMNS} ${among} WHERE ${HERE} ORDER BY time, id`;
    return { rows: own === 0 ? [] : (file.sql(sql).all(from, to) as StoredEvent[]), left: 0 };
  }
  const rows = sampled(file, from, to);
  return { rows, left: Math.max(1, own - rows.length) };
}

/** The first of each part of the range that has one, and the last of all, where a crash would be. */
function sampled(file: RunFile, from: number, to: number): StoredEvent[] {
  const [first, last] = file
    .sql('SELECT min(time), max(time) FROM events WHERE time BETWEEN ? AND ?')
    .raw()
    .get(from, to) as [number, number];
  const found = new Map<number, StoredEvent>();
  const next = file.sql(
    `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time BETWEEN ? AND ? ORDER BY time, id LIMIT 100) WHERE ${HERE} LIMIT 1`,
  );
  const width = Math.max(1, Math.ceil((last - first + 1) / PARTS));
  for (let at = first; at <= last; at += width) {
    const row = next.get(at, Math.min(last, at + width - 1)) as StoredEvent | undefined;
    if (row !== undefined) found.set(row.id, row);
  }
  const end = file.sql(
    `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time BETWEEN ? AND ? ORDER BY time DESC, id DESC LIMIT 100) WHERE ${HERE}`,
  );
  for (const row of end.all(from, to) as StoredEvent[]) found.set(row.id, row);
  return [...found.values()].sort((one, other) => one.time - other.time || one.id - other.id);
}

/** Milliseconds that are spent on the words of events. */
const SEARCH_MS = 150;

/** Events whose line has the text, in order; `atLeast`: not all of them were looked at. */
export function eventsSaying(
  file: RunFile,
  {
    text,
    kinds,
    errors,
    limit,
  }: { text: string; kinds?: readonly string[] | undefined; errors?: boolean | undefined; limit: number },
): { events: CallRow[]; atLeast: boolean } {
  const wanted = text.trim().toLowerCase();
  const events: CallRow[] = [];
  if (wanted === '' || limit <= 0 || kinds?.includes('event') === false) return { events, atLeast: false };
  const until = performance.now() + SEARCH_MS;
  const zero = file.zero();
  const depth = depthOf(file);
  const sql = `SELECT ${COLUMNS} FROM (SELECT * FROM events ORDER BY time, id LIMIT ${MOST_LOOKED_AT})
    WHERE ${HERE}${errors === true ? " AND name IN ('crash', 'crashed')" : ''} ORDER BY time, id`;
  for (const event of file.sql(sql).iterate() as IterableIterator<StoredEvent>) {
    if (events.length >= limit || performance.now() > until) return { events, atLeast: true };
    if (eventLine(file, event).toLowerCase().includes(wanted)) events.push(rowOf(file, event, zero, depth));
  }
  const all = file
    .sql('SELECT count(*) FROM (SELECT 1 FROM events LIMIT ?)')
    .pluck()
    .get(MOST_LOOKED_AT + 1) as number;
  return { events, atLeast: all > MOST_LOOKED_AT };
}

/** The neighbouring crash. */
export function crashNear(file: RunFile, time: number, direction: 'next' | 'previous'): CallRow | undefined {
  const [compare, order] = direction === 'next' ? ['>', 'ASC'] : ['<', 'DESC'];
  const zero = file.zero();
  const found = file
    .sql(
      `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time ${compare} ? ORDER BY time ${order} LIMIT ${MOST_LOOKED_AT})
       WHERE ${OUTSIDE} AND name IN ('crash', 'crashed') ORDER BY time ${order}, id ${order} LIMIT 1`,
    )
    .get(time + zero) as StoredEvent | undefined;
  return found && rowOf(file, found, zero, depthOf(file));
}

/** Stops that began before the range and may last into it. */
function reachingIn(file: RunFile, from: number): StoredEvent[] {
  const sql = `SELECT ${COLUMNS} FROM (SELECT * FROM events WHERE time < ? ORDER BY time DESC, id DESC LIMIT ${BEFORE})
    WHERE ${OUTSIDE} AND name = 'stop' ORDER BY time, id`;
  return file.sql(sql).all(from) as StoredEvent[];
}

function rowOf(file: RunFile, event: StoredEvent, zero: number, depth: number): CallRow {
  const { id, time, name } = event;
  const start = Math.max(0, time - zero);
  const stopped = name === 'stop';
  const until = stopped ? endOfStop(file, event) : time;
  const end = until === undefined ? undefined : Math.max(start, until - zero);
  // It is only a mark where all of it was before the first call; how long it was stands in its details.
  const lasts = stopped && (until === undefined || until > zero || time >= zero);
  return {
    id: `e${id}`,
    task: TASK,
    depth: stopped || depth === 1 ? 0 : 1,
    kind: 'event',
    name: eventLine(file, event),
    start,
    state: name === 'crash' || name === 'crashed' ? 'error' : end === undefined ? 'running' : 'returned',
    ...(end === undefined ? {} : { end }),
    holds: lasts ? [{ start, ...(end === undefined ? {} : { end }), description: 'Stood still' }] : [],
    edited: false,
  };
}

/** When it went on, or with the run. Of a run that goes on nothing where it still stands. */
function endOfStop(file: RunFile, event: StoredEvent): number | undefined {
  const released = releaseOf(file, event);
  if (released !== undefined) return released.time;
  return file.live() ? undefined : Math.max(event.time, file.zero() + file.length());
}

/** What ended it: that it was released, or the thread's next stop. */
function releaseOf(file: RunFile, { id, time, value, data }: StoredEvent): StoredEvent | undefined {
  const thread = new EventFields(file, value, data).number('thread') ?? null;
  const sql = `SELECT id, time, name, value, data FROM (SELECT * FROM events WHERE time >= ? ORDER BY time, id LIMIT ${AFTER})
    WHERE name IN ('release', 'stop') AND ${OUTSIDE} AND id > ? AND CASE WHEN json_valid(data) THEN json_extract(data, '$.thread') END IS ?
    ORDER BY time, id LIMIT 1`;
  return file.sql(sql).get(time, id, thread) as StoredEvent | undefined;
}

/** `Step over in the editor`. */
function wentOn(file: RunFile, event: StoredEvent): string | undefined {
  const ending = event.name === 'stop' ? releaseOf(file, event) : undefined;
  return ending?.name === 'release' ? eventLine(file, ending) : undefined;
}

function lengthText(nanoseconds: number): string {
  const milliseconds = nanoseconds / 1e6;
  return milliseconds < 10_000
    ? `${Math.max(1, Math.round(milliseconds))} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** `e12`. */
export function eventId(name: string): number | undefined {
  const [, digits] = /^e([1-9]\d{0,14})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** What is known of one event. Throws a sentence when it is not in the run. */
export function eventDetail(file: RunFile, id: number): CallDetail {
  const event = file.sql(`SELECT id, time, name, value, data FROM events WHERE id = ? AND ${OUTSIDE}`).get(id) as
    StoredEvent | undefined;
  if (event === undefined) throw new UserError(`There is no event ${id} in this run.`);
  const zero = file.zero();
  const call = rowOf(file, event, zero, depthOf(file));
  const fields = new EventFields(file, event.value, event.data);
  const { stack } = fields;
  const place =
    event.name === 'crash' || event.name === 'uncaught'
      ? crashWay(file, fields).way.find(({ path }) => path !== undefined)
      : fields.place;
  const early = event.time - zero;
  const ended = wentOn(file, event);
  const editor = event.name === 'edited' ? askedBy(fields.text('client')) : undefined;
  const until = early < 0 && event.name === 'stop' ? endOfStop(file, event) : undefined;
  return {
    call,
    path: [{ id: call.id, name: call.name, kind: call.kind }],
    ...(place === undefined ? {} : { source: { path: place.path!, line: place.line! } }),
    ...(event.value === null || event.name === 'edited' || fields.isSaid
      ? {}
      : {
          input: { value: event.value, root: node('', file.values.root(event.value), file.values) },
        }),
    attributes: [
      ...(event.name === 'stop' ? [] : fields.facts()),
      ...(editor === undefined ? [] : [{ name: 'edited', value: editor }]),
      ...(ended === undefined ? [] : [{ name: 'went on', value: ended }]),
      ...(until === undefined ? [] : [{ name: 'held', value: lengthText(until - event.time) }]),
      ...(early < 0 ? [{ name: 'before the first call', value: lengthText(-early) }] : []),
    ],
    events: [],
    event: { text: shorten(wholeText(file, event), LONGEST_TEXT), stack },
  };
}
