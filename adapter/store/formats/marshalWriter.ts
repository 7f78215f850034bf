/** Deepest nesting that is taken over from outside. */
export const DEEPEST = 200;

/** A floating point number that is whole; plain numbers that are whole are integers. */
export class WholeFloat extends Number {}

/** An amount, whichever of the two kinds of numbers it was sent as. */
export function numberIn(given: Told | undefined): number | undefined {
  if (given instanceof WholeFloat) return given.valueOf();
  return typeof given === 'number' ? given : undefined;
}

/** A value as spans have it: JSON that tells 1.0 from 1. */
export type Told = null | boolean | number | string | WholeFloat | Told[] | { [key: string]: Told };

/** An error as the runtimes record it. */
export interface RecordedError {
  type: string;
  message: string;
  fields: { [key: string]: Told };
  /** Outermost first. */
  stack?: readonly { path: string; line: number; function: string }[];
}

/** Values in the format that spools have, for what comes from elsewhere: the writer takes them as if an app had recorded them. */
export function marshal(...values: (Told | RecordedErrorValue)[]): Buffer {
  const parts: Buffer[] = [];
  for (const value of values) put(value, 0, parts);
  return Buffer.concat(parts);
}

/** Marks an error among values. */
export class RecordedErrorValue {
  constructor(readonly error: RecordedError) {}
}

function put(value: Told | RecordedErrorValue, depth: number, parts: Buffer[]): void {
  if (value instanceof RecordedErrorValue) {
    const { type, message, fields, stack = [] } = value.error;
    parts.push(head('(', 7), Buffer.from('.'), text('error'), text(type), text(message), head('[', stack.length));
    for (const { path, line, function: name } of stack) parts.push(head('(', 3), text(path), number(line), text(name));
    parts.push(Buffer.from('N'));
    return put(fields, depth + 1, parts);
  }
  if (value === null) parts.push(Buffer.from('N'));
  else if (typeof value === 'boolean') parts.push(Buffer.from(value ? 'T' : 'F'));
  else if (value instanceof WholeFloat) parts.push(float(value.valueOf()));
  else if (typeof value === 'number') parts.push(number(value));
  else if (typeof value === 'string') parts.push(text(value));
  else if (depth > DEEPEST) {
    parts.push(head('(', 5), Buffer.from('.'), text('cut'), text(Array.isArray(value) ? 'list' : 'dict'), text('…'));
    parts.push(Buffer.from('N'));
  } else if (Array.isArray(value)) {
    parts.push(head('[', value.length));
    for (const item of value) put(item, depth + 1, parts);
  } else {
    parts.push(Buffer.from('{'));
    for (const [key, item] of Object.entries(value)) {
      parts.push(text(key));
      put(item, depth + 1, parts);
    }
    parts.push(Buffer.from('0'));
  }
}

function head(type: string, count: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.write(type, 'latin1');
  bytes.writeInt32LE(count, 1);
  return bytes;
}

function text(given: string): Buffer {
  // Half a character cannot come from UTF-8, but from an escape in JSON.
  const bytes = Buffer.from((given as string & { toWellFormed(): string }).toWellFormed(), 'utf8');
  return Buffer.concat([head('u', bytes.length), bytes]);
}

function number(value: number): Buffer {
  if (Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 31) return head('i', value);
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
    const digits: number[] = [];
    for (let rest = Math.abs(value); rest > 0; rest = Math.floor(rest / 32768)) digits.push(rest % 32768);
    const bytes = Buffer.alloc(5 + digits.length * 2);
    bytes.write('l', 'latin1');
    bytes.writeInt32LE(value < 0 ? -digits.length : digits.length, 1);
    digits.forEach((digit, index) => bytes.writeUInt16LE(digit, 5 + index * 2));
    return bytes;
  }
  return float(value);
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.write('g', 'latin1');
  bytes.writeDoubleLE(value, 1);
  return bytes;
}
