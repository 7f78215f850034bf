import type { Connection } from '../database';
import { CALLS, Chunk, chunkOf, type Stretch, type Zone } from './chunk';
import { oneHead, unpackHeads, type Head } from './heads';
import { readLongest, type LongestCalls } from './longestCalls';
import { readable } from './pack';
import { BY_START, sortZones, type Way } from './select';
import { placeOf, StoredCall } from './rows';

/** Bytes of unpacked blocks that are kept: more blocks than the widest picture of short calls needs. */
const KEPT = 12 * 1024 * 1024;
/** Blocks that are unpacked, or the values of one, between two looks at how much all of them take. */
const BETWEEN = 32;

/** What is known of a block without unpacking it. */
export interface ZoneRow extends Zone {
  id: number;
  version: number;
}

/** An unpacked block, its version, and in which picture of the file it was looked up last. */
interface Kept {
  chunk: Chunk;
  version: number;
  checked: number;
}

/** Blocks in the order of their first starts. */
interface Ordered {
  zones: readonly ZoneRow[];
  /** The latest start of a block and of all before it. */
  latest: Float64Array;
  /** How many calls the blocks before a block have. */
  before: Float64Array;
  open: readonly ZoneRow[];
  /** In other orders, once somebody asked for these. */
  sorted: Map<Way, readonly ZoneRow[]>;
  picture: number;
}

const ZONE = 'id, version, calls, open, errors, first, last, shortest, longest, longest_short AS longestShort';

/** Calls of one run file, as they are now: what its writer commits is seen with the next question. */
export class CallReader {
  private readonly one;
  private readonly bodies;
  private readonly fresh;
  private readonly versionOf;
  private readonly having;
  private readonly dataVersion;
  private readonly named;
  private readonly chunks = new Map<number, Kept>();
  private last: Kept | undefined;
  /** The heads of the block of which a single call was asked for last: with the second one they are read as a whole. */
  private single: { id: number; bytes: Buffer; version: number; checked: number } | undefined;
  private readonly known = new Map<number, ZoneRow>();
  private ordered: Ordered | undefined;
  /** Grows whenever the file may be another one than before. */
  private picture = 0;
  private held = false;
  private unpacked = 0;
  private seen = -1;
  private told = { picture: -1, state: -1 };
  private latest = 0;

  constructor(private readonly db: Connection) {
    this.one = db.prepare<[number], { heads: Buffer; version: number }>(
      'SELECT heads, version FROM chunks WHERE id = ?',
    );
    this.bodies = db.prepare<[number], Buffer | null>('SELECT bodies FROM chunks WHERE id = ?').pluck();
    this.fresh = db.prepare<[number], ZoneRow>(`SELECT ${ZONE} FROM chunks WHERE version > ?`);
    this.having = db
      .prepare<[string], number>(
        'SELECT DISTINCT chunk FROM function_chunks WHERE function IN (SELECT value FROM json_each(?))',
      )
      .pluck();
    this.named = db.prepare<[number], LongestCalls>('SELECT rest, calls FROM longest_calls WHERE chunk = ?');
    this.dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.versionOf = db.prepare<[number], number>('SELECT version FROM chunks WHERE id = ?').pluck();
  }

  /** While a transaction of the connection's own goes on the file stays as it is, and is not asked whether it did. */
  hold(held: boolean): void {
    this.held = held;
    this.picture++;
  }

  /** Every block, in the order of their first starts. */
  zones(): readonly ZoneRow[] {
    return this.current().zones;
  }

  /** How many calls they have. */
  count(): number {
    return this.current().before.at(-1)!;
  }

  /** Those that have a call that runs. */
  openZones(): readonly ZoneRow[] {
    return this.current().open;
  }

  /** Those that can have a call that starts within the range, by their first starts. */
  zonesIn(from: number, to: number): readonly ZoneRow[] {
    return this.zonesBy(BY_START, from, to);
  }

