import { allTasks, SMALL_RUN } from '../../protocol/tiles';
import type { CallRow } from '../../protocol/timeline';
import { byStart } from '../model/neighbours';
import type { Page } from './page';
import { Density } from './density';
import { sentence } from './sentence';
import { Tiles, type Seen } from './tiles';

/** Up to this many calls of one search are shown. */
export const SEARCH_LIMIT = 1000;

/** The calls the page has of its run: those of the window, and at every zoom its errors and what a search found, however short. */
export class Loaded {
  private tiles?: Tiles;
  private busy?: Density;
  private errors: CallRow[] = [];
  private joined?: { of: Seen; errors: CallRow[]; found: CallRow[]; seen: Seen };

  constructor(private readonly page: Page) {}

  /** Forgets the run before. */
  begin(file: string): void {
    const { page } = this;
    this.errors = [];
    this.tiles = new Tiles(
      page.ask,
      file,
      () => page.moved(),
      (error) => page.update({ problem: sentence(error) }),
      () => (page.overview?.run.calls ?? Infinity) <= SMALL_RUN,
    );
    this.busy = new Density(
      page.ask,
      file,
      () => page.moved(),
      (error) => page.update({ problem: sentence(error) }),
    );
  }

  seen(): Seen {
    const { page } = this;
    if (!this.tiles || !page.overview) return { calls: [], left: 0, complete: true };
    const of = this.tiles.look(page.view, page.width);
    const found = page.search?.done ? page.search.calls : NONE;
    const { joined } = this;
    if (joined?.of === of && joined.errors === this.errors && joined.found === found) return joined.seen;
    const seen = this.join(of, found);
    this.joined = { of, errors: this.errors, found, seen };
    return seen;
  }

  /** Asks for the first picture before the lanes are laid out. */
  expect(): void {
    const { view, width, overview } = this.page;
    this.seen();
    if (overview !== undefined && overview.run.calls > SMALL_RUN)
      this.busy?.expect(view, width, allTasks(overview.lanes));
  }

  /** How many calls began in each part of a lane, and how many of them failed, where there are more than can be drawn. */
  density(task: number, tell: (from: number, to: number, calls: number, errors: number) => void): void {
    const { view, width, overview } = this.page;
    if ((overview?.run.calls ?? 0) > SMALL_RUN) this.busy?.each(view, width, task, tell);
  }

  find(id: string): CallRow | undefined {
    return this.tiles?.find(id);
  }

  /** The file changed: what reaches past `time` is fetched again. */
  outdate(time: number): void {
    this.tiles?.outdate(time);
    this.busy?.outdate(time);
  }

  async loadErrors(): Promise<void> {
    const { page } = this;
    const { file, overview } = page;
    if (file === undefined || !overview || overview.run.errors === this.errors.length) return;
    try {
      const { calls } = await page.ask('search', { file, text: '', errors: true, limit: SEARCH_LIMIT });
      if (file !== page.file) return;
      this.errors = calls;
      page.moved();
    } catch (error) {
      if (file === page.file) page.tell(sentence(error));
    }
  }

  private join(seen: Seen, found: readonly CallRow[]): Seen {
    const { view } = this.page;
    const known = new Set(seen.calls.map((call) => call.id));
    const missing: CallRow[] = [];
    for (const call of [...this.errors, ...found]) {
      if (known.has(call.id)) continue;
      known.add(call.id);
      missing.push(call);
    }
    if (missing.length === 0) return seen;
    const inWindow = missing.filter((call) => call.start <= view.to && (call.end ?? call.start) >= view.from);
    return {
      ...seen,
      calls: [...seen.calls, ...missing].sort(byStart),
      left: Math.max(0, seen.left - inWindow.length),
    };
  }
}

const NONE: CallRow[] = [];
