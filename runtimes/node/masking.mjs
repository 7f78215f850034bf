import { types } from 'node:util';
import { MASK, PATTERNS, SCHEMA_KEYS, SCHEMA_TYPES, SECRET_HINTS } from './secrets.mjs';
import { isSecretName, mayHoldSecret as mayHoldUsual } from './secretNames.mjs';
import { joined } from './joined.mjs';

/** What is a secret, by the name of its key and by its looks. The same as `_masking` of the Python runtime; the tables are generated for both. */

const SECRET = new RegExp(PATTERNS.join('|'), 'g');
/** As Python has them in `\w`. */
const LETTER = '\\w\\u00aa-\\uffff';
/** Names of keys that the person gave. */
const OWN_KEYS = [...(process.env.TOOLBREAK_RECORD_MASK_KEYS ?? '').split(','), ...(joined?.maskKeys ?? [])]
  .map((word) => word.trim())
  .filter((word) => word !== '');
/**
 * What the person gave for texts, of which nothing is known but themselves: patterns, and what stands under one of the names. What is to stay is in `kept`.
 * @type {RegExp[]}
 */
const PATTERNS_TOO = [...(joined?.maskPatterns ?? []), ...OWN_KEYS.filter((key) => /[^*?]/.test(key)).map(namedInText)];
/** Shorter texts cannot hold a secret. */
export const SHORTEST_SECRET = PATTERNS_TOO.length > 0 ? 0 : 8;
const latin1 = Buffer.prototype.latin1Slice;

/** Not 0 for characters without which a text holds no secret; indexed by their lowest seven bits. */
export const NOTABLE = new Uint8Array(128).fill(PATTERNS_TOO.length > 0 ? 1 : 0);
for (const character of ['=', ':', '(', '[', '<', ...SECRET_HINTS.map(([first]) => first)])
  NOTABLE[character.charCodeAt(0)] = 1;

/** `iban=...`, `"iban": "..."`, `--iban ...` in a text. @param {string} glob */
function namedInText(glob) {
  const name = glob
    .replace(/[\\^$.|+()[\]{}/]/g, '\\$&')
    .replace(/[*?]/g, (sign) => (sign === '*' ? `[${LETTER}.-]{0,100}` : `[${LETTER}.-]`));
  return new RegExp(
    `(?<kept>(?<![${LETTER}])(?:${name}\\\\?["']?\\s?(?::=|[=:])\\s?(?:b(?=\\\\?["']))?|--?${name}(?:\\s{1,9}(?!-)|\\\\?["'],\\s?(?=\\\\?["'](?!-)))))` +
      `(?:\\\\?"[^"\\\\\\n]{0,2000}\\\\?"|\\\\?'[^'\\\\\\n]{0,2000}\\\\?'|[^\\s,;(){}[\\]"'&<>\\\\]+)`,
    'gi',
  );
}

/**
 * Names that the person gave, as Python's `fnmatch` reads them; whatever is written is a pattern. Each `*` is tried from its last place on, so that a
 * long name takes no time.
 * @param {string} glob
 */
function namesLike(glob) {
  const parts = glob.toLowerCase().match(/\[!?\][^\]]*\]|\[(?:![^\]]|[^!\]])[^\]]*\]|\*+|[^]/gu) ?? [];
  /** @param {string} part @param {string} character */
  const fits = (part, character) => {
    if (part === '?') return true;
    if (part.length < 3 || !part.startsWith('[')) return part === character;
    const not = part[1] === '!';
    const ranges = part.slice(not ? 2 : 1, -1).match(/[^]-[^]|[^]/gu) ?? [];
    const isIn = ranges.some((range) => {
      const [low = '', , high] = [...range];
      return high === undefined ? low === character : low <= character && character <= high;
    });
    return isIn !== not;
  };
  /** @param {string} name */
  return (name) => {
    const characters = [...name.toLowerCase()];
    let [at, part, star, from] = [0, 0, -1, 0];
    while (at < characters.length) {
      const wanted = parts[part];
      if (wanted?.startsWith('*')) [star, from, part] = [part, at, part + 1];
      else if (wanted !== undefined && fits(wanted, characters[at] ?? '')) [at, part] = [at + 1, part + 1];
      else if (star < 0) return false;
      else [from, at, part] = [from + 1, from + 1, star + 1];
    }
    return parts.slice(part).every((rest) => rest.startsWith('*'));
  };
}

