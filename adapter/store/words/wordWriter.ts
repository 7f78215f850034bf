import type { Connection } from '../database';
import { Sink } from '../values/canonical';
import { BlockTexts } from './blockTexts';
import { Group, PAGES, readHead } from './groups';

/** A block that changes is left alone for so long. */
const SETTLED = 2_000;
/** Runs with fewer blocks are searched as they are: that takes no longer. */
export const FEWEST = 16;
/** Numbers of one process's blocks. */
const BLOCKS_OF_PROCESS = 2 ** 22;

/**
 * Notes which pieces of text are in which block of calls, behind whoever writes them: a block that is not noted, or was changed since, is
 * looked into by every search, so answers are right all the time.
 */
export class WordWriter {
  private readonly changed;
  private readonly blocks;
  private readonly addGroup;
  private readonly addPage;
  private readonly nextGroup;
  /** The version at which a block was noted. */
  private readonly noted = new Map<number, number>();
  /** Blocks to be noted, with the moment at which each was seen to have changed. */
  private readonly waiting = new Map<number, number>();
  /** The newest block of each process. */
  private readonly newest = new Map<number, number>();
  private seen = 0;
  private group = new Group();
  private readonly sink = new Sink();

  constructor(private readonly db: Connection) {
    this.changed = db.prepare<[number], { id: number; version: number }>(
      'SELECT id, version FROM chunks WHERE version > ? ORDER BY version',
    );
    this.blocks = new BlockTexts(db);
    this.addGroup = db.prepare('INSERT INTO word_groups (id, blocks) VALUES (?, ?)');
    this.addPage = db.prepare('INSERT INTO words (id, pieces) VALUES (?, ?)');
    this.nextGroup = db.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM word_groups').pluck();
    for (const blocks of db.prepare<[], Buffer>('SELECT blocks FROM word_groups ORDER BY id').pluck().iterate())
      for (const block of readHead(blocks)) this.noted.set(block.id, block.version);
  }

  /** Notes blocks for so many milliseconds; `ended`: no block will change any more. Answers whether there is more to do. */
  step(milliseconds: number, ended: boolean): boolean {
    const until = performance.now() + milliseconds;
    this.look();
    if (ended && this.noted.size === 0 && this.waiting.size + this.group.blocks.length < FEWEST) return false;
    for (const [id, since] of this.waiting) {
      if (!ended && !this.isSettled(id, since)) continue;
      if (performance.now() > until) return true;
      this.waiting.delete(id);
      this.read(id);
      if (this.group.full) this.write();
    }
    if (ended && this.group.blocks.length > 0) this.write();
    return false;
  }

  private look(): void {
    const now = performance.now();
    for (const { id, version } of this.changed.iterate(this.seen)) {
      this.seen = Math.max(this.seen, version);
      const process = Math.floor(id / BLOCKS_OF_PROCESS);
      if (id > (this.newest.get(process) ?? -1)) this.newest.set(process, id);
      if ((this.noted.get(id) ?? 0) >= version) continue;
      this.waiting.delete(id);
      this.waiting.set(id, now);
    }
  }

  private isSettled(id: number, since: number): boolean {
    return this.newest.get(Math.floor(id / BLOCKS_OF_PROCESS)) !== id && performance.now() - since >= SETTLED;
  }

  private read(id: number): void {
    const row = this.blocks.read(id);
    if (row === undefined) return;
    this.group.add(row, this.blocks.pieces.take());
    this.noted.set(id, row.version);
  }

  private write(): void {
    const { group } = this;
    this.group = new Group();
    const add = this.db.transaction(() => {
      // Another process may be at it, too: then some blocks are noted twice.
      const next = this.nextGroup.get()!;
      this.addGroup.run(next, group.head(this.sink));
      for (const { page, bytes } of group.pages(this.sink)) this.addPage.run(next * PAGES + page, bytes);
    });
    add.immediate();
  }
}
