import { withCommas } from '../../../protocol/withCommas';
import { UserError } from '../../common/errors';
import { globalId, processOf } from '../callNames';
import { isDamage, problemWith } from '../database';
import { taskNames } from '../reader/apart';
import { chunkOf } from '../chunks/chunk';
import { heldCalls, stateOf } from '../reader/calls';
import { editedArguments } from '../reader/held';
import { eventText } from '../reader/eventText';
import type { RunFile, RunRow } from '../reader/runFile';
import { Tagged, type Value } from '../values/model';
import { isNamed, namesOf, shownName, type Named } from '../functionName';
import type { Compiled, Condition } from './compile';
import { follow, isTypeAt, isTypeNamed, type Root } from './paths';
import type { Patterns } from './pattern';
import { fileKey, type Cursor, type Position } from './position';
import {
  EVER,
  Merge,
  rankOf,
  sourcesOf,
  type CallCandidate,
  type Candidate,
  type EventCandidate,
  type Lost,
} from './sources';
import { RunClock, type Moment } from './times';
import { equalsJson, floatOf, isShownAs, textsOf, TextSearch, wordsOfLine } from './valueMatch';

/** Stands among blocks for those of which nothing tells which they were. */
const NO_BLOCK = -1;

export interface StoredFunction extends Named {
  id: number;
  qualified: string;
  path: string | null;
  line: number;
}

export interface StoredProcess {
  id: number;
  pid: number;
  name: string;
}

/** What all files of one question share. */
export interface Shared {
  compiled: Compiled;
  patterns: Patterns;
  cursor: Cursor | undefined;
  /** A value was searched in part only. */
  onPart: () => void;
}

/** One question put to one run: its rows in order, and which of them match as far as no regular expression is needed. */
export class FileQuery {
  readonly key: string;
  readonly run: RunRow;
  readonly zero: number;
  readonly clock: RunClock;
  /** Its end, on the file's own scale; kept for later pages when the run goes on. */
  readonly end: number;
  readonly live: boolean;
  readonly functions: ReadonlyMap<number, StoredFunction>;
  readonly tasks: ReadonlyMap<number, string>;
  readonly processes: ReadonlyMap<number, StoredProcess>;
  private readonly wanted: ReadonlySet<number> | undefined;
  private readonly wantedTasks: ReadonlySet<number> | undefined;
  private readonly wantedProcesses: ReadonlySet<number> | undefined;
  private readonly searches = new Map<string, TextSearch>();
  private readonly textKnown = new Map<number, boolean>();
  private readonly merge: Merge;
  private readonly bound: number;
  /** The calls that were held, where that is known. */
  readonly held: ReadonlySet<number> | undefined;

  private readonly lost: Lost = { blocks: new Map(), events: new Set() };
  private readonly lostBefore: number;
  private lostRoots = 0;

  /** Whether some value was asked for and could not be read, so that what it held was not searched. */
  get hasMissed(): boolean {
    return this.lostRoots > 0 || this.file.values.lost > this.lostBefore;
  }

  /** What of the range could not be read, as a sentence. */
  get lostText(): string | undefined {
    const { blocks, events } = this.lost;
    const calls = [...blocks.values()].reduce((sum, many) => sum + many, 0);
    const all = [counted(calls, 'call'), counted(events.size, 'event')].filter((one) => one !== undefined);
    if (all.length === 0) return undefined;
    return `The run file ${this.file.path} is damaged: ${all.join(' and ')} cannot be read, and may be missing here.`;
  }

  /** Rows of the answer, at most. */
  get limit(): number {
    return this.shared.compiled.limit;
  }

