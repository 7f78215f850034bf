import { dirname } from 'node:path';
import { readFault, type Fault } from '../common/faults';
import { ELSEWHERE, isAlive, startMark } from './alive';
import { closePlain, openForWriting, problemWith, type Connection } from './database';
import type { SeenCall } from './recorder';
import { lookForLastWord, noteSilence } from './processEnd';
import { inTurn, nextRunNumber } from './runNumber';
import { Follower, type Pass, type Segment } from './spool/follower';
import { WordWriter } from './words/wordWriter';
import { RunWriter, type ProcessInfo } from './writer';

export interface RecordingOptions {
  runFile: string;
  spoolFolder: string;
  run: string;
  session: string;
  name: string;
  isNamed?: boolean;
  /** Calls of tools and models are told, see `takeSeen`. */
  watches?: boolean;
  /** It was recorded on another machine, or before this one was started: none of its processes lives. */
  elsewhere?: boolean;
  /** Its files have the times at which they were written, so that of a fault is when it was. */
  timed?: boolean;
}

/**
 * Milliseconds of reading that are committed together, while there is more to read: each commit packs the blocks again that are not full yet, and
 * writes the tiles of this time.
 */
const BATCH = 150;

/** Milliseconds after a fault in which another thread may still record. */
const SURVIVED = 1_000;

/** Asked for the index of a process that nobody announced; answers nothing while it is not known yet. */
export type AskIndex = (process: string) => number | undefined;

/** One run file being written: the spool's follower, the writer, and which process is alive. Synchronous; belongs in a worker. */
export class Recording {
  private readonly db: Connection;
  private readonly writer: RunWriter;
  private words: WordWriter | undefined;
  private readonly follower: Follower;
  private readonly dead = new Set<string>();
  /** Processes that nobody announced, and when they were last seen alive: nobody tells of their end either. */
  private readonly unannounced = new Map<number, bigint | undefined>();
  private readonly ending = new Map<number, { exitCode: number | undefined; wall: bigint | undefined }>();
  private readonly broken: { segment: Segment; reason: string }[] = [];

  /** Throws a `UserError` with a sentence. */
  constructor(
    private readonly options: RecordingOptions,
    private readonly askIndex: AskIndex,
    owner: { pid: number; wall: bigint } = { pid: process.pid, wall: BigInt(Date.now()) * 1_000_000n },
  ) {
    this.db = openForWriting(options.runFile);
    try {
      const begin = (): RunWriter => {
        const isNew = this.db.prepare('SELECT 1 FROM runs').get() === undefined;
        return new RunWriter(
          this.db,
          {
            run: options.run,
            session: options.session,
            name: options.name,
            isNamed: options.isNamed ?? false,
            number: isNew ? nextRunNumber(options.runFile) : 0,
            pid: owner.pid,
            pidStart: startMark(owner.pid),
            started: owner.wall,
          },
          options.watches,
        );
      };
      this.writer = inTurn(dirname(options.runFile), begin);
    } catch (error) {
      this.db.close();
      throw problemWith(options.runFile, error);
    }
    const open = this.db.prepare('SELECT id FROM processes WHERE ended IS NULL AND runtime IS NULL').pluck().all();
    for (const id of open as number[]) this.unannounced.set(id, undefined);
    this.follower = new Follower(options.spoolFolder, {
      offset: (file) => this.writer.offset(file),
      ready: (key) => this.ready(key),
      dead: (key) => this.dead.has(key),
      damaged: (segment, reason) => void this.broken.push({ segment, reason }),
    });
  }

  /** Work on the file outside of frames, in a transaction of its own. Throws a `UserError`. */
  write(work: (writer: RunWriter) => void): void {
    try {
      this.writer.transaction(() => work(this.writer));
    } catch (error) {
      throw problemWith(this.options.runFile, error);
    }
  }

  processStarted(index: number, info: ProcessInfo): void {
    this.write((writer) => writer.describeProcess(index, info));
    this.announced(index);
  }

