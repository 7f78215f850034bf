import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { unsafeFolder } from './errors';

type Environment = NodeJS.ProcessEnv;

/** Longest path of a Unix socket that every platform takes, without the final zero. */
export const LONGEST_SOCKET_PATH = 103;

/** The platform's folder for what programs keep: never in the workspace. */
export function stateFolder(env: Environment = process.env, platform: NodeJS.Platform = process.platform): string {
  return join(platformState(env, platform), 'toolbreak');
}

function platformState(env: Environment, platform: NodeJS.Platform): string {
  const home = env['HOME'] || homedir();
  if (platform === 'win32') return env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local');
  // The XDG specification says that relative paths are to be ignored.
  const xdg = env['XDG_STATE_HOME'];
  if (xdg !== undefined && xdg.startsWith('/')) return xdg;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return join(home, '.local', 'state');
}

export function sessionsFolder(state: string = stateFolder()): string {
  return join(state, 'sessions');
}

/** Folder of a project's run files: `<state>/projects/<name>-<hash of the real path>/runs`. Not made here. */
export function runsFolder(project: string, state: string = stateFolder()): string {
  const real = realPath(project);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 10);
  const name =
    basename(real)
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .slice(0, 40) || 'project';
  return join(state, 'projects', `${name}-${hash}`, 'runs');
}

/** Whether a folder is one in which runs are recorded. */
export function isRunsFolder(folder: string, state: string = stateFolder()): boolean {
  return basename(folder) === 'runs' && dirname(dirname(folder)) === join(state, 'projects');
}

export function realPath(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync.native(full);
  } catch {
    return full;
  }
}

/** One by one: `recursive` goes round for ever where a parent is there and refuses with "no such file", as /proc does. */
function makeWithParents(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeWithParents(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Makes a folder that only this user can enter; one that is there and ours is closed to others. */
export function makePrivateFolder(folder: string): string {
  makeWithParents(folder);
  if (process.platform === 'win32') return folder;
  const stat = lstatSync(folder);
  if (stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return folder;
}

/**
 * A fresh, short folder for one session's sockets and small files, in a parent folder that only this user can enter.
 * Throws a sentence when the parent belongs to someone else.
 */
export function makeRuntimeFolder(env: Environment = process.env): string {
  const candidates: string[] = [];
  const xdg = env['XDG_RUNTIME_DIR'];
  if (xdg !== undefined && xdg.startsWith('/')) candidates.push(join(xdg, 'toolbreak'));
  candidates.push(join(tmpdir(), `toolbreak-${userTag()}`));
  if (process.platform !== 'win32') candidates.push(`/tmp/toolbreak-${userTag()}`);
  const name = randomBytes(4).toString('hex');
  let problem: unknown;
  for (const parent of candidates) {
    const folder = join(parent, name);
    if (process.platform !== 'win32' && Buffer.byteLength(join(folder, 'control.sock')) > LONGEST_SOCKET_PATH) continue;
    try {
      makePrivateFolder(parent);
      checkOwner(parent);
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      problem = error;
    }
  }
  throw problem instanceof Error ? problem : unsafeFolder(tmpdir());
}

/** The folder is a real one, ours, and closed to others. */
function checkOwner(folder: string): void {
  if (process.platform === 'win32') return;
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw unsafeFolder(folder);
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function userTag(): string {
  const id = process.getuid?.();
  return id === undefined ? userInfo().username.replace(/[^A-Za-z0-9]/g, '') : String(id);
}
