import { types } from 'node:util';
import { LIST, TUPLE } from './bytes.mjs';
import { classOf, hasOwnSymbols, PLAIN } from './classes.mjs';
import { copyOf, Leaves, TOO_LARGE } from './leaves.mjs';
import { MAX_DEPTH, MAX_RESERVE_BYTES, MAX_VALUE_BYTES } from './limits.mjs';
import { markHead, markOf } from './marks.mjs';
import { isSecretSelector } from './secretNames.mjs';
import { ROW_NAMES, ROW_VALUES, SELECTORS, TYPED_VALUES } from './secrets.mjs';
import { beside, hasWord, isNoSecret, isOption, isSecretKey, maskHead, maskText } from './masking.mjs';

/**
 * One walk from the app's values to the bytes of a frame, as `protocol/spool.ts` says. Nothing of the app runs: no getter, no `toJSON`, no trap of a
 * proxy, no iterator. What is not plain is a mark, and so is what goes beyond the limits.
 */

const { isProxy } = types;
const { getOwnPropertyDescriptor, getOwnPropertySymbols, keys: keysOf } = Object;
const { propertyIsEnumerable } = Object.prototype;
const { isArray } = Array;

const TOO_DEEP = `deeper than ${MAX_DEPTH} levels`;
const INDEX = /^(?:0|[1-9]\d*)$/;
const MOST_KEYS = 10_000;
const LONGEST_KEY = 200;
/** Characters of a name that are told. */
const LONGEST_NAME = 1000;
/** @type {readonly symbol[]} */
const NONE = [];
/** Of the reserve, for a look whether a container is one of a few small values. */
const LOOK = 64;
/** Bytes in which each of these fits. */
const ROOM = 8192;
const FEW_ITEMS = 8;
const SHORT_NAME = 64;
const SHORT_TEXT = 200;

const UNDEFINED = markOf('opaque', 'undefined', 'undefined', null);
const HOLE = markOf('opaque', 'undefined', 'empty', 'the list has no element here');
const GETTER = markOf('opaque', 'getter', '', 'a getter; reading it would run code');
const PROXY = markOf('opaque', 'Proxy', '', 'a proxy; reading it would run code');
const CYCLE = markHead('cycle', 1);
const OBJECT = markHead('object', 3);
const UNREADABLE = markOf('opaque', 'object', '', 'it could not be read while recording');

/** @typedef {{ bytes: Uint8Array, mask: Uint8Array | null, beside: readonly string[] | undefined, isToken: boolean }} Key `mask`: of what stands under it, when the name says that it is a secret; `beside`: what may say so of a row */

/** @param {string} name */
export function keyOf(name) {
  const secret = name.length < LONGEST_KEY && isSecretKey(name);
  const told = maskHead(name, LONGEST_NAME);
  /** @type {Key} */
  const key = {
    bytes: markOf.text(told),
    mask: secret ? markOf('masked', `${told} holds a secret`) : null,
    beside: ROW_VALUES.includes(name) ? ROW_NAMES : TYPED_VALUES.includes(name) ? SELECTORS : undefined,
    isToken: name === 'token',
  };
  return key;
}

export class Encoder extends Leaves {
  /** @private @type {Map<string, Key>} */
  keys = new Map();
  /** What contains what is being written, the outermost first. @private @type {(object | undefined)[]} */
  above = [];
  /** @private */
  levels = 0;
  /** @private */
  reserve = 0;

  /** Begins a value with limits of its own. */
  begin() {
    this.limit = this.bytes.at + MAX_VALUE_BYTES;
    this.steps = 0;
    this.late = false;
    this.levels = 0;
    this.reserve = MAX_RESERVE_BYTES;
  }

  /** A value with limits of its own. @param {unknown} value */
  root(value) {
    this.begin();
    this.value(value, 1);
  }

