import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { frame } from '../../common/framing';
import { isAlive, signal } from '../../common/processes';

/*
 * A process of its own: it outlives the adapter, and lets go what the adapter's delegate holds when the adapter dies.
 *
 * A debugger that notices the end of its input while the program runs into its breakpoints may leave one of them in the program, which ends it.
 * So this process has the delegate's input open, too: with the adapter's death it does not end. The program is stopped, the delegate says that
 * it is, is told to disconnect, and the program goes on. Until then this process does nothing.
 *
 * Arguments: the delegate's process. Standard input: a line with the process that the delegate holds, or `over`; its end is the adapter's.
 * 3: the delegate's input. 4: its output.
 */

const HALT_WITHIN = 2_000;
/** A program that is stopped already takes no notice of being stopped; this long a look must show the same. */
const STILL_FOR = 300;
const DISCONNECT_WITHIN = 5_000;
const END_WITHIN = 10_000;
const LOOK_EVERY = 10;

const delegate = Number(process.argv[2]);
let held = 0;
let over = false;

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === 'over') over = true;
  else held = Number(line);
});
lines.on('close', () => {
  if (over) process.exit();
  takeOver().then(
    () => process.exit(),
    () => process.exit(1),
  );
});

async function takeOver(): Promise<void> {
  let said = '';
  const output = new Socket({ fd: 4, readable: true, writable: false });
  // Nobody else reads it any more; one that cannot write would hang.
  output.on('data', (chunk: Buffer) => (said = (said + chunk.toString('latin1')).slice(-4096)));
  output.on('error', () => output.destroy());
  const input = new Socket({ fd: 3, readable: false, writable: true });
  input.on('error', () => input.destroy());
  if (held > 0 && isTraced(held)) {
    const saidBefore = said.length;
    signal(held, 'SIGSTOP');
    let since: number | undefined;
    await until(HALT_WITHIN, () => {
      since = isStoppedAlready(held) ? (since ?? Date.now()) : undefined;
      return /SIGSTOP/.test(said.slice(saidBefore)) || (since !== undefined && Date.now() - since >= STILL_FOR);
    });
  }
  // One that has begun nothing has nothing to disconnect from.
  if (held > 0) {
    const disconnect = { seq: 2 ** 30, type: 'request', command: 'disconnect' };
    input.write(frame({ ...disconnect, arguments: { terminateDebuggee: false } }));
    await until(DISCONNECT_WITHIN, () => false);
  }
  input.end();
  await until(END_WITHIN, () => false);
  // Our signal may have been given to the program when it was let go.
  if (held > 0 && stateOf(`/proc/${held}/stat`) === 'T') signal(held, 'SIGCONT');
}

/** Until this is so, or the time has passed, or there is no delegate any more. */
async function until(within: number, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + within; Date.now() < end && isAlive(delegate) && !isSo();) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
}

/** Where the platform does not tell: it is. */
function isTraced(pid: number): boolean {
  const status = textOf(`/proc/${pid}/status`);
  return status === undefined ? isAlive(pid) : !/^TracerPid:\s+0$/m.test(status);
}

/** All its threads stand still in their debugger's hands, and our signal waits. */
function isStoppedAlready(pid: number): boolean {
  const pending = BigInt(`0x${/^ShdPnd:\s*([0-9a-f]+)$/m.exec(textOf(`/proc/${pid}/status`) ?? '')?.[1] ?? '0'}`);
  if ((pending & (1n << BigInt(constants.signals.SIGSTOP - 1))) === 0n) return false;
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => stateOf(`/proc/${pid}/task/${thread}/stat`) === 't');
  } catch {
    return false;
  }
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
