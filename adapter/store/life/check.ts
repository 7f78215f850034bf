import { decodeCanonical } from '../values/canonical';
import { DecodeError, partsOf, Ref, type Value } from '../values/model';
import { createHash } from 'node:crypto';
import { UserError, messageOf } from '../../common/errors';
import { isAlive } from '../alive';
import { callName } from '../callNames';
import { CallReader } from '../chunks/callReader';
import { openForReading, type Connection } from '../database';
import { contradictions } from './contradictions';
import { checkWords } from '../words/checkWords';
import { checkCalls, exampleOf } from './checkCalls';
import { callsWith } from './holders';

/** What a whole reading of a run file found. */
export interface CheckReport {
  file: string;
  /** Nothing is wrong. */
  whole: boolean;
  /** It is still being recorded: what was there at one moment was read. */
  live?: true;
  problems: Damage[];
  /** Rows that were read and are fine, by table; absent when a table could not be read. */
  readable: Record<string, number>;
}

export interface Damage {
  /** A sentence. */
  what: string;
  count: number;
  /** The first of them: names of calls, numbers of rows. */
  examples: string[];
}

const EXAMPLES = 5;
/** Values in each other that are gone up to find whose one is. */
const MOST_LEVELS = 1000;

/** Columns that name a row of another table. */
const REFERENCES: readonly { from: string; column: string; to: string; what: string }[] = [
  { from: 'tasks', column: 'parent', to: 'tasks', what: 'tasks below a task that is not there' },
  { from: 'tasks', column: 'process', to: 'processes', what: 'tasks of a process that is not there' },
  { from: 'functions', column: 'process', to: 'processes', what: 'functions of a process that is not there' },
  { from: 'events', column: 'value', to: 'values', what: 'events whose value is not there' },
];

const TABLES = ['runs', 'processes', 'tasks', 'functions', 'holds', 'events', 'values'];

/** Reads everything of a run file once. A file that cannot be opened at all is a report, too; one that is no run file throws a `UserError`. */
export function checkRun(file: string): CheckReport {
  const report: CheckReport = { file, whole: true, problems: [], readable: {} };
  let db: Connection;
  try {
    db = openForReading(file);
  } catch (error) {
    if (!(error instanceof UserError) || !/is damaged/.test(error.message)) throw error;
    return {
      ...report,
      whole: false,
      problems: [{ what: 'The file cannot be opened: it is damaged', count: 1, examples: [] }],
    };
  }
  try {
    new Check(db, report).all();
  } finally {
    db.close();
  }
  report.whole = report.problems.length === 0;
  return report;
}

class Check {
  /** Parts of values that are stored on their own, and a row that has one. */
  private readonly needed = new Map<string, string>();

  constructor(
    private readonly db: Connection,
    private readonly report: CheckReport,
  ) {}

  all(): void {
    this.attempt('the check of the database', () => this.integrity());
    // All else sees the file as it is at one moment, whatever is recorded meanwhile; closing the connection ends this.
    this.db.exec('BEGIN');
    this.attempt('the table runs', () => this.goesOn());
    for (const table of TABLES) this.attempt(`the table ${table}`, () => this.count(table));
    for (const reference of REFERENCES) this.attempt(`the table ${reference.from}`, () => this.reference(reference));
    this.attempt('the table calls', () => this.calls());
    this.attempt('the table events', () => this.events());
    this.attempt('the table words', () => this.words());
    this.attempt('the table values', () => this.values());
    this.attempt('the table runs', () => this.noted());
  }

  /** SQLite's own check: pages, order of rows, indexes. */
  private integrity(): void {
    const found = this.db.pragma('integrity_check(100)') as { integrity_check: string }[];
    const lines = found.map((row) => row.integrity_check).filter((line) => line !== 'ok');
    this.damage('SQLite finds the database damaged', lines.length, lines);
  }

  private goesOn(): void {
    const row = this.db.prepare('SELECT ended, pid, pid_start AS mark FROM runs WHERE id = 1').get() as
      { ended: number | null; pid: number; mark: string } | undefined;
    if (row !== undefined && row.ended === null && isAlive(row.pid, row.mark)) this.report.live = true;
  }

  private count(table: string): void {
    // Without an index, so that the rows themselves are read.
    this.report.readable[table] = this.db
      .prepare(`SELECT count(*) FROM "${table}" NOT INDEXED`)
      .pluck()
      .get() as number;
  }

  private reference({ from, column, to, what }: (typeof REFERENCES)[number]): void {
    const where = `FROM ${from} one WHERE one.${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "${to}" other WHERE other.id = one.${column})`;
    const count = this.db.prepare(`SELECT count(*) ${where}`).pluck().get() as number;
    if (count === 0) return;
    const ids = this.db.prepare(`SELECT one.id ${where} LIMIT ?`).pluck().all(EXAMPLES) as number[];
    this.damage(`There are ${what}`, count, ids.map(String));
  }

  private calls(): void {
    const needed = this.needed;
    const broken: number[] = [];
    const { readable, problems, damaged } = checkCalls(this.db, (bytes, call) => {
      try {
        for (const ref of refsIn(decodeCanonical(bytes))) if (!needed.has(ref)) needed.set(ref, callName(call));
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        broken.push(call);
      }
    });
    this.report.readable['calls'] = readable;
    this.damage('There are blocks of calls that cannot be read', damaged.length, damaged.map(String));
    for (const [what, calls] of problems) this.damage(`There are ${what}`, calls.length, exampleOf(calls, EXAMPLES));
    this.damage('There are calls with a value that cannot be read', broken.length, exampleOf(broken, EXAMPLES));
    // The session may tell of a call before what the app wrote of it is read.
    if (this.report.live === true) return;
    this.whose('holds');
    this.whose('events');
  }

