import { Sink } from '../values/canonical';
import { DecodeError } from '../values/model';
import {
  CALLS,
  readBytes,
  readDifferences,
  readNumbers,
  readPlaces,
  readSlots,
  passNumbers,
  type Column,
  type Slots,
} from './columns';
import {
  EDITED,
  ENDED,
  NO_STATUS,
  PRESENT,
  STARTED,
  indexOf,
  origin,
  unpackHeads,
  type Head,
  type Origin,
} from './heads';
import { putSigned, readable, squeeze, Unpacker, unsqueeze } from './pack';

export { CALLS } from './columns';

/** Calls of this many nanoseconds and more are found by their length without a look at the short ones: 2^20, about a millisecond. */
export const LONG = 2 ** 20;

/** Values of a call, by their place. */
export const PARTS = [
  'args',
  'result',
  'error',
  'state_before',
  'state_after',
  'start_attributes',
  'end_attributes',
] as const;
export type Part = (typeof PARTS)[number];
export const ARGS = 0;
export const RESULT = 1;
export const ERROR = 2;
export const STATE_BEFORE = 3;
export const STATE_AFTER = 4;
export const START_ATTRIBUTES = 5;
export const END_ATTRIBUTES = 6;

/** No block unpacks to more than this: 1024 calls, each with seven values under 256 bytes. */
const LARGEST_BODIES = CALLS * PARTS.length * 264;
/** Most blocks unpack to less than this. */
const USUAL_BODIES = 96 * 1024;

/** Both ends of a call were read. */
const WHOLE = STARTED | ENDED;

export function chunkOf(call: number): number {
  return Math.floor(call / CALLS);
}

/** Bytes from one place up to another. */
export interface Stretch {
  bytes: Buffer;
  from: number;
  to: number;
}

/** Where calls come from, and what was called. */
interface Origins {
  parent: Float64Array;
  task: Float64Array;
  func: Float64Array;
  depth: Int32Array;
}

export interface Zone {
  /** Calls that have a start. */
  calls: number;
  /** Of these, calls that have no end. */
  open: number;
  errors: number;
  /** Earliest and latest start; null while no call has one. */
  first: number | null;
  last: number | null;
  /** Shortest and longest time of those that ended; null while none has. */
  shortest: number | null;
  longest: number | null;
  /** The longest of those that are shorter than `LONG`. */
  longestShort: number | null;
}

/**
 * A block of calls, column by column. Packed, a call of the usual kind takes about ten bytes, and a column is read without the others.
 * Heads: who called what, when, and how it ended. Bodies: the values, those under 256 bytes as they are.
 */
export class Chunk {
  readonly base: number;
  private readonly flags = new Uint8Array(CALLS);
  readonly start = new Float64Array(CALLS);
  readonly end = new Float64Array(CALLS);
  private readonly status = new Uint8Array(CALLS).fill(NO_STATUS);
  private known: Origins | undefined;
  /** Where the origins stand, until somebody asks for one. */
  private unread: { reader: Unpacker; started: Slots } | undefined;
  private readonly tokens = new Map<number, number>();
  /** By part. */
  private values: (Values | undefined)[] = [];
  private packed: (() => Buffer | null) | undefined;
  /** What the values were unpacked from. */
  private bodies: Buffer | undefined;
  /** One more than the last slot that is taken. */
  length = 0;

  constructor(readonly id: number) {
    this.base = id * CALLS;
  }

  /** Bytes it takes now. */
  get memory(): number {
    const origins = (this.known === undefined ? 0 : 28 * CALLS) + (this.unread?.reader.bytes.buffer.byteLength ?? 0);
    const values = (this.bodies?.buffer.byteLength ?? 0) + this.values.length * 4 * CALLS;
    return 18 * CALLS + origins + values;
  }

  get parent(): Float64Array {
    return this.origins().parent;
  }

  get task(): Float64Array {
    return this.origins().task;
  }

