import { withoutSwitches } from '../protocol/caseSwitches';
import {
  MASK,
  ROW_NAMES,
  ROW_VALUES,
  SCHEMA_KEYS,
  SCHEMA_TYPES,
  SECRET_HINTS,
  SECRET_NAME_HINT,
  SECRET_PATTERNS,
  SECRET_WORDS,
  SELECTORS,
  TYPED_VALUES,
} from '../protocol/secrets';

const from = 'Generated from protocol/secrets.ts; do not edit.';

/** `_secrets.py`. */
export function pythonSecrets(): string {
  const words = (text: string) =>
    `frozenset(\n    [\n${text
      .split(' ')
      .map((word) => `        "${word}",`)
      .join('\n')}\n    ]\n)`;
  const tuple = (text: string) =>
    `(${text
      .split(' ')
      .map((word) => `"${word}"`)
      .join(', ')})`;
  return [
    `"""What a secret is, by name and by looks. ${from}"""`,
    '',
    '# fmt: off',
    '# ruff: noqa',
    'from __future__ import annotations',
    '',
    `MASK = ${JSON.stringify(MASK)}`,
    `ANYWHERE = ${words(SECRET_WORDS.anywhere)}`,
    `ENDINGS = ${tuple(SECRET_WORDS.endings)}`,
    `LAST = ${words(SECRET_WORDS.last)}`,
    `TOKENS_BEFORE = ${words(SECRET_WORDS.tokensBefore)}`,
    `KEY_BEFORE = ${words(SECRET_WORDS.keyBefore)}`,
    `PASS_BEFORE = ${words(SECRET_WORDS.passBefore)}`,
    `ABOUT = ${words(SECRET_WORDS.about)}`,
    `TOKENS_OF_MODELS = ${words(SECRET_WORDS.tokensOfModels)}`,
    `SELECTORS = ${tuple(SELECTORS)}`,
    `ROW_NAMES = ${tuple(ROW_NAMES)}`,
    `ROW_VALUES = ${tuple(ROW_VALUES)}`,
    `TYPED_VALUES = ${tuple(TYPED_VALUES)}`,
    `SCHEMA_KEYS = ${words(SCHEMA_KEYS)}`,
    `SCHEMA_TYPES = ${words(SCHEMA_TYPES)}`,
    'PATTERNS = (',
    ...SECRET_PATTERNS.map((pattern) => `    ${JSON.stringify(pattern.replaceAll('(?<k', '(?P<k'))},`),
    ')',
    'HINTS = (',
    ...SECRET_HINTS.map(
      ([first, hints]) =>
        `    (${JSON.stringify(first)}, (${hints.map((hint) => `${JSON.stringify(hint)},`).join(' ')})),`,
    ),
    ')',
    `NAME_HINT = ${JSON.stringify(SECRET_NAME_HINT)}`,
    '',
  ].join('\n');
}

/** `_secret_words.c`, for `_places.c` and the rows of `_plain.c`. */
export function nativeSecrets(): string {
  const words = (name: string, text: string) =>
    `static const char *const ${name}[] = {\n${text
      .split(' ')
      .map((word) => `    "${word}",`)
      .join('\n')}\n    NULL,\n};`;
  return [
    `/* Words of what a secret is. ${from} */`,
    '',
    words('words_before_tokens', SECRET_WORDS.tokensBefore),
    words('words_before_key', SECRET_WORDS.keyBefore),
    words('words_before_pass', SECRET_WORDS.passBefore),
    '/* What says in a row whose value it is. */',
    words('names_of_rows', ROW_NAMES),
    '/* So many of them, the first ones, say where something is typed in a page. */',
    `enum { SELECTORS = ${SELECTORS.split(' ').length} };`,
    '',
  ].join('\n');
}

/** `secrets.mjs` of the Node runtime. */
export function nodeSecrets(): string {
  return [
    `/** What a secret is, by name and by looks. ${from} */`,
    '',
    `export const MASK = ${JSON.stringify(MASK)};`,
    `export const SECRET_WORDS = ${JSON.stringify(SECRET_WORDS)};`,
    `export const SELECTORS = ${JSON.stringify(SELECTORS.split(' '))};`,
    `export const ROW_NAMES = ${JSON.stringify(ROW_NAMES.split(' '))};`,
    `export const ROW_VALUES = ${JSON.stringify(ROW_VALUES.split(' '))};`,
    `export const TYPED_VALUES = ${JSON.stringify(TYPED_VALUES.split(' '))};`,
    `export const SCHEMA_KEYS = new Set(${JSON.stringify(SCHEMA_KEYS.split(' '))});`,
    `export const SCHEMA_TYPES = new Set(${JSON.stringify(SCHEMA_TYPES.split(' '))});`,
    `export const PATTERNS = ${JSON.stringify(SECRET_PATTERNS.map(withoutSwitches))};`,
    `export const SECRET_HINTS = /** @type {[string, string[]][]} */ (${JSON.stringify(SECRET_HINTS)});`,
    `export const SECRET_NAME_HINT = ${JSON.stringify(SECRET_NAME_HINT)};`,
    '',
  ].join('\n');
}
