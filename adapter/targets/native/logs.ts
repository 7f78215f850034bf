import { MASK } from '../../../protocol/secrets';
import { messageOf } from '../../common/errors';
import { maskedValue } from './masked';
import { readableError } from './quirks';

/** A log message that never ends is given up after this much. */
const LARGEST = 1 << 20;

/**
 * Log messages that the delegate writes itself come among all else that it prints, in as many pieces as it has lines. Ours stand between
 * two marks, with the breakpoint's number.
 */
export class LogMarks {
  #rest = '';

  static mark(id: number, text: string): string {
    return `\u0001${id}:${text}\u0002`;
  }

  push(text: string): { id: number; text: string }[] {
    const found: { id: number; text: string }[] = [];
    this.#rest += text;
    for (;;) {
      const from = this.#rest.indexOf('\u0001');
      if (from < 0) {
        this.#rest = '';
        return found;
      }
      const to = this.#rest.indexOf('\u0002', from);
      if (to < 0) {
        this.#rest = this.#rest.length - from > LARGEST ? '' : this.#rest.slice(from);
        return found;
      }
      const match = /^(\d+):([\s\S]*)$/.exec(this.#rest.slice(from + 1, to));
      this.#rest = this.#rest.slice(to + 1);
      if (match) found.push({ id: Number(match[1]), text: withPlainErrors(match[2]!) });
    }
  }
}

/** `<error: ...>` in the delegate's message, as one sentence. The compiler's end with a line of their own, after a drawing that may have any sign. */
function withPlainErrors(text: string): string {
  return text.replace(
    /<error: ([^>]*<user expression \d+>:[\s\S]*?\n|[\s\S]*?)>/g,
    (_, error: string) => `<${readableError(error)}>`,
  );
}

const ESCAPED: Record<string, string> = { '{': '{', '}': '}', n: '\n', t: '\t', '\\': '\\\\' };

/** `i={i}` with the values; what cannot be evaluated says so in its place. `\{` is a brace; `\n` and `\t` are what lldb-dap takes them for. */
export async function fillLogMessage(text: string, evaluate: (expression: string) => Promise<string>): Promise<string> {
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const end = text[at] === '{' ? closing(text, at) : -1;
    const escaped = text[at] === '\\' ? ESCAPED[text[at + 1] ?? ''] : undefined;
    if (escaped !== undefined) {
      out += escaped;
      at++;
    } else if (end < 0) out += text[at]!;
    else {
      out += await evaluate(text.slice(at + 1, end)).catch((error: unknown) => `<${messageOf(error)}>`);
      at = end;
    }
  }
  return out;
}

/**
 * What is recorded of a filled message. Where one of its expressions has the name of a secret nobody knows where in the text its value ends: then
 * it is the message as it was written.
 */
export function recordedMessage(written: string, filled: string): string {
  let out = '';
  let hasSecret = false;
  for (let at = 0; at < written.length; at++) {
    const end = written[at] === '{' ? closing(written, at) : -1;
    if (end < 0) {
      out += written[at]!;
      // What stands behind a backslash begins no expression, and is no backslash itself.
      if (written[at] === '\\') out += written[++at] ?? '';
      continue;
    }
    const isSecret = maskedValue(written.slice(at + 1, end), '') === MASK;
    hasSecret ||= isSecret;
    out += isSecret ? MASK : written.slice(at, end + 1);
    at = end;
  }
  return hasSecret ? out : filled;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  return -1;
}
