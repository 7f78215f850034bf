import { readFileSync, statSync } from 'node:fs';
import { readableError } from './quirks';

/** What a debugger said when it could not attach, with what to do about it. `me`: the number of our user. */
export function attachRefused(text: string, pid: number, name: string, me = process.getuid?.()): string {
  const sentence = `${name.replace(/^process /, 'Process ')} could not be attached to: ${readableError(text)}`;
  const owner = ownerOf(pid);
  // lldb-dap 19 only says that it lost the connection.
  if (me !== undefined && me !== 0 && owner !== undefined && owner !== me)
    return `${sentence} It belongs to another user (${owner === 0 ? 'root' : `number ${owner}`}): attach as that user, or as root.`;
  const tracer = tracerOf(pid);
  if (tracer !== 0) return `${sentence} Another debugger (process ${tracer}) is attached to it already: end that one.`;
  if (!/not permitted|permission|ptrace/i.test(text)) return sentence;
  return `${sentence} Attaching needs the same user, and that the system allows it: "sudo sysctl kernel.yama.ptrace_scope=0" does so until the next start; a container needs "--cap-add=SYS_PTRACE".`;
}

/** The number of the user whom it belongs to; nothing where the platform does not tell. */
function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

/** Who debugs it; 0 where nobody does, or the platform does not tell. */
function tracerOf(pid: number): number {
  try {
    return Number(/^TracerPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
