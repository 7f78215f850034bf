import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, type Dirent } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { Ending } from '../../../protocol/timeline';
import { messageOf, UserError } from '../../common/errors';
import { parseObject } from '../../common/ndjson';
import { summaryOf } from '../reader/folder';
import { openAsItIs, problemWith } from '../database';
import { Recording } from '../recording';
import { SPOOL_NAME } from '../spool/follower';
import { lockRecovery } from '../spoolOwner';
import { importPlace, type Admitted } from './admit';
import { noteWords } from './words';

const NOTE = 'run.json';
/** Milliseconds between what a note says and when it was written. */
const SOON = 2_000;
/** Files of one process that are named. */
const MOST_MISSING = 100;

export interface Taken extends Admitted {
  /** The app still runs; what it records from now on is not in the run file. */
  alive: boolean;
  /** Parts of it that could not be read: all that stands around them is in the run file. */
  damaged: number;
  /** The recording of a process ended before the process did. */
  partial?: true;
  /** How the app ended, where it did not end well by itself. */
  ending?: Ending;
  /** What is called a spool and cannot be one, by its name or since it is no file. */
  passedOver?: string[];
  /** Calls that were there from an earlier import. */
  earlier?: number;
}

/** A folder that could not be taken over, and why. */
export interface NotTaken {
  folder: string;
  problem: string;
}

/**
 * Takes over what apps recorded into a folder without a session (`TOOLBREAK_RECORD`): the folder itself, or one run in each folder in it. The spools stay; what
 * was taken before is not taken twice. What is wrong with one of several is no reason to leave the others. Throws a `UserError` where there is only one.
 */
export function importSpools(folder: string, runsFolder: string): { taken: Taken[]; failed: NotTaken[] } {
  const inside = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join(folder, entry.name)] : [],
  );
  const failed: NotTaken[] = [];
  const all = [folder, ...inside.sort()].flatMap((each) => {
    try {
      return [{ folder: each, note: noteIn(each), spools: readdirSync(each).some((name) => name.endsWith('.spool')) }];
    } catch (error) {
      failed.push({ folder: each, problem: `It cannot be read: ${messageOf(error)}.` });
      return [];
    }
  });
  const begun = all.flatMap(({ note, ...each }) => (note === undefined ? [] : [{ ...each, note }]));
  const found = begun.filter(({ spools }) => spools);
  const nameless = all.filter(({ note, spools }) => spools && note === undefined).map(({ folder: each }) => each);
  if (found.length === 0 && nameless.length > 0)
    throw new UserError(`${nameless.join(' and ')}: spool files are there, but no ${NOTE} that can be read.`);
  if (found.length === 0 && begun.length > 0)
    throw new UserError(
      `${folder} holds no call: no tool, node or model call was made there. TOOLBREAK_RECORD_FUNCTIONS=@usercode records plain functions of Python, too.`,
    );
  if (found.length === 0)
    throw new UserError(`${folder} holds no recording: no folder in it has a ${NOTE} and spool files.`);
  for (const each of nameless)
    failed.push({ folder: each, problem: `It has spool files, but no ${NOTE} that can be read.` });
  const taken: Taken[] = [];
  for (const { folder: each, note } of found) {
    try {
      taken.push(take(each, note, runsFolder));
    } catch (error) {
      if (found.length === 1 && failed.length === 0) throw error;
      failed.push({ folder: each, problem: messageOf(error) });
    }
  }
  return { taken, failed };
}

interface Note {
  id: string;
  name: string;
  pid: number;
  machine: string;
  started: number;
  /** The file has the time at which it was written, and so have those beside it: they are no copies. */
  timed: boolean;
}

/** Nothing when there is none, or one that no runtime of ours wrote. */
function noteIn(folder: string): Note | undefined {
  try {
    const file = join(folder, NOTE);
    const stat = statSync(file);
    // Whoever opens a pipe waits for its other end.
    if (!stat.isFile() || stat.size > 1024 * 1024) return undefined;
    const { version, id, name, pid, machine, started } = parseObject(readFileSync(file, 'utf8')) ?? {};
    const fine =
      version === 1 &&
      typeof id === 'string' &&
      /^[0-9a-f]{16}$/.test(id) &&
      typeof name === 'string' &&
      typeof machine === 'string' &&
      Number.isSafeInteger(pid) &&
      typeof started === 'number' &&
      started > 0 &&
      started < 2 ** 62;
    if (!fine) return undefined;
    const timed = Math.abs(stat.mtimeMs - started / 1e6) < SOON;
    return { id, name: name.slice(0, 200), pid: pid as number, machine, started, timed };
  } catch {
    return undefined;
  }
}

