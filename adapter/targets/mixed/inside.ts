import type {
  ControlRequests,
  Frame,
  Hold,
  NativeReadyEvent,
  Release,
  Scope,
  Variable,
} from '../../../protocol/control';
import { messageOf, UserError } from '../../common/errors';
import { isCrash } from '../native/quirks';
import { Attached, codeFiles, nextNumber, OURS, type AttachedOptions, type Event } from './attached';
import type { Delegate } from './delegates';
import { glueBy, joinStacks, type Joined } from './join';
import { readPythonStack, type PythonLocal, type PythonStack } from './pythonStack';
import { StepIn, type Entering } from './stepIn';
import { StepBack, wayBack, type Way } from './steps';

export interface InsideOptions extends AttachedOptions {
  places(): NativeReadyEvent | undefined;
  /** The task that a thread is known to run, outside of any call, too. */
  taskOf(thread: number): { id: number; name: string } | undefined;
  justMyCode(): boolean;
  /** The whole process stands still, or goes on. */
  still(still: boolean): void;
  /** A fault is shown where it happens. */
  faulted(): void;
}

/** One task that stands still in native code. */
interface Stopped {
  native: number;
  hold: Hold;
  python: PythonStack | undefined;
  /** Where the next step out, and perhaps one over the end, leaves native code. */
  back: Way | undefined;
  locals: Joined['locals'];
}

const STILL =
  'While the program is stopped in native code, Python values can only be looked at, and no Python code runs.';

/**
 * Native code in a Python process. A stop there is a hold of the task whose thread stopped: C frames, then the Python lines and calls that
 * the process's memory tells of. All of the process stands still meanwhile, also what answers in it.
 */
export class Inside extends Attached {
  readonly #stopped = new Map<number, Stopped>();
  readonly #values = new Map<number, PythonLocal[]>();
  readonly #refs = new Map<number, number>();

  readonly #back: StepBack;
  readonly #into: StepIn;

  constructor(
    delegate: Delegate,
    protected override readonly options: InsideOptions,
  ) {
    super(delegate, options);
    this.#back = new StepBack(delegate.client);
    this.#into = new StepIn(delegate.client, options.pid, options.places);
  }

  get isStill(): boolean {
    return this.native.isHeld;
  }

  /** A step in from a line of Python is about to be released: what the thread is to be told with it. */
  expect(entering: Entering): Release['native'] {
    return this.isStill ? undefined : this.#into.expect(entering);
  }

  /** Whether a request is about one of its stops. */
  holds(args: object): boolean {
    return 'hold' in args && typeof args.hold === 'number' && args.hold >= OURS;
  }

  // ------------------------------------------------------------ what it says