  get func(): Float64Array {
    return this.origins().func;
  }

  get depth(): Int32Array {
    return this.origins().depth;
  }

  // ------------------------------------------------------------ writing

  private touch(slot: number): void {
    this.flags[slot]! |= PRESENT;
    if (slot >= this.length) this.length = slot + 1;
  }

  setStart(slot: number, parent: number, task: number, func: number, depth: number, start: number): void {
    this.touch(slot);
    this.flags[slot]! |= STARTED;
    const origins = this.origins();
    origins.parent[slot] = parent;
    origins.task[slot] = task;
    origins.func[slot] = func;
    origins.depth[slot] = depth;
    this.start[slot] = start;
  }

  setEnd(slot: number, end: number, status: number, tokens: number | undefined): void {
    this.touch(slot);
    this.flags[slot]! |= ENDED;
    this.end[slot] = end;
    this.status[slot] = status;
    if (tokens !== undefined) this.tokens.set(slot, tokens);
  }

  setEdited(slot: number): void {
    this.touch(slot);
    this.flags[slot]! |= EDITED;
  }

  /** `row`: where a large value is stored; 0: the value is `bytes`. */
  setPart(slot: number, part: number, row: number, bytes: Uint8Array, length = bytes.length): void {
    this.touch(slot);
    if (this.packed !== undefined) this.read();
    const values = (this.values[part] ??= new Values());
    values.put(slot, row, bytes, length);
  }

  // ------------------------------------------------------------ reading

  isPresent(slot: number): boolean {
    return (this.flags[slot]! & PRESENT) !== 0;
  }

  isStarted(slot: number): boolean {
    return (this.flags[slot]! & STARTED) !== 0;
  }

  isEnded(slot: number): boolean {
    return (this.flags[slot]! & ENDED) !== 0;
  }

  isEdited(slot: number): boolean {
    return (this.flags[slot]! & EDITED) !== 0;
  }

  statusOf(slot: number): number | null {
    const status = this.status[slot]!;
    return status === NO_STATUS ? null : status;
  }

  tokensOf(slot: number): number | null {
    return this.tokens.get(slot) ?? null;
  }

  hasPart(slot: number, part: number): boolean {
    return this.placeOf(slot, part) !== 0;
  }

  /** Where a value is stored: its row in the table of values, 0 when the block has it; nothing when there is none. */
  rowOf(slot: number, part: number): number | undefined {
    const place = this.placeOf(slot, part);
    if (place === 0) return undefined;
    const { bytes } = this.values[part]!;
    // The row or the length of most values is one byte.
    const head = bytes[place - 1]!;
    if (head < 0x80 && head % 2 === 0) return 0;
    const found = this.part(slot, part);
    return typeof found === 'number' ? found : 0;
  }

  /** A value: its row in the table of values, or where its bytes are; nothing when there is none. */
  part(slot: number, part: number): number | Stretch | undefined {
    const place = this.placeOf(slot, part);
    if (place === 0) return undefined;
    const { bytes } = this.values[part]!;
    // The length of most values is one byte; that they are there was seen when the block was unpacked.
    const first = bytes[place - 1]!;
    if (first < 0x80 && first % 2 === 0) return { bytes, from: place, to: place + first / 2 };
    const reader = new Unpacker(bytes);
    reader.at = place - 1;
    const head = reader.varint();
    if (head % 2 === 1) return (head - 1) / 2;
    const from = reader.at;
    reader.skip(head / 2);
    return { bytes, from, to: reader.at };
  }