function take(folder: string, note: Note, runsFolder: string): Taken {
  const run = basename(folder);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,150}$/.test(run))
    throw new UserError(`The folder ${folder} cannot be a run's: its name is no id of a run.`);
  const lock = join(importPlace(runsFolder), '..', `.import-${run}`);
  mkdirSync(lock, { recursive: true, mode: 0o700 });
  const unlock = lockRecovery(lock);
  if (unlock === undefined)
    throw new UserError(`${folder} is just being imported by another process. Try again in a moment.`);
  const runFile = join(runsFolder, `${run}.db`);
  const session = `record-${note.id}`;
  try {
    const earlier = callsOf(runFile, session);
    const passedOver = strangeIn(folder);
    const options = {
      runFile,
      spoolFolder: folder,
      run,
      session,
      name: note.name,
      elsewhere: note.machine !== machine(),
      timed: note.timed,
    };
    // Whoever started the app is over in any case: only its processes count.
    const owner = { pid: 0, wall: BigInt(Math.round(note.started)) };
    const recording: Recording = new Recording(options, () => recording.nextIndex(), owner);
    let alive: boolean;
    try {
      for (const reason of lackedIn(folder)) recording.lacks(reason);
      for (const file of passedOver) recording.lacks(`${file} is no spool file and was passed over`);
      ({ alive } = recording.finish(undefined));
      if (!alive) recording.lookForLastWord(note.pid);
    } finally {
      recording.close();
    }
    if (!alive) noteWords(runFile);
    const db = openAsItIs(runFile);
    const said = db.prepare('SELECT number, calls, damaged, coalesce(workflow, name) AS name FROM runs').get() as Pick<
      Taken,
      'number' | 'calls' | 'name' | 'damaged'
    >;
    db.close();
    const { partial, ending } = summaryOf(runFile);
    return {
      file: runFile,
      run,
      ...said,
      alive,
      ...(partial === true && { partial }),
      ...(ending !== undefined && { ending }),
      ...(passedOver.length > 0 && { passedOver }),
      ...(earlier !== undefined && { earlier }),
    };
  } finally {
    unlock();
    rmSync(lock, { recursive: true, force: true });
  }
}

/** A file that its writer went on from has a head at least, and a frame or the word that closes it. */
const SMALLEST = 12;

/**
 * Spool files of a process are numbered, and nobody takes one away here: what is wrong with those that are not there, or empty, although a later one
 * is there.
 */
function lackedIn(folder: string): string[] {
  const sizes = new Map<string, Map<number, number>>();
  for (const name of readdirSync(folder)) {
    const [, process, number] = SPOOL_NAME.exec(name) ?? [];
    if (process === undefined) continue;
    const known = sizes.get(process) ?? new Map<number, number>();
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    // What is no file is passed over, and said by itself.
    sizes.set(process, known.set(Number(number), stat?.isFile() === true ? stat.size : Infinity));
  }
  return [...sizes].flatMap(([process, known]) => {
    const lacked: string[] = [];
    for (let number = 1, last = Math.max(...known.keys()); number < last && lacked.length < MOST_MISSING; number++) {
      const size = known.get(number);
      if (size === undefined) lacked.push(`the spool file ${process}-${number}.spool is missing`);
      else if (size < SMALLEST) lacked.push(`the spool file ${process}-${number}.spool is empty`);
    }
    return lacked;
  });
}

/** What ends with `.spool` and is none: it may be a pipe, a link, or renamed. */
function strangeIn(folder: string): string[] {
  const isSpool = (entry: Dirent): boolean => SPOOL_NAME.test(entry.name) && entry.isFile();
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.spool') && !isSpool(entry))
    .map(({ name }) => name)
    .slice(0, MOST_MISSING);
}

/** Of an earlier import of this very recording. Another run of this name is not touched. */
function callsOf(runFile: string, session: string): number | undefined {
  if (statSync(runFile, { throwIfNoEntry: false }) === undefined) return undefined;
  const db = openAsItIs(runFile);
  try {
    const found = db.prepare('SELECT session, calls FROM runs').get() as { session: string; calls: number } | undefined;
    if (found?.session !== session) throw new UserError(`Another run is there already: ${runFile}. Delete it first.`);
    return found.calls;
  } catch (error) {
    throw problemWith(runFile, error);
  } finally {
    db.close();
  }
}

/** As the runtime says it in `_record.machine`. */
function machine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
