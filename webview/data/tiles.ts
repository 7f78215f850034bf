import { barsOf, tilesOf, type TilePlace } from '../../protocol/tiles';
import type { CallRow } from '../../protocol/timeline';
import { byStart } from '../model/neighbours';
import type { Nanoseconds } from '../model/time';
import type { Viewport } from '../model/viewport';
import { rowsOf } from './callTable';
import type { Ask } from './client';

const KEPT_TILES = 48;

interface Tile extends TilePlace {
  key: string;
  calls: CallRow[];
  left: number;
  /** Counts fetches, so that of two rows for one call the newer wins. */
  age: number;
  stale: boolean;
  loaded: boolean;
  loading: boolean;
}

export interface Seen {
  /** Sorted by start. */
  calls: CallRow[];
  /** Calls too short, or too many, to be fetched at this zoom. */
  left: number;
  complete: boolean;
}

/** The calls of one run, fetched piece by piece. While a tile is on its way, what other levels know is shown in its place. */
export class Tiles {
  private readonly tiles = new Map<string, Tile>();
  private fetches = 0;
  private version = 0;
  private memo?: { key: string; seen: Seen };

  constructor(
    private readonly ask: Ask,
    private readonly file: string,
    private readonly arrived: () => void,
    private readonly failed: (error: Error) => void,
    /** Whether the run is small enough for every call of it to be fetched, however short. */
    private readonly small: () => boolean = () => false,
  ) {}

  /** Gives what is known for a window `width` pixels wide, and fetches what is missing. */
  look(view: Viewport, width: number): Seen {
    const wanted = tilesOf(view.from, view.to, width).map((place) => this.tile(place));
    for (const tile of wanted) if ((!tile.loaded || tile.stale) && !tile.loading) void this.load(tile);
    this.forget(wanted);
    const key = `${this.version} ${wanted.map((tile) => tile.key).join(' ')}`;
    if (this.memo?.key !== key) this.memo = { key, seen: this.gather(wanted) };
    return this.memo.seen;
  }

  /** The newest row known of a call. */
  find(id: string): CallRow | undefined {
    let found: { call: CallRow; age: number } | undefined;
    for (const tile of this.tiles.values()) {
      if (found && tile.age < found.age) continue;
      const call = tile.calls.find((row) => row.id === id);
      if (call) found = { call, age: tile.age };
    }
    return found?.call;
  }

  /** After the file changed: what reaches past `time`, or has calls that were still running, is fetched again when it is looked at. */
  outdate(time: Nanoseconds): void {
    for (const tile of this.tiles.values()) {
      if (tile.to >= time || tile.calls.some((call) => call.end === undefined)) tile.stale = true;
    }
  }

  private tile(place: TilePlace): Tile {
    const key = `${place.scale}/${place.from}`;
    let tile = this.tiles.get(key);
    if (tile) this.tiles.delete(key);
    else {
      tile = {
        ...place,
        key,
        calls: [],
        left: 0,
        age: 0,
        stale: false,
        loaded: false,
        loading: false,
      };
    }
    this.tiles.set(key, tile);
    return tile;
  }

  private async load(tile: Tile): Promise<void> {
    tile.loading = true;
    tile.stale = false;
    const age = ++this.fetches;
    try {
      const { calls, events, left } = await this.ask('bars', barsOf(this.file, tile, this.small()));
      tile.calls = [...rowsOf(calls), ...events];
      tile.left = left;
      tile.age = age;
      tile.loaded = true;
      this.version++;
    } catch (error) {
      tile.loaded = true;
      this.failed(error instanceof Error ? error : new Error(String(error)));
    } finally {
      tile.loading = false;
    }
    this.arrived();
  }

  private gather(wanted: Tile[]): Seen {
    const complete = wanted.every((tile) => tile.loaded);
    const sources = complete
      ? wanted
      : [...this.tiles.values()].filter((tile) => tile.loaded && wanted.some((want) => overlap(tile, want)));
    const calls = new Map<string, CallRow>();
    for (const tile of [...sources].sort((a, b) => a.age - b.age))
      for (const call of tile.calls) calls.set(call.id, call);
    return {
      calls: [...calls.values()].sort(byStart),
      left: wanted.reduce((sum, tile) => sum + tile.left, 0),
      complete,
    };
  }

  /** Drops the tiles looked at longest ago. */
  private forget(wanted: Tile[]): void {
    for (const [key, tile] of this.tiles) {
      if (this.tiles.size <= KEPT_TILES) return;
      if (!tile.loading && !wanted.includes(tile)) this.tiles.delete(key);
    }
  }
}

function overlap(a: Tile, b: Tile): boolean {
  return a.from < b.to && b.from < a.to;
}
