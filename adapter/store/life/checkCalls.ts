import { CallStatus } from '../../../protocol/spool';
import { UserError } from '../../common/errors';
import { callName } from '../callNames';
import { CALLS, chunkOf, LONG, PARTS, type Chunk } from '../chunks/chunk';
import { CallReader, type ZoneRow } from '../chunks/callReader';
import { longestCheck } from '../chunks/longestCalls';
import type { Connection } from '../database';

export interface CheckedCalls {
  readable: number;
  /** What is wrong, in words, and the calls of which it is true. */
  problems: Map<string, number[]>;
  /** Blocks that cannot be read. */
  damaged: number[];
}

/** Everything that stands in the blocks of calls is looked at once. `small` gets every value that stands there, and whose it is. */
export function checkCalls(db: Connection, small: (bytes: Buffer, call: number) => void): CheckedCalls {
  const found: CheckedCalls = { readable: 0, problems: new Map(), damaged: [] };
  const problem = (what: string, call: number): void => {
    const calls = found.problems.get(what);
    if (calls === undefined) found.problems.set(what, [call]);
    else calls.push(call);
  };
  const reader = new CallReader(db);
  const all = (sql: string): Set<number> => new Set(db.prepare(sql).pluck().all() as number[]);
  const functions = all('SELECT id FROM functions');
  const tasks = all('SELECT id FROM tasks');
  const valueOf = db.prepare('SELECT 1 FROM "values" WHERE id = ?');
  const isLong = db.prepare('SELECT 1 FROM long_calls WHERE size = ? AND start = ? AND id = ? AND end = ?');
  const isFailed = db.prepare('SELECT 1 FROM failed_calls WHERE id = ? AND start = ? AND end = ? AND function = ?');
  const hasFunction = db.prepare('SELECT 1 FROM function_chunks WHERE function = ? AND chunk = ?');
  const isLongest = longestCheck(db);
  const present = presence(reader, found.damaged);
  const zones = new Map(reader.zones().map((zone) => [zone.id, zone]));
  for (const id of present.keys()) {
    const chunk = reader.chunk(id)!;
    const zone = zones.get(id);
    const unfound = zone === undefined || !sameZone(zone, chunk) || !isLongest(chunk);
    const called = new Set<number>();
    for (let slot = 0; slot < chunk.length; slot++) {
      if (!chunk.isPresent(slot)) continue;
      const call = chunk.base + slot;
      found.readable++;
      parts(chunk, slot, call);
      if (!chunk.isStarted(slot)) continue;
      const [parent, start, end] = [chunk.parent[slot]!, chunk.start[slot]!, chunk.end[slot]!];
      const func = chunk.func[slot]!;
      const status = chunk.statusOf(slot);
      if (parent !== 0 && !has(present, parent)) problem('calls below a call that is not there', call);
      if (!functions.has(func)) problem('calls of a function that is not there', call);
      if (!tasks.has(chunk.task[slot]!)) problem('calls on a task that is not there', call);
      if (status !== null && status > CallStatus.Interrupted) problem('calls with an unknown outcome', call);
      let lost = unfound;
      if (chunk.isEnded(slot)) {
        if (end < start) problem('calls that end before they start', call);
        const size = Math.floor(Math.log2(Math.max(0, end - start) + 1));
        lost ||= end - start >= LONG && isLong.get(size, start, call, end) === undefined;
        lost ||= status === 1 && isFailed.get(call, start, end, func) === undefined;
      }
      if (!called.has(func)) {
        called.add(func);
        lost ||= hasFunction.get(func, id) === undefined;
      }
      if (lost) problem('calls that no search by time finds', call);
    }
  }
  return found;

  function parts(chunk: Chunk, slot: number, call: number): void {
    for (let part = 0; part < PARTS.length; part++) {
      const value = chunk.part(slot, part);
      if (typeof value === 'number') {
        if (valueOf.get(value) === undefined) problem(`calls whose ${wordsFor(PARTS[part]!)} is not there`, call);
      } else if (value !== undefined) small(value.bytes.subarray(value.from, value.to), call);
    }
  }
}

function wordsFor(column: string): string {
  return { args: 'value of the arguments', result: 'result' }[column] ?? column.replace('_', ' ');
}

/** Which calls there are: a bit each, by block. */
function presence(reader: CallReader, damaged: number[]): Map<number, Uint8Array> {
  const present = new Map<number, Uint8Array>();
  for (const id of reader.ids()) {
    try {
      const chunk = reader.chunk(id);
      if (chunk === undefined) {
        damaged.push(id);
        continue;
      }
      // Its values are unpacked on their own.
      chunk.hasPart(0, 0);
      const bits = new Uint8Array(CALLS / 8);
      for (let slot = 0; slot < chunk.length; slot++) if (chunk.isPresent(slot)) bits[slot >> 3]! |= 1 << (slot & 7);
      present.set(id, bits);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      damaged.push(id);
    }
  }
  return present;
}

function has(present: ReadonlyMap<number, Uint8Array>, call: number): boolean {
  const slot = call % CALLS;
  return ((present.get(chunkOf(call))?.[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0;
}

export function sameZone(zone: ZoneRow, chunk: Chunk): boolean {
  const now = chunk.zone();
  return (Object.keys(now) as (keyof typeof now)[]).every((key) => zone[key] === now[key]);
}

export function exampleOf(calls: readonly number[], most: number): string[] {
  return calls.slice(0, most).map(callName);
}
