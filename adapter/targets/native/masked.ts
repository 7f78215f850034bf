import { MASK } from '../../../protocol/secrets';
import { withCommas } from '../../../protocol/withCommas';
import { maskText } from '../../common/masking';

export const maskedText = (text: string): string => maskText(text);

/** A value that belongs to a name: one of a secret is masked whole, whatever it looks like. */
export function maskedValue(name: string, value: string): string {
  const isSecret = maskText(`${name} = word1234`) !== `${name} = word1234`;
  return isSecret ? MASK : maskText(value);
}

/** Bytes of a stream that are kept. */
const KEPT = 64 * 1024;

/** The end of what a program wrote, however much that is. */
export class Tail {
  #chunks: Buffer[] = [];
  #kept = 0;
  #dropped = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    // Joined seldom: a flood comes in many chunks.
    if (this.#kept > 2 * KEPT) this.#cut();
  }

  text(): string {
    this.#cut();
    const text = Buffer.concat(this.#chunks).toString('utf8');
    if (this.#dropped === 0) return maskText(text);
    // From a whole line on, so that half a secret is not taken for something else.
    return `[${withCommas(this.#dropped)} bytes before this are left out]\n${maskText(text.slice(text.indexOf('\n') + 1))}`;
  }

  #cut(): void {
    const all = Buffer.concat(this.#chunks);
    const kept = all.subarray(Math.max(0, all.length - KEPT));
    this.#dropped += all.length - kept.length;
    this.#chunks = [kept];
    this.#kept = kept.length;
  }
}
