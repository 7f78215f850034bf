import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { isAlive, signal } from '../../common/processes';

const HALT_WITHIN = 4_000;
/** A signal that comes while the debugger itself stops the program for a moment is lost. */
const AGAIN_AFTER = 250;
/** A program that is stopped already takes no notice of being stopped; this long a look must show the same. */
const STILL_FOR = 300;
const LOOK_EVERY = 10;

/**
 * Stops a program that is to be left by its debugger. lldb may hang, or end the program, when it has to leave while threads are running into breakpoints; not
 * when the program stands still. A signal stops it for sure, where a request to pause may be lost among conditions that are not met. `goOn` afterwards.
 *
 * `heard`: the debugger has said that it stands still. `over`: there is nothing to wait for any more. `sent`: a signal is on its way; there
 * may be several. Answers whether it stands still.
 */
export async function halt(
  pid: number,
  { heard, over, sent }: { heard(): boolean; over(): boolean; sent?(): void },
): Promise<boolean> {
  let last = 0;
  let since: number | undefined;
  for (const end = Date.now() + HALT_WITHIN; Date.now() < end && !over();) {
    if (heard()) return true;
    const now = Date.now();
    since = isStoppedAlready(pid) ? (since ?? now) : undefined;
    if (since !== undefined && now - since >= STILL_FOR) return true;
    if (now - last >= AGAIN_AFTER && !isWaiting(pid)) {
      if (!signal(pid, 'SIGSTOP')) return false;
      sent?.();
      last = now;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
  return false;
}

/** A process that our signal left stopped goes on. */
export function goOn(pid: number): void {
  if (stateOf(`/proc/${pid}/stat`) === 'T' || isWaiting(pid)) signal(pid, 'SIGCONT');
}

/** Whether a debugger holds it; where the platform does not tell: it does. */
export function isTraced(pid: number): boolean {
  const status = textOf(`/proc/${pid}/status`);
  return status === undefined ? isAlive(pid) : !/^TracerPid:\s+0$/m.test(status);
}

/** All its threads stand still in their debugger's hands, and our signal waits. */
function isStoppedAlready(pid: number): boolean {
  if (!isWaiting(pid)) return false;
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => stateOf(`/proc/${pid}/task/${thread}/stat`) === 't');
  } catch {
    return false;
  }
}

/** Our signal has not reached it yet. */
function isWaiting(pid: number): boolean {
  const pending = /^ShdPnd:\s*([0-9a-f]+)$/m.exec(textOf(`/proc/${pid}/status`) ?? '')?.[1] ?? '0';
  return (BigInt(`0x${pending}`) & (1n << BigInt(constants.signals.SIGSTOP - 1))) !== 0n;
}

/** `t`: in a debugger's hands, `T`: stopped by a signal. */
function stateOf(stat: string): string | undefined {
  return /^.*\) (\w)/s.exec(textOf(stat) ?? '')?.[1];
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended, or this platform has no such file.
    return undefined;
  }
}
