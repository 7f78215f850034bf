import { UserError } from '../../common/errors';
import { parseToWrite } from '../../common/exactJson';
import { copyText, TooLarge, type Marked } from '../reader/copy';
import type { StoredValues } from '../reader/stored';
import type { Value } from '../values/model';

/**
 * A value as JSON to be written, and how long its text is: infinite where that is beyond `longest`. A whole number that JavaScript does not hold
 * exactly becomes a text; `5.0` is no 5; what is too large, or cannot be read, says so.
 */
export function asJson(value: () => Value, stored: StoredValues, longest?: number): { json: unknown; length: number } {
  let text: string;
  try {
    text = copyText(value(), stored, 'marked', longest);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const isLarge = error instanceof TooLarge;
    const json: Marked = { $mark: isLarge ? 'large' : 'unreadable', reason: error.message };
    return { json, length: isLarge ? Infinity : 0 };
  }
  return { json: parseToWrite(text), length: text.length };
}
