import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sessionsFolder, stateFolder } from '../../common/paths';
import { readOwner, type SpoolOwner } from '../spoolOwner';

/** What may lie beside a run file: its log, and a damaged one that was put aside. */
export const BESIDE = ['', '-wal', '-shm', '-journal', '.damaged', '.damaged-wal', '.damaged-shm'];

export interface StoredRun {
  file: string;
  /** With all that lies beside it. */
  bytes: number;
  /** When it was last written, in milliseconds. Unlike what is in it, a copy or an import has its own. */
  changed: number;
}

export interface Spool {
  folder: string;
  owner: SpoolOwner;
}

/** The run files of all projects, those that were not written for longest first. */
export function allRuns(state: string = stateFolder()): StoredRun[] {
  const projects = join(state, 'projects');
  const runs: StoredRun[] = [];
  for (const project of names(projects)) {
    const folder = join(projects, project, 'runs');
    for (const name of names(folder)) if (name.endsWith('.db')) runs.push(...stored(join(folder, name)));
  }
  return runs.sort((one, other) => one.changed - other.changed);
}

/** Nothing when there is no such file. */
export function stored(file: string): StoredRun[] {
  let bytes = 0;
  let changed: number | undefined;
  for (const end of BESIDE) {
    const stat = statSync(file + end, { throwIfNoEntry: false });
    if (stat === undefined) {
      if (end === '') return [];
      continue;
    }
    bytes += stat.size;
    if (end === '' || end === '-wal') changed = Math.max(changed ?? 0, stat.mtimeMs);
  }
  return [{ file, bytes, changed: changed! }];
}

/** Spools of this machine's sessions, by the run file they belong to. */
export function spoolsByRun(state: string = stateFolder()): Map<string, Spool[]> {
  const found = new Map<string, Spool[]>();
  const sessions = sessionsFolder(state);
  for (const session of names(sessions)) {
    const parent = join(sessions, session, 'spool');
    for (const folder of [parent, ...names(parent).map((name) => join(parent, name))]) {
      const owner = readOwner(folder);
      if (owner === undefined) continue;
      const file = resolve(owner.runFile);
      found.set(file, [...(found.get(file) ?? []), { folder, owner }]);
    }
  }
  return found;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
