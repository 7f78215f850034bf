import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Connection } from './database';

/**
 * What tells a process from a later one with the same number: its start time, as the system says it. Empty when there is no such
 * process, `?` when there is one and the system does not tell more.
 */
export function startMark(pid: number): string {
  if (!Number.isSafeInteger(pid) || pid <= 0) return '';
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The name in parentheses may hold anything; fields are counted from its end. State is the 3rd field, start time the 22nd.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '?');
    } catch {
      return '';
    }
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return '';
  }
  if (process.platform === 'win32') return '?';
  try {
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim() || '?'
    );
  } catch {
    return '?';
  }
}

/** Start mark of a process whose number means nothing here, as in a container: while its run is recorded it may live. */
export const ELSEWHERE = '-';

/** Whether the process with this start mark still lives. An unknown mark trusts the number alone. */
export function isAlive(pid: number, mark: string): boolean {
  const now = startMark(pid);
  return now !== '' && (mark === '' || mark === '?' || now === '?' || now === mark);
}

/** A process of which nobody has seen the end. */
export interface OpenProcess {
  pid: number;
  mark: string | null;
}

export function openProcesses(db: Connection): OpenProcess[] {
  return db.prepare('SELECT pid, pid_start AS mark FROM processes WHERE ended IS NULL').all() as OpenProcess[];
}

/** Whether one of them still lives, whoever follows it. */
export function oneLives(open: readonly OpenProcess[]): boolean {
  return open.some(({ pid, mark }) => isAlive(pid, mark ?? ''));
}
