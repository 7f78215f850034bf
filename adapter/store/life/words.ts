import { existsSync } from 'node:fs';
import { closePlain, openAsItIs, openForWriting, problemWith } from '../database';
import { MIGRATIONS } from '../schema';
import { FEWEST, WordWriter } from '../words/wordWriter';
import { runState } from './remove';

/** Whether a run that ended is so large that its texts are to be noted; to find out that all of them are takes little. */
export function hasWordsToNote(file: string): boolean {
  if (!existsSync(file)) return false;
  const db = openAsItIs(file);
  try {
    if ((db.pragma('user_version', { simple: true }) as number) < MIGRATIONS.length) return false;
    // By the index on versions: the rows themselves are large.
    const blocks = db.prepare('SELECT count(version) FROM chunks').pluck().get() as number;
    return blocks >= FEWEST;
  } finally {
    db.close();
  }
}

/** Notes all texts of a run that ended, so that a search need not look into each block. Throws a `UserError`. */
export function noteWords(file: string): void {
  if (!existsSync(file) || runState(file).live) return;
  const db = openForWriting(file);
  try {
    const words = new WordWriter(db);
    while (words.step(Infinity, true));
  } catch (error) {
    throw problemWith(file, error);
  } finally {
    closePlain(db);
  }
}
