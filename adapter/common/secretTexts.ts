import { withoutSwitches } from '../../protocol/caseSwitches';
import { MASK, SECRET_HINTS, SECRET_NAME_HINT, SECRET_PATTERNS, SECRET_WORDS as WORDS } from '../../protocol/secrets';

/** What is a secret by its name or its looks, as the runtimes of Python and Node know it: from the same tables. */

const SECRET = new RegExp(SECRET_PATTERNS.map(withoutSwitches).join('|'), 'g');
const NAME_IN_TEXT = new RegExp(SECRET_NAME_HINT, 'i');
const NAME = /^[\p{L}\p{N}_.\- /:[\]()?$@#!*\n]{1,200}$/u;
const PARTS = /[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|[0-9]+/g;
/** In its quotes, which stay. */
const QUOTED = /^(\\{0,7}["'])[^]*\1$/;
/** Shorter texts hold none. */
const SHORTEST = 8;

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
  if (words.some((word) => ANYWHERE.has(word) || ENDINGS.some((ending) => word.endsWith(ending)))) return true;
  const before = words.at(-2) ?? '';
  if (LAST.has(last)) return !TOKENS_OF_MODELS.has(before);
  if (last === 'tokens') return TOKENS_BEFORE.has(before);
  if (last === 'pass') return PASS_BEFORE.has(before);
  return (last === 'key' || last === 'keys') && KEY_BEFORE.has(before);
}

/** The text without the secrets that the runtimes know. */
export function withoutSecrets(text: string): string {
  if (text.length < SHORTEST || !mayHoldSecret(text)) return text;
  return text.replace(SECRET, (...found: unknown[]) => {
    const whole = found[0] as string;
    const kept = Object.values(found.at(-1) as Record<string, string | undefined>).find((each) => each !== undefined);
    const [, quote = ''] = QUOTED.exec(whole.slice(kept?.length ?? 0)) ?? [];
    return `${kept ?? ''}${quote}${MASK}${quote}`;
  });
}

/** A cheap necessary condition. */
function mayHoldSecret(text: string): boolean {
  const isAssigned = text.includes('=') || text.includes(':');
  if (isAssigned && text.includes('@') && text.includes(':')) return true;
  const isNamed = isAssigned || text.includes('--') || text.includes('</') || /[([]b?['"]/.test(text);
  if (isNamed && NAME_IN_TEXT.test(text)) return true;
  return SECRET_HINTS.some(([first, hints]) => text.includes(first) && hints.some((hint) => text.includes(hint)));
}
