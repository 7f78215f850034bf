import { basename } from 'node:path';
import { messageOf } from '../../common/errors';
import { stateFolder } from '../../common/paths';
import { typed } from '../../common/shell';
import { DamagedRunError } from '../database';
import { projectOf } from './find';
import { allRuns, spoolsByRun, type StoredRun } from './place';
import { removeRun, runState, type Removal } from './remove';
import type { Retention } from './retention';

export interface PruneOptions {
  retention: Retention;
  /** Only says what would happen. */
  dryRun?: boolean;
  state?: string;
  /** The wall clock, in milliseconds. */
  now?: number;
}

interface Named {
  file: string;
  run: string;
  /** 0 where it has none, or it is not known. */
  number: number;
  name: string;
  /** Runs of all projects are pruned together, and have numbers of their own in each. */
  project: string;
}

export interface Pruned {
  removed: (Named & { bytes: number; why: 'age' | 'size' })[];
  /** Runs that would have gone, and why they stay. */
  stay: (Named & { why: 'live' | 'recovering' | 'kept' })[];
  problems: string[];
  /** Bytes of all runs that are left, kept ones included. */
  left: number;
}

/**
 * Takes away runs that were last written too long ago, then those that were not written for longest, until all that is not kept takes no
 * more than the size. Kept runs and those that are live stay, and so does what cannot be opened: nobody knows whether it is kept. The size
 * never takes the newest run: a recording that is larger by itself is there when its session has ended.
 */
export function prune({ retention, dryRun, state = stateFolder(), now = Date.now() }: PruneOptions): Pruned {
  const pruned: Pruned = { removed: [], stay: [], problems: [], left: 0 };
  const spools = spoolsByRun(state);
  const remove = (run: StoredRun, why: 'age' | 'size'): Removal | 'failed' => {
    try {
      // Once it is gone nobody knows how it was called.
      const named = { file: run.file, ...namesOf(run.file), project: projectOf(run.file) };
      const removal = removeRun(run.file, { spools, dryRun: dryRun === true });
      if (removal === 'removed') pruned.removed.push({ ...named, bytes: run.bytes, why });
      else pruned.stay.push({ ...named, why: removal });
      return removal;
    } catch (error) {
      pruned.problems.push(messageOf(error) + (error instanceof DamagedRunError ? howToDelete(run.file) : ''));
      return 'failed';
    }
  };
  const rest: StoredRun[] = [];
  const tried = new Set<StoredRun>();
  for (const run of allRuns(state)) {
    if (retention.age !== undefined && isOlder(run, retention.age, now)) {
      if (remove(run, 'age') === 'removed') continue;
      tried.add(run);
    }
    rest.push(run);
  }
  pruned.left = total(rest);
  if (retention.size === undefined || pruned.left <= retention.size) return pruned;
  const counted = rest.filter((run) => counts(run.file));
  let size = total(counted);
  for (const run of counted.slice(0, -1)) {
    if (size <= retention.size) break;
    if (tried.has(run) || remove(run, 'size') !== 'removed') continue;
    size -= run.bytes;
    pruned.left -= run.bytes;
  }
  return pruned;
}

function howToDelete(file: string): string {
  return ` Nobody knows whether it is kept: "toolbreak delete ${typed(basename(file, '.db'))} --all" takes it away.`;
}

/** What cannot be opened is told by whoever is about to remove it. */
function namesOf(file: string): Pick<Named, 'run' | 'number' | 'name'> {
  const id = basename(file, '.db');
  try {
    const { run = id, number, name } = runState(file);
    return { run, number, name };
  } catch {
    return { run: id, number: 0, name: '' };
  }
}

/** Whether a look at times and sizes alone says that there may be something to prune. */
export function mayPrune(retention: Retention, state: string = stateFolder(), now = Date.now()): boolean {
  const runs = allRuns(state);
  return (
    (retention.age !== undefined && runs.some((run) => isOlder(run, retention.age!, now))) ||
    (retention.size !== undefined && total(runs) > retention.size)
  );
}

/** A clock that was set back makes no run old: one from the future counts as of now. */
function isOlder(run: StoredRun, age: number, now: number): boolean {
  return now - run.changed > age;
}

function total(runs: readonly StoredRun[]): number {
  return runs.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Kept runs, and files that are none of ours, take no part of the size. */
function counts(file: string): boolean {
  try {
    return !runState(file).kept;
  } catch {
    return false;
  }
}
