import { withoutSwitches } from '../protocol/caseSwitches';
import {
  MASK,
  SCHEMA_KEYS,
  SCHEMA_TYPES,
  SECRET_HINTS,
  SECRET_NAME_HINT,
  SECRET_PATTERNS,
  SECRET_WORDS,
} from '../protocol/secrets';

const from = 'Generated from protocol/secrets.ts; do not edit.';

/** `_secrets.py`. */
export function pythonSecrets(): string {
  const words = (text: string) =>
    `frozenset(\n    [\n${text
      .split(' ')
      .map((word) => `        "${word}",`)
      .join('\n')}\n    ]\n)`;
  return [
    `"""What a secret is, by name and by looks. ${from}"""`,
    '',
    '# fmt: off',
    '# ruff: noqa',
    'from __future__ import annotations',
    '',
    `MASK = ${JSON.stringify(MASK)}`,
    `ANYWHERE = ${words(SECRET_WORDS.anywhere)}`,
    `ENDINGS = (${SECRET_WORDS.endings
      .split(' ')
      .map((word) => `"${word}"`)
      .join(', ')})`,
    `LAST = ${words(SECRET_WORDS.last)}`,
    `TOKENS_BEFORE = ${words(SECRET_WORDS.tokensBefore)}`,
    `KEY_BEFORE = ${words(SECRET_WORDS.keyBefore)}`,
    `PASS_BEFORE = ${words(SECRET_WORDS.passBefore)}`,
    `ABOUT = ${words(SECRET_WORDS.about)}`,
    `TOKENS_OF_MODELS = ${words(SECRET_WORDS.tokensOfModels)}`,
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

/** `secrets.mjs` of the Node runtime. */
export function nodeSecrets(): string {
  return [
    `/** What a secret is, by name and by looks. ${from} */`,
    '',
    `export const MASK = ${JSON.stringify(MASK)};`,
    `export const SECRET_WORDS = ${JSON.stringify(SECRET_WORDS)};`,
    `export const SCHEMA_KEYS = new Set(${JSON.stringify(SCHEMA_KEYS.split(' '))});`,
    `export const SCHEMA_TYPES = new Set(${JSON.stringify(SCHEMA_TYPES.split(' '))});`,
    `export const PATTERNS = ${JSON.stringify(SECRET_PATTERNS.map(withoutSwitches))};`,
    `export const SECRET_HINTS = /** @type {[string, string[]][]} */ (${JSON.stringify(SECRET_HINTS)});`,
    `export const SECRET_NAME_HINT = ${JSON.stringify(SECRET_NAME_HINT)};`,
    '',
  ].join('\n');
}
