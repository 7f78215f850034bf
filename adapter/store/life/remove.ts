import { existsSync, unlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from '../../common/errors';
import { isRunsFolder, stateFolder } from '../../common/paths';
import { isAlive, oneLives, openProcesses } from '../alive';
import {
  closePlain,
  DamagedRunError,
  isDamage,
  openAsItIs,
  openForWriting,
  problemWith,
  type Connection,
} from '../database';
import { recoverSpool } from '../recover';
import { dropSpool, lockRecovery } from '../spoolOwner';
import { BESIDE, spoolsByRun, type Spool } from './place';

/** Why a run stays. */
export type Stays =
  /** Its session, or its app, still records. */
  | 'live'
  /** Another process takes over what a dead session left of it. */
  | 'recovering'
  | 'kept';

export type Removal = 'removed' | Stays;

/** What a run file says of itself. */
export interface RunState {
  run: string | undefined;
  /** 0 where it has none. */
  number: number;
  /** As the list of runs has it. */
  name: string;
  kept: boolean;
  live: boolean;
  /** Some process of the app has not ended. */
  appLives: boolean;
}

/** Throws a `UserError`, for instance when the file is none of ours or of a newer Toolbreak: what it says is not known then. */
export function runState(file: string): RunState {
  const db = openAsItIs(file);
  try {
    return { ...rowState(db), appLives: oneLives(openProcesses(db)) };
  } catch (error) {
    throw problemWith(file, error);
  } finally {
    db.close();
  }
}

/** As much of it as can be read of a damaged file. Throws a `UserError` for one that is whole and none of ours. */
function readableState(file: string): Pick<RunState, 'kept' | 'live' | 'appLives'> & { damaged: boolean } {
  let db: Connection | undefined;
  const state = { kept: false, live: false, appLives: false, damaged: false };
  try {
    db = openAsItIs(file);
    Object.assign(state, rowState(db));
    state.appLives = oneLives(openProcesses(db));
  } catch (error) {
    if (!(error instanceof DamagedRunError) && !isDamage(error)) throw problemWith(file, error);
    state.damaged = true;
  } finally {
    db?.close();
  }
  return state;
}

function rowState(db: Connection): Omit<RunState, 'appLives'> {
  const row = db.prepare('SELECT * FROM runs WHERE id = 1').get() as
    | {
        run: string;
        ended: number | null;
        pid: number;
        pid_start: string;
        kept?: number;
        number?: number;
        name?: string;
        workflow?: string | null;
      }
    | undefined;
  return {
    run: row?.run,
    number: row?.number ?? 0,
    name: row?.workflow ?? row?.name ?? '',
    kept: row?.kept === 1,
    live: row !== undefined && row.ended === null && isAlive(row.pid, row.pid_start),
  };
}

export interface RemoveOptions {
  /** Only says what would happen. */
  dryRun?: boolean;
  /** A person named it: it goes also where it is too damaged to say whether it is kept. */
  named?: boolean;
  /** Of all runs, where many are removed; else they are looked up. */
  spools?: Map<string, Spool[]>;
  state?: string;
}

/**
 * Deletes a run file with all that lies beside it, and what its spool still holds. What cannot be opened as a run file stays, and a
 * sentence says why, unless it lies among our runs and a person named it. Throws a `UserError`.
 */
export function removeRun(file: string, options: RemoveOptions = {}): Removal {
  const path = resolve(file);
  const isOurs = options.named === true && path.endsWith('.db') && isRunsFolder(dirname(path), options.state);
  const spools = (options.spools ?? spoolsByRun(options.state ?? stateFolder())).get(path) ?? [];
  if (spools.some(({ owner }) => owner.complete !== true && isAlive(owner.pid, owner.pidStart))) return 'live';
  const unlock: (() => void)[] = [];
  try {
    // Where the session died, the spool knows better than a damaged file whether the app still records, and makes the run again.
    if (isOurs && spools.length > 0 && readableState(path).damaged)
      for (const { folder } of spools) if (recoverSpool(folder).state === 'busy') return 'recovering';
    for (const { folder } of spools) {
      if (!existsSync(folder)) continue;
      const one = lockRecovery(folder);
      if (one === undefined) return 'recovering';
      unlock.push(one);
    }
    const { kept, live, appLives } = isOurs ? readableState(path) : runState(path);
    // An app that outlived its session writes on into the spool.
    if (live || (appLives && spools.some(({ owner }) => owner.complete !== true))) return 'live';
    if (kept) return 'kept';
    if (options.dryRun === true) return 'removed';
    // The spool first: a deletion that is cut short must not leave what would make the run again.
    for (const { folder } of spools) dropSpool(folder);
    for (const end of BESIDE) removeFile(path + end);
    return 'removed';
  } catch (error) {
    throw problemWith(path, error);
  } finally {
    for (const one of unlock) one();
  }
}

/** Node's `rmSync` does not tell why it failed in a way that can be asked for. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Notes in the run file whether it is kept. The file may be live: its session writes on. Throws a `UserError`. */
export function keepRun(file: string, kept: boolean): void {
  if (!existsSync(file)) throw new UserError(`The run file ${file} does not exist. It may have been deleted.`);
  // Not to be made anew, nor changed, when it is none of ours.
  openAsItIs(file).close();
  const db = openForWriting(file);
  try {
    db.prepare('UPDATE runs SET kept = ?').run(kept ? 1 : 0);
  } catch (error) {
    throw problemWith(file, error);
  } finally {
    closePlain(db);
  }
}
