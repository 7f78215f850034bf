import { Bytes, TUPLE } from './bytes.mjs';

/** Parts of frames that are always the same, as bytes that are only copied. */

const ELLIPSIS = 0x2e;
const scratch = new Bytes(16 * 1024);

/** @param {(bytes: Bytes) => void} write */
export function bytesOf(write) {
  scratch.at = 0;
  write(scratch);
  return Uint8Array.from(scratch.buffer.subarray(0, scratch.at));
}

/**
 * @param {Bytes} bytes
 * @param {string} tag
 * @param {number} parts
 */
function open(bytes, tag, parts) {
  bytes.open(TUPLE, parts + 2);
  bytes.byte(ELLIPSIS);
  bytes.text(tag);
}

/**
 * The beginning of a mark; so many parts follow.
 * @param {string} tag
 * @param {number} parts
 */
export function markHead(tag, parts) {
  return bytesOf((bytes) => open(bytes, tag, parts));
}

/** What stands before a head of which the rest was cut. @param {string} kind */
markHead.cut = (kind) =>
  bytesOf((bytes) => {
    open(bytes, 'cut', 4);
    bytes.text(kind);
  });

/** What stands before a list that has more than elements. */
markHead.beside = bytesOf((bytes) => {
  open(bytes, 'object', 3);
  bytes.text('Array');
  bytes.openDict();
  bytes.text('(value)');
});

/**
 * A whole mark of texts.
 * @param {string} tag
 * @param {...(string | null)} parts
 */
export function markOf(tag, ...parts) {
  return bytesOf((bytes) => {
    open(bytes, tag, parts.length);
    for (const part of parts) {
      if (part === null) bytes.none();
      else bytes.text(part);
    }
  });
}

/** @param {string} text */
markOf.text = (text) => bytesOf((bytes) => bytes.text(text));
