import type { TextVisitor } from '../values/eachText';
import { eachPiece, PIECE_BITS } from './pieces';

/** Characters that are looked at; what has more is looked into by every search. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The pieces of all texts of some values. Texts are those that a search compares with, and some more, such as the names of marks. */
export class Pieces implements TextVisitor {
  private readonly bits = new Uint32Array(2 ** PIECE_BITS / 32);
  private units = new Uint16Array(4096);
  private found = new Uint32Array(4096);
  private count = 0;
  private characters = 0;
  /** Names of the parts that are stored on their own. */
  onPart: (cid: Buffer) => void = () => undefined;
  private readonly add = (piece: number): void => {
    const bit = 1 << (piece & 31);
    if ((this.bits[piece >>> 5]! & bit) !== 0) return;
    this.bits[piece >>> 5]! |= bit;
    if (this.count === this.found.length) {
      const grown = new Uint32Array(this.count * 2);
      grown.set(this.found);
      this.found = grown;
    }
    this.found[this.count++] = piece;
  };

  addAll(pieces: Uint32Array): void {
    for (const piece of pieces) this.add(piece);
  }

  /** Characters since the last time. */
  get size(): number {
    return this.characters;
  }

  /** Whether there was more text than is looked at. */
  get full(): boolean {
    return this.characters > MOST_CHARACTERS;
  }

  /** What was found since the last time; the array is used again. */
  take(): Uint32Array {
    for (let index = 0; index < this.count; index++) this.bits[this.found[index]! >>> 5] = 0;
    const taken = this.found.subarray(0, this.count);
    this.count = 0;
    this.characters = 0;
    return taken;
  }

  part(cid: Buffer): void {
    this.onPart(cid);
  }

  ascii(bytes: Buffer, from: number, to: number): boolean {
    const length = to - from;
    this.characters += length;
    if (this.full) return true;
    const units = this.room(length);
    for (let index = 0; index < length; index++) {
      const byte = bytes[from + index]!;
      if (byte > 0x7f) return false;
      units[index] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
    }
    eachPiece(units, length, this.add);
    return true;
  }

  text(text: string): void {
    const lower = text.toLowerCase();
    this.characters += lower.length;
    if (this.full) return;
    const units = this.room(lower.length);
    for (let index = 0; index < lower.length; index++) units[index] = lower.charCodeAt(index);
    eachPiece(units, lower.length, this.add);
  }

  private room(length: number): Uint16Array {
    if (length > this.units.length) this.units = new Uint16Array(Math.max(length, this.units.length * 2));
    return this.units;
  }
}
