import { UserError } from '../../common/errors';
import { parseExact } from '../../common/exactJson';
import { copyText, type Marked } from '../reader/copy';
import type { StoredValues } from '../reader/stored';
import type { Value } from '../values/model';

/** A value as JSON, and how long its text is. A whole number that JavaScript does not hold exactly becomes a text; what is missing, or too large, says so. */
export function asJson(value: () => Value, stored: StoredValues, longest?: number): { json: unknown; length: number } {
  let text: string;
  try {
    text = copyText(value(), stored, 'marked', longest);
  } catch (error) {
    if (error instanceof UserError)
      return { json: { $mark: 'large', reason: error.message } satisfies Marked, length: 0 };
    throw error;
  }
  return { json: parseExact(text), length: text.length };
}