  zone(): Zone {
    const none = { first: null, last: null, shortest: null, longest: null, longestShort: null };
    const zone: Zone = { calls: 0, open: 0, errors: 0, ...none };
    for (let slot = 0; slot < this.length; slot++) {
      if (!this.isStarted(slot)) continue;
      const start = this.start[slot]!;
      zone.calls++;
      if (zone.first === null || start < zone.first) zone.first = start;
      if (zone.last === null || start > zone.last) zone.last = start;
      if (this.status[slot] === 1) zone.errors++;
      if (!this.isEnded(slot)) {
        zone.open++;
        continue;
      }
      const length = this.end[slot]! - start;
      if (zone.shortest === null || length < zone.shortest) zone.shortest = length;
      if (zone.longest === null || length > zone.longest) zone.longest = length;
      if (length < LONG && (zone.longestShort === null || length > zone.longestShort)) zone.longestShort = length;
    }
    return zone;
  }

  /** Calls that took so long, long ones left out. `rest`: how long the longest of the others took, if that is above 0. */
  shortOnes(least: number): { slots: number[]; rest: number } {
    const { flags, start, end } = this;
    const slots: number[] = [];
    let rest = 0;
    for (let slot = 0; slot < this.length; slot++) {
      const length = end[slot]! - start[slot]!;
      if (length <= rest || length >= LONG || (flags[slot]! & WHOLE) !== WHOLE) continue;
      if (length < least) rest = length;
      else slots.push(slot);
    }
    return { slots, rest };
  }

  // ------------------------------------------------------------ packing

  packHeads(sink: Sink): Buffer {
    sink.reset();
    const slots: number[] = [];
    for (let slot = 0; slot < this.length; slot++) if (this.isPresent(slot)) slots.push(slot);
    sink.varint(slots.length);
    let before = -1;
    for (const slot of slots) {
      sink.varint(slot - before - 1);
      before = slot;
    }
    for (const slot of slots) sink.byte(this.flags[slot]!);
    const started = slots.filter((slot) => this.isStarted(slot));
    const { base } = this;
    const { parent: parents, task, func, depth } = this.origins();
    for (const slot of started) {
      const parent = parents[slot]!;
      // 0: none. A parent is mostly a little older, so never the call itself.
      putSigned(sink, parent === 0 ? 0 : base + slot - parent);
    }
    differences(sink, started, task);
    differences(sink, started, func);
    differences(sink, started, depth);
    differences(sink, started, this.start);
    for (const slot of slots) {
      if (!this.isEnded(slot)) continue;
      putSigned(sink, this.end[slot]! - (this.isStarted(slot) ? this.start[slot]! : 0));
    }
    for (const slot of slots) if (this.isEnded(slot)) sink.byte(this.status[slot]!);
    sink.varint(this.tokens.size);
    for (const [slot, tokens] of this.tokens) {
      sink.varint(slot);
      sink.varint(tokens);
    }
    return squeeze(sink.bytes.subarray(0, sink.length));
  }

  /** Nothing when no call of the block has a value. */
  packBodies(sink: Sink): Buffer | null {
    if (this.packed !== undefined) this.read();
    sink.reset();
    for (let part = 0; part < PARTS.length; part++) {
      const values = this.values[part];
      if (values === undefined) continue;
      sink.byte(part);
      values.pack(sink);
    }
    return sink.length === 0 ? null : squeeze(sink.bytes.subarray(0, sink.length));
  }

  /** `bodies` is asked for when a value is looked at. Throws a `UserError` when they are damaged, then or now. */
  static unpack(id: number, heads: Buffer, bodies: () => Buffer | null): Chunk {
    return Chunk.from(
      id,
      readable(() => unpackHeads(heads)),
      bodies,
    );
  }

  /** The same with heads that are inflated already. */
  static from(id: number, heads: Buffer, bodies: () => Buffer | null): Chunk {
    const chunk = new Chunk(id);
    readable(() => chunk.readHeads(new Unpacker(heads)));
    chunk.packed = bodies;
    return chunk;
  }

