import { ERROR, RETURNED } from './recorder.mjs';
import { shared } from './shared.mjs';

/** Calls that end later than their function returned: promises and generators. */

/**
 * @typedef {import('./recorder.mjs').Recorder} Recorder
 * @typedef {import('./recorder.mjs').Call} Call
 */

const { apply } = Reflect;
const { defineProperty, getOwnPropertyNames, getPrototypeOf } = Object;
const promisePrototype = Promise.prototype;
const { then } = promisePrototype;
const STEPS = /** @type {const} */ (['next', 'return', 'throw']);
/** @type {any} */
const syncSteps = Object.getPrototypeOf(function* () {}).prototype;
/** @type {any} */
const asyncSteps = Object.getPrototypeOf(async function* () {}).prototype;

/**
 * What stands for a promise that was given to the app before, so that it stays one thing.
 * @type {WeakMap<Promise<unknown>, Promise<unknown>>}
 */
const standIns = new WeakMap();

/**
 * Ends the call with its promise; answers what the app gets. Another promise stands in for it: a handler of ours on the app's own would count as
 * one, and an error that nobody handles would go unseen.
 * @param {Recorder} recorder
 * @param {Call} call
 * @param {Promise<unknown>} promise
 * @param {boolean} fresh made by an async function: nobody else has it
 */
export function follow(recorder, call, promise, fresh) {
  if (fresh) return chained(recorder, call, promise);
  // A promise of the app's own making may do anything when it is asked for its outcome. Under symbols Node 22 keeps things of its own.
  if (getPrototypeOf(promise) !== promisePrototype || getOwnPropertyNames(promise).length > 0) {
    recorder.end(call, RETURNED, promise);
    return promise;
  }
  const known = standIns.get(promise);
  if (known !== undefined) {
    // Ours is there already, so that this one hides nothing.
    apply(then, promise, [
      (/** @type {unknown} */ value) => recorder.end(call, RETURNED, value),
      (/** @type {unknown} */ error) => recorder.end(call, ERROR, error),
    ]);
    return known;
  }
  const made = chained(recorder, call, promise);
  standIns.set(promise, made);
  standIns.set(made, made);
  return made;
}

/** @param {Recorder} recorder @param {Call} call @param {Promise<unknown>} promise @returns {Promise<unknown>} */
function chained(recorder, call, promise) {
  return apply(then, promise, [
    (/** @type {unknown} */ value) => {
      recorder.end(call, RETURNED, value);
      return value;
    },
    (/** @type {unknown} */ error) => {
      recorder.end(call, ERROR, error);
      throw error;
    },
  ]);
}

/**
 * The generator, whose call begins with its first step and ends with its last.
 * @param {import('./wrap.mjs').Wrapped} wrapped
 * @param {any} generator
 * @param {ArrayLike<unknown>} args
 */
export function followed(wrapped, generator, args) {
  const own = wrapped.steps === 'async' ? asyncSteps : syncSteps;
  // Its function's `prototype` may be an object of the app's, with steps of its own.
  if (STEPS.some((name) => generator[name] !== own[name])) return generator;
  /** @type {Call | null | undefined} */
  let call;
  for (const name of STEPS) {
    const { [name]: step } = own;
    const value = {
      /** @param {...unknown} given */
      [name](...given) {
        const { recorder } = shared;
        if (recorder !== null && call === undefined) call = name === 'next' ? recorder.start(wrapped, args) : null;
        if (recorder === null || call === null || call === undefined || call.ended) return apply(step, this, given);
        return stepped(recorder, call, wrapped.steps === 'async', step, this, given);
      },
    }[name];
    defineProperty(generator, name, { value, writable: true, enumerable: false, configurable: true });
  }
  return generator;
}

/**
 * @param {Recorder} recorder
 * @param {Call} call
 * @param {boolean} waits
 * @param {Function} step
 * @param {unknown} generator
 * @param {unknown[]} given
 */
function stepped(recorder, call, waits, step, generator, given) {
  const outer = recorder.running;
  recorder.running = call;
  try {
    if (waits) {
      const promise = recorder.storage.run(call, apply, step, generator, given);
      return apply(then, promise, [
        (/** @type {IteratorResult<unknown>} */ result) => {
          if (result.done) recorder.end(call, RETURNED, result.value);
          return result;
        },
        (/** @type {unknown} */ error) => {
          recorder.end(call, ERROR, error);
          throw error;
        },
      ]);
    }
    // What it starts may go on after its step.
    const result = recorder.storage.run(call, apply, step, generator, given);
    if (result.done) recorder.end(call, RETURNED, result.value);
    return result;
  } catch (error) {
    recorder.end(call, ERROR, error);
    throw error;
  } finally {
    recorder.running = outer;
  }
}
