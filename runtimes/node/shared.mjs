/**
 * What all copies of this package in one process have in common: an app may have one of its own beside the one that `--import` named. The
 * name says which shape `recorder` has.
 */
const NAME = Symbol.for('toolbreak.recorder.1');

/** @typedef {{ recorder: import('./recorder.mjs').Recorder | null }} Shared */

/** @type {Shared} */
export const shared = Reflect.get(globalThis, NAME) ?? made();

/** @returns {Shared} */
function made() {
  const value = { recorder: null };
  Object.defineProperty(globalThis, NAME, { value });
  return value;
}
