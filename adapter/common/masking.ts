import {
  EMPTY_LIST,
  LIST_AS_TEXT,
  MASK,
  NO_SECRET_WORD,
  ROW_NAMES,
  SCHEMA_AS_TEXT,
  SECRET_WORDS,
  TOKENS_OF_TEXTS,
  WORDS,
} from '../../protocol/secrets';
import { withoutSecrets } from './secretTexts';

const passes = SECRET_WORDS.passBefore.replaceAll(' ', '|');
const keys = SECRET_WORDS.keyBefore.replaceAll(' ', '|');
const manyTokens = SECRET_WORDS.tokensBefore.replaceAll(' ', '|');

/** Names of keys whose values are secrets. Compared without case, `-` and `_`. */
const secretNames =
  `api[-_ ]?keys?|secrets?|secret[-_ ]?keys?|client[-_ ]?secrets?|access[-_ ]?keys?(?:[-_ ]?ids?)?|private[-_ ]?keys?|(?:${keys})[-_]?keys?|(?:access|auth|refresh|id|session|bearer|api|csrf|xsrf|bot|user|app|device|sas)?[-_ ]?${TOKENS_OF_TEXTS}token|` +
  `(?:${manyTokens})[-_ ]?tokens|[a-z]{0,20}pass(?:word|wd|phrase|code)s?(?:[0-9]{1,2}|[-_]?(?:confirm(?:ation)?|again|repeat|verify|hash))?|(?:${passes})[-_]?pass|authorization|x-api-key|cookies?|credentials?`;

/** A part of each of them: to compile all that looks for names takes longer than a session's other start, and most texts have none. */
const NAMED = /pass|secret|token|key|authorization|cookie|credential/i;

/** A key in quotes may carry a prefix: "OPENAI_API_KEY", "db.password". */
const quotedName = `(?:[A-Za-z0-9]+[-_.])*(?:${secretNames})`;
/** Without quotes the prefix is not looked at: to begin at each of its letters would take quadratic time. */
const bareName = `(?<![A-Za-z0-9])(?:${secretNames})`;

/** What is no secret has to be all of the value, up to what ends it here: else a secret that begins so would be told. */
const END = `(?:[\\s"'&,;]|$)`;
const END_OR_BRACKET = `(?:[\\s"'&,;{}()[\\]]|$)`;

interface Pattern {
  /** What it finds has a part of a secret's name in it. */
  named?: true;
  find: RegExp;
  put: string;
}

