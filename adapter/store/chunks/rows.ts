import {
  ARGS,
  Chunk,
  END_ATTRIBUTES,
  ERROR,
  PARTS,
  RESULT,
  START_ATTRIBUTES,
  STATE_AFTER,
  STATE_BEFORE,
  chunkOf,
} from './chunk';
import type { Head } from './heads';

/** A call as it is read. Values by their address, found when they are asked for: a row of `values`, or, below 0, a place in a block. */
export class StoredCall {
  readonly type = 'call';
  readonly id: number;
  readonly parent: number | null;
  readonly task: number;
  readonly function: number;
  readonly depth: number;
  readonly start: number;
  readonly end: number | null;
  readonly status: number | null;
  readonly edited: number;
  /** Asked for the block again when a value is looked at: many calls must not keep many blocks. */
  readonly #chunks: { chunk(id: number): Chunk | undefined };

  constructor(chunks: { chunk(id: number): Chunk | undefined }, head: Head) {
    this.#chunks = chunks;
    this.id = head.id;
    this.parent = head.parent === 0 ? null : head.parent;
    this.task = head.task;
    this.function = head.func;
    this.depth = head.depth;
    this.start = head.start;
    this.end = head.end;
    this.status = head.status;
    this.edited = head.edited ? 1 : 0;
  }

  #part(part: number): number | null {
    const chunk = this.#chunks.chunk(chunkOf(this.id));
    const row = chunk?.rowOf(this.id - chunk.base, part);
    if (row === undefined) return null;
    return row > 0 ? row : addressOf(this.id, part);
  }

  get tokens(): number | null {
    const chunk = this.#chunks.chunk(chunkOf(this.id));
    return chunk?.tokensOf(this.id - chunk.base) ?? null;
  }
  get args(): number | null {
    return this.#part(ARGS);
  }
  get result(): number | null {
    return this.#part(RESULT);
  }
  get error(): number | null {
    return this.#part(ERROR);
  }
  get state_before(): number | null {
    return this.#part(STATE_BEFORE);
  }
  get state_after(): number | null {
    return this.#part(STATE_AFTER);
  }
  get start_attributes(): number | null {
    return this.#part(START_ATTRIBUTES);
  }
  get end_attributes(): number | null {
    return this.#part(END_ATTRIBUTES);
  }
}

/** Of a value that stands in a block. */
export function addressOf(call: number, part: number): number {
  return -(call * 8 + part);
}

/** The call and the part of an address below 0. */
export function placeOf(address: number): { call: number; part: number } | undefined {
  if (!Number.isSafeInteger(address) || address >= 0) return undefined;
  const part = -address % 8;
  return part < PARTS.length ? { call: Math.floor(-address / 8), part } : undefined;
}
