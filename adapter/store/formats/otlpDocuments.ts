import { closeSync, createReadStream, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip, gunzipSync } from 'node:zlib';
import { UserError } from '../../common/errors';
import { LineSplitter, parseObject } from '../../common/ndjson';
import type { Fields } from './otlpValue';

/** Largest document that is read as one; what is larger has to come in lines. */
const LARGEST_DOCUMENT = 128 * 1024 * 1024;
export const TOO_LONG = 'a line is longer than 128 MB';
/** Beyond this, what is more than so many times larger than its packed file is taken for an attack. */
const UNSUSPICIOUS = 1e9;
const LARGEST_RATIO = 200;

interface Taker {
  take: (document: Fields) => void;
  /** Hears why a part of the file could not be read. */
  fail: (why: string) => void;
}

const UNREADABLE = 'a line could not be read';

/** Every document of a file: one, a list of them, one a line, or several that are laid out over lines; gzip-compressed or not. Throws a `UserError`. */
export async function readDocuments(source: string, taker: Taker): Promise<void> {
  const packed = isPacked(source);
  const whole = wholeText(source, packed);
  if (whole !== undefined && takeWhole(whole, taker)) return;
  const lines = new Lines(taker);
  const splitter = new LineSplitter(
    (line) => lines.line(line),
    LARGEST_DOCUMENT,
    () => taker.fail(TOO_LONG),
  );
  for await (const chunk of packed ? unpacked(source, taker) : createReadStream(source)) splitter.push(chunk as Buffer);
  splitter.push(Buffer.from('\n'));
  lines.end();
}

export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

function isPacked(source: string): boolean {
  const head = Buffer.alloc(2);
  const fd = openSync(source, 'r');
  try {
    readSync(fd, head, 0, head.length, 0);
  } finally {
    closeSync(fd);
  }
  return isGzip(head);
}

/** Nothing for what is too large to be read as one, or cannot be unpacked as a whole. */
function wholeText(source: string, packed: boolean): string | undefined {
  if (statSync(source).size > LARGEST_DOCUMENT) return undefined;
  const bytes = readFileSync(source);
  if (!packed) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes, { maxOutputLength: LARGEST_DOCUMENT }).toString('utf8');
  } catch {
    return undefined;
  }
}

function takeWhole(given: string, { take, fail }: Taker): boolean {
  const text = plainText(given);
  if (!/^\s*\[/.test(text)) {
    const whole = parseObject(text);
    if (whole === undefined) return false;
    take(whole);
    return true;
  }
  const list = listIn(text);
  if (list === undefined) return false;
  for (const one of list)
    if (typeof one === 'object' && one !== null && !Array.isArray(one)) take(one as Fields);
    else fail('an entry of the list is no object');
  return true;
}

function listIn(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

async function* unpacked(source: string, { fail }: Taker): AsyncGenerator<Buffer> {
  const most = Math.max(UNSUSPICIOUS, statSync(source).size * LARGEST_RATIO);
  let size = 0;
  const stream = pipeline(createReadStream(source), createGunzip(), () => undefined);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most)
        throw new UserError(
          `${source} would grow to more than ${most} bytes, which no recording does. It is not imported.`,
        );
      yield chunk;
    }
  } catch (error) {
    if (error instanceof UserError || !/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    fail('the rest of the file could not be unpacked');
  }
}

/** Lines that are a document each, or of which several make one: these begin and end with a line that is a bracket and not indented. */
class Lines {
  private open: string[] | undefined;
  private size = 0;

  constructor(private readonly taker: Taker) {}

  line(text: string): void {
    if (this.open !== undefined) return this.inside(text);
    if (text.trim() === '') return;
    if (/^\ufeff?\{$/.test(text.trimEnd())) {
      this.open = [text];
      this.size = 0;
    } else this.document(text);
  }

  end(): void {
    if (this.open !== undefined) this.taker.fail(UNREADABLE);
  }

  private inside(text: string): void {
    // In a document that is laid out no other line begins like that: the one before was not ended.
    if (text.startsWith('{')) {
      this.end();
      this.open = undefined;
      return this.line(text);
    }
    const last = /^\}\s*(\{?)$/.exec(text.trimEnd());
    const lines = this.open!;
    this.size += text.length;
    if (this.size <= LARGEST_DOCUMENT) lines.push(last === null ? text : '}');
    if (last === null) return;
    this.document(lines.join('\n'));
    this.open = last[1] === '{' ? ['{'] : undefined;
    this.size = 0;
  }

  private document(text: string): void {
    // What begins otherwise is none: to let the parser find that out takes a hundred times as long.
    const plain = plainText(text);
    const document = plain.trimStart().startsWith('{') ? parseObject(plain) : undefined;
    if (document === undefined) this.taker.fail(UNREADABLE);
    else this.taker.take(document);
  }
}

const NAMES = new Map(
  [
    'resource_spans',
    'scope_spans',
    'trace_id',
    'span_id',
    'parent_span_id',
    'start_time_unix_nano',
    'end_time_unix_nano',
    'time_unix_nano',
    'string_value',
    'bool_value',
    'int_value',
    'double_value',
    'bytes_value',
    'array_value',
    'kvlist_value',
  ].map((name) => [name, name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]),
);
/** In a text of JSON nothing but a field's name stands so. */
const FIELD = /"([a-z_]{7,20})"(?=\s*:)/g;
const LARGE_NUMBER =
  /("(?:startTimeUnixNano|endTimeUnixNano|timeUnixNano|intValue)"\s*:\s*)(-?\d{16,20})(?=\s*[,}\]])/g;

/** JSON of OTLP in one form: names in camel case, numbers that JavaScript does not hold exactly as texts, and no byte order mark. */
function plainText(given: string): string {
  let text = given.startsWith('\ufeff') ? given.slice(1) : given;
  if (text.includes('"resource_spans"'))
    text = text.replace(FIELD, (found, name: string) => (NAMES.has(name) ? `"${NAMES.get(name)!}"` : found));
  return text.replace(LARGE_NUMBER, '$1"$2"');
}

/** An id as its digits; what protobuf makes JSON of has it as Base64. Nothing for what is none. */
export function idOf(given: unknown, digits: number): string | undefined {
  if (typeof given !== 'string') return undefined;
  const hex = /^[A-Za-z0-9+/]+=+$/.test(given) ? Buffer.from(given, 'base64').toString('hex') : given.toLowerCase();
  return hex.length === digits && /^[0-9a-f]+$/.test(hex) && !/^0+$/.test(hex) ? hex : undefined;
}
