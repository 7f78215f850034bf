import type { CallRow, ValuePlace } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import { KINDS } from '../model/kinds';
import { byStart } from '../model/neighbours';
import { placeWord, searchWords, valueWord, type ValueRoot } from '../model/searchWords';
import { SEARCH_LIMIT } from './loaded';
import type { Page } from './page';
import { sentence } from './sentence';

export interface Search {
  text: string;
  /** In the order of the run. */
  calls: CallRow[];
  ids: Set<string>;
  total: number;
  /** There may be more than `total`: not all of the run was looked at. */
  atLeast?: boolean;
  /** Calls that were looked at, where these are not all; the search goes on behind them from `cursor`. */
  looked?: number;
  cursor?: string;
  /** Sentences about what was not searched. */
  notes?: string[];
  /** False while the answer is on its way. */
  done: boolean;
  problem?: string;
}

/** Why there is nothing to be seen of a search, in the page as in the live region. */
export function nothingFound({ problem, text, looked = 0 }: Search): string {
  if (problem !== undefined) return problem;
  const said = /^".*"$/s.test(text) ? text : `"${text}"`;
  return looked > 0
    ? `None of the first ${withCommas(looked)} calls matches ${said}.`
    : `No call of this run matches ${said}.`;
}

/** Searches the run for calls by name and by what `searchWords` knows, for events by what they say, and goes from one to the next. */
export class Finder {
  private ticket = 0;

  constructor(private readonly page: Page) {}

  /** Whether this search was answered, and no other one began meanwhile. */
  async find(text: string): Promise<boolean> {
    const { page } = this;
    if (text === '' || page.file === undefined) {
      this.ticket++;
      page.update({ search: undefined });
      return false;
    }
    const before = page.search;
    const search = { calls: before?.calls ?? [], ids: before?.ids ?? new Set<string>(), total: before?.total ?? 0 };
    page.update({ search: { ...search, text, done: false } });
    const answered = await this.ask(text);
    const found = page.search;
    // Another one may have begun.
    if (found && (answered || (found.text === text && found.problem !== undefined)))
      page.update({ announcement: found.total === 0 ? nothingFound(found) : `${found.total} found` });
    return answered;
  }

  /** Looks for a value, which is no container, in all calls. */
  async findValue(value: number, path: string[]): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return;
    try {
      const json: unknown = JSON.parse((await page.ask('copy', { file, value, path, format: 'json' })).text);
      // What is no text is found as Python writes it.
      const text =
        typeof json === 'string' ? json : (await page.ask('copy', { file, value, path, format: 'python' })).text;
      if (file !== page.file) return;
      const word = valueWord(text);
      if (word === undefined) page.tell('An empty text cannot be searched for');
      else await this.find(word);
    } catch (error) {
      page.tell(`Not searched: ${sentence(error)}`);
    }
  }

  /** Looks for the calls that have this value, which is no container, at the same place. */
  async findAtPlace(root: ValueRoot, place: ValuePlace, steps: string[]): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return;
    try {
      const { text } = await page.ask('copy', { file, ...place, format: 'json' });
      if (file !== page.file) return;
      const word = placeWord(root, steps, text);
      if (word === undefined) page.tell('This value cannot be searched for at its place');
      else await this.find(word);
    } catch (error) {
      page.tell(`Not searched: ${sentence(error)}`);
    }
  }

  /** The run grew, or the filters changed: what is found is brought up to date. */
  async again(): Promise<void> {
    const { search } = this.page;
    if (search) await this.ask(search.text);
  }

  /** Selects the next or previous call that was found, round and round. */
  step(direction: 'next' | 'previous'): void {
    const { page } = this;
    const calls = page.search?.calls ?? [];
    if (calls.length === 0) return;
    const at = calls.findIndex((call) => call.id === page.selection?.call.id);
    const step = direction === 'next' ? 1 : -1;
    const index = at < 0 ? (direction === 'next' ? 0 : calls.length - 1) : (at + step + calls.length) % calls.length;
    page.chooser.select(calls[index], { reveal: true });
  }

  /** Searches on behind what was looked at. */
  async goOn(): Promise<void> {
    const { page } = this;
    const { search } = page;
    if (search?.cursor === undefined || !search.done) return;
    page.update({ search: { ...search, done: false } });
    if (!(await this.ask(search.text, search))) return;
    const more = (page.search?.total ?? 0) - search.total;
    page.tell(more > 0 ? `${more} more found` : search.total > 0 ? 'No more found yet' : 'Nothing found yet');
  }

  /** `before`: what was found so far, and goes on. */
  private async ask(text: string, before?: Search): Promise<boolean> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return false;
    const ticket = ++this.ticket;
    try {
      const kinds = page.hiddenKinds.size > 0 ? KINDS.filter((kind) => !page.hiddenKinds.has(kind)) : undefined;
      const errors = page.errorsOnly || undefined;
      const { problem, ...words } = searchWords(text);
      if (problem !== undefined) throw new Error(problem);
      const { cursor } = before ?? {};
      if (cursor !== undefined) words.query = { ...words.query, cursor };
      const left = SEARCH_LIMIT - (before?.calls.length ?? 0);
      const answer = await page.ask('search', { file, ...words, kinds, errors, limit: left });
      if (ticket !== this.ticket || file !== page.file) return false;
      const { events = [], atLeast } = answer;
      const calls = [...(before?.calls ?? []), ...answer.calls, ...events].sort(byStart);
      const notes = [...new Set([...(before?.notes ?? []), ...(answer.notes ?? [])])];
      page.update({
        search: {
          text,
          calls,
          ids: new Set(calls.map((call) => call.id)),
          total: (before?.total ?? 0) + answer.total + events.length,
          ...(atLeast && { atLeast, looked: (before?.looked ?? 0) + (answer.looked ?? 0), cursor: answer.cursor }),
          ...(notes.length > 0 && { notes }),
          done: true,
        },
      });
      return true;
    } catch (error) {
      if (ticket === this.ticket)
        page.update({ search: { text, calls: [], ids: new Set(), total: 0, done: true, problem: sentence(error) } });
      return false;
    }
  }
}
