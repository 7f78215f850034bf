import { LONG, type Chunk } from './chunk';
import type { CallReader, ZoneRow } from './callReader';
import { StoredCall } from './rows';

export type CallOrder = 'start' | '-start' | 'duration' | '-duration';

/** Calls that are looked for. Times on the file's own scale. */
export interface Selection {
  /** Earliest and latest start. */
  from: number;
  to: number;
  /** No end before this. */
  until?: number;
  /** Shortest and longest time between start and end; one that runs has any. */
  minimum: number;
  maximum?: number;
  failed?: boolean;
  functions?: ReadonlySet<number> | undefined;
  /** Only in these blocks. */
  chunks?: ReadonlySet<number> | undefined;
}

export interface Place {
  key: number;
  id: number;
}

/** Calls of a block that are better read one by one. */
const FEW = 3;

/**
 * The calls of a selection that come next behind `after`, at most so many. Blocks are looked at in the order of the best that they can have,
 * until no other block can have a better one, or so many milliseconds have gone by. Calls that run have no duration, so orders by it leave them out.
 */
export function select(
  reader: CallReader,
  selection: Selection,
  order: CallOrder,
  after: Place,
  limit: number,
  milliseconds = Infinity,
): StoredCall[] {
  if (limit <= 0) return [];
  const until = performance.now() + milliseconds;
  const way = order === '-duration' && areShort(selection) ? SHORT_FIRST : WAYS[order];
  const chunks = selection.functions === undefined ? undefined : reader.chunksOf(selection.functions);
  let found: { key: number; id: number; call: StoredCall | undefined }[] = [];
  const compare = (one: Place, other: Place) => way.sign * (one.key - other.key || one.id - other.id);
  const from = order === 'start' ? Math.max(selection.from, after.key) : selection.from;
  const to = order === '-start' ? Math.min(selection.to, after.key) : selection.to;
  const possible = (zone: ZoneRow): boolean => mayHave(zone, selection, way.byDuration);
  for (const zone of reader.zonesBy(way, from, to, possible)) {
    // From here on all are too short.
    if (way.byDuration && way.sign < 0 && way.best(zone) < selection.minimum) break;
    if (!possible(zone) || chunks?.has(zone.id) === false) continue;
    if (selection.chunks?.has(zone.id) === false) continue;
    if (way.sign * (way.worst(zone) - after.key) < 0) continue;
    if (found.length >= limit && way.sign * (way.best(zone) - found[limit - 1]!.key) > 0) break;
    if (performance.now() > until) break;
    const chunk = reader.chunk(zone.id);
    if (chunk === undefined) continue;
    const before = found.length;
    for (let slot = 0; slot < chunk.length; slot++) {
      if (!fits(chunk, slot, selection, way.byDuration)) continue;
      const key = way.byDuration ? chunk.end[slot]! - chunk.start[slot]! : chunk.start[slot]!;
      const id = chunk.base + slot;
      const one = { key, id, call: undefined };
      // Who is behind all of a full page is not on it.
      if (before >= limit && compare(one, found[limit - 1]!) > 0) continue;
      if (compare(one, after) > 0) found.push(one);
    }
    if (found.length === before) continue;
    const fresh = found.slice(before);
    // In order once the page is full: then its last one says who else can be on it.
    if (found.length >= limit) {
      found.sort(compare);
      found = found.slice(0, limit);
    }
    // Only what is still among the best becomes a call, and none of them keeps the block.
    const few = fresh.length < FEW;
    for (const one of fresh.length < found.length ? fresh : found)
      one.call ??= new StoredCall(reader, chunk.head(one.id - chunk.base, few));
  }
  found.sort(compare);
  return found.map(({ call }) => call!);
}

/** How many calls of the selection there are. */
export function count(reader: CallReader, selection: Selection): number {
  const { from, to, until = -Infinity, minimum, maximum = Infinity, failed, functions } = selection;
  const chunks = functions === undefined ? undefined : reader.chunksOf(functions);
  const plain = minimum <= 0 && maximum === Infinity && failed !== true && functions === undefined;
  let sum = 0;
  for (const zone of reader.zonesIn(from, to)) {
    if (!mayHave(zone, selection, false) || chunks?.has(zone.id) === false) continue;
    if (plain && zone.first! >= Math.max(from, until) && zone.last! <= to) sum += zone.calls;
    else {
      const chunk = reader.chunk(zone.id);
      for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++)
        if (fits(chunk, slot, selection, false)) sum++;
    }
  }
  return sum;
}

function mayHave(zone: ZoneRow, selection: Selection, byDuration: boolean): boolean {
  const { from, to, minimum, failed } = selection;
  if (zone.first! > to || zone.last! < from) return false;
  if (failed === true && zone.errors === 0) return false;
  const longest = areShort(selection) ? zone.longestShort : zone.longest;
  return (longest !== null && longest >= minimum) || (!byDuration && zone.open > 0);
}

/** Whether only calls that are no long ones are looked for. */
function areShort({ maximum }: Selection): boolean {
  return maximum !== undefined && maximum < LONG;
}

function fits(chunk: Chunk, slot: number, selection: Selection, byDuration: boolean): boolean {
  if (!chunk.isStarted(slot)) return false;
  const start = chunk.start[slot]!;
  if (start < selection.from || start > selection.to) return false;
  if (chunk.isEnded(slot)) {
    const end = chunk.end[slot]!;
    if (end - start < selection.minimum || end < (selection.until ?? -Infinity)) return false;
    if (end - start > (selection.maximum ?? Infinity)) return false;
  } else if (byDuration || selection.maximum !== undefined) return false;
  if (selection.failed === true && chunk.statusOf(slot) !== 1) return false;
  return selection.functions?.has(chunk.func[slot]!) ?? true;
}

/** What a block can have at best and at worst in an order. */
export interface Way {
  sign: 1 | -1;
  byDuration: boolean;
  best: (zone: ZoneRow) => number;
  worst: (zone: ZoneRow) => number;
}

const WAYS: Record<CallOrder, Way> = {
  start: { sign: 1, byDuration: false, best: (zone) => zone.first!, worst: (zone) => zone.last! },
  '-start': { sign: -1, byDuration: false, best: (zone) => zone.last!, worst: (zone) => zone.first! },
  duration: { sign: 1, byDuration: true, best: (zone) => zone.shortest ?? 0, worst: (zone) => zone.longest ?? 0 },
  '-duration': { sign: -1, byDuration: true, best: (zone) => zone.longest ?? 0, worst: (zone) => zone.shortest ?? 0 },
};

/** By falling duration, of calls that are no long ones. */
const SHORT_FIRST: Way = { ...WAYS['-duration'], best: (zone) => zone.longestShort ?? 0 };

/** The order in which blocks are kept. */
export const BY_START = WAYS.start;

export function sortZones(zones: readonly ZoneRow[], way: Way): readonly ZoneRow[] {
  const { sign, best } = way;
  return way === BY_START ? zones : [...zones].sort((one, other) => sign * (best(one) - best(other)));
}
