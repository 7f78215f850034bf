import type { Lane, Overview } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import { EVERY_TASK } from '../tiles';
import { taskNames } from './apart';
import { eachCount } from './density';
import { eventLane, eventsBetween, lastEvent } from './runEvents';
import type { RunFile } from './runFile';

const MOST_BUCKETS = 10_000;
const MOST_LANES = 5_000;

export function overview(file: RunFile, count: number): Overview {
  // Its tables are made a moment before its run is written down; until then nobody can say whether it is live.
  if (file.row() === undefined) throw new UserError(`The run file ${file.path} is empty.`);
  const run = file.summary();
  const end = Math.max(run.duration, lastEvent(file));
  const ofCalls = lanes(file);
  const ofEvents = eventLane(file, ofCalls);
  return {
    run,
    lanes: ofEvents === undefined ? ofCalls : [...ofCalls, ofEvents],
    end,
    buckets: withEvents(file, buckets(file, Math.max(1, Math.min(Math.floor(count), MOST_BUCKETS)), end), end),
  };
}

/** Crashes are errors, and while a program stands still it is held. Where there are no calls the rest is shown in their place. */
function withEvents(file: RunFile, counted: Overview['buckets'], end: number): Overview['buckets'] {
  const place = (time: number): number =>
    Math.max(0, Math.min(counted.length - 1, Math.floor((time / Math.max(1, end)) * counted.length)));
  const empty = file.row()?.calls === 0n;
  for (const { start, end: until, state, holds } of eventsBetween(file, { from: 0, to: end }).events) {
    const bucket = counted[place(start)]!;
    if (empty) bucket.calls++;
    if (state === 'error') bucket.errors++;
    if (holds.length > 0)
      for (let index = place(start); index <= place(until ?? end); index++) counted[index]!.held = true;
  }
  return counted;
}

function lanes(file: RunFile): Lane[] {
  const zero = file.zero();
  const rows = file.db
    .prepare('SELECT id, parent, depth, first, last FROM tasks WHERE first IS NOT NULL ORDER BY first, id LIMIT ?')
    .all(MOST_LANES) as {
    id: number;
    parent: number | null;
    depth: number;
    first: number;
    last: number;
  }[];
  const names = taskNames(file).lane;
  return rows.map((row) => ({
    task: row.id,
    name: names.get(row.id) ?? 'task',
    ...(row.parent === null ? {} : { parent: row.parent }),
    depth: row.depth,
    first: row.first - zero,
    last: row.last - zero,
  }));
}

function buckets(file: RunFile, count: number, end: number): Overview['buckets'] {
  const result = Array.from({ length: count }, () => ({ calls: 0, errors: 0, held: false }));
  if (end <= 0) end = 1;
  const zero = file.zero();
  const place = (time: number): number => Math.max(0, Math.min(count - 1, Math.floor(((time - zero) / end) * count)));
  eachCount(file, EVERY_TASK, { from: zero, to: zero + end, width: end / count / 2 }, (time, calls, errors) => {
    const into = result[place(time)]!;
    into.calls += calls;
    into.errors += errors;
  });
  const holds = file.db.prepare('SELECT start, end FROM holds').all() as { start: number; end: number | null }[];
  for (const hold of holds) {
    for (let index = place(hold.start); index <= place(hold.end ?? zero + end); index++) result[index]!.held = true;
  }
  return result;
}