  /** How many calls start within the range in blocks of which all do, and the other blocks that can have some. */
  countIn(from: number, to: number): { calls: number; partly: readonly ZoneRow[] } {
    const { zones, latest, before } = this.current();
    const low = firstWhere(zones.length, (index) => latest[index]! >= from);
    const high = firstWhere(zones.length, (index) => zones[index]!.first! > to);
    const begin = firstWhere(zones.length, (index) => zones[index]!.first! >= from);
    const end = firstWhere(zones.length, (index) => latest[index]! > to);
    if (begin >= end) return { calls: 0, partly: zones.slice(low, high) };
    return { calls: before[end]! - before[begin]!, partly: [...zones.slice(low, begin), ...zones.slice(end, high)] };
  }

  /** Those that can have a call that starts within the range, the one with the best call in this order first; some that `fits` refuses are left out. */
  zonesBy(way: Way, from: number, to: number, fits: (zone: ZoneRow) => boolean = () => true): readonly ZoneRow[] {
    const { zones, latest, sorted } = this.current();
    const low = firstWhere(zones.length, (index) => latest[index]! >= from);
    const high = firstWhere(zones.length, (index) => zones[index]!.first! > to);
    if (low === 0 && high === zones.length && way === BY_START) return zones;
    // To sort some of many costs less than to pass over the others.
    if (way === BY_START) return zones.slice(low, high);
    if (high - low < zones.length / 8) return sortZones(zones.slice(low, high).filter(fits), way);
    let all = sorted.get(way);
    if (all === undefined) sorted.set(way, (all = sortZones(zones, way)));
    return all;
  }

  /** Tells one state of the file from another, where somebody else writes it. */
  state(): number | undefined {
    if (!this.db.readonly) return undefined;
    if (!this.held || this.told.picture !== this.picture)
      this.told = { picture: this.picture, state: this.dataVersion.get()! };
    return this.told.state;
  }

  private current(): Ordered {
    if (!this.held || this.ordered === undefined || this.ordered.picture !== this.picture) this.refresh();
    return (this.ordered ??= order([...this.known.values()], this.picture));
  }

  private refresh(): void {
    const now = this.state();
    // What this very connection writes tells nothing.
    if (now === undefined || now !== this.seen) {
      this.seen = now ?? -1;
      for (const zone of this.fresh.all(this.latest)) {
        this.known.set(zone.id, zone);
        this.latest = Math.max(this.latest, zone.version);
        this.ordered = undefined;
      }
    }
    if (this.ordered !== undefined) this.ordered.picture = this.picture;
  }

  /** Blocks that have calls of one of these functions. */
  chunksOf(functions: ReadonlySet<number>): ReadonlySet<number> {
    return new Set(this.having.all(JSON.stringify([...functions])));
  }

  /** Every block, also those of which no call has a start yet. */
  ids(): number[] {
    return this.db.prepare('SELECT id FROM chunks ORDER BY id').pluck().all() as number[];
  }

  /** Unpacked, as it is in the file now. Throws a `UserError` when it is damaged. */
  chunk(id: number): Chunk | undefined {
    // The values of a call, and of its neighbours, are asked for one by one.
    if (this.held && this.last?.chunk.id === id && this.last.checked === this.picture) return this.last.chunk;
    const kept = this.chunks.get(id);
    if (kept !== undefined && this.isCurrent(id, kept)) {
      this.chunks.delete(id);
      this.chunks.set(id, kept);
      this.last = kept;
      return kept.chunk;
    }
    const heads = this.heads(id);
    if (heads === undefined) return undefined;
    const chunk = Chunk.from(id, heads.bytes, () => {
      this.trim();
      return this.bodies.get(id) ?? null;
    });
    this.last = { chunk, version: heads.version, checked: this.picture };
    this.chunks.delete(id);
    this.chunks.set(id, this.last);
    this.trim();
    return chunk;
  }