  /** Whoever said that it is there says also when it is gone. */
  announced(index: number): void {
    this.unannounced.delete(index);
  }

  /** Looks which processes that nobody announced are gone. What ran in them ran until they were last seen. */
  lookForEnds(wall: bigint): void {
    for (const [index, seen] of this.unannounced) {
      const row = this.processOf(index);
      if (row?.mark === ELSEWHERE) continue;
      if (row !== undefined && isAlive(row.pid, row.mark ?? '')) this.unannounced.set(index, wall);
      else this.processEnded(index, undefined, seen);
    }
  }

  /** Its connection ended. What it wrote last is taken as its last word only once the process is really gone. */
  processEnded(index: number, exitCode: number | undefined, wall: bigint | undefined): void {
    this.unannounced.delete(index);
    this.ending.set(index, { exitCode, wall });
  }

  /** Takes over what there is to read, in one transaction. Throws a `UserError`. */
  pass(): Pass {
    const buried = this.bury();
    try {
      const pass = this.take();
      for (const { index, key } of buried) {
        while (this.take().more);
        const { exitCode, wall } = this.ending.get(index)!;
        this.ending.delete(index);
        // Who ended with a code has survived what it told of.
        const fault = exitCode === undefined ? this.faultOf(index, key) : undefined;
        const end = wall ?? (fault && this.options.timed ? BigInt(Math.round(fault.at * 1e6)) : undefined);
        this.writer.transaction(() => this.writer.processEnded(index, exitCode, end, fault));
      }
      return pass;
    } catch (error) {
      throw problemWith(this.options.runFile, error);
    }
  }

  /** What ended the process: one that recorded on, more than other threads do in the last moment, has survived it. */
  private faultOf(index: number, key: string): (Fault & { at: number }) | undefined {
    const fault = readFault(this.options.spoolFolder, key);
    if (fault === undefined) return undefined;
    const { began, last } = this.writer.spanOf(index);
    // A file that is older than its run was given another time on its way here.
    return fault.at >= began && last > fault.at + SURVIVED ? undefined : fault;
  }

  /**
   * Follows to the end; answers whether some process still lives and may write more. Where something is missing from a moment on, the run says so
   * with its end. Throws a `UserError`.
   */
  finish(wall: bigint | undefined, missing?: { from: bigint; text: string }): { alive: boolean; damaged: boolean } {
    try {
      while (this.take().more);
      const open = this.db.prepare('SELECT id FROM processes WHERE ended IS NULL').pluck().all() as number[];
      for (const id of open) if (!this.ending.has(id)) this.ending.set(id, { exitCode: undefined, wall: undefined });
      while (this.ending.size > 0) {
        const before = this.ending.size;
        this.pass();
        if (this.ending.size === before) break;
      }
      while (this.take().more);
      const damaged = (this.db.prepare('SELECT damaged FROM runs').pluck().get() as number) > 0;
      const ended = wall ?? this.lastMoment();
      this.writer.transaction(() => {
        if (missing !== undefined) this.writer.mark(missing.from, missing.text);
        this.writer.end(ended);
      });
      return { alive: this.ending.size > 0, damaged };
    } catch (error) {
      throw problemWith(this.options.runFile, error);
    }
  }

  /**
   * The last moment that the session of the run noted, on the wall clock in nanoseconds, where it died before the app was known to have ended; 0
   * where it noted nothing.
   */
  sessionDied(): bigint | undefined {
    const noted = this.db
      .prepare(
        `SELECT CASE WHEN last IS NULL AND seen IS NULL THEN 0 ELSE started + max(coalesce(last, 0), coalesce(seen, 0)) END
        FROM runs, (SELECT max(time) AS seen FROM events)
        WHERE ended IS NULL AND stopped IS NULL AND NOT EXISTS (SELECT 1 FROM events WHERE name = 'exited')`,
      )
      .pluck()
      .safeIntegers();
    return noted.get() as bigint | undefined;
  }

