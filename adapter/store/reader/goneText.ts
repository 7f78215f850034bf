import { endedBy } from '../../common/signals';
import { globalId } from '../callNames';
import type { EventFields } from './eventPlace';
import type { RunFile } from './runFile';

/** `Process 4711 (order) crashed`: how a process was lost, as far as its parent was told. */
export function goneText(file: RunFile, name: 'crashed' | 'lost' | 'vanished', fields: EventFields): string {
  const [index, signal] = [fields.number('process'), fields.text('signal')];
  const process = index === undefined ? undefined : file.sql(PROCESS).get(index > 1 ? globalId(index, 1) : null, index);
  const who = process === undefined ? 'A process' : named(process as { pid: number; name: string });
  if (name === 'lost' && !(index !== undefined && crashed(file).has(index)))
    return `${who} ended by os._exit, as workers of multiprocessing do, or was killed`;
  if (name === 'vanished') return `${who} recorded no end: it was killed, ${fields.flag('copied') ? COPIED : AT_ONCE}`;
  return `${who} ${signal === undefined ? 'crashed' : endedBy(signal)}`;
}

const AT_ONCE = 'ended at once, as by os._exit, or became another program';
const COPIED = `${AT_ONCE}, or still ran when this was copied`;

/** Processes that said themselves how they crashed. */
function crashed(file: RunFile): ReadonlySet<number> {
  const sql = "SELECT DISTINCT process FROM events WHERE name = 'crash' AND process IS NOT NULL";
  return file.once(sql, () => new Set(file.sql(sql).pluck().all() as number[]));
}

/** A child process goes by the name of its lane, where it has one: it has the program's own name otherwise. */
const PROCESS = `SELECT pid, coalesce((SELECT nullif(name, '') FROM tasks WHERE id = ?), name) AS name FROM processes WHERE id = ?`;

function named({ pid, name }: { pid: number; name: string }): string {
  return `Process ${pid}${name === '' || name === `Process ${pid}` ? '' : ` (${name})`}`;
}
