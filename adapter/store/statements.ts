import { globalId } from './callNames';
import type { Connection } from './database';

/** The writer's statements. Parameters in the order in which they stand; whole numbers are bound as BigInt. */
export function prepare(db: Connection) {
  return {
    insertRun: db.prepare(
      'INSERT INTO runs (id, run, session, name, number, started, pid, pid_start, workflow) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
    ),
    setBase: db.prepare('UPDATE runs SET base = ?, started = ?'),
    setWorkflow: db.prepare('UPDATE runs SET workflow = ?'),
    endRun: db.prepare('UPDATE runs SET ended = ?'),
    stopRun: db.prepare('UPDATE runs SET stopped = coalesce(stopped, ?)'),
    count: db.prepare(
      `UPDATE runs SET calls = calls + ?, errors = errors + ?, holds = holds + ?, tokens = tokens + ?, damaged = damaged + ?,
         first = min(coalesce(first, ?), coalesce(?, first)),
         last = max(coalesce(last, ?), coalesce(?, last))`,
    ),

    insertProcess: db.prepare('INSERT INTO processes (id, key, pid) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    describeProcess: db.prepare(
      `UPDATE processes SET pid = ?, parent_pid = ?, pid_start = ?, name = ?, language = ?, language_version = ?, runtime = ?,
         executable = ?, cwd = ?, argv = ? WHERE id = ?`,
    ),
    processClocks: db.prepare(
      `UPDATE processes SET pid = ?, parent_pid = ?, name = CASE WHEN name = '' THEN ? ELSE name END,
         wall = coalesce(wall, ?), monotonic = coalesce(monotonic, ?), pid_start = coalesce(pid_start, ?),
         language = coalesce(language, ?), language_version = coalesce(language_version, ?) WHERE id = ?`,
    ),
    setProcessLast: db.prepare('UPDATE processes SET last = ? WHERE id = ?'),
    endProcess: db.prepare('UPDATE processes SET ended = ?, exit_code = coalesce(?, exit_code) WHERE id = ?'),
    setOffset: db.prepare(
      'INSERT INTO segments (file, process, offset) VALUES (?, ?, ?) ON CONFLICT (file) DO UPDATE SET offset = excluded.offset',
    ),

    insertFunction: db.prepare(
      `INSERT INTO functions (id, process, kind, name, qualified, module, path, line, end_line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    functionPlace: db.prepare('SELECT qualified, path, line, end_line AS end FROM functions WHERE id = ?'),
    crashSeen: db.prepare(
      `SELECT call, data FROM events
       WHERE name = 'crash' AND json_valid(data) AND json_extract(data, '$.process') = ? ORDER BY id DESC LIMIT 1`,
    ),
    functionName: db.prepare('SELECT name FROM functions WHERE id = ?').pluck(),
    insertTask: db.prepare(
      `INSERT INTO tasks (id, process, parent, name) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, parent = coalesce(excluded.parent, parent)`,
    ),
    spanTask: db.prepare(
      `INSERT INTO tasks (id, process, name, depth, first, last) VALUES (?, ?, '', ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET depth = max(depth, excluded.depth), first = min(coalesce(first, excluded.first), excluded.first),
         last = max(coalesce(last, excluded.last), excluded.last)`,
    ),

    insertHold: db.prepare('INSERT INTO holds (process, hold, call, start, description) VALUES (?, ?, ?, ?, ?)'),
    endHold: db.prepare(
      'UPDATE holds SET end = ?, why = ? WHERE end IS NULL AND process = ? AND call = ? AND (? IS NULL OR hold IS NULL OR hold = ?)',
    ),
    endOpenHolds: db.prepare('UPDATE holds SET end = ?, why = ? WHERE end IS NULL AND process = ?'),

    shiftEvents: db.prepare('UPDATE events SET time = time + ?'),
    shiftHolds: db.prepare('UPDATE holds SET start = start + @by, end = end + @by'),
    insertEvent: db.prepare('INSERT INTO events (time, name, process, call, value, data) VALUES (?, ?, ?, ?, ?, ?)'),
  };
}

/** Of a number in a process, for the database; 0 is none. */
export function idOrNull(process: number, id: number): bigint | null {
  return id === 0 ? null : BigInt(globalId(process, id));
}
