import { UserError } from '../../common/errors';
import { child, childCount } from '../reader/children';
import { errorMessage, isWhole } from '../reader/render';
import type { StoredValues } from '../reader/stored';
import { shorten } from '../reader/text';
import { Dict, Tagged, Tuple, type Value } from '../values/model';

export type Root = 'argument' | 'result' | 'error' | 'state' | 'stateBefore' | 'stateAfter';

/** A key, field or index; an index below zero counts from the end. */
type Step = string | number;

export interface ValuePath {
  root: Root;
  steps: readonly Step[];
}

const ROOTS: Record<string, Root> = {
  argument: 'argument',
  arguments: 'argument',
  args: 'argument',
  result: 'result',
  error: 'error',
  state: 'state',
  stateBefore: 'stateBefore',
  stateAfter: 'stateAfter',
};
const LONGEST = 1000;
/** A name behind a dot, an index or a key in quotes, from here on. */
const STEP = /\.([^.[\]\s"']+)|\[(-?\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]|\['((?:[^'\\]|\\.)*)'\]/y;

/** `argument.order_id`, `state["a key"][-1].content`. Throws a `UserError`. */
export function parsePath(text: string): ValuePath {
  const { path, length } = readPath(text);
  if (length !== text.length) throw badPath(text);
  return path;
}

/** A path at the beginning of a text, and how long it is. Throws a `UserError`. */
export function readPath(text: string): { path: ValuePath; length: number } {
  const name = /^[A-Za-z]+/.exec(text)?.[0] ?? '';
  const root = Object.hasOwn(ROOTS, name) ? ROOTS[name] : undefined;
  // Behind it may stand what it is compared with.
  if (root === undefined) throw badPath(/^\S+/.exec(text)?.[0] ?? text);
  const steps: Step[] = [];
  let length = name.length;
  for (;;) {
    STEP.lastIndex = length;
    const match = STEP.exec(text);
    if (match === null) break;
    const [, word, index, double, single] = match;
    if (word !== undefined) steps.push(word);
    else if (index !== undefined) steps.push(Number(index));
    else steps.push(double !== undefined ? unquoted(double, text) : single!.replace(/\\(.)/g, '$1'));
    length = STEP.lastIndex;
    if (length > LONGEST) throw badPath(text);
  }
  return { path: { root, steps }, length };
}

function unquoted(json: string, text: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    throw badPath(text);
  }
}

function badPath(text: string): UserError {
  return new UserError(
    `"${shorten(text, 80)}" is no path to a value. It begins with argument, result, error, state, stateBefore or stateAfter, and goes on like .order_id, [0] or ["a key"].`,
  );
}

/** Of an exception, as in JSON; all else that is asked of it are its fields. */
const ERROR_PARTS = new Map([
  ['type', 0],
  ['message', 1],
  ['stack', 2],
  ['fields', 4],
]);
/** Of a frame of its stack, as in JSON. */
const FRAME_PARTS = ['path', 'line', 'function'];

/** The part of the value at these steps, if it is there. */
export function follow(value: Value, { steps }: ValuePath, stored: StoredValues): Value | undefined {
  let at: Value | undefined = stored.resolve(value);
  // Steps since the stack of an error: its frames are tuples.
  let sinceStack = Infinity;
  // How many there were in an array of which a part was recorded.
  let sizes: readonly number[] = [];
  for (const step of steps) {
    if (at === undefined) return undefined;
    const plain = stored.resolve(at);
    const name = String(typeof step === 'number' && step < 0 ? (sizes[0] ?? countOf(plain, stored)) + step : step);
    sizes = sizesIn(plain, stored) ?? sizes.slice(1);
    const isError = plain instanceof Tagged && plain.tag === 'error';
    if (isError && typeof step === 'string') at = errorPart(plain, step, stored);
    else {
      const part = sinceStack === 1 && typeof step === 'string' ? FRAME_PARTS.indexOf(step) : -1;
      // A text is another key than the number that reads the same.
      const own = plain instanceof Dict && typeof step === 'string' ? plain.get(step) : undefined;
      at = own ?? child(plain, part < 0 ? name : String(part), stored);
    }
    sinceStack = isError && step === 'stack' ? 0 : sinceStack + 1;
  }
  return at === undefined ? undefined : stored.resolve(at);
}

/** Whether a path leads to the type of an error, or of what caused it. */
export function isErrorType({ root, steps }: ValuePath): boolean {
  return root === 'error' && steps.at(-1) === 'type' && steps.slice(0, -1).every((step) => step === 'cause');
}

/** Whether these steps lead to the type of an error, wherever that is. */
export function isTypeAt(value: Value, { root, steps }: ValuePath, stored: StoredValues): boolean {
  if (steps.at(-1) !== 'type') return false;
  const at = follow(value, { root, steps: steps.slice(0, -1) }, stored);
  return at instanceof Tagged && at.tag === 'error';
}

/** Whether a type is asked for by this name: with its module, or without. */
export function isTypeNamed(type: string, name: string): boolean {
  return type === name || type.slice(type.lastIndexOf('.') + 1) === name;
}

/** As types are recorded: those of Python itself have no module. */
export function typeName(given: string): string {
  return given.replace(/^builtins\./, '');
}

function errorPart(error: Tagged, name: string, stored: StoredValues): Value | undefined {
  if (name === 'message') return errorMessage(error, stored);
  const part = ERROR_PARTS.get(name);
  return part === undefined ? child(error, name, stored) : error.parts[part];
}

/** From where an index below zero counts: the end that the value had, not the one of what was recorded of it. */
function countOf(value: Value, stored: StoredValues): number {
  const inner = bare(value, stored);
  const length = inner instanceof Tagged && inner.tag === 'cut' ? stored.resolve(inner.parts[2] ?? null) : undefined;
  return typeof length === 'number' ? length : (shapeOf(inner, stored)?.[0] ?? childCount(value, stored));
}

/** Sizes of what is inside an array of which a part was recorded; of a table, of its columns. */
function sizesIn(value: Value, stored: StoredValues): readonly number[] | undefined {
  const inner = bare(value, stored);
  const shape = shapeOf(inner, stored);
  const isTable = shape !== undefined && stored.resolve((inner as Tagged).parts[3] ?? null) instanceof Dict;
  return isTable ? shape.slice(0, 1) : shape?.slice(1);
}

function shapeOf(value: Value, stored: StoredValues): number[] | undefined {
  if (!(value instanceof Tagged) || value.tag !== 'array' || isWhole(value, stored)) return undefined;
  const shape = stored.resolve(value.parts[1] ?? null);
  return (shape instanceof Tuple ? shape.items : []).map((size) => Number(stored.resolve(size)));
}

function bare(value: Value, stored: StoredValues): Value {
  const isSubclass = value instanceof Tagged && value.tag === 'subclass';
  return isSubclass ? stored.resolve(value.parts[1] ?? null) : value;
}
