import type { ReaderMethods } from '../../../protocol/timeline';
import { EVERY_TASK, levelFor } from '../tiles';
import type { RunFile } from './runFile';

const MOST_BUCKETS = 4_000;
const MOST_TASKS = 200;

/** Blocks that are looked at for tasks of too few calls to have tiles, at most: a few milliseconds. */
const MOST_BLOCKS = 128;

/** How many calls began in each part of a range, for some tasks. Left out is who has none, and small tasks that lie in too many blocks. */
export function density(file: RunFile, params: ReaderMethods['density']['params']): ReaderMethods['density']['result'] {
  const zero = file.zero();
  const [from, to] = [params.from + zero, params.to + zero];
  const count = Math.max(1, Math.min(Math.floor(params.buckets), MOST_BUCKETS));
  const width = Math.max(1, to - from) / count;
  const place = (time: number): number => Math.floor((time - from) / width);
  const lanes = new Map(
    params.tasks
      .slice(0, MOST_TASKS)
      .map((task) => [task, { task, calls: zeros(count), errors: zeros(count), any: false }]),
  );
  const tell = (task: number, time: number, calls: number, errors: number): void => {
    const lane = lanes.get(task);
    const at = place(time);
    if (lane === undefined || at < 0 || at >= count) return;
    lane.calls[at]! += calls;
    lane.errors[at]! += errors;
    lane.any = true;
  };
  const level = levelFor(width);
  if (level === undefined) eachCall(file, from, to, tell);
  else {
    const [large, small] = [[] as number[], [] as number[]];
    for (const task of lanes.keys()) (file.tiles.has(task) ? large : small).push(task);
    for (const task of large)
      file.tiles.each(task, level, from, to, (time, calls, errors) => tell(task, time, calls, errors));
    eachSmall(file, small, from, to, tell);
  }
  return { lanes: [...lanes.values()].filter(({ any }) => any).map(({ any: _any, ...lane }) => lane) };
}

const zeros = (count: number): number[] => new Array<number>(count).fill(0);

/** Counts of calls at moments that are at most `width` apart: tiles, or where they are too wide the calls themselves. */
export function eachCount(
  file: RunFile,
  task: number,
  { from, to, width }: { from: number; to: number; width: number },
  tell: (time: number, calls: number, errors: number) => void,
): void {
  const level = levelFor(width);
  if (level !== undefined) return file.tiles.each(task, level, from, to, tell);
  eachCall(file, from, to, (of, time, calls, errors) => {
    if (task === EVERY_TASK || of === task) tell(time, calls, errors);
  });
}

type Tell = (task: number, time: number, calls: number, errors: number) => void;

/** Tasks of few calls, one by one: first those that lie in the fewest blocks. */
function eachSmall(file: RunFile, tasks: readonly number[], from: number, to: number, tell: Tell): void {
  const lifetime = file.sql('SELECT first, last FROM tasks WHERE id = ?');
  const placed = tasks.flatMap((task) => {
    const row = lifetime.get(task) as { first: number | null; last: number | null } | undefined;
    if (row?.first == null || row.last === null) return [];
    const zones = file.calls.zonesIn(Math.max(from, row.first), Math.min(to, row.last));
    return zones.length <= MOST_BLOCKS ? [{ task, zones }] : [];
  });
  placed.sort((one, other) => one.zones.length - other.zones.length);
  const told = new Set<number>();
  const blocks = new Set<number>();
  for (const { task, zones } of placed) {
    const more = zones.filter(({ id }) => !blocks.has(id));
    if (blocks.size + more.length > MOST_BLOCKS) break;
    for (const { id } of more) blocks.add(id);
    told.add(task);
  }
  for (const block of blocks)
    inBlock(file, block, from, to, (task, time, calls, errors) => {
      if (told.has(task)) tell(task, time, calls, errors);
    });
}

function eachCall(file: RunFile, from: number, to: number, tell: Tell): void {
  for (const zone of file.calls.zonesIn(from, to)) if (zone.last! >= from) inBlock(file, zone.id, from, to, tell);
}

function inBlock(file: RunFile, block: number, from: number, to: number, tell: Tell): void {
  const chunk = file.calls.chunk(block);
  for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++) {
    const start = chunk.start[slot]!;
    if (chunk.isStarted(slot) && start >= from && start <= to)
      tell(chunk.task[slot]!, start, 1, chunk.statusOf(slot) === 1 ? 1 : 0);
  }
}
