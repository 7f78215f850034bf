import type { Query, QueryAnswer, QueriedRun } from '../../../protocol/query';
import type { CallRow } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import { RunFile } from '../reader/runFile';
import { compileQuery, type Compiled } from './compile';
import { FileQuery, told, type Shared } from './fileQuery';
import { Heap } from './heap';
import { Patterns, TooSlow } from './pattern';
import { compare, readCursor, writeCursor, type Position } from './position';
import { roomFor, rowOf } from './rows';
import type { Candidate } from './sources';

/** Work of one answer. What is left is asked for with the cursor. */
export interface Budget {
  /** Calls and events looked at. */
  rows: number;
  /** Of these, after the page is full: only to say how many more there are. */
  counting: number;
  milliseconds: number;
}

const USUAL: Budget = { rows: 200_000, counting: 20_000, milliseconds: 4_000 };
/** Where somebody types, and waits for each letter. */
const QUICK: Budget = { rows: 100_000, counting: 100_000, milliseconds: 600 };
/** To look into a value costs as much as to pass over many rows. */
const COUNTED_VALUES = 2_000;
/** Of many calls in the order of their length, those that the first look brings. */
const COUNTED_LENGTHS = 256;
/** Runs of one question. */
const MOST_RUNS = 200;
/** Rows whose values are matched against an expression together. */
const TOGETHER = 256;
const TOGETHER_CHARACTERS = 1024 * 1024;

interface Found {
  query: FileQuery;
  row: Candidate;
}

/** Where a run file comes from; `close` for what was opened only for this. */
export interface Files {
  open(path: string): RunFile;
  close(file: RunFile): void;
}

const OWN: Files = { open: (path) => new RunFile(path), close: (file) => file.close() };

/**
 * Asks these run files, the newest first in their list; at most so many are asked, and the answer says so. Throws a `UserError` for a
 * query that is wrong, and when none of the files can be read.
 */
export function runQuery(
  paths: readonly string[],
  given: unknown,
  budget: Budget = USUAL,
  files: Files = OWN,
): QueryAnswer {
  return answered(new Asked(paths, given, files), budget);
}

function answered(asked: Asked, budget: Budget, limit?: number): QueryAnswer {
  let answer: QueryAnswer;
  try {
    answer = asked.answer(budget, limit);
  } finally {
    asked.close();
  }
  // What could not be read may have more of them.
  if (answer.problems.length > 0) answer.more.exact = false;
  return answer;
}

/** The calls of one run for the page, which shows more of them than one answer holds. */
export function findCalls(file: RunFile, given: unknown, limit: number): { calls: CallRow[]; answer: QueryAnswer } {
  const keep: Files = { open: () => file, close: () => undefined };
  const query = { ...(given as Query), types: ['call'], limit: 1 };
  const answer = answered(new Asked([file.path], query, keep), QUICK, limit);
  return { calls: answer.rows.flatMap((row) => (row.type === 'call' ? [row.call] : [])), answer };
}

/** One question while it is answered. */
class Asked {
  private readonly compiled: Compiled;
  private readonly shared: Shared;
  private readonly problems: string[] = [];
  private readonly opened: FileQuery[] = [];
  private readonly runs: QueriedRun[] = [];
  private readonly heap: Heap<Turn>;
  private partly = 0;
  /** Of all runs that are asked. */
  private calls = 0;
  private looked = 0;
  /** The last row that was looked at. */
  private last: Found | undefined;

  constructor(
    private readonly paths: readonly string[],
    given: unknown,
    private readonly files: Files,
  ) {
    const patterns = new Patterns();
    this.compiled = compileQuery(given, patterns, paths.length);
    const { query, order } = this.compiled;
    const cursor = readCursor(query, order, paths);
    this.shared = { compiled: this.compiled, patterns, cursor, onPart: () => void this.partly++ };
    try {
      for (const path of paths.slice(0, MOST_RUNS)) this.open(path);
    } catch (error) {
      this.close();
      throw error;
    }
    if (paths.length > MOST_RUNS)
      this.problems.push(`Only the newest ${MOST_RUNS} of ${paths.length} runs were asked. Name others to ask them.`);
    if (this.opened.length === 0 && this.problems.length > 0) throw new UserError(this.problems[0]!);
    const sign = order.startsWith('-') ? -1 : 1;
    const turns = this.opened.map((one) => ({ query: one, row: undefined, place: { ...START, key: one.first } }));
    this.heap = new Heap<Turn>(turns, (one, other) => {
      if (one.place.key !== other.place.key) return one.place.key < other.place.key === sign > 0;
      // Before its first row a file stands ahead of all that have the same key.
      if ((one.row === undefined) !== (other.row === undefined)) return one.row === undefined;
      return compare(one.place, other.place) * sign < 0;
    });
  }

