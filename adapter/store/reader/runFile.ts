import type Database from 'better-sqlite3';
import type { Ending, RunSummary } from '../../../protocol/timeline';
import { isAlive, oneLives, openProcesses, type OpenProcess } from '../alive';
import { ENDED_WITH_PROCESS } from '../callNames';
import { CallReader } from '../chunks/callReader';
import { isDamage, openForReading, type Connection } from '../database';
import { TileReader } from '../tiles';
import { WordReader } from '../words/wordReader';
import { shownName, type Named } from '../functionName';
import { endedEarly, endingOf } from './ending';
import { StoredValues } from './stored';
import { isoText } from '../query/times';

type Statement = Database.Statement<unknown[]>;

export interface RunRow {
  run: string;
  session: string;
  name: string;
  number: number;
  started: bigint;
  ended: bigint | null;
  stopped: bigint | null;
  pid: bigint;
  pid_start: string;
  workflow: string | null;
  first: bigint | null;
  last: bigint | null;
  calls: bigint;
  errors: bigint;
  holds: bigint;
  tokens: bigint;
  damaged: bigint;
  /** Not in files of before there was such a thing. */
  kept?: bigint;
}

/** One run file, open for reading. Throws a `UserError` when it cannot be opened. */
export class RunFile {
  readonly db: Connection;
  readonly calls: CallReader;
  readonly tiles: TileReader;
  readonly values: StoredValues;
  readonly words: WordReader;
  private readonly functions = new Map<number, { kind: string; name: string }>();
  private readonly statements = new Map<string, Statement>();
  private readonly known = new Map<string, unknown>();
  private state: number | undefined;
  private torn = false;
  private begun = 0;
  private readonly runs;
  private readonly first;

  constructor(readonly path: string) {
    this.db = openForReading(path);
    this.calls = new CallReader(this.db);
    this.tiles = new TileReader(this.db);
    this.values = new StoredValues(this.db, this.calls);
    this.words = new WordReader(this.db, this.calls);
    this.runs = this.db.prepare<[], RunRow>('SELECT * FROM runs WHERE id = 1').safeIntegers();
    this.first = this.db
      .prepare<[], number>('SELECT coalesce(first, (SELECT min(time) FROM events), 0) FROM runs')
      .pluck();
  }

  /** One picture of the file up to the matching `end`, whatever is written meanwhile. Who asks many questions is quicker so, too. */
  begin(): void {
    if (this.begun === 0) {
      this.db.exec('BEGIN');
      this.calls.hold(true);
    }
    this.begun++;
  }

  end(): void {
    if (this.begun === 0 || --this.begun > 0) return;
    this.calls.hold(false);
    if (this.db.inTransaction) this.db.exec('COMMIT');
  }

  /** A statement that is asked for again and again, compiled once. */
  sql(text: string): Statement {
    let statement = this.statements.get(text);
    if (statement === undefined) this.statements.set(text, (statement = this.db.prepare(text)));
    return statement;
  }

  /** What every question needs, and what changes only when somebody writes: read once for each state of the file. */
  once<T>(what: string, read: () => T): T {
    const state = this.calls.state();
    if (state === undefined) return read();
    if (state !== this.state) this.known.clear();
    this.state = state;
    if (!this.known.has(what)) this.known.set(what, read());
    return this.known.get(what) as T;
  }

  /** Kind and name of a function, as it is shown; what is stored of one never changes. */
  functionOf(id: number): { kind: string; name: string } | undefined {
    let found = this.functions.get(id);
    if (found === undefined) {
      const stored = this.named(id);
      if (stored === undefined) return undefined;
      found = { kind: stored.kind, name: shownName(stored) };
      this.functions.set(id, found);
    }
    return found;
  }

  named(id: number): Named | undefined {
    return this.sql('SELECT kind, name, qualified, module FROM functions WHERE id = ?').get(id) as Named | undefined;
  }

  row(): RunRow | undefined {
    return this.once('run', () => this.runs.get());
  }

  /** Where the page's time 0 lies on the file's own scale: the first call, or where there are none the first event. */
  zero(): number {
    return this.once('first', () => this.unlessTorn(() => this.first.get() ?? 0, 0));
  }

  /** The whole range, from the first call on. A run that goes on reaches to now. */
  length(): number {
    const row = this.row();
    return row === undefined ? 0 : this.duration(row, this.live(row), this.reading(row));
  }

  live(row = this.row()): boolean {
    return row !== undefined && row.stopped === null && this.open(row);
  }

  /** The app has ended, and what it recorded is still being read. */
  reading(row = this.row()): boolean {
    return row !== undefined && row.stopped !== null && this.open(row);
  }

