/** Processes of a test's workspace, found by the folder's path in their command lines. */
import { execFileSync } from 'node:child_process';

/** Ids of the Python processes that run a program of this folder. */
export function pythonsOf(folder: string): number[] {
  const listed = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' });
  return listed
    .split('\n')
    .filter((line) => line.includes(folder) && /python/i.test(line) && !/toolbreak\.js/.test(line))
    .map((line) => Number(line.trim().split(/\s+/)[0]));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Polls until a condition holds. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, limit = 15_000): Promise<void> {
  const deadline = Date.now() + limit;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within ${limit / 1000} s: ${what}`);
    await new Promise((next) => setTimeout(next, 50));
  }
}
