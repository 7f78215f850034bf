import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { frame } from '../../common/framing';
import { isAlive, signal } from '../../common/processes';
import { goOn, halt, isTraced } from './halt';

/*
 * A process of its own: it outlives the adapter, and lets go what the adapter's delegate holds when the adapter dies.
 *
 * A debugger that notices the end of its input while the program runs into its breakpoints may leave one of them in the program, which ends it.
 * So this process has the delegate's input open, too: with the adapter's death it does not end. The program is stopped, the delegate says that
 * it is, is told to disconnect, and the program goes on. Until then this process does nothing.
 *
 * Arguments: the delegate's process. Standard input: a line with the process that the delegate holds, and whether it ends with it, or `over`; its end is the adapter's.
 * 3: the delegate's input. 4: its output.
 */

const DISCONNECT_WITHIN = 5_000;
const END_WITHIN = 10_000;
const LOOK_EVERY = 10;

const delegate = Number(process.argv[2]);
let held = 0;
/** It was launched, and ends with its debugger. */
let ends = false;
let over = false;

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === 'over') over = true;
  else [held, ends] = [Number(line.split(' ')[0]), line.endsWith(' ends')];
});
lines.on('close', () => {
  if (over) process.exit();
  takeOver().then(
    () => process.exit(),
    () => process.exit(1),
  );
});

async function takeOver(): Promise<void> {
  const output = new Socket({ fd: 4, readable: true, writable: false });
  let said = '';
  // Nobody else reads it any more; one that cannot write would hang.
  output.on('data', (chunk: Buffer) => (said = (said + chunk.toString('latin1')).slice(-4096)));
  output.on('error', () => output.destroy());
  const input = new Socket({ fd: 3, readable: false, writable: true });
  input.on('error', () => input.destroy());
  // One that has begun nothing has nothing to disconnect from.
  if (ends) signal(held, 'SIGKILL');
  else if (held > 0) {
    const heard = (): boolean => said.includes('SIGSTOP');
    if (isTraced(held)) await halt(held, heard, () => !isAlive(delegate));
    const disconnect = { seq: 2 ** 30, type: 'request', command: 'disconnect' };
    input.write(frame({ ...disconnect, arguments: { terminateDebuggee: false } }));
    await untilEnded(DISCONNECT_WITHIN);
  }
  input.end();
  await untilEnded(END_WITHIN);
  if (ends) signal(delegate, 'SIGKILL');
  else if (held > 0) goOn(held);
}

/** Until there is no delegate any more, or the time has passed. */
async function untilEnded(within: number): Promise<void> {
  for (const end = Date.now() + within; Date.now() < end && isAlive(delegate);) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
}