  /** Throws a `UserError` when the file cannot be read. */
  constructor(
    readonly file: RunFile,
    private readonly shared: Shared,
  ) {
    const { compiled, cursor } = shared;
    const run = file.row();
    if (run === undefined) throw new UserError(`The run file ${file.path} has no run in it yet.`);
    this.run = run;
    this.key = file.once('key', () => fileKey(file.path));
    this.zero = file.zero();
    this.clock = new RunClock(run.started);
    this.live = file.live(run) || file.reading(run);
    // A block whose rows are gone leaves nothing behind but the sum of all.
    const gone = this.live ? 0 : Number(run.calls) - file.calls.count();
    if (gone > 0) this.lost.blocks.set(NO_BLOCK, gone);
    this.end = cursor?.ends[this.key] ?? this.zero + file.length();
    this.functions = byId(
      file,
      'SELECT id, kind, name, qualified, module, path, line FROM functions',
      (one: StoredFunction) => one,
    );
    const names = taskNames(file);
    this.tasks = names.task;
    this.processes = byId(file, 'SELECT id, pid, name FROM processes', (one: StoredProcess) => one);
    this.wanted = this.wantedFunctions();
    this.wantedTasks = this.whose(compiled.task, names.lane, (lane, text, id) =>
      [lane, names.task.get(id) ?? ''].some((name) => name.toLowerCase().includes(text)),
    );
    // The lane of a child process says `Process-2`, where the process itself has the name of the program: that of its first thread.
    const namesOfProcess = ({ id, name }: StoredProcess) =>
      id === 1 ? [name] : [name, this.tasks.get(globalId(id, 1)) ?? ''];
    this.wantedProcesses = this.whose(compiled.process, this.processes, (one, wanted) =>
      typeof wanted === 'number'
        ? one.pid === wanted
        : namesOfProcess(one).some((name) => name.toLowerCase().includes(wanted)),
    );
    this.held = heldCalls(file);
    const descending = compiled.order.startsWith('-');
    const from = this.moment(compiled.from) ?? -EVER;
    const to = this.moment(compiled.to) ?? EVER;
    const { types, status, error, where } = compiled;
    const hasEvents = [...types].some((type) => type !== 'call');
    const onlyCalls = status !== undefined || error !== undefined || where.length > 0 || compiled.minimum > 0;
    this.merge = new Merge(
      sourcesOf(file, compiled.order, {
        from,
        to,
        minimum: compiled.minimum,
        failedOnly: status?.size === 1 && status.has('error'),
        functions: this.wanted === undefined ? undefined : [...this.wanted],
        chunks: this.wantedChunks(),
        calls: types.has('call'),
        events: hasEvents && !onlyCalls,
        types,
        after: cursor === undefined ? undefined : this.relative(cursor.position.key),
        page: onlyCalls || this.isPicky() ? undefined : compiled.limit,
        lost: this.lost,
      }),
    );
    this.bound = this.firstPossible(from, to, descending);
    this.lostBefore = file.values.lost;
  }

  /** No row comes before this key. */
  get first(): bigint {
    return this.absolute(this.bound);
  }

  /** The next row, or nothing at the end. Throws a `UserError`. */
  peek(): Candidate | undefined {
    try {
      return this.merge.peek();
    } catch (error) {
      throw this.told(error);
    }
  }

  shift(): void {
    try {
      this.merge.shift();
    } catch (error) {
      throw this.told(error);
    }
  }

  positionOf(row: Candidate): Position {
    const key = this.shared.compiled.order.endsWith('duration')
      ? BigInt(row.type === 'call' ? (row.end ?? row.start) - row.start : 0)
      : this.absolute(row.type === 'call' ? row.start : row.time);
    return { key, file: this.key, rank: rankOf(row), id: row.id };
  }

  wall(time: number): bigint {
    return this.run.started + BigInt(Math.round(time));
  }

  /** All that can be told without a regular expression over values. Throws a `UserError`. */
  passes(row: Candidate): boolean {
    try {
      return row.type === 'call' ? this.callPasses(row) : this.eventPasses(row);
    } catch (error) {
      throw this.told(error);
    }
  }

  /** What a regular expression over values is to look at. */
  textsFor(row: Candidate, condition: Condition): readonly string[] {
    if (row.type !== 'call') return [];
    try {
      const value = this.partOf(row, condition);
      if (value === undefined) return [];
      const { texts, whole } = textsOf(value, this.file.values);
      if (!whole) this.shared.onPart();
      return texts;
    } catch (error) {
      throw this.told(error);
    }
  }

  /** The function, the task and the process of a row, as far as it has them. */
  placeOf(row: Candidate): {
    function: StoredFunction | undefined;
    task: number | undefined;
    process: number | undefined;
  } {
    if (row.type === 'call')
      return { function: this.functions.get(row.function), task: row.task, process: processOf(row.id) };
    const process = row.process ?? processSaid(row) ?? undefined;
    if (row.call === null) return { function: undefined, task: undefined, process };
    const call = this.file.calls.get(row.call);
    return {
      function: call === undefined ? undefined : this.functions.get(call.function),
      task: call?.task,
      process: process ?? processOf(row.call),
    };
  }

