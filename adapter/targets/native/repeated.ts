import type { Frame } from '../../../protocol/control';
import { isCrash, type Signal } from './quirks';

/**
 * A fault that was let go on and comes again out of the same place: a handler in the process (Python's `faulthandler` is one, and may be on) noted
 * it, and lets it happen. That is no news, once.
 */
export class RepeatedFault {
  #last: { thread: number; signal: string; instruction: string } | undefined;

  /** Whether this stop is the fault of the stop before it. Any stop that is told is noted for the next. */
  isAgain(thread: number, signal: Signal | undefined, frames: readonly Frame[]): boolean {
    const last = this.#last;
    this.#last = undefined;
    if (signal === undefined || !isCrash(signal)) return false;
    if (
      last?.thread === thread &&
      last.signal === signal.name &&
      frames.some(({ instruction }) => instruction === last.instruction)
    )
      return true;
    const instruction = frames[0]?.instruction;
    if (instruction !== undefined) this.#last = { thread, signal: signal.name, instruction };
    return false;
  }
}
