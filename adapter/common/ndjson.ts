/**
 * Cuts a byte stream into lines, within a size limit: the other side may be hostile, so a line that grows too long is thrown away up to
 * its end, and never held in memory.
 */
export class LineSplitter {
  private parts: Buffer[] = [];
  private size = 0;
  private skipping = false;

  constructor(
    private readonly onLine: (line: string) => void,
    private limit: number,
    /** Gets the first bytes of a line that was too long. */
    private readonly onOversize: (head: string) => void,
  ) {}

  setLimit(bytes: number): void {
    this.limit = bytes;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      if (end < 0) break;
      this.take(chunk.subarray(from, end));
      this.endLine();
      from = end + 1;
    }
    if (from < chunk.length) this.take(chunk.subarray(from));
  }

  private take(part: Buffer): void {
    if (this.skipping || part.length === 0) return;
    this.parts.push(part);
    this.size += part.length;
    if (this.size <= this.limit) return;
    const head = Buffer.concat(this.parts.map((kept) => kept.subarray(0, 256))).subarray(0, 256);
    this.skipping = true;
    this.clear();
    this.onOversize(head.toString('utf8'));
  }

  private endLine(): void {
    if (this.skipping) {
      this.skipping = false;
      return;
    }
    const line = this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts);
    this.clear();
    if (line.length > 0) this.onLine(line.toString('utf8'));
  }

  private clear(): void {
    this.parts = [];
    this.size = 0;
  }
}

/** The line's object, or nothing when it is not a JSON object. */
export function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The object as one line, whoever reads it: Node's own reading of lines ends them at two more signs, which a JSON text may hold. */
export function lineOf(object: object): string {
  return `${JSON.stringify(object).replace(/[\u2028\u2029]/g, (sign) => (sign === '\u2028' ? '\\u2028' : '\\u2029'))}\n`;
}
