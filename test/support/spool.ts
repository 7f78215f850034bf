import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { SPOOL_MAGIC } from '../../protocol/spool';
import { encodeText } from '../../adapter/store/values/canonical';
import { Complex, Dict, Float, SetValue, Tagged, Tuple, type Value } from '../../adapter/store/values/model';

/** Writes what Python's `marshal.dumps(value, 2)` writes: for tests of the decoder, and for spools made without Python. */
export function encodeMarshal(value: Value): Buffer {
  const parts: Buffer[] = [];
  put(value);
  return Buffer.concat(parts);

  function head(code: string, count: number): void {
    const bytes = Buffer.alloc(5);
    bytes.write(code, 'latin1');
    bytes.writeInt32LE(count, 1);
    parts.push(bytes);
  }

  function double(number: number): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(number);
    return bytes;
  }

  function put(item: Value): void {
    if (item === null) parts.push(Buffer.from('N'));
    else if (typeof item === 'boolean') parts.push(Buffer.from(item ? 'T' : 'F'));
    else if (typeof item === 'number' || typeof item === 'bigint') int(BigInt(item));
    else if (typeof item === 'string') {
      const bytes = encodeText(item);
      head('u', bytes.length);
      parts.push(bytes);
    } else if (item instanceof Float) parts.push(Buffer.from('g'), double(item.value));
    else if (item instanceof Complex) parts.push(Buffer.from('y'), double(item.real), double(item.imaginary));
    else if (item instanceof Uint8Array) {
      head('s', item.length);
      parts.push(Buffer.from(item));
    } else if (Array.isArray(item)) all('[', item);
    else if (item instanceof Tuple) all('(', item.items);
    else if (item instanceof SetValue) all(item.frozen ? '>' : '<', item.items);
    else if (item instanceof Dict) {
      parts.push(Buffer.from('{'));
      for (const entry of item.entries) entry.forEach(put);
      parts.push(Buffer.from('0'));
    } else if (item instanceof Tagged) {
      head('(', item.parts.length + 2);
      parts.push(Buffer.from('.'));
      put(item.tag);
      item.parts.forEach(put);
    }
  }

  function all(code: string, items: Value[]): void {
    head(code, items.length);
    items.forEach(put);
  }

  function int(number: bigint): void {
    if (number >= -(2n ** 31n) && number < 2n ** 31n) return head('i', Number(number));
    const digits: number[] = [];
    for (let rest = number < 0n ? -number : number; rest > 0n; rest >>= 15n) digits.push(Number(rest & 0x7fffn));
    head('l', number < 0n ? -digits.length : digits.length);
    const bytes = Buffer.alloc(digits.length * 2);
    digits.forEach((digit, index) => bytes.writeUInt16LE(digit, index * 2));
    parts.push(bytes);
  }
}

export function frame(payload: Buffer): Buffer {
  const bytes = Buffer.alloc(8 + ((payload.length + 3) & ~3));
  bytes.writeUInt32LE(payload.length, 0);
  bytes.writeUInt32LE(crc32(payload), 4);
  payload.copy(bytes, 8);
  return bytes;
}

export const dict = (fields: Record<string, Value>): Dict => new Dict(Object.entries(fields));

/** One segment, put together frame by frame; frames are those of `protocol/spool.ts`, as lists of items. */
export class SpoolFile {
  private parts: Buffer[] = [Buffer.from(SPOOL_MAGIC)];

  constructor(
    readonly process: string,
    readonly number = 1,
    thread = 1,
    info: Record<string, Value> = { name: 'app.py' },
    time = 1000,
  ) {
    this.add(
      0,
      1,
      process,
      Number.parseInt(process, 10),
      1,
      thread,
      'MainThread',
      1_700_000_000_000_000_000n,
      time,
      dict(info),
    );
  }

  add(...items: Value[]): this {
    this.parts.push(frame(encodeMarshal(new Tuple(items))));
    return this;
  }

  raw(bytes: Buffer): this {
    this.parts.push(bytes);
    return this;
  }

  bytes(zeros = 4096): Buffer {
    return Buffer.concat([...this.parts, Buffer.alloc(zeros)]);
  }

  write(folder: string, zeros?: number): string {
    const path = join(folder, `${this.process}-${this.number}.spool`);
    writeFileSync(path, this.bytes(zeros));
    return path;
  }
}
