import { basename } from 'node:path';
import {
  PROTOCOL_VERSION,
  type Breakpoint,
  type BreakpointState,
  type Configuration,
  type ControlEvent,
  type ControlRequests,
  type Hello,
  type NativeLoadEvent,
  type NativeReadyEvent,
  type Release,
} from '../../../protocol/control';
import { Emitter } from '../../common/emitter';
import { messageOf, UserError } from '../../common/errors';
import { toolbreakVersion } from '../../common/installation';
import type { Log } from '../../common/log';
import type { Target, TargetEvents, TargetProcess } from '../../engine/target';
import { DelegateError } from '../delegate/client';
import { attachRefused } from '../native/refused';
import { programName, type Attached, type AttachedOptions } from './attached';
import { Child, type Caller } from './child';
import { Delegates } from './delegates';
import { Inside } from './inside';
import { GateDoor, gateLibrary, type Starter } from './gate';
import { OwnCode } from './own';
import { BuiltFrom, isNativeSource, mapped } from './sources';

type Event = Exclude<ControlEvent, Hello>;

/** Questions that only a debugger of native code can answer. */
const NATIVE_REQUESTS = new Set<keyof ControlRequests>([
  'readMemory',
  'writeMemory',
  'disassemble',
  'memoryInfo',
  'modules',
]);

/** What is debugged beside the native code: a target of Python, which can hear that one of its processes stands still. */
export interface PythonSide extends Target {
  setStill(process: TargetProcess, still: boolean): void;
  /** It was shown where this process failed. */
  noteFault(process: TargetProcess): void;
}

export interface MixedOptions {
  log: Log;
  /** The debugger of native code that was chosen, a path or a name. */
  lldbDap?: string | undefined;
  /** Whether programs that the app starts are debugged, too. */
  children: boolean;
}

interface Side {
  process: TargetProcess;
  places?: NativeReadyEvent;
  /** Attached, or on the way to be. */
  attached?: Promise<Inside | undefined>;
  now?: Inside;
  /** A step could not attach: the next ones do not try it again, each of which would wait for it. */
  refused?: boolean;
  /** Holds at lines: the thread of each, and the call. */
  lines: Map<number, { thread: number; call: number | undefined }>;
  /** The task of each thread that stood at a line: outside of any call nothing in its memory tells it. */
  tasks: Map<number, { id: number; name: string }>;
}

/**
 * Native code under a Python app: libraries that it loads, and programs that it starts. Without a breakpoint in a native source it only
 * passes everything on: nothing is started and nothing is asked of the app.
 */
export class MixedTarget implements Target {
  readonly #emitter: Emitter<TargetEvents>;
  readonly #log: Log;
  readonly #built = new BuiltFrom();
  readonly #own = new OwnCode();
  /** Somebody stepped towards native code: processes say where to look. */
  #stepsInside = false;
  readonly #sides = new Map<number, Side>();
  readonly #children = new Map<number, Child>();
  readonly #delegates: Delegates;
  #configuration: Configuration | undefined;
  /** What the processes of Python are told is told one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #door: GateDoor | undefined;
  #library: string | undefined;
  #gateTried = false;
  #leaving = false;
  readonly #said = new Set<string>();
  /** Why there is no debugger of native code. */
  #missing: string | undefined;
  /** Sources whose library or program is there, but says nothing of its lines: what it is called. */
  readonly #silent = new Map<string, string>();

