import type { Log } from '../../common/log';
import type { DelegateClient } from '../delegate/client';
import { goOn, halt, isTraced } from '../delegate/halt';

/** The delegate leaves a program that goes on, whatever it does just now. */
export async function leaveRunning(
  client: DelegateClient,
  pid: number,
  { isHeld, log, within }: { isHeld: boolean; log: Log; within?: number },
): Promise<void> {
  // One that is not attached to yet would stand still in vain.
  if (!isHeld && process.platform !== 'win32' && !client.isGone && isTraced(pid)) {
    let heard = false;
    const listener = client.on('event', (name, body) => {
      if (name === 'stopped' && /SIGSTOP/.test(JSON.stringify(body))) heard = true;
    });
    const still = await halt(
      pid,
      () => heard,
      () => client.isGone,
    );
    listener.dispose();
    if (!still) log.info(`process ${pid} was not heard to stop`);
  }
  await client.leave({ terminateDebuggee: false }, within);
  goOn(pid);
}
