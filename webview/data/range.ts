import type { Statistics } from '../../protocol/timeline';
import { isEvent, KINDS } from '../model/kinds';
import { formatDuration, type Nanoseconds } from '../model/time';
import { counted } from '../model/words';
import { busyIn } from '../model/totals';
import { TABLE_LIMIT, type Page } from './page';
import { sentence } from './sentence';

export interface Range {
  from: Nanoseconds;
  to: Nanoseconds;
  /** Absent while they are counted. */
  statistics?: Statistics;
  /** Time in which at least one call ran. */
  busy?: Nanoseconds;
  /** That is of the longest calls alone: they are too many to fetch them all. */
  busyAtLeast?: boolean;
}

/** A part of the run that was marked by hand, and its sums. */
export class Ranger {
  private ticket = 0;

  constructor(private readonly page: Page) {}

  async select(from: Nanoseconds, to: Nanoseconds): Promise<void> {
    this.page.update({ range: { from, to } });
    const statistics = await this.count(from, to);
    if (statistics) this.page.update({ announcement: spoken(statistics) });
  }

  /** The run grew, or the filters changed: the figures are brought up to date. */
  async again(): Promise<void> {
    const { range } = this.page;
    if (range) await this.count(range.from, range.to);
  }

  private async count(from: Nanoseconds, to: Nanoseconds): Promise<Statistics | undefined> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return undefined;
    const ticket = ++this.ticket;
    const kinds = page.hiddenKinds.size > 0 ? KINDS.filter((kind) => !page.hiddenKinds.has(kind)) : undefined;
    try {
      const [statistics, { calls, left }] = await Promise.all([
        page.ask('statistics', { file, from, to, kinds, ...(page.errorsOnly && { errors: true }) }),
        page.ask('calls', { file, from, to, minimum: 0, limit: TABLE_LIMIT }),
      ]);
      if (ticket !== this.ticket || !page.range) return undefined;
      const busy = busyIn(
        calls.filter((call) => page.passes(call) && !isEvent(call)),
        from,
        to,
        page.now(),
      );
      page.update({ range: { from, to, statistics, busy, busyAtLeast: left > 0 && statistics.calls > 0 } });
      return statistics;
    } catch (error) {
      if (ticket === this.ticket) {
        page.update({ range: undefined });
        page.tell(sentence(error));
      }
      return undefined;
    }
  }

  drop(): void {
    this.ticket++;
    this.page.update({ range: undefined });
  }
}

/** `Range selected: 41 calls, 2 errors, p50 3 ms, p95 1.2 s`. */
function spoken({ calls, errors, p50, p95, approximate }: Statistics): string {
  const about = approximate === true ? 'about ' : '';
  const times =
    p50 === undefined || p95 === undefined
      ? []
      : [`p50 ${about}${formatDuration(p50)}`, `p95 ${about}${formatDuration(p95)}`];
  return `Range selected: ${[counted(calls, 'call'), counted(errors, 'error'), ...times].join(', ')}`;
}
