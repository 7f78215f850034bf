import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Longest text or table that is read: what lies behind a wrong address must not become an endless one. */
const MOST = 1024 * 1024;

/** The memory of a process that stands still. Whatever cannot be read throws; addresses are below 2^53 on every platform there is. */
export class ProcessMemory {
  readonly #file: number;
  readonly #word = Buffer.alloc(8);

  constructor(pid: number) {
    this.#file = openSync(`/proc/${pid}/mem`, 'r');
  }

  close(): void {
    closeSync(this.#file);
  }

  bytes(address: number, length: number): Buffer {
    if (address <= 0 || length < 0 || length > MOST) throw new Error('no such memory');
    const buffer = Buffer.alloc(length);
    this.#fill(buffer, address);
    return buffer;
  }

  pointer(address: number): number {
    this.#fill(this.#word, address);
    return Number(this.#word.readBigUInt64LE());
  }

  signed(address: number): number {
    this.#fill(this.#word, address);
    return Number(this.#word.readBigInt64LE());
  }

  int32(address: number): number {
    return this.bytes(address, 4).readInt32LE();
  }

  byte(address: number): number {
    return this.bytes(address, 1)[0]!;
  }

  double(address: number): number {
    return this.bytes(address, 8).readDoubleLE();
  }

  /** Text up to its zero byte. */
  text(address: number, most = 256): string {
    const bytes = this.bytes(address, most);
    const end = bytes.indexOf(0);
    return bytes.toString('utf8', 0, end < 0 ? most : end);
  }

  #fill(buffer: Buffer, address: number): void {
    if (address <= 0 || !Number.isSafeInteger(address)) throw new Error('no such memory');
    if (readSync(this.#file, buffer, 0, buffer.length, address) !== buffer.length) throw new Error('no such memory');
  }
}

/** Places for the numbers of steps that native code overtook; the runtime has as many. */
const OVERTAKEN = 64;

/** Tells a process that stands still that a step of one of its threads is over. `places`: where it looks. */
export function overtake(pid: number, places: number | undefined, step: number): void {
  if (!places) return;
  const file = openSync(`/proc/${pid}/mem`, 'r+');
  try {
    const number = Buffer.alloc(8);
    number.writeBigUInt64LE(BigInt(step));
    writeSync(file, number, 0, 8, places + (step % OVERTAKEN) * 8);
  } finally {
    closeSync(file);
  }
}
