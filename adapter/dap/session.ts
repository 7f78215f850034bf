import { basename, dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { AttachAttributes, LaunchAttributes } from '../../protocol/launch';
import { messageOf, UserError } from '../common/errors';
import { badFunctionPattern } from '../common/functionPattern';
import { Log } from '../common/log';
import { Engine } from '../engine/engine';
import type { Target } from '../engine/target';
import type { Task } from '../engine/tasks';
import type { Recorder } from '../store/recorder';
import { isNative } from '../targets/native';
import { checkAttributes, engineSettings, recordSettings } from './attributes';
import { Broadcast } from './broadcast';
import { Client } from './client';
import { Connection } from './connection';
import { HANDLERS } from './handlers';
import { Journal } from './journal';
import { checkArguments } from './required';
import { Masker } from '../common/masker';
import type { RunPlace, SessionOptions, TargetRequest, TerminalRequest } from './options';
import type { Context, RequestName } from './requests';
import { RunningNames } from './runningNames';
import { TracedTarget } from './trace';

/** How the session was started, kept for a restart. */
type Start = { client: Client } & (
  { mode: 'launch'; attributes: LaunchAttributes; noDebug: boolean } | { mode: 'attach'; attributes: AttachAttributes }
);

/** Lines of the trace kept until a client says whether there is to be one. */
const KEPT_TRACE = 50;
/** Of the name that a client gives itself. */
const LONGEST_NAME = 40;
/** How long a leaving client's answer waits for the recording, since editors end the adapter after it. A long recording goes on being written. */
const RECORDED_MS = 1000;

/** One debuggee, its recording, and all clients that look at it. */
export class Session {
  readonly id: string;
  readonly logs: string;
  readonly engine: Engine;
  readonly runningNames: RunningNames;
  readonly clients = new Set<Client>();
  /** Resolves when nothing is left to do: the app has ended or runs without us, the recording is closed, all clients left. */
  readonly done: Promise<void>;
  /** Where the current run is recorded. */
  place: RunPlace | undefined;
  recorder: Recorder | undefined;
  masker = new Masker({ maskKeys: [], maskPatterns: [] });
  readonly #options: SessionOptions;
  readonly #broadcast: Broadcast;
  readonly #journal: Journal;
  #start: Start | undefined;
  /** What is wrong with the settings, until there is a client that hears it. */
  #unsaid: string[] = [];
  #target: Target | undefined;
  #running: Promise<void> | undefined;
  #over = false;
  #restarting = false;
  /** Of the run that the person stopped. */
  #stopped: Recorder | undefined;
  #resolveDone!: () => void;
  #nextClient = 1;
  /** What clients were called so far. */
  readonly #names = new Set<string>();
  #trace: Log | undefined;
  /** Undefined once it is known whether there is a trace. */
  #traceKept: [line: string, message: unknown][] | undefined = [];

  constructor(options: SessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.logs = options.logs;
    this.done = new Promise((resolve) => (this.#resolveDone = resolve));
    this.engine = new Engine((text, error) => options.log.error(text, error));
    this.#broadcast = new Broadcast(this);
    this.runningNames = new RunningNames(this.engine, this.clients);
    this.#journal = new Journal(this, options);
    this.engine.on('exited', (code) => this.#exited(code));
    // Who looks at a held call finds it on the timeline, too.
    this.engine.on('held', () => void this.recorder?.sync());
  }

  get startMethod(): 'launch' | 'attach' {
    return this.#start?.mode ?? 'launch';
  }

  get recording(): boolean {
    return this.recorder !== undefined;
  }

  /** The app is gone and so are the clients; all that is left is to take the rest of the recording into the run file. */
  get onlyRecording(): boolean {
    return this.#over && this.clients.size === 0;
  }

  get log(): SessionOptions['log'] {
    return this.#options.log;
  }

  // ------------------------------------------------------------ clients

  /** Serves one client over these streams, until it leaves. `name` goes into the record, before a number. */
  accept(input: Readable, output: Writable, name = 'client'): void {
    const number = this.#nextClient++;
    const connection: Connection = new Connection(input, output, {
      handle: (command, args, signal) => this.#handle(client, connection, command, args, signal),
      closed: () => void this.#gone(client).catch((error: unknown) => this.log.error('leaving', error)),
      log: this.log,
      tap: (direction, message) => this.traceLine(`dap ${client.id} ${direction === 'in' ? '-->' : '<--'}`, message),
    });
    const client = new Client(
      `${name}-${number}`,
      (event, body) => connection.event(event, body),
      (command, args) => connection.request(command, args),
    );
    this.clients.add(client);
  }

  /** What a client is called by the name that it gives itself: two of one name are told apart. Empty where it gives none. */
  nameOf(given: unknown): string {
    const name =
      typeof given === 'string'
        ? given
            .replace(/[\p{C}\s]+/gu, ' ')
            .trim()
            .slice(0, LONGEST_NAME)
        : '';
    if (name === '') return name;
    let unlike = name;
    for (let count = 2; this.#names.has(unlike); count++) unlike = `${name} ${count}`;
    this.#names.add(unlike);
    return unlike;
  }

  async #handle(
    client: Client,
    connection: Connection,
    command: string,
    args: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (!Object.hasOwn(HANDLERS, command)) {
      throw new UserError(`The request "${command}" is not supported.`);
    }
    if (!client.initialized && command !== 'initialize' && command !== 'disconnect') {
      throw new UserError(`The request "${command}" came before "initialize".`);
    }
    const given = typeof args === 'object' && args !== null ? args : {};
    checkArguments(command as RequestName, given);
    this.#journal.command(client, command, args);
    const context: Context = { session: this, client, signal };
    const handler = HANDLERS[command as RequestName] as (context: Context, args: unknown) => unknown;
    const body = await client.order.run(command, () => handler(context, given), given);
    if (command === 'disconnect') {
      // After the answer was written.
      setImmediate(() => connection.close());
    }
    return body;
  }

  /** A client left, with or without a word. */
  async #gone(client: Client): Promise<void> {
    if (this.clients.delete(client)) {
      client.leave();
      if (this.#start?.client === client) {
        await this.#endFor(client, undefined);
      } else {
        await this.engine.removeClient(client.id);
      }
    }
    this.#checkDone();
  }

  // ------------------------------------------------------------ start

  /** `launch` or `attach`: starts the app, or joins it when it is there. Resolves when it runs. */
  async begin(client: Client, mode: 'launch' | 'attach', args: object, signal: AbortSignal): Promise<void> {
    if (client.joined) {
      throw new UserError('This session was already started.');
    }
    if (this.#start) {
      if (mode === 'launch') {
        throw new UserError('This session already has an app. Attach to it, or start another session.');
      }
      await this.#join(client, signal);
      return;
    }
    if (this.#over) {
      throw new UserError('This session has ended. Start another one.');
    }
    const unknown = this.#take(client, mode, args);
    client.joined = true;
    if (this.#start && isNative(this.#start)) {
      client.offerNative();
    }
    if (this.#start) {
      this.#options.expectTarget?.(this.#start);
    }
    client.send('initialized');
    for (const sentence of this.#unsaid) this.tell('important', `${sentence}\n`);
    for (const name of unknown) {
      this.tell('console', `"${name}" in the debug configuration is not known and does nothing.\n`);
    }
    try {
      await unlessAborted(client.configured, signal);
    } catch (error) {
      // Cancelled before anything ran: the client may start again.
      if (this.clients.has(client)) {
        client.joined = false;
        this.#start = undefined;
      }
      throw error;
    }
    // What we did not start is not ours to end, also when the client goes while we join it.
    signal.addEventListener('abort', () => void (mode === 'launch' ? this.#kill() : this.#letGo()));
    this.#running = this.#run();
    await this.#running;
  }

  /** Validates and keeps the attributes. */
  #take(client: Client, mode: 'launch' | 'attach', args: object): string[] {
    if (mode === 'launch') {
      const { attributes, unknown } = checkAttributes('launch', args);
      this.#setUp(attributes);
      this.#start = { client, mode, attributes, noDebug: attributes.noDebug ?? false };
      return unknown;
    }
    const { attributes, unknown } = checkAttributes('attach', args);
    this.#setUp(attributes);
    this.#start = { client, mode: 'attach', attributes };
    return unknown;
  }

  #setUp(attributes: LaunchAttributes | AttachAttributes): void {
    this.#unsaid = [];
    const record = recordSettings(attributes.record);
    this.masker = new Masker(record);
    for (const pattern of record.enabled ? record.functions : []) {
      const bad = badFunctionPattern(pattern);
      if (bad !== undefined) this.#unsaid.push(`"${pattern}" of "record.functions" names no function. ${bad}`);
    }
    const mask = (text: string): string => this.masker.text(text);
    this.log.maskWith?.(mask);
    const { trace } = attributes;
    const folder = ('cwd' in attributes && attributes.cwd) || '.';
    this.#trace = trace
      ? new Log(typeof trace === 'string' ? resolve(folder, trace) : join(this.logs, 'trace.log'), 'debug')
      : undefined;
    this.#trace?.maskWith(mask);
    const kept = this.#traceKept ?? [];
    this.#traceKept = undefined;
    kept.forEach(([line, message]) => this.traceLine(line, message));
  }

  async #join(client: Client, signal: AbortSignal): Promise<void> {
    client.joined = true;
    if (this.engine.processes.some(({ hello }) => hello.language === 'native')) {
      client.offerNative();
    }
    client.send('initialized');
    await unlessAborted(client.configured, signal);
    await this.#running;
    this.#broadcast.replay(client);
  }

  async #run(): Promise<void> {
    const start = this.#start;
    if (!start) {
      throw new UserError('The session has ended.');
    }
    const attributes: LaunchAttributes & AttachAttributes = start.attributes;
    const settings = engineSettings(attributes);
    const noDebug = start.mode === 'launch' && start.noDebug;
    const name = attributes.module ?? (attributes.program ? basename(attributes.program) : 'attached app');
    const cwd = attributes.cwd ?? (attributes.program ? dirname(attributes.program) : process.cwd());
    const place = this.#options.placeRun(name, cwd);
    const record = settings.record.enabled && !noDebug;
    const request: TargetRequest = {
      ...(start.mode === 'launch'
        ? { mode: 'launch', attributes: start.attributes, noDebug }
        : { mode: 'attach', attributes: start.attributes }),
      ...(record ? { spoolFolder: place.spoolFolder } : {}),
      ...(start.client.initialize.supportsRunInTerminalRequest
        ? { runInTerminal: (terminal) => runInTerminal(start.client, terminal) }
        : {}),
    };
    const made = this.#options.makeTarget(request);
    const target: Target = this.#trace
      ? new TracedTarget(made, (line, message) => this.traceLine(line, message))
      : made;
    this.#target = target;
    this.place = place;
    if (record) {
      this.recorder = this.#options.openRecorder({
        runFile: place.runFile,
        spoolFolder: place.spoolFolder,
        run: place.run,
        session: this.id,
        name,
        onProblem: (sentence) => this.tell('important', `${sentence}\n`),
        onCalls: (calls) => this.#journal.calls(calls),
        indexFor: (process) => target.indexFor(process),
      });
      const { run, runFile, runsFolder } = place;
      this.sendAll('toolbreak/run', { session: this.id, run, runFile, runsFolder });
    }
    const progress = this.#broadcast.progress(`Starting ${name}`, this.#options.progressAfter ?? 500);
    try {
      await this.engine.start(target, settings);
    } catch (error) {
      this.engine.abandon();
      await this.#closeRecorder();
      this.#over = true;
      for (const client of this.clients) {
        if (client.joined && client !== start.client) {
          client.send('terminated');
        }
      }
      throw error;
    } finally {
      progress.end();
    }
  }

  // ------------------------------------------------------------ end

  /** Ends the app and starts it again, with these attributes if there are any. */
  async restart(args: unknown): Promise<void> {
    const start = this.#start;
    if (!start || this.#over) {
      throw new UserError('There is no app to restart.');
    }
    if (this.#restarting) {
      throw new UserError('The app is being restarted already.');
    }
    this.#restarting = true;
    try {
      await this.#running?.catch(() => undefined);
      this.#checkGoesOn();
      if (typeof args === 'object' && args !== null && Object.keys(args).length > 0) {
        this.#take(start.client, start.mode, args);
      }
      const old = this.#target;
      this.#target = undefined;
      this.#broadcast.flush();
      this.#noteStop();
      this.engine.abandon();
      await (start.mode === 'launch' ? old?.kill() : old?.detach());
      // Somebody may have ended the session while the old app went.
      this.#checkGoesOn();
      void this.#closeRecorder();
      this.#running = this.#run();
    } finally {
      this.#restarting = false;
    }
    try {
      await this.#running;
    } catch (error) {
      // The other clients have heard it.
      start.client.send('terminated');
      throw error;
    }
  }

  #checkGoesOn(): void {
    if (this.#over) {
      throw new UserError('The session has ended.');
    }
  }

  /** Asks the app to end; asked again, kills it. Does not wait. */
  terminate(): void {
    if (!this.#target) {
      this.#start?.client.leave();
      this.#finish();
      return;
    }
    this.#noteStop();
    this.#target.terminate().catch((error: unknown) => this.tell('stderr', `${messageOf(error)}\n`));
  }

  async disconnect(client: Client, terminateDebuggee: boolean | undefined): Promise<void> {
    this.clients.delete(client);
    client.leave();
    if (this.#start?.client === client || terminateDebuggee) {
      await this.#endFor(client, terminateDebuggee);
    } else {
      await this.engine.removeClient(client.id);
    }
    if (this.#over) {
      await Promise.race([this.#recorderClosed, timeout(RECORDED_MS)]);
    }
  }

  /** The client that started the session leaves; by default it takes with it what it started, and only that. */
  async #endFor(client: Client, terminateDebuggee: boolean | undefined): Promise<void> {
    if (!this.#over) {
      if (terminateDebuggee ?? this.#start?.mode === 'launch') {
        await this.#kill();
      } else {
        await this.#letGo();
      }
      this.#finish();
    }
    await this.engine.removeClient(client.id);
  }

  /** What ends the app from here on is what the person asked for. */
  #noteStop(): void {
    if (this.#start?.mode !== 'launch' || this.#stopped === this.recorder) return;
    this.recorder?.event('terminated', undefined, {});
    this.#stopped = this.recorder;
  }

  async #kill(): Promise<void> {
    this.#noteStop();
    await this.#target?.kill().catch((error: unknown) => this.log.error('kill', error));
  }

  async #letGo(): Promise<void> {
    await this.#target?.detach().catch((error: unknown) => this.log.error('detach', error));
  }

  #exited(code: number | undefined): void {
    if (!this.#over && code !== undefined) {
      this.#broadcast.flush();
      this.recorder?.event('exited', undefined, { code });
      this.sendAll('exited', { exitCode: code });
    }
    this.#finish();
  }

  /** `terminated`, once and at once: what is not in the run file yet follows in the background. */
  #finish(): void {
    if (!this.#over) {
      this.#over = true;
      this.#broadcast.flush();
      void this.#closeRecorder();
      this.engine.abandon();
      this.sendAll('terminated');
    }
    this.#checkDone();
  }

  #recorderClosed: Promise<void> = Promise.resolve();

  #closeRecorder(): Promise<void> {
    const { recorder } = this;
    this.recorder = undefined;
    if (recorder) {
      // A restart does not wait for the recording of the run before.
      const closed = recorder.close().catch((error: unknown) => this.log.error('recording', error));
      this.#recorderClosed = Promise.all([this.#recorderClosed, closed]).then(() => undefined);
    }
    return this.#recorderClosed;
  }

  #checkDone(): void {
    if (this.clients.size === 0 && (this.#over || !this.#start)) {
      void this.#recorderClosed.then(() => setImmediate(this.#resolveDone));
    }
  }

  // ------------------------------------------------------------ for handlers and events

  /** To every client that joined. */
  sendAll(event: string, body?: unknown): void {
    for (const client of this.clients) {
      if (client.joined) {
        client.send(event, body);
      }
    }
  }

  /** A sentence of ours in the Debug Console. */
  tell(category: 'console' | 'important' | 'stderr', output: string): void {
    this.sendAll('output', { category, output });
  }

  noteEdit(task: Task, name: string, client: Client): void {
    this.#broadcast.record('edit', task, { name, client: client.id, ...(task.hold?.native ? { native: true } : {}) });
    this.#journal.edited(task, name, client);
  }

  /** Writes what waits to be written to the session's files, for the last moment of the process. */
  flush(): void {
    this.#journal.flush();
  }

  traceLine(line: string, message?: unknown): void {
    if (this.#traceKept) {
      if (this.#traceKept.length < KEPT_TRACE) {
        this.#traceKept.push([line, message]);
      }
    } else {
      this.#trace?.debug(() => (message === undefined ? line : `${line} ${this.masker.message(message)}`));
    }
  }
}

async function runInTerminal(
  client: Client,
  terminal: TerminalRequest,
): Promise<{ processId?: number; shellProcessId?: number }> {
  const body = await client.request('runInTerminal', { kind: 'integrated', ...terminal });
  return body ?? {};
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new UserError('Cancelled.')), { once: true });
    promise.then(resolve, reject);
  });
}

function timeout(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
