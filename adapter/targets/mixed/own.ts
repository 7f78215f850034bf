import { existsSync, readlinkSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { lookInto } from './elf';
import { someSource } from './lineTable';
import { mapped } from './sources';

/** Sources that came with the system or with an installed package. */
const FOREIGN = /^\/usr\/(include|lib|lib64|share|src\/debug|local\/(include|lib))\/|\/(site|dist)-packages\//;
const SYSTEM = /^\/(usr\/)?(lib|lib64)\//;
/** Python's own. */
const INTERPRETER = /\/libpython\d[^/]*$|\/lib-dynload\//;
/** All functions of a library are looked for while the program stands still; in one with more than this it takes longer than a step may. */
const MOST_INFORMATION = 64 * 1024 * 1024;

/** Whether a person wrote this file, and has it here. */
export function isOwnSource(path: string | undefined): boolean {
  return path !== undefined && isAbsolute(path) && !FOREIGN.test(path) && existsSync(path);
}

export interface OwnLibraries {
  paths: string[];
  /** Those that have too much debug information to be stepped into. */
  large: string[];
}

/** Libraries that were built here: with debug information, from sources that are there. Looked at once for each state of the file. */
export class OwnCode {
  readonly #known = new Map<string, 'own' | 'large' | 'foreign'>();

  /** What a process has loaded of them. */
  libraries(pid: number): OwnLibraries {
    const program = programOf(pid);
    const found: OwnLibraries = { paths: [], large: [] };
    for (const path of mapped(pid)) {
      if (path === program || SYSTEM.test(path) || INTERPRETER.test(path)) continue;
      const kind = this.#kind(path);
      if (kind === 'own') found.paths.push(path);
      else if (kind === 'large') found.large.push(path);
    }
    return found;
  }

  #kind(path: string): 'own' | 'large' | 'foreign' {
    let state: string;
    try {
      const { mtimeMs, size } = statSync(path);
      state = `${path} ${mtimeMs} ${size}`;
    } catch {
      return 'foreign';
    }
    let kind = this.#known.get(state);
    if (kind === undefined) {
      kind = kindOf(path);
      this.#known.set(state, kind);
    }
    return kind;
  }
}

function kindOf(path: string): 'own' | 'large' | 'foreign' {
  const own = lookInto(path, (sections, read) => {
    const information = sections.find(({ name }) => name === '.debug_info');
    if (information === undefined) return 'foreign';
    const lines = sections.find(({ name }) => name === '.debug_line');
    // What is compressed cannot be read here: an installed package's is foreign.
    const isOwn = lines?.compressed ? !FOREIGN.test(path) : someSource(path, sections, read, isOwnSource);
    if (!isOwn) return 'foreign';
    return information.length > MOST_INFORMATION ? 'large' : 'own';
  });
  return own ?? 'foreign';
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}
