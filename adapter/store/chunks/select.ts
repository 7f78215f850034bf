import { UserError } from '../../common/errors';
import { isDamage } from '../database';
import { LONG, type Chunk } from './chunk';
import type { CallReader, ZoneRow } from './callReader';
import type { Head } from './heads';
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
  /** Hears of blocks that are damaged, which are passed over; without it they are an error. */
  onLost?: (zone: ZoneRow) => void;
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
  const { sign, byDuration } = way;
  const chunks = selection.functions === undefined ? undefined : reader.chunksOf(selection.functions);
  let found: Found[] = [];
  /** The last of all that are found. */
  let last: Place = { key: -sign * Infinity, id: -sign * Infinity };
  const take = (key: number, id: number, head: Head | undefined): void => {
    const one = { key, id };
    const isLast = compare(one, last, sign) > 0;
    // Who is behind all of a full page is not on it.
    if ((isLast && found.length >= limit) || compare(one, after, sign) <= 0) return;
    found.push({ key, id, head, call: undefined });
    if (isLast) last = one;
  };
  const inOrder = (): Found[] => found.sort((one, other) => compare(one, other, sign));
  const from = order === 'start' ? Math.max(selection.from, after.key) : selection.from;
  const to = order === '-start' ? Math.min(selection.to, after.key) : selection.to;
  const possible = (zone: ZoneRow): boolean => mayHave(zone, selection, byDuration);
  for (const zone of reader.zonesBy(way, from, to, possible)) {
    // From here on all are too short.
    if (byDuration && sign < 0 && way.best(zone) < selection.minimum) break;
    if (!possible(zone) || chunks?.has(zone.id) === false) continue;
    if (selection.chunks?.has(zone.id) === false) continue;
    if (sign * (way.worst(zone) - after.key) < 0) continue;
    const isFull = found.length >= limit;
    if (isFull && sign * (way.best(zone) - last.key) > 0) break;
    if (performance.now() > until) break;
    const before = found.length;
    const least = isFull ? last.key : selection.minimum;
    const read = readBlock(reader, zone, way === SHORT_FIRST ? least : undefined, selection.onLost);
    if (read === undefined) continue;
    const { named, chunk } = read;
    for (const head of named ?? []) if (isAmong(head, selection)) take(head.end! - head.start, head.id, head);
    for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++) {
      if (!fits(chunk, slot, selection, byDuration)) continue;
      take(byDuration ? chunk.end[slot]! - chunk.start[slot]! : chunk.start[slot]!, chunk.base + slot, undefined);
    }
    if (found.length === before) continue;
    const fresh = found.slice(before);
    // In order once the page is full: then its last one says who else can be on it.
    if (found.length >= limit) {
      found = inOrder().slice(0, limit);
      last = found[limit - 1]!;
    }
    // Only what is still among the best becomes a call, and none of them keeps the block.
    const few = fresh.length < FEW;
    for (const one of fresh.length < found.length ? fresh : found)
      one.call ??= new StoredCall(reader, one.head ?? chunk!.head(one.id - chunk!.base, few));
  }
  return inOrder().map(({ call }) => call!);
}

interface Read {
  named?: readonly Head[] | undefined;
  chunk?: Chunk | undefined;
}

/** A block, or only its calls of `least` and more where these are named beside it; nothing where it is damaged, and that is told. */
function readBlock(
  reader: CallReader,
  zone: ZoneRow,
  least: number | undefined,
  onLost: ((zone: ZoneRow) => void) | undefined,
): Read | undefined {
  try {
    const named = least === undefined ? undefined : reader.longest(zone.id, least);
    if (named !== undefined) return { named };
    const chunk = reader.chunk(zone.id);
    // The index on blocks still tells of one whose row is gone.
    if (chunk === undefined) onLost?.(zone);
    return { chunk };
  } catch (error) {
    if (onLost === undefined || !(error instanceof UserError || isDamage(error))) throw error;
    onLost(zone);
    return undefined;
  }
}

/** One of the best so far; `head` where it was read without its block. */
interface Found extends Place {
  head: Head | undefined;
  call: StoredCall | undefined;
}

function compare(one: Place, other: Place, sign: number): number {
  return sign * (one.key - other.key || one.id - other.id);
}

/** How many calls of the selection there are. */
export function count(reader: CallReader, selection: Selection): number {
  const { from, to, until, minimum, maximum = Infinity, failed, functions } = selection;
  const chunks = functions === undefined ? undefined : reader.chunksOf(functions);
  const plain =
    minimum <= 0 && maximum === Infinity && until === undefined && failed !== true && functions === undefined;
  const { calls, partly } = plain ? reader.countIn(from, to) : { calls: 0, partly: reader.zonesIn(from, to) };
  let sum = calls;
  for (const zone of partly) {
    if (!mayHave(zone, selection, false) || chunks?.has(zone.id) === false) continue;
    const chunk = reader.chunk(zone.id);
    for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++)
      if (fits(chunk, slot, selection, false)) sum++;
  }
  return sum;
}

function mayHave(zone: ZoneRow, selection: Selection, byDuration: boolean): boolean {
  const { from, to, until, minimum, failed } = selection;
  if (zone.first! > to || zone.last! < from) return false;
  if (failed === true && zone.errors === 0) return false;
  const short = areShort(selection);
  const longest = short ? zone.longestShort : zone.longest;
  // What runs has no end before anything.
  if (until !== undefined && (short || zone.open === 0) && zone.last! + (longest ?? 0) < until) return false;
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

/** The same of a call that has ended, read alone. */
function isAmong({ start, end, status, func }: Head, selection: Selection): boolean {
  const { from, to, until = -Infinity, minimum, maximum = Infinity, failed, functions } = selection;
  const length = end! - start;
  if (start < from || start > to || end! < until || length < minimum || length > maximum) return false;
  return (failed !== true || status === 1) && functions?.has(func) !== false;
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
