import { readFileSync } from 'node:fs';
import { maskPattern } from './maskPattern.mjs';
import { say } from './report.mjs';

/**
 * The session above this process, if there is one: `toolbreak run`, or a Python app that is debugged and started this program. What is recorded here
 * belongs to its run. The file it names is described in `protocol/control.ts`; nothing is asked of the session, and nothing stops here.
 */

const PROTOCOL_VERSION = 1;
/** In the environment of processes that one of the session started. */
const CHILD = 'TOOLBREAK_CHILD';
/** More memory than this is not taken for one value, whatever is set. */
const MOST_BYTES = 64 * 1024 * 1024;

/** @typedef {{ spool: string, maxValueBytes: number, maxDepth: number, maskKeys: string[], maskPatterns: RegExp[] }} Joined */

/** Read when the package is loaded, since a function's parameters are named when it is wrapped. @type {Joined | null} */
export const joined = read(process.env.TOOLBREAK_CONNECT ?? '');

/** What this process starts from now on is a child; a worker of it is not. */
export function markChildren() {
  process.env[CHILD] ??= String(process.pid);
}

/** @param {string} path @returns {Joined | null} */
function read(path) {
  if (path === '') return null;
  try {
    const { version, spool, joining } = JSON.parse(readFileSync(path, 'utf8'));
    if (version !== PROTOCOL_VERSION) throw new Error('this package and the debugger are of different versions');
    if (spool === undefined || joining === undefined) return null;
    if (!joining.children && isChild()) return null;
    return {
      spool,
      maxValueBytes: Math.min(joining.maxValueBytes, MOST_BYTES),
      maxDepth: joining.maxDepth,
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

/** @param {unknown} error */
export function notRecorded(error) {
  const reason = error instanceof Error ? error.message : String(error);
  say(`nothing is recorded of this Node process (${reason}); the program runs all the same.`);
}

function isChild() {
  const child = process.env[CHILD];
  return child !== undefined && child !== String(process.pid);
}

/** @param {string} text */
function readPattern(text) {
  const pattern = maskPattern(text);
  if (pattern === undefined)
    throw new Error(`the mask pattern ${JSON.stringify(text.slice(0, 100))} cannot be read in Node`);
  return pattern;
}
