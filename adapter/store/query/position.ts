import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { Query } from '../../../protocol/query';
import { UserError } from '../../common/errors';

/** Where a row stands among all that match, whatever files they are in. */
export interface Position {
  /** Wall clock in nanoseconds, or the duration. */
  key: bigint;
  /** Tells the files apart. */
  file: string;
  /** A call before an event of the same moment. */
  rank: number;
  id: number;
}

export interface Cursor {
  position: Position;
  /** Where runs that went on ended when the first page was asked, by file: times before the end mean the same on each page. */
  ends: Record<string, number>;
}

export function compare(one: Position, other: Position): number {
  if (one.key !== other.key) return one.key < other.key ? -1 : 1;
  if (one.file !== other.file) return one.file < other.file ? -1 : 1;
  return one.rank - other.rank || one.id - other.id;
}

export function fileKey(path: string): string {
  let real = path;
  try {
    real = realpathSync(path);
  } catch {
    // It has gone: its name is all there is.
  }
  return createHash('sha256').update(real).digest('hex').slice(0, 12);
}

/** What of a query must be the same on each page. */
function nameOf(query: Query, order: string): string {
  const { cursor: _cursor, limit: _limit, values: _values, ...rest } = query;
  return createHash('sha256')
    .update(JSON.stringify({ ...rest, order }, Object.keys(deepKeys({ ...rest, order })).sort()))
    .digest('hex')
    .slice(0, 12);
}

/** All keys that occur anywhere: what `JSON.stringify` takes to write them in one order. */
function deepKeys(value: unknown, into: Record<string, true> = {}): Record<string, true> {
  if (typeof value !== 'object' || value === null) return into;
  for (const [key, inner] of Object.entries(value)) {
    into[key] = true;
    deepKeys(inner, into);
  }
  return into;
}

/** `alone`: one run was asked, and another would not have its rows. */
export function writeCursor(query: Query, order: string, { position, ends }: Cursor, alone: boolean): string {
  const { key, file, rank, id } = position;
  return Buffer.from(JSON.stringify([1, nameOf(query, order), String(key), file, rank, id, ends, alone])).toString(
    'base64url',
  );
}

/** `files`: what is asked now; of several, some may have gone since the page before. Throws a `UserError`. */
export function readCursor(query: Query, order: string, files: readonly string[]): Cursor | undefined {
  if (query.cursor === undefined) return undefined;
  const parts = parse(query.cursor);
  if (parts === undefined) throw new UserError('"cursor" is not what an answer gave. Ask without it to begin again.');
  const { name, alone, ...cursor } = parts;
  const other = alone && !files.some((file) => fileKey(file) === cursor.position.file);
  if (other || name !== nameOf(query, order))
    throw new UserError('This cursor belongs to another query. Ask the same as before, or without it to begin again.');
  return cursor;
}

function parse(text: string): (Cursor & { name: string; alone: boolean }) | undefined {
  let parts: unknown;
  try {
    parts = text.length > 64 * 1024 ? undefined : JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 8) return undefined;
  const [version, name, key, file, rank, id, ends, alone] = parts as unknown[];
  if (version !== 1 || typeof name !== 'string' || typeof file !== 'string') return undefined;
  if (typeof alone !== 'boolean') return undefined;
  if (typeof key !== 'string' || !/^-?\d{1,25}$/.test(key)) return undefined;
  if ((rank !== 0 && rank !== 1) || !Number.isSafeInteger(id)) return undefined;
  if (typeof ends !== 'object' || ends === null || !Object.values(ends).every((end) => Number.isFinite(end)))
    return undefined;
  const position = { key: BigInt(key), file, rank, id: id as number };
  return { name, alone, position, ends: ends as Record<string, number> };
}
