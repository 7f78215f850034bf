import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { frame } from '../../common/framing';
import { isAlive, signal, startTimeOf } from '../../common/processes';
import type { Held, Watched } from './guard';
import { goOn, halt, isTraced } from './halt';

/*
 * A process of its own: it outlives the adapter, and lets go what the adapter's delegate holds when the adapter dies.
 *
 * A debugger that notices the end of its input while the program runs into its breakpoints may leave one of them in the program, which ends it.
 * So this process has the delegate's input open, too: with the adapter's death it does not end. The program is stopped, the delegate says that
 * it is, is told to disconnect, and the program goes on. Until then this process does nothing.
 *
 * Arguments: the delegate's process, and what it holds if that is known (`Held`): an adapter that dies in this moment says no more. Standard input:
 * a line with the process that the delegate holds (`Watched`), or `over`; its end is the adapter's.
 * 3: the delegate's input. 4: its output.
 */

const DISCONNECT_WITHIN = 5_000;
const END_WITHIN = 10_000;
const SPEAK_WITHIN = 3_000;
const LOOK_EVERY = 10;
/** So much may have been said before we asked, and lain in its pipe. */
const OLD = 128 * 1024;
/** A number that the adapter does not come to. */
const ASKED = 2 ** 30;

const delegate = Number(process.argv[2]);
const delegateBorn = startTimeOf(delegate);
let held = process.argv[3] === undefined ? undefined : seen(JSON.parse(process.argv[3]) as Held);
let over = false;

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === 'over') over = true;
  else {
    const { born, ...watched } = JSON.parse(line) as Watched;
    held = { ...watched, born: Promise.resolve(born) };
  }
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
  let length = 0;
  let answered = false;
  // Nobody else reads it any more; one that cannot write would hang.
  output.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('latin1')).slice(-4096);
    length += chunk.length;
    answered ||= length > OLD || new RegExp(`"request_seq":\\s*${ASKED}\\b`).test(said);
  });
  output.on('error', () => output.destroy());
  const input = new Socket({ fd: 3, readable: false, writable: true });
  input.on('error', () => input.destroy());
  const ask = (seq: number, command: string, args: object): void => {
    input.write(frame({ seq, type: 'request', command, arguments: args }));
  };
  const mine = held !== undefined && (await isSame(held.pid, await held.born)) ? held : undefined;
  // One that has begun nothing has nothing to disconnect from.
  if (mine?.ends) signal(mine.pid, 'SIGKILL');
  else if (mine) {
    const heard = (): boolean => said.includes('SIGSTOP');
    if (isTraced(mine.pid)) {
      ask(ASKED, 'threads', {});
      await until(() => answered || !isAlive(delegate), SPEAK_WITHIN);
      // A debugger that hangs would leave it stopped.
      if (answered) await halt(mine.pid, { heard, over: () => !isAlive(delegate) });
    }
    ask(ASKED + 1, 'disconnect', { terminateDebuggee: false });
    if (answered || !isTraced(mine.pid)) await untilEnded(DISCONNECT_WITHIN);
  }
  input.end();
  await untilEnded(END_WITHIN);
  if (held?.ends && (await isSame(delegate, await delegateBorn))) signal(delegate, 'SIGKILL');
  else if (mine && (await isSame(mine.pid, await mine.born))) goOn(mine.pid);
}

function seen(held: Held): Held & { born: Promise<string | undefined> } {
  return { ...held, born: startTimeOf(held.pid) };
}

/** Whether a process is still the one that it was, and no other that got its number. */
async function isSame(pid: number, born: string | undefined): Promise<boolean> {
  return born !== undefined && (await startTimeOf(pid)) === born;
}

/** Until there is no delegate any more, or the time has passed. */
function untilEnded(within: number): Promise<void> {
  return until(() => !isAlive(delegate), within);
}

async function until(condition: () => boolean, within: number): Promise<void> {
  for (const end = Date.now() + within; Date.now() < end && !condition();) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
}
