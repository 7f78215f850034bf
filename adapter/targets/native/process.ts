import { constants } from 'node:os';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type {
  Breakpoint,
  BreakpointState,
  Configuration,
  ControlEvent,
  ControlRequests,
  ExceptionInfo,
  Frame,
  Hello,
  Hold,
} from '../../../protocol/control';
import { messageOf, UserError } from '../../common/errors';
import type { Log } from '../../common/log';
import { DelegateError, type DelegateClient } from '../delegate/client';
import { NativeBreakpoints } from './breakpoints';
import { crashRecord, exceptionInfo } from './crash';
import { endedBySignal, withSignal } from './gdb';
import { hitNumbers, isObject, namesOf, threadIn } from './events';
import { FIRST_FRAMES, NativeFrames, type FramePage } from './frames';
import { NativeMemory } from './memory';
import { stoppedAlong, stoppedThread } from './holds';
import { GoingOn } from './goingOn';
import { recordedMessage } from './logs';
import { Pause } from './pause';
import { isHandled, RepeatedFault } from './repeated';
import {
  isCrash,
  LOOK_AGAIN,
  PAUSED,
  saysItGoesOn,
  signalOf,
  stopReason,
  type Quirks,
  type StopReason,
} from './quirks';
import { NativeValues, type WatchInfo } from './values';
import { stoppedThreads, ToldStops, type StoppedBody } from './told';
import { numbersAt } from './trap';
import { WatchedValues } from './watched';

/** Starting may take this long: large programs have large symbols. */
const START_WITHIN = 120_000;
/** Beyond the answer to `launch`: one that tells no process is debugged without its number. */
const PROCESS_WITHIN = 3_000;

export interface NativeProcessOptions {
  /** Started, and asked for nothing yet. */
  client: DelegateClient;
  quirks: Quirks;
  log: Log;
  /** What a person calls the program. */
  name: string;
  /** Without debug information, why no line can be bound: a sentence. */
  noDebugInformation?: string;
  emit(event: Exclude<ControlEvent, Hello>): void;
  /** Stops are told as soon as it is known that somebody wants them; their frames follow in an event of their own. */
  framesFollow?: boolean;
  /** Somebody waits for any breakpoint of this thread: where several stand at one place, not every delegate names them all. */
  awaits?(thread: number | undefined): boolean;
  /** A handler in the process may note a fault and let it happen again; then it is told once. */
  noteFaults?: boolean;
  /** What a program left behind that has ended: it can be looked at, and not go on. */
  isCore?: boolean;
  /** The program's output, where it comes through the delegate. */
  output(category: 'stdout' | 'stderr', text: string): void;
  notice(category: 'console' | 'important', text: string): void;
  /** The program is there, under this number. */
  started(pid: number | undefined): void;
  /** The program has ended. `signal`: by one, as far as that can be known. */
  exited(end: { code: number | undefined; signal?: string }): void;
}

interface Stop {
  /** Holds of this stop, by number: the thread each is of. */
  threads: Map<number, number>;
  /** Threads that stopped for a reason of their own. */
  told: Set<number>;
  main: Hold;
  why: StopReason;
}

/** A program under a delegate: what the delegate says becomes control events, control requests become the delegate's. */
export class NativeProcess {
  readonly breakpoints: NativeBreakpoints;
  readonly #values: NativeValues;
  readonly #memory: NativeMemory;
  readonly #stack: NativeFrames;
  readonly #watched: WatchedValues;
  readonly #repeated = new RepeatedFault((signal) => isHandled(this.#pid ?? 0, signal));
  #stop: Stop | undefined;
  #nextHold = 1;
  #tasks = new Map<number, string>();
  readonly #pause: Pause;
  /** The program's end was asked for: signals that end it stop no more. */
  #ending = false;
  #awaitsEntry = false;
  #hasMain = false;
  /** The last signal that was told, and the program went on with. */
  #lastSignal: string | undefined;
  #over = false;
  #pid: number | undefined;
  /** A step or continue of ours is on its way. */
  #releasing = false;
  readonly #told: ToldStops;
  readonly #goingOn: GoingOn;
  /** Settled by word of the process, or by what comes after it. */
  #heardOfProcess!: () => void;
  readonly #processHeard = new Promise<void>((resolve) => (this.#heardOfProcess = resolve));
  /** What the delegate says of stops is taken in turn. */
  #turn: Promise<unknown> = Promise.resolve();
  #configuration: Configuration | undefined;

