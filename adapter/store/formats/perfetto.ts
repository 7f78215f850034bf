import { SAID_TWICE } from '../reader/eventWords';
import { callName } from '../callNames';
import { EVENT_TEXT, eventText } from '../reader/eventText';
import { Places } from '../places';
import { editedArguments } from '../reader/held';
import type { RunFile } from '../reader/runFile';
import { shownName } from '../functionName';
import type { Value } from '../values/model';
import { plainJson, type Cuts, type Json } from './plain';
import { attributesOf, byStart, scanner, statusOf, type ScannedCall } from './scan';

/** Characters of a value that is shown beside a slice. */
const LARGEST_VALUE = 2000;

/** What a slice may say of itself, without those that are there before its attributes are. */
const OWN = new Set(['arguments', 'result', 'error', 'cut', 'edited', 'source']);

interface Slice extends ScannedCall {
  hold: string | null;
}

/**
 * The trace event format: a JSON object with `traceEvents`, times in microseconds. A process is one of the app's, a thread is a task. On a thread slices
 * must nest, which calls of a task need not: what does not fit goes on a further thread of the same name. `args.cut` names the values that are not whole.
 */
export function* perfetto(file: RunFile, toolbreak: string, cuts: Cuts): Generator<string> {
  const row = file.row();
  const other = {
    run: row?.run ?? '',
    name: row?.name ?? '',
    started: row === undefined ? '' : new Date(Number(row.started / 1_000_000n)).toISOString(),
    toolbreak,
  };
  yield `{"displayTimeUnit":"ms","otherData":${JSON.stringify(other)},"traceEvents":[\n`;
  let first = true;
  for (const event of events(file, cuts)) {
    yield (first ? '' : ',\n') + JSON.stringify(event);
    first = false;
  }
  yield '\n]}\n';
}

function* events(file: RunFile, cuts: Cuts): Generator<Json> {
  const processes = file.db.prepare('SELECT id, pid, name FROM processes ORDER BY id').all() as {
    id: number;
    pid: number;
    name: string;
  }[];
  for (const { id, pid, name } of processes)
    yield { ph: 'M', name: 'process_name', pid: id, tid: 0, args: { name: `${name || 'process'} (${pid})` } };
  const threads = new Threads(file);
  yield* slices(file, threads, cuts);
  yield* instants(file, threads, cuts);
}

function* slices(file: RunFile, threads: Threads, cuts: Cuts): Generator<Json> {
  const lanes = new Map<number, SliceLanes>();
  const running: { [key: string]: Json }[] = [];
  let last = 0;
  for (const slice of inOrder(file)) {
    let open = lanes.get(slice.task);
    if (open === undefined) lanes.set(slice.task, (open = new SliceLanes()));
    const lane = open.place(slice.start, slice.end ?? Infinity);
    const { made, thread } = threads.of(slice.task, lane);
    if (made !== undefined) yield made;
    last = Math.max(last, slice.end ?? slice.start);
    const event = shown(file, slice, cuts);
    if (slice.end === null) running.push({ ...thread, name: event['name']!, cat: event['cat']! });
    yield { ...thread, ...event };
  }
  // What still runs lasts as long as anything is known: some readers leave out a thread on which nothing ends.
  for (const slice of running.reverse()) yield { ...slice, ph: 'E', ts: last / 1000 };
}

/** Calls and their holds by their starts; a call comes before what is held of it. */
function* inOrder(file: RunFile): Generator<Slice> {
  const scan = scanner(file);
  const holds = file.db.prepare('SELECT call, start, end, description AS hold FROM holds ORDER BY start, id').all() as {
    call: number;
    start: number;
    end: number | null;
    hold: string;
  }[];
  let next = 0;
  function* before(time: number): Generator<Slice> {
    for (; next < holds.length && holds[next]!.start < time; next++) {
      const { call: id, ...hold } = holds[next]!;
      const call = file.calls.get(id);
      if (call !== undefined) yield { ...scan(call), ...hold };
    }
  }
  for (const call of byStart(file)) {
    yield* before(call.start);
    yield { ...scan(call), hold: null };
  }
  yield* before(Infinity);
}

/** The lanes of a task. Slices come by their starts. */
export class SliceLanes {
  /** Ends of what is open on each lane, the innermost last. */
  private readonly open: number[][] = [];
  /** The end of the innermost, and the same below 0, so that the first lane with room is found. */
  private readonly ends = new Places(Infinity);
  private readonly room = new Places(-Infinity);

