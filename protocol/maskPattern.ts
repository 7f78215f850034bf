/**
 * Regular expressions of text to mask (`record.maskPatterns`) are Python's. What is to be masked must not be told because another language reads one
 * otherwise, so they are translated, and what has no words here is refused. The runtime of Node has this as JavaScript, made by `build/generate.ts`.
 */

const WORD = '\\p{L}\\p{N}_';
const SPACE = '\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const BOUNDARY = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
/** Sets of characters, each of all languages. */
const SETS: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
  s: `[${SPACE}]`,
  S: `[^${SPACE}]`,
};
const PLACES: Readonly<Record<string, string>> = {
  b: BOUNDARY,
  B: `(?!${BOUNDARY})`,
  A: '(?<![^])',
  Z: '(?![^])',
};
const CONTROLS: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
/** Without case they are one letter to Python. */
const LETTERS_I = [...'iIİı'].map((letter) => letter.codePointAt(0)!);

const NO_SUCH = 'it is no regular expression that means the same in Python and outside of it';
const EMPTY = 'nothing at all may fit it';

/** The expression as Python reads it, or nothing where there is no such expression or no word for it here. */
export function maskPattern(text: string): RegExp | undefined {
  try {
    return translated(text);
  } catch {
    return undefined;
  }
}

/** Why there is no such pattern, as a part of a sentence; nothing where there is one. */
export function maskPatternProblem(text: string): string | undefined {
  try {
    translated(text);
    return undefined;
  } catch (error) {
    return error instanceof Refused ? error.message : NO_SUCH;
  }
}

/** Throws where there is none. */
function translated(text: string): RegExp {
  const { source, anyCase } = new Translation(text);
  return new RegExp(source, anyCase ? 'giv' : 'gv');
}

interface Flags {
  /** `.` is any character. */
  s: boolean;
  /** `^` and `$` are at each line. */
  m: boolean;
}

/** What stands between two brackets, or all. */
interface Group {
  flags: Flags;
  /** It has no characters of its own: what it looks at lies around. */
  isPlace: boolean;
  /** Whether nothing may fit its last part, all before it since the last `|`, and one of its ways before that. */
  last: boolean;
  before: boolean;
  ways: boolean;
}

const canBeEmpty = ({ ways, before, last }: Group): boolean => ways || (before && last);

class Translation {
  readonly source: string;
  anyCase = false;
  private readonly characters: readonly string[];
  private at = 0;
  private group: Group = { flags: { s: false, m: false }, isPlace: false, last: true, before: true, ways: false };
  private readonly outer: Group[] = [];
  /** A group may take part in no match, or in several: what it holds then differs. */
  private isUnsure = false;
  private refers = false;

  /** Throws for what cannot be said. */
  constructor(text: string) {
    this.characters = [...text];
    this.leadingFlags();
    let source = '';
    while (this.at < this.characters.length) source += this.next();
    if (this.outer.length > 0 || (this.refers && this.isUnsure)) refuse();
    // At the place of an empty match Python looks once more.
    if (canBeEmpty(this.group)) refuse(EMPTY);
    this.source = source;
  }

  private rest(length = 80): string {
    return this.characters.slice(this.at, this.at + length).join('');
  }

  /** What stands here, if it fits; then it is passed. */
  private take(expression: RegExp, length?: number): RegExpExecArray | undefined {
    const found = expression.exec(this.rest(length));
    if (found === null) return undefined;
    this.at += [...found[0]].length;
    return found;
  }

  private leadingFlags(): void {
    for (let found = this.take(/^\(\?([imsu]+)\)/); found; found = this.take(/^\(\?([imsu]+)\)/)) {
      this.anyCase ||= found[1]!.includes('i');
      const { flags } = this.group;
      this.group.flags = { s: flags.s || found[1]!.includes('s'), m: flags.m || found[1]!.includes('m') };
    }
  }

