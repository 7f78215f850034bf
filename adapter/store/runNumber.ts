import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { openForReading } from './database';
import { lock } from './spoolOwner';

/** So many of the newest runs with a number are asked for it, or so many where nobody noted the last one: a run that just begins has none yet. */
const ASKED = 3;
const ASKED_ONCE = 1000;
/** Whoever numbers a run has done so long before; then two runs may get one number, and nothing else is wrong. */
const LONGEST_MS = 5000;
const PAUSE_MS = 5;
/** Beside the folder: the number that was given last. What was written to last, as a run that is kept, need not have it. */
const lastOf = (runsFolder: string): string => `${resolve(runsFolder)}.number`;
const turnOf = (runsFolder: string): string => `${resolve(runsFolder)}.numbering`;

/** Number of a new run in its project: one more than any run had. `inTurn` keeps it from being given twice. */
export function nextRunNumber(runFile: string): number {
  const folder = dirname(runFile);
  const noted = lastNumber(folder);
  const files = filesIn(folder)
    .filter((name) => name.endsWith('.db') && name !== basename(runFile))
    .map((name) => join(folder, name))
    // One may be deleted meanwhile.
    .map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time);
  const found: number[] = [];
  for (const { path } of files.slice(0, ASKED_ONCE)) {
    if (found.length === (noted > 0 ? ASKED : ASKED_ONCE)) break;
    try {
      const db = openForReading(path);
      const number = db.prepare('SELECT max(number) FROM runs').pluck().get() as number | null;
      db.close();
      if (number !== null) found.push(number);
    } catch {
      // A file that cannot be read has no number to go on from.
    }
  }
  const next = Math.max(noted, ...found) + 1;
  noteRunNumber(folder, next);
  return next;
}

/** None of a folder that is not there yet. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** 0 where none was noted. */
function lastNumber(folder: string): number {
  try {
    const number = Number(readFileSync(lastOf(folder), 'utf8'));
    return Number.isSafeInteger(number) && number > 0 ? number : 0;
  } catch {
    return 0;
  }
}

/** A run of the folder has this number. */
export function noteRunNumber(folder: string, number: number): void {
  if (number <= lastNumber(folder)) return;
  try {
    writeFileSync(lastOf(folder), String(number), { mode: 0o600 });
  } catch {
    // The runs themselves are asked then.
  }
}

/**
 * Does what looks at the numbers of a folder and writes one, and nobody else does so meanwhile. Waits for another one, if not for long; where
 * nothing can be written, nobody else numbers runs.
 */
export function inTurn<T>(runsFolder: string, act: () => T): T {
  const release = take(turnOf(runsFolder));
  try {
    return act();
  } finally {
    try {
      release?.();
    } catch {
      // Windows, while another one looks at it: it goes with this process, as that of a dead one does.
    }
  }
}

function take(turn: string): (() => void) | undefined {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + LONGEST_MS;
  for (;;) {
    try {
      const release = lock(turn);
      if (release !== undefined) return release;
    } catch (error) {
      // Windows refuses what another one is just deleting.
      if (!['EPERM', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    }
    if (performance.now() > until) return undefined;
    Atomics.wait(pause, 0, 0, PAUSE_MS);
  }
}
