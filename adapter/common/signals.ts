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
