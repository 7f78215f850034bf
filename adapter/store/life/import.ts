import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { UserError } from '../../common/errors';
import { problemWith } from '../database';
import { isGzip } from '../formats/otlpDocuments';
import { readOtlp } from '../formats/readOtlp';
import { admit, copyRunFile, importPlace, type Admitted } from './admit';
import { isBundle, unpackBundle } from './bundle';
import { noteWords } from './words';

const SQLITE = Buffer.from('SQLite format 3\0', 'latin1');

export interface Imported extends Admitted {
  /** Of spans of others: what is not in the run, in a sentence each, and how often. */
  leftOut?: { why: string; count: number }[];
}

/** Takes a recording from elsewhere into this folder of runs, whatever form it has. Throws a `UserError`. */
export async function importFile(path: string, runsFolder: string): Promise<Imported> {
  const head = headOf(path);
  const bundle = isBundle(head);
  const database = head.subarray(0, SQLITE.length).equals(SQLITE);
  if (!bundle && !database && !isGzip(head) && !/^\ufeff?\s*[[{]/.test(head.toString('utf8')))
    throw new UserError(
      `${path} is nothing that Toolbreak can import: no exported run, no run file, and no OTLP JSON.`,
    );
  const made = importPlace(runsFolder);
  try {
    let left: ReadonlyMap<string, number> = new Map();
    if (bundle) await unpackBundle(path, made);
    else if (database) copyRunFile(path, made);
    else left = await readOtlp(path, made);
    const admitted = admit(made, runsFolder, path);
    noteWords(admitted.file);
    const leftOut = [...left].map(([why, count]) => ({ why, count }));
    return { ...admitted, ...(leftOut.length > 0 && { leftOut }) };
  } finally {
    rmSync(made, { force: true });
  }
}

function headOf(path: string): Buffer {
  const head = Buffer.alloc(64);
  let fd: number | undefined;
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw new UserError(`There is no file ${path}.`);
    if (!stat.isFile()) throw new UserError(`${path} is no file.`);
    fd = openSync(path, 'r');
    return head.subarray(0, readSync(fd, head, 0, head.length, 0));
  } catch (error) {
    throw problemWith(path, error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