  /** Rows of a call that is not there. */
  private whose(table: 'holds' | 'events'): void {
    const reader = new CallReader(this.db);
    const calls = this.db
      .prepare(`SELECT DISTINCT call FROM ${table} WHERE call IS NOT NULL`)
      .pluck()
      .all() as number[];
    const missing = calls.filter((call) => !this.isThere(reader, call));
    this.damage(`There are ${table} of a call that is not there`, missing.length, exampleOf(missing, EXAMPLES));
  }

  private isThere(reader: CallReader, call: number): boolean {
    try {
      return reader.has(call);
    } catch (error) {
      // Of a block that cannot be read it was said already.
      if (error instanceof UserError) return true;
      throw error;
    }
  }

  private events(): void {
    const bad: string[] = [];
    let count = 0;
    const rows = this.db.prepare('SELECT id, data FROM events WHERE data IS NOT NULL').iterate();
    for (const { id, data } of rows as IterableIterator<{ id: number; data: string }>) {
      try {
        JSON.parse(data);
      } catch {
        if (count++ < EXAMPLES) bad.push(String(id));
      }
    }
    this.damage('There are events that cannot be read', count, bad);
  }

  /** What a search passes over has none of the texts. */
  private words(): void {
    const { wrong, damaged } = checkWords(this.db);
    this.damage('There are texts noted that cannot be read', damaged.length, damaged.map(String));
    this.damage('There are blocks of calls whose texts are not noted as they are', wrong.length, wrong.map(String));
  }

  /** Every value decodes, is what its name says, and all its parts are there. */
  private values(): void {
    const known = new Set<string>();
    const needed = this.needed;
    const broken: number[] = [];
    const renamed: number[] = [];
    let brokenCount = 0;
    let renamedCount = 0;
    const rows = this.db.prepare('SELECT id, cid, bytes FROM "values"').iterate();
    for (const { id, cid, bytes } of rows as IterableIterator<{ id: number; cid: Buffer | null; bytes: Buffer }>) {
      if (cid !== null) {
        known.add(cid.toString('latin1'));
        if (!createHash('sha256').update(bytes).digest().equals(cid) && renamedCount++ < EXAMPLES) renamed.push(id);
      }
      try {
        for (const ref of refsIn(decodeCanonical(bytes))) if (!needed.has(ref)) needed.set(ref, String(id));
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        if (brokenCount++ < EXAMPLES) broken.push(id);
      }
    }
    const missing = [...needed].filter(([ref]) => !known.has(ref)).map(([, id]) => id);
    const some = missing.slice(0, EXAMPLES);
    const whose = this.whoseValues([...broken, ...renamed].map(String), some);
    const named = (ids: readonly (string | number)[]): string[] => [
      ...new Set(ids.map((id) => whose.get(String(id))!)),
    ];
    this.damage('There are values that cannot be decoded', brokenCount, named(broken));
    this.damage('There are values whose content is not what their name says', renamedCount, named(renamed));
    this.damage('There are values with a part that is not there', missing.length, named(some));
    if (this.report.readable['values'] !== undefined) this.report.readable['values'] -= brokenCount;
  }

  /** How a person finds a value: by the call that has it, in another value or by itself. */
  private whoseValues(...ids: string[][]): Map<string, string> {
    const cidOf = this.db.prepare<[number], Buffer | null>('SELECT cid FROM "values" WHERE id = ?').pluck();
    const tops = new Map<string, string>();
    for (const id of ids.flat()) {
      let top = id;
      for (let level = 0; level < MOST_LEVELS && !isCall(top); level++) {
        const cid = cidOf.get(Number(top));
        const holder = cid ? this.needed.get(cid.toString('latin1')) : undefined;
        if (holder === undefined) break;
        top = holder;
      }
      tops.set(id, top);
    }
    const calls = callsWith(this.db, new Set([...tops.values()].filter((top) => !isCall(top)).map(Number)));
    return new Map(
      [...tops].map(([id, top]) => {
        const call = isCall(top) ? top : calls.get(Number(top));
        return [id, call === undefined ? `row ${id}` : `of call ${call}`];
      }),
    );
  }

  /** Frames that could not be read when the run was recorded. */
  private noted(): void {
    const damaged = this.db.prepare('SELECT coalesce(sum(damaged), 0) FROM runs').pluck().get() as number;
    this.damage('Parts of the recording could not be read when it was made', damaged, []);
    if (this.report.readable['runs'] === 0) this.damage('The file has no run in it', 1, []);
    this.counted();
  }

  /** What the run says of all its calls, against what is known of their blocks. */
  private counted(): void {
    const wrong = contradictions(this.db);
    this.damage('The run says of itself what is not so of its calls', wrong.length, wrong);
  }

  private damage(what: string, count: number, examples: readonly string[]): void {
    if (count > 0) this.report.problems.push({ what, count, examples: examples.slice(0, EXAMPLES) });
  }

  /** What cannot be read is said, and the rest goes on. */
  private attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (typeof code !== 'string' || !code.startsWith('SQLITE')) throw error;
      const text = `A part of ${what} cannot be read`;
      const before = this.report.problems.find((problem) => problem.what === text);
      if (before === undefined) this.damage(text, 1, [messageOf(error)]);
    }
  }
}

/** `1.42`, where a row has a number. */
function isCall(holder: string): boolean {
  return holder.includes('.');
}

/** Names of the parts that are stored on their own, as latin1 text. */
function refsIn(value: Value): string[] {
  const found: string[] = [];
  const waiting: Value[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next instanceof Ref) found.push(next.cid.toString('latin1'));
    // One by one: a list may have more items than a function takes arguments.
    else for (const part of partsOf(next)) waiting.push(part);
  }
  return found;
}
