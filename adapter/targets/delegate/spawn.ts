import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

export interface SpawnOptions {
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  /**
   * It will hold a process that is not ours. Where whoever reads its answers is killed while it writes one, SIGPIPE would end it, and the process would
   * be left with its breakpoints: it is started with that signal ignored. One that launches has it, since lldb-dap 19 without it hangs at its own end
   * now and then, and a program that it launched inherits what it ignores.
   */
  attaches?: boolean | undefined;
}

/** Becomes the command that follows. What a shell ignores, the program that it becomes ignores, too; Node has no such option. */
const WITHOUT_PIPE_SIGNAL = ['-c', `trap '' PIPE; exec "$0" "$@"`];

/** Starts a delegate's process, in a process group of its own. Needs nothing of us: it can be done before the rest is loaded. */
export function spawnDelegate(
  command: string,
  args: readonly string[],
  { cwd, env, attaches }: SpawnOptions = {},
): ChildProcessWithoutNullStreams {
  const [program, ...rest] =
    attaches && process.platform === 'linux'
      ? ['/bin/sh', ...WITHOUT_PIPE_SIGNAL, command, ...args]
      : [command, ...args];
  return spawn(program, rest, {
    ...(cwd === undefined ? {} : { cwd }),
    env: env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}
