import { UserError } from '../../common/errors';
import type { Connection } from '../database';
import { CallWriter } from './callWriter';
import { PARTS, type Part } from './chunk';
import { Tiles } from '../tiles';

const ROWS = 10_000;
const LATEST = 2 ** 52;

type Row = Record<Part, number | null> & {
  id: number;
  parent: number | null;
  task: number | null;
  function: number | null;
  depth: number;
  start: number | null;
  end: number | null;
  status: number | null;
  edited: number;
  tokens: number | null;
};

/** Packs the calls of an earlier version's file, which were rows. */
export function packRows(db: Connection): void {
  const writer = new CallWriter(db, { earlier: true });
  const tiles = new Tiles(db);
  const some = db.prepare<[number, number], Row>(
    'SELECT * FROM calls WHERE id > ? AND id <= 9007199254740991 ORDER BY id LIMIT ?',
  );
  const none = Buffer.alloc(0);
  const odd = db.prepare(
    `SELECT 1 FROM calls WHERE id NOT BETWEEN 0 AND 9007199254740991 OR abs(start) > ${LATEST} OR abs(end) > ${LATEST}
       OR depth NOT BETWEEN 0 AND 1000000 OR status NOT BETWEEN 0 AND 4 OR tokens < 0 LIMIT 1`,
  );
  if (odd.get() !== undefined) throw new UserError('The run file has calls that cannot be: it is damaged.');
  for (let rows = some.all(-1, ROWS); rows.length > 0; rows = some.all(rows.at(-1)!.id, ROWS)) {
    for (const row of rows) {
      if (row.start !== null) {
        writer.start(row.id, row.parent ?? 0, row.task ?? 0, row.function ?? 0, row.start);
        writer.depth(row.id, row.depth);
        tiles.count(row.task ?? 0, row.start, 1, row.status === 1 ? 1 : 0);
      }
      if (row.end !== null) writer.end(row.id, row.end, row.status ?? 0, row.tokens ?? undefined);
      if (row.edited !== 0) writer.edited(row.id);
      PARTS.forEach((name, part) => {
        const value = row[name];
        if (value !== null) writer.part(row.id, part, { row: value, bytes: none, length: 0 });
      });
    }
    writer.flush();
    tiles.flush();
  }
}