  private open(path: string): void {
    let file: RunFile | undefined;
    try {
      file = this.files.open(path);
      // From the first row to the last.
      file.begin();
      this.opened.push(new FileQuery(file, this.shared));
      const { run, number, name, startedAt, torn, calls } = file.summary();
      this.calls += calls;
      if (torn === true) this.note(new UserError(`A part of the run file ${path} is damaged.`));
      this.runs.push({ run, number, name, file: path, startedAt });
    } catch (error) {
      // A page in the middle may be damaged: the other runs answer all the same.
      if (this.opened.at(-1)?.file === file) this.opened.pop();
      if (file !== undefined) this.release(file);
      this.note(told(path, error));
    }
  }

  close(): void {
    for (const { file } of this.opened.splice(0)) this.release(file);
  }

  private release(file: RunFile): void {
    try {
      file.end();
    } catch (error) {
      // Of a damaged file not even the end of reading can be said; closing it ends that, too.
      if (!this.problems.some((problem) => problem.includes(file.path))) this.note(told(file.path, error));
    }
    this.files.close(file);
  }

  answer(budget: Budget, limit = this.compiled.limit): QueryAnswer {
    const page: Found[] = [];
    let more = 0;
    let ended = false;
    const until = performance.now() + budget.milliseconds;
    let rows = budget.rows;
    const hasPatterns = this.compiled.where.some(({ matches }) => matches !== undefined);
    while (!ended && this.looked < rows && performance.now() < until) {
      const batch: Found[] = [];
      const { looked, last } = this;
      // Only for an expression it is better to have many; else no more than fill the page.
      const together = page.length < limit && !hasPatterns ? limit - page.length : TOGETHER;
      while (batch.length < together && this.looked < rows) {
        const found = this.next();
        if (found === undefined) {
          ended = true;
          break;
        }
        this.looked++;
        this.last = found;
        if (this.passes(found)) batch.push(found);
        if ((this.looked & 63) === 0 && performance.now() > until) break;
      }
      let matching: Found[];
      try {
        matching = this.matching(batch);
      } catch (error) {
        // An ordinary expression that has used up its time over many rows goes on behind these in the next answer.
        if (!(error instanceof TooSlow) || looked === 0) throw error;
        this.looked = looked;
        this.last = last;
        ended = false;
        break;
      }
      for (const found of matching) {
        if (page.length < limit) page.push(found);
        else more++;
      }
      if (page.length === limit && rows === budget.rows) rows = Math.min(rows, this.looked + this.counting(budget));
    }
    if (this.searchesValues)
      for (const { hasMissed, file } of this.opened)
        if (hasMissed)
          this.note(
            new UserError(
              `Values of the run file ${file.path} are damaged and were not searched: a match may be missing.`,
            ),
          );
    for (const { lostText } of this.opened) if (lostText !== undefined) this.note(new UserError(lostText));
    const { taken, rows: answered } = this.rows(page);
    const given = page.slice(0, taken);
    more += page.length - taken;
    const cursor = this.cursorAfter(given, page.length === limit || taken < page.length, ended, more);
    return {
      runs: this.runs,
      rows: answered,
      more: { count: more, exact: ended },
      ...(cursor === undefined ? {} : { cursor }),
      looked: this.looked,
      partly: this.partly,
      problems: this.problems,
    };
  }

  /** Those of the page that have room, and how many of it that are. */
  private rows(page: readonly Found[]): { rows: QueryAnswer['rows']; taken: number } {
    const rows: QueryAnswer['rows'] = [];
    const room = roomFor(this.compiled.query);
    for (const [index, { query, row }] of page.entries()) {
      try {
        const answered = rowOf(query, row, room);
        if (room !== undefined && room.left < 0 && rows.length > 0) return { rows, taken: index };
        rows.push(answered);
      } catch (error) {
        this.note(query.told(error));
      }
    }
    return { rows, taken: page.length };
  }

