import type { Connection } from '../database';

/** In which parts of what the run says of itself, and of all its calls, it is not so of its blocks: their names. */
export function contradictions(db: Connection): string[] {
  return db
    .prepare(
      `SELECT 'calls' FROM runs WHERE calls <> (SELECT coalesce(sum(calls), 0) FROM chunks)
       UNION ALL SELECT 'first' FROM runs WHERE first IS NOT (SELECT min(first) FROM chunks)
       UNION ALL SELECT 'last' FROM runs WHERE coalesce(last, first) < (SELECT max(last) FROM chunks)
       UNION ALL SELECT 'ended' FROM runs WHERE ended < started`,
    )
    .pluck()
    .all() as string[];
}