  private open(row: RunRow): boolean {
    return row.ended === null && isAlive(Number(row.pid), row.pid_start);
  }

  /** Why a call has no end. `parent`: the call around it. */
  endedSentence(parent: number | null): string {
    let around = parent === null ? undefined : this.calls.get(parent);
    // Several inside each other may have none.
    for (let levels = 0; around?.status === ENDED_WITH_PROCESS && around.parent !== null && levels < 20; levels++)
      around = this.calls.get(around.parent);
    if (around !== undefined && around.status !== null && around.status !== ENDED_WITH_PROCESS)
      return 'Its end is missing: it outlived its caller, or the recursion limit left no room to record it.';
    return (this.row()?.damaged ?? 0n) > 0n || this.isPartial()
      ? 'Its end is missing: the process ended first, or that part was not recorded or could not be read.'
      : 'The process ended while this call ran.';
  }

  summary(): RunSummary {
    const row = this.row();
    if (row === undefined) return emptySummary(this.path, undefined);
    const live = this.live(row);
    const reading = this.reading(row);
    const partial = this.isPartial();
    const ending = live || reading ? {} : this.ending();
    return {
      file: this.path,
      run: row.run,
      name: row.workflow ?? row.name,
      number: row.number === undefined ? 0 : Number(row.number),
      startedAt: isoText(row.started + BigInt(this.zero())),
      duration: this.duration(row, live, reading),
      live,
      ...(reading ? { reading } : {}),
      ...(!live && !reading && oneLives(this.openProcesses()) ? { left: true } : {}),
      calls: Number(row.calls),
      errors: Number(row.errors),
      holds: Number(row.holds),
      tokens: Number(row.tokens),
      ...(partial ? { partial: true } : {}),
      ...(this.torn ? { torn: true } : {}),
      ...(row.damaged > 0n ? { damaged: Number(row.damaged) } : {}),
      ...(row.kept === 1n ? { kept: true } : {}),
      ...ending,
      ...this.languages(),
    };
  }

  private duration(row: RunRow, live: boolean, reading: boolean): number {
    const zero = this.zero();
    const last = row.first === null ? this.lastEvent() : Number(row.last ?? row.first);
    if (last === null) return 0;
    const seen = Math.max(0, last - zero);
    // While the rest is being read, the range is as long as it will be then, so that nothing moves.
    const until = live ? BigInt(Date.now()) * 1_000_000n : reading ? row.stopped : null;
    return until === null ? seen : Math.max(seen, Number(until - row.started) - zero);
  }

  private openProcesses(): OpenProcess[] {
    return this.once('open processes', () => this.unlessTorn(() => openProcesses(this.db), []));
  }

  private lastEvent(): number | null {
    const sql = 'SELECT max(time) FROM events';
    return this.once(sql, () => this.unlessTorn(() => this.sql(sql).pluck().get() as number | null, null));
  }

  private isPartial(): boolean {
    return this.once('partial', () => this.unlessTorn(() => endedEarly(this), false));
  }

  private ending(): { ending?: Ending } {
    const ending = this.once('ending', () => this.unlessTorn(() => endingOf(this), undefined));
    return ending === undefined ? {} : { ending };
  }

  /** A page of events that is damaged does not hide the calls. */
  private unlessTorn<T>(read: () => T, otherwise: T): T {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.torn = true;
      return otherwise;
    }
  }

  /** Where a process has said it. */
  private languages(): { languages?: string[] } {
    const sql =
      'SELECT DISTINCT language, language_version AS version FROM processes WHERE language IS NOT NULL LIMIT 20';
    const rows = this.once(sql, () => this.sql(sql).all()) as { language: string; version: string | null }[];
    const languages = rows.map(({ language, version }) =>
      `${LANGUAGES.get(language) ?? language} ${version ?? ''}`.trim(),
    );
    return languages.length > 0 ? { languages: [...new Set(languages)].sort() } : {};
  }

  /** Reads ahead of a question. */
  prepare(): void {
    try {
      if (this.db.open) this.calls.zones();
    } catch {
      // The question itself says what is wrong with the file.
    }
  }

  close(): void {
    this.db.close();
  }
}

const LANGUAGES = new Map([
  ['python', 'Python'],
  ['node', 'Node'],
]);

export function emptySummary(file: string, problem: string | undefined): RunSummary {
  const name = file.replace(/^.*[\\/]/, '').replace(/\.db$/, '');
  const none = { startedAt: '', duration: 0, live: false, calls: 0, errors: 0, holds: 0, tokens: 0, number: 0 };
  return { file, run: name, name, ...none, ...(problem === undefined ? {} : { problem }) };
}