  private get searchesValues(): boolean {
    const { where, text, error } = this.compiled;
    return where.length > 0 || text !== undefined || error !== undefined;
  }

  private counting(budget: Budget): number {
    // Short calls in the order of their length are put together from all of a run, which takes seconds where it is long.
    if (this.compiled.order.endsWith('duration') && this.calls > budget.rows)
      return Math.max(0, COUNTED_LENGTHS - this.looked);
    return this.searchesValues ? Math.min(COUNTED_VALUES, budget.counting) : budget.counting;
  }

  /** The next row behind the cursor, in order over all files. */
  private next(): Found | undefined {
    for (;;) {
      const turn = this.heap.least;
      if (turn === undefined) return undefined;
      const { row, query } = turn;
      this.advance(turn);
      if (row !== undefined && this.isBehindCursor(query, row)) return { query, row };
    }
  }

  private advance(turn: Turn): void {
    const { query } = turn;
    try {
      if (turn.row !== undefined) query.shift();
      turn.row = query.peek();
    } catch (error) {
      this.note(error);
      // What was read of the file so far stays.
      turn.row = undefined;
    }
    if (turn.row === undefined) return this.heap.drop();
    // One file alone is in order already.
    if (this.opened.length === 1) return;
    turn.place = query.positionOf(turn.row);
    this.heap.changed();
  }

  private isBehindCursor(query: FileQuery, row: Candidate): boolean {
    const { cursor } = this.shared;
    if (cursor === undefined) return true;
    const order = compare(query.positionOf(row), cursor.position);
    return this.compiled.order.startsWith('-') ? order < 0 : order > 0;
  }

  private passes({ query, row }: Found): boolean {
    try {
      return query.passes(row);
    } catch (error) {
      this.note(error);
      return false;
    }
  }

  private attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.note(error);
      return undefined;
    }
  }

  /** A file, or a part of one, that cannot be read; all else is thrown. */
  private note(error: unknown): void {
    if (!(error instanceof UserError) || error instanceof TooSlow) throw error;
    if (!this.problems.includes(error.message)) this.problems.push(error.message);
  }

  /** Those that match the regular expressions over values, too. */
  private matching(batch: Found[]): Found[] {
    let left = batch;
    for (const condition of this.compiled.where) {
      const { matches } = condition;
      if (matches === undefined) continue;
      const kept: Found[] = [];
      let from = 0;
      let groups: (readonly string[])[] = [];
      let characters = 0;
      const flush = (): void => {
        this.shared.patterns.test(matches, groups).forEach((found, index) => {
          if (found) kept.push(left[from + index]!);
        });
        from += groups.length;
        groups = [];
        characters = 0;
      };
      for (const { query, row } of left) {
        const texts = this.attempt(() => query.textsFor(row, condition)) ?? [];
        groups.push(texts);
        for (const text of texts) characters += text.length;
        if (characters > TOGETHER_CHARACTERS) flush();
      }
      flush();
      left = kept;
    }
    return left;
  }

  /** Where the next page begins. A run that goes on may bring more at the end of what there is now. */
  private cursorAfter(page: readonly Found[], full: boolean, ended: boolean, more: number): string | undefined {
    const { query, order } = this.compiled;
    const grows = order === 'start' && this.opened.some(({ live }) => live);
    if (ended && more === 0 && !grows) return undefined;
    const end = full || ended ? page.at(-1) : this.last;
    const position = end === undefined ? this.shared.cursor?.position : end.query.positionOf(end.row);
    if (position === undefined) return undefined;
    const ends: Record<string, number> = { ...this.shared.cursor?.ends };
    if (this.compiled.from?.since === 'end' || this.compiled.to?.since === 'end')
      for (const one of this.opened) if (one.live || Object.hasOwn(ends, one.key)) ends[one.key] = one.end;
    return writeCursor(query, order, { position, ends }, this.paths.length === 1);
  }
}

interface Turn {
  query: FileQuery;
  /** Nothing before the first was fetched. */
  row: Candidate | undefined;
  place: Position;
}

const START = { file: '', rank: 0, id: 0 };
