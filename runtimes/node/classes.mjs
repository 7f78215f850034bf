import { types } from 'node:util';
import { writeError } from './errors.mjs';
import * as forms from './forms.mjs';
import { isLive, isOfPlatform } from './live.mjs';

/** What an object is, told by what it is made of and not by what it says: nothing of the app runs. */

/**
 * `write`: for what is not looked into, or has a form of its own; of the others type and fields are recorded.
 * @typedef {{ name: string, write?: (encoder: import('./encoder.mjs').Encoder, value: any, depth: number, found: Class) => void }} Class
 */

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const objectPrototype = Object.prototype;
const arrayPrototype = Array.prototype;
const errorPrototype = Error.prototype;
const urlPrototype = URL.prototype;
const searchPrototype = URLSearchParams.prototype;

/** An object literal, or what `JSON.parse` makes. */
export const PLAIN = /** @type {Class} */ ({ name: 'Object' });
const LIST = /** @type {Class} */ ({ name: 'Array' });

/** Classes of which every object is recorded as its fields, or as live. @type {WeakMap<object, Class>} */
const settled = new WeakMap();
/** Whether symbols in objects of this prototype are the app's. @type {WeakMap<object, boolean>} */
const owning = new WeakMap();

/** @param {object} value no proxy @returns {Class} */
export function classOf(value) {
  const prototype = getPrototypeOf(value);
  if (prototype === objectPrototype || prototype === null) return PLAIN;
  if (prototype === arrayPrototype) return LIST;
  const known = settled.get(prototype);
  if (known !== undefined) return known;
  const chain = chainOf(prototype);
  const name = className(chain);
  const write = formOf(value, chain);
  if (write !== undefined) return { name, write };
  // Of another realm, such as a test runner's.
  if (chain.length === 1 && name === 'Object' && getOwnPropertyDescriptor(prototype, 'isPrototypeOf')) return PLAIN;
  const found = isLive(chain) ? { name, write: forms.writeLive } : { name };
  if (!Array.isArray(value) && !chain.some((each) => natives.has(each))) settled.set(prototype, found);
  return found;
}

/** An object below one of these may have its form, or may only have been made from it. */
const natives = new Set(
  [
    Map,
    Set,
    Date,
    RegExp,
    Promise,
    ArrayBuffer,
    SharedArrayBuffer,
    DataView,
    WeakMap,
    WeakSet,
    Array,
    Number,
    String,
    Boolean,
  ]
    .map((each) => /** @type {object} */ (each.prototype))
    .concat(forms.typedArray),
);

/** @param {object} prototype */
function chainOf(prototype) {
  const chain = [];
  for (
    let each = /** @type {object | null} */ (prototype);
    each !== null && each !== objectPrototype && chain.length < 50 && !types.isProxy(each);
    each = getPrototypeOf(each)
  )
    chain.push(each);
  return chain;
}

/** Whether what stands under symbols is of the app: its class, and what that extends, is not of Node or the platform. @param {object} value no proxy */
export function hasOwnSymbols(value) {
  const prototype = getPrototypeOf(value);
  if (prototype === objectPrototype || prototype === null) return true;
  let known = owning.get(prototype);
  if (known === undefined) {
    known = chainOf(prototype).every((each) => {
      if (natives.has(each) || each === errorPrototype) return true;
      const made = getOwnPropertyDescriptor(each, 'constructor')?.value;
      return typeof made !== 'function' || types.isProxy(made) || !isOfPlatform(made);
    });
    owning.set(prototype, known);
  }
  return known;
}

/** @param {object[]} chain */
function className(chain) {
  for (const each of chain) {
    const made = getOwnPropertyDescriptor(each, 'constructor')?.value;
    if (typeof made !== 'function' || types.isProxy(made)) continue;
    const name = getOwnPropertyDescriptor(made, 'name')?.value;
    if (typeof name === 'string' && name !== '') return name.slice(0, 200);
  }
  return 'Object';
}

const CHANGES = 'reading it would change it';
/** @type {readonly (readonly [(value: any) => boolean, Class['write']])[]} */
const FORMS = [
  [types.isNativeError, writeError],
  [types.isDate, forms.writeDate],
  [types.isMap, forms.writeMap],
  [types.isSet, forms.writeSet],
  [types.isUint8Array, forms.writeBytes],
  [(value) => ArrayBuffer.isView(value), forms.writeView],
  [types.isAnyArrayBuffer, forms.writeBuffer],
  [types.isRegExp, forms.writeRegExp],
  [types.isPromise, forms.writeOpaque('a promise')],
  [types.isGeneratorObject, forms.writeOpaque(`a generator; ${CHANGES}`)],
  [types.isMapIterator, forms.writeOpaque(`an iterator; ${CHANGES}`)],
  [types.isSetIterator, forms.writeOpaque(`an iterator; ${CHANGES}`)],
  [types.isWeakMap, forms.writeOpaque('its entries cannot be listed')],
  [types.isWeakSet, forms.writeOpaque('its entries cannot be listed')],
  [types.isModuleNamespaceObject, forms.writeOpaque('a module')],
  [types.isExternal, forms.writeOpaque('a value of native code')],
  [types.isBoxedPrimitive, forms.writeBox],
  [types.isArgumentsObject, forms.writeArguments],
];

/** @param {any} value @param {object[]} chain @returns {Class['write']} */
function formOf(value, chain) {
  for (const [is, write] of FORMS) if (is(value)) return write;
  // Made without the constructor, or by the platform.
  if (chain.includes(errorPrototype)) return writeError;
  if (chain.includes(urlPrototype)) return forms.writeUrl;
  if (chain.includes(searchPrototype)) return forms.writeSearch;
  return undefined;
}
