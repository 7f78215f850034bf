import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../common/errors';
import { problemWith } from './database';
import type { FromWorker, ToWorker, WorkerData } from './messages';
import { Recording } from './recording';
import { noteOwner } from './spoolOwner';

const QUICKEST = 10;
const SLOWEST = 100;
/** After a problem the file is tried again this often: locks end, disks get space. */
const RETRY = 5000;
/** Segments that were read are deleted once they take this much, so that a night's run does not fill the disk twice. */
const KEPT_SPOOL_BYTES = 256 * 1024 * 1024;
/** Of its spare time the worker notes texts for so many milliseconds at once, and then does something else for three times as long. */
const NOTING = 20;
/** Of processes that are in a run without a connection. */
const LOOK_FOR_ENDS = 1000;
/** What the session saw while the file could not be written. */
const LARGEST_BACKLOG = 10_000;

/** Drives a recording in the worker thread: polls, answers the main thread, and lives through a file that cannot be written. */
export class StoreWorker {
  private recording: Recording | undefined;
  private timer: NodeJS.Timeout | undefined;
  private delay = QUICKEST;
  private told = false;
  private retryAt = 0;
  private closing: bigint | undefined;
  private saidStopped = false;
  private noteAt = 0;
  private lookAt = 0;
  /** Finished segments at the last look. */
  private weighed = 0;
  private readonly indexes = new Map<string, number>();
  private readonly asked = new Set<string>();
  /** What is not in the file yet, in order; and every process, for a file that has to be opened again. */
  private backlog: Exclude<ToWorker, { type: 'sync' | 'close' | 'index' }>[] = [];
  private syncs: { id: number; passes: number }[] = [];

  constructor(
    private readonly data: WorkerData,
    private readonly send: (message: FromWorker) => void,
  ) {}

