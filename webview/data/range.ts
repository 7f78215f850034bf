import type { Nanoseconds } from '../model/time';
import { totals, type Totals } from '../model/totals';
import { TABLE_LIMIT, type Page } from './page';
import { sentence } from './sentence';

export interface Range {
  from: Nanoseconds;
  to: Nanoseconds;
  /** Absent while they are counted. */
  totals?: Totals;
  /** Calls that were not fetched, so the totals are lower bounds. */
  left?: number;
}

/** A part of the run that was marked by hand, and its sums. */
export class Ranger {
  private ticket = 0;

  constructor(private readonly page: Page) {}

  async select(from: Nanoseconds, to: Nanoseconds): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return;
    const ticket = ++this.ticket;
    page.update({ range: { from, to } });
    try {
      const { calls, left } = await page.ask('calls', { file, from, to, minimum: 0, limit: TABLE_LIMIT });
      if (ticket !== this.ticket || !page.range) return;
      const sums = totals(calls, from, to, page.now());
      page.update({
        range: { from, to, totals: sums, left },
        announcement: `Range selected: ${sums.calls} calls, ${sums.errors} errors`,
      });
    } catch (error) {
      if (ticket === this.ticket) page.update({ range: undefined, announcement: sentence(error) });
    }
  }

  drop(): void {
    this.ticket++;
    this.page.update({ range: undefined });
  }
}
