import { constants, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** How a process ended, as the system told its parent: one of both. */
export interface Ended {
  code?: number;
  signal?: string;
}

/** How native code that fails ends its process. */
const FAULTS = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP', 'SIGSYS']);

export function isFault(signal: string): boolean {
  return FAULTS.has(signal);
}

/** `was killed by SIGKILL, by somebody or because the machine's memory was full`. */
export function endedBy(signal: string): string {
  if (signal === 'SIGKILL') return "was killed by SIGKILL, by somebody or because the machine's memory was full";
  return isFault(signal) ? `crashed by ${signal}, a fault in native code` : `was ended by ${signal}`;
}

/**
 * Whether `nohup` started this process, so that the end of the terminal is not to end it. Node has forgotten which signals were ignored; what is
 * left of nohup is a stdin that cannot be read, in place of a terminal, or its own output file. It leaves streams that were no terminals alone;
 * then, and elsewhere than on Linux, nothing tells.
 */
export function startedByNohup(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    if ([1, 2].some((fd) => basename(readlinkSync(`/proc/self/fd/${fd}`)) === 'nohup.out')) return true;
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'latin1'))?.[1] ?? '0';
    return readlinkSync('/proc/self/fd/0') === '/dev/null' && (Number.parseInt(flags, 8) & 3) === constants.O_WRONLY;
  } catch {
    return false;
  }
}

/**
 * Whether the keys of a terminal send their signals to this process and those it started, whatever its streams are; undefined where the system
 * does not tell.
 */
export function hasTerminal(): boolean | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return terminal !== '0' && group === foreground;
  } catch {
    return undefined;
  }
}
