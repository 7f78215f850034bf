import type { Log } from '../../common/log';
import { DelegateError, type DelegateClient } from '../delegate/client';
import { goOn, halt, isTraced } from '../delegate/halt';

/** One that says nothing for so long hangs. */
const SPEAK_WITHIN = 2_000;

/** The delegate leaves a program that goes on, whatever it does just now. */
export async function leaveRunning(
  client: DelegateClient,
  pid: number,
  { isHeld, log, within }: { isHeld: boolean; log: Log; within?: number },
): Promise<void> {
  // One that is not attached to yet would stand still in vain.
  if (!isHeld && process.platform !== 'win32' && !client.isGone && isTraced(pid)) {
    // One that hangs would not notice, and leave it stopped: so it runs on, and is left when the debugger comes to itself.
    if (!(await speaks(client))) {
      log.warn(`${client.name} says nothing: process ${pid} is left as it is`);
      return client.leave({ terminateDebuggee: false }, within);
    }
    let heard = false;
    const listener = client.on('event', (name, body) => {
      if (name === 'stopped' && /SIGSTOP/.test(JSON.stringify(body))) heard = true;
    });
    const still = await halt(pid, { heard: () => heard, over: () => client.isGone });
    listener.dispose();
    if (!still) log.info(`process ${pid} was not heard to stop`);
  }
  await client.leave({ terminateDebuggee: false }, within);
  goOn(pid);
}

/** Whether it still says anything: it is asked something harmless, and every word counts. */
async function speaks(client: DelegateClient): Promise<boolean> {
  let listener: { dispose(): void } | undefined;
  const word = new Promise<boolean>((resolve) => (listener = client.on('event', () => resolve(true))));
  const answer = client.request('threads', {}, { within: SPEAK_WITHIN }).then(
    () => true,
    (error: unknown) => !(error instanceof DelegateError && error.why === 'silent'),
  );
  const spoke = await Promise.race([word, answer]);
  listener?.dispose();
  return spoke;
}
