import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openForReading } from './database';

/** How many of the newest runs are asked for their number. */
const ASKED = 3;

/** Number of a new run in its project: one more than the newest runs have. Runs that begin in the same moment may share one. */
export function nextRunNumber(runFile: string): number {
  const folder = dirname(runFile);
  let files: { path: string; time: number }[];
  try {
    files = readdirSync(folder)
      .filter((name) => name.endsWith('.db') && name !== basename(runFile))
      .map((name) => ({ path: join(folder, name), time: statSync(join(folder, name)).mtimeMs }));
  } catch {
    return 1;
  }
  files.sort((one, other) => other.time - one.time);
  let largest = 0;
  for (const { path } of files.slice(0, ASKED)) {
    try {
      const db = openForReading(path);
      largest = Math.max(largest, (db.prepare('SELECT max(number) FROM runs').pluck().get() as number | null) ?? 0);
      db.close();
    } catch {
      // A file that cannot be read has no number to go on from.
    }
  }
  return largest > 0 ? largest + 1 : files.length + 1;
}