  private next(): string {
    const character = this.characters[this.at++]!;
    const { flags } = this.group;
    switch (character) {
      case '\\':
        return this.escape();
      case '[':
        return this.part(this.set());
      case '(':
        return this.open();
      case ')':
        return this.close();
      case '.':
        return this.part(flags.s ? '[^]' : '[^\\n]');
      case '^':
        return this.part(flags.m ? '(?<=\\n|(?<![^]))' : '(?<![^])', true);
      case '$':
        return this.part(flags.m ? '(?=\\n|(?![^]))' : '(?=\\n?(?![^]))', true);
      case '|':
        this.isUnsure = true;
        this.group.ways ||= canBeEmpty(this.group);
        this.group.before = this.group.last = true;
        return '|';
      case '*':
      case '+':
      case '?':
        return this.repeated(character, character !== '+');
      case '{': {
        const found = this.take(/^(?=[\d,])(\d*)(,?)(\d*)\}/);
        if (found === undefined) return this.literal(0x7b);
        const [, least = '', comma = '', most = ''] = found;
        return this.repeated(`{${least === '' ? '0' : least}${comma}${most}}`, Number(least) === 0);
      }
      default:
        return this.literal(character.codePointAt(0)!);
    }
  }

  private part(source: string, isEmpty = false): string {
    const { group } = this;
    group.before &&= group.last;
    group.last = isEmpty;
    return source;
  }

  /** The last part, several times: where it may be nothing, the languages differ in when they have enough of it. */
  private repeated(times: string, isOptional: boolean): string {
    const { group } = this;
    if (group.last) refuse();
    group.last = isOptional;
    return times + (this.take(/^\?/)?.[0] ?? '');
  }

  private close(): string {
    const { isPlace } = this.group;
    const isEmpty = isPlace || canBeEmpty(this.group);
    this.group = this.outer.pop() ?? refuse();
    if (/^[*+?{]/.test(this.rest(1))) this.isUnsure = true;
    return this.part(')', isEmpty);
  }

  private open(): string {
    if (this.take(/^\?#[^)]*\)/, Infinity)) return '';
    const same = this.take(/^\?P=(\w+)\)/);
    if (same) return this.reference(`\\k<${same[1]}>`);
    const { flags } = this.group;
    this.outer.push(this.group);
    this.group = { flags, isPlace: false, last: true, before: true, ways: false };
    if (!this.rest(1).startsWith('?')) return '(';
    const named = this.take(/^\?P<(\w+)>/);
    if (named) return `(?<${named[1]}>`;
    const around = this.take(/^\?<?[=!]/);
    if (around) {
      this.isUnsure = true;
      this.group.isPlace = true;
      return `(${around[0]}`;
    }
    const [, on = '', off = ''] = this.take(/^\?([ims]*)(?:-([ims]+))?:/) ?? refuse();
    // Only newer ones than some that we run in have a case for a part alone.
    if ((on.includes('i') && !this.anyCase) || (off.includes('i') && this.anyCase)) refuse();
    const value = (flag: keyof Flags): boolean => (flags[flag] || on.includes(flag)) && !off.includes(flag);
    this.group.flags = { s: value('s'), m: value('m') };
    return '(?:';
  }

  private reference(source: string): string {
    this.refers = true;
    return this.part(`(?:${source})`, true);
  }

  private escape(): string {
    const letter = this.rest(1);
    const place = PLACES[letter];
    const known = place ?? SETS[letter];
    if (known !== undefined) {
      this.at++;
      return this.part(known, place !== undefined);
    }
    const group = /^0|^[0-3]?[0-7]{3}|^[0-7]{3}/.test(this.rest(3)) ? undefined : this.take(/^[1-9]\d?/);
    return group ? this.reference(`\\${group[0]}`) : this.literal(this.escaped());
  }

  /** The character that an escape stands for, whose backslash was passed. */
  private escaped(): number {
    const octal = this.take(/^(?:0[0-7]{0,2}|[0-3][0-7]{2})/);
    if (octal) return Number.parseInt(octal[0], 8);
    const hexadecimal = this.take(/^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/);
    if (hexadecimal) return Number.parseInt(hexadecimal[1] ?? hexadecimal[2] ?? hexadecimal[3]!, 16);
    const character = this.characters[this.at++] ?? refuse();
    if (!/^[a-zA-Z0-9]$/.test(character)) return character.codePointAt(0)!;
    return CONTROLS[character] ?? refuse();
  }

  private literal(code: number): string {
    return this.part(this.anyCase && LETTERS_I.includes(code) ? `[${LETTERS_I.map(literal).join('')}]` : literal(code));
  }

  /** A bracket that comes first stands for itself. */
  private set(): string {
    const start = this.take(/^\^/) ? '[^' : '[';
    let source = '';
    for (let first = true; first || this.rest(1) !== ']'; first = false) {
      const low = this.item();
      if (typeof low === 'string') source += low;
      else if (/^-[^\]]/u.test(this.rest(2))) {
        this.at++;
        const high = this.item();
        // Python has no such range; without an end it is no set at all.
        if (typeof high === 'string' || high < low) refuse();
        source += `${literal(low)}-${literal(high)}${this.also((letter) => letter >= low && letter <= high)}`;
      } else source += literal(low) + this.also((letter) => letter === low);
    }
    this.at++;
    return `${start}${source}]`;
  }

  private also(isIn: (letter: number) => boolean): string {
    return this.anyCase && LETTERS_I.some(isIn) ? LETTERS_I.map(literal).join('') : '';
  }

  /** A character of a set, or a set in it. */
  private item(): number | string {
    const character = this.characters[this.at++] ?? refuse();
    if (character !== '\\') return character.codePointAt(0)!;
    const known = SETS[this.rest(1)];
    if (known === undefined) return this.escaped();
    this.at++;
    return known;
  }
}

function literal(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

class Refused extends Error {}

function refuse(why = NO_SUCH): never {
  throw new Refused(why);
}
