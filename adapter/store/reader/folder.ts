import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunSummary } from '../../../protocol/timeline';
import { messageOf, UserError } from '../../common/errors';
import { problemWith } from '../database';
import { recoverInto } from '../recover';
import { emptySummary, RunFile } from './runFile';

export interface FolderOptions {
  /** At most so many, those that were written last. */
  most?: number;
  /** The summary of one; by opening its file when this is not given. */
  summary?: (path: string) => RunSummary;
}

/**
 * Runs of a folder, newest first. What a dead session left behind is taken over first; a file that cannot be read is among them, with the
 * `problem`. Throws a `UserError` when the folder cannot be read; one that does not exist holds none.
 */
export function runsIn(folder: string, { most, summary = summaryOf }: FolderOptions = {}): RunSummary[] {
  const problems = recoverInto(folder);
  let paths: string[];
  try {
    paths = readdirSync(folder)
      .filter((name) => name.endsWith('.db'))
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new UserError(`The folder of runs ${folder} cannot be read (${messageOf(error)}).`);
  }
  return lastWritten(paths, most)
    .map((path) => {
      const problem = problems.find(({ runFile }) => runFile === resolve(path))?.sentence;
      return { ...summary(path), ...(problem === undefined ? {} : { problem }) };
    })
    .sort(newestFirst);
}

export function newestFirst(one: RunSummary, other: RunSummary): number {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt ? 1 : -1;
  return other.number - one.number || (one.run < other.run ? 1 : -1);
}

/** What a file says of its run; one that cannot be read says why. */
export function summaryOf(path: string): RunSummary {
  try {
    const file = new RunFile(path);
    try {
      return file.summary();
    } finally {
      file.close();
    }
  } catch (error) {
    return emptySummary(path, problemWith(path, error).message);
  }
}

function lastWritten(paths: string[], most = paths.length): string[] {
  if (paths.length <= most) return paths;
  const files = paths.map((path) => ({ path, time: modified(path) }));
  files.sort((one, other) => other.time - one.time);
  return files.slice(0, most).map(({ path }) => path);
}

function modified(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
