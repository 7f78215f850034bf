import type { Frame } from '../../../protocol/control';
import type { DelegateClient } from '../delegate/client';
import { glueBy, isInterpreter } from './join';

/** The Python function in the app that a step goes on with; it is there as long as anything native is debugged. */
const GO_ON = "__import__('sys').modules['toolbreak._gates'].returned()";
/** It only notes where to stop, and no other thread runs meanwhile. */
const MICROSECONDS = 2_000_000;

/** Where a thread's native code returns to Python. */
export interface Way {
  thread: number;
  /** In the interpreter, where the call of native code comes back. */
  address: number;
}

/** The way back to Python, where the innermost frame is the outermost one of the person's own native code. */
export function wayBack(
  thread: number,
  frames: readonly Frame[],
  fileOf: (frame: Frame) => string | undefined,
): Way | undefined {
  const isGlue = glueBy(fileOf);
  const interpreter = frames.findIndex((frame, index) => index > 0 && isInterpreter(frame, fileOf));
  const own = frames.slice(0, Math.max(interpreter, 0)).filter((frame) => !isGlue(frame));
  const address = Number(frames[interpreter]?.instruction);
  return own.length === 1 && own[0] === frames[0] && address > 0 ? { thread, address } : undefined;
}

/**
 * A step that leaves native code for Python. The place in the interpreter where the native call comes back is watched for this thread once; there
 * the thread has Python's lock and no native code of anybody's is under way, so that it can be told itself to stop at its next line.
 */
export class StepBack {
  #pending: (Way & { breakpoint: string }) | undefined;

  constructor(private readonly client: DelegateClient) {}

  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  async begin(way: Way, frame: number): Promise<void> {
    const said = await this.#command(`breakpoint set -o true -t ${way.thread} -a 0x${way.address.toString(16)}`, frame);
    const breakpoint = /Breakpoint (\d+)/.exec(said)?.[1];
    if (breakpoint !== undefined) this.#pending = { ...way, breakpoint };
  }

  /** Whether a stop is only on the way: then the thread knows what to do, and goes on. */
  async passes(
    thread: number,
    frames: readonly Frame[],
    isStep: boolean,
    isGlue: (frame: Frame) => boolean,
  ): Promise<boolean> {
    const pending = this.#pending;
    const [top] = frames;
    if (pending === undefined || top === undefined || thread !== pending.thread) {
      await this.end(top?.id);
      return false;
    }
    if (Number(top.instruction) === pending.address) {
      this.#pending = undefined;
      // Expressions run in the thread that is selected, whatever frame they name.
      await this.#command(`thread select -t ${thread}`, top.id);
      await this.#command(
        `expression -l c -a false -u true -i true -t ${MICROSECONDS} -- ((int (*)(const char *))PyRun_SimpleString)("${GO_ON}")`,
        top.id,
      );
      return true;
    }
    // A step over the end of the function comes out in what lies between it and Python.
    if (isStep && isGlue(top)) return true;
    await this.end(top.id);
    return false;
  }

  /** The step came to another end. */
  async end(frame: number | undefined): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending !== undefined) await this.#command(`breakpoint delete ${pending.breakpoint}`, frame);
  }

  async #command(text: string, frame: number | undefined): Promise<string> {
    const { result } = await this.client.request('evaluate', {
      expression: `\`${text}`,
      context: 'repl',
      ...(frame === undefined ? {} : { frameId: frame }),
    });
    return result ?? '';
  }
}