/** Read once: parameters are named where a function is wrapped, before anything is recorded. */
const OWN = OWN_KEYS.map(namesLike);

/** Whether values under this key are secrets, as all names go or as the person said. @param {string} name */
export function isSecretKey(name) {
  return isSecretName(name) || OWN.some((isLike) => isLike(name));
}

/** What stands under the name of a secret and is none: nothing, a flag, or a JSON schema. @param {unknown} item */
export function isNoSecret(item) {
  if (item === null || item === undefined || typeof item === 'boolean') return true;
  if (typeof item !== 'object' || types.isProxy(item) || Object.getPrototypeOf(item) !== Object.prototype) return false;
  const type = Object.getOwnPropertyDescriptor(item, 'type')?.value;
  return (
    typeof type === 'string' &&
    SCHEMA_TYPES.has(type) &&
    Reflect.ownKeys(item).every((key) => typeof key === 'string' && SCHEMA_KEYS.has(key))
  );
}

const mapGet = Map.prototype.get;

/** What stands beside it in an object, or in a map, whose own properties say nothing of its entries. @param {object} row @param {string} name @returns {unknown} */
export function beside(row, name) {
  return types.isMap(row) ? Reflect.apply(mapGet, row, [name]) : Object.getOwnPropertyDescriptor(row, name)?.value;
}

/** Whether a model's word stands here, under `token`, beside its probability. @param {object} row */
export function hasWord(row) {
  return typeof beside(row, 'logprob') === 'number';
}

/** Such as `--password`: in a command line, the secret is what follows. @param {string} text */
export function isOption(text) {
  return text.length < 100 && /^-+\p{L}/u.test(text) && !text.includes(' ');
}

/** A cheap necessary condition of a secret in the text. @param {string} text */
export function mayHoldSecret(text) {
  return PATTERNS_TOO.length > 0 || mayHoldUsual(text);
}

/** The text with secrets replaced; the same text when there are none. @param {string} text */
export function maskText(text) {
  if (text.length < SHORTEST_SECRET || !mayHoldSecret(text)) return text;
  const masked = text.replace(SECRET, (_, ...found) => {
    const groups = /** @type {Record<string, string | undefined>} */ (found[found.length - 1]);
    for (const name in groups) if (groups[name] !== undefined) return groups[name] + MASK;
    return MASK;
  });
  return PATTERNS_TOO.reduce(
    (left, pattern) => left.replace(pattern, (...found) => (found[found.length - 1]?.kept ?? '') + MASK),
    masked,
  );
}

/** So much behind a cut is masked with what is before it: secrets of up to half of that are known with their end. */
export const BEYOND = 16_384;

/**
 * How much to keep, at most `size`, of what was masked up to `BEYOND` behind that and has the length `masked` since; it was `whole`. Masks are shorter
 * than what they hide, so that the edge comes nearer: its last half may hold a part of a secret, which without its end is not known for one.
 * @param {number} masked
 * @param {number} size
 * @param {number} whole
 */
export function withinEdge(masked, size, whole) {
  return whole < size + BEYOND ? size : Math.max(0, Math.min(size, masked - BEYOND / 2));
}

/**
 * The text with its masks; of a longer one its beginning, and how long it is.
 * @param {string} text
 * @param {number} most characters
 */
export function maskHead(text, most) {
  if (text.length <= most) return maskText(text);
  const masked = maskText(text.slice(0, most + BEYOND));
  const head = masked.slice(0, withinEdge(masked.length, most, text.length));
  // No half of a pair of code units.
  return `${head.replace(/[\ud800-\udbff]$/, '')}… (${text.length} characters)`;
}

/** @param {Uint8Array} data */
export function maskBinary(data) {
  if (data.length < SHORTEST_SECRET) return data;
  // Not `Buffer.from`: that asks the memory below for its size, which may be of a class of the app.
  const text = latin1.call(data, 0, data.length);
  const masked = maskText(text);
  return masked === text ? data : Buffer.from(masked, 'latin1');
}