  start(): void {
    this.open();
    this.schedule(0);
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'index':
        this.indexes.set(message.process, message.index);
        break;
      case 'sync':
        this.syncs.push({ id: message.id, passes: 0 });
        break;
      case 'close':
        this.closing = message.wall;
        break;
      default:
        if (message.type === 'processStarted') this.indexes.set(message.info.key, message.index);
        if (this.backlog.length < LARGEST_BACKLOG) this.backlog.push(message);
    }
    this.schedule(0);
  }

  private schedule(delay: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.step(), delay);
  }

  private step(): void {
    if (this.recording === undefined && (Date.now() >= this.retryAt || this.closing !== undefined)) this.open();
    let more = false;
    if (this.recording !== undefined) {
      try {
        more = this.work(this.recording);
      } catch (error) {
        this.failed(error);
      }
    }
    if (this.recording === undefined) this.answerSyncs(() => true);
    if (this.closing !== undefined && !more) return this.close(this.closing);
    this.sayStopped();
    if (!more) this.noteWords();
    this.delay = more ? 0 : Math.min(SLOWEST, Math.max(QUICKEST, this.delay * 1.5));
    this.schedule(this.delay);
  }

  private noteWords(): void {
    const begun = performance.now();
    if (this.recording === undefined || begun < this.noteAt) return;
    try {
      this.recording.noteWords(NOTING);
    } catch (error) {
      this.failed(error);
    }
    this.noteAt = performance.now() + 3 * (performance.now() - begun);
  }

  /** There is much left to read: the timeline says so. */
  private sayStopped(): void {
    const wall = this.closing;
    if (wall === undefined || this.saidStopped || this.recording === undefined) return;
    this.saidStopped = true;
    try {
      this.recording.write((writer) => writer.stopped(wall));
    } catch (error) {
      this.failed(error);
    }
  }

  /** One pass; answers whether there is more to do at once. */
  private work(recording: Recording): boolean {
    this.takeBacklog(recording);
    if (Date.now() >= this.lookAt) {
      this.lookAt = Date.now() + LOOK_FOR_ENDS;
      recording.lookForEnds(BigInt(Date.now()) * 1_000_000n);
    }
    const pass = recording.pass();
    this.tellCalls(recording);
    if (pass.read > 0) this.delay = QUICKEST / 2;
    for (const process of pass.blocked) this.ask(process);
    if (pass.blocked.length === 0) {
      // Frames that wait behind a busy segment are taken with the second pass at the latest.
      for (const sync of this.syncs) sync.passes = pass.caughtUp ? sync.passes + 1 : 0;
      this.answerSyncs((sync) => !pass.more || sync.passes >= 2);
    }
    this.deleteRead(recording);
    const open = pass.blocked.length > 0;
    return pass.more || (open ? this.closing !== undefined : this.syncs.length > 0);
  }

  private takeBacklog(recording: Recording): void {
    const backlog = this.backlog;
    if (backlog.length === 0) return;
    recording.write((writer) => {
      for (const message of backlog) {
        if (message.type === 'processStarted') writer.describeProcess(message.index, message.info);
        else if (message.type === 'event') writer.sessionEvent(message.name, message.call, message.data, message.wall);
      }
    });
    this.backlog = [];
    for (const message of backlog)
      if (message.type === 'processStarted') recording.announced(message.index);
      else if (message.type === 'processEnded') recording.processEnded(message.index, message.exitCode, message.wall);
  }

  private tellCalls(recording: Recording): void {
    const calls = recording.takeSeen();
    if (calls.length > 0) this.send({ type: 'calls', calls });
  }

  private ask(process: string): void {
    if (this.asked.has(process)) return;
    this.asked.add(process);
    this.send({ type: 'indexFor', process });
  }

  private answerSyncs(done: (sync: { passes: number }) => boolean): void {
    const [answered, waiting] = [this.syncs.filter(done), this.syncs.filter((sync) => !done(sync))];
    this.syncs = waiting;
    for (const { id } of answered) this.send({ type: 'synced', id });
  }

  private open(): void {
    this.retryAt = Date.now() + RETRY;
    const { runFile } = this.data.options;
    try {
      // Here, and so tried again: a folder that cannot be made now may be writable later.
      mkdirSync(dirname(runFile), { recursive: true, mode: 0o700 });
      this.recording = new Recording(this.data.options, (process) => this.indexes.get(process), {
        pid: this.data.pid,
        wall: this.data.wall,
      });
    } catch (error) {
      this.problem(problemWith(runFile, error).message);
    }
  }

  private failed(error: unknown): void {
    this.retryAt = Date.now() + RETRY;
    try {
      this.recording?.close();
    } catch {
      // It is the file that cannot be used; that is being told.
    }
    this.recording = undefined;
    this.problem(messageOf(error));
  }

  private problem(sentence: string): void {
    if (this.told) return;
    this.told = true;
    const kept = 'The app goes on; what it records is kept and added to the timeline as soon as that is possible.';
    this.send({ type: 'problem', sentence: `${sentence} ${kept}` });
  }

  private close(wall: bigint): void {
    clearTimeout(this.timer);
    let complete = false;
    try {
      complete = this.recording?.finish(wall).alive === false;
      if (this.recording !== undefined) this.tellCalls(this.recording);
    } catch (error) {
      this.failed(error);
    }
    try {
      this.recording?.close();
      if (complete) noteOwner(this.data, true);
    } catch (error) {
      this.problem(problemWith(this.data.options.runFile, error).message);
    }
    this.answerSyncs(() => true);
    this.send({ type: 'closed' });
  }

  private deleteRead(recording: Recording): void {
    const files = recording.finished();
    // Looked at again only when there are more of them.
    if (files.length === this.weighed) return;
    this.weighed = files.length;
    const paths = files.map((file) => ({ file, path: join(this.data.options.spoolFolder, file) }));
    if (paths.reduce((sum, { path }) => sum + size(path), 0) < (this.data.keptSpoolBytes ?? KEPT_SPOOL_BYTES)) return;
    // Only what is on the disk for good, past a power cut too, may lose its spool.
    recording.checkpoint();
    for (const { file, path } of paths) {
      rmSync(path, { force: true });
      recording.forget(file);
    }
    this.weighed = 0;
  }
}

function size(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
