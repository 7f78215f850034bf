import { types } from 'node:util';

/** Names of a function's parameters, read from its source. */

/**
 * `rest`: the last one takes all that are left. A parameter that is taken apart (`{ id }`) has its position as its name; so have all of a function
 * whose source says nothing.
 * @typedef {{ names: string[], rest: boolean }} Params
 */

const toText = Function.prototype.toString;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/u;
const LONGEST = 20_000;

/** Levels of classes that are looked through for a constructor. */
const MOST_CLASSES = 50;
/** Of functions whose source is that of others. @type {WeakMap<Function, Params>} */
const given = new WeakMap();

/** From now on this function has the parameters of the other one. @param {Function} fn @param {Params} params */
export function giveParams(fn, params) {
  given.set(fn, params);
}

/** Of a class, those of its constructor, or of the one that it inherits. @param {Function} fn @returns {Params} */
export function paramsOf(fn, levels = MOST_CLASSES) {
  const known = given.get(fn);
  if (known !== undefined) return known;
  const source = Reflect.apply(toText, fn, []).slice(0, LONGEST);
  const none = { names: [], rest: false };
  if (/\{\s*\[native code\]\s*\}$/.test(source)) return none;
  if (/^class\b/.test(source)) {
    const open = constructorOf(source);
    if (open !== undefined) return open < 0 ? none : namesIn(source, open);
    const parent = Object.getPrototypeOf(fn);
    return typeof parent === 'function' && !types.isProxy(parent) && levels > 0 ? paramsOf(parent, levels - 1) : none;
  }
  const alone = /^(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>/u.exec(source);
  if (alone !== null) return { names: [alone[1]], rest: false };
  const open = openingOf(source);
  return open < 0 ? none : namesIn(source, open);
}

/** @param {string} source @param {number} open of the list of parameters @returns {Params} */
function namesIn(source, open) {
  const parts = partsOf(source, open + 1);
  if (parts === undefined) return { names: [], rest: false };
  const names = parts.map((part, index) => NAME.exec(part.replace(/^\.\.\.\s*/, ''))?.[0] ?? String(index));
  return { names, rest: parts.length > 0 && parts[parts.length - 1].startsWith('...') };
}

const CONSTRUCTOR = /^constructor\s*[(/]/;
/** Words before which a name is no name of a method, or not of this one. */
const OTHER =
  /(?:^|[^\p{ID_Continue}$])(?:static|typeof|new|in|instanceof|void|delete|await|yield|return|get|set|async)\s*$/u;

/** Where the list of parameters of a class' constructor opens; undefined where it has none, -1 where that cannot be told. @param {string} source */
function constructorOf(source) {
  const body = source.indexOf('{');
  // What it extends may have brackets of its own.
  if (body < 0 || /[({]|\bclass\b/.test(source.slice(5, body))) return -1;
  // The last sign before here but white space and comments, and whether a line ended since then.
  let last = '{';
  let isNewLine = true;
  for (let at = body + 1; at < source.length; at++) {
    const character = source[at];
    if (character === '}') return undefined;
    if (/\s/.test(character)) {
      isNewLine ||= character === '\n';
      continue;
    }
    // Fields may end with their line alone.
    if ('{};'.includes(last) || (isNewLine && /[\p{ID_Continue}$)\]"'`]/u.test(last))) {
      const found = CONSTRUCTOR.exec(source.slice(at, at + 100));
      if (found !== null && !OTHER.test(source.slice(Math.max(0, at - 30), at)))
        return found[0].endsWith('(') ? at + found[0].length - 1 : -1;
    }
    if ('([{"\'`/'.includes(character)) {
      const closes = skip(source, at);
      if (closes < 0) return -1;
      if (/^["'`]constructor["'`]$/.test(source.slice(at, closes + 1))) return -1;
      const isComment = character === '/';
      isNewLine = isComment ? isNewLine || source[closes] === '\n' : false;
      if (!isComment) last = source[closes];
      at = closes;
    } else {
      last = character;
      isNewLine = false;
    }
  }
  return -1;
}

/** Where the list of parameters opens: behind a name, which may be computed. @param {string} source */
function openingOf(source) {
  for (let at = 0; at < source.length; at++) {
    const character = source[at];
    if (character === '(') return at;
    if (character === '[' || character === '"' || character === "'" || character === '/') at = skip(source, at);
    if (at < 0) return -1;
  }
  return -1;
}

/**
 * What stands between commas, without comments; nothing when the end was not found.
 * @param {string} source
 * @param {number} from
 */
function partsOf(source, from) {
  /** @type {string[]} */
  const parts = [];
  let part = '';
  for (let at = from; at < source.length; at++) {
    const character = source[at];
    if (character === ')' || character === ',') {
      if (part.trim() !== '') parts.push(part.trim());
      if (character === ')') return parts;
      part = '';
    } else if ('([{"\'`/'.includes(character)) {
      const end = skip(source, at);
      if (end < 0) return undefined;
      if (character !== '/') part += source.slice(at, end + 1);
      at = end;
    } else part += character;
  }
  return undefined;
}

/**
 * The last character of what opens here: brackets, a text, or a comment. -1 where that cannot be told.
 * @param {string} source
 * @param {number} from
 */
function skip(source, from) {
  const opens = source[from];
  if (opens === '/') {
    if (source[from + 1] === '*') return end(source.indexOf('*/', from + 2), 1);
    if (source[from + 1] === '/') return end(source.indexOf('\n', from), 0);
    // A division, or a regular expression in a default value.
    return -1;
  }
  const closes = { '(': ')', '[': ']', '{': '}' }[opens];
  for (let at = from + 1; at < source.length; at++) {
    const character = source[at];
    if (closes === undefined) {
      if (character === '\\') at++;
      else if (character === opens) return at;
      else if (opens === '`' && character === '$' && source[at + 1] === '{') {
        at = skip(source, at + 1);
        if (at < 0) return -1;
      }
    } else if (character === closes) return at;
    else if ('([{"\'`/'.includes(character)) {
      at = skip(source, at);
      if (at < 0) return -1;
    }
  }
  return -1;
}

/** @param {number} found @param {number} more */
function end(found, more) {
  return found < 0 ? -1 : found + more;
}
