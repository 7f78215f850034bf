import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { messageOf, MistakeError, UserError } from '../../common/errors';
import { Log } from '../../common/log';
import { endProcesses, hasOneThread, listProcesses, treeOf } from '../../common/processes';
import { DelegateClient, DelegateError } from '../delegate/client';
import { makePipes, type OutputPipe } from '../python/pipes';
import { compactTrace, functionName, traceFrames, type TraceFrame } from './backtrace';
import { bindPlaces, unbindable } from './bind';
import { DataWatch, writingFrame, type Change } from './dataWatch';
import { delegateName, startDelegate } from './connect';
import { findDelegate, IN_LAUNCH_JSON } from './discovery';
import { EventQueue } from './eventQueue';
import { UNAVAILABLE, USUAL_DEPTH, USUAL_SECONDS, type Feedback, type FeedbackOptions } from './feedback';
import { endedBySignal, prepareGdb, withSignal } from './gdb';
import { GoingOn } from './goingOn';
import { inputBy, type Input } from './input';
import { maskedText, Tail } from './masked';
import { parseData, shortPlace, withoutLinks, type Place } from './places';
import { environmentFor, isCrash, QUICK_START, quirksOf, stopReason, type Quirks } from './quirks';
import { Stacks } from './stacks';
import { stoppedThreads, TOLD_WITHIN } from './told';
import { Watches } from './watches';

/** Signals that a debugger would stop at though they are the program's own affair. */
const QUIET_SIGNALS = [
  'process handle -p true -s false -n false SIGCHLD SIGUSR1 SIGUSR2 SIGALRM SIGPROF SIGVTALRM SIGURG SIGPIPE SIGWINCH SIGIO SIGHUP SIGTERM SIGINT SIGCONT',
];

/** What a shell adds to the number of a signal that ended a program. */
const BY_SIGNAL = 128;

type Value = Feedback['watchpoints'][string][number];

/** One run of a program under its debugger, for `runtimeFeedback`. */
export class Collector {
  #client!: DelegateClient;
  #quirks!: Quirks;
  #goingOn!: GoingOn;
  readonly #events = new EventQueue();
  readonly #log: Log;
  readonly #folder = mkdtempSync(join(tmpdir(), 'toolbreak-feedback-'));
  #pipes: OutputPipe[] | undefined;
  #isBegun = false;
  readonly #output = { stdout: new Tail(), stderr: new Tail() };
  readonly #result: Pick<Feedback, 'watchpoints' | 'breakpoints' | 'backtraces' | 'dataBreakpoints'>;
  #data: DataWatch | undefined;
  /** Breakpoint on `main`, until it begins: where globals are begun to be watched, and libraries can be looked into. */
  #mainId: number | undefined;
  #debuggee: number | undefined;
  #watches: Watches | undefined;
  #stacks!: Stacks;
  #partial: string | undefined;
  #exitCode: number | undefined;
  #ended = false;
  #crash: Feedback['crash'];
  /** Why hits may be missing. */
  #lossy: string | undefined;
  #stops = 0;
  #firstHit: number | undefined;
  #seconds = 0;
  /** Places that no code is loaded for yet. */
  #missing: Place[] = [];
  /** When what we wait for now is too late. */
  #deadline = Infinity;

  constructor(
    private readonly options: FeedbackOptions,
    private readonly program: string,
    private readonly places: readonly Place[],
  ) {
    this.#log = options.log ?? new Log(undefined);
    const lists = <T>(keys: Iterable<string>): Record<string, T[]> =>
      Object.fromEntries([...keys].map((key) => [key, [] as T[]]));
    this.#result = {
      watchpoints: lists((options.watches ?? []).map(({ location }) => location)),
      breakpoints: lists(options.at ?? []),
      backtraces: lists(options.at ?? []),
      dataBreakpoints: lists(options.data ?? []),
    };
    options.signal?.addEventListener('abort', () => this.#events.interrupt('it was interrupted'), { once: true });
  }

  // ------------------------------------------------------------ the program begins