  protected heard(event: Event): void {
    if (event.event === 'held') {
      this.options.still(true);
      this.#held(event.hold).catch((error: unknown) => {
        this.#goOn();
        this.goOn(event.hold.id, error);
      });
    } else if (event.event === 'resumed') {
      const found = [...this.#stopped.values()].find(({ native }) => native === event.hold);
      this.#goOn();
      if (found !== undefined) {
        this.options.control({ ...event, hold: found.hold.id, task: found.hold.task });
      }
      // Its threads are known by their tasks, and the app says itself when it ends.
    } else if (event.event !== 'task' && event.event !== 'bye') this.options.control(event);
  }

  async #held(given: Hold): Promise<void> {
    if (await this.#into.announced(given)) return this.#passOn(given);
    const native = await this.frames(given.id, given);
    const fileOf = codeFiles(this.options.pid);
    const isGlue = glueBy(fileOf);
    if (this.#back.isPending && (await this.#passes(given, native, isGlue))) return;
    const python = this.#python(given.task);
    const step = await this.#into.at(given, python);
    if (step === 'passing') return this.#passOn(given);
    const [call] = python?.calls ?? [];
    const task = call?.task ??
      this.options.taskOf(given.task) ?? { id: OURS + given.task, name: `thread ${given.task}` };
    const made: Stopped = {
      native: given.id,
      python,
      back: python && wayBack(given.task, native, fileOf),
      locals: new Map(),
      hold: {
        ...given,
        ...(step === 'arrived' && { reason: 'step' as const, description: 'Paused on step' }),
        id: nextNumber(),
        task: task.id,
        taskName: task.name,
        ...(call && { call: call.number }),
        moreFrames: false,
        // The other tasks are where they are: nothing can be asked of them, and each is told to go on by itself.
        whole: false,
      },
    };
    made.hold.frames = this.#join(made, native);
    if (!this.native.isHeld) return;
    this.#stopped.set(made.hold.id, made);
    if (isFault(given)) this.options.faulted();
    this.options.control({ event: 'held', hold: made.hold });
  }

  /** A stop on the way back to Python is nobody's to see. */
  async #passes(given: Hold, native: Frame[], isGlue: (frame: Frame) => boolean): Promise<boolean> {
    if (!(await this.#back.passes(given.task, native, given.reason === 'step', isGlue))) return false;
    await this.#passOn(given);
    return true;
  }

  async #passOn(given: Hold): Promise<void> {
    this.#goOn();
    await this.native.request('release', { hold: given.id, action: 'continue', client: '' });
  }

  #python(thread: number): PythonStack | undefined {
    const places = this.options.places();
    try {
      return places && readPythonStack(this.options.pid, thread, places);
    } catch (error) {
      this.options.log.warn(`Python frames of thread ${thread}: ${messageOf(error)}`);
      return undefined;
    }
  }

  #join(stopped: Stopped, native: Frame[]): Frame[] {
    const places = this.options.places();
    const joined = joinStacks(native, stopped.python, {
      library: places?.library ?? '',
      own: places?.own ?? '',
      justMyCode: this.options.justMyCode(),
      fileOf: codeFiles(this.options.pid),
      nextId: nextNumber,
    });
    stopped.locals = joined.locals;
    return joined.frames;
  }

  /** What was known of the last stop is over. */
  #goOn(): void {
    this.#stopped.clear();
    this.#values.clear();
    this.#refs.clear();
    this.options.still(false);
  }

  protected override awaits(thread: number | undefined): boolean {
    return thread !== undefined && this.#into.isUnderWay(thread);
  }

  protected override first(): string[] {
    const gate = this.options.places()?.gate;
    return gate ? [`breakpoint set -a 0x${gate.toString(16)}`] : [];
  }

  protected ended(): void {
    const left = [...this.#stopped.values()];
    this.#goOn();
    for (const { hold } of left)
      this.options.control({ event: 'resumed', hold: hold.id, task: hold.task, why: 'release' });
  }

  // ------------------------------------------------------------ what it is asked

  async request<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const about = args as { hold?: number; frame?: number; ref?: number; start?: number; expression?: string };
    if (about.hold === undefined) return this.native.request(name, args, signal);
    const stopped = this.#stopped.get(about.hold);
    if (stopped === undefined) throw new UserError('This frame is gone: the program went on.');
    const translated = { ...args, hold: stopped.native };
    if (name === 'release') return this.#release(stopped, { ...(args as unknown as Release), hold: stopped.native });
    if (name === 'frames') {
      // Nothing in them depends on values, and their numbers are to last as long as the hold.
      return { frames: stopped.hold.frames.slice(about.start ?? 0) } as ControlRequests[K]['body'];
    }
    if (isOurs(about.frame) || isOurs(about.ref))
      return this.#ofPython(stopped, name, about) as ControlRequests[K]['body'];
    return this.native.request(name, translated, signal);
  }

  async #release(stopped: Stopped, args: Release): Promise<Record<string, never>> {
    const before = [...this.#stopped];
    const { step, ...rest } = args;
    const [top] = stopped.hold.frames;
    const leaves = step !== undefined && args.granularity !== 'instruction' && stopped.back !== undefined;
    if (leaves) await this.#back.begin(stopped.back!, top!.id);
    this.#goOn();
    try {
      // Out of the outermost native function it goes straight to Python.
      return await this.native.request('release', leaves && step === 'out' && this.#back.isPending ? rest : args);
    } catch (error) {
      // It did not go: everything is as it was.
      if (this.native.isHeld) {
        for (const [id, one] of before) this.#stopped.set(id, one);
        this.options.still(true);
      }
      throw error;
    }
  }

  /** Python's side, as its memory said. */
  #ofPython(stopped: Stopped, name: string, about: { frame?: number; ref?: number; expression?: string }): unknown {
    const found = stopped.locals.get(about.frame ?? 0);
    switch (name) {
      case 'scopes':
        return { scopes: found === undefined ? [] : [this.#scope(about.frame!, found)] };
      case 'variables':
        return { variables: (this.#values.get(about.ref!) ?? []).map(asVariable) };
      case 'completions':
        return { targets: (found?.values ?? []).map((one) => ({ label: one.name, type: 'variable' })) };
      case 'evaluate': {
        const value = found?.values.find((one) => one.name === about.expression?.trim());
        if (value !== undefined) return asVariable(value);
      }
    }
    throw new UserError(STILL);
  }

  #scope(frame: number, { scope, values }: { scope: 'Locals' | 'Arguments'; values: PythonLocal[] }): Scope {
    let ref = this.#refs.get(frame);
    if (ref === undefined) {
      ref = nextNumber();
      this.#refs.set(frame, ref);
      this.#values.set(ref, values);
    }
    const hint = scope === 'Locals' ? 'locals' : 'arguments';
    return { name: scope, hint, ref, named: values.length, expensive: false };
  }
}

function isFault({ reason, description }: Hold): boolean {
  return reason === 'exception' && isCrash({ name: /^Paused on (\w+)$/.exec(description)?.[1] ?? '' });
}

function isOurs(number: number | undefined): boolean {
  return number !== undefined && number >= OURS;
}

function asVariable({ name, value, type }: PythonLocal): Variable {
  return { name, value, type, ref: 0, editable: false, attributes: ['readOnly'] };
}
