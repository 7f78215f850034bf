import type { ChildProcess } from 'node:child_process';
import { spawnDelegate } from '../delegate/spawn';
import { chosenDelegate, findLldb } from './discovery';

/** A delegate whose process was started before anything else of us was there; nothing was said to it yet. */
export interface EarlyDelegate {
  command: string;
  child: ChildProcess;
  /** To attach to a process with, and not to launch one. */
  attaches: boolean;
}

/**
 * Starts the delegate that will be needed, where it is found at once. Where it is not, or does not start, whoever needs it finds out again, and says
 * what to do. It ends with its input, so with us.
 */
export function startEarly(chosen: string | undefined, attaches: boolean): EarlyDelegate | undefined {
  const command = findLldb(chosenDelegate(chosen), process.env);
  if (command === undefined) return undefined;
  try {
    const child = spawnDelegate(command, [], { attaches });
    // It has no number where it could not be started.
    child.on('error', () => undefined);
    return child.pid === undefined ? undefined : { command, child, attaches };
  } catch {
    // Such as a program for another machine, or one that is being written.
    return undefined;
  }
}
