import type { Connection } from '../database';
import { DecodeError } from '../values/model';
import { BlockTexts } from './blockTexts';
import { eachPosting, PAGES, readHead } from './groups';
import { PIECE_BITS } from './pieces';

/** Blocks of which a text is not noted, and groups that cannot be read. */
export function checkWords(db: Connection): { wrong: number[]; damaged: number[] } {
  const texts = new BlockTexts(db);
  const page = db.prepare<[number], Buffer>('SELECT pieces FROM words WHERE id = ?').pluck();
  const groups = db.prepare('SELECT id, blocks FROM word_groups ORDER BY id').all() as { id: number; blocks: Buffer }[];
  const wrong: number[] = [];
  const damaged: number[] = [];
  for (const { id, blocks } of groups) {
    try {
      const noted = readHead(blocks).map((block) => ({ block, pieces: new Uint8Array(2 ** PIECE_BITS / 8) }));
      for (let number = 0; number < PAGES; number++)
        eachPosting(page.get(id * PAGES + number), number, (piece, place) => {
          const pieces = noted[place]?.pieces;
          if (pieces !== undefined) pieces[piece >>> 3]! |= 1 << (piece & 7);
        });
      for (const { block, pieces } of noted) {
        const now = texts.read(block.id);
        // What changed since is looked into anyway.
        if (now === undefined || now.version !== block.version || block.more) continue;
        const has = (piece: number): boolean => (pieces[piece >>> 3]! & (1 << (piece & 7))) !== 0;
        if (now.more || !texts.pieces.take().every(has)) wrong.push(block.id);
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      damaged.push(id);
    }
  }
  return { wrong, damaged };
}
