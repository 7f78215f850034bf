import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { maskPattern, maskPatternProblem } from './maskPattern.mjs';
import { say } from './report.mjs';

/**
 * The session above this process, if there is one: `toolbreak run`, or a Python app that is debugged and started this program. What is recorded here
 * belongs to its run. The file it names is described in `protocol/control.ts`; nothing is asked of the session, and nothing stops here.
 */

const PROTOCOL_VERSION = 1;
/** More memory than this is not taken for one value, whatever is set. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * `elsewhere`: the session counts processes in another way, as around a container, and cannot see this one.
 * @typedef {{ spool: string, elsewhere: boolean, maxValueBytes: number | undefined, maxDepth: number | undefined, maskKeys: string[], maskPatterns: RegExp[] }} Joined
 */

/** Read when the package is loaded, since a function's parameters are named when it is wrapped. @type {Joined | null} */
export const joined = read(process.env.TOOLBREAK_CONNECT ?? '');

/** @param {string} path @returns {Joined | null} */
function read(path) {
  if (path === '') return null;
  try {
    const { version, spool, joining } = JSON.parse(readFileSync(path, 'utf8'));
    if (version !== PROTOCOL_VERSION) throw new Error('this package and the debugger are of different versions');
    if (spool === undefined || joining === undefined) return null;
    const elsewhere = joining.pidNamespace !== pidNamespace();
    if (!elsewhere && !isAlive(joining.pid)) return null;
    if (!joining.children && !isFirst(join(dirname(path), 'first'))) return null;
    return {
      spool,
      elsewhere,
      maxValueBytes: count(joining.maxValueBytes, MOST_BYTES),
      maxDepth: count(joining.maxDepth, Infinity),
      maskKeys: joining.maskKeys,
      maskPatterns: joining.maskPatterns.map(readPattern),
    };
  } catch (error) {
    // The session is over.
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null;
    notRecorded(error);
    return null;
  }
}

/** As Python reads it: what is no such number means the usual one. @param {unknown} value @param {number} most */
function count(value, most) {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, most) : undefined;
}

/** In which numbers of processes mean the same; nothing where a system has one alone. */
function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** A killed session leaves its file behind. @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** Whether this is the session's first process, of whatever language, or a worker of that. @param {string} path */
function isFirst(path) {
  const pid = String(process.pid);
  try {
    writeFileSync(path, pid, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return readFileSync(path, 'utf8') === pid;
  }
}

/** @param {unknown} error */
export function notRecorded(error) {
  const reason = error instanceof Error ? error.message : String(error);
  say(`nothing is recorded of this Node process (${reason}); the program runs all the same.`);
}

/** @param {string} text */
function readPattern(text) {
  const pattern = maskPattern(text);
  if (pattern === undefined)
    throw new Error(`of the mask pattern ${JSON.stringify(text.slice(0, 100))}: ${maskPatternProblem(text)}`);
  return pattern;
}
