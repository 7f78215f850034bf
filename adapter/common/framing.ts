/** Larger messages are refused; no honest client sends them. */
export const LARGEST_MESSAGE = 64 * 1024 * 1024;
/** A header that does not end within this many bytes is none. */
const LARGEST_HEADER = 8 * 1024;
const END_OF_HEADER = Buffer.from('\r\n\r\n');
const MARK = Buffer.from('Content-Length:');

export type Framed = { message: unknown } | { problem: string };

/** Takes a byte stream apart into `Content-Length` frames. Never throws: what cannot be read becomes a sentence. */
export class FrameReader {
  #header: Buffer = Buffer.alloc(0);
  /** Parts of the body that is being read; joined once. */
  #parts: Buffer[] = [];
  /** Bytes of the body still to come; undefined while a header is read. */
  #missing: number | undefined;
  #skipping = false;

  constructor(private largest = LARGEST_MESSAGE) {}

  /** Nothing of a next message was taken in yet. */
  get isBetween(): boolean {
    return this.#missing === undefined && this.#header.length === 0;
  }

  setLargest(bytes: number): void {
    this.largest = bytes;
  }

  push(chunk: Buffer): Framed[] {
    const out: Framed[] = [];
    let rest: Buffer | undefined = chunk;
    while (rest && rest.length > 0) {
      rest = this.#missing === undefined ? this.#readHeader(rest, out) : this.#readBody(rest, this.#missing, out);
    }
    return out;
  }

  #readHeader(chunk: Buffer, out: Framed[]): Buffer | undefined {
    this.#header = this.#header.length > 0 ? Buffer.concat([this.#header, chunk]) : chunk;
    const end = this.#header.indexOf(END_OF_HEADER);
    if (end < 0) {
      if (this.#header.length > LARGEST_HEADER) {
        out.push({ problem: 'A message without a header was skipped.' });
        this.#header = afterNoise(this.#header);
      }
      return undefined;
    }
    const text = this.#header.toString('latin1', 0, end);
    const rest = this.#header.subarray(end + END_OF_HEADER.length);
    this.#header = Buffer.alloc(0);
    const match = /(?:^|\r\n|.)content-length:[ \t]*(\d{1,15})[ \t]*(?:\r\n|$)/is.exec(text);
    if (!match) {
      out.push({ problem: 'A message with a bad header was skipped.' });
      return rest;
    }
    const length = Number(match[1]);
    this.#skipping = length > this.largest;
    if (this.#skipping) {
      out.push({ problem: `A message of ${length} bytes was refused; the largest is ${this.largest}.` });
    }
    this.#missing = length;
    return length === 0 ? this.#readBody(rest, 0, out) : rest;
  }

  #readBody(chunk: Buffer, missing: number, out: Framed[]): Buffer {
    const part = chunk.subarray(0, missing);
    if (!this.#skipping) {
      this.#parts.push(part);
    }
    this.#missing = missing - part.length;
    if (this.#missing === 0) {
      this.#missing = undefined;
      if (!this.#skipping) {
        out.push(parse(Buffer.concat(this.#parts)));
      }
      this.#parts = [];
      this.#skipping = false;
    }
    return chunk.subarray(part.length);
  }
}

/** What may still become a header: from the next mark on, or the last bytes that could begin one. */
function afterNoise(noise: Buffer): Buffer {
  const next = noise.indexOf(MARK, 1);
  return Buffer.from(
    next >= 0 && noise.length - next <= LARGEST_HEADER
      ? noise.subarray(next)
      : noise.subarray(noise.length - MARK.length),
  );
}

function parse(body: Buffer): Framed {
  try {
    return { message: JSON.parse(body.toString('utf8')) as unknown };
  } catch {
    return { problem: 'A message that is not JSON was skipped.' };
  }
}

export function frame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body]);
}