  constructor(private readonly options: NativeProcessOptions) {
    const { client, log } = options;
    const { family, major } = options.quirks;
    this.#told = new ToldStops({
      saysItGoesOn: saysItGoesOn(options.quirks),
      heard: () => this.#inTurn(() => this.#stopped()),
      passed: (body) => {
        if (signalOf(body)?.name === 'SIGSTOP') this.#pause.takes();
        this.breakpoints.passed(hitNumbers(body, false));
      },
    });
    client.on('gone', () => this.#told.end());
    this.#goingOn = new GoingOn(client, options.quirks, log);
    this.#values = new NativeValues(client, family);
    this.#pause = new Pause({
      client,
      thread: () => [...this.#tasks.keys()][0] ?? this.#pid ?? 1,
      isStill: () => this.#stop !== undefined || this.#over,
      isOver: () => this.#over,
      settled: () => this.#settled(),
      goesOn: () => this.#goingOn.said(),
      // gdb would give a signal that is on its way to the program when it leaves.
      signalled: () =>
        this.breakpoints.areConditional && !this.#isGdb && process.platform !== 'win32'
          ? this.#pid || undefined
          : undefined,
    });
    this.#stack = new NativeFrames(client, (sentence) => options.notice('console', sentence));
    const offsetIsBytes = family === 'lldb' && major > 0 && major < 20;
    this.#memory = new NativeMemory(client, (text) => this.#command(text), offsetIsBytes);
    const evaluate = async (expression: string): Promise<string> => {
      const frame = await this.#topFrame();
      const asked = { expression, context: 'watch' as const, ...(frame === undefined ? {} : { frame }) };
      return (await this.#values.evaluate(asked)).value;
    };
    this.#watched = new WatchedValues(evaluate);
    this.breakpoints = new NativeBreakpoints({
      client,
      log,
      evaluate,
      command: (text) => this.#command(text),
      say: (breakpoint, text, place) => this.#say(breakpoint, text, place),
      explain: ({ kind, name }) => this.#explain(kind, name),
    });
    client.on('event', (event, body) => this.#event(event, isObject(body) ? body : {}));
  }

  get pid(): number | undefined {
    return this.#pid;
  }
  get isHeld(): boolean {
    return this.#stop !== undefined;
  }
  get isOver(): boolean {
    return this.#over;
  }

  // ------------------------------------------------------------ start

  /**
   * `launch` or `attach` with the breakpoints of this configuration in force before the program's first instruction. Rejects with the delegate's
   * sentence when it cannot be started.
   */
  async begin(
    request: 'launch' | 'attach',
    args: Record<string, unknown>,
    configuration: Configuration,
  ): Promise<void> {
    const { client } = this.options;
    this.#configuration = configuration;
    this.#awaitsEntry = configuration.stopOnEntry && request === 'launch';
    const begun = client.request(request, args, { within: START_WITHIN });
    // It fails before `initialized`, or after it: either way its own sentence is the one to show.
    await Promise.race([client.initialized, begun.then(() => client.initialized)]);
    const configured = (async () => {
      // A delegate takes one after the other.
      const exceptions = this.#sendExceptions(configuration);
      if (this.#awaitsEntry) this.#hasMain = await this.breakpoints.stopAtMain(configuration);
      else await this.breakpoints.apply(configuration);
      // A short program has ended before anybody asks.
      this.#tellBreakpoints();
      await exceptions;
      const done = client.can('configurationDone')
        ? this.#goingOn.ask(
            () => this.#pid || undefined,
            () => client.request('configurationDone', {}, { within: START_WITHIN }),
          )
        : Promise.resolve();
      // lldb-dap 22 answers the first question for threads with those of the start: it is asked here, and its answer is not used.
      client
        .request('threads', {})
        .catch((error: unknown) => this.options.log.debug(() => `first threads: ${messageOf(error)}`));
      await done;
    })();
    configured.catch(() => undefined);
    await begun;
    await configured;
    await this.#processTold();
    this.#ensureStarted(undefined);
  }

  async configure(configuration: Configuration): Promise<BreakpointState[]> {
    if (this.#over) return [];
    const before = this.#configuration?.exceptions;
    this.#configuration = configuration;
    const states = await this.breakpoints.apply(configuration);
    await this.#lookAtWatched(configuration);
    if (JSON.stringify(before) !== JSON.stringify(configuration.exceptions)) await this.#sendExceptions(configuration);
    return states;
  }

  /** What is watched from now on is read while it can be: it is said later what it was. */
  async #lookAtWatched({ breakpoints }: Configuration): Promise<void> {
    const datas = breakpoints.flatMap(({ target, enabled }) =>
      enabled && target.type === 'memory' ? [target.data] : [],
    );
    this.#watched.keep(datas);
    if (this.#stop) await this.#watched.look(datas);
  }

  async #sendExceptions({ exceptions }: Configuration): Promise<void> {
    const known = this.options.client.capabilities.exceptionBreakpointFilters;
    const filters = exceptions
      .flatMap(({ filter }) => [filter, filter.replace('cpp_', '')])
      .filter((filter) => Array.isArray(known) && known.some((one) => one.filter === filter));
    await this.options.client
      .request('setExceptionBreakpoints', { filters })
      .catch((error: unknown) => this.options.log.warn(`exception breakpoints: ${messageOf(error)}`));
  }

  // ------------------------------------------------------------ requests

  async request<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const handler = this.#handlers[name] as (
      args: ControlRequests[K]['arguments'],
      signal?: AbortSignal,
    ) => ControlRequests[K]['body'] | Promise<ControlRequests[K]['body']>;
    return handler(args, signal);
  }

  readonly #handlers: {
    [K in keyof ControlRequests]: (
      args: ControlRequests[K]['arguments'],
      signal?: AbortSignal,
    ) => ControlRequests[K]['body'] | Promise<ControlRequests[K]['body']>;
  } = {
    configure: async ({ configuration }) => ({ breakpoints: await this.configure(configuration) }),
    pause: async () => {
      await this.#pause.ask();
      return {};
    },
    release: (args) => this.#release(args),
    // Fresh ones are asked for without a start.
    frames: ({ hold, start, count }, signal) =>
      start === 0 && this.#following?.hold === hold
        ? this.#following.frames
        : this.#frames(this.#threadOf(hold), start ?? 0, count, signal),
    scopes: ({ hold, frame }, signal) => (this.#threadOf(hold), this.#values.scopes(frame, signal)),
    variables: ({ hold, ...rest }, signal) => (this.#threadOf(hold), this.#values.variables(rest, signal)),
    setVariable: ({ hold, ...rest }, signal) => (this.#threadOf(hold), this.#values.setVariable(rest, signal)),
    setExpression: ({ hold, ...rest }, signal) => (this.#threadOf(hold), this.#values.setExpression(rest, signal)),
    evaluate: ({ hold, ...rest }, signal) => {
      if (hold !== undefined) this.#threadOf(hold);
      else if (!this.#stop) throw new UserError(`${this.options.name} is running. Pause it first.`);
      return this.#values.evaluate(rest, signal);
    },
    completions: (args, signal) => this.#values.completions(args, signal),
    exception: ({ hold }) => this.#exception(hold),
    dataInfo: ({ hold, ...rest }, signal) => (
      this.#threadOf(hold),
      this.#named(rest.name, this.#values.dataInfo(rest, signal))
    ),
    memoryInfo: ({ hold: _, ...rest }, signal) =>
      this.#named(rest.asAddress ? undefined : rest.name, this.#values.memoryInfo(rest, signal)),
    tasks: () => ({ tasks: [...this.#tasks].map(([id, name]) => ({ id, name, where: '' })) }),
    readMemory: (args, signal) => this.#memory.read(args, signal),
    writeMemory: (args, signal) => this.#memory.write(args, signal),
    disassemble: (args, signal) => this.#memory.disassemble(args, signal),
    modules: (args, signal) => this.#memory.modules(args, signal),
    stepTargets: ({ hold }, signal) => this.#stepTargets(hold, signal),
    names: () => ({ names: [] }),
    sources: () => ({ sources: [] }),
    source: () => {
      throw new UserError('Native code has no such text.');
    },
    location: () => {
      throw new UserError('Native values do not say where they are defined.');
    },
    cancel: () => ({}),
    ping: () => ({}),
    nativePass: () => ({}),
    nativeLook: () => ({ hold: 0, frames: [] }),
    nativeEndLook: () => ({}),
    detach: () => ({}),
  };

  /** What may be watched is called by its name when it changes. */
  async #named(name: string | undefined, found: Promise<WatchInfo>): Promise<WatchInfo> {
    const info = await found;
    if (name !== undefined && info.data !== undefined) this.#watched.name(info.data, name, info.type);
    return info;
  }

  #threadOf(hold: number): number {
    const thread = this.#stop?.threads.get(hold);
    if (thread === undefined) throw new UserError('This frame is gone: the program went on.');
    return thread;
  }

  async #topFrame(): Promise<number | undefined> {
    return (await this.#innermost())[0]?.id;
  }
  async #innermost(): Promise<readonly Frame[]> {
    return (await this.#looked?.catch(() => undefined))?.frames ?? [];
  }
  /** The innermost frames of the stop, or of its thread that is being looked at; asked for with the first word of it. */
  #looked: Promise<FramePage> | undefined;
  /** A hold that was told before its frames. */
  #following: { hold: number; frames: Promise<FramePage> } | undefined;

  async #release({
    hold,
    action,
    step,
    target,
    granularity,
    single,
  }: ControlRequests['release']['arguments']): Promise<Record<string, never>> {
    const threadId = this.#threadOf(hold);
    if (this.options.isCore) {
      throw new UserError(
        `${this.options.name} has ended: a core file shows where, and cannot go on. Stop the session when you have seen enough.`,
      );
    }
    if (action !== 'continue') {
      throw new UserError('Native code only goes on or steps: it cannot be skipped, run again or cancelled.');
    }
    const { client } = this.options;
    // Asked for before: when they are there, so is the word of every thread that stopped.
    const [top] = await this.#innermost();
    await this.#settled();
    this.#threadOf(hold);
    const before = this.#stop;
    const looked = this.#looked;
    const more = {
      threadId,
      ...(single ? { singleThread: true } : {}),
      ...(granularity && client.capabilities.supportsSteppingGranularity === true ? { granularity } : {}),
    };
    this.#goesOn();
    this.#releasing = true;
    this.#told.letGo();
    // It may come at once to one that does not stop it.
    if (this.breakpoints.areLookedAt) this.#pause.wentOn();
    try {
      await this.#goingOn.ask(
        () => threadId,
        () => {
          if (step === undefined) return client.request('continue', more);
          if (
            granularity === 'instruction' &&
            client.capabilities.supportsSteppingGranularity !== true &&
            step !== 'out'
          ) {
            return this.#command(`thread step-inst${step === 'over' ? '-over' : ''}`, top?.id);
          }
          if (step === 'over') return client.request('next', more);
          if (step === 'out') return client.request('stepOut', more);
          return client.request('stepIn', { ...more, ...(target === undefined ? {} : { targetId: target }) });
        },
      );
    } catch (error) {
      if (client.isGone) await this.#turn;
      // It ran to its end at once, and its debugger ended with it before it answered.
      if (client.isGone && this.#over) return {};
      // It did not go: the hold is as it was.
      if (!this.#over && !this.#stop) {
        this.#stop = before;
        this.#looked = looked;
        this.#told.stays();
      }
      throw error;
    } finally {
      this.#releasing = false;
    }
    return {};
  }

  /** What was asked of the last stop is over. */
  #goesOn(): void {
    this.#lastSignal = this.#stop?.why.signal?.name;
    this.#stop = undefined;
    this.#looked = undefined;
    this.#following = undefined;
    this.#values.forget();
  }

  /** Goes on with nobody asked: a hit that is not to stop, or a signal of the end. */
  async #goOn(thread: number, signal?: string): Promise<void> {
    this.#goesOn();
    if (signal !== undefined) this.#lastSignal = signal;
    this.#releasing = true;
    this.#told.letGo();
    try {
      await this.#goingOn.ask(
        () => thread,
        () => this.options.client.request('continue', { threadId: thread }),
      );
    } catch (error) {
      this.#told.stays();
      throw error;
    } finally {
      this.#releasing = false;
    }
  }

  #frames(thread: number, start: number, count?: number, signal?: AbortSignal): Promise<FramePage> {
    return this.#stack.page(thread, start, count, signal);
  }

  async #stepTargets(hold: number, signal?: AbortSignal): Promise<ControlRequests['stepTargets']['body']> {
    this.#threadOf(hold);
    const frame = await this.#topFrame();
    if (!this.options.client.can('stepInTargets') || frame === undefined) return { targets: [] };
    const { targets } = await this.options.client.request('stepInTargets', { frameId: frame }, { signal });
    return { targets: targets.map(({ id, label, line }) => ({ id, label, ...(line ? { line } : {}) })) };
  }

  async #exception(hold: number): Promise<ExceptionInfo> {
    const thread = this.#threadOf(hold);
    const stop = this.#stop!;
    return exceptionInfo(this.options.client, thread, stop.why, await this.#innermost());
  }

  /** A command of lldb's own language; its output. */
  async #command(text: string, given?: number): Promise<string> {
    if (this.options.quirks.family !== 'lldb') throw new UserError(`${this.options.client.name} cannot do this.`);
    const frame = given ?? (await this.#topFrame());
    const body = await this.options.client.request('evaluate', {
      expression: `\`${text}`,
      context: 'repl',
      ...(frame === undefined ? {} : { frameId: frame }),
    });
    return body.result ?? '';
  }

  // ------------------------------------------------------------ what the delegate says

  #event(name: string, body: Record<string, unknown>): void {
    if (this.#over) return;
    switch (name) {
      case 'process':
        this.#ensureStarted(typeof body['systemProcessId'] === 'number' ? body['systemProcessId'] : undefined);
        break;
      case 'stopped':
        // Told without a process, it is not to wait for one.
        this.#heardOfProcess();
        // Threads that stop at once are told one by one; together they are one stop.
        this.#told.stopped(body);
        break;
      case 'continued':
        if (!this.#told.continued()) this.#inTurn(() => this.#continued());
        break;
      case 'thread':
        if (body['reason'] === 'exited' && typeof body['threadId'] === 'number') this.#threadEnded(body['threadId']);
        break;
      case 'breakpoint': {
        const states = this.breakpoints.changed(body);
        if (states.length > 0) this.options.emit({ event: 'breakpoints', breakpoints: states });
        break;
      }
      case 'output':
        this.#printed(body);
        break;
      case 'exited':
        this.#told.end();
        this.#inTurn(() => this.#ended(typeof body['exitCode'] === 'number' ? body['exitCode'] : undefined));
        break;
      case 'terminated':
        this.#inTurn(() => this.#exited(undefined));
        break;
    }
  }

  #inTurn(work: () => void | Promise<void>): void {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      if (!this.#over) this.options.log.error(`an event of ${this.options.client.name}`, error);
    });
  }

  /** Nothing that was said of stops is being looked at: conditions and log messages of another thread are evaluated while it stands still. */
  async #settled(): Promise<void> {
    for (let turn; turn !== this.#turn;) {
      turn = this.#turn;
      await turn;
    }
  }

  #printed(body: Record<string, unknown>): void {
    const text = body['output'];
    if (typeof text !== 'string') return;
    if (body['category'] === 'stdout') this.options.output('stdout', text);
    else if (body['category'] === 'stderr') this.options.output('stderr', text);
    // In turn, so that a message stands where it was written among the stops.
    else if (body['category'] === 'console' || body['category'] === undefined) this.breakpoints.printed(text);
  }

  /** The number of the process is told beside the answers, before or after them; a core file has none. */
  async #processTold(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, PROCESS_WITHIN)));
    await Promise.race([this.#processHeard, enough, this.options.client.ended]);
    clearTimeout(timer);
  }

  #ensureStarted(pid: number | undefined): void {
    if (this.#pid !== undefined || this.#over) return;
    this.#pid = pid ?? 0;
    this.#heardOfProcess();
    // lldb calls the first thread by the number of the process, gdb by 1.
    const task = this.#isGdb ? 1 : pid;
    if (pid !== undefined && task !== undefined && !this.#tasks.has(task)) this.#tasks.set(task, this.options.name);
    this.options.started(pid);
    if (task !== undefined) {
      this.options.emit({ event: 'task', task, name: this.options.name, change: 'started' });
    }
    this.#tellBreakpoints();
  }

  /** What is known of the breakpoints so far, once there is a process that it can be told of. */
  #tellBreakpoints(): void {
    const states = this.breakpoints.states();
    if (this.#pid !== undefined && states.length > 0) this.options.emit({ event: 'breakpoints', breakpoints: states });
  }

  /** Everything that was said of one stop: what it is for each thread, and whether anybody wants it. */
  async #stopped(): Promise<void> {
    const { log } = this.options;
    const { first } = this.#told;
    // It was looked at with those before it.
    if (!first) return;
    const looksAt = new Set(this.#told.all);
    const thread = threadIn(first) ?? [...this.#tasks.keys()][0] ?? 0;
    const why = stopReason(this.#isGdb ? await withSignal(this.options.client, first) : first, this.#asked);
    const isEntry = why.reason === 'entry' && this.#hasMain;
    if (isEntry) this.#awaitsEntry = false;
    if (isEntry || (this.#ending && why.signal)) {
      this.#told.take();
      return this.#goOn(thread);
    }
    const over = (error: unknown): undefined => void log.info(`a stop that is over: ${messageOf(error)}`);
    // Other threads of a stop that was told: some are told later than the answers to the first questions.
    const { told } = this.#stop ?? {};
    if (told && this.#told.all.every((body) => !told.has(threadIn(body) ?? thread))) {
      const before = this.#looked;
      for (const other of await this.#wanted()) this.#tellOther(other.thread, other.why, other.ids);
      if (this.#stop) this.#looked = before;
      return;
    }
    // Asked together: a stop is to cost little. When the frames are there, nearly always all threads that stopped were told.
    const asked = this.#threads();
    const looked = (this.#looked = this.#framesNow(thread, FIRST_FRAMES, first));
    looked.catch(() => undefined);
    const threads = await asked.catch(over);
    if (!this.options.framesFollow) await looked.catch(over);
    if (this.#over || !threads) return this.#lookBeyond(looksAt);
    const asksOthers = threads.length > 1 && !this.#isGdb;
    const looksFirst = asksOthers && this.breakpoints.areLookedAt;
    if (looksFirst) await this.#allTold().catch(over);
    // It goes on already, by a command that was typed.
    if (this.#told.first !== first) return;
    let wanted = await this.#wanted(thread, looked);
    if (wanted.length === 0) {
      const frames = await looked.catch(over);
      if (this.#over || !frames) return;
      do wanted = await this.#wanted(thread, looked);
      while (wanted.length === 0 && this.#told.first);
    }
    // A delegate that is to pause a program takes no notice where it stands still just now, for a breakpoint that does not stop.
    if (wanted.length === 0 && this.#pause.isAsked) wanted = [{ thread, why: PAUSED, ids: [] }];
    const [main, ...others] = wanted;
    if (!main) {
      this.#pause.wentOn();
      return this.#goOn(thread);
    }
    this.#pause.told();
    this.#looked = main.thread === thread ? looked : this.#framesNow(main.thread, FIRST_FRAMES);
    const { signal } = main.why;
    const isCrashed = signal !== undefined && isCrash(signal);
    const follow = this.options.framesFollow === true && !isCrashed;
    const shown = follow ? undefined : await this.#looked.catch(over);
    if (this.#over || (!shown && !follow)) return;
    const isAgain = this.#repeated.isAgain(main.thread, signal, shown?.frames ?? []);
    if (isAgain && this.options.noteFaults === true && others.length === 0)
      return this.#goOn(main.thread, signal?.name);
    const crash =
      isCrashed && shown
        ? await crashRecord({ values: this.#values, log, thread: main.thread, signal, frames: shown.frames })
        : undefined;
    const hold = this.#tell(main.thread, main.why, main.ids, threads, shown);
    if (follow) this.#follow(hold, this.#looked);
    for (const other of others) this.#tellOther(other.thread, other.why, other.ids);
    if (crash) this.options.emit({ event: 'record', name: 'crash', data: crash });
    // The first is not kept waiting; who lets the program go on is, for a moment: 0.1 ms a thread, so not at the end of a step.
    const mayBeMore = main.why.reason !== 'step' && wanted.length < threads.length;
    if (asksOthers && !looksFirst && mayBeMore) await this.#allTold().catch(over);
  }

  /**
   * lldb-dap answers between its words of one thread and the next: who let the program go on then would never know what the other one came to. So it is
   * asked which threads came to a breakpoint, and heard to the end.
   */
  async #allTold(): Promise<void> {
    const stopped = stoppedThreads(await this.#command('thread list'));
    const told = this.#stop?.told;
    await this.#told.whenTold(told ? stopped.filter((id) => !told.has(id)) : stopped);
  }

  /** These were of a stop that is over, told late. What was said since may be of the next one, and each is looked at. */
  #lookBeyond(passed: ReadonlySet<StoppedBody>): Promise<void> | undefined {
    this.#told.forget(passed);
    return this.#over ? undefined : this.#stopped();
  }

  /** Which threads that were told of since want to stop. `looked`: the frames of the first, which were asked for. */
  async #wanted(
    thread?: number,
    looked?: Promise<FramePage>,
  ): Promise<{ thread: number; why: StopReason; ids: number[] }[]> {
    const wanted: { thread: number; why: StopReason; ids: number[] }[] = [];
    for (const body of this.#told.take()) {
      const one = threadIn(body) ?? thread ?? 0;
      this.#looked = looked && one === thread ? looked : this.#framesNow(one, 1, body);
      this.#looked.catch(() => undefined);
      const found = await this.#wantedBy(body);
      if (found) wanted.push({ thread: one, ...found });
    }
    return wanted;
  }

  /** Its frames are told when they are known. */
  #follow({ id, task }: Hold, frames: Promise<FramePage>): void {
    const following = (this.#following = { hold: id, frames });
    const tell = (page: FramePage): void => {
      if (this.#following === following) this.#following = undefined;
      this.options.emit({ event: 'frames', hold: id, task, frames: page.frames, moreFrames: page.more });
    };
    frames.then(tell, (error: unknown) => {
      this.options.log.info(`frames of a stop that is over: ${messageOf(error)}`);
      tell({ frames: [], more: true });
    });
  }

  get #asked(): { pause: boolean; entry: boolean } {
    return { pause: this.#pause.isAsked, entry: this.#awaitsEntry };
  }

  /** lldb before 20 was not seen to tell the frames of a moment before. */
  get #mayTellOld(): boolean {
    const { family, major } = this.options.quirks;
    return family === 'lldb' && (major === 0 || major >= 20);
  }

  get #isGdb(): boolean {
    return this.options.quirks.family === 'gdb';
  }

  /** Why a thread stopped and for which breakpoints of ours; nothing where none of them wants that. */
  async #wantedBy(body: StoppedBody): Promise<{ why: StopReason; ids: number[] } | undefined> {
    const why = stopReason(this.#isGdb ? await withSignal(this.options.client, body) : body, this.#asked);
    // Somebody wanted a pause, and got it otherwise.
    if ([why.signal?.name, signalOf(body)?.name].includes('SIGSTOP') && this.#pause.takes() && why.reason !== 'pause')
      return undefined;
    const memory = why.reason === 'data breakpoint';
    const missed = why.signal?.name === 'SIGTRAP' ? await this.#numbersHere() : [];
    const isMissed = this.breakpoints.knows(missed, false);
    const numbers = isMissed ? missed : hitNumbers(body, memory);
    if (!this.breakpoints.knows(numbers, memory)) return { why, ids: [] };
    const result = await this.breakpoints.hit(numbers, memory, isMissed);
    if (!result) {
      if (isMissed) return undefined;
      const told = why.reason === 'step' || why.reason === 'pause' || why.signal !== undefined;
      return told || this.options.awaits?.(threadIn(body)) ? { why, ids: [] } : undefined;
    }
    if (result.entry && result.ids.length === 0) {
      this.#awaitsEntry = false;
      this.#hasMain = false;
      return { why: { reason: 'entry', description: 'Paused on entry' }, ids: [] };
    }
    const { reason, ids, memory: target } = result;
    if (isMissed) return { why: { reason, description: `Paused on ${reason}` }, ids };
    if (!target) return { why: { ...why, reason, description: `Paused on ${reason}` }, ids };
    const text = await this.#watched.happened(target.data, target.access);
    return {
      why: { ...why, reason, description: `Paused: ${text}`, text: `${text}.` },
      ids,
    };
  }

  /** Numbers of the delegate's breakpoints where the thread stands that is looked at; lldb may take one that was just set for a signal. */
  async #numbersHere(): Promise<number[]> {
    if (this.#isGdb) return [];
    const [top] = await this.#innermost();
    if (top?.instruction === undefined) return [];
    // Without an answer it is told as the signal that lldb says it is.
    const list = await this.#command('breakpoint list').catch((error: unknown) => {
      this.options.log.warn(`breakpoints at a trap: ${messageOf(error)}`);
      return '';
    });
    return numbersAt(list, top.instruction);
  }

  async #threads(): Promise<P.Thread[]> {
    try {
      return (await this.options.client.request('threads', {})).threads;
    } catch (error) {
      this.#stillStands(error, 'threads');
      return [...this.#tasks].map(([id, name]) => ({ id, name }));
    }
  }

  /** `stopped`: what was said of this thread, where its frames were not asked for since. */
  async #framesNow(thread: number, count: number, stopped?: StoppedBody): Promise<FramePage> {
    try {
      const page = await this.#frames(thread, 0, count);
      const lines = stopped && this.#mayTellOld ? this.breakpoints.linesOf(hitNumbers(stopped, false)) : [];
      const [top] = page.frames;
      if (!top || lines.length === 0 || lines.includes(top.line)) return page;
      for (const command of LOOK_AGAIN) await this.#command(command, top.id);
      return await this.#frames(thread, 0, count);
    } catch (error) {
      this.#stillStands(error, 'frames');
      return { frames: [], more: true };
    }
  }

  /** A refusal means that the program went on. Silence and nonsense do not: a stop that nobody hears of cannot be ended. */
  #stillStands(error: unknown, what: string): void {
    if (!(error instanceof DelegateError) || error.why === 'refused' || error.why === 'gone') throw error;
    this.options.log.warn(`${what} of a stop: ${messageOf(error)}`);
  }

  /** `first`: absent where the frames follow. */
  #tell(thread: number, why: StopReason, ids: number[], threads: P.Thread[], first: FramePage | undefined): Hold {
    const names = namesOf(threads, this.options.name);
    for (const gone of [...this.#tasks.keys()].filter((id) => !names.has(id))) this.#threadEnded(gone);
    this.#tasks = names;
    const stopped = { id: this.#nextHold++, task: thread, taskName: names.get(thread) ?? this.options.name };
    const main = { ...stoppedThread(stopped, why, ids, first), ...(!first && { framesFollow: true }) };
    const along = [...names]
      .filter(([id]) => id !== thread)
      .map(([task, taskName]) => stoppedAlong({ id: this.#nextHold++, task, taskName }));
    const holds = new Map([main, ...along].map((hold) => [hold.id, hold.task]));
    this.#stop = { threads: holds, told: new Set([thread]), main, why };
    this.options.emit({ event: 'held', hold: main, ...(along.length > 0 ? { along } : {}) });
    return main;
  }

  /** Another thread stopped in the same moment for a reason of its own. */
  #tellOther(thread: number, why: StopReason, ids: number[]): void {
    const stop = this.#stop;
    if (!stop) return;
    const taskName = this.#tasks.get(thread) ?? this.options.name;
    const hold = stoppedThread({ id: this.#nextHold++, task: thread, taskName }, why, ids);
    stop.threads.set(hold.id, thread);
    stop.told.add(thread);
    this.options.emit({ event: 'held', hold });
  }

  /** The delegate let the program go on by itself, such as by a command that was typed. */
  #continued(): void {
    const { main } = this.#stop ?? {};
    if (!main || this.#releasing) return;
    this.#goesOn();
    this.options.emit({ event: 'resumed', hold: main.id, task: main.task, why: 'release' });
  }

  #threadEnded(id: number): void {
    const name = this.#tasks.get(id);
    if (name === undefined || this.#tasks.size === 1) return;
    this.#tasks.delete(id);
    this.options.emit({ event: 'task', task: id, name, change: 'exited' });
  }

  async #ended(code: number | undefined): Promise<void> {
    const signal = this.#isGdb && code === 0 ? await endedBySignal(this.options.client) : undefined;
    this.#exited(signal ?? code);
  }

  #exited(code: number | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#told.end();
    this.#heardOfProcess();
    const numbers: Record<string, number> = constants.signals;
    const signal = this.#stop?.why.signal?.name ?? this.#lastSignal;
    this.options.exited({
      code,
      ...(signal !== undefined && code !== undefined && numbers[signal] === code ? { signal } : {}),
    });
  }

  /** The program is to end: a signal that asks it to is passed on, whether or not it stops there. */
  async expectEnd(): Promise<void> {
    this.#ending = true;
    const { main } = this.#stop ?? {};
    if (main) {
      await this.#goOn(main.task);
      this.options.emit({ event: 'resumed', hold: main.id, task: main.task, why: 'release' });
    }
  }

  // ------------------------------------------------------------ words

  #say(breakpoint: Breakpoint, text: string, { path, line }: { path?: string; line?: number }): void {
    const place = { ...(path ? { path } : {}), ...(line === undefined ? {} : { line }) };
    this.options.emit({ event: 'log', category: 'console', text, ...place });
    const recorded = breakpoint.logMessage === undefined ? text : recordedMessage(breakpoint.logMessage, text);
    this.options.emit({ event: 'record', name: 'log', data: { text: recorded, breakpoint: breakpoint.id, ...place } });
  }

  #explain(kind: string, name: string): string {
    const { noDebugInformation } = this.options;
    const short = name.split(/[\\/]/).pop() ?? name;
    if (kind === 'source') {
      return (
        noDebugInformation ??
        `No machine code of this line of ${short} is loaded. It may come with a library later; else compile with -g, or say with "sourceMap" where the sources are.`
      );
    }
    return kind === 'function'
      ? `No function ${short} is loaded yet.`
      : `${this.options.client.name} could not set it.`;
  }
}
