import { Dict, Tagged, Tuple, type Value } from '../values/model';
import { linkName, type ErrorLink } from './children';
import { errorMessage, shortType, textPart } from './render';
import type { StoredValues } from './stored';

const MOST_FRAMES = 200;
const MOST_CAUSES = 1000;

/** A recorded exception. */
export interface ErrorValue {
  /** Without its module. */
  type: string;
  /** With its module, as recorded. */
  qualified: string;
  message: string;
  /** Outermost first. */
  stack: { path: string; line: number; function: string }[];
  /** What it was raised from or during: an exception as a rule. */
  cause: Value;
  way: ErrorLink;
  /** Its attributes, its notes, the members of a group: a dictionary, or what there is of one. */
  fields: Value | undefined;
}

/** The parts of an exception; of anything else undefined. */
export function errorValue(value: Value, stored: StoredValues): ErrorValue | undefined {
  const error = stored.resolve(value);
  if (!(error instanceof Tagged) || error.tag !== 'error') return undefined;
  const [frames, cause, fields] = [2, 3, 4].map((index) => stored.resolve(error.parts[index] ?? null));
  const stack = (Array.isArray(frames) ? frames : []).slice(0, MOST_FRAMES).flatMap((frame) => {
    const entry = stored.resolve(frame);
    const [path, line, name] = (entry instanceof Tuple ? entry.items : []).map((item) => stored.resolve(item));
    return typeof path === 'string' && typeof line === 'number'
      ? [{ path, line, function: typeof name === 'string' ? name : '' }]
      : [];
  });
  const qualified = textPart(error, 0, stored);
  return {
    type: shortType(qualified),
    qualified,
    message: errorMessage(error, stored),
    stack,
    cause: cause ?? null,
    way: linkName(error, stored),
    fields: fields === null || (fields instanceof Dict && fields.entries.length === 0) ? undefined : fields,
  };
}

export interface ErrorChain {
  /** The exception itself first, then what it was raised from, what that was raised from, and so on; nothing for what is none. */
  errors: ErrorValue[];
  /** What the last one came from, where that is no exception, or was cut; else null. */
  origin: Value;
}

export function errorChain(value: Value, stored: StoredValues): ErrorChain {
  const errors: ErrorValue[] = [];
  for (let at = errorValue(value, stored); at !== undefined; at = errorValue(at.cause, stored)) {
    errors.push(at);
    if (errors.length >= MOST_CAUSES) break;
  }
  return { errors, origin: errors.at(-1)?.cause ?? null };
}

/** An exception with what belongs to it, as far as there is any. */
export function errorDict({ type, message, stack, cause, way, fields }: Omit<ErrorValue, 'qualified'>): Dict {
  const frames = stack.map((frame) => new Dict(Object.entries(frame)));
  return new Dict([
    ['type', type],
    ['message', message],
    ...(frames.length > 0 ? [['stack', frames] as [Value, Value]] : []),
    ...(cause !== null ? [[way, cause] as [Value, Value]] : []),
    ...(fields !== undefined ? [['fields', fields] as [Value, Value]] : []),
  ]);
}
