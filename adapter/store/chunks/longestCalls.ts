import type { Connection } from '../database';
import { Sink } from '../values/canonical';
import type { Chunk } from './chunk';
import type { Head } from './heads';
import { putSigned, readable, Unpacker } from './pack';

/** Shorter calls are named of no block: windows in which these are drawn have few blocks. 2^15 ns. */
const NAMED = 2 ** 15;
/** Calls named of one block at most. More would cost each call a byte, and so many of each block fill a picture of many blocks. */
const MOST = 48;

/** The longest calls of a block that are no long ones. `rest`: no other of these takes longer. */
export interface LongestCalls {
  rest: number;
  calls: Buffer;
}

/** Names the longest calls of blocks, so that a picture of many blocks is drawn without unpacking them. */
export class LongestWriter {
  private readonly write;
  private readonly drop;
  private readonly sink = new Sink(4096);

  constructor(db: Connection) {
    this.write = db.prepare('INSERT OR REPLACE INTO longest_calls (chunk, rest, calls) VALUES (?, ?, ?)');
    this.drop = db.prepare('DELETE FROM longest_calls WHERE chunk = ?');
  }

  note(chunk: Chunk, longestShort: number | null): void {
    const found = longestShort !== null && longestShort >= NAMED ? longestOf(chunk, this.sink) : undefined;
    if (found === undefined) this.drop.run(chunk.id);
    else this.write.run(chunk.id, found.rest, found.calls);
  }
}

/** Tells of a block whether what is noted of it, if anything is, is true. */
export function longestCheck(db: Connection): (chunk: Chunk) => boolean {
  const noted = db.prepare<[number], LongestCalls>('SELECT rest, calls FROM longest_calls WHERE chunk = ?');
  return (chunk) => {
    const row = noted.get(chunk.id);
    const found = row && longestOf(chunk);
    return row === undefined || (found?.rest === row.rest && found.calls.equals(row.calls));
  };
}

/** What is noted of a block; nothing when all of its calls are long ones, or too short. */
function longestOf(chunk: Chunk, sink = new Sink(4096)): LongestCalls | undefined {
  const length = (slot: number): number => chunk.end[slot]! - chunk.start[slot]!;
  let { slots, rest } = chunk.shortOnes(NAMED);
  if (slots.length === 0) return undefined;
  if (slots.length > MOST) {
    slots.sort((one, other) => length(other) - length(one) || one - other);
    rest = length(slots[MOST]!);
    slots = slots.slice(0, MOST).sort((one, other) => one - other);
  }
  sink.reset();
  let before = { slot: -1, task: 0, func: 0, start: 0 };
  for (const slot of slots) {
    const { id, parent, task, func, depth, start, status, edited } = chunk.head(slot);
    sink.varint(slot - before.slot - 1);
    putSigned(sink, parent === 0 ? 0 : id - parent);
    putSigned(sink, task - before.task);
    putSigned(sink, func - before.func);
    putSigned(sink, depth);
    putSigned(sink, start - before.start);
    sink.varint(length(slot));
    sink.varint((status === null ? 0 : status + 1) * 2 + (edited ? 1 : 0));
    before = { slot, task, func, start };
  }
  return { rest, calls: Buffer.from(sink.bytes.subarray(0, sink.length)) };
}

/** The calls that are noted of the block with this base. Throws a `UserError` when they are damaged. */
export function readLongest(base: number, packed: Buffer): Head[] {
  return readable(() => {
    const reader = new Unpacker(packed);
    const heads: Head[] = [];
    let id = base - 1;
    let [task, func, start] = [0, 0, 0];
    while (reader.at < packed.length) {
      id += reader.varint() + 1;
      const back = reader.signed();
      task += reader.signed();
      func += reader.signed();
      const depth = reader.signed();
      start += reader.signed();
      const end = start + reader.varint();
      const code = reader.varint();
      const status = code < 2 ? null : Math.floor(code / 2) - 1;
      const parent = back === 0 ? 0 : id - back;
      heads.push({ id, parent, task, func, depth, start, end, status, edited: code % 2 === 1 });
    }
    return heads;
  });
}
