import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import {
  PROTOCOL_VERSION,
  type BreakpointState,
  type Configuration,
  type ConnectFile,
  type ControlRequests,
  type Hello,
  type Joining,
} from '../../../protocol/control';
import { Emitter } from '../../common/emitter';
import { messageOf, processGone, versionMismatch } from '../../common/errors';
import { pidNamespaceHere } from '../../common/processes';
import { toolbreakVersion } from '../../common/installation';
import type { Log } from '../../common/log';
import { makeRuntimeFolder } from '../../common/paths';
import type { Ended } from '../../common/signals';
import type { Target, TargetEvents, TargetProcess } from '../../engine/target';
import { Connection } from './connection';
import { ControlServer } from './server';

/** How long a new configuration waits for a process that does not answer. */
const CONFIGURE_WITHIN = 5_000;

export interface TargetOptions {
  log: Log;
  /** Absent when nothing is to be recorded. */
  spoolFolder?: string;
}

interface Live {
  process: TargetProcess;
  connection: Connection;
}

/** What launched and attached apps have in common: their processes' connections, the configuration in force, the stop flag. Single use. */
export abstract class PythonTarget implements Target {
  protected readonly emitter: Emitter<TargetEvents>;
  protected readonly log: Log;
  protected configuration: Configuration | undefined;
  /** Our wish that the app ends: what follows is no crash. */
  protected ending = false;
  protected over = false;
  protected readonly server: ControlServer;
  private live: Live[] = [];
  private readonly indexes = new Map<string, number>();
  private readonly connectedOnce = new Set<number>();
  private folder: string | undefined;
  private stopFile: number | undefined;
  private readonly told = new Set<string>();
  /** Processes that stand still in native code: they answer when they go on, and their silence is no news. */
  private readonly still = new Set<number>();
  /** Processes of which a debugger of native code showed where they failed. */
  protected readonly faulted = new Set<number>();

  constructor(protected readonly options: TargetOptions) {
    this.log = options.log;
    this.emitter = new Emitter((error) => this.log.error('listener of the target failed', error));
    this.server = new ControlServer(this.log, (hello, socket) => this.accept(hello, socket));
  }

  abstract start(configuration: Configuration): Promise<void>;
  abstract terminate(): Promise<void>;
  abstract kill(): Promise<void>;

  on<K extends keyof TargetEvents>(event: K, listener: (...args: TargetEvents[K]) => void): void {
    this.emitter.on(event, listener);
  }

  get processes(): readonly TargetProcess[] {
    return this.live.map(({ process }) => process);
  }

  async configure(configuration: Configuration): Promise<BreakpointState[]> {
    this.configuration = configuration;
    const answers = await Promise.all(
      this.live.map(async ({ connection, process }) => {
        try {
          const answer = connection.request('configure', { configuration });
          if (this.still.has(process.index)) {
            answer.catch((error: unknown) => this.log.warn(`${process.hello.name}: ${messageOf(error)}`));
            return [];
          }
          const body = await within(CONFIGURE_WITHIN, answer);
          return Array.isArray(body?.breakpoints) ? body.breakpoints : [];
        } catch (error) {
          this.log.warn(`${process.hello.name} did not take the configuration: ${messageOf(error)}`);
          return [];
        }
      }),
    );
    return mergeStates(answers);
  }

