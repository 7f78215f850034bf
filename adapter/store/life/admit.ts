import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  copyFileSync,
  constants,
  linkSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { UserError } from '../../common/errors';
import { makePrivateFolder } from '../../common/paths';
import { closePlain, openAsItIs, openForWriting, problemWith, type Connection } from '../database';
import { CallReader } from '../chunks/callReader';
import { longestCheck } from '../chunks/longestCalls';
import { sameZone } from './checkCalls';
import { MIGRATIONS, migrate } from '../schema';
import { inTurn, nextRunNumber, noteRunNumber } from '../runNumber';
import { copyInto } from './snapshot';

const LEFTOVER = '.import-';
const STALE = 86_400_000;

/** Makes the folder of a project's runs, and the name of a file in it that nobody takes for a run. */
export function importPlace(runsFolder: string): string {
  const project = dirname(runsFolder);
  for (const folder of [dirname(dirname(project)), dirname(project), project, runsFolder]) makePrivateFolder(folder);
  // Of an import that was killed.
  for (const name of readdirSync(runsFolder)) {
    const path = join(runsFolder, name);
    const stat = name.startsWith(LEFTOVER) ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (stat !== undefined && Date.now() - stat.mtimeMs > STALE) rmSync(path, { recursive: true, force: true });
  }
  return join(runsFolder, `${LEFTOVER}${process.pid}-${randomBytes(4).toString('hex')}`);
}

/** Copies a run file that came as it is, with its log, into `target`; only once its tables are known to be ours. */
export function copyRunFile(file: string, target: string): void {
  const db = openAsItIs(file);
  try {
    checkTables(db, file);
    copyInto(db, target);
  } catch (error) {
    throw problemWith(file, error);
  } finally {
    db.close();
  }
}

/** Rows of a lane. */
const DEEPEST = 1_000_000;

interface Said {
  number: number;
  calls: number;
  name: string;
}

export interface Admitted extends Said {
  file: string;
  run: string;
}

const LARGEST_NUMBER = 1_000_000;

/**
 * Makes a file from elsewhere a run of this folder, if it is whole and has exactly our tables: nothing in it may run when it is opened, and
 * nothing that is there is overwritten. `source` names it in sentences. Throws a `UserError`; the file at `made` is gone then.
 */
export function admit(made: string, runsFolder: string, source: string): Admitted {
  try {
    const run = checkWhole(made, source);
    const file = join(runsFolder, `${run}.db`);
    makeOurs(made);
    return inTurn(runsFolder, () => {
      // It needs no number then.
      if (existsSync(file)) throw isThere(file);
      const said = numbered(made, file);
      chmodSync(made, 0o600);
      publish(made, file);
      return { file, run, ...said };
    });
  } catch (error) {
    throw problemWith(source, error);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(made + end, { force: true });
  }
}

function makeOurs(made: string): void {
  const db = openForWriting(made);
  try {
    // Its session is not ours to ask; a pid of another machine may be somebody here.
    db.exec('UPDATE runs SET ended = started + coalesce(last, 0) WHERE ended IS NULL');
    // Which texts are where is found out again: a search believes it.
    db.exec('DELETE FROM word_groups; DELETE FROM words');
  } finally {
    closePlain(db);
  }
}

/** The run of the file that is to be at `file`, with a number that no other one has there. */
function numbered(made: string, file: string): Said {
  const db = openForWriting(made);
  try {
    const number = db.prepare('SELECT number FROM runs').pluck().get() as number;
    // One that no person would type, or type again, is nobody's.
    if (!(number >= 1 && number <= LARGEST_NUMBER) || numbersIn(dirname(file)).has(number))
      db.prepare('UPDATE runs SET number = ?').run(nextRunNumber(file));
    const said = db.prepare('SELECT number, calls, coalesce(workflow, name) AS name FROM runs').get() as Said;
    noteRunNumber(dirname(file), said.number);
    return said;
  } finally {
    closePlain(db);
  }
}

/** Answers the run's id. `source` names the file in sentences. Throws a `UserError` for what is not whole; one of an older version is brought up to date. */
export function checkWhole(made: string, source: string): string {
  let db: Connection;
  try {
    db = openAsItIs(made);
  } catch (error) {
    throw error instanceof UserError ? new UserError(error.message.replaceAll(made, source)) : error;
  }
  try {
    checkTables(db, source);
    if ((db.pragma('user_version', { simple: true }) as number) < MIGRATIONS.length) {
      // What it says is looked at in the form in which it will be read.
      db.close();
      openForWriting(made).close();
      db = openAsItIs(made);
      checkTables(db, source);
    }
    // With the indexes: one that contradicts its table fails only when it is used.
    const found = db.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw new UserError(`The run file ${source} is damaged.`);
    const runs = db.prepare('SELECT id, run FROM runs LIMIT 2').all() as { id: number; run: string }[];
    const [row] = runs;
    if (runs.length !== 1 || row?.id !== 1) throw foreign(source, 'it does not hold one run');
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,150}$/.test(row.run)) throw foreign(source, 'its id is no id of a run');
    checkValues(db, source);
    try {
      checkBlocks(db, source);
      checkParents(db, source);
    } catch (error) {
      // A block that cannot be read does not know which file it is in.
      if (!(error instanceof UserError) || error.message.includes(source)) throw error;
      throw new UserError(`The run file ${source} is damaged. ${error.message}`);
    }
    const wrong = db.prepare('SELECT 1 FROM events WHERE data IS NOT NULL AND NOT json_valid(data) LIMIT 1').get();
    if (wrong !== undefined) throw changed(source, 'an event is not JSON');
    return row.run;
  } finally {
    db.close();
  }
}

