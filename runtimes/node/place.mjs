import { findSourceMap } from 'node:module';
import { pathOf } from './errors.mjs';
import { isOurs } from './ours.mjs';

/** @typedef {{ path: string | null, line: number }} Place */

const { getOwnPropertyDescriptor, defineProperty } = Object;
const capture = Error.captureStackTrace;

/**
 * Where the app called this function: the nearest line of its own, in its own source where a map is known.
 * @param {Function} called
 * @returns {Place}
 */
export function placeOfCaller(called) {
  for (const site of callSites(called)) {
    const file = site.getFileName() ?? site.getScriptNameOrSourceURL();
    const line = site.getLineNumber();
    if (typeof file !== 'string' || line === null || isOurs(file)) continue;
    if (file.startsWith('node:')) continue;
    return mapped(file, line, site.getColumnNumber() ?? 1);
  }
  return { path: null, line: 0 };
}

/** The calls that led to it; an app's own way of writing stacks is put back at once, and does not run. @param {Function} called @returns {NodeJS.CallSite[]} */
function callSites(called) {
  const own = getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  const limit = getOwnPropertyDescriptor(Error, 'stackTraceLimit');
  /** @type {NodeJS.CallSite[]} */
  let sites = [];
  try {
    set('stackTraceLimit', 20);
    set('prepareStackTrace', (/** @type {Error} */ _, /** @type {NodeJS.CallSite[]} */ found) => {
      sites = found;
      return '';
    });
    const holder = { stack: '' };
    capture(holder, called);
    void holder.stack;
  } catch {
    // An app may have frozen Error: then nothing is known.
  } finally {
    restore('prepareStackTrace', own);
    restore('stackTraceLimit', limit);
  }
  return sites;
}

/** @param {string} name @param {unknown} value */
function set(name, value) {
  defineProperty(Error, name, { value, writable: true, enumerable: false, configurable: true });
}

/** @param {'prepareStackTrace' | 'stackTraceLimit'} name @param {PropertyDescriptor | undefined} own */
function restore(name, own) {
  try {
    if (own === undefined) delete Error[name];
    else defineProperty(Error, name, own);
  } catch {
    // Frozen: it was not changed either.
  }
}

/** @param {string} file @param {number} line @param {number} column @returns {Place} */
function mapped(file, line, column) {
  const found = findSourceMap(file)?.findEntry(line - 1, column - 1);
  if (found !== undefined && 'originalSource' in found && typeof found.originalSource === 'string')
    return { path: pathOf(found.originalSource), line: found.originalLine + 1 };
  return { path: pathOf(file), line };
}
