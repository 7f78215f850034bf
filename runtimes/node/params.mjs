/** Names of a function's parameters, read from its source. */

/**
 * `rest`: the last one takes all that are left. A parameter that is taken apart (`{ id }`) has its position as its name; so have all of a function
 * whose source says nothing.
 * @typedef {{ names: string[], rest: boolean }} Params
 */

const toText = Function.prototype.toString;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/u;
const LONGEST = 20_000;

/** @param {Function} fn @returns {Params} */
export function paramsOf(fn) {
  const source = Reflect.apply(toText, fn, []).slice(0, LONGEST);
  const none = { names: [], rest: false };
  if (/^class\b/.test(source) || /\{\s*\[native code\]\s*\}$/.test(source)) return none;
  const alone = /^(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>/u.exec(source);
  if (alone !== null) return { names: [alone[1]], rest: false };
  const open = openingOf(source);
  const parts = open < 0 ? undefined : partsOf(source, open + 1);
  if (parts === undefined) return none;
  const names = parts.map((part, index) => NAME.exec(part.replace(/^\.\.\.\s*/, ''))?.[0] ?? String(index));
  return { names, rest: parts.length > 0 && parts[parts.length - 1].startsWith('...') };
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
