import type { Ended } from '../common/signals';
import type { Connection } from './database';
import type { Recorder } from './recorder';

/**
 * Records that a process is gone. `crashed`: it did not say goodbye. `ended` tells how, where whoever asks is its parent; of other processes of the
 * app nobody can know whether they were killed, or left by `os._exit` as forked ones do.
 */
export function recordEnd(
  recorder: Recorder,
  index: number,
  crashed: boolean,
  ended?: Promise<Ended | undefined>,
): void {
  const tell = (name: string | undefined): void => {
    recorder.processEnded(index, undefined);
    if (name !== undefined) recorder.event(name, undefined, { process: index });
  };
  if (!crashed || ended === undefined) return tell(crashed ? 'crashed' : undefined);
  void ended.then((how) => {
    if (how === undefined) tell('lost');
    else recordKnownEnd(recorder, index, how);
  });
}

/** Records the end of a process whose parent we are; `wall`: when it was, in nanoseconds, if not now. */
export function recordKnownEnd(recorder: Recorder, index: number, { code, signal }: Ended, wall?: bigint): void {
  recorder.processEnded(index, code, wall);
  if (code === undefined) recorder.event('crashed', undefined, { process: index, ...(signal && { signal }) });
}

/**
 * What a runtime notes itself where there was no session, looked for in the run file of an import: notes of the process with this number that it said
 * nothing of its end, neither that it came to it, nor that it crashed or was recorded no further. Of several, which one became after the other, the
 * last. `copied`: its recording is a copy, of which moment nobody knows. Noted once, and taken back where a later copy has the end.
 */
export function lookForLastWord(db: Connection, pid: number, copied: boolean): void {
  db.exec(
    `DELETE FROM events WHERE name = 'vanished'
      AND EXISTS (SELECT 1 FROM events AS other WHERE other.process = events.process AND other.name = 'exited')`,
  );
  const last = db
    .prepare("SELECT id FROM processes WHERE pid = ? AND key NOT GLOB '*-w*' ORDER BY id DESC LIMIT 1")
    .pluck();
  const id = last.get(pid) as number | undefined;
  if (id !== undefined) noteSilence(db, id, copied);
}

/** Notes of a process that is gone that it said nothing of its end, if it did not. */
export function noteSilence(db: Connection, id: number, copied: boolean): void {
  const silent = db.prepare(
    `SELECT coalesce(ended, 0) AS ended FROM processes WHERE id = ?
      AND NOT EXISTS (SELECT 1 FROM events WHERE process = processes.id AND name IN ('exited', 'crash', 'mark', 'vanished'))`,
  );
  const found = silent.get(id) as { ended: number } | undefined;
  if (found === undefined) return;
  db.prepare("INSERT INTO events (time, name, process, data) VALUES (?, 'vanished', ?, ?)").run(
    BigInt(found.ended),
    BigInt(id),
    JSON.stringify({ process: id, copied }),
  );
}