  private readHeads(reader: Unpacker): void {
    const count = reader.varint();
    const slots = readSlots(reader, count);
    this.length = count === 0 ? 0 : slots[count - 1]! + 1;
    readBytes(reader, slots, this.flags);
    const { flags, start, end } = this;
    let common = STARTED | ENDED;
    for (let index = 0; index < count; index++) common &= flags[slots[index]!]! |= PRESENT;
    const started = (common & STARTED) === 0 ? withFlag(slots, flags, STARTED) : slots;
    const ended = (common & ENDED) === 0 ? withFlag(slots, flags, ENDED) : slots;
    const origins = new Unpacker(reader.bytes);
    origins.at = reader.at;
    this.unread = { reader: origins, started };
    passNumbers(reader, started.length * 4);
    readDifferences(reader, started, start);
    const lengths = readNumbers(reader, ended.length);
    // One that has no start yet has 0 there.
    for (let index = 0; index < ended.length; index++) end[ended[index]!] = lengths[index]! + start[ended[index]!]!;
    readBytes(reader, ended, this.status);
    for (let left = reader.varint(); left > 0; left--) {
      const slot = reader.varint();
      if (slot >= CALLS) throw new DecodeError('a block of calls has a slot that cannot be');
      this.tokens.set(slot, reader.varint());
    }
  }

  /** All of a call but its values. `alone`: where it comes from is read without the others, half the work of reading these. */
  head(slot: number, alone = false): Head {
    const id = this.base + slot;
    const { parent, task, func, depth } = this.origin(id, slot, alone);
    return {
      ...{ id, parent, task, func, depth },
      start: this.start[slot]!,
      end: this.isEnded(slot) ? this.end[slot]! : null,
      status: this.statusOf(slot),
      edited: this.isEdited(slot),
    };
  }

  private origin(id: number, slot: number, alone: boolean): Origin {
    if (!this.isStarted(slot)) return { parent: 0, task: 0, func: 0, depth: 0 };
    if (this.unread !== undefined && alone) {
      const { reader: all, started } = this.unread;
      const reader = new Unpacker(all.bytes);
      reader.at = all.at;
      return readable(() => origin(reader, id, indexOf(started, slot), started.length));
    }
    const { parent, task, func, depth } = this.origins();
    return { parent: parent[slot]!, task: task[slot]!, func: func[slot]!, depth: depth[slot]! };
  }

  /** Who called what, on which row of the lane: of many calls only their times are looked at. */
  private origins(): Origins {
    if (this.known !== undefined) return this.known;
    const all = {
      parent: new Float64Array(CALLS),
      task: new Float64Array(CALLS),
      func: new Float64Array(CALLS),
      depth: new Int32Array(CALLS),
    };
    this.known = all;
    if (this.unread === undefined) return all;
    const { reader, started } = this.unread;
    this.unread = undefined;
    const back = readNumbers(reader, started.length);
    for (let index = 0; index < started.length; index++) {
      const slot = started[index]!;
      if (back[index] !== 0) all.parent[slot] = this.base + slot - back[index]!;
    }
    readDifferences(reader, started, all.task);
    readDifferences(reader, started, all.func);
    readDifferences(reader, started, all.depth);
    return all;
  }

  /** Where a value lies in the bytes of its part, plus one; 0: there is none. */
  private placeOf(slot: number, part: number): number {
    if (this.packed !== undefined) this.read();
    return this.values[part]?.places[slot] ?? 0;
  }

  private read(): void {
    readable(() => this.unpackBodies(this.packed!()));
  }

  private unpackBodies(packed: Buffer | null): void {
    const bytes = packed === null ? EMPTY : unsqueeze(packed, USUAL_BODIES, LARGEST_BODIES);
    const found: Values[] = [];
    const reader = new Unpacker(bytes);
    while (reader.at < bytes.length) {
      const part = reader.byte();
      if (part >= PARTS.length) throw new DecodeError('a block of calls has a value that is none of a call');
      readPlaces(reader, reader.varint(), (found[part] ??= new Values(bytes)).places);
    }
    this.values = found;
    this.bodies = bytes;
    this.packed = undefined;
  }
}

const EMPTY = Buffer.alloc(0);

