/**
 * Regular expressions of text to mask (`record.maskPatterns`) are Python's. What is to be masked must not be told because another language reads one
 * otherwise, so they are translated. The runtime of Node has this as JavaScript, made by `build/generate.ts`.
 */

const SYNTAX = new Set('^$\\.*+?()[]{}|/');
const WORD = '\\p{L}\\p{N}_';
const BOUNDARY = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
/** What stands for something else in Python, outside of a class and within. Digits and words are those of all languages. */
const ESCAPES = new Map([
  ['d', '\\p{Nd}'],
  ['D', '\\P{Nd}'],
  ['w', `[${WORD}]`],
  ['W', `[^${WORD}]`],
  ['b', BOUNDARY],
  ['B', `(?!${BOUNDARY})`],
  ['A', '(?<![^])'],
  ['Z', '(?![^])'],
]);
const ESCAPES_INSIDE = new Map([
  ['d', '\\p{Nd}'],
  ['D', '\\P{Nd}'],
  ['w', WORD],
]);
/** Flags in front, an escaped character, a class, in which a bracket that comes first stands for itself, and what means something else here. */
const PARTS = /^\(\?[ims]+\)|\\[^]|\[\^?\]?(?:\\[^]|[^\]\\])*\]|\$|\.|\(\?P</g;
const PARTS_INSIDE = /\\[^]|[[\]]/g;

/** The expression as Python reads it, or nothing where there is no such expression or no word for it here. */
export function maskPattern(text: string): RegExp | undefined {
  let flags = 'gu';
  const translated = (part: string): string => {
    if (part.startsWith('\\')) return escaped(part.slice(1), ESCAPES);
    if (part.startsWith('[')) {
      const start = part.startsWith('[^') ? '[^' : '[';
      return `${start}${part.slice(start.length, -1).replace(PARTS_INSIDE, insideOfClass)}]`;
    }
    if (part === '$') return flags.includes('m') ? part : '(?=\\n?(?![^]))';
    if (part === '.') return flags.includes('s') ? part : '[^\\n]';
    if (part === '(?P<') return '(?<';
    flags += part.slice(2, -1);
    return '';
  };
  try {
    return new RegExp(text.replace(PARTS, translated), flags);
  } catch {
    return undefined;
  }
}

function insideOfClass(part: string): string {
  if (/^\\[WBAZ]/.test(part)) throw new SyntaxError('no class says this');
  return part.length > 1 ? escaped(part.slice(1), ESCAPES_INSIDE) : `\\${part}`;
}

function escaped(character: string, own: ReadonlyMap<string, string>): string {
  const known = own.get(character);
  if (known !== undefined) return known;
  if (/[a-z0-9]/i.test(character) || SYNTAX.has(character)) return `\\${character}`;
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
