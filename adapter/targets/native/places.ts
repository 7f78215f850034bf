import { realpathSync } from 'node:fs';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { MistakeError } from '../../common/errors';

/** One line of a source file at which something is asked for. */
export interface Place {
  /** Whole path. */
  file: string;
  line: number;
  /** As the person wrote it: what the result is found under. */
  keys: Set<string>;
  /** Keys that want a backtrace of each hit. */
  monitored: Set<string>;
  watches: { key: string; expression: string }[];
  /** Data breakpoints that begin here. */
  data: string[];
  /** The delegate's breakpoint. */
  id?: number;
}

export interface PlacesAsked {
  /** `file:line`, relative to the project. */
  at: readonly string[];
  watches: readonly { location: string; expression: string }[];
  /** `name@file:line`, or `name` alone for what exists when `main` begins. */
  data: readonly string[];
}

/** A watch as it is typed: `src/work.c:12=sum`. */
export function parseWatch(text: string): { location: string; expression: string } {
  const match = /^(.+?:\d+)=(.+)$/s.exec(text);
  if (!match)
    throw new MistakeError(`"${text}" is no watch. Write it as file:line=expression, such as src/work.c:12=sum.`);
  return { location: match[1]!, expression: match[2]!.trim() };
}

/** The name of a data breakpoint, and where it begins. */
export function parseData(text: string): { name: string; location?: string } {
  const match = /^(.+?)(?:@(.+:\d+))?$/s.exec(text);
  const name = match?.[1]?.trim() ?? '';
  if (name === '')
    throw new MistakeError(`"${text}" names no variable. Write it as name@file:line, or as a global's name.`);
  return { name, ...(match?.[2] !== undefined && { location: match[2] }) };
}

/** What was asked, put together by line: each line is one breakpoint, however often and in whatever words it was named. */
export function placesOf({ at, watches, data }: PlacesAsked, project: string): Place[] {
  const places = new Map<string, Place>();
  const place = (key: string): Place => {
    const { file, line } = parsePlace(key, project);
    const id = `${file}:${line}`;
    const found = places.get(id) ?? { file, line, keys: new Set(), monitored: new Set(), watches: [], data: [] };
    places.set(id, found);
    found.keys.add(key);
    return found;
  };
  for (const key of at) place(key).monitored.add(key);
  for (const { location, expression } of watches) place(location).watches.push({ key: location, expression });
  for (const key of data) {
    const { location } = parseData(key);
    if (location !== undefined) place(location).data.push(key);
  }
  return [...places.values()];
}

function parsePlace(text: string, project: string): { file: string; line: number } {
  const match = /^(.+):(\d+)$/s.exec(text);
  const line = Number(match?.[2] ?? 0);
  if (!match || line < 1 || !Number.isSafeInteger(line))
    throw new MistakeError(`"${text}" is no place. Write it as file:line, such as src/work.c:12.`);
  return { file: resolve(project, match[1]!), line };
}

/** Relative to the project where it lies in it. */
export function projectPath(path: string, project: string): string {
  const inside = relative(project, path);
  if (inside === '' || isAbsolute(inside) || inside.split(sep)[0] === '..') return path;
  return inside.replaceAll('\\', '/');
}

/** The path without links, or as it is where the file does not exist here. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Whoever compiled the program may have had the file elsewhere.
    return path;
  }
}

/** `loop_basic.c:7` */
export function shortPlace({ file, line }: { file: string; line: number }): string {
  return `${basename(file)}:${line}`;
}