  /** Looks whether the process that began the run came to its end, where nobody else was told of it. */
  lookForLastWord(pid: number): void {
    const copied = this.options.elsewhere === true || this.options.timed !== true;
    this.write(() => lookForLastWord(this.db, pid, copied));
  }

  /** Processes of which no end is known, and that knew that their session was lost: these note their end themselves. */
  alone(): number[] {
    const open = this.db.prepare(
      `SELECT id FROM processes WHERE ended IS NULL
        AND EXISTS (SELECT 1 FROM events WHERE process = processes.id AND name = 'alone')`,
    );
    return open.pluck().all() as number[];
  }

  /** Looks whether these, which are gone, came to their end. */
  lookForSilence(processes: readonly number[]): void {
    this.write(() => processes.forEach((id) => noteSilence(this.db, id, false)));
  }

  /** Something of the recording is not there at all: counted and said once, however often it is looked for. */
  lacks(reason: string): void {
    const said = this.db.prepare(`SELECT 1 FROM events WHERE name = 'damaged' AND json_extract(data, '$.reason') = ?`);
    if (said.get(reason) === undefined) this.write((writer) => writer.damaged(reason));
  }

  /** Segments that are read to their end and closed by their writer; their content is in the run file once `checkpoint` returned. */
  finished(): string[] {
    return this.follower.finished();
  }

  forget(file: string): void {
    this.follower.forget(file);
  }

  checkpoint(): void {
    this.db.pragma('wal_checkpoint(TRUNCATE)');
  }

  /** Makes the run one plain file again, where no reader has it open. */
  close(): void {
    this.follower.close();
    closePlain(this.db);
  }

  private take(): Pass {
    let pass: Pass = { read: 0, more: false, caughtUp: true, blocked: [] };
    let read = 0;
    const until = performance.now() + BATCH;
    // Reading happens inside, so that an index given to a new process is committed with its frames, or not at all.
    this.writer.transaction(() => {
      do {
        pass = this.follower.pass((item) => this.writer.apply(item));
        read += pass.read;
        for (const { reason } of this.broken.splice(0)) this.writer.damaged(reason);
      } while (pass.more && pass.read > 0 && performance.now() < until);
    });
    return { ...pass, read };
  }

  /** Notes texts of calls that are in the file, for so many milliseconds. Throws a `UserError`. */
  noteWords(milliseconds: number): void {
    try {
      this.words ??= new WordWriter(this.db);
      this.words.step(milliseconds, false);
    } catch (error) {
      throw problemWith(this.options.runFile, error);
    }
  }

  /** Calls of tools and models that are in the file and were not told yet. */
  takeSeen(): SeenCall[] {
    return this.writer.takeSeen();
  }

  private ready(key: string): boolean {
    if (this.writer.indexOf(key) !== undefined) return true;
    const index = this.askIndex(key);
    if (index === undefined) return false;
    this.writer.addProcess(index, key);
    this.unannounced.set(index, undefined);
    return true;
  }

  nextIndex(): number {
    return this.writer.nextIndex();
  }

  /** Those that are really gone, of those whose end was told. */
  private bury(): { index: number; key: string }[] {
    const buried: { index: number; key: string }[] = [];
    for (const index of this.ending.keys()) {
      const row = this.processOf(index);
      if (row === undefined) this.ending.delete(index);
      else if (this.options.elsewhere === true || !isAlive(row.pid, row.mark ?? '')) {
        this.dead.add(row.key);
        buried.push({ index, key: row.key });
      }
    }
    return buried;
  }

  private processOf(index: number): { key: string; pid: number; mark: string | null } | undefined {
    const row = this.db.prepare('SELECT key, pid, pid_start AS mark FROM processes WHERE id = ?').get(index);
    return row as { key: string; pid: number; mark: string | null } | undefined;
  }

  private lastMoment(): bigint {
    const row = this.db.prepare('SELECT started, coalesce(last, 0) AS last FROM runs').safeIntegers().get() as {
      started: bigint;
      last: bigint;
    };
    return row.started + row.last;
  }
}
