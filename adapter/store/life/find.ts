import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RunSummary } from '../../../protocol/timeline';
import { withCommas } from '../../../protocol/withCommas';
import { MistakeError, UserError } from '../../common/errors';
import { runsFolder, stateFolder } from '../../common/paths';
import { typed } from '../../common/shell';
import { newestFirst, runsIn } from '../reader/folder';
import { isBundle } from './bundle';

/** Runs named in a sentence that says that there is no such run. */
const NAMED = 5;

/** Where runs are looked for. */
export interface Place {
  /** Folders of run files; those that do not exist hold none. */
  folders: readonly string[];
  /** `of /home/me/shop`, `of any project`: how sentences call it. */
  words: string;
}

const OF_ALL = 'of any project';

/** The runs of one project folder, or those of all projects. */
export function placeOf(project: string, all: boolean): Place {
  if (!all) return { folders: [runsFolder(project)], words: `of ${resolve(project)}` };
  const projects = join(stateFolder(), 'projects');
  return { folders: namesIn(projects).map((name) => join(projects, name, 'runs')), words: OF_ALL };
}

/**
 * Runs of these folders, newest first. What a dead session left behind is taken over first; a file that cannot be read is among them, with the
 * `problem`. Throws a `UserError` when a folder cannot be read.
 */
export function listRuns(place: Place): RunSummary[] {
  return place.folders.flatMap((folder) => runsIn(folder)).sort(newestFirst);
}

/** The file of the run that a person named: by number, id, `last`, or path. Throws a `UserError` that lists the newest runs. */
export function findRun(name: string, place: Place): string {
  if (name === '' || name.includes('\0')) throw new MistakeError(`A run is named ${WAYS}.`);
  if (isPath(name)) return pathOf(name);
  // An id is the file's name, so that a damaged file is found, too.
  const files = place.folders.map((folder) => join(folder, `${name}.db`)).filter((file) => kindOf(file) === 'file');
  if (files.length > 1)
    throw new UserError(`${files.length} runs ${place.words} have this id. Name the file: ${files.join(', ')}.`);
  if (files[0] !== undefined) return files[0];
  const runs = listRuns(place);
  const found = name === 'last' ? runs.slice(0, 1) : runs.filter((run) => isNamed(run, name));
  if (found.length === 1) return found[0]!.file;
  if (runs.length === 0) throw noRuns(place);
  if (found.length > 1)
    throw new UserError(`${found.length} runs ${place.words} are named ${name}. Say which: ${listed(found)}.`);
  if (/^\d+\.\d+$/.test(name))
    throw new UserError(`${name} is the number of a call. Name its run first, as in "toolbreak show last ${name}".`);
  throw new UserError(`There is no run ${shown(name)} ${place.words}. The newest are ${listed(runs)}.`);
}

export function noRuns({ words }: Place): UserError {
  const elsewhere = words === OF_ALL ? '' : ', or look elsewhere with --project DIR or --all';
  return new UserError(
    `No run ${words} is recorded here. Record one (press F5, or "toolbreak run -- python app.py")${elsewhere}.`,
  );
}

const WAYS = 'by its number, its id, "last", or the path of its file';

function isNamed(run: RunSummary, name: string): boolean {
  return run.run === name || (/^\d{1,9}$/.test(name) && run.number === Number(name));
}

function isPath(name: string): boolean {
  return /\.(db|tbrun)$/.test(name) || /[\\/]/.test(name) || name === '.' || name === '..';
}

function pathOf(name: string): string {
  const path = resolve(name);
  const kind = kindOf(path);
  if (kind === 'nothing') throw new UserError(`There is no file ${shown(path, 300)}. A run is named ${WAYS}.`);
  if (kind === 'other') throw new UserError(`${path} is no file. A run is named ${WAYS}.`);
  if (isBundle(headOf(path)))
    throw new UserError(`${path} is an exported run. Take it in first: toolbreak import ${shown(typed(name), 300)}`);
  return path;
}

/** The first bytes of a file; none of one that cannot be read, which whoever opens it then says. */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(16);
  try {
    const fd = openSync(path, 'r');
    try {
      return head.subarray(0, readSync(fd, head, 0, head.length, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/** `3 (support_agent)`, or the id where numbers do not tell them apart. */
function listed(runs: readonly RunSummary[]): string {
  const names = runs.slice(0, NAMED).map((run) => {
    const alone = run.number > 0 && runs.filter((other) => other.number === run.number).length === 1;
    return `${alone ? run.number : run.run} (${shown(run.name)})`;
  });
  return names.join(', ') + (runs.length > NAMED ? ` and ${withCommas(runs.length - NAMED)} more` : '');
}

/** Names come from other people's files, too: what is in them cannot steer a terminal. */
function shown(name: string, longest = 60): string {
  const plain = name.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ');
  return plain.length > longest ? `${plain.slice(0, longest - 1)}…` : plain;
}

/** Folder name of the project a run file belongs to, without the hash: for people. */
export function projectOf(file: string): string {
  return basename(dirname(dirname(file))).replace(/-[0-9a-f]{10}$/, '');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function kindOf(path: string): 'file' | 'other' | 'nothing' {
  try {
    return statSync(path).isFile() ? 'file' : 'other';
  } catch {
    // Not there, or nothing that could be: too long, below a file.
    return 'nothing';
  }
}