  /**
   * @param {unknown} value
   * @param {number} depth
   */
  value(value, depth) {
    switch (typeof value) {
      case 'string':
        return this.text(value);
      case 'number':
        return this.bytes.number(value);
      case 'boolean':
        return this.bytes.boolean(value);
      case 'undefined':
        return this.bytes.copy(UNDEFINED);
      case 'object':
        return value === null ? this.bytes.none() : this.object(value, depth);
      case 'bigint':
        return this.bigint(value);
      case 'symbol':
        return this.symbol(value);
      case 'function':
        return isProxy(value) ? this.bytes.copy(PROXY) : this.opaque('function', nameOf(value), 'a function');
    }
  }

  // ------------------------------------------------------------ containers

  /**
   * @private
   * @param {object} value
   * @param {number} depth
   */
  object(value, depth) {
    const { above, bytes, levels } = this;
    if (isProxy(value)) return bytes.copy(PROXY);
    for (let index = levels - 1; index >= 0; index--) {
      if (above[index] !== value) continue;
      bytes.copy(CYCLE);
      return bytes.int(levels - index);
    }
    const reason = depth > MAX_DEPTH ? TOO_DEEP : this.spent();
    if (reason !== undefined && !this.isKept(value, reason)) return this.skipped(value, reason);
    const { limit } = this;
    if (reason !== undefined) this.limit = bytes.at + ROOM;
    const start = bytes.at;
    above[levels] = value;
    this.levels = levels + 1;
    try {
      const found = classOf(value);
      if (found === PLAIN) this.fields(value, depth, 'dict');
      else if (isArray(value)) {
        if (found.name !== 'Array') this.openSubclass(found.name);
        this.list(value, depth);
      } else if (found.write !== undefined) found.write(this, value, depth, found);
      else {
        bytes.copy(OBJECT);
        bytes.text(found.name);
        this.fields(value, depth, 'fields');
        bytes.none();
      }
    } catch (error) {
      // An exotic object that refuses, such as a module in the middle of its import.
      if (error instanceof RangeError) throw error;
      bytes.at = start;
      bytes.copy(UNREADABLE);
    } finally {
      this.levels = levels;
      above[levels] = undefined;
      if (reason !== undefined) {
        this.reserve -= bytes.at - start;
        this.limit = limit;
      }
    }
  }

  /**
   * Whether a container is written whole though there is no room any more: one of a few small values.
   * @private
   * @param {object} value
   * @param {string} reason
   */
  isKept(value, reason) {
    if (reason !== TOO_LARGE || this.late || this.reserve <= 0) return false;
    this.reserve -= LOOK;
    try {
      const found = classOf(value);
      if (isArray(value) ? found.name !== 'Array' || value.length > FEW_ITEMS : found !== PLAIN) return false;
      const names = keysOf(value);
      // To list a million of them takes a while.
      this.reserve -= names.length;
      return (
        names.length <= FEW_ITEMS &&
        symbolsOf(value).length === 0 &&
        names.every((name) => name.length <= SHORT_NAME && isSmall(getOwnPropertyDescriptor(value, name)))
      );
    } catch (error) {
      // An exotic object that refuses, as above.
      if (error instanceof RangeError) throw error;
      return false;
    }
  }

  /**
   * A container or an object that no longer fits: its type and size.
   * @private
   * @param {object} value
   * @param {string} reason
   */
  skipped(value, reason) {
    const { bytes } = this;
    const found = classOf(value);
    const list = isArray(value);
    this.openCut(list ? 'list' : found === PLAIN ? 'dict' : found.name);
    if (list) bytes.open(LIST, 0);
    else if (found === PLAIN) {
      bytes.openDict();
      bytes.closeDict();
    } else bytes.none();
    this.closeCut(list ? value.length : 0, reason);
  }

