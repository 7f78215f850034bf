import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { messageOf, say } from '../log';

/** First bytes of executables: ELF, Mach-O in its six forms, and PE. */
const MACHINE_CODE = /^(?:7f454c46|feedfac[ef]|c[ef]faedfe|cafebabe|bebafeca|4d5a)/;

/** Sources of compiled languages: the adapter says how to compile them. */
const SOURCE = /\.(?:c|cc|cpp|cxx|c\+\+|mm?|rs|f(?:90|95|03|08)?)$/i;

/** Whether a file is machine code, by its first bytes, or becomes that. The adapter decides; this only says whether a Python is needed. */
export async function isNative(path: string): Promise<boolean> {
  if (SOURCE.test(path)) return true;
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      return bytesRead === 4 && MACHINE_CODE.test(buffer.toString('hex'));
    } finally {
      await file.close();
    }
  } catch {
    // Whoever starts it says why it cannot be read.
    return false;
  }
}

interface Running extends vscode.QuickPickItem {
  pid: string;
}

/** For `${command:pickProcess}` in launch.json: the number of a process that the person chooses; undefined ends the launch. */
export async function pickProcess(): Promise<string | undefined> {
  try {
    const chosen = await vscode.window.showQuickPick(processes(), {
      title: 'Attach to a Process',
      placeHolder: 'Name or number of the process',
      matchOnDescription: true,
      matchOnDetail: true,
    });
    return chosen?.pid;
  } catch (error) {
    say('error', `The processes could not be listed: ${messageOf(error)}. Write the number as "processId" instead.`);
    return undefined;
  }
}

/** Newest first. */
async function processes(): Promise<Running[]> {
  const windows = process.platform === 'win32';
  const { stdout } = await promisify(execFile)(
    windows ? 'tasklist' : 'ps',
    windows ? ['/fo', 'csv', '/nh'] : ['-U', String(process.getuid?.() ?? 0), '-o', 'pid=,comm=,args='],
    { maxBuffer: 1 << 24 },
  );
  const found = stdout.split(/\r?\n/).flatMap((line): Running[] => {
    if (windows) {
      const [name, pid] = line.split('","').map((part) => part.replaceAll('"', ''));
      return name && pid ? [{ label: name, description: pid, pid }] : [];
    }
    const [, pid, name, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid && name ? [{ label: name, description: pid, detail: command ?? '', pid }] : [];
  });
  return found.sort((one, other) => Number(other.pid) - Number(one.pid));
}