  private heads(id: number): { bytes: Buffer; version: number } | undefined {
    const { single } = this;
    if (single?.id === id) {
      this.single = undefined;
      if (this.isCurrent(id, single)) return single;
    }
    const row = this.one.get(id);
    return row && { bytes: readable(() => unpackHeads(row.heads)), version: row.version };
  }

  private isCurrent(id: number, kept: { version: number; checked: number }): boolean {
    if (this.held && kept.checked === this.picture) return true;
    kept.checked = this.picture;
    return kept.version === this.versionOf.get(id);
  }

  /** Blocks grow when a value of theirs is looked at, so all are measured, after every few that are new or have grown. */
  private trim(): void {
    if (++this.unpacked % BETWEEN !== 0) return;
    let bytes = 0;
    for (const { chunk } of this.chunks.values()) bytes += chunk.memory;
    for (const [id, { chunk }] of this.chunks) {
      if (bytes <= KEPT || this.chunks.size === 1) break;
      this.chunks.delete(id);
      bytes -= chunk.memory;
    }
  }

  /**
   * Every call of a block that takes so long, long ones left out, and maybe shorter ones, without unpacking it; nothing where that cannot be told.
   * Throws a `UserError` when they are damaged.
   */
  longest(id: number, minimum: number): Head[] | undefined {
    const row = this.named.get(id);
    return row !== undefined && row.rest < minimum ? readLongest(id * CALLS, row.calls) : undefined;
  }

  /** A call whose start is known. */
  get(id: number): StoredCall | undefined {
    const block = chunkOf(id);
    const slot = id - block * CALLS;
    if (this.chunks.has(block) || this.single?.id === block) {
      const chunk = this.chunk(block);
      return chunk?.isStarted(slot) === true ? new StoredCall(this, chunk.head(slot)) : undefined;
    }
    const row = this.one.get(block);
    if (row === undefined) return undefined;
    return readable(() => {
      const bytes = unpackHeads(row.heads);
      this.single = { id: block, bytes, version: row.version, checked: this.picture };
      const head = oneHead(bytes, block * CALLS, slot);
      return head && new StoredCall(this, head);
    });
  }

  /** Whether any frame of the call was read. */
  has(id: number): boolean {
    const chunk = this.chunk(chunkOf(id));
    return chunk !== undefined && chunk.isPresent(id - chunk.base);
  }

  /** The bytes of a value that stands in a block, by its address below 0. */
  bytes(address: number): Buffer | undefined {
    const place = placeOf(address);
    const found = place === undefined ? undefined : this.part(place.call, place.part);
    return found === undefined || typeof found === 'number' ? undefined : found.bytes.subarray(found.from, found.to);
  }

  /** A value of a call: its row in the table of values, or where its bytes are; nothing when there is none. */
  part(call: number, part: number): number | Stretch | undefined {
    const chunk = this.chunk(chunkOf(call));
    return chunk?.part(call - chunk.base, part);
  }

  /** Every call whose start is known, block by block. */
  *all(): Generator<StoredCall> {
    for (const zone of this.zones()) yield* this.inChunk(zone.id);
  }

  *inChunk(id: number): Generator<StoredCall> {
    const chunk = this.chunk(id);
    for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++)
      if (chunk.isStarted(slot)) yield new StoredCall(this, chunk.head(slot));
  }
}

function order(all: readonly ZoneRow[], picture: number): Ordered {
  const zones = all
    .filter((zone) => zone.first !== null)
    .sort((one, other) => one.first! - other.first! || one.id - other.id);
  const latest = new Float64Array(zones.length);
  const before = new Float64Array(zones.length + 1);
  let last = -Infinity;
  for (const [index, zone] of zones.entries()) {
    latest[index] = last = Math.max(last, zone.last!);
    before[index + 1] = before[index]! + zone.calls;
  }
  return { zones, latest, before, open: zones.filter(({ open }) => open > 0), sorted: new Map(), picture };
}

/** The first index for which this holds, which holds for all behind it. */
function firstWhere(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
