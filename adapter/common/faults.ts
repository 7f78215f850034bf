import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

export interface FaultFrame {
  name: string;
  path: string;
  line: number;
}

/** How a fault below Python ended a process: what Python's own fault handler wrote, see `runtimes/python/toolbreak/_faults.py`. */
export interface Fault {
  /** `Segmentation fault`. */
  text: string;
  /** Python's frames of the thread that it happened in, innermost first, without the runtime's own. */
  frames: FaultFrame[];
  /** The innermost of them that is neither of the standard library nor of an installed package. */
  place?: FaultFrame;
}

/** Python writes a hundred frames at most. */
const MOST_BYTES = 256 * 1024;
const FATAL = /^Fatal Python error: (.{1,200})$/gm;
const FRAME = /^ {2}File "(.*)", line (\d{1,9}) in (.*)$/gm;

/** Nothing where no fault was told. `at`: when, in milliseconds since 1970, as the file system says. Never throws. */
export function readFault(spoolFolder: string, process: string): (Fault & { at: number }) | undefined {
  let head: { text: string; at: number };
  try {
    head = readHead(join(spoolFolder, `${process}.fault`));
  } catch {
    // There is none: on Windows, or where the app has a fault handler of its own.
    return undefined;
  }
  const fault = parseFault(head.text);
  return fault && { ...fault, at: head.at };
}

/** What a fault file says; nothing while no fault is in it. */
export function parseFault(text: string): Fault | undefined {
  // One before it was survived: a handler of the app took it.
  const found = [...text.matchAll(FATAL)].at(-1);
  if (found === undefined) return undefined;
  const { own, library } = foldersIn(text);
  const within = (path: string, folder: string | undefined) => folder !== undefined && path.startsWith(`${folder}/`);
  const frames = [...text.slice(found.index).matchAll(FRAME)]
    .map(([, path, line, name]) => ({ name: unescaped(name!), path: unescaped(path!), line: Number(line) }))
    .filter(({ path }) => !within(path, own));
  const place = frames.find(({ path }) => !within(path, library) && !/^<|\/(site|dist)-packages\//.test(path));
  return { text: found[1]!, frames, ...(place !== undefined && { place }) };
}

/** Where the runtime's own files and the standard library are: the first line says it. */
function foldersIn(text: string): { own?: string; library?: string } {
  try {
    const { own, library } = JSON.parse(text.slice(0, text.indexOf('\n'))) as Record<string, unknown>;
    return typeof own === 'string' && typeof library === 'string' ? { own, library } : {};
  } catch {
    return {};
  }
}

/** Python writes what is not ASCII as `\\xe4`, `\\u20ac` or `\\U0001f600`. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(000[0-9a-f]{5}|0010[0-9a-f]{4}))/g,
    (_, ...codes: string[]) =>
      String.fromCodePoint(
        Number.parseInt(
          codes.slice(0, 3).find((code) => code !== undefined)!,
          16,
        ),
      ),
  );
}

function readHead(file: string): { text: string; at: number } {
  // Not a pipe, nor what a link leads to: the folder may come from elsewhere.
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { text: '', at: 0 };
    const bytes = Buffer.alloc(MOST_BYTES);
    return { text: bytes.toString('utf8', 0, readSync(fd, bytes, 0, MOST_BYTES, 0)), at: stat.mtimeMs };
  } finally {
    closeSync(fd);
  }
}
