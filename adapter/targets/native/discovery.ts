import { execFile } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { MistakeError, UserError } from '../../common/errors';

/** A debug adapter for native code, as found. */
export interface FoundDelegate {
  command: string;
  args: string[];
  family: 'lldb' | 'gdb';
  /** Known of gdb alone, which does not tell it later. */
  major?: number;
}

/** In whose words the person is told how the adapter is chosen. */
export interface Naming {
  by: string;
  check: string;
}
export const IN_LAUNCH_JSON: Naming = {
  by: 'with "lldbDap" in launch.json',
  check: 'Check "lldbDap" in launch.json or the setting toolbreak.lldbDap.',
};

const windows = process.platform === 'win32';

const GDB_ARGUMENTS = ['-q', '-i', 'dap'];
const GDB = /(^|[\\/])gdb[^\\/]*$/;
/** gdb speaks DAP from here on. */
const FIRST_GDB = 14;

/**
 * Finds the adapter: the one that was chosen, else `lldb-dap`, the newest `lldb-dap-NN`, `lldb-vscode` of older versions, Xcode's, and at last a
 * gdb of 14 or later. Throws a sentence with what to install.
 */
export async function findDelegate(
  chosen: string | undefined,
  env: NodeJS.ProcessEnv,
  named: Naming = IN_LAUNCH_JSON,
): Promise<FoundDelegate> {
  if (chosen !== undefined && chosen !== '') return findChosen(chosen, env, named);
  const lldb = findLldb(undefined, env) ?? (process.platform === 'darwin' ? await fromXcode(env) : undefined);
  if (lldb !== undefined) return { command: lldb, args: [], family: 'lldb' };
  const gdb = plain(foldersOf(env), 'gdb');
  const major = gdb === undefined ? 0 : await gdbVersion(gdb, env);
  if (gdb !== undefined && major >= FIRST_GDB) return { command: gdb, args: GDB_ARGUMENTS, family: 'gdb', major };
  throw noDelegate(gdb !== undefined, named);
}

/** What was chosen for this launch, or for all of this person's. */
export function chosenDelegate(chosen: string | undefined): string | undefined {
  return chosen ?? process.env['TOOLBREAK_LLDB_DAP'];
}

/** The lldb-dap that was chosen, or is on the PATH: what can be known without asking anybody. */
export function findLldb(chosen: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const folders = foldersOf(env);
  if (chosen !== undefined && chosen !== '') {
    const command = commandOf(chosen, folders);
    return command !== undefined && isProgram(command) && !GDB.test(command) ? command : undefined;
  }
  return (
    plain(folders, 'lldb-dap') ??
    newest(folders, /^lldb-dap-(\d+)(?:\.exe)?$/) ??
    plain(folders, 'lldb-vscode') ??
    newest(folders, /^lldb-vscode-(\d+)(?:\.exe)?$/)
  );
}

function foldersOf(env: NodeJS.ProcessEnv): string[] {
  return (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Of a path, or a name on the PATH. */
function commandOf(chosen: string, folders: readonly string[]): string | undefined {
  return isAbsolute(chosen) || /[\\/]/.test(chosen) ? chosen : plain(folders, chosen);
}

async function findChosen(chosen: string, env: NodeJS.ProcessEnv, named: Naming): Promise<FoundDelegate> {
  const command = commandOf(chosen, foldersOf(env));
  if (command === undefined || !isProgram(command)) {
    throw new MistakeError(
      `The native debug adapter ${chosen} is ${isFolder(command) ? 'a folder' : 'not a program'}. ${named.check}`,
    );
  }
  if (!GDB.test(command)) return { command, args: [], family: 'lldb' };
  const version = await gdbVersion(command, env);
  if (version < FIRST_GDB) {
    throw new UserError(
      `${chosen} is gdb ${version || 'of an unknown version'}; Toolbreak needs gdb ${FIRST_GDB} or later, or lldb-dap. ${installHint(named)}`,
    );
  }
  return { command, args: GDB_ARGUMENTS, family: 'gdb', major: version };
}

export function noDelegate(oldGdb: boolean, named: Naming = IN_LAUNCH_JSON): UserError {
  const found = oldGdb ? ` The gdb on the PATH is older than ${FIRST_GDB}.` : '';
  return new UserError(`Native code needs lldb-dap, and none was found on the PATH.${found} ${installHint(named)}`);
}

/** What to type on this platform. */
export function installHint(named: Naming = IN_LAUNCH_JSON, platform: NodeJS.Platform = process.platform): string {
  const after = `then start again, or name it ${named.by}.`;
  switch (platform) {
    case 'darwin':
      return `Install it with "xcode-select --install", ${after}`;
    case 'win32':
      return `Install it with "winget install LLVM.LLVM", ${after}`;
    default:
      return `Install it with "sudo apt install lldb" (Debian, Ubuntu), "sudo dnf install lldb" (Fedora) or "sudo pacman -S lldb" (Arch), ${after}`;
  }
}

function plain(folders: readonly string[], name: string): string | undefined {
  const endings = windows ? ['.exe', ''] : [''];
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isProgram);
}

/** The one with the highest number; Debian puts the version into the name. */
function newest(folders: readonly string[], pattern: RegExp): string | undefined {
  let best: { path: string; version: number } | undefined;
  for (const folder of folders) {
    for (const name of namesIn(folder)) {
      const version = Number(pattern.exec(name)?.[1] ?? -1);
      const path = join(folder, name);
      if (version > (best?.version ?? -1) && isProgram(path)) best = { path, version };
    }
  }
  return best?.path;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The PATH may name folders that do not exist.
    return [];
  }
}

async function fromXcode(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const path = (await output('xcrun', ['-f', 'lldb-dap'], env)).trim();
  return path !== '' && isProgram(path) ? path : undefined;
}

/** 0 where it does not tell. */
async function gdbVersion(gdb: string, env: NodeJS.ProcessEnv): Promise<number> {
  return Number(/\b(\d+)\.\d+/.exec(await output(gdb, ['--version'], env))?.[1] ?? 0);
}

function output(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: 10_000, windowsHide: true }, (_, stdout) => resolve(stdout));
  });
}

function isFolder(path: string | undefined): boolean {
  return path !== undefined && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function isProgram(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    if (!windows) accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
