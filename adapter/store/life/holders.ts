import { UserError } from '../../common/errors';
import { callName } from '../callNames';
import { PARTS } from '../chunks/chunk';
import { CallReader } from '../chunks/callReader';
import type { Connection } from '../database';

/** For each of these rows of the table `values` the first call that has it, where one has. */
export function callsWith(db: Connection, ids: ReadonlySet<number>): Map<number, string> {
  const found = new Map<number, string>();
  const reader = new CallReader(db);
  for (const id of reader.ids()) {
    if (found.size === ids.size) break;
    try {
      const chunk = reader.chunk(id);
      if (chunk === undefined) continue;
      for (let slot = 0; slot < chunk.length; slot++)
        for (let part = 0; part < PARTS.length; part++) {
          const value = chunk.isPresent(slot) ? chunk.part(slot, part) : undefined;
          if (typeof value === 'number' && ids.has(value) && !found.has(value))
            found.set(value, callName(chunk.base + slot));
        }
    } catch (error) {
      // Of a block that cannot be read it was said already.
      if (!(error instanceof UserError)) throw error;
    }
  }
  return found;
}
