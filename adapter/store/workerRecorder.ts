import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Hello } from '../../protocol/control';
import { messageOf } from '../common/errors';
import type { FromWorker, ToWorker, WorkerData } from './messages';
import type { Recorder, RecorderOptions } from './recorder';
import { noteOwner } from './spoolOwner';

/** Makes the recorder of a session: a worker thread that follows the spool and writes the run file. Never throws. */
export function openRecorder(options: RecorderOptions): Recorder {
  return new WorkerRecorder(options);
}

/** Messages wait this long, so that waking the worker does not stand between a stop and the person who waits for it. */
const POST_AFTER_MS = 1;

class WorkerRecorder implements Recorder {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, () => void>();
  private readonly outgoing: ToWorker[] = [];
  private posting: NodeJS.Timeout | undefined;
  private next = 1;
  private told = false;
  private closed: Promise<void> | undefined;
  private onClosed: (() => void) | undefined;

  constructor(private readonly options: RecorderOptions) {
    try {
      mkdirSync(options.spoolFolder, { recursive: true, mode: 0o700 });
      this.worker = this.start();
    } catch (error) {
      this.problem(`Recording could not start: ${messageOf(error)}.`);
    }
  }

  private start(): Worker {
    const { runFile, spoolFolder, run, session, name, isNamed = false, keptSpoolBytes } = this.options;
    const watches = this.options.onCalls !== undefined;
    const workerData: WorkerData = {
      options: { runFile, spoolFolder, run, session, name, isNamed, watches },
      pid: process.pid,
      wall: wallNow(),
      ...(keptSpoolBytes === undefined ? {} : { keptSpoolBytes }),
    };
    try {
      // Before the app can start, and so not in the worker, which takes its time: what is recorded belongs to a run from its first byte.
      noteOwner(workerData, false);
    } catch (error) {
      this.problem(`A recording that is cut short cannot be recovered: ${messageOf(error)}.`);
    }
    const worker = startWorker(workerData);
    worker.on('message', (message: FromWorker) => this.receive(message));
    worker.on('error', (error) => this.gone(`Recording ended: ${messageOf(error)}.`));
    worker.on('exit', () => this.gone(this.closed === undefined ? 'Recording ended unexpectedly.' : undefined));
    return worker;
  }

  processStarted(index: number, hello: Hello): void {
    const info = {
      key: hello.process,
      pid: hello.pid,
      parentPid: hello.parentPid,
      name: hello.name,
      language: hello.language,
      languageVersion: hello.languageVersion,
      runtime: hello.runtime,
      executable: hello.executable,
      cwd: hello.cwd,
      argv: hello.argv,
    };
    this.send({ type: 'processStarted', index, info });
  }

  processEnded(index: number, exitCode: number | undefined, wall = wallNow()): void {
    this.send({ type: 'processEnded', index, exitCode, wall });
  }

  event(name: string, call: string | undefined, data: Record<string, unknown>, wall = wallNow()): void {
    // What the worker cannot be given (functions, for instance) is no reason to disturb the session.
    try {
      this.send({
        type: 'event',
        name,
        call,
        data: JSON.parse(JSON.stringify(data)) as Record<string, unknown>,
        wall,
      });
    } catch (error) {
      this.problem(`An event could not be recorded: ${messageOf(error)}.`);
    }
  }

  sync(): Promise<void> {
    if (this.worker === undefined) return Promise.resolve();
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.send({ type: 'sync', id });
    });
  }

  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  private async end(): Promise<void> {
    const worker = this.worker;
    if (worker === undefined) return;
    await new Promise<void>((resolve) => {
      this.onClosed = resolve;
      this.send({ type: 'close', wall: wallNow() });
    });
    await worker.terminate();
  }

  private send(message: ToWorker): void {
    this.outgoing.push(message);
    this.posting ??= setTimeout(() => {
      this.posting = undefined;
      for (const one of this.outgoing.splice(0)) this.worker?.postMessage(one);
    }, POST_AFTER_MS);
  }

  private receive(message: FromWorker): void {
    switch (message.type) {
      case 'problem':
        return this.problem(message.sentence);
      case 'indexFor':
        return this.giveIndex(message.process);
      case 'synced':
        this.waiting.get(message.id)?.();
        this.waiting.delete(message.id);
        return;
      case 'calls':
        return this.options.onCalls?.(message.calls);
      case 'closed':
        this.onClosed?.();
    }
  }

  private giveIndex(process: string): void {
    try {
      this.send({ type: 'index', process, index: this.options.indexFor(process) });
    } catch (error) {
      this.problem(`A process of the app is not recorded: ${messageOf(error)}.`);
    }
  }

  private gone(sentence: string | undefined): void {
    this.worker = undefined;
    if (sentence !== undefined)
      this.problem(`${sentence} What the app records is kept and added to the timeline later.`);
    for (const resolve of this.waiting.values()) resolve();
    this.waiting.clear();
    this.onClosed?.();
  }

  private problem(sentence: string): void {
    if (this.told) return;
    this.told = true;
    this.options.onProblem(sentence);
  }
}

/** Does not jump when the wall clock is set. */
function wallNow(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

/** From the bundle the worker is a file of its own; from the sources it needs the same TypeScript loader as its parent. */
function startWorker(workerData: WorkerData): Worker {
  const bundled = join(__dirname, 'store-worker.js');
  if (existsSync(bundled)) return new Worker(bundled, { workerData });
  const loader = pathToFileURL(require.resolve('tsx')).href;
  return new Worker(join(__dirname, 'worker.ts'), { workerData, execArgv: ['--import', loader] });
}
