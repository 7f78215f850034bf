import { accessSync, closeSync, constants, existsSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { UserError } from '../common/errors';
import { APPLICATION_ID, MIGRATIONS, migrate, type Migration } from './schema';

export type Connection = Database.Database;

/** The file, or a part of it, cannot be read for what is in it. */
export class DamagedRunError extends UserError {}

/** Whether SQLite found a file to be damaged, or none of its own. */
export function isDamage(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(CORRUPT|NOTADB)/.test(code);
}

/** Values of an app are its user's own; SQLite gives the files beside it the same rights. A failure is told by whoever opens it. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch {
    // It is there already, or cannot be made.
  }
}

/** Opens a run file for writing: makes it, or brings an older one up to date. Throws a `UserError` with a sentence. */
export function openForWriting(file: string, migrations: readonly Migration[] = MIGRATIONS): Connection {
  makePrivate(file);
  const db = open(file, false);
  try {
    check(db, file, migrations.length);
    const version = versionOf(db);
    db.pragma('journal_mode = WAL');
    // Survives the death of every process; after a power cut the last moments may be missing, and the file stays whole.
    db.pragma('synchronous = NORMAL');
    db.pragma('wal_autocheckpoint = 4000');
    db.pragma('cache_size = -32000');
    if (version < migrations.length) {
      const steps = db.transaction(() => {
        // Another process may have brought it up to date since.
        const version = versionOf(db);
        if (version === 0) db.pragma(`application_id = ${APPLICATION_ID}`);
        for (const step of migrations.slice(version)) migrate(db, step);
        if (version < migrations.length) db.pragma(`user_version = ${migrations.length}`);
      });
      steps.exclusive();
    }
    return db;
  } catch (error) {
    db.close();
    throw problemWith(file, error);
  }
}

/** Opens a run file for reading; an older one is brought up to date first. Throws a `UserError` with a sentence. */
export function openForReading(file: string, migrations: readonly Migration[] = MIGRATIONS): Connection {
  if (!existsSync(file)) throw new UserError(`The run file ${file} does not exist. It may have been deleted.`);
  const db = open(file, true);
  try {
    check(db, file, migrations.length);
    if (versionOf(db) === migrations.length) return db;
  } catch (error) {
    db.close();
    throw problemWith(file, error);
  }
  db.close();
  openForWriting(file, migrations).close();
  return open(file, true);
}

/** Closes a connection for writing, and makes the run one plain file again where nobody else has it open. */
export function closePlain(db: Connection): void {
  if (!db.open) return;
  try {
    db.pragma('busy_timeout = 200');
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('journal_mode = DELETE');
  } catch {
    // A reader has it open: the log beside the file stays, which is just as safe.
  }
  db.close();
}

/** Opens a run file for a look, whatever version it has up to ours: it stays as it is. Throws a `UserError` with a sentence. */
export function openAsItIs(file: string): Connection {
  if (!existsSync(file)) throw new UserError(`The run file ${file} does not exist. It may have been deleted.`);
  const db = open(file, true);
  try {
    check(db, file, MIGRATIONS.length);
    return db;
  } catch (error) {
    db.close();
    throw problemWith(file, error);
  }
}

function open(file: string, readonly: boolean): Connection {
  try {
    const db = new Database(file, { readonly, fileMustExist: readonly, timeout: 3000 });
    return db;
  } catch (error) {
    throw problemWith(file, error);
  }
}

function check(db: Connection, file: string, known: number): void {
  const id = db.pragma('application_id', { simple: true });
  const version = versionOf(db);
  // Before anything else is read: what a newer Toolbreak made is not damaged for us.
  if (id === APPLICATION_ID && version > known) {
    throw new UserError(
      `The run file ${file} was made by a newer Toolbreak (format ${version}; this one reads up to ${known}). Update Toolbreak to open it.`,
    );
  }
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
  if (id !== APPLICATION_ID && (id !== 0 || tables > 0)) throw new UserError(`${file} is not a Toolbreak run file.`);
  if (id === 0 && db.readonly) throw new DamagedRunError(`The run file ${file} is empty.`);
}

function versionOf(db: Connection): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function isForbidden(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** Whether a code of SQLite, or of the file system, means that there is no space left for a file. */
export function isDiskFull(file: string, code: string): boolean {
  if (code === 'ENOSPC' || code.startsWith('SQLITE_FULL')) return true;
  // Shared memory, a file beside the run file, could not be made: for want of space, or, for instance, of a file that may be so large.
  return code === 'SQLITE_IOERR_SHMSIZE' && freeBytes(dirname(file)) < SHARED_MEMORY;
}

/** More than SQLite asks for at once. */
const SHARED_MEMORY = 1024 * 1024;

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    // Where nobody can tell, it is not what is wrong.
    return Infinity;
  }
}

/** The sentence for what SQLite or the file system said about a run file. */
export function problemWith(file: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  const message = error instanceof Error ? error.message : String(error);
  if (typeof code !== 'string') return new UserError(`The run file ${file} cannot be used: ${message}.`);
  if (code === 'ELOOP') return new UserError(`${file} is a symbolic link that leads to itself.`);
  if (isDiskFull(file, code))
    return new UserError(`The disk is full: the run file ${file} cannot grow. Free some space.`);
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new UserError(`The run file ${file} is locked by another program. Close that program.`);
  }
  if ((code.startsWith('SQLITE_CANTOPEN') || code === 'EACCES' || code === 'EPERM') && isForbidden(file))
    return new UserError(`The run file ${file} cannot be read: its rights, or those of its folder, do not let you.`);
  if (code.startsWith('SQLITE_READONLY') || code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new UserError(`The run file ${file} cannot be written: it, or its folder, is read-only.`);
  }
  if (code.startsWith('SQLITE_CANTOPEN'))
    return new UserError(`The run file ${file} cannot be opened. Check that its folder exists and can be written.`);
  // Whatever is named otherwise never was one.
  if (code.startsWith('SQLITE_NOTADB') && !file.endsWith('.db'))
    return new UserError(`${file} is not a Toolbreak run file.`);
  if (isDamage(error)) return new DamagedRunError(`The run file ${file} is damaged.`);
  if (code.startsWith('SQLITE_IOERR')) return new UserError(`The disk refused the run file ${file} (${message}).`);
  return new UserError(`The run file ${file} cannot be used: ${message}.`);
}
