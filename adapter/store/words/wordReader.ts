import type { CallReader } from '../chunks/callReader';
import type { Connection } from '../database';
import { DecodeError } from '../values/model';
import { findPiece, pageOf, PAGES, readHead, type GroupedBlock } from './groups';
import { piecesOf } from './pieces';

/** Which blocks of calls may have a text in their values. */
export class WordReader {
  private readonly fresh;
  private readonly page;
  private readonly groups: { id: number; blocks: GroupedBlock[] }[] = [];
  /** The latest group that has a block, and what that group says of it. */
  private readonly known = new Map<number, { group: number; block: GroupedBlock }>();

  constructor(
    db: Connection,
    private readonly calls: CallReader,
  ) {
    this.fresh = db.prepare<[number], { id: number; blocks: Buffer }>(
      'SELECT id, blocks FROM word_groups WHERE id > ? ORDER BY id',
    );
    this.page = db.prepare<[number], Buffer>('SELECT pieces FROM words WHERE id = ?').pluck();
  }

  /** All blocks that may have it, and maybe some that do not; nothing when that cannot be told. */
  blocksWith(text: string): Set<number> | undefined {
    const pieces = piecesOf(text);
    if (pieces === undefined) return undefined;
    try {
      this.look();
      const found = new Set<number>();
      for (const { id, blocks } of this.groups) {
        const mask = this.maskOf(id, pieces);
        for (let place = 0; place < blocks.length; place++) {
          const has = ((place < 32 ? mask.low : mask.high) & (1 << (place & 31))) !== 0;
          if (has && this.known.get(blocks[place]!.id)!.group === id) found.add(blocks[place]!.id);
        }
      }
      for (const { id, version } of this.calls.zones()) {
        const block = this.known.get(id)?.block;
        if (block === undefined || block.version < version || block.more) found.add(id);
      }
      return found;
    } catch (error) {
      // What is noted is damaged: the calls themselves may be fine.
      if (error instanceof DecodeError) return undefined;
      throw error;
    }
  }

  private look(): void {
    for (const { id, blocks } of this.fresh.all(this.groups.at(-1)?.id ?? 0)) {
      const read = readHead(blocks);
      this.groups.push({ id, blocks: read });
      for (const block of read) this.known.set(block.id, { group: id, block });
    }
  }

  /** The blocks of a group that have all these pieces. */
  private maskOf(group: number, pieces: readonly number[]): { low: number; high: number } {
    const mask = { low: -1, high: -1 };
    for (const piece of pieces) {
      const bytes = this.page.get(group * PAGES + pageOf(piece));
      if (bytes === undefined) return { low: 0, high: 0 };
      const one = findPiece(bytes, piece);
      mask.low &= one.low;
      mask.high &= one.high;
      if (mask.low === 0 && mask.high === 0) break;
    }
    return mask;
  }
}
