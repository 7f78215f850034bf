import { chmodSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '../../common/errors';
import { isDamage, openAsItIs, openForWriting, type Connection } from '../database';
import { recoverSpool } from '../recover';
import { isAlive } from '../alive';
import { isIntact, isWhole } from './intact';
import { cannotExport } from './output';
import { spoolsByRun } from './place';

/**
 * Writes a copy of a run into a new file: one plain SQLite file, at one moment of it, whoever writes the run meanwhile. What a dead session
 * left is taken over first. A copy of a live run says in itself when it was made, and that the run went on. Throws a `UserError` for the run, and what the disk says for the copy.
 */
export function snapshot(file: string, copy: string): void {
  for (const { folder } of spoolsByRun().get(resolve(file)) ?? []) {
    if (recoverSpool(folder).state === 'busy')
      throw new UserError(`The run ${file} is just being taken over from a session that ended. Try again in a moment.`);
  }
  const db = openAsItIs(file);
  try {
    if (!isIntact(db)) throw cannotExport(file);
    copyInto(db, copy);
    noteWhen(copy);
  } catch (error) {
    rmSync(copy, { force: true });
    throw isDamage(error) || (isFull(error) && !isWhole(db)) ? cannotExport(file) : error;
  } finally {
    db.close();
  }
}

/** SQLite says so of a disk, and of a file in which a number of a page is larger than any. */
function isFull(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'SQLITE_FULL';
}

/** Rows keep their ids: every table has one of its own. */
export function copyInto(db: Connection, copy: string): void {
  db.prepare('VACUUM INTO ?').run(copy);
  chmodSync(copy, 0o600);
}

function noteWhen(copy: string): void {
  const db = openAsItIs(copy);
  const row = db.prepare('SELECT ended, pid, pid_start AS mark FROM runs').get() as
    { ended: number | null; pid: number; mark: string } | undefined;
  db.close();
  if (row === undefined || row.ended !== null) return;
  const writing = openForWriting(copy);
  try {
    const goesOn = isAlive(row.pid, row.mark);
    writing.transaction(() => {
      const wall = BigInt(Date.now()) * 1_000_000n;
      const text = goesOn
        ? 'This copy was made while the run went on; what came later is not in it.'
        : 'The session of this run ended before all of it was recorded.';
      writing
        .prepare("INSERT INTO events (time, name, data) SELECT coalesce(last, 0), 'mark', ? FROM runs")
        .run(JSON.stringify({ text }));
      writing.prepare('UPDATE runs SET ended = ?, stopped = coalesce(stopped, ?)').run(wall, wall);
    })();
    // One plain file again: nobody else knows of it.
    writing.pragma('journal_mode = DELETE');
  } finally {
    writing.close();
  }
}
