import type { ReaderMethods } from '../../../protocol/timeline';
import type { Value } from '../values/model';
import { countCharacters, textOf } from './render';
import type { StoredValues } from './stored';
import { bytesText, whole } from './text';

/** Longest text that is told at once; a copy of the value has all of it. */
export const MOST_CHARACTERS = 20_000;
/** A byte is written with up to four characters. */
export const MOST_BYTES = MOST_CHARACTERS / 4;

/** A text as it is, with its lines; bytes as Python writes them. Empty for what is neither. Of a very long one from that place on. */
export function wholeText(value: Value, stored: StoredValues, from = 0): ReaderMethods['text']['result'] {
  const text = textOf(value, stored) ?? '';
  if (typeof text === 'string') {
    if (text.length <= MOST_CHARACTERS) return { text };
    return {
      text: excerpt(text, from, MOST_CHARACTERS, (some) => whole(text.slice(...some))),
      all: { count: countCharacters(text), of: 'characters' },
    };
  }
  if (text.length <= MOST_BYTES) return { text: bytesText(text) };
  return {
    text: excerpt(text, from, MOST_BYTES, (some) => bytesText(text.subarray(...some))),
    all: { count: text.length, of: 'bytes' },
  };
}

/** With an ellipsis where there is more. */
export function excerpt(
  all: { length: number },
  from: number,
  most: number,
  textOf: (range: [number, number]) => string,
): string {
  const end = Math.min(from + most, all.length);
  return `${from > 0 ? '…' : ''}${textOf([from, end])}${end < all.length ? '…' : ''}`;
}
