import { scalarText } from '../reader/text';
import { CODE, decodeCanonical, decodeText } from './canonical';
import { DecodeError } from './model';

/** Who is told the texts of a value. */
export interface TextVisitor {
  /** Bytes that are a text, or the app's own bytes. Answers whether it understood them: text of plain ASCII needs not be made a string. */
  ascii(bytes: Buffer, from: number, to: number): boolean;
  text(text: string): void;
  /** A part that is stored on its own. */
  part(cid: Buffer): void;
  /** It wants no more. */
  readonly full: boolean;
}

/**
 * Tells every text of a canonical value from one place up to another, without making the value: all that a search compares with, and some
 * more, such as the names of marks. Throws `DecodeError`.
 */
export function eachText(bytes: Buffer, from: number, to: number, visitor: TextVisitor): void {
  walker.walk(bytes, from, to, visitor);
}

class Walker {
  private next = 0;

  walk(bytes: Buffer, from: number, to: number, visitor: TextVisitor): void {
    let at = from;
    // Containers need no care: their parts follow, whatever they are parts of.
    while (at < to && !visitor.full) {
      const start = at;
      const code = bytes[at++];
      switch (code) {
        case CODE.null:
          visitor.text('None');
          break;
        case CODE.false:
          visitor.text('False');
          break;
        case CODE.true:
          visitor.text('True');
          break;
        case CODE.end:
          break;
        case CODE.list:
        case CODE.tuple:
        case CODE.set:
        case CODE.frozenset:
        case CODE.tagged:
          this.number(bytes, at, to);
          at = this.next;
          break;
        case CODE.dict:
          break;
        case CODE.ref:
          if (at + 32 > to) throw early();
          visitor.part(bytes.subarray(at, at + 32));
          at += 32;
          break;
        case CODE.text:
        case CODE.bytes: {
          const length = this.number(bytes, at, to);
          const begin = this.next;
          at = begin + length;
          if (at > to) throw early();
          if (!visitor.ascii(bytes, begin, at)) {
            const part = bytes.subarray(begin, at);
            visitor.text(code === CODE.text ? decodeText(part) : part.toString('utf8'));
          }
          break;
        }
        case CODE.int: {
          const zigzag = this.number(bytes, at, to);
          at = this.next;
          if (zigzag < 2 ** 53) visitor.text(String(zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2));
          else visitor.text(scalarAt(bytes.subarray(start, at)));
          break;
        }
        case CODE.float:
        case CODE.complex:
          at += code === CODE.float ? 8 : 16;
          if (at > to) throw early();
          visitor.text(scalarAt(bytes.subarray(start, at)));
          break;
        case CODE.bigint: {
          const length = this.number(bytes, at + 1, to);
          at = this.next + length;
          if (at > to) throw early();
          visitor.text(scalarAt(bytes.subarray(start, at)));
          break;
        }
        default:
          throw new DecodeError(`unknown code ${code} in a value`);
      }
    }
  }

  /** A whole number at a place; `next` is where it ends then. Beyond 2^53 it is roughly right. */
  private number(bytes: Buffer, from: number, to: number): number {
    let value = 0;
    let scale = 1;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.next = at + 1;
        return value;
      }
      scale *= 0x80;
    }
    throw early();
  }
}

const walker = new Walker();

function scalarAt(bytes: Buffer): string {
  return scalarText(decodeCanonical(bytes)) ?? '';
}

function early(): DecodeError {
  return new DecodeError('a value ends too early');
}
