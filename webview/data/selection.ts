import type { CallDetail, CallRow, ValueNode } from '../../protocol/timeline';
import { isEvent } from '../model/kinds';
import { neighbour, type Direction } from '../model/neighbours';
import { TABLE_LIMIT, type Page } from './page';
import { sentence } from './sentence';

export interface Selection {
  call: CallRow;
  detail?: CallDetail;
  /** The first arguments, for the title. */
  args: ValueNode[];
  problem?: string;
}

export interface SelectOptions {
  /** Bring the call into the window; gently where a followed run shows it already. */
  reveal?: boolean | 'gently';
  /** Whether its facts are shown; they are, unless told otherwise. */
  open?: boolean;
  /** The host asked for it: it is no choice of the person, which the call stack would follow. */
  asked?: boolean;
}

/** Chooses the call whose facts are shown. */
export class Chooser {
  /** What the host asked for and the file does not have yet: a stop is told before its call is recorded. */
  private awaited?: { file: string; id: string };
  /** Counts the choices; an answer to an earlier one comes too late. */
  choices = 0;

  constructor(private readonly page: Page) {}

  select(call: CallRow | undefined, options: SelectOptions = {}): void {
    const { page } = this;
    this.choices += 1;
    this.awaited = undefined;
    if (!call) {
      page.update({ selection: undefined, announcement: 'No call selected' });
      return;
    }
    page.selection = { call, args: [] };
    page.detailOpen = options.open ?? true;
    if (options.reveal) {
      page.openLaneOf(call);
      page.window.reveal(call, options.reveal === 'gently');
    }
    page.update();
    void this.load(call, options.asked ?? false);
  }

  /** `gently` is how the host asks for a call. */
  async selectById(id: string, reveal: true | 'gently' = true): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return;
    const asked = reveal === 'gently';
    this.awaited = undefined;
    const choice = ++this.choices;
    const known = page.loaded.find(id);
    if (known) {
      this.select(known, { reveal, asked });
      return;
    }
    try {
      const { call } = await page.ask('call', { file, id });
      if (file === page.file && choice === this.choices) this.select(call, { reveal, asked });
    } catch (error) {
      if (file !== page.file || choice !== this.choices) return;
      if (asked && (page.live || page.overview === undefined)) this.awaited = { file, id };
      else page.tell(sentence(error));
    }
  }

  /** The file has grown: the call that was asked for may be there now. */
  async again(): Promise<void> {
    const { awaited, page } = this;
    if (awaited !== undefined && awaited.file === page.file) await this.selectById(awaited.id, 'gently');
  }

  /** The selected call went on: its facts are read again. */
  async refresh(): Promise<void> {
    const { page } = this;
    const { file, selection } = page;
    const id = selection?.call.id;
    if (file === undefined || id === undefined) return;
    try {
      const detail = await page.ask('call', { file, id });
      if (page.file !== file || page.selection?.call.id !== id) return;
      page.update({ selection: { ...page.selection, call: detail.call, detail } });
      await this.loadArguments(detail);
    } catch {
      // The next change of the file brings another chance; what is shown stays right for its moment.
    }
  }

  /** Selects the call one step away; asks the reader for what is too short to be on screen. */
  async step(direction: Direction): Promise<void> {
    const { page } = this;
    const from = page.selection?.call;
    const seen = page.loaded.seen();
    if (!from) {
      const first = seen.calls.find((call) => page.matches(call) && page.layout.byTask.has(call.task));
      if (first) this.select(first, { reveal: true });
      return;
    }
    const found = neighbour(seen.calls, from, direction);
    if (found) {
      this.select(found, { reveal: true });
      return;
    }
    if (direction === 'out' && from.parent !== undefined) return this.selectById(from.parent);
    const { file } = page;
    if (file === undefined || direction === 'out') return;
    const end = from.end ?? page.now();
    // The neighbour may be far outside of a window that shows a short call: each look goes further.
    for (let span = page.view.to - page.view.from; ; span *= FURTHER) {
      const part =
        direction === 'in'
          ? { from: from.start, to: end }
          : direction === 'next'
            ? { from: end, to: end + span }
            : { from: from.start - span, to: from.start };
      try {
        const { calls } = await page.ask('calls', { file, ...part, minimum: 0, limit: TABLE_LIMIT });
        // Another call was chosen meanwhile.
        if (page.file !== file || page.selection?.call.id !== from.id) return;
        const call = neighbour(calls, from, direction);
        if (call) return this.select(call, { reveal: true });
      } catch (error) {
        page.tell(sentence(error));
        return;
      }
      if (direction === 'in' || (direction === 'previous' ? part.from <= 0 : part.to >= page.now())) break;
    }
    page.tell(NOTHING_THERE[direction]);
  }

  async nextError(direction: 'next' | 'previous'): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return;
    const time = page.selection?.call.start ?? (direction === 'next' ? page.view.from : page.view.to);
    try {
      const { call } = await page.ask('errorNear', { file, time, direction });
      if (file !== page.file) return;
      if (call) this.select(call, { reveal: true });
      else page.tell(`No ${direction} error in this run`);
    } catch (error) {
      page.tell(sentence(error));
    }
  }

  private async load(call: CallRow, asked: boolean): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined) return;
    const current = () => page.file === file && page.selection?.call.id === call.id;
    // The call stack has no frame for an event.
    if (!asked && !isEvent(call)) void page.ask('selected', { file, id: call.id }).catch(() => undefined);
    try {
      const detail = await page.ask('call', { file, id: call.id });
      if (!current()) return;
      page.update({ selection: { call: detail.call, detail, args: [] } });
      await this.loadArguments(detail);
    } catch (error) {
      if (current()) page.update({ selection: { call, args: [], problem: sentence(error) } });
    }
  }

  /** The first arguments, for the title. They change when they are edited while the call is held. */
  private async loadArguments(detail: CallDetail): Promise<void> {
    const { page } = this;
    const { file } = page;
    if (file === undefined || !detail.input || detail.event || detail.input.root.children === 0) return;
    const { value, path = [] } = detail.input;
    const { nodes } = await page.ask('value', { file, value, path, start: 0, count: 5 });
    const { selection } = page;
    if (page.file === file && selection?.call.id === detail.call.id && selection.detail?.input?.value === value)
      page.update({ selection: { ...selection, args: nodes } });
  }
}

/** How much further each look for a neighbour goes than the one before. */
const FURTHER = 16;

const NOTHING_THERE: Record<Direction, string> = {
  previous: 'No earlier call in this row',
  next: 'No later call in this row',
  in: 'No calls inside this one',
  out: 'No call around this one',
};
