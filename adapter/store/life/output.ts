import { messageOf, UserError } from '../../common/errors';
import { DamagedRunError, isDiskFull } from '../database';

/** Where SQLite met damage while it read all of a run. */
export function cannotExport(file: string): UserError {
  return new DamagedRunError(
    `The run file ${file} is damaged in a part, and cannot be exported. "toolbreak check RUN" says what of it can still be read.`,
  );
}

/** The sentence for what the disk, or SQLite, said about a file that a person wanted written. */
export function cannotWrite(file: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  const code = String((error as { code?: unknown } | null)?.code);
  if (isDiskFull(file, code)) return new UserError(`The disk is full: ${file} could not be written.`);
  if (code === 'ENOENT') return new UserError(`${file} cannot be written: its folder does not exist.`);
  if (code === 'ENOTDIR') return new UserError(`${file} cannot be written: what should be its folder is none.`);
  if (code === 'ENAMETOOLONG') return new UserError(`${file} cannot be written: its name is too long.`);
  if (code === 'EISDIR') return new UserError(`${file} cannot be written: it is a folder.`);
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM' || code.startsWith('SQLITE_READONLY'))
    return new UserError(`${file} cannot be written: it, or its folder, is read-only.`);
  if (code.startsWith('SQLITE_CANTOPEN'))
    return new UserError(`${file} cannot be written. Check that its folder exists and can be written.`);
  return new UserError(`${file} could not be written: ${messageOf(error)}.`);
}
