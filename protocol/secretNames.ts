import { SECRET_HINTS, SECRET_NAME_HINT, SECRET_WORDS as WORDS } from './secrets';

/** What is a secret by its name, and which texts may hold one. The runtime of Node has this as JavaScript, made by `build/generate.ts`; Python's is `_masking.py`. */

const NAME = /^[\p{L}\p{N}_.\- /:[\]()?$@#!*\n]{1,200}$/u;
const PARTS = /[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|[0-9]+/g;
const NAME_IN_TEXT = new RegExp(SECRET_NAME_HINT, 'i');
/** A bracket before a quote. */
const PAIR = /[([]b?['"]/;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const ANYWHERE = setOf(WORDS.anywhere);
const ENDINGS = WORDS.endings.split(' ');
const LAST = setOf(WORDS.last);
const ABOUT = setOf(WORDS.about);
const TOKENS_OF_MODELS = setOf(WORDS.tokensOfModels);
const TOKENS_BEFORE = setOf(WORDS.tokensBefore);
const PASS_BEFORE = setOf(WORDS.passBefore);
const KEY_BEFORE = setOf(WORDS.keyBefore);

/** Whether values under this key are secrets: those of `access_tokens` are, those of `max_tokens` and `token_count` are not. */
export function isSecretName(name: string): boolean {
  if (!NAME.test(name)) return false;
  const words = (name.match(PARTS) ?? []).map((word) => word.toLowerCase());
  let last = words.at(-1);
  if (last === undefined || ABOUT.has(last)) return false;
  if (last === 'value' && words.length > 1) {
    words.pop();
    last = words.at(-1)!;
  }
  if (words.some((word) => ANYWHERE.has(word) || isPassword(word))) return true;
  const before = words.at(-2) ?? '';
  // `passCode`, `openAIKey`: what is one word elsewhere.
  if (ANYWHERE.has(before + last)) return true;
  if (LAST.has(last)) return !TOKENS_OF_MODELS.has(before);
  if (last === 'tokens') return TOKENS_BEFORE.has(before);
  if (last === 'pass') return PASS_BEFORE.has(before);
  return (
    (last === 'key' || last === 'keys') && (KEY_BEFORE.has(before) || KEY_BEFORE.has((words.at(-3) ?? '') + before))
  );
}

const isPassword = (word: string): boolean => ENDINGS.some((ending) => word.endsWith(ending));

/** Whether what is typed where this selector of a page points to is a secret: `#password-field`, `input[type="password"]:enabled`. */
export function isSecretSelector(selector: string): boolean {
  if (selector.length > 200) return false;
  const words = (selector.match(PARTS) ?? []).map((word) => word.toLowerCase());
  return words.some((word) => word === 'pwd' || isPassword(word)) || isSecretName(selector);
}

/** A cheap necessary condition of a secret in the text. */
export function mayHoldSecret(text: string): boolean {
  const isAssigned = text.includes('=') || text.includes(':');
  if (isAssigned && text.includes('@') && text.includes(':')) return true;
  const isNamed = isAssigned || text.includes('--') || text.includes('</') || PAIR.test(text);
  if (isNamed && NAME_IN_TEXT.test(text)) return true;
  for (const [first, hints] of SECRET_HINTS)
    if (text.includes(first)) for (const hint of hints) if (text.includes(hint)) return true;
  return false;
}
