import { types } from 'node:util';
import { SET } from './bytes.mjs';
import { markHead } from './marks.mjs';

/** Objects of the language that have a form of their own. They are read by the language's own methods, taken before the app could change them. */

/** @typedef {import('./encoder.mjs').Encoder} Encoder */
/** @typedef {import('./classes.mjs').Class} Class */
/** @typedef {NonNullable<Class['write']>} Write */

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { apply } = Reflect;
const { min } = Math;
/** @param {object} owner @param {string} name */
const getter = (owner, name) => /** @type {() => any} */ (getOwnPropertyDescriptor(owner, name)?.get);

const mapForEach = Map.prototype.forEach;
const mapSize = getter(Map.prototype, 'size');
const setForEach = Set.prototype.forEach;
const setSize = getter(Set.prototype, 'size');
const { getTime, toISOString } = Date.prototype;
const source = getter(RegExp.prototype, 'source');
const FLAGS = ['hasIndices', 'global', 'ignoreCase', 'multiline', 'dotAll', 'unicode', 'unicodeSets', 'sticky'];
const flags = FLAGS.map((name, index) => /** @type {const} */ ([getter(RegExp.prototype, name), 'dgimsuvy'[index]]));
const href = getter(URL.prototype, 'href');
const searchText = URLSearchParams.prototype.toString;
export const typedArray = /** @type {object} */ (getPrototypeOf(Uint8Array.prototype));
const VIEWS = /** @type {const} */ ({ array: typedArray, view: DataView.prototype });
const read = {
  array: {
    buffer: getter(VIEWS.array, 'buffer'),
    at: getter(VIEWS.array, 'byteOffset'),
    size: getter(VIEWS.array, 'byteLength'),
  },
  view: {
    buffer: getter(VIEWS.view, 'buffer'),
    at: getter(VIEWS.view, 'byteOffset'),
    size: getter(VIEWS.view, 'byteLength'),
  },
};
const elements = getter(typedArray, 'length');
const boxes = /** @type {const} */ ([
  [types.isNumberObject, Number.prototype.valueOf],
  [types.isStringObject, String.prototype.valueOf],
  [types.isBooleanObject, Boolean.prototype.valueOf],
  [types.isBigIntObject, BigInt.prototype.valueOf],
  [types.isSymbolObject, Symbol.prototype.valueOf],
]);
const bufferPrototype = Buffer.prototype;
const ARRAY = markHead('array', 4);
const TIME = markHead('time', 2);
/** Numbers that are recorded of an array of them. */
const HEAD = 100;

/** @type {Write} */
export function writeDate(encoder, value, _depth, { name }) {
  encoder.bytes.copy(TIME);
  encoder.bytes.text(name);
  encoder.bytes.text(Number.isNaN(apply(getTime, value, [])) ? 'Invalid Date' : apply(toISOString, value, []));
}

/** @type {Write} */
export function writeMap(encoder, value, depth, { name }) {
  encoder.openSubclass(name);
  encoder.map(depth, apply(mapSize, value, []), (each) => apply(mapForEach, value, [each]), value);
}

/** @type {Write} */
export function writeSet(encoder, value, depth, { name }) {
  if (name !== 'Set') encoder.openSubclass(name);
  encoder.sequence(SET, 'set', apply(setSize, value, []), depth, (each) => apply(setForEach, value, [each]));
}

/** @type {Write} */
export function writeRegExp(encoder, value, _depth, { name }) {
  let set = '';
  for (const [is, letter] of flags) if (is !== undefined && apply(is, value, [])) set += letter;
  encoder.opaque(name, `/${apply(source, value, [])}/${set}`, null);
}

/** Bytes: a Buffer is nothing else; others say what they are. @type {Write} */
export function writeBytes(encoder, value, _depth, { name }) {
  if (getPrototypeOf(value) !== bufferPrototype) encoder.openSubclass(name);
  encoder.binary(bytesOf(value, read.array));
}

/** @type {Write} */
export function writeView(encoder, value, depth, found) {
  if (types.isDataView(value)) {
    encoder.openSubclass(found.name);
    return encoder.binary(bytesOf(value, read.view));
  }
  const length = apply(elements, value, []);
  const { bytes } = encoder;
  bytes.copy(ARRAY);
  bytes.text(found.name);
  encoder.shape([length]);
  bytes.text(found.name.replace(/Array$/, '').toLowerCase());
  encoder.head(value, min(length, HEAD));
}

/** @type {Write} */
export function writeBuffer(encoder, value, _depth, { name }) {
  encoder.openSubclass(name);
  encoder.binary(new Uint8Array(value));
}

/** @param {any} value @param {typeof read.array} of */
function bytesOf(value, of) {
  return new Uint8Array(apply(of.buffer, value, []), apply(of.at, value, []), apply(of.size, value, []));
}

/** @type {Write} */
export function writeBox(encoder, value, depth, { name }) {
  for (const [is, plain] of boxes) {
    if (!is(value)) continue;
    encoder.openSubclass(name);
    return encoder.value(apply(/** @type {() => unknown} */ (plain), value, []), depth + 1);
  }
}

/** @type {Write} */
export function writeArguments(encoder, value, depth) {
  encoder.openSubclass('Arguments');
  encoder.fields(value, depth, 'dict');
}

/** @type {Write} */
export function writeUrl(encoder, value, _depth, { name }) {
  encoder.opaque(name, apply(href, value, []), null);
}

/** @type {Write} */
export function writeSearch(encoder, value, _depth, { name }) {
  encoder.opaque(name, apply(searchText, value, []), null);
}

/** @type {Write} */
export function writeLive(encoder, _value, _depth, { name }) {
  encoder.opaque(name, '', 'a live object');
}

/** @param {string} reason @returns {Write} */
export const writeOpaque =
  (reason) =>
  (encoder, _value, _depth, { name }) =>
    encoder.opaque(name, '', reason);
