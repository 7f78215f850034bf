/**
 * Texts are found by pieces of them, in lower case: every three characters in a row, and every five. A text that contains another one has
 * all of its pieces. Three characters tell names and words apart, five tell ids. A piece is a number of 22 bits; that two different
 * ones may have the same number costs a look at a block in vain, and no more.
 */
const SHORT = 3;
const LONG = 5;
/** Few pieces tell a text from almost all others; each costs a look into every group. */
const MOST_OF_TEXT = 6;

export const PIECE_BITS = 22;
const SHIFT = 32 - PIECE_BITS;

/** Calls `add` with each piece of the first `length` units, some more than once. */
export function eachPiece(units: Uint16Array, length: number, add: (piece: number) => void): void {
  for (let at = 0; at + SHORT <= length; at++) add(short(units, at));
  for (let at = 0; at + LONG <= length; at++) add(long(units, at));
}

/** Pieces that a value has for certain if this text is in it, in the order of the text; nothing for texts that are too short to tell. */
export function piecesOf(text: string): number[] | undefined {
  const lower = text.toLowerCase();
  if (lower.length < SHORT) return undefined;
  const units = Uint16Array.from({ length: lower.length }, (_, index) => lower.charCodeAt(index));
  const [piece, size] = lower.length < LONG ? [short, SHORT] : [long, LONG];
  const count = lower.length - size + 1;
  const taken = Math.min(count, MOST_OF_TEXT);
  // Those from all over the text, the first and the last among them.
  const place = (index: number): number => (taken === 1 ? 0 : Math.floor((index * (count - 1)) / (taken - 1)));
  return [...new Set(Array.from({ length: taken }, (_, index) => piece(units, place(index))))];
}

function short(units: Uint16Array, at: number): number {
  const mixed =
    Math.imul(units[at]!, 0x85ebca6b) ^ Math.imul(units[at + 1]!, 0xc2b2ae35) ^ Math.imul(units[at + 2]!, 0x27d4eb2f);
  return finish(mixed);
}

function long(units: Uint16Array, at: number): number {
  let mixed = Math.imul(units[at]!, 0x9e3779b1) ^ units[at + 1]!;
  mixed = Math.imul(mixed, 0x85ebca77) ^ units[at + 2]!;
  mixed = Math.imul(mixed, 0xc2b2ae3d) ^ units[at + 3]!;
  mixed = Math.imul(mixed, 0x27d4eb2f) ^ units[at + 4]!;
  return finish(mixed ^ 0x165667b1);
}

function finish(mixed: number): number {
  const half = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (Math.imul(half ^ (half >>> 13), 0x297a2d39) ^ (half >>> 16)) >>> SHIFT;
}
