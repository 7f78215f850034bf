import { EventEmitter } from 'node:events';

/** Objects of the platform that stand for something live: their fields would lead to half of the process. */

/** Names and the modules that have them. An object of such a class exists, so its module is loaded. */
const MODULES = new Map(
  Object.entries({
    'node:stream': ['Stream', 'Readable', 'Writable', 'Duplex', 'Transform', 'PassThrough'],
    'node:net': ['Socket', 'Server', 'BlockList'],
    'node:http': ['Agent', 'ClientRequest', 'IncomingMessage', 'ServerResponse', 'OutgoingMessage'],
    'node:child_process': ['ChildProcess'],
    'node:worker_threads': ['Worker', 'MessagePort', 'MessageChannel', 'BroadcastChannel'],
    'node:async_hooks': ['AsyncLocalStorage', 'AsyncResource'],
    'node:events': ['EventEmitterAsyncResource'],
  }).flatMap(([module, names]) => names.map((name) => /** @type {const} */ ([name, module]))),
);
/** Classes that are there without any module, and some that only Node makes. */
const GLOBAL = new Set(
  (
    'AbortController AbortSignal Blob BroadcastChannel CompressionStream CryptoKey DecompressionStream EventTarget File FormData Headers' +
    ' ReadableStream ReadableStreamDefaultReader Request Response TextDecoder TextDecoderStream TextEncoder TextEncoderStream' +
    ' TransformStream WeakRef WebSocket WritableStream WritableStreamDefaultWriter'
  ).split(' '),
);
const INTERNAL = new Set([
  'Timeout',
  'Immediate',
  'FileHandle',
  'FSWatcher',
  'StatWatcher',
  'KeyObject',
  'Hash',
  'Hmac',
]);

const { getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
/** What is there before the app adds its own. */
const GLOBALS = new Map(getOwnPropertyNames(globalThis).map((name) => [name, own(globalThis, name)]));
/** Modules with classes whose objects are data, and that are loaded anyway or cost nothing. */
const CLASSES_IN = ['node:fs', 'node:perf_hooks'];
const toText = Function.prototype.toString;

/**
 * Whether the class, or one that it extends, is one of these and not only called so.
 * @param {object[]} chain prototypes, the nearest first
 */
export function isLive(chain) {
  return chain.some((prototype) => {
    const made = getOwnPropertyDescriptor(prototype, 'constructor')?.value;
    if (typeof made !== 'function') return false;
    const name = getOwnPropertyDescriptor(made, 'name')?.value;
    if (typeof name !== 'string') return false;
    const module = MODULES.get(name);
    if (module !== undefined && own(process.getBuiltinModule?.(module), name) === made) return true;
    if (GLOBAL.has(name)) return own(globalThis, name) === made || isNative(made);
    return INTERNAL.has(name) && isInternal(made);
  });
}

/** Whether a class is Node's or the language's, which keep things of their own in their objects. @param {Function} made */
export function isOfPlatform(made) {
  const name = getOwnPropertyDescriptor(made, 'name')?.value;
  if (made === EventEmitter || isNative(made)) return true;
  if (typeof name !== 'string') return false;
  return (
    GLOBALS.get(name) === made || CLASSES_IN.some((module) => own(process.getBuiltinModule?.(module), name) === made)
  );
}

/** @param {object | undefined} owner @param {string} name */
function own(owner, name) {
  return owner === undefined ? undefined : getOwnPropertyDescriptor(owner, name)?.value;
}

/** @param {Function} made */
function isNative(made) {
  return /\{\s*\[native code\]\s*\}$/.test(Reflect.apply(toText, made, []));
}

/** Node's own sources name what they take from the language in a way that nobody else does. @param {Function} made */
function isInternal(made) {
  return (
    isNative(made) ||
    /\b(?:internalBinding|primordials|kHandle|kRefed|async_id_symbol|initAsyncResource)\b|\[k[A-Z]/.test(
      Reflect.apply(toText, made, []),
    )
  );
}
