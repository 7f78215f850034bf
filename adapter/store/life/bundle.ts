import { createHash, type Hash } from 'node:crypto';
import { createReadStream, closeSync, createWriteStream, openSync, readSync, statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { UserError } from '../../common/errors';
import { parseObject } from '../../common/ndjson';
import { isDamage, openAsItIs, problemWith } from '../database';
import { MIGRATIONS } from '../schema';
import { checkWhole } from './admit';
import { cannotExport } from './output';
import { sizeText } from './retention';
import { snapshot } from './snapshot';
import { makeWhole } from './whole';

/**
 * A run as one file to give away: these bytes, the header's length (4 bytes, high byte first), the header (JSON), and the run file, gzip-
 * compressed to the end. The line end in the mark does not survive a transfer as text, which is then told from damage.
 */
const MARK = Buffer.from('TBRUN\r\n\n', 'latin1');
export const BUNDLE_VERSION = 1;
const LARGEST_HEADER = 4096;

/** Beyond this, what is more than so many times larger than its bundle is taken for an attack: recordings are not that empty. */
const UNSUSPICIOUS = 1e9;
const LARGEST_RATIO = 200;
/** Left free on the disk of whoever imports. */
const SPARE = 64 * 1024 * 1024;

export interface BundleHeader {
  version: number;
  /** Of the Toolbreak that wrote it. */
  toolbreak: string;
  run: string;
  /** Of the run file. */
  format: number;
  bytes: number;
  sha256: string;
}

/** Writes the run into `target`: whole, or not at all. Throws a `UserError`. */
export function writeBundle(file: string, target: string, toolbreak: string): Promise<BundleHeader> {
  return makeWhole(target, async (path, watch) => {
    const copy = `${path}.db`;
    snapshot(file, copy);
    const db = openAsItIs(copy);
    const run = db.prepare('SELECT run FROM runs').pluck().get() as string | undefined;
    const format = db.pragma('user_version', { simple: true }) as number;
    db.close();
    if (run === undefined) throw new UserError(`The run file ${file} is empty.`);
    // What would be refused at its end is not sent on its way. An older one is looked at there, where it is brought up to date.
    if (format === MIGRATIONS.length) checkCopy(copy, file);
    watch();
    const counter = new Counter();
    await pipeline(createReadStream(copy), counter, drain);
    const header = { version: BUNDLE_VERSION, toolbreak, run, format, bytes: counter.bytes, sha256: counter.digest() };
    const out = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    out.write(headBytes(header));
    await pipeline(createReadStream(copy), createGzip(), out);
    return header;
  });
}

function checkCopy(copy: string, file: string): void {
  try {
    checkWhole(copy, file);
  } catch (error) {
    throw error instanceof UserError || isDamage(error) ? cannotExport(file) : error;
  }
}

async function drain(source: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of source);
}

function headBytes(header: BundleHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([MARK, length, text]);
}

/** Whether a file begins like a bundle, also one that a transfer as text has damaged. */
export function isBundle(head: Buffer): boolean {
  return head.subarray(0, 5).equals(MARK.subarray(0, 5));
}

/** What the bundle says of itself, and where its content begins. Throws a `UserError` for whatever is not whole. */
export function readHeader(file: string): { header: BundleHeader; start: number } {
  const head = Buffer.alloc(MARK.length + 4 + LARGEST_HEADER);
  const fd = openSync(file, 'r');
  let length: number;
  try {
    length = readSync(fd, head, 0, head.length, 0);
  } finally {
    closeSync(fd);
  }
  if (!head.subarray(0, MARK.length).equals(MARK))
    throw damaged(file, 'it was changed on its way, perhaps by a transfer as text');
  const size = length < MARK.length + 4 ? 0 : head.readUInt32BE(MARK.length);
  const start = MARK.length + 4 + size;
  if (size === 0 || size > LARGEST_HEADER || start > length) throw damaged(file, 'its header is not whole');
  const given = parseObject(head.toString('utf8', MARK.length + 4, start));
  const { version, toolbreak, run, format, bytes, sha256 } = given ?? {};
  if (typeof version === 'number' && version > BUNDLE_VERSION)
    throw new UserError(`${file} was exported by a newer Toolbreak. Update Toolbreak to import it.`);
  const fine =
    version === BUNDLE_VERSION &&
    typeof toolbreak === 'string' &&
    typeof run === 'string' &&
    Number.isSafeInteger(format) &&
    Number.isSafeInteger(bytes) &&
    (bytes as number) > 0 &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256);
  if (!fine) throw damaged(file, 'its header says nothing that can be understood');
  return { header: given as unknown as BundleHeader, start };
}

/** Unpacks the run file into `target`, which must not exist. Never writes more than the header said, and no more than there is room for. */
export async function unpackBundle(file: string, target: string): Promise<BundleHeader> {
  const { header, start } = readHeader(file);
  const packed = statSync(file).size - start;
  if (header.bytes > UNSUSPICIOUS && header.bytes > packed * LARGEST_RATIO)
    throw new UserError(
      `${file} would grow from ${sizeText(packed)} to ${sizeText(header.bytes)}, which no recording does. It is not imported.`,
    );
  const { bavail, bsize } = statfsSync(dirname(target));
  if (header.bytes + SPARE > bavail * bsize)
    throw new UserError(
      `There is no room for ${file}: it needs ${sizeText(header.bytes)} and ${sizeText(bavail * bsize)} are free.`,
    );
  const counter = new Counter(header.bytes);
  try {
    const out = createWriteStream(target, { flags: 'wx', mode: 0o600 });
    await pipeline(createReadStream(file, { start }), createGunzip(), counter, out);
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (error instanceof TooLong) throw damaged(file, 'it holds more than it says');
    if (typeof code === 'string' && code.startsWith('Z_'))
      throw damaged(file, code === 'Z_BUF_ERROR' ? 'its end is missing' : CHANGED);
    throw problemWith(target, error);
  }
  if (counter.bytes !== header.bytes || counter.digest() !== header.sha256) throw damaged(file, CHANGED);
  return header;
}

const CHANGED = 'its content is not what was exported';

function damaged(file: string, why: string): UserError {
  return new UserError(`${file} is damaged: ${why}. Export the run again.`);
}

class TooLong extends Error {}

/** Counts and hashes what passes through; ends what is longer than it may be. */
class Counter extends Transform {
  bytes = 0;
  private readonly hash: Hash = createHash('sha256');

  constructor(private readonly most = Infinity) {
    super();
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: Error | null, chunk?: Buffer) => void,
  ): void {
    this.bytes += chunk.length;
    if (this.bytes > this.most) return done(new TooLong());
    this.hash.update(chunk);
    done(null, chunk);
  }

  digest(): string {
    return this.hash.digest('hex');
  }
}
