import type { CallRow, ValuePlace } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import { KINDS } from '../model/kinds';
import { byStart } from '../model/neighbours';
import { placeWord, searchWords, valueWord, type ValueRoot } from '../model/searchWords';
import { SEARCH_LIMIT } from './loaded';
import type { Viewport } from '../model/viewport';
import type { Page } from './page';
import type { Nanoseconds } from '../model/time';
import { sentence } from './sentence';

export interface Search {
  text: string;
  /** In the order of the run: the first ones of it, and those of the window. */
  calls: CallRow[];
  ids: Set<string>;
  total: number;
  /** The first ones of the run, where there are more, or may be; what begins before `known` and is not among them was not found. */
  first?: CallRow[];
  known?: Nanoseconds;
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

/** Milliseconds after which a window has come to rest, and those between two looks at one of a run that grows. */
const REST = 100;
const LIVE_REST = 1000;

/** Why there is nothing to be seen of a search, in the page as in the live region. */
export function nothingFound({ problem, text, looked = 0 }: Search): string {
  if (problem !== undefined) return problem;
  const said = /^".*"$/s.test(text) ? text : `"${text}"`;
  return looked > 0
    ? `None of the first ${withCommas(looked)} calls matches ${said}.`
    : `No call of this run matches ${said}.`;
}

/** Whether this call was found; undefined where only the first of many were asked for, and it is behind them. */
export function isFound({ ids, first, known = 0, here }: Search, call: CallRow): boolean | undefined {
  if (ids.has(call.id)) return true;
  if (first === undefined || call.start < known) return false;
  return here?.all === true && call.start >= here.from && call.start <= here.to ? false : undefined;
}

/** Searches the run for calls by name and by what `searchWords` knows, for events by what they say, and goes from one to the next. */
export class Finder {
  private ticket = 0;
  private resting?: ReturnType<typeof setTimeout>;
  /** What is asked about the window. */
  private looking?: { ticket: number; view: Viewport };

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

  /** Selects the next or previous call that was found, round and round; of many as far as they are known, from the start or in the window. */
  step(direction: 'next' | 'previous'): void {
    const { page } = this;
    const { search } = page;
    if (!search || search.calls.length === 0) return;
    const selected = page.selection?.call;
    const step = direction === 'next' ? 1 : -1;
    if (!search.first || search.total <= search.first.length) {
      const { calls } = search;
      const at = calls.findIndex((call) => call.id === selected?.id);
      const index = at < 0 ? (step > 0 ? 0 : calls.length - 1) : (at + step + calls.length) % calls.length;
      return page.chooser.select(calls[index], { reveal: true });
    }
    const { first } = search;
    const isFirst = new Set(first.map((call) => call.id));
    const inFirst = selected === undefined || !search.ids.has(selected.id) || isFirst.has(selected.id);
    const calls = inFirst ? first : search.calls.filter((call) => !isFirst.has(call.id));
    const at = calls.findIndex((call) => call.id === selected?.id);
    const next = at < 0 ? calls[0] : calls[at + step];
    if (next) page.chooser.select(next, { reveal: true });
    else if (at === 0 && inFirst) page.tell('This is the first one');
    else page.tell(`Of so many only the first ${withCommas(first.length)} are gone through, and those of the window`);
  }

  /**
   * The calls that begin in the window, however short, and pass the search and the filters. `left`: how many more there are, at least where there
   * may be others. Undefined where nothing can be asked, or the search has its own part of the run.
   */
  async inWindow(limit: number): Promise<{ calls: CallRow[]; left: number; atLeast?: boolean } | undefined> {
    const { page } = this;
    const { file, view, search } = page;
    const { problem, ...words } = searchWords(search?.problem === undefined ? (search?.text ?? '') : '');
    if (file === undefined || problem !== undefined) return undefined;
    if (words.query?.from !== undefined || words.query?.to !== undefined) return undefined;
    const query = { ...words.query, from: Math.max(0, Math.floor(view.from)), to: Math.max(0, Math.ceil(view.to)) };
    const answer = await page.ask('search', { file, ...words, ...this.filters(), query, limit });
    const left = answer.total - answer.calls.length;
    const calls = answer.calls.filter(({ start, end }) => start <= view.to && (end ?? start) >= view.from);
    return { calls, left, ...(answer.atLeast && { atLeast: true }) };
  }

  /** Of many that were found, those in the window are asked for when it has come to rest; while a run grows, now and then. */
  private lookSoon(): void {
    const { page } = this;
    if (this.isLookedAt() || this.resting !== undefined) return;
    const { view } = page;
    this.resting = setTimeout(
      () => {
        this.resting = undefined;
        // It moves still.
        if (!page.live && (page.view.from !== view.from || page.view.to !== view.to)) this.lookSoon();
        else if (!this.isLookedAt()) void this.look();
      },
      page.live ? LIVE_REST : REST,
    );
  }

  /** Nothing is to be asked about the window, or it was, or is just now. */
  private isLookedAt(): boolean {
    const { view, search } = this.page;
    if (search?.first === undefined || !search.done) return true;
    const isThis = (one: Viewport | undefined): boolean => one?.from === view.from && one.to === view.to;
    return isThis(search.here) || (this.looking?.ticket === this.ticket && isThis(this.looking.view));
  }

  private async look(): Promise<void> {
    const { page, ticket } = this;
    const { view } = page;
    const looking = { ticket, view };
    this.looking = looking;
    try {
      const found = await this.inWindow(SEARCH_LIMIT);
      this.seen(ticket, view, found);
    } catch (error) {
      if (this.seen(ticket, view, undefined)) page.tell(`Not searched: ${sentence(error)}`);
    } finally {
      if (this.looking === looking) this.looking = undefined;
    }
  }

  /** What was found in a window, if the search is still the same. */
  private seen(
    ticket: number,
    { from, to }: Viewport,
    found: { calls: CallRow[]; left: number; atLeast?: boolean } | undefined,
  ): boolean {
    const { page } = this;
    const { search } = page;
    if (ticket !== this.ticket || search?.first === undefined) return false;
    const before = new Set(search.first.map((call) => call.id));
    const calls = [...search.first, ...(found?.calls ?? []).filter((call) => !before.has(call.id))].sort(byStart);
    const here = { from, to, all: found !== undefined && found.left === 0 && !found.atLeast };
    page.update({ search: { ...search, calls, ids: new Set(calls.map((call) => call.id)), here } });
    return true;
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
          ...((total > calls.length || atLeast) && {
            first: calls,
            known: answer.calls.at(-1)?.start ?? before?.known ?? 0,
          }),
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
