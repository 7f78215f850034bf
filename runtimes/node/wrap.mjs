// A bundler may make a plain script of this module: `this` must stay what the caller gave.
'use strict';

import { types } from 'node:util';
import { keyOf } from './encoder.mjs';
import { follow, followed } from './follow.mjs';
import { ROW_NAMES } from './secrets.mjs';
import { maskHead } from './masking.mjs';
import { giveParams, paramsOf } from './params.mjs';
import { placeOfCaller } from './place.mjs';
import { ERROR, RETURNED } from './recorder.mjs';
import { shared } from './shared.mjs';

/**
 * A function whose calls are recorded. `waits`: whether what it starts goes on after it returned, so that it needs the asynchronous context; not
 * known before it has returned a promise, or something else often enough: `plain` times until now.
 * @typedef {{
 *   fn: Function, name: string, kind: string, path: string | null, line: number, params: import('./encoder.mjs').Key[],
 *   row: (args: ArrayLike<unknown>) => object,
 *   rest: import('./encoder.mjs').Key | undefined, steps: 'none' | 'sync' | 'async', fresh: boolean, waits: boolean | undefined, plain: number,
 *   id: number, known: object | null }} Wrapped
 */

const { apply, construct, ownKeys } = Reflect;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
/** Calls that returned no promise, after which none is waited for. */
const PLAIN_ENOUGH = 1000;
const KINDS = ['workflow', 'node', 'tool', 'llm', 'http', 'function'];
/** Of a function itself, and never to be copied. */
const OWN = new Set(['length', 'name', 'prototype', 'arguments', 'caller']);

/** @type {WeakSet<Function>} */
const wrappers = new WeakSet();

/**
 * The function with its calls recorded while something records, and as quick as itself otherwise. `this`, `length`, `name` and the properties that it has
 * by now stay as they are; a promise that an async function returns is one step later than its own.
 *
 * Throws a `TypeError` for what is no function or an unknown kind.
 *
 * @template {((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)} F
 * @param {F} fn also a class
 * @param {{ name?: string, kind?: 'workflow' | 'node' | 'tool' | 'llm' | 'http' | 'function' }} [options] `name`: what the recording calls it
 * @returns {F}
 */
export function wrap(fn, options = {}) {
  if (typeof fn !== 'function') throw new TypeError('wrap takes a function');
  // A class may have a static method of that name.
  const { name = (typeof fn.name === 'string' && fn.name) || 'anonymous', kind = 'function' } = options;
  if (typeof name !== 'string' || name === '') throw new TypeError('name must be a text');
  if (!KINDS.includes(kind)) throw new TypeError(`kind must be one of ${KINDS.join(', ')}`);
  if (wrappers.has(fn)) return fn;
  const found = paramsOf(fn);
  const { names, rest } = found;
  const params = names.map(keyOf);
  const about = names.flatMap((given, index) => (ROW_NAMES.includes(given) ? [{ name: given, index }] : []));
  const asyncSteps = types.isAsyncFunction(fn) && types.isGeneratorFunction(fn);
  /** @type {Wrapped} */
  const wrapped = {
    fn,
    name: maskHead(name, 1000),
    kind,
    ...placeOfCaller(wrap),
    params,
    rest: rest ? params[params.length - 1] : undefined,
    row: (args) => Object.fromEntries(about.map(({ name: key, index }) => [key, args[index]])),
    steps: asyncSteps ? 'async' : types.isGeneratorFunction(fn) ? 'sync' : 'none',
    fresh: types.isAsyncFunction(fn),
    waits: types.isAsyncFunction(fn) ? true : undefined,
    plain: 0,
    id: 0,
    known: null,
  };
  const wrapper = isConstructor(fn) ? constructible(wrapped) : callable(wrapped);
  dress(wrapper, fn);
  giveParams(wrapper, found);
  wrappers.add(wrapper);
  return /** @type {F} */ (wrapper);
}

/** @param {Function} fn */
function isConstructor(fn) {
  try {
    construct(String, [], fn);
    return true;
  } catch {
    return false;
  }
}

/** A method has no `prototype` and refuses `new`, as arrow functions and async functions do. @param {Wrapped} wrapped @returns {Function} */
function callable(wrapped) {
  const { fn, steps } = wrapped;
  if (steps !== 'none') {
    return {
      wrapper() {
        if (shared.recorder === null) return apply(fn, this, arguments);
        return followed(wrapped, apply(fn, this, arguments), arguments);
      },
    }.wrapper;
  }
  return {
    wrapper() {
      return shared.recorder === null ? apply(fn, this, arguments) : recorded(wrapped, this, arguments);
    },
  }.wrapper;
}

/** @param {Wrapped} wrapped @returns {Function} */
function constructible(wrapped) {
  const { fn } = wrapped;
  return function wrapper() {
    if (new.target === undefined) {
      // @ts-expect-error: `this` is whatever the app gives
      return shared.recorder === null ? apply(fn, this, arguments) : recorded(wrapped, this, arguments);
    }
    const target = new.target === wrapper ? fn : new.target;
    return shared.recorder === null ? construct(fn, arguments, target) : recorded(wrapped, target, arguments, true);
  };
}

/** @param {Function} wrapper @param {Function} fn */
function dress(wrapper, fn) {
  for (const key of ownKeys(fn)) {
    if (typeof key === 'string' && OWN.has(key)) continue;
    defineProperty(wrapper, key, /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(fn, key)));
  }
  for (const key of ['length', 'name', 'prototype']) {
    const own = getOwnPropertyDescriptor(fn, key);
    if (own !== undefined) defineProperty(wrapper, key, own);
    else if (key !== 'prototype') Reflect.deleteProperty(wrapper, key);
  }
  if (getPrototypeOf(wrapper) !== getPrototypeOf(fn)) setPrototypeOf(wrapper, getPrototypeOf(fn));
}

/**
 * @param {Wrapped} wrapped
 * @param {unknown} self of a construction, what is constructed
 * @param {IArguments} args
 * @param {boolean} constructs
 */
function recorded(wrapped, self, args, constructs = false) {
  const { fn } = wrapped;
  const recorder = /** @type {import('./recorder.mjs').Recorder} */ (shared.recorder);
  const run = constructs ? constructed : apply;
  const call = recorder.start(wrapped, args);
  if (call === null) return run(fn, self, args);
  const outer = recorder.running;
  recorder.running = call;
  let result;
  try {
    result = wrapped.waits === false ? run(fn, self, args) : recorder.storage.run(call, run, fn, self, args);
  } catch (error) {
    recorder.running = outer;
    recorder.end(call, ERROR, error);
    throw error;
  }
  recorder.running = outer;
  if (types.isPromise(result)) {
    wrapped.waits = true;
    return follow(recorder, call, result, wrapped.fresh);
  }
  // One with a cache may return promises later.
  if (wrapped.waits === undefined && ++wrapped.plain >= PLAIN_ENOUGH) wrapped.waits = false;
  recorder.end(call, RETURNED, result);
  return result;
}

/** @param {Function} fn @param {any} target @param {ArrayLike<unknown>} args */
function constructed(fn, target, args) {
  return construct(fn, args, target);
}
