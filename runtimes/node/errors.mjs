import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import { TUPLE, LIST } from './bytes.mjs';
import { maskHead, maskText } from './masking.mjs';
import { markHead } from './marks.mjs';
import { isOurs } from './ours.mjs';

/** Errors as data: type, message, stack, cause and fields, without asking the error for its text. */

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { apply } = Reflect;
const ERROR = markHead('error', 5);
const MOST_FRAMES = 60;
const LONGEST_MESSAGE = 20_000;

const nativeStack = getOwnPropertyDescriptor(new Error('sample'), 'stack')?.get;
const exceptionPrototype = DOMException.prototype;
const exceptionName = getOwnPropertyDescriptor(exceptionPrototype, 'name')?.get;
const exceptionMessage = getOwnPropertyDescriptor(exceptionPrototype, 'message')?.get;

/** @type {NonNullable<import('./classes.mjs').Class['write']>} */
export function writeError(encoder, error, depth, { name }) {
  const { bytes } = encoder;
  const { type, message, frames } = partsOf(error, name);
  bytes.copy(ERROR);
  bytes.text(type);
  bytes.text(message);
  bytes.open(LIST, frames.length);
  for (const { path, line, called: where } of frames) {
    bytes.open(TUPLE, 3);
    bytes.text(path);
    bytes.int(line);
    bytes.text(where);
  }
  const cause = getOwnPropertyDescriptor(error, 'cause');
  if (cause === undefined || cause.get !== undefined || cause.value === undefined) bytes.none();
  else encoder.value(cause.value, depth + 1);
  encoder.fields(error, depth, 'fields', skipped, types.isNativeError(error) ? ['errors', 'error', 'suppressed'] : []);
}

/**
 * What the error says of itself, and the frames it was made in, outermost first.
 * @param {object} error no proxy
 * @param {string} name its class
 */
export function partsOf(error, name) {
  const platform = isPlatform(error);
  const text = platform ? platformText(error, exceptionMessage) : (textOf(error, 'message') ?? '');
  const message = maskHead(text, LONGEST_MESSAGE);
  // A class of its own says more than a name that was put into the error.
  const called = platform ? platformText(error, exceptionName) : (textOf(error, 'name') ?? '');
  const type = name === 'Error' || name === 'DOMException' ? maskText(called.slice(0, 200)) || name : name;
  return { type, message, frames: framesOf(stackOf(error, platform), text) };
}

/** @param {string} name */
const skipped = (name) => name === 'stack' || name === 'message' || name === 'cause';

/** Text of the error, or of a class of it; nothing where it is not text, or is made by code of the app. @param {object} error @param {string} name */
function textOf(error, name) {
  let levels = 0;
  for (let each = /** @type {object | null} */ (error); each !== null && levels++ < 50; each = getPrototypeOf(each)) {
    if (types.isProxy(each)) return undefined;
    const found = getOwnPropertyDescriptor(each, name);
    if (found !== undefined) return typeof found.value === 'string' ? found.value : undefined;
  }
  return undefined;
}

/** Whether it is one of the platform's own; a proxy among its prototypes is not asked. @param {object} error */
function isPlatform(error) {
  let levels = 0;
  for (let each = /** @type {object | null} */ (error); each !== null && levels++ < 50; each = getPrototypeOf(each)) {
    if (each === exceptionPrototype) return true;
    if (types.isProxy(each)) return false;
  }
  return false;
}

/** @param {object} error @param {(() => unknown) | undefined} get */
function platformText(error, get) {
  try {
    const text = get === undefined ? '' : apply(get, error, []);
    return typeof text === 'string' ? text : '';
  } catch {
    // Made from the prototype alone.
    return '';
  }
}

/**
 * The error's stack as text; empty where asking for it would run code of the app.
 * @param {object} error
 * @param {boolean} platform whether its name and its message are the platform's own
 */
function stackOf(error, platform) {
  const own = getOwnPropertyDescriptor(error, 'stack');
  if (own === undefined) return '';
  if (own.get === undefined) return typeof own.value === 'string' ? own.value : '';
  // It begins with the error's name and message, which are asked for then.
  if (!platform && (textOf(error, 'name') === undefined || textOf(error, 'message') === undefined)) return '';
  if (own.get !== nativeStack || !isStandard(getOwnPropertyDescriptor(Error, 'prepareStackTrace'))) return '';
  const text = apply(own.get, error, []);
  return typeof text === 'string' ? text : '';
}

/** A stack is made into text when it is first asked for, by a function that an app may have replaced. @param {PropertyDescriptor | undefined} prepare */
function isStandard(prepare) {
  if (prepare === undefined) return true;
  if (prepare.get !== undefined) return false;
  return prepare.value === undefined || prepare.value === standard;
}
const found = getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value;
/** Node's own, where it has one. */
const standard =
  typeof found === 'function' && getOwnPropertyDescriptor(found, 'name')?.value === 'ErrorPrepareStackTrace'
    ? found
    : undefined;

/**
 * Outermost first, without our own lines and Node's.
 * @param {string} stack
 * @param {string} message it stands in front of them, and may itself have lines that look like frames
 */
function framesOf(stack, message) {
  const frames = [];
  for (const line of behindMessage(stack, message).slice(0, 100_000).split('\n')) {
    const match = /^ {4}at (?:(.*) \(|async )?((?:file:\/\/|\/|[A-Za-z]:[\\/]).*?):(\d{1,9})(?::\d+)?\)?$/.exec(line);
    if (match === null) continue;
    const [, called = '', place, number] = match;
    if (isOurs(place)) continue;
    frames.unshift({ path: pathOf(place), line: Number(number), called: called.replace(/^async /, '') });
    if (frames.length >= MOST_FRAMES) break;
  }
  return frames;
}

/** @param {string} stack @param {string} message */
function behindMessage(stack, message) {
  const begin = stack.indexOf(message);
  const end = begin + message.length;
  // The error may have another message by now.
  const isHead = begin >= 0 && stack[end] === '\n' && !stack.slice(0, begin).includes('\n');
  return isHead ? stack.slice(end) : stack;
}

/** @param {string} place */
export function pathOf(place) {
  if (!place.startsWith('file://')) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}
