/**
 * Recorded values as plain data. Text, whole numbers that JavaScript holds exactly, booleans and null are JavaScript's own; an array is
 * a list. Everything else has a class here, so that 1 and 1.0, a list and a tuple stay different things.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | Complex
  | Uint8Array
  | Value[]
  | Tuple
  | Dict
  | SetValue
  | Tagged
  | Ref;

/** A floating point number, also when it is whole. Plain numbers are integers. */
export class Float {
  constructor(readonly value: number) {}
}

export class Complex {
  constructor(
    readonly real: number,
    readonly imaginary: number,
  ) {}
}

export class Tuple {
  constructor(readonly items: Value[]) {}
}

/** Pairs in the order in which they were inserted: order is part of the content. */
export class Dict {
  constructor(readonly entries: [Value, Value][]) {}

  /** The value of a text key. */
  get(key: string): Value | undefined {
    return this.entries.find((entry) => entry[0] === key)?.[1];
  }
}

export class SetValue {
  constructor(
    readonly items: Value[],
    readonly frozen: boolean,
  ) {}
}

/** What is not plain: objects, marks, errors. Tags and parts as in `protocol/spool.ts`. */
export class Tagged {
  constructor(
    readonly tag: string,
    readonly parts: Value[],
  ) {}
}

/** A part that is stored on its own, because it has 256 bytes or more. */
export class Ref {
  constructor(readonly cid: Buffer) {}
}

/** Bytes from outside that are not what they should be. The only error the decoders throw. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** Deepest nesting that is decoded; the same as Python's own limit for this format. */
export const MAX_NESTING = 2000;

/** What stands in it, keys included; names of what is stored on its own as they are. */
export function partsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Tuple || value instanceof SetValue) return value.items;
  if (value instanceof Dict) return value.entries.flat();
  return value instanceof Tagged ? value.parts : [];
}