  /** The first lane where the slice lies within what is open there, or behind it. */
  place(start: number, end: number): number {
    for (let lane = this.ends.first(0, start); lane !== undefined; lane = this.ends.first(lane, start)) {
      const open = this.open[lane]!;
      while (open.length > 0 && open.at(-1)! <= start) open.pop();
      this.note(lane, open.at(-1) ?? Infinity);
    }
    const lane = this.room.first(0, -end)!;
    (this.open[lane] ??= []).push(end);
    this.note(lane, end);
    return lane;
  }

  private note(lane: number, end: number): void {
    this.ends.set(lane, end);
    this.room.set(lane, -end);
  }
}

function shown(file: RunFile, slice: Slice, cuts: Cuts): { [key: string]: Json } {
  const span: { [key: string]: Json } =
    slice.end === null
      ? { ph: 'B', ts: slice.start / 1000 }
      : { ph: 'X', ts: slice.start / 1000, dur: Math.max(0, slice.end - slice.start) / 1000 };
  if (slice.hold !== null)
    return { ...span, name: 'held', cat: 'hold', args: { call: callName(slice.id), description: slice.hold } };
  const args: { [key: string]: Json } = { call: callName(slice.id), status: statusOf(slice) };
  const notWhole: string[] = [];
  const show = (name: string, value: Value): void => {
    const { json, cut } = plainJson(value, file.values, LARGEST_VALUE);
    args[name] = json;
    if (cut) notWhole.push(name);
  };
  const edited = slice.edited === 0 ? undefined : editedArguments(file, slice.id);
  if (edited !== undefined) show('arguments', edited);
  else if (slice.args !== null) show('arguments', file.values.root(slice.args));
  if (slice.result !== null) show('result', file.values.root(slice.result));
  if (slice.error !== null) show('error', file.values.root(slice.error));
  // An app may call its own what the call's fields are called.
  const { attributes, cut: hasMore } = attributesOf(file, slice);
  if (hasMore) notWhole.push('attributes');
  for (const [name, value] of attributes) show(name in args || OWN.has(name) ? `attribute.${name}` : name, value);
  if (notWhole.length > 0) args['cut'] = notWhole;
  cuts.count += notWhole.length;
  if (slice.edited !== 0) args['edited'] = true;
  if (slice.path !== null) args['source'] = `${slice.path}:${slice.line ?? 0}`;
  // The name of a colour, which every reader of the format knows.
  const name = shownName(slice);
  return { ...span, name, cat: slice.kind, ...(slice.status === 1 && { cname: 'terrible' }), args };
}

function* instants(file: RunFile, threads: Threads, cuts: Cuts): Generator<Json> {
  const rows = file.db
    .prepare(
      `SELECT time, name, process, value, data, call FROM events WHERE name NOT IN ('held', 'resumed') AND NOT ${SAID_TWICE} ORDER BY time, id`,
    )
    .iterate() as IterableIterator<{
    time: number;
    name: string;
    process: number | null;
    value: number | null;
    data: string | null;
    call: number | null;
  }>;
  for (const { time, name, process, value, data, call } of rows) {
    const task = call === null ? null : (file.calls.get(call)?.task ?? null);
    const text = eventText(file, name, value, data);
    const isCut = text.length >= EVENT_TEXT && text.includes('…');
    if (isCut) cuts.count++;
    const args: Json = { text, ...(call !== null && { call: callName(call) }), ...(isCut && { cut: ['text'] }) };
    const event = { ph: 'i', ts: time / 1000, name, cat: 'event', args };
    if (task === null) yield { ...event, s: process === null ? 'g' : 'p', pid: process ?? 1, tid: 0 };
    else {
      const { made, thread } = threads.of(task, 0);
      if (made !== undefined) yield made;
      yield { ...event, s: 't', ...thread };
    }
  }
}

/** Numbers of threads, which must not be the same in two processes. */
class Threads {
  private readonly known = new Map<string, { pid: number; tid: number }>();
  private readonly task;

  constructor(file: RunFile) {
    this.task = file.db.prepare<[number], { process: number; name: string }>(
      'SELECT process, name FROM tasks WHERE id = ?',
    );
  }

  /** The thread of a task's lane, and what introduces it when it is new. */
  of(task: number, lane: number): { thread: { pid: number; tid: number }; made?: Json } {
    const key = `${task}/${lane}`;
    const known = this.known.get(key);
    if (known !== undefined) return { thread: known };
    const row = this.task.get(task);
    const thread = { pid: row?.process ?? Math.floor(task / 2 ** 32), tid: this.known.size + 1 };
    this.known.set(key, thread);
    return {
      thread,
      made: { ph: 'M', name: 'thread_name', ...thread, args: { name: row?.name || `task ${task % 2 ** 32}` } },
    };
  }
}