  constructor(
    private readonly inner: PythonSide,
    private readonly options: MixedOptions,
  ) {
    this.#log = options.log;
    this.#delegates = new Delegates(options.lldbDap, options.log, (sentence) => {
      this.#missing = sentence;
      this.#tellWaiting();
    });
    this.#emitter = new Emitter((error) => this.#log.error('listener of the target failed', error));
    inner.on('control', (process, event) => this.#heard(process, event));
    inner.on('processStarted', (process) => this.#emitter.emit('processStarted', process));
    inner.on('processEnded', (...how) => this.#ended(...how));
    inner.on('output', (category, text) => this.#emitter.emit('output', category, text));
    inner.on('notice', (category, text) => this.#emitter.emit('notice', category, text));
    inner.on('exited', (code) => void this.#exited(code));
  }

  on<K extends keyof TargetEvents>(event: K, listener: (...args: TargetEvents[K]) => void): void {
    this.#emitter.on(event, listener);
  }

  get processes(): readonly TargetProcess[] {
    return [...this.inner.processes, ...[...this.#children.values()].map(({ process }) => process)];
  }

  indexFor(process: string): number {
    return this.inner.indexFor(process);
  }

  // ------------------------------------------------------------ what is configured

  async start(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    await this.inner.start(await this.#forPython(configuration));
  }

  /** With what holds when its turn comes: who asks later is never overtaken. */
  async #configurePython(): Promise<BreakpointState[]> {
    const turn = this.#turn.then(async () => {
      const passed = await this.#forPython(this.#configuration!);
      // Sent now, answered when it is.
      return { states: this.inner.configure(passed) };
    });
    this.#turn = turn.catch(() => undefined);
    return (await turn).states;
  }

  async configure(configuration: Configuration): Promise<BreakpointState[]> {
    this.#configuration = configuration;
    const before = this.#everyAttached();
    const [python, ...native] = await Promise.all([
      this.#configurePython(),
      ...before.map((one) => one.configure(this.#forNative())),
    ]);
    await this.#look();
    for (const one of this.#everyAttached()) if (!before.includes(one)) native.push(one.states());
    const states = new Map(this.#waiting().map((state) => [state.id, state]));
    for (const state of native.flat()) {
      if (state.verified || !states.get(state.id)?.verified) states.set(state.id, state);
    }
    return [...python, ...states.values()];
  }

  get #dots(): Breakpoint[] {
    return (this.#configuration?.breakpoints ?? []).filter(isNative);
  }

  /** Faults in native code are to stop, wherever they are: every Python process is attached to. */
  get #faults(): boolean {
    return this.#configuration?.exceptions.some(({ filter }) => filter === 'fault') === true;
  }

  get #sources(): string[] {
    return this.#dots.flatMap(({ target }) => (target.type === 'source' ? [target.path] : []));
  }

  /** What a breakpoint waits for where nobody looks into its code yet. */
  #waiting(): BreakpointState[] {
    return this.#dots.map(({ id, target }) => {
      const silent = target.type === 'source' ? this.#silent.get(target.path) : undefined;
      const message =
        this.#missing ?? (silent === undefined ? usualWait(this.options.children) : silentSentence(silent));
      return { id, verified: false, message };
    });
  }

  /** To processes that have no debugger that would say more. */
  #tellWaiting(): void {
    for (const { process, attached } of this.#sides.values()) {
      if (attached === undefined)
        this.#emitter.emit('control', process, { event: 'breakpoints', breakpoints: this.#waiting() });
    }
  }

  /** Remembers which of these files should hold code of a breakpoint, but do not say so. */
  #noteSilent(files: readonly string[]): void {
    const before = this.#silent.size;
    for (const source of this.#sources) {
      const silent = this.#built.silent(files, source);
      if (silent !== undefined) this.#silent.set(source, silent);
    }
    if (this.#silent.size > before) this.#tellWaiting();
  }

  async #forPython(configuration: Configuration): Promise<Configuration> {
    const dots = this.#dots.length > 0;
    if (!dots && !this.#faults && !this.#stepsInside) return configuration;
    if (dots || this.#faults) this.#delegates.warm();
    const library = dots && this.options.children ? await this.#gate() : undefined;
    return {
      ...configuration,
      breakpoints: configuration.breakpoints.filter((one) => !isNative(one)),
      exceptions: configuration.exceptions.filter(({ filter }) => filter !== 'fault'),
      native: {
        tracer: process.pid,
        loads: dots || this.#faults,
        ...(library !== undefined && this.#door && { gate: { library, address: this.#door.address } }),
      },
    };
  }

  #forNative(): Configuration {
    return { ...this.#configuration!, breakpoints: this.#dots, stopOnEntry: false };
  }

  /** The library that holds programs, and the door where they ask; tried once. */
  async #gate(): Promise<string | undefined> {
    if (!this.#gateTried) {
      this.#gateTried = true;
      try {
        this.#library = await gateLibrary();
        this.#door = await GateDoor.open(this.#log, (pid, by) => this.#program(pid, by));
      } catch (error) {
        this.#say(messageOf(error));
      }
    }
    return this.#library;
  }

  // ------------------------------------------------------------ libraries

  #heard(process: TargetProcess, event: Event): void {
    if (event.event !== 'native') {
      this.#note(process, event);
      this.#emitter.emit('control', process, event);
    } else if (event.kind === 'ready') {
      this.#side(process).places = event;
      this.#tellWaiting();
      this.#follow(this.#look());
    } else this.#follow(this.#loading(process, event));
  }

  /** Threads that stand at lines are known by the system's numbers: native code is asked for by them. */
  #note(process: TargetProcess, event: Event): void {
    if (event.event === 'held' && event.hold.thread !== undefined) {
      const { id, thread, call, task, taskName } = event.hold;
      const side = this.#side(process);
      side.lines.set(id, { thread, call });
      side.tasks.set(thread, { id: task, name: taskName });
    } else if (event.event === 'task' && event.change === 'exited') {
      const { tasks } = this.#sides.get(process.index) ?? {};
      for (const [thread, { id }] of tasks ?? []) if (id === event.task) tasks?.delete(thread);
    } else if (event.event === 'resumed') this.#sides.get(process.index)?.lines.delete(event.hold);
  }

  /** A library is about to be loaded; its thread waits for us. */
  async #loading(process: TargetProcess, { id, path }: NativeLoadEvent): Promise<void> {
    try {
      // What loads libraries by itself, unseen, is to find us attached.
      const sources = this.#sources;
      const mayHold = sources.length > 0 && (/_cffi_backend/.test(path) || this.#built.mayHold(path, sources));
      if (this.#faults || mayHold) {
        await this.#attach(this.#side(process));
      } else this.#noteSilent([path]);
    } finally {
      await this.inner.request(process, 'nativePass', { id });
    }
  }

  /** Attaches where code of a breakpoint's file is loaded already. */
  async #look(): Promise<void> {
    const sources = this.#sources;
    const faults = this.#faults;
    if (sources.length === 0 && !faults) return;
    const ready = [...this.#sides.values()].filter(({ places }) => places !== undefined);
    for (const { process } of ready) this.#noteSilent(mapped(process.hello.pid));
    const sides = ready.filter(({ process }) => faults || this.#built.isLoaded(process.hello.pid, sources));
    await Promise.all(sides.map((side) => this.#attach(side)));
  }

  #attach(side: Side): Promise<Inside | undefined> {
    // What we let go may load the next library while it goes on.
    if (this.#leaving) return Promise.resolve(undefined);
    side.attached ??= this.#attachTo(side).then(
      (made) => (side.now = made),
      (error: unknown) => {
        side.attached = undefined;
        const { pid, name } = side.process.hello;
        this.#say(this.#whyNot(error, pid, name));
        return undefined;
      },
    );
    return side.attached;
  }

  async #attachTo(side: Side): Promise<Inside> {
    const { process } = side;
    const made = new Inside(await this.#delegates.take(), {
      ...this.#told(process, process.hello.pid, process.hello.name),
      places: () => side.places,
      taskOf: (thread) => side.tasks.get(thread),
      still: (still) => this.inner.setStill(process, still),
      faulted: () => this.inner.noteFault(process),
      gone: () => {
        side.attached = side.now = undefined;
      },
    });
    await this.#begin(made);
    return made;
  }

  /** Attaches with the breakpoints there are, also those that came while it did. */
  async #begin(made: Attached): Promise<void> {
    let given = this.#configuration;
    await made.start(this.#forNative());
    while (given !== this.#configuration) {
      given = this.#configuration;
      await made.configure(this.#forNative());
    }
  }

  #told(process: TargetProcess, pid: number, name: string): Omit<AttachedOptions, 'gone'> & { justMyCode(): boolean } {
    return {
      justMyCode: () => this.#configuration?.justMyCode ?? true,
      log: this.#log,
      pid,
      name,
      control: (event) => this.#emitter.emit('control', process, event),
      notice: (category, text) => this.#emitter.emit('notice', category, text),
    };
  }

  #side(process: TargetProcess): Side {
    let side = this.#sides.get(process.index);
    if (side === undefined) this.#sides.set(process.index, (side = { process, lines: new Map(), tasks: new Map() }));
    return side;
  }

  // ------------------------------------------------------------ programs

  /** A program stands before its `main`. */
  async #program(pid: number, by: Starter): Promise<void> {
    if (this.#leaving || this.#sources.length === 0) return;
    if (!this.#built.isLoaded(pid, this.#sources)) return this.#noteSilent(mapped(pid));
    // One that became another program by `exec` has its debugger already.
    if (this.#children.has(pid)) return;
    // Python's own processes have gates of their own.
    if (this.inner.processes.some(({ hello }) => hello.pid === pid)) return;
    try {
      await this.#attachChild(pid, by);
    } catch (error) {
      this.#say(this.#whyNot(error, pid, programName(pid)));
    }
  }

  async #attachChild(pid: number, by: Starter): Promise<void> {
    const name = programName(pid);
    const process: TargetProcess = {
      index: this.inner.indexFor(`native-${pid}-${Date.now().toString(16)}`),
      hello: helloOf(pid, by.pid, name),
    };
    const made = new Child(await this.#delegates.take(), {
      ...this.#told(process, pid, name),
      process,
      look: () => this.#callerOf(by),
      gone: (crashed) => {
        if (this.#children.delete(pid)) this.#emitter.emit('processEnded', process, crashed);
      },
    });
    this.#children.set(pid, made);
    this.#emitter.emit('processStarted', process);
    try {
      await this.#begin(made);
    } catch (error) {
      this.#children.delete(pid);
      this.#emitter.emit('processEnded', process, false);
      throw error;
    }
    // The next one is to find a debugger as ready as this one did.
    this.#delegates.warm();
  }

  async #callerOf(by: Starter): Promise<Caller | undefined> {
    const process = this.inner.processes.find(({ hello }) => hello.pid === by.pid);
    if (process === undefined || by.call === 0) return undefined;
    const found = await this.request(process, 'nativeLook', { call: by.call, thread: by.thread });
    return { ...found, process: process.index, ask: (name, args, signal) => this.request(process, name, args, signal) };
  }

  #everyAttached(): Attached[] {
    const inside = [...this.#sides.values()].flatMap(({ now }) => (now === undefined ? [] : [now]));
    return [...inside, ...this.#children.values()];
  }

  // ------------------------------------------------------------ requests

  request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const child = [...this.#children.values()].find((one) => one.process === process);
    if (child !== undefined) return child.request(name, args, signal);
    const inside = this.#sides.get(process.index)?.now;
    if (inside?.holds(args)) return inside.request(name, args, signal);
    if (inside !== undefined && NATIVE_REQUESTS.has(name)) return inside.request(name, args, signal);
    if (inside?.isStill) return this.#whileStill(process, name, args);
    if (name === 'release') return this.#release(process, args as Release, signal);
    return this.inner.request(process, name, args, signal);
  }

  /** From a line of Python a step in goes into native code, too, where some is loaded that was built here. */
  async #release(process: TargetProcess, args: Release, signal?: AbortSignal): Promise<Record<string, never>> {
    const line = this.#sides.get(process.index)?.lines.get(args.hold);
    const goesIn = line !== undefined && args.step === 'in' && args.granularity !== 'instruction';
    const native = goesIn ? await this.#enters(process, line) : undefined;
    return this.inner.request(process, 'release', { ...args, ...(native && { native }) }, signal);
  }

  async #enters(
    process: TargetProcess,
    line: { thread: number; call: number | undefined },
  ): Promise<Release['native']> {
    if (!this.options.children || this.#leaving) return undefined;
    const { paths, large } = this.#own.libraries(process.hello.pid);
    for (const path of large) {
      this.#say(`${basename(path)} has too much debug information to be stepped into; set a breakpoint in its source.`);
    }
    const side = this.#side(process);
    if (side.refused && side.now === undefined) return undefined;
    if (paths.length === 0 || !(await this.#delegates.areThere())) return undefined;
    if (!this.#stepsInside) {
      this.#stepsInside = true;
      await this.#configurePython();
    }
    const inside = await this.#attach(side);
    side.refused = inside === undefined;
    return inside?.expect({ ...line, libraries: paths });
  }

  /** What a process that stands still can be asked: it hears it when it goes on. */
  #whileStill<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
  ): Promise<ControlRequests[K]['body']> {
    const empty: Partial<{ [N in keyof ControlRequests]: ControlRequests[N]['body'] }> = {
      tasks: { tasks: [] },
      names: { names: [] },
      sources: { sources: [] },
      pause: {},
    };
    const body = empty[name];
    if (body === undefined) {
      return Promise.reject(
        new UserError(
          `${process.hello.name} is stopped in native code, which stops all of it. Continue that thread first.`,
        ),
      );
    }
    if (name === 'pause') {
      this.inner.request(process, name, args).catch((error: unknown) => this.#log.info(`pause: ${messageOf(error)}`));
    }
    return Promise.resolve(body as ControlRequests[K]['body']);
  }

  setStopFlag(stop: boolean): void {
    this.inner.setStopFlag(stop);
  }

  // ------------------------------------------------------------ the end

  #ended(...[process, ...how]: TargetEvents['processEnded']): void {
    const side = this.#sides.get(process.index);
    this.#sides.delete(process.index);
    this.inner.setStill(process, false);
    if (side?.now !== undefined) this.#follow(side.now.leave());
    this.#emitter.emit('processEnded', process, ...how);
  }

  async #exited(code: number | undefined): Promise<void> {
    await this.#letGo();
    this.#emitter.emit('exited', code);
  }

  /** Every debugger of native code says goodbye; what it held goes on. */
  async #letGo(): Promise<void> {
    this.#leaving = true;
    this.#door?.close();
    this.#door = undefined;
    // One that is on its way is waited for: it must not be left attached.
    await Promise.all([...this.#sides.values()].flatMap(({ attached }) => attached ?? []));
    const all = this.#everyAttached();
    await Promise.all([...all.map((one) => one.leave()), this.#delegates.close()]);
  }

  async terminate(): Promise<void> {
    await this.#letGo();
    await this.inner.terminate();
  }

  async kill(): Promise<void> {
    await this.inner.kill();
    await this.#letGo();
  }

  async detach(): Promise<void> {
    await this.#letGo();
    await this.inner.detach();
  }

  #follow(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#log.warn('native code', error));
  }

  /** Why a debugger could not attach. */
  #whyNot(error: unknown, pid: number, name: string): string {
    const refused = error instanceof DelegateError && error.why === 'refused';
    return refused ? attachRefused(error.message, pid, name) : messageOf(error);
  }

  #say(sentence: string): void {
    this.#log.warn(sentence);
    if (this.#said.has(sentence)) return;
    this.#said.add(sentence);
    this.#emitter.emit('notice', 'important', sentence);
  }
}

function isNative({ target }: Breakpoint): boolean {
  return target.type === 'source' && isNativeSource(target.path);
}

/** As a runtime would say it of itself. */
function helloOf(pid: number, parentPid: number, name: string): Hello {
  return {
    event: 'hello',
    version: PROTOCOL_VERSION,
    token: '',
    runtime: toolbreakVersion(),
    language: 'native',
    languageVersion: '',
    pid,
    parentPid,
    process: `native-${pid}`,
    name,
    argv: [name],
    cwd: '',
    executable: name,
    frameworks: [],
  };
}

function usualWait(children: boolean): string {
  return children
    ? 'Waiting for a library or program that was built from this file to be loaded.'
    : 'Waiting for a library that was built from this file to be loaded. Programs that the app starts are not looked at: "subProcess" is false in launch.json.';
}

function silentSentence(file: string): string {
  return `${basename(file)} is loaded, but it was built without debug information, so its lines are not known. Compile it with -g, and start again.`;
}
