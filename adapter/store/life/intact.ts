import { isDamage, type Connection } from '../database';
import { MIGRATIONS } from '../schema';
import { contradictions } from './contradictions';

/** Whether all that was in a run file is there: what is put together from one that has lost something would agree with itself. */
export function isIntact(db: Connection): boolean {
  const isCurrent = db.pragma('user_version', { simple: true }) === MIGRATIONS.length;
  return isWhole(db) && !(isCurrent && contradictions(db).length > 0);
}

/** What SQLite finds. */
export function isWhole(db: Connection): boolean {
  try {
    return db.pragma('integrity_check(1)', { simple: true }) === 'ok';
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}
