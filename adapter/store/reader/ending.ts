import type { Ending } from '../../../protocol/timeline';
import { isFault } from '../../common/signals';
import { EventFields } from './eventPlace';
import type { RunFile } from './runFile';

/** Events looked at, the last ones: what ends a run stands near its end. */
const MOST_LOOKED_AT = 5_000;

/** A process that survived what a debugger saw of it has ended with 0. */
const ENDS = `
  WITH told AS (
    SELECT id, time, name, value, data,
      coalesce(process, CASE WHEN json_valid(data) THEN json_extract(data, '$.process') END) AS process,
      CASE WHEN json_valid(data) THEN json_extract(data, '$.signal') END AS signal
    FROM (SELECT * FROM events ORDER BY time DESC, id DESC LIMIT ${MOST_LOOKED_AT})
    WHERE name IN ('crash', 'crashed', 'exited', 'terminated', 'vanished')
  )
  SELECT told.name, told.signal, told.value, told.data,
    EXISTS (SELECT 1 FROM processes other WHERE other.pid = one.parent_pid AND other.id <> one.id) AS child
  FROM told LEFT JOIN processes one ON one.id = told.process
  WHERE told.name IN ('exited', 'terminated') OR one.exit_code IS NOT 0
  ORDER BY told.time, told.id`;

interface End {
  name: 'crash' | 'crashed' | 'exited' | 'terminated' | 'vanished';
  signal: unknown;
  value: number | null;
  data: string | null;
  child: number;
}

/** By what a session ends an app when it is asked to: codes and signals. */
const SIGNALLED = new Set([2, 9, 15].map((signal) => 128 + signal));
const ASKED = new Set<unknown>(['SIGINT', 'SIGTERM', 'SIGKILL']);

/** What ended a run that is over, where it did not end well. */
export function endingOf(file: RunFile): Ending | undefined {
  const told = file.sql(ENDS).all() as End[];
  const stop = told.findIndex(({ name }) => name === 'terminated');
  const ends = told.filter(
    ({ name, signal }, index) =>
      (name === 'crash' || name === 'crashed') && !(stop >= 0 && index > stop && ASKED.has(signal)),
  );
  const exit = told.findLast(({ name }) => name === 'exited');
  const exited = exit && exitOf(file, exit);
  if (ends.length === 0 && stop >= 0)
    return { how: 'stopped', ...(exited?.code !== undefined && !SIGNALLED.has(exited.code) && { code: exited.code }) };
  // One that is copied again later, or goes on being taken over, may have come to its end by then.
  const vanished = exit === undefined && told.some(({ name }) => name === 'vanished');
  if (ends.length === 0) return vanished ? { how: 'vanished' } : exited;
  // One that ended with 0 survived what was told of it before.
  const survived = exit !== undefined && codeOf(file, exit) === 0 ? told.indexOf(exit) : -1;
  const own = ends.filter((end) => end.child === 0 && told.indexOf(end) > survived);
  if (own.length === 0 && vanished) return { how: 'vanished' };
  const signal = (own.length > 0 ? own : ends).map((end) => end.signal).findLast((one) => typeof one === 'string');
  const how = signal === undefined || isFault(signal) ? 'crashed' : signal === 'SIGKILL' ? 'killed' : 'ended';
  return { how, ...(signal !== undefined && { signal }), ...(own.length === 0 && { child: true }) };
}

function exitOf(file: RunFile, exit: End): Ending | undefined {
  const code = codeOf(file, exit);
  return code !== undefined && code !== 0 ? { how: 'exited', code } : undefined;
}

/** Seen by the session, or told by the app where there was none. */
function codeOf(file: RunFile, { value, data }: End): number | undefined {
  return new EventFields(file, value, data).number('code');
}

/** How many events of each name the run has. */
export function eventCounts(file: RunFile): ReadonlyMap<string, number> {
  const rows = file.sql('SELECT name, count(*) AS times FROM events GROUP BY name').all();
  return new Map((rows as { name: string; times: number }[]).map(({ name, times }) => [name, times]));
}

/** Whether something went on behind the end of its recording: a mark says so where that ends. */
export function endedEarly(file: RunFile): boolean {
  const last = `SELECT name FROM events ORDER BY time DESC, id DESC LIMIT ${MOST_LOOKED_AT}`;
  return file.sql(`SELECT EXISTS (SELECT 1 FROM (${last}) WHERE name = 'mark')`).pluck().get() === 1;
}
