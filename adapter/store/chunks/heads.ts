import { CALLS, passNumbers, readSlots, sumNumbers, type Slots } from './columns';
import { Unpacker, unsqueeze } from './pack';

export const STARTED = 1;
export const ENDED = 2;
export const EDITED = 4;
export const PRESENT = 8;
export const NO_STATUS = 255;

/** No block unpacks to more than this: 1024 calls, each with a few numbers. */
const LARGEST = CALLS * 80;
/** Most blocks unpack to less than this. */
const USUAL = 16 * 1024;

/** Who called what, when, and how it ended. */
export interface Head extends Origin {
  id: number;
  start: number;
  end: number | null;
  status: number | null;
  edited: boolean;
}

/** Where a call comes from, and what was called. A parent of 0: none. */
export interface Origin {
  parent: number;
  task: number;
  func: number;
  depth: number;
}

/** The heads of a block, still one column after the other. Throws `DecodeError`. */
export function unpackHeads(packed: Buffer): Buffer {
  return unsqueeze(packed, USUAL, LARGEST);
}

/** One call of a block, without the others; nothing when it has no start. A third of the time of reading them all. Throws `DecodeError`. */
export function oneHead(bytes: Buffer, base: number, slot: number): Head | undefined {
  const reader = new Unpacker(bytes);
  const count = reader.varint();
  const slots = readSlots(reader, count);
  const index = indexOf(slots, slot);
  const flags = reader.at;
  reader.skip(count);
  if (index < 0 || (bytes[flags + index]! & STARTED) === 0) return undefined;
  const started = ranks(bytes, flags, count, index, STARTED);
  const ended = ranks(bytes, flags, count, index, ENDED);
  const flag = bytes[flags + index]!;
  const head: Head = {
    id: base + slot,
    ...origin(reader, base + slot, started.before, started.all),
    start: difference(reader, started.before, started.all),
    end: null,
    status: null,
    edited: (flag & EDITED) !== 0,
  };
  const hasEnd = (flag & ENDED) !== 0;
  passNumbers(reader, ended.before);
  if (!hasEnd) return head;
  head.end = head.start + reader.signed();
  passNumbers(reader, ended.all - ended.before - 1);
  const status = reader.at + ended.before;
  reader.skip(ended.all);
  head.status = bytes[status] === NO_STATUS ? null : bytes[status]!;
  return head;
}

/** The same of where it comes from: the call at this index of so many that have a start. The reader stands at their columns. */
export function origin(reader: Unpacker, id: number, index: number, count: number): Origin {
  passNumbers(reader, index);
  const back = reader.signed();
  passNumbers(reader, count - index - 1);
  return {
    parent: back === 0 ? 0 : id - back,
    task: difference(reader, index, count),
    func: difference(reader, index, count),
    depth: difference(reader, index, count),
  };
}

function difference(reader: Unpacker, index: number, count: number): number {
  const value = sumNumbers(reader, index + 1);
  passNumbers(reader, count - index - 1);
  return value;
}

/** Where the slot stands among these; below 0 when it does not. */
export function indexOf(slots: Slots, slot: number): number {
  return slots[slot] === slot ? slot : slots.indexOf(slot);
}

/** How many calls have a flag: of all, and of those before this one. */
function ranks(
  bytes: Buffer,
  flags: number,
  count: number,
  index: number,
  flag: number,
): { before: number; all: number } {
  let before = 0;
  for (let at = 0; at < index; at++) if ((bytes[flags + at]! & flag) !== 0) before++;
  let all = before;
  for (let at = index; at < count; at++) if ((bytes[flags + at]! & flag) !== 0) all++;
  return { before, all };
}