  /** Until the program runs. Rejects with a sentence. */
  async start(): Promise<void> {
    const { launch } = { ...USUAL_SECONDS, ...this.options.seconds };
    const late = new UserError(
      `The program did not start under its debugger within ${launch} s. Try again, or allow more with --launch-timeout.`,
    );
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(late), launch * 1000)));
    const begun = this.#begin();
    // It may still fail when nobody waits any more.
    begun.catch(() => undefined);
    try {
      await Promise.race([
        begun,
        tooLate,
        // A debugger that ended says so in the answers that it does not give.
        this.#events.interrupted.then(() =>
          this.options.signal?.aborted ? Promise.reject(new UserError('Interrupted.')) : begun,
        ),
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #begin(): Promise<void> {
    const { options } = this;
    const env = options.env ?? process.env;
    const found = await findDelegate(options.debugger, env, options.naming);
    const input = inputBy(options.stdinBy, options.stdin);
    this.#client = new DelegateClient({
      command: found.command,
      args: found.args,
      env,
      cwd: options.project,
      name: delegateName(found.command),
      log: this.#log,
    });
    this.#client.on('event', (name, body) => this.#heard(name, body));
    this.#client.on('gone', ({ expected }) => {
      if (!expected) this.#events.interrupt('the debugger ended unexpectedly');
    });
    await startDelegate(this.#client, found.command, options.naming ?? IN_LAUNCH_JSON);
    this.#quirks = quirksOf(found, this.#client.capabilities);
    this.#goingOn = new GoingOn(this.#client, this.#quirks, this.#log);
    const within = (): { within: number } => ({ within: this.#left() });
    this.#watches = new Watches(this.#client, this.#log, within);
    this.#stacks = new Stacks(this.#client, this.#depth, within);
    await this.#launch(input);
  }

  async #launch(input: Input): Promise<void> {
    const { options } = this;
    this.#pipes = await makePipes(this.#folder, this.#log);
    this.#isBegun = true;
    const names = ['stdout', 'stderr'] as const;
    this.#pipes?.forEach(({ output }, index) =>
      output.on('data', (chunk: Buffer) => this.#output[names[index]!].push(chunk)),
    );
    const lldb = this.#quirks.family === 'lldb';
    const launched = this.#client.request(
      'launch',
      {
        program: this.program,
        args: options.command.slice(1),
        cwd: options.project,
        ...environmentFor(this.#quirks, input.variables),
        stopOnEntry: false,
        ...(lldb && { initCommands: QUICK_START, preRunCommands: this.#commands(input) }),
      },
      { within: Infinity },
    );
    launched.catch(() => undefined);
    // Some are ready before they are told to launch, some after; a refusal comes instead.
    await Promise.race([
      this.#events.next((one) => one.name === 'initialized'),
      launched.then(() => new Promise(() => undefined)),
    ]);
    if (!lldb) {
      const [output, error] = this.#pipes ?? [];
      await prepareGdb(this.#client, this.program, { input: input.path, output: output?.path, error: error?.path });
    }
    this.#missing = await bindPlaces(this.#client, this.places, options.project);
    if (!(await this.#breakOnMain()) && this.#missing[0])
      throw unbindable(this.#missing[0], this.program, options.project);
    const done = this.#goingOn.ask(
      () => this.#debuggee,
      () => this.#client.request('configurationDone', {}, { within: Infinity }),
    );
    // What the launch says is the truth; a failed one makes the other answer fail too, with other words.
    const [launch, configured] = await Promise.allSettled([launched, done]);
    for (const one of [launch, configured]) if (one.status === 'rejected') throw this.#cannotStart(one.reason);
  }

  #cannotStart(reason: unknown): UserError {
    return new UserError(`The program could not be started by ${this.#quirks.name}: ${messageOf(reason)}`);
  }

  /** For lldb, before the program runs. */
  #commands({ path }: Input): string[] {
    const redirected = (this.#pipes ?? []).map(
      (pipe, index) => `settings set target.${index === 0 ? 'output' : 'error'}-path "${pipe.path}"`,
    );
    return [`settings set target.input-path ${JSON.stringify(path)}`, ...redirected, ...QUIET_SIGNALS];
  }

  /** Globals can be watched, and libraries looked into, once the program is loaded, which is when `main` begins. Answers whether it stops there. */
  async #breakOnMain(): Promise<boolean> {
    if (this.#missing.length === 0 && this.#globals().length === 0) return false;
    const { breakpoints } = await this.#client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'main' }] });
    this.#mainId = breakpoints[0]?.id;
    return breakpoints[0]?.verified === true;
  }

  /** The libraries that the program is linked with are there. Throws a sentence for a place that is in none of them. */
  async #mainBegins(stack: P.StackFrame[]): Promise<void> {
    this.#mainId = undefined;
    const files = new Set(this.#missing.map(({ file }) => file));
    this.#missing = [];
    const places = this.places.filter(({ file }) => files.has(file));
    const [missing] = await bindPlaces(this.#client, places, this.options.project);
    if (missing) throw unbindable(missing, this.program, this.options.project);
    const globals = this.#globals();
    if (globals.length > 0) await this.#watchData(globals, stack);
  }

  #heard(name: string, body: unknown): void {
    // Before it runs, only the debugger itself has something to say.
    if (name === 'output' && this.#isBegun && this.#pipes === undefined) {
      const { category, output } = (body ?? {}) as Partial<P.OutputEvent['body']>;
      if (category === 'stdout' || category === 'stderr') this.#output[category].push(Buffer.from(output ?? ''));
    } else if (name === 'process') {
      this.#debuggee = (body as Partial<P.ProcessEvent['body']> | undefined)?.systemProcessId;
    }
    if (['initialized', 'stopped', 'exited', 'terminated'].includes(name)) this.#events.push(name, body);
  }

  // ------------------------------------------------------------ while it runs

  /** Until the program has ended or time is up. Rejects only where a place has no code, as is known when `main` begins. */
  async collect(): Promise<void> {
    const { firstStop, exit } = { ...USUAL_SECONDS, ...this.options.seconds };
    const begun = performance.now();
    try {
      while (!this.#ended) {
        this.#deadline = this.#firstHit === undefined ? begun + firstStop * 1000 : this.#firstHit + exit * 1000;
        const event = await this.#events.next(
          ({ name }) => name !== 'initialized',
          Math.max(this.#deadline - performance.now(), 0),
        );
        if (event === undefined) this.#giveUp(this.#tooLate());
        else if (event.name === 'stopped') await this.#stopped(event.body as P.StoppedEvent['body']);
        else if (event.name === 'exited') await this.#exited((event.body as P.ExitedEvent['body']).exitCode);
        else this.#ended = true;
      }
    } catch (error) {
      if (error instanceof MistakeError) throw error;
      // A refusal in the middle of things: what was gathered stays.
      this.#giveUp(error instanceof DelegateError && error.why === 'silent' ? this.#tooLate() : messageOf(error));
    }
    await this.#watches?.settled();
    if (this.#missing[0])
      this.#giveUp(`the program ended before main began, so ${shortPlace(this.#missing[0])} was not looked for`);
    if (this.#firstHit !== undefined) this.#seconds = (performance.now() - this.#firstHit) / 1000;
  }

  /** The number of the signal that ended it looks like a code of its own; as a shell says it, it does not. */
  async #exited(told: number): Promise<void> {
    const code = (this.#quirks.family === 'gdb' && (await endedBySignal(this.#client))) || told;
    const numbers: Record<string, number> = constants.signals;
    const bySignal = this.#crash !== undefined && numbers[this.#crash.signal] === code;
    this.#exitCode = bySignal ? BY_SIGNAL + code : code;
  }

  #tooLate(): string {
    const { firstStop, exit } = { ...USUAL_SECONDS, ...this.options.seconds };
    if (this.#events.interruption !== undefined) return this.#events.interruption;
    return this.#firstHit === undefined
      ? `no place was reached within ${firstStop} s`
      : `the program did not end within ${exit} s of the first place`;
  }

  #giveUp(why: string): void {
    this.#ended = true;
    this.#partial ??= why;
  }

  /** Every thread that stopped at once, then on. */
  async #stopped(first: P.StoppedEvent['body']): Promise<void> {
    let stop: P.StoppedEvent['body'] | undefined = first;
    const { threadId = 1 } = first;
    const others = await this.#others(threadId);
    while (stop !== undefined) {
      this.#stops += 1;
      await this.#oneThread(stop);
      others.delete(stop.threadId ?? 1);
      stop = (
        others.size === 0
          ? this.#events.take('stopped')
          : (await this.#events.next(({ name }) => name === 'stopped', TOLD_WITHIN))?.body
      ) as P.StoppedEvent['body'] | undefined;
    }
    // gdb refuses to evaluate in what runs again; lldb-dap answers in order, so the program need not wait for our reading.
    if (this.#quirks.family !== 'lldb') await this.#watches?.settled();
    if (this.#ended) return;
    const within = this.#left();
    this.#goingOn
      .ask(
        () => threadId,
        () => this.#client.request('continue', { threadId }, { within }),
      )
      .catch((error: unknown) => {
        // It may have ended meanwhile, which its own event says.
        this.#log.info(`continue: ${messageOf(error)}`);
      });
  }

  /** Threads that stopped in the same moment: of some it is told when the first answers are there already. */
  async #others(threadId: number): Promise<Set<number>> {
    if (this.#quirks.family !== 'lldb' || hasOneThread(this.#debuggee)) return new Set();
    const asked = { expression: '`thread list', context: 'repl' as const };
    const { result } = await this.#client.request('evaluate', asked, { within: this.#left() });
    return new Set(stoppedThreads(result).filter((id) => id !== threadId));
  }

  #left(): number {
    return Math.max(this.#deadline - performance.now(), 1);
  }

  async #oneThread(body: P.StoppedEvent['body']): Promise<void> {
    const told = this.#quirks.family === 'gdb' ? await withSignal(this.#client, body) : body;
    const { reason, signal, text } = stopReason(told, { pause: false, entry: false });
    const threadId = body.threadId ?? 1;
    const levels = this.#depth;
    const known = reason === 'breakpoint' && signal === undefined ? this.#placeById(body) : undefined;
    if (known) this.#firstHit ??= performance.now();
    // Asked together with the stack, or instead of it where nobody wants that. gdb makes frames only when it is asked for the stack.
    const foretold = known?.data.length === 0 && this.#quirks.family === 'lldb' && this.#mainId === undefined;
    const frame = foretold ? this.#stacks.top(threadId) : undefined;
    const asked = frame === undefined ? undefined : { frame, entries: this.#watch(known!, frame) };
    if (asked && known!.monitored.size === 0) {
      await asked.entries;
      return;
    }
    const stackFrames = await this.#stacks.of(threadId, known);
    const top = stackFrames[0];
    if (top === undefined) return;
    const frames = traceFrames(stackFrames, this.options.project);
    const backtrace = maskedText(compactTrace(frames, stackFrames.length < levels));
    if (signal !== undefined && isCrash(signal)) {
      // A fault that comes back after it was passed on would do so for ever.
      if (this.#crash !== undefined) this.#ended = true;
      this.#crash ??= { signal: signal.name, text: text ?? signal.name, backtrace, frames };
      return;
    }
    if (reason === 'data breakpoint') {
      // Its number says nothing about places: watched memory is counted apart.
      const writer = await writingFrame(this.#client, this.#quirks, top, { within: this.#left() });
      const changes = (await this.#data?.changes(body, stackFrames)) ?? [];
      if (changes.length > 0) this.#changed(changes, [writer, ...stackFrames.slice(1)], stackFrames.length < levels);
      // lldb-dap 19 passes over a breakpoint on the very instruction that it stands on then, and does not even stop where an equal value was written.
      const { family, major } = this.#quirks;
      const passesOver = family === 'lldb' && major > 0 && major < 20;
      const place = passesOver && writer.line !== top.line ? this.#placeOn(top) : undefined;
      if (place === undefined) return;
      this.#lossy ??= `hits of ${shortPlace(place)} may be missing: ${this.#quirks.name} passes over a place where watched memory is written just before with the value that it had. A later lldb-dap does not.`;
      await this.#hit(place, stackFrames, frames, backtrace, undefined);
      return;
    }
    const place = known ?? this.#placeOf(body, top);
    if (this.#mainId !== undefined) {
      // Where a place is the first line of main, lldb-dap 19 tells its number alone.
      const isMain = body.hitBreakpointIds?.includes(this.#mainId) || functionName(top.name) === 'main';
      if (isMain) await this.#mainBegins(stackFrames);
    }
    if (place !== undefined) await this.#hit(place, stackFrames, frames, backtrace, asked);
  }

  #globals(): string[] {
    return (this.options.data ?? []).filter((key) => parseData(key).location === undefined);
  }

  get #depth(): number {
    return this.options.depth ?? USUAL_DEPTH;
  }

  #placeById({ hitBreakpointIds = [] }: P.StoppedEvent['body']): Place | undefined {
    return this.places.find(({ id }) => id !== undefined && hitBreakpointIds.includes(id));
  }

  /** By the breakpoint's number, where it is told; else by the line it stands on. */
  #placeOf(body: P.StoppedEvent['body'], top: P.StackFrame): Place | undefined {
    if ((body.hitBreakpointIds ?? []).length > 0) return this.#placeById(body);
    return body.reason === 'breakpoint' ? this.#placeOn(top) : undefined;
  }

  #placeOn(top: P.StackFrame): Place | undefined {
    const path = withoutLinks(top.source?.path ?? '');
    return this.places.find(({ file, line }) => line === top.line && withoutLinks(file) === path);
  }

  /** Told of the line that wrote, which may be another one than the program stands on. */
  #changed(changes: readonly Change[], stack: P.StackFrame[], isWhole: boolean): void {
    const frames = traceFrames(stack, this.options.project);
    const backtrace = maskedText(compactTrace(frames, isWhole));
    for (const { key, before, value } of changes)
      this.#result.dataBreakpoints[key]?.push({ before, value, backtrace, frames });
  }

  async #hit(
    place: Place,
    stack: P.StackFrame[],
    frames: TraceFrame[],
    backtrace: string,
    asked: { frame: number; entries: Promise<Value[]> } | undefined,
  ): Promise<void> {
    this.#firstHit ??= performance.now();
    for (const key of place.monitored) {
      this.#result.breakpoints[key]?.push(backtrace);
      this.#result.backtraces[key]?.push(frames);
    }
    const frame = stack[0]!.id;
    const entries = await asked?.entries;
    // Asked of another frame, where its number is no longer what it was.
    if (entries === undefined || asked?.frame !== frame) await this.#watch(place, frame, entries);
    if (place.data.length > 0) await this.#watchData(place.data, stack);
  }

  /** Asks for the values at a place; resolves when the program may go on. */
  async #watch(place: Place, frame: number, before?: readonly Value[]): Promise<Value[]> {
    const entries: Value[] = [];
    const work = place.watches.map(({ key, expression }, index) => {
      const entry = before?.[index] ?? { var: expression, value: UNAVAILABLE };
      if (before === undefined) this.#result.watchpoints[key]?.push(entry);
      entries.push(entry);
      return this.#watches!.ask(key, expression, frame, (value) => (entry.value = value));
    });
    await Promise.all(work);
    return entries;
  }

  async #watchData(keys: readonly string[], stack: P.StackFrame[]): Promise<void> {
    this.#data ??= new DataWatch(this.#client, this.#quirks, (expression, frame) =>
      this.#watches!.evaluate(expression, frame),
    );
    await this.#data.begin(keys, stack);
  }

  // ------------------------------------------------------------ its end

  /** Leaves nothing running. */
  async end(): Promise<void> {
    // Undefined where none was found.
    const client = this.#client as DelegateClient | undefined;
    if (client !== undefined) {
      const whole = this.#ended && this.#partial === undefined && this.#crash === undefined;
      if (whole) client.killWhenEmpty();
      // Interrupted while it starts, its debugger may not have told of it yet; one that hangs or died would let it run on by itself.
      const roots = [client.pid, this.#debuggee].filter((pid) => pid !== undefined);
      const below = whole ? [] : treeOf(await listProcesses(), roots);
      await client.leave({ terminateDebuggee: true });
      await endProcesses(below.filter(({ pid }) => pid !== client.pid));
    }
    for (const pipe of this.#pipes ?? []) {
      pipe.closeWriteEnd();
      await drained(pipe);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  result(): Feedback {
    const problems = [this.#partial, this.#lossy, ...(this.#data?.problems ?? [])].filter((one) => one !== undefined);
    const mistakes = [...(this.#watches?.mistakes ?? []), ...(this.#data?.mistakes ?? [])];
    return {
      ...this.#result,
      ...(mistakes.length > 0 && { mistakes }),
      ...(problems.length > 0 && { partial: `${problems.map(sentence).join(' ')}` }),
      ...(this.#crash !== undefined && { crash: this.#crash }),
      ...(this.#exitCode !== undefined && { exitCode: this.#exitCode }),
      output: { stdout: this.#output.stdout.text(), stderr: this.#output.stderr.text() },
      stops: this.#stops,
      seconds: this.#seconds,
      debugger: this.#quirks.name,
    };
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** What is still in a pipe that nobody writes to any more. A child of the program may hold it open, so not for ever. */
function drained({ output }: OutputPipe): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      output.destroy();
      resolve();
    };
    const timer = setTimeout(done, 300);
    output.once('end', done).once('close', done).once('error', done);
  });
}
