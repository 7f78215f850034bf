import { CallReader } from '../../adapter/store/chunks/callReader';
import { sizeOf } from '../../adapter/store/chunks/callWriter';
import { LongestWriter } from '../../adapter/store/chunks/longestCalls';
import { StoredCall } from '../../adapter/store/chunks/rows';
import type { Chunk } from '../../adapter/store/chunks/chunk';
import { Sink } from '../../adapter/store/values/canonical';
import { openForReading, type Connection } from '../../adapter/store/database';

const COLUMNS = [
  ...['id', 'parent', 'task', 'function', 'depth', 'start', 'end', 'status', 'edited', 'tokens'],
  ...['args', 'result', 'error', 'state_before', 'state_after', 'start_attributes', 'end_attributes'],
] as const;

/** A run file for reading, with its calls unpacked into a table `calls` that only this connection has. */
export function openWithCalls(file: string): Connection {
  const db = openForReading(file);
  try {
    return unpackCalls(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** As they are now; a connection's first look is what it goes on to see. */
export function unpackCalls(db: Connection): Connection {
  const names = [...COLUMNS, 'size'];
  if (db.prepare("SELECT 1 FROM sqlite_temp_schema WHERE name = 'calls'").get() !== undefined) return db;
  db.exec(`CREATE TEMP TABLE calls (${names.map((name) => `${name} INTEGER`).join()})`);
  const insert = db.prepare(`INSERT INTO temp.calls VALUES (${names.map(() => '?').join()})`);
  const reader = new CallReader(db);
  // Each insert would be a transaction of its own.
  db.exec('BEGIN');
  for (const id of reader.ids()) {
    const chunk = reader.chunk(id)!;
    for (let slot = 0; slot < chunk.length; slot++) {
      if (!chunk.isPresent(slot)) continue;
      const call = new StoredCall(reader, chunk.head(slot));
      const started = chunk.isStarted(slot);
      const size = !started || call.end === null ? null : sizeOf(call.end - call.start);
      const values = COLUMNS.map((name) =>
        !started && ['parent', 'task', 'function', 'start'].includes(name) ? null : call[name as 'parent'],
      );
      insert.run([...values, size].map((value) => (value === null ? null : BigInt(value))));
    }
  }
  db.exec('COMMIT');
  return db;
}

/** Changes calls behind the back of whoever keeps the file in order: `change` is asked for every call. */
export function changeCalls(db: Connection, change: (chunk: Chunk, slot: number, call: number) => void): void {
  const reader = new CallReader(db);
  const sink = new Sink();
  const named = new LongestWriter(db);
  const write = db.prepare(
    'UPDATE chunks SET heads = ?, bodies = ?, version = version + 1, open = ?, errors = ?, first = ?, last = ?, shortest = ?, longest = ?, longest_short = ? WHERE id = ?',
  );
  for (const id of reader.ids()) {
    const chunk = reader.chunk(id)!;
    for (let slot = 0; slot < chunk.length; slot++) if (chunk.isPresent(slot)) change(chunk, slot, chunk.base + slot);
    const { open, errors, first, last, shortest, longest, longestShort } = chunk.zone();
    const zone = [open, errors, first, last, shortest, longest, longestShort];
    write.run(chunk.packHeads(sink), chunk.packBodies(sink), ...zone, id);
    named.note(chunk, longestShort);
  }
}
