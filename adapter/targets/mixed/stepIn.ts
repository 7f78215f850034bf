import { basename } from 'node:path';
import type { Frame, Hold, NativeReadyEvent, Release } from '../../../protocol/control';
import type { DelegateClient } from '../delegate/client';
import { overtake } from './memory';
import { isOwnSource } from './own';
import type { PythonStack } from './pythonStack';

/** A step in from a line of Python. */
export interface Entering {
  /** The system's number of the thread that steps. */
  thread: number;
  /** The call that the line runs in. */
  call: number | undefined;
  /** Where functions may be gone into. */
  libraries: readonly string[];
}

interface Step extends Entering {
  number: number;
  /** Its thread has said that it goes on now. */
  begun: boolean;
  /** All functions of the libraries, for this thread: the delegate's number. */
  breakpoint?: string;
}

let steps = 0;

/**
 * Steps from a line of Python into a function of native code. Before such a step begins, and when it ends without having come there, its thread calls a
 * function that is watched: only while the process stands still can the beginnings of many functions be watched in a moment, where one of them would
 * take a tenth of a second else. A step that came to native code ends there: the thread finds that told in its memory.
 */
export class StepIn {
  readonly #steps = new Map<number, Step>();

  constructor(
    private readonly client: DelegateClient,
    private readonly pid: number,
    private readonly places: () => NativeReadyEvent | undefined,
  ) {}

  /** What the thread is to be told with its release; nothing where it cannot be done. */
  expect(entering: Entering): Release['native'] {
    if (!this.places()?.gate) return undefined;
    const number = ++steps;
    // One that is watched still is taken away when this one begins.
    const { breakpoint } = this.#steps.get(entering.thread) ?? {};
    this.#steps.set(entering.thread, {
      ...entering,
      number,
      begun: false,
      ...(breakpoint !== undefined && { breakpoint }),
    });
    return { step: number };
  }

  /** Whether a thread is on its way. */
  isUnderWay(thread: number): boolean {
    return this.#steps.get(thread)?.begun === true;
  }

  /** Whether a thread stopped only to say that its step begins or ends; then all is done for that. */
  async announced({ task, frames: [top] }: Hold): Promise<boolean> {
    if (top === undefined || Number(top.instruction) !== this.places()?.gate) return false;
    const step = this.#steps.get(task);
    const begins = step?.begun === false;
    // A step may end in another thread than its own.
    const over = step === undefined ? [...this.#steps.values()].filter(({ begun }) => begun) : [step];
    for (const one of over) await this.#unwatch(one, top);
    if (begins) await this.#watch(step, top);
    else for (const one of over) this.#steps.delete(one.thread);
    return true;
  }

  /**
   * What a stop of a thread is for its step: it came into native code; it is on its way there, in code that is nobody's here; or it stopped for something
   * else. Whatever it stops for, its step is over.
   */
  async at(hold: Hold, python: PythonStack | undefined): Promise<'arrived' | 'passing' | 'other'> {
    const step = this.#steps.get(hold.task);
    const [top] = hold.frames;
    if (step === undefined || !step.begun || top === undefined) return 'other';
    const unknown = hold.reason === 'breakpoint' && hold.breakpoints.length === 0;
    if (unknown && !(isOwnSource(top.path) && isInside(step, python))) return 'passing';
    await this.#unwatch(step, top);
    this.#steps.delete(step.thread);
    overtake(this.pid, this.places()?.overtaken, step.number);
    return unknown ? 'arrived' : 'other';
  }

  async #watch(step: Step, frame: Frame): Promise<void> {
    step.begun = true;
    // What the thread was stepped for in native code before, and did not come to, is over.
    await this.#command(`thread select -t ${step.thread}`, frame);
    await this.#command('thread plan discard 1', frame);
    const libraries = step.libraries.map((path) => `-s ${JSON.stringify(basename(path))}`).join(' ');
    const said = await this.#command(`breakpoint set -t ${step.thread} -r . ${libraries}`, frame);
    const breakpoint = /Breakpoint (\d+)/.exec(said)?.[1];
    if (breakpoint !== undefined) step.breakpoint = breakpoint;
  }

  async #unwatch(step: Step, frame: Frame): Promise<void> {
    const { breakpoint } = step;
    delete step.breakpoint;
    if (breakpoint !== undefined) await this.#command(`breakpoint delete ${breakpoint}`, frame);
  }

  async #command(text: string, frame: Frame): Promise<string> {
    const { result } = await this.client.request('evaluate', {
      expression: `\`${text}`,
      context: 'repl',
      frameId: frame.id,
    });
    return result ?? '';
  }
}

/** Other tasks may run in the same thread, and call native code, too. */
function isInside({ call }: Step, python: PythonStack | undefined): boolean {
  return !call || python === undefined || python.calls.some(({ number }) => number === call);
}
