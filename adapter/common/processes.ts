import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** One process of the machine. */
export interface ProcessRow {
  pid: number;
  parent: number;
  /** Process group; 0 where the platform has none. */
  group: number;
  /** Ended, but not yet fetched by its parent. */
  zombie: boolean;
  /** When it began, in the platform's own form: only to be compared. */
  startTime: string;
  command: string;
}

/** All processes that can be seen; empty where the platform does not tell. */
export async function listProcesses(): Promise<ProcessRow[]> {
  if (process.platform === 'linux') return listFromProc();
  if (process.platform === 'win32') return listFromPowerShell();
  return parsePs(await output('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart=,comm=']));
}

/** When the process began, in the platform's own form, or nothing when there is no such process. Tells a live session from a reused pid. */
export function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const row = readProc(pid);
    return Promise.resolve(row === undefined || row.zombie ? undefined : row.startTime);
  }
  return listProcesses().then((rows) => rows.find((row) => row.pid === pid && !row.zombie)?.startTime);
}

/** In which numbers of processes mean the same as here; nothing where the platform has one alone. */
export function pidNamespaceHere(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** The process exists. */
export function isAlive(pid: number): boolean {
  if (process.platform === 'linux') {
    const row = readProc(pid);
    return row !== undefined && !row.zombie;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The processes below these, themselves included, by parenthood and by process group. Dead ones are left out. */
export function treeOf(
  rows: readonly ProcessRow[],
  roots: Iterable<number>,
  groups: Iterable<number> = [],
): ProcessRow[] {
  const wantedGroups = new Set(groups);
  const wanted = new Set(roots);
  for (const row of rows) if (wantedGroups.has(row.group)) wanted.add(row.pid);
  for (let grown = true; grown;) {
    grown = false;
    for (const row of rows) {
      if (wanted.has(row.pid) || !wanted.has(row.parent)) continue;
      wanted.add(row.pid);
      grown = true;
    }
  }
  return rows.filter((row) => wanted.has(row.pid) && !row.zombie && row.pid !== process.pid);
}

/** Processes whose environment holds this text: they inherited it, whoever their parent is by now. Linux only. */
export function processesWithEnvironment(rows: readonly ProcessRow[], text: string): number[] {
  if (process.platform !== 'linux') return [];
  return rows
    .filter((row) => {
      if (row.pid === process.pid || row.zombie) return false;
      try {
        return readFileSync(`/proc/${row.pid}/environ`, 'latin1').includes(text);
      } catch {
        return false;
      }
    })
    .map((row) => row.pid);
}

/** Sends a signal; a process that is gone, or not ours, is no error. Negative pids are groups. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  if (pid === 0 || pid === 1 || pid === -1 || pid === process.pid) return false;
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Ends those of these processes that are still there, and waits for their end; for five seconds at most. */
export async function endProcesses(rows: readonly ProcessRow[]): Promise<void> {
  const until = Date.now() + 5_000;
  for (let first = true; Date.now() < until; first = false) {
    const now = new Map((await listProcesses()).map((row) => [row.pid, row]));
    const left = rows.filter((row) => {
      const same = now.get(row.pid);
      return same !== undefined && !same.zombie && same.startTime === row.startTime;
    });
    if (left.length === 0) return;
    if (first) for (const { pid } of left) signal(pid, 'SIGKILL');
    await new Promise((next) => setTimeout(next, 20));
  }
}

/** Ends a process and all below it at once, without their help (Windows). */
export async function taskkill(pid: number): Promise<void> {
  await output('taskkill', ['/PID', String(pid), '/T', '/F']);
}

// ---------------------------------------------------------------- platforms

function listFromProc(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const row = readProc(Number(name));
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

function readProc(pid: number): ProcessRow | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command stands in brackets and may hold brackets and blanks itself.
    const open = text.indexOf('(');
    const close = text.lastIndexOf(')');
    const fields = text.slice(close + 2).split(' ');
    return {
      pid,
      command: text.slice(open + 1, close),
      zombie: fields[0] === 'Z' || fields[0] === 'X',
      parent: Number(fields[1]),
      group: Number(fields[2]),
      startTime: fields[19] ?? '',
    };
  } catch {
    return undefined;
  }
}

/** Lines of `ps -axo pid=,ppid=,pgid=,stat=,lstart=,comm=`; lstart has five words. */
export function parsePs(text: string): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s+(.*)$/.exec(line);
    if (match === null) continue;
    rows.push({
      pid: Number(match[1]),
      parent: Number(match[2]),
      group: Number(match[3]),
      zombie: match[4]!.startsWith('Z'),
      startTime: match[5]!.replace(/\s+/g, ' '),
      command: match[6]!,
    });
  }
  return rows;
}

async function listFromPowerShell(): Promise<ProcessRow[]> {
  const script =
    'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.CreationDate.Ticks) $($_.Name)" }';
  const text = await output('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script]);
  return text.split(/\r?\n/).flatMap((line): ProcessRow[] => {
    const match = /^(\d+) (\d+) (\d*) (.*)$/.exec(line);
    if (match === null) return [];
    return [
      {
        pid: Number(match[1]),
        parent: Number(match[2]),
        group: 0,
        zombie: false,
        startTime: match[3]!,
        command: match[4]!,
      },
    ];
  });
}

/** A tool's output; empty when it fails or is missing. */
function output(command: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { timeout: 10_000, maxBuffer: 16 << 20, windowsHide: true, env: { ...process.env, LC_ALL: 'C' } },
      (_, stdout) => resolve(stdout),
    );
  });
}

/** Whether it is known that a process has one thread only. */
export function hasOneThread(pid: number | undefined): boolean {
  try {
    return pid !== undefined && readdirSync(`/proc/${pid}/task`).length === 1;
  } catch {
    // No Linux, or it has ended.
    return false;
  }
}
