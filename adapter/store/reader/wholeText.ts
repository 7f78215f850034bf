import type { ReaderMethods } from '../../../protocol/timeline';
import type { Value } from '../values/model';
import { countCharacters, textOf } from './render';
import type { StoredValues } from './stored';
import { bytesText, whole } from './text';

/** Longest text that is told at once; a copy of the value has all of it. */
const MOST_CHARACTERS = 20_000;
/** A byte is written with up to four characters. */
const MOST_BYTES = MOST_CHARACTERS / 4;

/** A text as it is, with its lines; bytes as Python writes them. Empty for what is neither. */
export function wholeText(value: Value, stored: StoredValues): ReaderMethods['text']['result'] {
  const text = textOf(value, stored) ?? '';
  if (typeof text === 'string') {
    if (text.length <= MOST_CHARACTERS) return { text };
    return {
      text: `${whole(text.slice(0, MOST_CHARACTERS))}…`,
      all: { count: countCharacters(text), of: 'characters' },
    };
  }
  if (text.length <= MOST_BYTES) return { text: bytesText(text) };
  return { text: `${bytesText(text.subarray(0, MOST_BYTES))}…`, all: { count: text.length, of: 'bytes' } };
}
