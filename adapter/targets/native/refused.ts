import { readFileSync } from 'node:fs';
import { readableError } from './quirks';

/** What a debugger said when it could not attach, with what to do about it. */
export function attachRefused(text: string, pid: number, name: string): string {
  const sentence = `${name} could not be attached to: ${readableError(text)}`;
  const tracer = tracerOf(pid);
  if (tracer !== 0) return `${sentence} Another debugger (process ${tracer}) is attached to it already: end that one.`;
  if (!/not permitted|permission|ptrace/i.test(text)) return sentence;
  return `${sentence} Attaching needs the same user, and that the system allows it: "sudo sysctl kernel.yama.ptrace_scope=0" does so until the next start; a container needs "--cap-add=SYS_PTRACE".`;
}

/** Who debugs it; 0 where nobody does, or the platform does not tell. */
function tracerOf(pid: number): number {
  try {
    return Number(/^TracerPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