  request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const found = this.live.find((one) => one.process.index === process.index);
    if (found === undefined) return Promise.reject(processGone(process.hello.name));
    return found.connection.request(name, args, signal);
  }

  /** A debugger of native code holds this process, or has let it go on. */
  setStill(process: TargetProcess, still: boolean): void {
    if (still) this.still.add(process.index);
    else this.still.delete(process.index);
  }

  /** A debugger of native code showed where this process failed. */
  noteFault(process: TargetProcess): void {
    this.faulted.add(process.index);
  }

  setStopFlag(stop: boolean): void {
    if (this.stopFile !== undefined) writeSync(this.stopFile, Uint8Array.of(stop ? 1 : 0), 0, 1, 0);
  }

  async detach(): Promise<void> {
    this.ending = true;
    await Promise.all(
      this.live.map(({ connection }) =>
        within(CONFIGURE_WITHIN, connection.request('detach', {})).catch((error: unknown) =>
          this.log.warn(`detach: ${messageOf(error)}`),
        ),
      ),
    );
    this.finish(undefined);
  }

  /** Index of a process that may not have connected: a spool can be seen before, or without, its hello. */
  indexFor(process: string): number {
    const known = this.indexes.get(process);
    if (known !== undefined) return known;
    const index = this.indexes.size + 1;
    this.indexes.set(process, index);
    return index;
  }

  /** Processes of which something was recorded. */
  get processCount(): number {
    return this.indexes.size;
  }

  /** A process that is recorded and has no connection. */
  protected unconnected(key: RegExp): number | undefined {
    const found = [...this.indexes].find(([name, index]) => key.test(name) && !this.connectedOnce.has(index));
    return found?.[1];
  }

  /** Opens the control socket and writes the small files; answers what a runtime needs to connect. */
  protected async open(
    more: (folder: string) => Promise<Partial<ConnectFile>> = () => Promise.resolve({}),
  ): Promise<{ connect: ConnectFile; file: string }> {
    const folder = makeRuntimeFolder();
    this.folder = folder;
    const stop = join(folder, 'stop');
    writeFileSync(stop, Uint8Array.of(0), { mode: 0o600 });
    this.stopFile = openSync(stop, 'r+');
    const connect: ConnectFile = {
      version: PROTOCOL_VERSION,
      address: await this.server.listen(folder),
      token: this.server.token,
      ...(this.options.spoolFolder !== undefined && { spool: this.options.spoolFolder }),
      stopFile: stop,
      ...(this.configuration !== undefined && { joining: this.joining(this.configuration) }),
      ...(await more(folder)),
    };
    const file = join(folder, 'connect.json');
    writeFileSync(file, JSON.stringify(connect), { mode: 0o600 });
    return { connect, file };
  }

  private joining({ record }: Configuration): Joining {
    const { maxValueBytes, maxDepth, maskKeys, maskPatterns } = record;
    const pidNamespace = pidNamespaceHere();
    return {
      ...{ maxValueBytes, maxDepth, maskKeys, maskPatterns, children: this.takesChildren(), pid: process.pid },
      ...(pidNamespace !== undefined && { pidNamespace }),
    };
  }

  /** False: only the first process is debugged and recorded. */
  protected takesChildren(): boolean {
    return true;
  }

  /** Called for each process that connects; may refuse it by answering false. */
  protected admit(hello: Hello): boolean {
    return this.takesChildren() || this.isFirst(hello.pid);
  }

  /** Also of those that never connect, which make the same file. A program in its place is the same process. */
  private isFirst(pid: number): boolean {
    const path = join(this.folder!, 'first');
    if (!existsSync(path)) writeFileSync(path, String(pid), { flag: 'wx', mode: 0o600 });
    return readFileSync(path, 'utf8') === String(pid);
  }

  protected connected(_process: TargetProcess): void {}
  protected disconnected(_process: TargetProcess): void {}
  /** A process is about to end, as far as it knows with this code. */
  protected goodbye(_process: TargetProcess, _exitCode: number | undefined): void {}

  /** How a process ended that did not say goodbye: known of children of ours alone. */
  protected howEnded(_process?: TargetProcess): Promise<Ended | undefined> {
    return Promise.resolve(undefined);
  }

  protected notice(category: TargetEvents['notice'][0], text: string): void {
    this.log.info(`notice: ${text}`);
    this.emitter.emit('notice', category, text);
  }

  protected noticeOnce(category: TargetEvents['notice'][0], text: string): void {
    if (this.told.has(text)) return;
    this.told.add(text);
    this.notice(category, text);
  }

  /** The end, once: closes everything, tells everyone. */
  protected finish(code: number | undefined): void {
    if (this.over) return;
    this.close();
    this.log.info(`target ended, exit code ${code ?? 'unknown'}`);
    this.emitter.emit('exited', code);
  }

  /** The end of a target that could not start: nobody is told but by the error. */
  protected close(): void {
    if (this.over) return;
    this.over = true;
    this.ending = true;
    this.noticeOld();
    this.server.close();
    for (const { connection } of [...this.live]) connection.destroy();
    if (this.stopFile !== undefined) closeSync(this.stopFile);
    this.stopFile = undefined;
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
  }

  /** Processes of a Python that is too old note their version, and say nothing: who started them reads what they say. */
  private noticeOld(): void {
    const folder = this.folder;
    if (folder === undefined || !this.takesChildren() || !existsSync(folder)) return;
    const versions = readdirSync(folder).flatMap((name) => /^old-(\d\.\d+)$/.exec(name)?.[1] ?? []);
    if (versions.length === 0) return;
    const named = versions.toSorted().join(' and ');
    this.notice(
      'important',
      `Processes of Python ${named} were neither debugged nor recorded: Toolbreak needs Python 3.10 or later.`,
    );
  }

  private accept(hello: Hello, socket: Socket): Connection | undefined {
    if (this.over || this.configuration === undefined) return undefined;
    if (hello.version !== PROTOCOL_VERSION) {
      const sentence = versionMismatch(hello.runtime, toolbreakVersion()).message;
      this.noticeOnce('important', sentence);
      socket.write(`${JSON.stringify({ welcome: false, version: PROTOCOL_VERSION, error: sentence })}\n`);
      return undefined;
    }
    const name = `${hello.name} (${hello.pid})`;
    this.log.info(`connected: ${name}, Python ${hello.languageVersion}, runtime ${hello.runtime}`);
    if (!this.admit(hello)) return this.letGo(name, socket);

    const process: TargetProcess = { index: this.indexFor(hello.process), hello };
    // The same process again, such as after exec: the old connection is history.
    for (const old of this.live.filter((one) => one.process.index === process.index)) old.connection.destroy();
    this.connectedOnce.add(process.index);
    const live: Live = {
      process,
      connection: new Connection(socket, name, this.log, {
        event: (event) => {
          if (event.event === 'bye') this.goodbye(process, event.exitCode);
          this.emitter.emit('control', process, event);
        },
        closed: (saidBye) => {
          this.live = this.live.filter((one) => one !== live);
          this.log.info(`disconnected: ${name}${saidBye ? '' : ' without goodbye'}`);
          const lost = !saidBye && !this.ending;
          this.emitter.emit('processEnded', process, lost, lost ? this.howEnded(process) : undefined);
          this.disconnected(process);
        },
        silent: (silent) => {
          const sentence = `${name} has not answered for 10 s; it may be busy in native code, or stopped.`;
          if (silent && !this.still.has(process.index)) this.notice('console', sentence);
          else this.log.info(`${name} answers again`);
        },
      }),
    };
    this.live.push(live);
    live.connection.welcome(this.configuration);
    this.emitter.emit('processStarted', process);
    this.connected(process);
    return live.connection;
  }

  /** A process that is not to be debugged: it gets an empty configuration and is left alone. */
  private letGo(name: string, socket: Socket): Connection | undefined {
    const connection = new Connection(socket, name, this.log, { event: () => {}, closed: () => {}, silent: () => {} });
    const { record } = this.configuration!;
    connection.welcome({
      ...this.configuration!,
      breakpoints: [],
      exceptions: [],
      stopOnEntry: false,
      record: { ...record, enabled: false },
    });
    void within(CONFIGURE_WITHIN, connection.request('detach', {}))
      .catch((error: unknown) => this.log.debug(`detach of ${name}: ${messageOf(error)}`))
      .finally(() => connection.destroy());
    return connection;
  }
}

/** Verified anywhere is verified; hits are of the process that has most. */
export function mergeStates(answers: readonly (readonly BreakpointState[])[]): BreakpointState[] {
  const merged = new Map<number, BreakpointState>();
  for (const state of answers.flat()) {
    const known = merged.get(state.id);
    const better = known === undefined || (state.verified && !known.verified) ? state : known;
    const hits = Math.max(known?.hits ?? 0, state.hits ?? 0);
    merged.set(state.id, hits > 0 ? { ...better, hits } : better);
  }
  return [...merged.values()];
}

/** How a process of ours ends, from before it has. */
export function endOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal })),
  );
}

/** The promise, or an error after so many milliseconds. */
export function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