  eventLine(row: EventCandidate): string {
    try {
      return eventText(this.file, row.name, row.value, row.data);
    } catch (error) {
      // What the session wrote is not JSON any more: the event is still worth its name.
      if (error instanceof SyntaxError) return `${row.name} (damaged)`;
      throw error;
    }
  }

  // ------------------------------------------------------------ what a row must be

  private callPasses(row: CallCandidate): boolean {
    const { compiled } = this.shared;
    if (this.wanted !== undefined && !this.wanted.has(row.function)) return false;
    if (compiled.status !== undefined && !compiled.status.has(stateOf(row.status))) return false;
    if (this.wantedTasks !== undefined && !this.wantedTasks.has(row.task)) return false;
    if (this.wantedProcesses !== undefined && !this.wantedProcesses.has(processOf(row.id))) return false;
    if (compiled.minimum > 0 && (row.end ?? this.end) - row.start < compiled.minimum) return false;
    if (compiled.error !== undefined && !this.isError(row, compiled.error)) return false;
    for (const condition of compiled.where) if (!this.holds(row, condition)) return false;
    return compiled.text === undefined || this.hasText(row, compiled.text);
  }

  private eventPasses(row: EventCandidate): boolean {
    const { compiled } = this.shared;
    if (!compiled.types.has(typeOf(row))) return false;
    if (this.wanted !== undefined || this.wantedTasks !== undefined || this.wantedProcesses !== undefined) {
      const place = this.placeOf(row);
      if (this.wanted !== undefined && !(place.function !== undefined && this.wanted.has(place.function.id)))
        return false;
      if (this.wantedTasks !== undefined && !(place.task !== undefined && this.wantedTasks.has(place.task)))
        return false;
      if (
        this.wantedProcesses !== undefined &&
        !(place.process !== undefined && this.wantedProcesses.has(place.process))
      )
        return false;
    }
    if (compiled.text === undefined) return true;
    return `${this.eventLine(row)}\n${outputText(row) ?? ''}`.toLowerCase().includes(compiled.text);
  }

  private isError(row: CallCandidate, type: string): boolean {
    if (row.error === null) return false;
    const value = this.root(row.error);
    if (!(value instanceof Tagged) || value.tag !== 'error') return false;
    const found = this.file.values.resolve(value.parts[0] ?? null);
    return typeof found === 'string' && isTypeNamed(found, type);
  }

  private holds(row: CallCandidate, condition: Condition): boolean {
    const value = this.partOf(row, condition);
    if (value === undefined) return false;
    const { equals, shown, contains } = condition;
    const { values } = this.file;
    const names = [equals?.json, shown].filter((one) => typeof one === 'string');
    if (names.length > 0 && typeof value === 'string' && this.isTypeAt(row, condition)) {
      if (!names.every((name) => isTypeNamed(value, name))) return false;
    } else {
      if (equals !== undefined && !equalsJson(value, equals.json, values)) return false;
      if (shown !== undefined && !isShownAs(value, shown, values)) return false;
    }
    return contains === undefined || this.search(contains).found(value);
  }

  private isTypeAt(row: CallCandidate, { path }: Condition): boolean {
    const value = this.rootOf(row, path.root);
    return value !== undefined && isTypeAt(value, path, this.file.values);
  }

  private partOf(row: CallCandidate, { path }: Condition): Value | undefined {
    const value = this.rootOf(row, path.root);
    return value === undefined ? undefined : follow(value, path, this.file.values);
  }

  private rootOf(row: CallCandidate, root: Root): Value | undefined {
    const edited = root === 'argument' ? this.edited(row) : undefined;
    const id = valueOf(row, root);
    return edited ?? (id === null ? undefined : this.root(id));
  }

  /** What a person gave a call in place of its arguments, which its line tells. */
  private edited({ id }: CallCandidate): Value | undefined {
    return this.held?.has(id) === false ? undefined : this.unlessLost(() => editedArguments(this.file, id));
  }

  private root(id: number): Value | undefined {
    return this.unlessLost(() => this.file.values.root(id));
  }

