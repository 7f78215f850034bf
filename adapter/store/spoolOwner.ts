import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isAlive, startMark } from './alive';
import type { WorkerData } from './messages';

/** Written into a spool folder, so that whoever finds it later knows which run it belongs to. */
export interface SpoolOwner {
  runFile: string;
  run: string;
  session: string;
  name: string;
  /** The session's process. */
  pid: number;
  pidStart: string;
  /** Everything is in the run file, and nobody is left who could write more. */
  complete?: boolean;
}

const FILE = 'recorder.json';
const LOCK = 'recovering';

/** Notes whose recording a spool folder holds; `complete` once there is nothing left to recover. */
export function noteOwner({ options, pid }: WorkerData, complete: boolean): void {
  const { runFile, run, session, name, spoolFolder } = options;
  writeOwner(spoolFolder, { runFile, run, session, name, pid, pidStart: startMark(pid), complete });
}

export function writeOwner(folder: string, owner: SpoolOwner): void {
  const file = join(folder, FILE);
  writeFileSync(`${file}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Nothing when the folder has no note, or one that is not whole. */
export function readOwner(folder: string): SpoolOwner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Partial<SpoolOwner>;
    const texts = [owner.runFile, owner.run, owner.session, owner.name, owner.pidStart];
    if (typeof owner.pid !== 'number' || texts.some((text) => typeof text !== 'string')) return undefined;
    return owner as SpoolOwner;
  } catch {
    return undefined;
  }
}

/** Everything is in the run file; a process that its session never knew may have begun to record since. */
export function isComplete(folder: string, owner: SpoolOwner): boolean {
  const changed = (name: string): number => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const said = changed(FILE);
  return (
    owner.complete === true && !readdirSync(folder).some((name) => name.endsWith('.spool') && changed(name) > said)
  );
}

/**
 * Deletes spool files and the note beside them, if all they hold is in the run file; everything else in the folder stays. Answers
 * whether it did: a run file that could not be written, or an app that goes on without a session, still need the spool.
 */
export function deleteSpool(folder: string): boolean {
  const owner = readOwner(folder);
  if (owner === undefined || !isComplete(folder, owner)) return false;
  dropSpool(folder);
  return true;
}

/** Deletes spool files and the note beside them, whatever they hold. */
export function dropSpool(folder: string): void {
  // The note goes last: a deletion that is cut short can be repeated.
  for (const name of readdirSync(folder))
    if (/\.(spool|fault)$/.test(name)) rmSync(join(folder, name), { force: true });
  rmSync(join(folder, FILE), { force: true });
}

/** A lock without a holder's name is about to get one, unless whoever made it died in that moment. */
const NAMED_WITHIN = 10_000;

/** One recovery at a time: answers what gives the lock back, or nothing while another process has it. */
export function lockRecovery(folder: string): (() => void) | undefined {
  return lock(join(folder, LOCK));
}

/** The same for the lock at this path. */
export function lock(path: string): (() => void) | undefined {
  const me = JSON.stringify({ pid: process.pid, mark: startMark(process.pid) });
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const fd = openSync(path, 'wx', 0o600);
      let written = me;
      try {
        writeSync(fd, me);
      } catch (error) {
        // A full disk has room for its name alone, which is enough for a moment, such as to delete what fills the disk.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        written = '';
      } finally {
        closeSync(fd);
      }
      return () => {
        if (textOf(path) === written) rmSync(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isHeld(path) || !takeAway(path)) return undefined;
    }
  }
  return undefined;
}

/** A lock that nobody holds is taken away; not where another process did so first, and has one of its own there now. Answers whether there is none. */
function takeAway(path: string): boolean {
  const old = `${path}.${process.pid}`;
  try {
    renameSync(path, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return true;
  }
  const wasHeld = isHeld(old);
  if (wasHeld) putBack(old, path);
  rmSync(old, { force: true });
  return !wasHeld;
}

/** Not over the lock of a third one. */
function putBack(old: string, path: string): void {
  try {
    linkSync(old, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(old, path);
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isHeld(path: string): boolean {
  const text = textOf(path);
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // It was given back meanwhile.
  if (text === undefined || written === undefined) return false;
  try {
    const holder = JSON.parse(text) as { pid?: unknown; mark?: unknown };
    return typeof holder.pid === 'number' && typeof holder.mark === 'string' && isAlive(holder.pid, holder.mark);
  } catch {
    return Math.abs(Date.now() - written) < NAMED_WITHIN;
  }
}