/** The values that a block's calls have in one place, such as their arguments. */
class Values {
  /** Where each lies in the bytes, plus one. */
  readonly places = new Int32Array(CALLS);
  private sink: Sink | undefined;
  private count = 0;
  private last = -1;
  /** Each came behind those of earlier calls: the bytes are what is packed. */
  private inOrder = true;

  /** `bytes`: of those that were read from a file. */
  constructor(public bytes: Buffer = EMPTY) {}

  put(slot: number, row: number, bytes: Uint8Array, length: number): void {
    const sink = (this.sink ??= this.written());
    if (slot <= this.last) this.inOrder = false;
    this.place(sink, slot);
    if (row > 0) sink.varint(row * 2 + 1);
    else {
      sink.varint(length * 2);
      sink.range(bytes, 0, length);
    }
    this.bytes = sink.bytes;
  }

  /** How many there are, and each behind the number of calls that were passed over. */
  pack(sink: Sink): void {
    if (this.sink !== undefined && this.inOrder) {
      sink.varint(this.count);
      return sink.range(this.bytes, 0, this.sink.length);
    }
    const { bytes, places } = this;
    sink.varint(places.reduce((count, place) => count + (place === 0 ? 0 : 1), 0));
    let before = -1;
    this.each((slot, from, to) => {
      sink.varint(slot - before - 1);
      before = slot;
      sink.range(bytes, from, to);
    });
  }

  /** Here the value of a call is written next. */
  private place(sink: Sink, slot: number): void {
    if (this.inOrder) {
      sink.varint(slot - this.last - 1);
      this.last = slot;
      this.count++;
    }
    this.places[slot] = sink.length + 1;
  }

  /** Values that were read lie among those of other parts. */
  private written(): Sink {
    const { bytes } = this;
    const sink = new Sink(4096);
    this.each((slot, from, to) => {
      this.place(sink, slot);
      sink.range(bytes, from, to);
    });
    return sink;
  }

  /** Where each value lies with what stands before it, by their slots. */
  private each(visit: (slot: number, from: number, to: number) => void): void {
    const { bytes, places } = this;
    const reader = new Unpacker(bytes);
    for (let slot = 0; slot < CALLS; slot++) {
      if (places[slot] === 0) continue;
      const from = places[slot]! - 1;
      // The row or the length of most values is one byte.
      const short = bytes[from]!;
      if (short < 0x80) {
        visit(slot, from, from + 1 + ((short & 1) === 0 ? short >>> 1 : 0));
        continue;
      }
      reader.at = from;
      const head = reader.varint();
      if (head % 2 === 0) reader.skip(head / 2);
      visit(slot, from, reader.at);
    }
  }
}

/**
 * Every value of a block's packed bodies, attributes left out: the row where it is stored, or 0 and where it lies in `bytes`. Throws
 * `DecodeError`.
 */
export function eachValue(
  packed: Buffer | null,
  visit: (row: number, bytes: Buffer, from: number, to: number) => void,
): void {
  if (packed === null) return;
  const bytes = unsqueeze(packed, USUAL_BODIES, LARGEST_BODIES);
  const reader = new Unpacker(bytes);
  while (reader.at < bytes.length) {
    const part = reader.byte();
    for (let left = reader.varint(); left > 0; left--) {
      reader.varint();
      const head = reader.varint();
      const from = reader.at;
      if (head % 2 === 0) reader.skip(head / 2);
      if (part < START_ATTRIBUTES) visit(head % 2 === 1 ? (head - 1) / 2 : 0, bytes, from, reader.at);
    }
  }
}

function differences(sink: Sink, slots: readonly number[], column: Column): void {
  let before = 0;
  for (const slot of slots) {
    const value = column[slot]!;
    putSigned(sink, value - before);
    before = value;
  }
}

function withFlag(slots: Slots, flags: Uint8Array, flag: number): Slots {
  return slots.filter((slot) => (flags[slot]! & flag) !== 0);
}
