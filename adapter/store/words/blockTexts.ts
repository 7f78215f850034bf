import { eachValue } from '../chunks/chunk';
import type { Connection } from '../database';
import { eachText } from '../values/eachText';
import { DecodeError } from '../values/model';
import type { GroupedBlock } from './groups';
import { Pieces } from './texts';

/** Pieces of parts that many values share, kept so that each part is read once. */
const KEPT_PIECES = 2_000_000;
/** What one of these parts takes beside its pieces, as so many of them. */
const PART = 64;
/** Characters of a block's parts that are looked at, which takes a second or two; what has more is looked into by every search. */
const MOST_IN_PARTS = 64 * 1024 * 1024;

/** Reads the texts of blocks of calls, with all that their values refer to. */
export class BlockTexts {
  readonly pieces = new Pieces();
  private readonly bodies;
  private readonly byName;
  private readonly byRow;
  private readonly one = new Pieces();
  private readonly parts = new Map<string, Part>();
  private kept = 0;

  constructor(
    db: Connection,
    private readonly mostInParts = MOST_IN_PARTS,
  ) {
    this.bodies = db.prepare<[number], { version: number; bodies: Buffer | null }>(
      'SELECT version, bodies FROM chunks WHERE id = ?',
    );
    this.byName = db.prepare<[Buffer], Buffer>('SELECT bytes FROM "values" WHERE cid = ?').pluck();
    this.byRow = db.prepare<[number], Buffer>('SELECT bytes FROM "values" WHERE id = ?').pluck();
  }

  /** Reads a block; its pieces are in `pieces` then. */
  read(id: number): GroupedBlock | undefined {
    const row = this.bodies.get(id);
    if (row === undefined) return undefined;
    let more = false;
    const waiting: string[] = [];
    const known = new Set<string>();
    const onPart = (name: string): void => {
      if (known.has(name)) return;
      known.add(name);
      waiting.push(name);
    };
    this.pieces.take();
    this.pieces.onPart = (cid) => onPart(nameOf(cid));
    try {
      eachValue(row.bodies, (stored, bytes, from, to) => {
        if (stored > 0) onPart(`${stored}`);
        else eachText(bytes, from, to, this.pieces);
      });
      let characters = 0;
      for (let name = waiting.pop(); name !== undefined && !more; name = waiting.pop()) {
        const part = this.partOf(name);
        this.pieces.addAll(part.pieces);
        characters += part.size;
        more = part.more || characters > this.mostInParts;
        for (const below of part.parts) onPart(below);
      }
    } catch (error) {
      // Whoever reads it says what is wrong with it.
      if (!(error instanceof DecodeError)) throw error;
      more = true;
    }
    return { id, version: row.version, more: more || this.pieces.full };
  }

  /** A value that is stored on its own, by its row or its name. */
  private partOf(name: string): Part {
    let part = this.parts.get(name);
    if (part !== undefined) return part;
    const bytes = name.startsWith('#') ? this.byName.get(Buffer.from(name.slice(1), 'latin1')) : this.byRow.get(+name);
    const parts: string[] = [];
    this.one.take();
    this.one.onPart = (cid) => void parts.push(nameOf(cid));
    if (bytes !== undefined) eachText(bytes, 0, bytes.length, this.one);
    // Where a part is missing, a reader puts words of its own.
    const more = bytes === undefined || this.one.full;
    const { size } = this.one;
    part = { pieces: this.one.take().slice(), parts, size, more };
    const cost = part.pieces.length + parts.length + PART;
    this.kept += cost;
    if (this.kept > KEPT_PIECES) {
      this.parts.clear();
      this.kept = cost;
    }
    this.parts.set(name, part);
    return part;
  }
}

/** A value that is stored on its own: its pieces, and the names of the parts that are stored on their own again. */
interface Part {
  pieces: Uint32Array;
  parts: readonly string[];
  /** Characters of its own. */
  size: number;
  more: boolean;
}

function nameOf(cid: Buffer): string {
  return `#${cid.toString('latin1')}`;
}
