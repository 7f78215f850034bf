import type { Connection } from '../database';
import { Chunk, chunkOf, type Zone } from './chunk';
import { sortZones, type CallOrder } from './select';
import { placeOf, StoredCall } from './rows';

/** Unpacked blocks kept: about 100 kB each. */
const KEPT = 64;

/** What is known of a block without unpacking it. */
export interface ZoneRow extends Zone {
  id: number;
  version: number;
}

const ZONE = 'id, version, calls, open, errors, first, last, shortest, longest';

/** Calls of one run file, as they are now: what its writer commits is seen with the next question. */
export class CallReader {
  private readonly one;
  private readonly bodies;
  private readonly fresh;
  private readonly versionOf;
  private readonly having;
  private readonly sorted = new Map<CallOrder, readonly ZoneRow[]>();
  private sortedFrom: readonly ZoneRow[] | undefined;
  private readonly chunks = new Map<number, { chunk: Chunk; version: number }>();
  private readonly known = new Map<number, ZoneRow>();
  private ordered: ZoneRow[] | undefined;
  private seen = -1;
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
    this.versionOf = db.prepare<[number], number>('SELECT version FROM chunks WHERE id = ?').pluck();
  }

  /** Every block, in the order of their first starts. */
  zones(): readonly ZoneRow[] {
    const now = this.db.pragma('data_version', { simple: true }) as number;
    // What this very connection wrote does not change that number.
    if (now !== this.seen || !this.db.readonly) {
      this.seen = now;
      for (const zone of this.fresh.all(this.latest)) {
        this.known.set(zone.id, zone);
        this.latest = Math.max(this.latest, zone.version);
        this.ordered = undefined;
      }
    }
    this.ordered ??= [...this.known.values()]
      .filter((zone) => zone.first !== null)
      .sort((one, other) => one.first! - other.first! || one.id - other.id);
    return this.ordered;
  }

  /** The blocks, the one with the best call in this order first. */
  zonesBy(order: CallOrder): readonly ZoneRow[] {
    const zones = this.zones();
    if (zones !== this.sortedFrom) {
      this.sorted.clear();
      this.sortedFrom = zones;
    }
    let sorted = this.sorted.get(order);
    if (sorted === undefined) this.sorted.set(order, (sorted = sortZones(zones, order)));
    return sorted;
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
    const kept = this.chunks.get(id);
    if (kept !== undefined && kept.version === this.versionOf.get(id)) {
      this.chunks.delete(id);
      this.chunks.set(id, kept);
      return kept.chunk;
    }
    const row = this.one.get(id);
    if (row === undefined) return undefined;
    const chunk = Chunk.unpack(id, row.heads, () => this.bodies.get(id) ?? null);
    this.chunks.delete(id);
    this.chunks.set(id, { chunk, version: row.version });
    if (this.chunks.size > KEPT) this.chunks.delete(this.chunks.keys().next().value!);
    return chunk;
  }

  /** A call whose start is known. */
  get(id: number): StoredCall | undefined {
    const chunk = this.chunk(chunkOf(id));
    const slot = chunk === undefined ? 0 : id - chunk.base;
    return chunk?.isStarted(slot) === true ? new StoredCall(this, chunk, slot) : undefined;
  }

  /** Whether any frame of the call was read. */
  has(id: number): boolean {
    const chunk = this.chunk(chunkOf(id));
    return chunk !== undefined && chunk.isPresent(id - chunk.base);
  }

  /** The bytes of a value that stands in a block, by its address below 0. */
  bytes(address: number): Buffer | undefined {
    const place = placeOf(address);
    const chunk = place === undefined ? undefined : this.chunk(chunkOf(place.call));
    const found = chunk?.part(place!.call - chunk.base, place!.part);
    return typeof found === 'number' ? undefined : found;
  }

  /** Every call whose start is known, block by block. */
  *all(): Generator<StoredCall> {
    for (const zone of this.zones()) yield* this.inChunk(zone.id);
  }

  *inChunk(id: number): Generator<StoredCall> {
    const chunk = this.chunk(id);
    for (let slot = 0; chunk !== undefined && slot < chunk.length; slot++)
      if (chunk.isStarted(slot)) yield new StoredCall(this, chunk, slot);
  }
}
