import type { Connection } from './database';
import { packRows } from './chunks/fromRows';

/** A step to the next version of the file: statements, or what they cannot do. */
export type Migration = string | ((db: Connection) => void);

export function migrate(db: Connection, step: Migration): void {
  if (typeof step === 'string') db.exec(step);
  else step(db);
}

/** Marks a run file in SQLite's header, so that a foreign database is told from a damaged one. */
export const APPLICATION_ID = 0x54426b31;

/** Steps from one version to the next; the file's `user_version` counts those that were taken. Never changed once released, only added to. */
export const MIGRATIONS: readonly Migration[] = [
  `
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    started INTEGER NOT NULL,          -- wall clock at time 0, nanoseconds since 1970
    base INTEGER,                      -- monotonic clock of the app's machine at time 0
    ended INTEGER,                     -- wall clock; null while the session lives
    pid INTEGER NOT NULL,              -- of the session, with what tells it from a later process of that number
    pid_start TEXT NOT NULL,
    workflow TEXT,                     -- first workflow's name
    first INTEGER,                     -- earliest start and latest time of any call
    last INTEGER,
    calls INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0,
    holds INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    damaged INTEGER NOT NULL DEFAULT 0 -- frames that could not be read
  ) STRICT;
  CREATE TABLE processes (
    id INTEGER PRIMARY KEY,            -- index, from 1
    key TEXT NOT NULL UNIQUE,
    pid INTEGER NOT NULL,
    parent_pid INTEGER,
    pid_start TEXT,
    name TEXT NOT NULL DEFAULT '',
    language TEXT, language_version TEXT, runtime TEXT, executable TEXT, cwd TEXT, argv TEXT,
    wall INTEGER, monotonic INTEGER,   -- both clocks, read together
    last INTEGER,                      -- latest time of any frame
    ended INTEGER,
    exit_code INTEGER
  ) STRICT;
  CREATE TABLE segments (
    file TEXT PRIMARY KEY,
    process INTEGER NOT NULL,
    offset INTEGER NOT NULL            -- everything before it is in this file
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    parent INTEGER,
    name TEXT NOT NULL,
    depth INTEGER NOT NULL DEFAULT 1,
    first INTEGER,
    last INTEGER
  ) STRICT;
  CREATE TABLE functions (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    qualified TEXT NOT NULL,
    module TEXT NOT NULL,
    path TEXT,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    parent INTEGER,
    task INTEGER,
    function INTEGER,
    depth INTEGER NOT NULL DEFAULT 0,
    start INTEGER,                     -- null while only later frames of the call were read
    end INTEGER,
    status INTEGER,                    -- null running, 0 returned, 1 error, 2 cancelled, 3 skipped, 4 ended with its process
    args INTEGER, result INTEGER, error INTEGER, state_before INTEGER, state_after INTEGER,
    start_attributes INTEGER, end_attributes INTEGER,
    edited INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER
  ) STRICT;
  CREATE INDEX calls_by_parent ON calls (parent);
  CREATE INDEX calls_by_start ON calls (start, end);
  CREATE INDEX calls_by_function ON calls (function, start);
  CREATE INDEX calls_open ON calls (id) WHERE end IS NULL;
  CREATE INDEX calls_failed ON calls (start) WHERE status = 1;
  CREATE TABLE holds (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    hold INTEGER,
    call INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER,
    description TEXT NOT NULL,
    why TEXT
  ) STRICT;
  CREATE INDEX holds_by_call ON holds (call);
  CREATE INDEX holds_by_start ON holds (start);
  CREATE INDEX holds_open ON holds (process) WHERE end IS NULL;
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    name TEXT NOT NULL,
    process INTEGER,
    call INTEGER,
    value INTEGER,                     -- recorded by the app
    data TEXT                          -- JSON, seen by the session
  ) STRICT;
  CREATE INDEX events_by_call ON events (call) WHERE call IS NOT NULL;
  CREATE INDEX events_by_time ON events (time);
  CREATE TABLE "values" (
    id INTEGER PRIMARY KEY,
    cid BLOB NOT NULL UNIQUE,          -- SHA-256 of the canonical bytes
    codec INTEGER NOT NULL,            -- 1: canonical bytes as they are
    bytes BLOB NOT NULL
  ) STRICT;
  `,
  // Small values have no hash, long calls are found by their size, overviews are read from tiles, and a run says that its app has ended.
  `
  ALTER TABLE runs ADD COLUMN stopped INTEGER;   -- wall clock when the app had ended; what it recorded may still be being read
  ALTER TABLE "values" RENAME TO values_1;
  CREATE TABLE "values" (
    id INTEGER PRIMARY KEY,
    cid BLOB,                          -- SHA-256 of the canonical bytes, from 256 bytes on
    codec INTEGER NOT NULL,            -- 1: canonical bytes as they are
    bytes BLOB NOT NULL
  ) STRICT;
  INSERT INTO "values" SELECT id, cid, codec, bytes FROM values_1;
  DROP TABLE values_1;
  CREATE UNIQUE INDEX values_by_cid ON "values" (cid) WHERE cid IS NOT NULL;
  ALTER TABLE calls ADD COLUMN size INTEGER;     -- floor(log2(duration + 1)), null while the call runs
  UPDATE calls SET size = CAST(log2(max(0, end - start) + 1) AS INTEGER) WHERE end IS NOT NULL AND start IS NOT NULL;
  DROP INDEX calls_by_parent;
  DROP INDEX calls_by_start;
  DROP INDEX calls_open;
  CREATE INDEX calls_open ON calls (start) WHERE end IS NULL;
  CREATE INDEX calls_by_size ON calls (size, start, end) WHERE size IS NOT NULL;
  CREATE INDEX calls_failed_by_size ON calls (size, start, end) WHERE status = 1;
  CREATE TABLE tiles (
    level INTEGER NOT NULL,            -- a tile is 2^level ns wide
    tile INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (level, tile)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO tiles
    SELECT level, start >> level, count(*), sum(status IS 1)
    FROM calls, (SELECT 20 AS level UNION ALL SELECT 26 UNION ALL SELECT 32) WHERE start IS NOT NULL GROUP BY 1, 2;
  `,
  // A person may keep a run.
  `
  ALTER TABLE runs ADD COLUMN kept INTEGER NOT NULL DEFAULT 0; -- 1: never taken away but by name
  `,
  // Calls are packed in blocks of 1024.
  (db) => {
    db.exec(`
      CREATE TABLE chunks (
        id INTEGER PRIMARY KEY,          -- floor(call id / 1024)
        version INTEGER NOT NULL,        -- grows with every batch that changed a block
        calls INTEGER NOT NULL,          -- that have a start, and of these: running, failed
        open INTEGER NOT NULL,
        errors INTEGER NOT NULL,
        first INTEGER, last INTEGER,     -- earliest and latest start
        shortest INTEGER, longest INTEGER, -- durations of those that ended
        longest_short INTEGER,           -- the longest of those that are not in long_calls
        heads BLOB NOT NULL,             -- see the README
        bodies BLOB
      ) STRICT;
      -- What is known of all blocks is read from here, without their rows, which are large.
      CREATE INDEX chunks_by_version ON chunks (version, calls, open, errors, first, last, shortest, longest, longest_short);
      CREATE TABLE long_calls (          -- of 2^20 ns and more, with all that is drawn of them
        size INTEGER NOT NULL,           -- floor(log2(duration + 1))
        start INTEGER NOT NULL,
        id INTEGER NOT NULL,
        end INTEGER NOT NULL,
        parent INTEGER, task INTEGER NOT NULL, function INTEGER NOT NULL, depth INTEGER NOT NULL, status INTEGER,
        PRIMARY KEY (size, start, id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE failed_calls (        -- the same of all that failed
        id INTEGER PRIMARY KEY,
        size INTEGER NOT NULL,
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        parent INTEGER, task INTEGER NOT NULL, function INTEGER NOT NULL, depth INTEGER NOT NULL, status INTEGER
      ) STRICT;
      CREATE INDEX failed_by_start ON failed_calls (start, id);
      CREATE INDEX failed_by_size ON failed_calls (size, start, end);
      CREATE TABLE function_chunks (
        function INTEGER NOT NULL,
        chunk INTEGER NOT NULL,
        PRIMARY KEY (function, chunk)
      ) STRICT, WITHOUT ROWID;
      DROP TABLE tiles;
      CREATE TABLE tiles (
        task INTEGER NOT NULL,           -- 0: all of them
        level INTEGER NOT NULL,          -- a tile is 2^level ns wide
        block INTEGER NOT NULL,          -- 256 tiles each
        counts BLOB NOT NULL,            -- for each tile that has some: tiles passed over, calls, errors
        PRIMARY KEY (task, level, block)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE function_totals (
        function INTEGER PRIMARY KEY,
        calls INTEGER NOT NULL,
        errors INTEGER NOT NULL,
        ended INTEGER NOT NULL,
        duration INTEGER NOT NULL,       -- of those that ended, together
        tokens INTEGER NOT NULL,
        histogram BLOB NOT NULL          -- class of duration, four for each power of two, and count
      ) STRICT;
    `);
    packRows(db);
    db.exec('DROP TABLE calls');
  },
  // Which texts are in which blocks.
  `
  CREATE TABLE word_groups (
    id INTEGER PRIMARY KEY,
    blocks BLOB NOT NULL               -- up to 64: number, version at which it was read, whether there is more in it
  ) STRICT;
  CREATE TABLE words (
    id INTEGER PRIMARY KEY,            -- 1024 for each group
    pieces BLOB NOT NULL               -- of texts, each with the place of a block in its group
  ) STRICT;
  `,
  // The longest calls of blocks are named beside them; a block that was written before is unpacked instead.
  `
  CREATE TABLE longest_calls (
    chunk INTEGER PRIMARY KEY,
    rest INTEGER NOT NULL,             -- no call of the block takes longer, but those named here and those in long_calls
    calls BLOB NOT NULL                -- all that is drawn of them
  ) STRICT;
  `,
  // Blocks have a checksum, those that were written before stay without one; and what is noted of texts, which is noted anew.
  `
  DELETE FROM words;
  DELETE FROM word_groups;
  `,
];
