import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Frame } from '../../../protocol/control';
import { isCrash, type Signal } from './quirks';

/**
 * A fault that was let go on and comes again out of the same place: a handler in the process (Python's `faulthandler` is one, and may be on) noted
 * it, and lets it happen. That is no news, once. It comes from below that handler, or where it was once the handler has taken itself away: one that stays
 * has recovered from it, such as by siglongjmp, and the next one is another fault.
 */
export class RepeatedFault {
  #last: { thread: number; signal: string; instruction: string } | undefined;

  constructor(private readonly isHandled: (signal: string) => boolean) {}

  /** Whether this stop is the fault of the stop before it. Any stop that is told is noted for the next. */
  isAgain(thread: number, signal: Signal | undefined, frames: readonly Frame[]): boolean {
    const last = this.#last;
    this.#last = undefined;
    if (signal === undefined || !isCrash(signal)) return false;
    if (last?.thread === thread && last.signal === signal.name) {
      const depth = frames.findIndex(({ instruction }) => instruction === last.instruction);
      if (depth > 0 || (depth === 0 && !this.isHandled(signal.name))) return true;
    }
    const instruction = frames[0]?.instruction;
    if (instruction !== undefined) this.#last = { thread, signal: signal.name, instruction };
    return false;
  }
}

/** Whether the process has a handler for this signal; not where the platform does not tell. */
export function isHandled(pid: number, signal: string): boolean {
  const number = (constants.signals as Record<string, number>)[signal];
  if (number === undefined || process.platform !== 'linux') return false;
  try {
    const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return (BigInt(`0x${caught}`) & (1n << BigInt(number - 1))) !== 0n;
  } catch {
    // It has ended.
    return false;
  }
}
