import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

export interface SpawnOptions {
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
}

/** Starts a delegate's process, in a process group of its own. Needs nothing of us: it can be done before the rest is loaded. */
export function spawnDelegate(
  command: string,
  args: readonly string[],
  { cwd, env }: SpawnOptions = {},
): ChildProcessWithoutNullStreams {
  return spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}
