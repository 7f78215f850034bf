import { crc32 } from 'node:zlib';
import { Unpacker } from '../chunks/pack';
import { Sink } from '../values/canonical';
import { DecodeError } from '../values/model';
import { PIECE_BITS } from './pieces';

/** Blocks of a group. */
export const GROUP = 64;
/** A group takes no more blocks once it has so many pieces: of blocks of long texts there are fewer in it. */
const MOST_PIECES = 4 * 1024 * 1024;
/** A group's pieces lie in so many rows, by the first bits of a piece: a search reads one row for each of its pieces. */
export const PAGES = 1024;
const REST_BITS = PIECE_BITS - 10;
const REST = 2 ** REST_BITS;
/** Within a page: the rest of the piece, and the place of the block in its group. */
const PAGE_SIZE = REST * GROUP;

/** A block of a group, as it was when it was read. */
export interface GroupedBlock {
  id: number;
  version: number;
  /** There is more in it than its pieces tell: every search looks into it. */
  more: boolean;
}

/** The blocks in which one piece is, as bits: of the first 32, and of the others. */
export interface Mask {
  low: number;
  high: number;
}

export function pageOf(piece: number): number {
  return piece >>> REST_BITS;
}

/** A group being put together. */
export class Group {
  readonly blocks: GroupedBlock[] = [];
  private all = new Uint32Array(64 * 1024);
  private count = 0;

  /** Takes no more blocks. */
  get full(): boolean {
    return this.blocks.length >= GROUP || this.count >= MOST_PIECES;
  }

  add(block: GroupedBlock, pieces: Uint32Array): void {
    const place = this.blocks.push(block) - 1;
    // A search looks into it, whatever it has.
    if (block.more) return;
    if (this.count + pieces.length > this.all.length) {
      const grown = new Uint32Array(Math.max(this.all.length * 2, this.count + pieces.length));
      grown.set(this.all.subarray(0, this.count));
      this.all = grown;
    }
    for (const piece of pieces) this.all[this.count++] = piece * GROUP + place;
  }

  /** Its pages that have something, each as differences between pieces and places in their order. */
  *pages(sink: Sink): Generator<{ page: number; bytes: Buffer }> {
    const all = this.all.subarray(0, this.count).sort();
    for (let at = 0; at < all.length;) {
      const page = Math.floor(all[at]! / PAGE_SIZE);
      const end = (page + 1) * PAGE_SIZE;
      sink.reset();
      let before = page * PAGE_SIZE - 1;
      for (; at < all.length && all[at]! < end; at++) {
        sink.varint(all[at]! - before - 1);
        before = all[at]!;
      }
      yield { page, bytes: sealed(sink) };
    }
  }

  head(sink: Sink): Buffer {
    sink.reset();
    for (const { id, version, more } of this.blocks) {
      sink.varint(id);
      sink.varint(version * 2 + (more ? 1 : 0));
    }
    return sealed(sink);
  }
}

/** With a checksum behind it: a bit that a disk lost would else hide a text from every search, without a word. */
function sealed(sink: Sink): Buffer {
  const bytes = Buffer.allocUnsafe(sink.length + 4);
  bytes.set(sink.bytes.subarray(0, sink.length));
  bytes.writeUInt32LE(crc32(bytes.subarray(0, sink.length)), sink.length);
  return bytes;
}

function unsealed(bytes: Buffer): Buffer {
  const end = bytes.length - 4;
  if (end < 0 || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end))
    throw new DecodeError('what is noted of texts is damaged');
  return bytes.subarray(0, end);
}

/** The blocks of a group. Throws `DecodeError`. */
export function readHead(head: Buffer): GroupedBlock[] {
  const bytes = unsealed(head);
  const reader = new Unpacker(bytes);
  const blocks: GroupedBlock[] = [];
  while (reader.at < bytes.length) {
    const id = reader.varint();
    const version = reader.varint();
    blocks.push({ id, version: Math.floor(version / 2), more: version % 2 === 1 });
  }
  if (blocks.length > GROUP) throw new DecodeError('a group has more blocks than there can be');
  return blocks;
}

/** Every piece of a page with a place where it is. Throws `DecodeError`. */
export function eachPosting(
  stored: Buffer | undefined,
  page: number,
  visit: (piece: number, place: number) => void,
): void {
  if (stored === undefined) return;
  const bytes = unsealed(stored);
  const reader = new Unpacker(bytes);
  let value = page * PAGE_SIZE - 1;
  while (reader.at < bytes.length) {
    value += reader.varint() + 1;
    visit(Math.floor(value / GROUP), value % GROUP);
  }
}

/** Where a piece is, from its page. Throws `DecodeError`. */
export function findPiece(page: Buffer, piece: number): Mask {
  const bytes = unsealed(page);
  const mask = { low: 0, high: 0 };
  const from = (piece % REST) * GROUP;
  let value = -1;
  const reader = new Unpacker(bytes);
  while (reader.at < bytes.length) {
    value += reader.varint() + 1;
    if (value < from) continue;
    const place = value - from;
    if (place >= GROUP) break;
    if (place < 32) mask.low |= 1 << place;
    else mask.high |= 1 << (place - 32);
  }
  return mask;
}
