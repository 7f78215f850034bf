import { withoutSwitches } from '../../protocol/caseSwitches';
import { mayHoldSecret } from '../../protocol/secretNames';
import { MASK, SECRET_PATTERNS } from '../../protocol/secrets';

/** Made when it is needed: a command that shows no text of an app starts without. */
let secret: RegExp | undefined;
/** In its quotes, which stay. */
const QUOTED = /^(\\{0,7}["'])[^]*\1$/;
/** Shorter texts hold none. */
const SHORTEST = 8;

/** The text without the secrets that the runtimes know. */
export function withoutSecrets(text: string): string {
  if (text.length < SHORTEST || !mayHoldSecret(text)) return text;
  secret ??= new RegExp(SECRET_PATTERNS.map(withoutSwitches).join('|'), 'g');
  return text.replace(secret, (...found: unknown[]) => {
    const whole = found[0] as string;
    const kept = Object.values(found.at(-1) as Record<string, string | undefined>).find((each) => each !== undefined);
    const [, quote = ''] = QUOTED.exec(whole.slice(kept?.length ?? 0)) ?? [];
    return `${kept ?? ''}${quote}${MASK}${quote}`;
  });
}
