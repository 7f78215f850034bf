import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { hasDebugInformation } from '../native/binary';
import { lookInto, type Read } from './elf';

const NATIVE = /\.(c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inl|s|rs|zig|m|mm)$/i;
const PIECE = 4 * 1024 * 1024;
/** Sections that name source files. */
const NAMING = new Set(['.debug_line_str', '.debug_line', '.debug_str']);
const LIBRARY_FOLDERS = ['/lib', '/usr/lib', '/usr/local/lib', '/lib64', '/usr/lib64'];

/** Whether a breakpoint in this file is one in native code. */
export function isNativeSource(path: string): boolean {
  return NATIVE.test(path);
}

/** Whether a program or library was built from one of these files, as far as its debug information says. Looked at once for each state of the file. */
export class BuiltFrom {
  readonly #known = new Map<string, boolean>();

  /** `path` as given to the loader: without a folder it is looked for where the loader looks. Not to be found: it may be. */
  mayHold(path: string, sources: readonly string[]): boolean {
    const file = path.includes('/') ? path : found(path);
    if (file === undefined || !isAbsolute(file)) return true;
    return sources.some((source) => this.#holds(file, basename(source)));
  }

  /** The same of all that a process has loaded. */
  isLoaded(pid: number, sources: readonly string[]): boolean {
    return mapped(pid).some((path) => this.mayHold(path, sources));
  }

  /** The one of these files that is named like the source, but says nothing of where its code comes from. */
  silent(files: readonly string[], source: string): string | undefined {
    return files.find((file) => stem(file) === stem(source) && hasDebugInformation(file) === false);
  }

  #holds(file: string, name: string): boolean {
    let state: string;
    try {
      const { mtimeMs, size } = statSync(file);
      state = `${file} ${mtimeMs} ${size} ${name}`;
    } catch {
      return false;
    }
    let holds = this.#known.get(state);
    if (holds === undefined) {
      holds = names(file, name);
      this.#known.set(state, holds);
    }
    return holds;
  }
}

/** `libprices.so.1` and `prices` as `prices.c`. */
function stem(path: string): string {
  return basename(path)
    .replace(/^lib(?=.*\.so)/, '')
    .replace(/\..*$/, '');
}

/** Files that a process has code of. */
export function mapped(pid: number): string[] {
  try {
    const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
    return [...new Set(lines.flatMap((line) => /^\S+ ..x. .*? (\/.*)$/.exec(line)?.[1] ?? []))];
  } catch {
    return [];
  }
}

function found(library: string): string | undefined {
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  return LIBRARY_FOLDERS.flatMap((folder) => [join(folder, triplet, library), join(folder, library)]).find((path) =>
    existsSync(path),
  );
}

/** What is no ELF file, or cannot be read, holds nothing. */
function names(path: string, name: string): boolean {
  const found = lookInto(path, (sections, read) =>
    sections.some((one) => NAMING.has(one.name) && (one.compressed || contains(read, one.start, one.length, name))),
  );
  return found ?? false;
}

/** A name as a whole: after a slash or a zero byte, before a zero byte. */
function contains(read: Read, start: number, length: number, name: string): boolean {
  const wanted = Buffer.from(`${name}\0`);
  for (let at = 0; at < length; at += PIECE) {
    const piece = read(start + at, Math.min(PIECE + wanted.length, length - at));
    for (let hit = piece.indexOf(wanted); hit >= 0; hit = piece.indexOf(wanted, hit + 1)) {
      const before = hit > 0 ? piece[hit - 1] : 0;
      if (before === 0 || before === 0x2f) return true;
    }
  }
  return false;
}
