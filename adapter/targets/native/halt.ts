import { readFileSync } from 'node:fs';
import type { Log } from '../../common/log';
import { signal } from '../../common/processes';
import type { DelegateClient } from '../delegate/client';

const HALT_WITHIN = 2_000;

/**
 * Stops a program that is to be left. lldb may hang, or end the program, when it has to leave while threads are running into breakpoints; not when it stands
 * still. A signal stops it for sure, where a request to pause may be lost among conditions that are not met. `goOn` afterwards.
 */
export async function halt(client: DelegateClient, pid: number, log: Log): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let listener: { dispose(): void } | undefined;
  const stopped = new Promise<void>((resolve) => {
    listener = client.on('event', (name, body) => {
      if (name === 'stopped' && /SIGSTOP/.test(JSON.stringify(body))) resolve();
    });
    timer = setTimeout(() => {
      log.info(`process ${pid} was not heard to stop`);
      resolve();
    }, HALT_WITHIN);
  });
  try {
    if (signal(pid, 'SIGSTOP')) await Promise.race([stopped, client.ended]);
  } finally {
    clearTimeout(timer);
    listener?.dispose();
  }
}

/** A process that our signal left stopped goes on. */
export function goOn(pid: number): void {
  try {
    if (/^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) signal(pid, 'SIGCONT');
  } catch {
    // It has ended.
  }
}
