import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const COMPRESSED = 0x800;

/** One section of a program or library. */
export interface Section {
  name: string;
  compressed: boolean;
  start: number;
  length: number;
}

export type Read = (at: number, length: number) => Buffer;

/** Looks into the sections of an ELF file of 64 bits; undefined for what is none, or cannot be read. */
export function lookInto<T>(path: string, look: (sections: Section[], read: Read) => T): T | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    const read: Read = (at, length) => {
      const buffer = Buffer.alloc(Math.max(Math.min(length, size - at), 0));
      readSync(file, buffer, 0, buffer.length, at);
      return buffer;
    };
    const head = read(0, 64);
    if (head.length < 64 || head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2) return undefined;
    const count = head.readUInt16LE(60);
    const table = read(Number(head.readBigUInt64LE(40)), count * 64);
    if (count === 0 || table.length < count * 64) return undefined;
    const place = (index: number) => ({
      start: Number(table.readBigUInt64LE(index * 64 + 24)),
      length: Number(table.readBigUInt64LE(index * 64 + 32)),
    });
    const titles = place(head.readUInt16LE(62));
    const text = read(titles.start, titles.length);
    const sections = Array.from({ length: count }, (_, index): Section => {
      const title = table.readUInt32LE(index * 64);
      const flags = Number(table.readBigUInt64LE(index * 64 + 8));
      return {
        name: text.toString('latin1', title, text.indexOf(0, title)),
        compressed: (flags & COMPRESSED) !== 0,
        ...place(index),
      };
    });
    return look(sections, read);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