const patterns: Pattern[] = [
  // -----BEGIN ... PRIVATE KEY----- up to its end, or to the end of the text.
  {
    named: true,
    find: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    put: MASK,
  },
  // A JSON or Python key with a quoted value; the quotes may themselves be escaped, once or more.
  {
    named: true,
    find: new RegExp(
      `((?<!\\\\)(\\\\*["'])${quotedName}\\2\\s*[:=]\\s*)(\\\\*["'])(?!${NO_SECRET_WORD}\\3)(?:(?!\\3)(?:\\\\.|[^\\\\\\n]))*?\\3`,
      'gi',
    ),
    put: `$1$3${MASK}$3`,
  },
  // Authorization: Bearer abc; Authorization: Basic abc
  {
    named: true,
    find: /\b((?:proxy-)?authorization(?:["']\]?)?\s*[:=]\s*(?:b?["'])?)(?:(?:bearer|basic|token|digest)\s+)?[^\s"',;[]+/gi,
    put: `$1${MASK}`,
  },
  // All cookies of a header, with what says how long and where they hold.
  {
    named: true,
    find: /\b((?:set-)?cookie\\*(?:["']\]?)?\s*[:=]\s*\\*["']?)(?:[^\s"',;}]{4,}|[^\s"',;}=]{1,2}=[^\s"',;}]?(?=;[ \t]*[^\s"',;}]))(?:;[ \t]*(?:expires=[a-z]{3},[^"';}\r\n]*|[^\s"',;}]+))*/gi,
    put: `$1${MASK}`,
  },
  // What signs an address, or lets its reader in. `key` and `code` have other uses where they are short.
  {
    find: /([?&;](?:sig|signature|hmac|jwt|auth|x-(?:amz|goog|ms)-(?:signature|credential|security-token))=)[^\s"'&;#<>]+/gi,
    put: `$1${MASK}`,
  },
  {
    find: /([?&;](?:key|code|assertion|ticket|session|sid|sessionid|session_id)=)[^\s"'&;#<>]{16,}/gi,
    put: `$1${MASK}`,
  },
  // A row: what it is about under one key, the secret under the next; the quotes may be escaped.
  {
    named: true,
    find: new RegExp(
      `(["'](?:${ROW_NAMES.replaceAll(' ', '|')})\\\\*["']:\\s*\\\\*["']${quotedName}\\\\*["'],\\s*\\\\*["']value\\\\*["']:\\s*)(\\\\*["'])[^"'\\\\\\n]*\\2`,
      'gi',
    ),
    put: `$1$2${MASK}$2`,
  },
  // An option and its value, in a list as text or in a command line
  {
    named: true,
    find: new RegExp(`(["']--?(?:[a-z]+-){0,4}(?:${secretNames})\\\\*["'],\\s*)(\\\\*["'])(?!-)[^"'\\\\\\n]+\\2`, 'gi'),
    put: `$1$2${MASK}$2`,
  },
  {
    named: true,
    find: new RegExp(
      `((?<![\\w-])--(?:[a-z]+-){0,4}(?:${secretNames})\\s+)(?=[^\\s"']*[0-9])[^\\s"'-][^\\s"']{3,}`,
      'gi',
    ),
    put: `$1${MASK}`,
  },
  {
    named: true,
    find: new RegExp(
      `((?<![\\w-])--(?:[a-z]+-){0,4}(?:${secretNames})\\s{1,9}\\\\*(["']))(?!${NO_SECRET_WORD}\\\\*\\2)(?:(?!\\2)[^\\\\\\n]){3,2000}(?=\\\\*\\2)`,
      'gi',
    ),
    put: `$1${MASK}`,
  },
  { find: /\b(bearer\s+)[A-Za-z0-9\-._~+/]{8,}=*/gi, put: `$1${MASK}` },
  // A secret name with a list or a dictionary as text
  {
    named: true,
    find: new RegExp(
      `(${bareName}\\\\*["']?\\s*[:=]\\s*)(?!${EMPTY_LIST}|${SCHEMA_AS_TEXT})(?:${LIST_AS_TEXT}|[[{(][^[\\]{}()]*[\\]})])`,
      'gi',
    ),
    put: `$1${MASK}`,
  },
  // key='a value', KEY: "a value", as far as its quotes reach; before those of C stands where it lies
  {
    named: true,
    find: new RegExp(
      `(${bareName}\\\\*["']?\\s*[:=]\\s*(?:0x[0-9a-f]{1,16} )?)(\\\\*["'])(?!${NO_SECRET_WORD}\\2)(?:(?!\\2)(?:\\\\.|[^\\\\\\n])){3,2000}?\\2`,
      'gi',
    ),
    put: `$1$2${MASK}$2`,
  },
  // key=value, KEY: value, without quotes or with them
  {
    named: true,
    find: new RegExp(
      `(${bareName}\\s*=\\s*)(?!\\s|\\\\+["']|${EMPTY_LIST}${END})(["']?)(?!${NO_SECRET_WORD}${END})[^\\s"'&,;]+\\2`,
      'gi',
    ),
    put: `$1$2${MASK}$2`,
  },
  {
    named: true,
    find: new RegExp(
      `(${bareName}["']?:\\s*)(["']?)(?!${NO_SECRET_WORD}${END_OR_BRACKET})[^\\s"'&,;{}()[\\]]{4,}\\2`,
      'gi',
    ),
    put: `$1$2${MASK}$2`,
  },
  // An element of XML
  {
    named: true,
    find: new RegExp(
      `((?<=[<:])(?:[a-z]+[-_]){0,4}[a-z]{0,20}(?:${secretNames})(?:\\s[^<>]{0,300})?>\\s{0,200}(?:<!\\[CDATA\\[)?)` +
        `(?!${NO_SECRET_WORD}\\s{0,200}<)[^<>\\s][^<>]{1,1998}[^<>\\s](?=\\s{0,200}(?:\\]\\]>\\s{0,200})?</[^<>]{0,60}(?:${secretNames})\\s{0,9}>)`,
      'gi',
    ),
    put: `$1${MASK}`,
  },
  // A pair as text, such as a header
  {
    named: true,
    find: new RegExp(
      `([([]\\\\*["']${quotedName}\\\\*["'],\\s*)(\\\\*["'])[^"'\\\\]*(?:\\\\(?!\\\\*["'])[^"'\\\\]*)*\\2`,
      'gi',
    ),
    put: `$1$2${MASK}$2`,
  },
  // user:password@host in an address
  { find: /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"']*:)[^\s/"']+(@)/gi, put: `$1${MASK}$2` },
  // The same without a scheme, where a port, a path or `tcp(` shows that it is an address
  {
    find: /((?<![\w/.@:-])(?!mailto:)[\w.-]{1,64}:)[^\s/:@"',]{3,}(?=@(?:[\w.-]{1,253}(?::[0-9]|\/)|[a-z]{1,8}\())/gi,
    put: `$1${MASK}`,
  },
  // Tokens known by their form
  { find: new RegExp(`\\b(?:sk-(?!${WORDS})[A-Za-z0-9_-]{8,}|[srp]k_(?:live|test)_[A-Za-z0-9]{16,})`, 'g'), put: MASK },
  { find: /\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})/g, put: MASK },
  { find: /\bglpat-[A-Za-z0-9_-]{16,}/g, put: MASK },
  { find: /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g, put: MASK },
  { find: /\bAIza[A-Za-z0-9_-]{30,}/g, put: MASK },
  { find: /\bhf_[A-Za-z0-9]{16,}/g, put: MASK },
  { find: /\b(?:nvapi|lsv2_[a-z]{2}|pypi|npm)[-_][A-Za-z0-9_-]{16,}/g, put: MASK },
  {
    find: /\b(?:tvly-[A-Za-z0-9-]{20,}|(?:fc-|jina_|e2b_)[0-9a-f]{30,}|(?:r8|pcsk)_[A-Za-z0-9_]{30,}|whsec_[A-Za-z0-9+/]{24,}|(?:GOCSPX-|lin_api_)[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,200}\.[A-Za-z0-9_-]{16,})/g,
    put: MASK,
  },
  { find: /\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}/g, put: MASK },
  { find: /\beyJ[A-Za-z0-9_-]{6,4000}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?/g, put: MASK },
];

/** A text of C stands behind the address where it lies, which would be taken for the secret. */
const BEHIND_ADDRESS = new RegExp(
  `(${bareName}\\\\*["']?\\s*[:=]\\s*0x[0-9a-f]{1,16} )(\\\\*["'])(?!${NO_SECRET_WORD}\\2)(?:(?!\\2)(?:\\\\.|[^\\\\\\n])){3,2000}?\\2`,
  'gi',
);

/** The text without the usual secrets: those of the runtimes, and what native code and its debuggers print as well. `extra`: patterns of the person's own. */
export function maskText(text: string, extra: readonly RegExp[] = []): string {
  const isNamed = NAMED.test(text);
  let masked = withoutSecrets(isNamed ? text.replace(BEHIND_ADDRESS, `$1$2${MASK}$2`) : text);
  for (const { find, put, named } of patterns) if (isNamed || !named) masked = masked.replace(find, put);
  for (const find of extra) masked = masked.replace(find, MASK);
  return masked;
}

/** Longest unfinished line that is kept back, so that a secret cut by two chunks is seen whole. */
const LONGEST_LINE = 64 * 1024;

/**
 * Masks text that comes in pieces. Works on whole lines: the unfinished last line waits for its end, or for `flush`. A line without end is
 * let go in parts that overlap no word, once it is very long.
 */
export class StreamMasker {
  private rest = '';
  private insideKey = false;

  constructor(private readonly extra: readonly RegExp[] = []) {}

  push(text: string): string {
    this.rest += text;
    let end = this.rest.lastIndexOf('\n') + 1;
    if (end === 0 && this.rest.length > LONGEST_LINE)
      end = Math.max(this.rest.search(/\s\S*$/) + 1, 0) || this.rest.length;
    if (end === 0) return '';
    const ready = this.rest.slice(0, end);
    this.rest = this.rest.slice(end);
    return this.mask(ready);
  }

  /** What was kept back. */
  flush(): string {
    const ready = this.rest;
    this.rest = '';
    return ready === '' ? '' : this.mask(ready);
  }

  /** A private key spans lines, so it is the one secret that needs memory from one push to the next. */
  private mask(text: string): string {
    let before = '';
    if (this.insideKey) {
      const end = /-----END [A-Z ]*PRIVATE KEY-----/.exec(text);
      if (end === null) return '';
      this.insideKey = false;
      before = '\n';
      text = text.slice(end.index + end[0].length + 1);
    }
    const begins = text.lastIndexOf('-----BEGIN ');
    if (begins >= 0 && /^-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\s\S]*-----END )/.test(text.slice(begins))) {
      this.insideKey = true;
    }
    return before + maskText(text, this.extra);
  }
}
