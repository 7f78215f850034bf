import { DecodeError } from '../values/model';
import type { Unpacker } from './pack';

/** Calls of one block: those of one process whose numbers are equal but for the last ten bits. */
export const CALLS = 1024;

export type Column = Float64Array | Int32Array;

/** Numbers of calls within their block, rising. */
export type Slots = Uint16Array;

/** Of a block that is full, and beginnings of it: most blocks are. */
const EVERY = Uint16Array.from({ length: CALLS }, (_, slot) => slot);
/** Numbers of one column while it is read. */
const numbers = new Float64Array(CALLS);
/** From this length on a number may be followed by what is too wide for it. */
const LONG = 8;

export function readSlots(reader: Unpacker, count: number): Slots {
  if (count > CALLS) throw new DecodeError('a block has more calls than there can be');
  const { bytes, at } = reader;
  let gap = 0;
  while (gap < count && bytes[at + gap] === 0) gap++;
  if (gap === count) {
    reader.at += count;
    return EVERY.subarray(0, count);
  }
  const slots = new Uint16Array(count);
  let slot = -1;
  for (let index = 0; index < count; index++) {
    slot += reader.varint() + 1;
    if (slot >= CALLS) throw new DecodeError('a block of calls has a slot that cannot be');
    slots[index] = slot;
  }
  return slots;
}

/** One byte of each call. */
export function readBytes(reader: Unpacker, slots: Slots, column: Uint8Array): void {
  const { bytes, at } = reader;
  reader.skip(slots.length);
  for (let index = 0; index < slots.length; index++) column[slots[index]!] = bytes[at + index]!;
}

/** So many numbers, good until the next column is read. Most of the time of unpacking goes by here. */
export function readNumbers(reader: Unpacker, count: number): Float64Array {
  const { bytes } = reader;
  let { at } = reader;
  for (let index = 0; index < count; index++) {
    const begin = at;
    let code = bytes[at++]!;
    if (code >= 0x80) {
      let byte = bytes[at++]!;
      code = (code & 0x7f) | ((byte & 0x7f) << 7);
      if (byte >= 0x80) {
        byte = bytes[at++]!;
        code |= (byte & 0x7f) << 14;
        if (byte >= 0x80) {
          reader.at = begin;
          numbers[index] = reader.signed();
          at = reader.at;
          continue;
        }
      }
    }
    numbers[index] = (code & 1) === 0 ? code >>> 1 : -((code + 1) >>> 1);
  }
  if (at > bytes.length) throw new DecodeError('a block of calls ends too early');
  reader.at = at;
  return numbers;
}

/** The sum of so many numbers. */
export function sumNumbers(reader: Unpacker, count: number): number {
  const { bytes } = reader;
  let { at } = reader;
  let sum = 0;
  for (let left = count; left > 0; left--) {
    const begin = at;
    let code = bytes[at++]!;
    if (code >= 0x80) {
      let byte = bytes[at++]!;
      code = (code & 0x7f) | ((byte & 0x7f) << 7);
      if (byte >= 0x80) {
        byte = bytes[at++]!;
        code |= (byte & 0x7f) << 14;
        if (byte >= 0x80) {
          reader.at = begin;
          sum += reader.signed();
          at = reader.at;
          continue;
        }
      }
    }
    sum += (code & 1) === 0 ? code >>> 1 : -((code + 1) >>> 1);
  }
  if (at > bytes.length) throw new DecodeError('a block of calls ends too early');
  reader.at = at;
  return sum;
}

/** Where so many values begin, plus one, each behind its slot. A function of its own, since V8 compiles a loop in a loop again and again. */
export function readPlaces(reader: Unpacker, count: number, places: Int32Array): void {
  const { bytes } = reader;
  let slot = -1;
  for (let left = count; left > 0; left--) {
    slot += reader.varint() + 1;
    if (slot >= CALLS) throw new DecodeError('a block of calls has a slot that cannot be');
    const { at } = reader;
    places[slot] = at + 1;
    const head = bytes[at]!;
    if (head < 0x80 && head % 2 === 0) reader.skip(1 + head / 2);
    else {
      const long = reader.varint();
      if (long % 2 === 0) reader.skip(long / 2);
    }
  }
}

/** Passes over so many numbers. What it accepts can be read later. */
export function passNumbers(reader: Unpacker, count: number): void {
  const { bytes } = reader;
  let { at } = reader;
  let begin = at;
  for (let left = count; left > 0;) {
    if (at >= bytes.length) throw new DecodeError('a block of calls ends too early');
    if (bytes[at++]! >= 0x80) continue;
    if (at - begin >= LONG) {
      reader.at = begin;
      reader.signed();
      at = reader.at;
    }
    begin = at;
    left--;
  }
  reader.at = at;
}

/** A column of which the differences from one call to the next are stored. */
export function readDifferences(reader: Unpacker, slots: Slots, column: Column): void {
  const steps = readNumbers(reader, slots.length);
  let value = 0;
  for (let index = 0; index < slots.length; index++) column[slots[index]!] = value += steps[index]!;
}
