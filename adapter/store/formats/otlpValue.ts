import { WholeFloat, type Told } from './marshalWriter';

/** Deepest value of an attribute. */
const DEEPEST = 50;
export const MOST_ATTRIBUTES = 10_000;

export type Fields = Record<string, unknown>;

/** Attributes by name; of equal names the first counts. */
export function attributesIn(given: unknown): Map<string, Told> {
  const all = new Map<string, Told>();
  for (const entry of Array.isArray(given) ? (given as unknown[]).slice(0, MOST_ATTRIBUTES) : []) {
    const { key, value } = (entry ?? {}) as Fields;
    if (typeof key === 'string' && !all.has(key)) all.set(key, anyValue(value, 0));
  }
  return all;
}

function anyValue(given: unknown, depth: number): Told {
  if (typeof given !== 'object' || given === null || depth > DEEPEST) return null;
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = given as Fields;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (typeof intValue === 'number') return intValue;
  if (typeof intValue === 'string') {
    const number = Number(intValue);
    return Number.isSafeInteger(number) ? number : intValue;
  }
  if (typeof doubleValue === 'number' || typeof doubleValue === 'string') return double(Number(doubleValue));
  if (typeof bytesValue === 'string') return bytesValue;
  const items = (arrayValue as Fields | undefined)?.['values'];
  if (Array.isArray(items)) return items.map((item) => anyValue(item, depth + 1));
  const pairs = (kvlistValue as Fields | undefined)?.['values'];
  if (!Array.isArray(pairs)) return null;
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const { key, value } = (pair ?? {}) as Fields;
      return typeof key === 'string' ? [[key, anyValue(value, depth + 1)]] : [];
    }),
  );
}

function double(value: number): number | WholeFloat {
  return Number.isInteger(value) ? new WholeFloat(value) : value;
}

/** A whole number that a double does not hold is the text of its digits, as it is in an `intValue`; 1.0 is no integer. */
function exact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  if (!/^-?\d+$/.test(source)) return double(value);
  return Number.isSafeInteger(value) ? value : source;
}

/** Where the plain reading of JSON loses something. */
const INEXACT = /\d{16}|\d\.0|\d[eE]/;

/** What stands as JSON in a text; text that is none is itself. */
export function fromText(value: Told | undefined): Told | undefined {
  if (typeof value !== 'string') return value;
  try {
    // Being asked for each value takes a deep one to the end of the stack; it then stays a text.
    return JSON.parse(value, INEXACT.test(value) ? exact : undefined) as Told;
  } catch {
    return value;
  }
}

/** Nanoseconds since 1970, of a text or a number; nothing for what is none, or lies beyond what a file can hold. */
export function nanoseconds(given: unknown): bigint | undefined {
  const fine =
    typeof given === 'number' ? Number.isFinite(given) : typeof given === 'string' && /^[1-9]\d{0,18}$/.test(given);
  if (!fine) return undefined;
  const time = BigInt(typeof given === 'number' ? Math.round(given) : (given as string));
  return time > 0n && time < 2n ** 62n ? time : undefined;
}

export function areFields(value: Told | undefined): value is { [key: string]: Told } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WholeFloat);
}
