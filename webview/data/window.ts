import type { CallRow } from '../../protocol/timeline';
import { MARK_WIDTH } from '../model/bars';
import { isEvent } from '../model/kinds';
import type { Nanoseconds } from '../model/time';
import {
  clamp,
  fit,
  followed,
  followEnd,
  isWhole,
  pan,
  reveal,
  SELECTION_SHARE,
  whole,
  zoom,
  type Viewport,
} from '../model/viewport';
import type { Page } from './page';

/** Which part of the run is on screen, and how it moves, by the person or with a live run. */
export class RunWindow {
  /** Nobody chose: as the run suggests. All of it, as long as nobody looks closer. Or what the person chose. */
  private mode: 'natural' | 'whole' | 'own' = 'natural';

  constructor(private readonly page: Page) {}

  /** The window of a run that was just opened. */
  begin(): void {
    this.mode = 'natural';
    this.page.view = this.natural();
  }

  /** The end of the run moved, or it is a moment later. */
  keepUp(): void {
    const { page } = this;
    const end = page.now();
    if (!page.live) page.view = this.mode === 'own' ? clamp(page.view, end) : whole(end);
    else if (!page.follow) return;
    else if (this.mode === 'natural') page.view = this.natural();
    else if (this.mode === 'whole') page.view = whole(end);
    else if (page.view.to < end) page.view = followEnd(page.view, end);
  }

  look(view: Viewport): void {
    const { page } = this;
    const end = page.now();
    page.view = clamp(view, end);
    this.mode = isWhole(page.view, end) ? 'whole' : 'own';
    // Who looks at the past does not want to be pulled away from it.
    if (page.live && page.follow && page.view.to < end * 0.98) page.update({ follow: false });
    else page.moved();
  }

  zoomBy(factor: number, at: Nanoseconds): void {
    this.look(zoom(this.page.view, factor, at, this.page.now()));
  }

  /** Moves by a share of the window. */
  panBy(share: number): void {
    const { view } = this.page;
    this.look(pan(view, (view.to - view.from) * share, this.page.now()));
  }

  showWhole(): void {
    this.look(whole(this.page.now()));
  }

  /** The selected range or call large on screen, with what is around it. */
  fitSelection(): void {
    const { range, selection } = this.page;
    if (range) this.look(fit(range.from, range.to, this.page.now()));
    else if (selection) this.fitCall(selection.call);
  }

  fitCall(call: CallRow): void {
    const end = this.page.now();
    this.look(fit(call.start, call.end ?? end, end, SELECTION_SHARE));
    this.page.scrollTo = call;
  }

  /**
   * Brings a call into the window. Gently: while a live run is followed, a call that is in the window leaves it as it is, however short the call
   * still is.
   */
  reveal(call: CallRow, gently: boolean): void {
    const { page } = this;
    const end = page.now();
    const to = call.end ?? end;
    const follows = page.live && page.follow;
    page.scrollTo = call;
    if (gently && follows && call.start <= page.view.to && to >= page.view.from) return;
    // An event has its mark at every zoom.
    const mark = isEvent(call) ? (MARK_WIDTH / page.width) * (page.view.to - page.view.from) : 0;
    const shown = reveal(page.view, call.start, Math.max(to, call.start + mark), end, page.width);
    if (shown === page.view) return;
    this.look(shown);
    if (follows && page.follow) page.update({ follow: false });
  }

  setFollow(follow: boolean): void {
    const { page } = this;
    if (follow && page.live) {
      this.mode = 'natural';
      page.view = this.natural();
    }
    page.update({ follow });
  }

  private natural(): Viewport {
    const { page } = this;
    const end = page.now();
    return page.live && page.follow ? followed(end, page.overview?.run.calls ?? 0, page.width) : whole(end);
  }
}
