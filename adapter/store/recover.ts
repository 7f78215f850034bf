import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../common/errors';
import { isAlive } from './alive';
import { Recording } from './recording';
import { deleteSpool, isComplete, lockRecovery, readOwner, writeOwner } from './spoolOwner';

/** Only the session heard what the app printed. */
const OUTPUT_LOST = "Output from here on was not recorded: Toolbreak's own process died. What was called was.";

export type Recovery =
  /** Nothing to do: no recording here, or its session lives, or another process is at it. */
  | { state: 'none' | 'live' | 'busy' }
  /** All there is was taken over; `alive`: the app still runs and may record more. */
  | { state: 'recovered'; runFile: string; alive: boolean; damaged: boolean };

/**
 * Recovers what the dead session of this folder (`<state>/sessions/<id>`) left in its spools, one result a run. May be repeated. Throws a
 * `UserError`.
 */
export function recoverSession(sessionFolder: string): Recovery[] {
  return spoolFolders(sessionFolder).map(recoverSpool);
}

/** A session has a spool folder for each of its runs, `spool/<run>`. */
function spoolFolders(sessionFolder: string): string[] {
  const spool = join(sessionFolder, 'spool');
  try {
    const runs = readdirSync(spool, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [spool, ...runs.map((entry) => join(spool, entry.name))];
  } catch {
    return [];
  }
}

/** Completes, or makes, the run file of a spool folder whose session is dead; frames that are in the file already are not taken twice. */
export function recoverSpool(folder: string): Recovery {
  const owner = readOwner(folder);
  if (owner === undefined || isComplete(folder, owner)) return { state: 'none' };
  if (isAlive(owner.pid, owner.pidStart)) return { state: 'live' };
  const unlock = lockRecovery(folder);
  if (unlock === undefined) return { state: 'busy' };
  try {
    // Whoever had the lock may just have done it.
    const now = readOwner(folder);
    if (now === undefined || isComplete(folder, now)) return { state: 'none' };
    mkdirSync(dirname(owner.runFile), { recursive: true, mode: 0o700 });
    const options = {
      runFile: owner.runFile,
      spoolFolder: folder,
      run: owner.run,
      session: owner.session,
      name: owner.name,
    };
    let result: { alive: boolean; damaged: boolean };
    try {
      result = takeOver(options, owner.pid);
    } catch (error) {
      if (!/is damaged|is not a Toolbreak run file/.test(String(error)) || !spoolIsWhole(folder)) throw error;
      // The run file is broken and the spool still has everything: put the file aside and begin again.
      for (const end of ['', '-wal', '-shm']) {
        if (existsSync(owner.runFile + end)) renameSync(owner.runFile + end, `${owner.runFile}.damaged${end}`);
      }
      result = takeOver(options, owner.pid);
    }
    if (!result.alive) {
      writeOwner(folder, { ...owner, complete: true });
      // Damaged files are kept: somebody may want to look.
      if (!result.damaged) deleteSpool(folder);
    }
    return { state: 'recovered', runFile: owner.runFile, ...result };
  } finally {
    unlock();
  }
}

/** What could not be taken over, and why. */
interface Left {
  runFile: string;
  sentence: string;
}

/** Recovers every dead session whose run belongs in this folder of run files; answers those that failed. */
export function recoverInto(runsFolder: string): Left[] {
  const sessions = resolve(runsFolder, '..', '..', '..', 'sessions');
  const problems: Left[] = [];
  let names: string[];
  try {
    names = readdirSync(sessions);
  } catch {
    return problems;
  }
  for (const name of names) {
    for (const folder of spoolFolders(join(sessions, name))) {
      const owner = readOwner(folder);
      if (owner === undefined || dirname(resolve(owner.runFile)) !== resolve(runsFolder)) continue;
      try {
        recoverSpool(folder);
      } catch (error) {
        problems.push({ runFile: resolve(owner.runFile), sentence: messageOf(error) });
      }
    }
  }
  return problems;
}

/** Why something that was recorded of these runs is not in their files yet, in sentences: mostly for want of room. */
export function leftOutside(runFiles: readonly string[]): string[] {
  const files = runFiles.map((file) => resolve(file));
  const problems = [...new Set(files.map((file) => dirname(file)))].flatMap((folder) => recoverInto(folder));
  return problems
    .filter(({ runFile }) => files.includes(runFile))
    .map(({ sentence }) => `${sentence} A part of what was recorded waits beside it, and is not in it yet.`);
}

function takeOver(
  options: ConstructorParameters<typeof Recording>[0],
  pid: number,
): { alive: boolean; damaged: boolean } {
  const recording: Recording = new Recording(options, () => recording.nextIndex(), {
    pid,
    wall: BigInt(Date.now()) * 1_000_000n,
  });
  try {
    const from = recording.sessionDied();
    // All is read before it is asked who knew that it was alone.
    while (recording.pass().more);
    const alone = recording.alone();
    const done = recording.finish(undefined, from === undefined ? undefined : { from, text: OUTPUT_LOST });
    if (!done.alive) recording.lookForSilence(alone);
    return done;
  } finally {
    recording.close();
  }
}

/** Every process's first segment is still there, so nothing was deleted after it had been read. */
function spoolIsWhole(folder: string): boolean {
  const names = readdirSync(folder).filter((name) => name.endsWith('.spool'));
  const processes = new Set(names.map((name) => name.replace(/-\d+\.spool$/, '')));
  return names.length > 0 && [...processes].every((process) => names.includes(`${process}-1.spool`));
}