interface Entry {
  type: string;
  name: string;
  tbl_name: string;
  sql: string | null;
}

const SCHEMA = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name';

/** Exactly the tables and indexes of its version, word for word: a view or a trigger of somebody else would run with our rights. */
function checkTables(db: Connection, source: string): void {
  db.pragma('trusted_schema = OFF');
  const version = db.pragma('user_version', { simple: true }) as number;
  const model = new Database(':memory:');
  try {
    for (const step of MIGRATIONS.slice(0, version)) migrate(model, step);
    const words = (entries: Entry[]): string =>
      entries.map(({ type, name, tbl_name, sql }) => [type, name, tbl_name, plain(sql)].join('\0')).join('\n');
    const ours = words(model.prepare(SCHEMA).all() as Entry[]);
    if (words(db.prepare(SCHEMA).all() as Entry[]) !== ours) throw foreign(source, 'its tables are not ours');
  } finally {
    model.close();
  }
}

/** What SQLite itself writes differently: white space, and quotes around a name that was changed. */
function plain(sql: string | null): string {
  return (sql ?? '').replace(/["\s]+/g, ' ').trim();
}

/** Every named value is what its name says: then none can contain itself. */
function checkValues(db: Connection, source: string): void {
  const rows = db.prepare('SELECT cid, bytes FROM "values" WHERE cid IS NOT NULL').iterate();
  for (const row of rows) {
    const { cid, bytes } = row as { cid: Buffer; bytes: Buffer };
    if (!createHash('sha256').update(bytes).digest().equals(cid))
      throw changed(source, 'a value is not what its name says');
  }
}

/** Blocks say of themselves what is in them, and the tables beside them have no sizes that cannot be. */
function checkBlocks(db: Connection, source: string): void {
  const strange = db.prepare(
    `SELECT (SELECT count(*) FROM chunks WHERE id NOT BETWEEN 0 AND 8796093022207)
       + (SELECT count(*) FROM long_calls WHERE size NOT BETWEEN 0 AND 63) + (SELECT count(*) FROM failed_calls WHERE size NOT BETWEEN 0 AND 63)`,
  );
  if (strange.pluck().get() !== 0) throw changed(source, 'it has calls that cannot be');
  // A damaged recording may have begun a call twice, which is counted twice.
  const counted = db.prepare(
    'SELECT calls >= (SELECT coalesce(sum(calls), 0) FROM chunks) AND min(errors, holds, tokens, damaged) >= 0 FROM runs',
  );
  if (counted.pluck().get() !== 1) throw changed(source, 'it has more calls than it says');
  const reader = new CallReader(db);
  const isLongest = longestCheck(db);
  const zones = new Map(reader.zones().map((zone) => [zone.id, zone]));
  for (const id of reader.ids()) {
    const chunk = reader.chunk(id)!;
    const zone = zones.get(id);
    const empty = chunk.zone().calls === 0;
    if ((zone === undefined ? !empty : !sameZone(zone, chunk)) || !isLongest(chunk))
      throw changed(source, 'a block of calls is not what it says');
    for (let slot = 0; slot < chunk.length; slot++)
      if (chunk.depth[slot]! < 0 || chunk.depth[slot]! > DEEPEST) throw changed(source, 'a call lies too deep');
  }
}

/** A call begins after its parent, so its number is larger; where that is not so, nobody may be his own ancestor. */
function checkParents(db: Connection, source: string): void {
  const calls = new CallReader(db);
  const fine = new Set<number>();
  for (const { id: start, parent } of calls.all()) {
    if (parent === null || parent < start) continue;
    const path = new Set<number>();
    for (let at: number | null | undefined = start; at !== null && at !== undefined && !fine.has(at);) {
      if (path.has(at)) throw changed(source, 'a call is its own ancestor');
      path.add(at);
      at = calls.get(at)?.parent;
    }
    for (const id of path) fine.add(id);
  }
}

function foreign(source: string, why: string): UserError {
  return new UserError(`${source} is no recording of Toolbreak: ${why}. It is not imported.`);
}

/** It has our tables, and what is in them cannot be as it was written. */
function changed(source: string, why: string): UserError {
  const rest = /\.db$/i.test(source) ? ' What of it can be read is shown by "toolbreak show FILE".' : '';
  return new UserError(`${source} is damaged, or was changed: ${why}. It is not imported.${rest}`);
}

function numbersIn(folder: string): Set<number> {
  const numbers = new Set<number>();
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.db')) numbers.add(numberOf(join(folder, name)));
  }
  return numbers;
}

/** 0 for a file that cannot be read: it has no number that could be taken. */
function numberOf(file: string): number {
  let db: Connection | undefined;
  try {
    db = openAsItIs(file);
    return (db.prepare('SELECT number FROM runs').pluck().get() as number | undefined) ?? 0;
  } catch {
    return 0;
  } finally {
    db?.close();
  }
}

/** Under its own name, at once and whole, unless there is something already. */
function publish(made: string, file: string): void {
  try {
    try {
      linkSync(made, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
      // A file system without links.
      copyFileSync(made, file, constants.COPYFILE_EXCL);
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? isThere(file) : error;
  }
  unlinkSync(made);
}

function isThere(file: string): UserError {
  const number = numberOf(file);
  const as = number > 0 ? `, as run ${number}` : '';
  return new UserError(`The run is there already${as}: ${file}. Delete it first to import it again.`);
}
