import type { CallRow, ValuePlace } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import { KINDS } from '../model/kinds';
import { byStart } from '../model/neighbours';
import { placeWord, searchWords, valueWord, type ValueRoot } from '../model/searchWords';
import { SEARCH_LIMIT } from './loaded';
import type { Viewport } from '../model/viewport';
import type { Page } from './page';
import { sentence } from './sentence';

export interface Search {
  text: string;
  /** In the order of the run: the first ones of it, and those of the window. */
  calls: CallRow[];
  ids: Set<string>;
  total: number;
  /** The first ones of the run, where there are more. */
  first?: CallRow[];
  /** Part of the run that was looked at once more for calls behind the first ones, and whether all there are known. */
  here?: Viewport & { all: boolean };
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

/** Milliseconds after which a window has come to rest. */
const REST = 100;

/** Why there is nothing to be seen of a search, in the page as in the live region. */
export function nothingFound({ problem, text, looked = 0 }: Search): string {
  if (problem !== undefined) return problem;
  const said = /^".*"$/s.test(text) ? text : `"${text}"`;
  return looked > 0
    ? `None of the first ${withCommas(looked)} calls matches ${said}.`
    : `No call of this run matches ${said}.`;
}

/** Whether this call was found; undefined where only the first of many were asked for, and it is behind them. */
export function isFound({ ids, first, here }: Search, call: CallRow): boolean | undefined {
  if (ids.has(call.id)) return true;
  if (first === undefined || call.start <= (first.at(-1)?.start ?? 0)) return false;
  return here?.all === true && call.start >= here.from && call.start <= here.to ? false : undefined;
}

/** Searches the run for calls by name and by what `searchWords` knows, for events by what they say, and goes from one to the next. */
export class Finder {
  private ticket = 0;
  private resting?: ReturnType<typeof setTimeout>;
  /** The window that is looked at, or was last. */
  private looked?: Viewport;

  constructor(private readonly page: Page) {
    page.onView(() => this.lookSoon());
  }

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

  /**
   * The calls that begin in the window, however short, and pass the search and the filters. `left`: how many more there are, at least where there
   * may be others. Undefined where nothing can be asked.
   */
  async inWindow(limit: number): Promise<{ calls: CallRow[]; left: number; atLeast?: boolean } | undefined> {
    const { page } = this;
    const { file, view } = page;
    const { problem, ...words } = searchWords(page.search?.text ?? '');
    if (file === undefined || problem !== undefined) return undefined;
    const query = { from: Math.max(0, Math.floor(view.from)), to: Math.max(0, Math.ceil(view.to)), ...words.query };
    const answer = await page.ask('search', { file, ...words, ...this.filters(), query, limit });
    const left = answer.total - answer.calls.length;
    const calls = answer.calls.filter(({ start, end }) => start <= view.to && (end ?? start) >= view.from);
    return { calls, left, ...(answer.atLeast && { atLeast: true }) };
  }

  /** Of many that were found, those in the window are asked for when it has come to rest. */
  private lookSoon(): void {
    const { search, view } = this.page;
    if (search?.first === undefined || !search.done) return;
    if (search.here && this.looked?.from === view.from && this.looked.to === view.to) return;
    if (this.resting !== undefined && this.looked?.from === view.from && this.looked.to === view.to) return;
    clearTimeout(this.resting);
    this.looked = view;
    this.resting = setTimeout(() => {
      this.resting = undefined;
      void this.look();
    }, REST);
  }

  private async look(): Promise<void> {
    const { page, ticket } = this;
    const { view } = page;
    try {
      const found = await this.inWindow(SEARCH_LIMIT);
      const { search } = page;
      if (!found || ticket !== this.ticket || search?.first === undefined) return;
      const known = new Set(search.first.map((call) => call.id));
      const calls = [...search.first, ...found.calls.filter((call) => !known.has(call.id))].sort(byStart);
      const here = { from: view.from, to: view.to, all: found.left === 0 && !found.atLeast };
      page.update({ search: { ...search, calls, ids: new Set(calls.map((call) => call.id)), here } });
    } catch (error) {
      if (ticket !== this.ticket || !page.search) return;
      // Not again before the window moves.
      page.update({ search: { ...page.search, here: { from: view.from, to: view.to, all: false } } });
      page.tell(`Not searched: ${sentence(error)}`);
    }
  }

  private filters(): { kinds: string[] | undefined; errors: true | undefined } {
    const { hiddenKinds, errorsOnly } = this.page;
    const kinds = hiddenKinds.size > 0 ? KINDS.filter((kind) => !hiddenKinds.has(kind)) : undefined;
    return { kinds, errors: errorsOnly || undefined };
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
      const { problem, ...words } = searchWords(text);
      if (problem !== undefined) throw new Error(problem);
      const { cursor } = before ?? {};
      if (cursor !== undefined) words.query = { ...words.query, cursor };
      const already = before?.first ?? before?.calls ?? [];
      const left = SEARCH_LIMIT - already.length;
      const answer = await page.ask('search', { file, ...words, ...this.filters(), limit: left });
      if (ticket !== this.ticket || file !== page.file) return false;
      const { events = [], atLeast } = answer;
      const calls = [...already, ...answer.calls, ...events].sort(byStart);
      const total = (before?.total ?? 0) + answer.total + events.length;
      const notes = [...new Set([...(before?.notes ?? []), ...(answer.notes ?? [])])];
      page.update({
        search: {
          text,
          calls,
          ids: new Set(calls.map((call) => call.id)),
          total,
          ...(total > calls.length && { first: calls }),
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