  /**
   * Own enumerable properties, as a dict.
   * @param {object} value
   * @param {number} depth
   * @param {string} kind of a cut
   * @param {(name: string) => boolean} [skip]
   * @param {readonly string[]} [more] names of properties that are not enumerable
   */
  fields(value, depth, kind, skip, more) {
    const { bytes } = this;
    const names = more === undefined ? keysOf(value) : keysOf(value).concat(more);
    const symbols = symbolsOf(value);
    const start = bytes.at;
    bytes.openDict();
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      if (skip !== undefined && skip(name)) continue;
      if (bytes.at >= this.limit || (index & 63) === 63) {
        const reason = this.spent();
        if (reason !== undefined) {
          bytes.closeDict();
          return this.cut(start, kind, names.length + symbols.length, reason);
        }
      }
      this.field(value, name, depth);
    }
    for (const symbol of symbols) {
      const reason = this.spent();
      if (reason !== undefined) {
        bytes.closeDict();
        return this.cut(start, kind, names.length + symbols.length, reason);
      }
      if (propertyIsEnumerable.call(value, symbol)) this.field(value, symbol, depth);
    }
    bytes.closeDict();
  }

  /**
   * @param {object} value
   * @param {string | symbol} name
   * @param {number} depth
   */
  field(value, name, depth) {
    const descriptor = getOwnPropertyDescriptor(value, name);
    if (descriptor === undefined) return;
    const { bytes } = this;
    const isText = typeof name === 'string';
    const key = this.key(isText ? name : (name.description ?? ''));
    if (isText) bytes.copy(key.bytes);
    else this.symbol(name);
    if (descriptor.get !== undefined || descriptor.set !== undefined) return bytes.copy(GETTER);
    this.under(key, descriptor.value, depth, value);
  }

  /**
   * What stands under a key of a dict; it is masked where the key says so.
   * @param {Key} key
   * @param {unknown} item
   * @param {number} depth
   * @param {object} [row] the object or the map it is from
   */
  under(key, item, depth, row) {
    const mask = key.beside !== undefined && row !== undefined ? (this.rowMask(row, key.beside) ?? key.mask) : key.mask;
    const isWord = mask !== null && key.isToken && row !== undefined && hasWord(row);
    if (mask !== null && !isWord && !isNoSecret(item)) this.bytes.copy(mask);
    else this.value(item, depth + 1);
  }

  /** @private @param {symbol} value */
  symbol(value) {
    this.opaque('symbol', String(value), 'a symbol');
  }

  /** @param {string} name */
  key(name) {
    const known = this.keys.get(name);
    if (known !== undefined) return known;
    const key = keyOf(name);
    if (name.length < LONGEST_KEY) {
      if (this.keys.size >= MOST_KEYS) this.keys.clear();
      this.keys.set(copyOf(name), key);
    }
    return key;
  }

  /** Of a row such as `{ name: 'DB_PASSWORD', value: '...' }`. @private @param {object} row @param {readonly string[]} names */
  rowMask(row, names) {
    for (const about of names) {
      const name = beside(row, about);
      if (typeof name !== 'string') continue;
      const { mask } = this.key(name);
      if (mask !== null) return mask;
      if (SELECTORS.includes(about) && isSecretSelector(name))
        return markOf('masked', `${maskText(name)} holds a secret`);
    }
    return undefined;
  }

  /**
   * @param {unknown[]} items
   * @param {number} depth
   */
  list(items, depth) {
    const { bytes } = this;
    const { length } = items;
    const start = bytes.at;
    bytes.open(LIST, length);
    /** @type {Uint8Array | null} */
    let mask = null;
    for (let index = 0; index < length; index++) {
      const reason = index > 0 || length === 1 ? this.spent() : undefined;
      if (reason !== undefined) {
        bytes.view.setInt32(start + 1, index, true);
        return this.cut(start, 'list', length, reason);
      }
      const descriptor = getOwnPropertyDescriptor(items, index);
      if (descriptor === undefined) {
        bytes.copy(HOLE);
        continue;
      }
      if (descriptor.get !== undefined || descriptor.set !== undefined) {
        bytes.copy(GETTER);
        continue;
      }
      const item = descriptor.value;
      if (mask !== null && (typeof item === 'string' ? item[0] !== '-' : types.isUint8Array(item))) bytes.copy(mask);
      else this.value(item, depth + 1);
      mask = typeof item === 'string' && item.length < LONGEST_KEY ? this.maskAfter(item, index, length) : null;
    }
    this.beside(items, depth, start);
  }

  /**
   * Whether the item of a list says that the next one is a secret: a header's name, or an option.
   * @private
   * @param {string} item
   * @param {number} index
   * @param {number} length
   */
  maskAfter(item, index, length) {
    if (isOption(item)) return this.key(item.replace(/^-+/, '')).mask;
    return length === 2 && index === 0 && /^#?[A-Za-z]/.test(item) ? this.key(item).mask : null;
  }

  /**
   * Properties that a list has beside its elements, as the result of `exec` has.
   * @private
   * @param {unknown[]} items
   * @param {number} depth
   * @param {number} start
   */
  beside(items, depth, start) {
    const names = keysOf(items);
    const last = names[names.length - 1];
    const symbols = symbolsOf(items);
    const isPlain = last === undefined || last === String(items.length - 1) || INDEX.test(last);
    if (isPlain && !symbols.some((symbol) => propertyIsEnumerable.call(items, symbol))) return;
    const { bytes } = this;
    bytes.insert(start, markHead.beside);
    const named = isPlain ? [] : names.slice(names.findIndex((name) => !INDEX.test(name)));
    const all = [...named, ...symbols];
    for (const [index, name] of all.entries()) {
      const reason = this.spent();
      if (reason !== undefined) {
        bytes.text('…');
        this.openCut('fields');
        bytes.none();
        this.closeCut(all.length - index, reason);
        break;
      }
      if (propertyIsEnumerable.call(items, name)) this.field(items, name, depth);
    }
    bytes.closeDict();
    bytes.none();
  }

  /**
   * @param {number} type of a sequence
   * @param {string} kind of a cut
   * @param {number} size
   * @param {number} depth
   * @param {(each: (item: unknown) => void) => void} iterate goes through all; what does not fit is passed over
   */
  sequence(type, kind, size, depth, iterate) {
    const { bytes } = this;
    const start = bytes.at;
    let count = 0;
    /** @type {string | undefined} */
    let reason;
    bytes.open(type, size);
    iterate((item) => {
      reason ??= this.spent();
      if (reason !== undefined) return;
      count++;
      this.value(item, depth + 1);
    });
    bytes.view.setInt32(start + 1, count, true);
    if (reason !== undefined) this.cut(start, kind, size, reason);
  }

  /**
   * @param {number} depth
   * @param {number} size
   * @param {(each: (value: unknown, key: unknown) => void) => void} iterate
   * @param {object} [row] the map itself, where it is one
   */
  map(depth, size, iterate, row) {
    const { bytes } = this;
    const start = bytes.at;
    /** @type {string | undefined} */
    let reason;
    bytes.openDict();
    iterate((item, name) => {
      reason ??= this.spent();
      if (reason !== undefined) return;
      if (typeof name === 'string' && name.length < LONGEST_KEY) {
        const key = this.key(name);
        bytes.copy(key.bytes);
        this.under(key, item, depth, row);
      } else {
        this.value(name, depth + 1);
        this.value(item, depth + 1);
      }
    });
    bytes.closeDict();
    if (reason !== undefined) this.cut(start, 'dict', size, reason);
  }

  /** The first elements of an array of numbers. @param {ArrayLike<number | bigint>} items @param {number} count */
  head(items, count) {
    this.bytes.open(LIST, count);
    for (let index = 0; index < count; index++) this.value(items[index], MAX_DEPTH);
  }

  /** @param {readonly number[]} sizes */
  shape(sizes) {
    this.bytes.open(TUPLE, sizes.length);
    for (const size of sizes) this.bytes.number(size);
  }
}

/** Those of an app's: under others Node and the platform keep things of their own. @param {object} value @returns {readonly symbol[]} */
function symbolsOf(value) {
  const all = getOwnPropertySymbols(value);
  return all.length === 0 || hasOwnSymbols(value) ? all : NONE;
}

/** @param {PropertyDescriptor | undefined} descriptor */
function isSmall(descriptor) {
  if (descriptor === undefined || descriptor.get !== undefined || descriptor.set !== undefined) return false;
  const { value } = descriptor;
  if (typeof value === 'string') return value.length <= SHORT_TEXT;
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean';
}

/** A function's own name, where reading it runs no code. @param {Function} value */
function nameOf(value) {
  const name = getOwnPropertyDescriptor(value, 'name')?.value;
  return typeof name === 'string' ? name : '';
}
