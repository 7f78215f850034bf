import { dirname, isAbsolute, join } from 'node:path';
import type { Section, Read } from './elf';

/** Larger tables are not read: somebody waits for the answer. */
const MOST_BYTES = 32 * 1024 * 1024;
const STRING = 0x08;
const LINE_STRING = 0x1f;
const PATH = 1;
const FOLDER = 2;
const ANCESTORS = 3;

/**
 * The source files that a library was built from, as its table of lines names them (DWARF 2 to 5), until `wanted` takes one. Before version 5 the
 * folder that the compiler ran in is not in it: then the library's own folder and those around it are tried.
 */
export function someSource(
  library: string,
  sections: readonly Section[],
  read: Read,
  wanted: (path: string) => boolean,
): boolean {
  const data = (name: string): Buffer | undefined => {
    const one = sections.find((section) => section.name === name);
    return one === undefined || one.compressed || one.length > MOST_BYTES ? undefined : read(one.start, one.length);
  };
  const table = data('.debug_line');
  if (table === undefined) return false;
  const strings = data('.debug_line_str') ?? Buffer.alloc(0);
  const around: string[] = [];
  for (let folder = dirname(library); around.length < ANCESTORS; folder = dirname(folder)) around.push(folder);
  const asked = new Set<string>();
  for (let at = 0; at + 16 < table.length;) {
    const unit = new Unit(table, at, strings);
    for (const file of unit.files(around)) {
      if (asked.has(file)) continue;
      asked.add(file);
      if (wanted(file)) return true;
    }
    at = unit.end;
  }
  return false;
}

/** The head of the lines of one compiled file. */
class Unit {
  readonly end: number;
  readonly #wide: boolean;
  #at: number;

  constructor(
    private readonly table: Buffer,
    start: number,
    private readonly strings: Buffer,
  ) {
    this.#wide = table.readUInt32LE(start) === 0xffffffff;
    this.#at = start + (this.#wide ? 12 : 4);
    const length = this.#wide ? Number(table.readBigUInt64LE(start + 4)) : table.readUInt32LE(start);
    this.end = this.#at + length;
  }

  files(around: readonly string[]): string[] {
    const version = this.#fixed(2);
    if (version < 2 || version > 5) return [];
    if (version >= 5) this.#at += 2;
    this.#fixed(this.#wide ? 8 : 4);
    this.#at += version >= 4 ? 5 : 4;
    this.#skip(this.#fixed(1) - 1);
    return version >= 5 ? this.#entries() : this.#lists(around);
  }

  /** Version 5: both lists say themselves how they are written, and the first folder is the compiler's. */
  #entries(): string[] {
    const folders = this.#list().map(({ path }) => path);
    const base = folders[0] ?? '';
    return this.#list().map(({ path, folder }) => {
      const inside = join(folders[folder] ?? '', path);
      if (isAbsolute(path)) return path;
      return isAbsolute(inside) ? inside : join(base, inside);
    });
  }

  #list(): { path: string; folder: number }[] {
    const format = Array.from({ length: this.#fixed(1) }, () => [this.#leb(), this.#leb()] as const);
    return Array.from({ length: this.#leb() }, () => {
      const entry = { path: '', folder: 0 };
      for (const [content, form] of format) {
        const value = this.#value(form);
        if (content === PATH) entry.path = String(value);
        else if (content === FOLDER) entry.folder = Number(value);
      }
      return entry;
    });
  }

  #lists(around: readonly string[]): string[] {
    const folders = [''];
    for (let folder = this.#text(); folder !== ''; folder = this.#text()) folders.push(folder);
    const found: string[] = [];
    for (let name = this.#text(); name !== ''; name = this.#text()) {
      const path = join(folders[this.#leb()] ?? '', name);
      this.#leb();
      this.#leb();
      found.push(...(isAbsolute(path) ? [path] : around.map((folder) => join(folder, path))));
    }
    return found;
  }

  #value(form: number): string | number {
    switch (form) {
      case STRING:
        return this.#text();
      case LINE_STRING: {
        const at = this.#fixed(this.#wide ? 8 : 4);
        return this.strings.toString('utf8', at, this.strings.indexOf(0, at));
      }
      case 0x0b:
        return this.#fixed(1);
      case 0x05:
        return this.#fixed(2);
      case 0x06:
        return this.#fixed(4);
      case 0x07:
        return this.#fixed(8);
      case 0x0f:
        return this.#leb();
      case 0x0e:
        return (this.#fixed(this.#wide ? 8 : 4), '');
      case 0x1e:
        this.#at += 16;
        return '';
      case 0x09:
        this.#skip(this.#leb());
        return '';
      default:
        throw new Error(`unknown form ${form}`);
    }
  }

  #fixed(bytes: 1 | 2 | 4 | 8): number {
    const at = this.#at;
    this.#at += bytes;
    return bytes === 8 ? Number(this.table.readBigUInt64LE(at)) : this.table.readUIntLE(at, bytes);
  }

  #skip(bytes: number): void {
    this.#at += bytes;
  }

  #leb(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.table.readUInt8(this.#at++);
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }

  #text(): string {
    const end = this.table.indexOf(0, this.#at);
    if (end < 0) throw new Error('text without an end');
    const text = this.table.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }
}