  /** Nothing for a value that a damaged file lacks: the rest of it can still be asked. */
  private unlessLost(read: () => Value | undefined): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.lostRoots++;
      return undefined;
    }
  }

  private hasText(row: CallCandidate, text: string): boolean {
    const found = this.functions.get(row.function);
    if (found !== undefined && isNamed(found, text)) return true;
    const edited = this.edited(row);
    if (edited !== undefined && this.search(text).found(edited)) return true;
    return [edited === undefined ? row.args : null, row.result, row.error].some((id) => {
      if (id === null) return false;
      const known = this.textKnown.get(id);
      if (known !== undefined) return known;
      if (id < 0 && !this.mayHave(id, text)) return false;
      const value = this.root(id);
      const found = value !== undefined && this.search(text).found(value);
      // A small value belongs to one call, which is not asked again.
      if (id > 0) this.textKnown.set(id, found);
      return found;
    });
  }

  /** Most small values are passed over without being made. */
  private mayHave(id: number, text: string): boolean {
    const bytes = this.file.calls.bytes(id);
    return bytes === undefined || this.search(text).mayBeIn(bytes);
  }

  private search(text: string): TextSearch {
    let search = this.searches.get(text);
    if (search === undefined) {
      search = new TextSearch(text, this.file.values, this.shared.onPart);
      this.searches.set(text, search);
    }
    return search;
  }

  // ------------------------------------------------------------ what is asked for, in this file

  private wantedFunctions(): ReadonlySet<number> | undefined {
    const { kinds, name, file } = this.shared.compiled;
    if (kinds === undefined && name === undefined && file === undefined) return undefined;
    let left = [...this.functions.values()];
    if (kinds !== undefined) left = left.filter(({ kind }) => kinds.has(kind));
    if (file !== undefined) left = left.filter(({ path }) => path !== null && isFile(path.replaceAll('\\', '/'), file));
    const { equals, contains, regex } = name ?? {};
    if (equals !== undefined) left = left.filter((one) => namesOf(one).includes(equals));
    if (contains !== undefined) left = left.filter((one) => isNamed(one, contains));
    if (regex !== undefined) {
      const matching = this.shared.patterns.test(
        regex,
        left.map((one) => [one.name, one.qualified, shownName(one)]),
      );
      left = left.filter((_, index) => matching[index]);
    }
    return new Set(left.map(({ id }) => id));
  }

  /** Blocks that can have a call with all the texts that are asked for, as far as the texts noted tell. */
  private wantedChunks(): ReadonlySet<number> | undefined {
    const { text, where, error } = this.shared.compiled;
    const sets: Set<number>[] = [];
    // What a person gave a call in place of its arguments is noted with no block.
    const held = this.held === undefined ? undefined : [...this.held].map(chunkOf);
    const need = (set: Set<number> | undefined, ofArguments = false): void => {
      if (set === undefined || (ofArguments && held === undefined)) return;
      if (ofArguments) for (const id of held!) set.add(id);
      sets.push(set);
    };
    for (const { path, contains, equals, shown } of where) {
      const json = equals?.json;
      const texts: string[] = contains === undefined ? [] : [contains];
      // A float of these digits is noted in other words.
      if (typeof json === 'string' && floatOf(json) === undefined) texts.push(json);
      if (shown !== undefined && floatOf(shown) === undefined) texts.push(...(wordsOfLine(shown) ?? [shown]));
      // All that equals a whole number of this size has its digits in its text.
      if (typeof json === 'number' && Number.isSafeInteger(json)) texts.push(String(Math.abs(json)));
      for (const each of texts) need(this.file.words.blocksWith(each), path.root === 'argument');
    }
    if (error !== undefined) need(this.file.words.blocksWith(error));
    const withText = text === undefined ? undefined : this.file.words.blocksWith(text);
    if (withText !== undefined) {
      // Names of functions count, too.
      const named = [...this.functions.values()].filter((one) => isNamed(one, text!)).map(({ id }) => id);
      if (named.length > 0) for (const id of this.file.calls.chunksOf(new Set(named))) withText.add(id);
      need(withText, true);
    }
    const [first, ...others] = sets;
    return first && new Set([...first].filter((id) => others.every((set) => set.has(id))));
  }

  /** Whether rows of the range are looked at that may not be asked for. */
  private isPicky(): boolean {
    const { task, process, text } = this.shared.compiled;
    return [this.wanted, task, process, text].some((one) => one !== undefined);
  }

  private whose<T, W>(
    wanted: W | undefined,
    all: ReadonlyMap<number, T>,
    fits: (one: T, wanted: W, id: number) => boolean,
  ): ReadonlySet<number> | undefined {
    if (wanted === undefined) return undefined;
    return new Set([...all].filter(([id, one]) => fits(one, wanted, id)).map(([id]) => id));
  }

  private moment(moment: Moment | undefined): number | undefined {
    if (moment === undefined) return undefined;
    if (moment.since === 'epoch') return bounded(moment.time - this.run.started);
    return moment.since === 'start' ? this.zero + moment.time : this.end + moment.time;
  }

  /** Keys of a position and of this file: the wall clock, or the duration as it is. */
  private absolute(key: number): bigint {
    return this.byDuration ? BigInt(Math.round(key)) : this.wall(key);
  }

  private relative(key: bigint): number {
    return bounded(this.byDuration ? key : key - this.run.started);
  }

  private get byDuration(): boolean {
    return this.shared.compiled.order.endsWith('duration');
  }

  private firstPossible(from: number, to: number, descending: boolean): number {
    if (this.byDuration) return descending ? EVER : 0;
    // Two questions: an index answers each with one step.
    const end = (which: 'min' | 'max') => {
      const sql = `SELECT ${which}(time) FROM events`;
      return this.file.once(sql, () => this.file.sql(sql).pluck().get() as number | null);
    };
    try {
      return descending
        ? Math.min(to, Math.max(Number(this.run.last ?? 0n), end('max') ?? -EVER))
        : Math.max(from, Math.min(this.zero, end('min') ?? EVER));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return descending ? to : from;
    }
  }

  told(error: unknown): unknown {
    return told(this.file.path, error);
  }
}

