import type { Connection } from '../database';
import { DecodeError } from '../values/model';
import { BlockTexts } from './blockTexts';
import { eachPosting, PAGES, readHead } from './groups';

/** Blocks of which a text is not noted, and groups that cannot be read. */
export function checkWords(db: Connection): { wrong: number[]; damaged: number[] } {
  const texts = new BlockTexts(db);
  const page = db.prepare<[number], Buffer>('SELECT pieces FROM words WHERE id = ?').pluck();
  const groups = db.prepare('SELECT id, blocks FROM word_groups ORDER BY id').all() as { id: number; blocks: Buffer }[];
  const wrong: number[] = [];
  const damaged: number[] = [];
  for (const { id, blocks } of groups) {
    try {
      const noted = readHead(blocks).map((block) => ({ block, pieces: new Set<number>() }));
      for (let number = 0; number < PAGES; number++)
        eachPosting(page.get(id * PAGES + number), number, (piece, place) => noted[place]?.pieces.add(piece));
      for (const { block, pieces } of noted) {
        const now = texts.read(block.id);
        // What changed since is looked into anyway.
        if (now === undefined || now.version !== block.version || block.more) continue;
        if (now.more || texts.pieces.take().some((piece) => !pieces.has(piece))) wrong.push(block.id);
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      damaged.push(id);
    }
  }
  return { wrong, damaged };
}
