import { deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import { DamagedRunError } from '../database';
import type { Sink } from '../values/canonical';
import { DecodeError } from '../values/model';

/** Whole numbers below this fit into one code; larger ones follow after a code that says so. */
const WIDE = 2 ** 51;
const WIDER = 2 ** 52;

/** A whole number of up to 53 bits, small ones in few bytes, whatever their sign. */
export function putSigned(sink: Sink, value: number): void {
  const size = Math.abs(value);
  if (size < WIDE) return sink.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  sink.varint(value >= 0 ? WIDER : WIDER + 1);
  sink.varint(size);
}

/** Reads what was packed. Throws `DecodeError` for what cannot be. */
export class Unpacker {
  at = 0;
  constructor(readonly bytes: Buffer) {}

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new DecodeError('a block of calls ends too early');
    return value;
  }

  varint(): number {
    let value = this.byte();
    if (value < 0x80) return value;
    value &= 0x7f;
    let scale = 0x80;
    for (let count = 0; count < 7; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new DecodeError('a number in a block of calls is too long');
  }

  signed(): number {
    const code = this.varint();
    if (code >= WIDER) {
      const size = this.varint();
      return code === WIDER ? size : -size;
    }
    return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
  }

  skip(count: number): void {
    if (count > this.bytes.length - this.at) throw new DecodeError('a block of calls ends too early');
    this.at += count;
  }
}

/** What cannot be unpacked is told as a sentence. Throws a `DamagedRunError`. */
export function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DamagedRunError(`A part of the run cannot be read: ${error.message}.`);
  }
}

/** With what a block begins that has a checksum. Those of earlier formats have none, and never begin so: it says that what follows is not packed. */
const CHECKED = 0x68;

/**
 * The quickest level, tables and a window for as much as a block has: it packs as well as what costs more, or better. With a checksum: a bit
 * that a disk lost would else be told as what was there.
 */
export function squeeze(bytes: Uint8Array): Buffer {
  return deflateSync(bytes, { level: 1, memLevel: 6, windowBits: 14 });
}

/** What is not longer than is usual is unpacked in one step. Throws `DecodeError` when it is damaged or larger than it can be. */
export function unsqueeze(bytes: Buffer, usual: number, most: number): Buffer {
  try {
    return (bytes[0] === CHECKED ? inflateSync : inflateRawSync)(bytes, { chunkSize: usual, maxOutputLength: most });
  } catch {
    throw new DecodeError('a block of calls is damaged');
  }
}