function bounded(time: bigint): number {
  return Math.max(-EVER, Math.min(EVER, Number(time)));
}

function counted(number: number, one: string): string | undefined {
  return number === 0 ? undefined : `${withCommas(number)} ${number === 1 ? one : `${one}s`}`;
}

/** What SQLite says of a damaged file, as a sentence. */
export function told(path: string, error: unknown): unknown {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && code.startsWith('SQLITE') ? problemWith(path, error) : error;
}

function byId<Row extends { id: number }, T>(file: RunFile, sql: string, of: (row: Row) => T): ReadonlyMap<number, T> {
  return file.once(sql, () => new Map((file.sql(sql).all() as Row[]).map((row) => [row.id, of(row)])));
}

/** A process that was lost, and a fault where it was seen. */
const CRASHES = new Set(['crashed', 'crash']);

export function typeOf(row: EventCandidate): 'output' | 'crash' | 'event' {
  return row.name === 'output' ? 'output' : CRASHES.has(row.name) ? 'crash' : 'event';
}

/** What the app wrote, and where to. */
export function outputOf(row: EventCandidate): { category: string; text: string } | undefined {
  const data = row.name === 'output' ? dataOf(row) : undefined;
  if (data === undefined || typeof data['text'] !== 'string') return undefined;
  return { category: typeof data['category'] === 'string' ? data['category'] : 'output', text: data['text'] };
}

function outputText(row: EventCandidate): string | undefined {
  return outputOf(row)?.text;
}

/** What the session saw of a process without a call to tell which. */
const OF_A_PROCESS = new Set(['crashed', 'lost', 'vanished', 'stop', 'release']);

function processSaid(row: EventCandidate): number | undefined {
  const process = OF_A_PROCESS.has(row.name) ? dataOf(row)?.['process'] : undefined;
  return typeof process === 'number' && globalId(process, 0) > 0 ? process : undefined;
}

function dataOf(row: EventCandidate): Record<string, unknown> | undefined {
  try {
    const data: unknown = row.data === null ? undefined : JSON.parse(row.data);
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function valueOf(row: CallCandidate, root: Root): number | null {
  switch (root) {
    case 'argument':
      return row.args;
    case 'result':
      return row.result;
    case 'error':
      return row.error;
    case 'stateBefore':
      return row.state_before;
    case 'stateAfter':
      return row.state_after;
    case 'state':
      return row.state_after ?? row.state_before;
  }
}

function isFile(path: string, wanted: string): boolean {
  return path === wanted || path.endsWith(wanted.startsWith('/') ? wanted : `/${wanted}`);
}
