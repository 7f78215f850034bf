import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../common/errors';
import { hasTerminal, startedByNohup } from '../common/signals';

/** Oldest Node that the native part of the store runs in; an older one would crash. */
const OLDEST = 22;

/**
 * Under an older Node, hands over to the one that a checkout of Toolbreak brings along: the promise never settles then, and this process ends as the
 * other does. Throws a `UserError` where there is none.
 */
export async function needNode(versions = process.versions, root = join(__dirname, '..')): Promise<void> {
  if (Number.parseInt(versions.node, 10) >= OLDEST) return;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const other = join(root, 'node_modules', 'node', 'bin', name);
  if (!existsSync(other))
    throw new UserError(`Toolbreak needs Node ${OLDEST} or later. This is Node ${versions.node}, ${process.execPath}.`);
  const child = spawn(other, process.argv.slice(1), { stdio: 'inherit' });
  const stop = passOn((signal) => child.kill(signal));
  await new Promise<void>((_, failed) => {
    child.once('error', failed);
    child.once('exit', (status, signal) => {
      stop();
      if (signal !== null) process.kill(process.pid, signal);
      process.exit(status ?? 1);
    });
  });
}

/** One that comes again at once came on two ways. */
const ONE_AND_THE_SAME = 50;

/** Signals to this process go to whom it stands for. Those of a terminal's keys the other gets from there. Answers how to end that. */
export function passOn(send: (signal: NodeJS.Signals) => unknown): () => void {
  const streams = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const isKey = (name: string): boolean => (name === 'SIGINT' || name === 'SIGQUIT') && (hasTerminal() ?? streams);
  const nohup = startedByNohup();
  const names = (['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const).filter(
    (name) => process.platform !== 'win32' || name === 'SIGTERM' || name === 'SIGINT',
  );
  // Unless somebody listens to SIGUSR1, Node opens a debugger's door at it.
  const listeners = names.map((name) => {
    let last = -Infinity;
    const listener = (): void => {
      if ((name === 'SIGHUP' && nohup) || isKey(name) || performance.now() - last < ONE_AND_THE_SAME) return;
      last = performance.now();
      send(name);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return () => listeners.forEach(([name, listener]) => process.off(name, listener));
}
