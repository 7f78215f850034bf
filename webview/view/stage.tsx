import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallRow } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { barAt, type Bar } from '../model/bars';
import { LANE_PADDING, laneLabel, lanesBetween } from '../model/layout';
import { timeAt } from '../model/viewport';
import { counted } from '../model/words';
import { SharpCanvas } from './canvas';
import { usePageState } from './hooks';
import { AXIS_HEIGHT, Lettering, paintStage } from './paint';
import { onThemeChange, readTheme } from './theme';
import { RangeTotals, Tooltip } from './tooltip';

/** What the rest of the page may ask of the stage. */
export interface StageHandle {
  focus: () => void;
  pointerTime: () => number;
  scrollBy: (pages: number) => void;
  /** Where the selected call is on screen, for its menu. */
  selectedPlace: () => { x: number; y: number } | undefined;
}

interface Props {
  page: Page;
  handle: { current: StageHandle | undefined };
  openMenu: (call: CallRow, place: { x: number; y: number }) => void;
}

/** The lanes: names at the left, a canvas with the calls at the right, one scroll bar for both. */
export function Stage({ page, handle, openMenu }: Props): JSX.Element {
  usePageState(page);
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 400 });
  const [hover, setHover] = useState<{ call: CallRow; x: number; y: number }>();
  const [left, setLeft] = useState(0);
  const machine = useRef<Machine>(undefined);

  // Not behind the first frame: that would be one without calls.
  useLayoutEffect(() => {
    if (!canvas.current || !scroller.current) return;
    const made = new Machine(page, canvas.current, scroller.current, { setScroll, setHover, setLeft, openMenu });
    machine.current = made;
    handle.current = made;
    return () => {
      made.dispose();
      handle.current = undefined;
    };
  }, [page]);

  const visible = lanesBetween(page.layout, scroll.top, scroll.top + scroll.height);
  return (
    <div class="stage">
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="application"
        aria-roledescription="timeline"
        aria-label={`Calls of ${page.overview?.run.name ?? 'the run'} over time. Alt with the arrow keys goes from call to call, question mark lists the keys.`}
      >
        <div class="lane-names" style={{ height: `${page.layout.height + AXIS_HEIGHT}px` }}>
          <div class="axis-corner">
            {left > 0 ? (
              <span
                title={`${counted(left, 'call')} in and around this window ${left === 1 ? 'is' : 'are'} too short for this zoom. Zoom in to see more.`}
              >
                Short calls left out
              </span>
            ) : null}
          </div>
          {visible.map((placed) => {
            const { lane } = placed;
            const label = laneLabel(placed);
            return (
              <button
                key={lane.task}
                class="lane-name"
                tabIndex={-1}
                title={lane.name}
                aria-expanded={!placed.collapsed}
                aria-label={`${lane.name}, ${placed.collapsed ? 'collapsed' : 'expanded'}`}
                style={{
                  top: `${placed.top + AXIS_HEIGHT}px`,
                  height: `${placed.height}px`,
                  paddingTop: `${LANE_PADDING}px`,
                  paddingLeft: `${4 + placed.level * 10}px`,
                }}
                onClick={() => page.toggleLane(lane.task)}
              >
                <span class={`codicon codicon-chevron-${placed.collapsed ? 'right' : 'down'}`} aria-hidden="true" />
                <span class="lane-text">{placed.level > 0 ? `› ${label}` : label}</span>
                {placed.hidden > 0 && <span class="count-badge">+{placed.hidden}</span>}
              </button>
            );
          })}
        </div>
        <div class="canvas-column">
          <canvas ref={canvas} aria-hidden="true" />
        </div>
      </div>
      {hover && <Tooltip page={page} call={hover.call} x={hover.x} y={hover.y} />}
      {page.range && <RangeTotals page={page} />}
    </div>
  );
}

interface Outside {
  setScroll: (scroll: { top: number; height: number }) => void;
  setHover: (hover: { call: CallRow; x: number; y: number } | undefined) => void;
  setLeft: (left: number) => void;
  openMenu: (call: CallRow, place: { x: number; y: number }) => void;
}

/** The canvas and what the pointer does on it. Lives outside the component, so that a frame costs no virtual DOM. */
class Machine implements StageHandle {
  private readonly sharp: SharpCanvas;
  private readonly letters: Lettering;
  private readonly ending: (() => void)[] = [];
  private theme = readTheme();
  private bars: Bar[] = [];
  private hover?: string;
  private pointerX?: number;
  private press?: {
    x: number;
    y: number;
    view: { from: number; to: number };
    top: number;
    moved: boolean;
    range: boolean;
  };
  private dragRange?: { from: number; to: number };
  private left = 0;
  /** Of the lanes, in pixels, as they were last drawn. */
  private height = 0;

  constructor(
    private readonly page: Page,
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly outside: Outside,
  ) {
    this.sharp = new SharpCanvas(
      canvas,
      () => this.draw(),
      () => this.resized(),
    );
    this.letters = new Lettering(this.sharp.context);
    this.resized();
    this.sharp.dirty();
    this.ending.push(page.onView(() => this.sharp.dirty()));
    const restyle = (): void => {
      this.theme = readTheme();
      this.sharp.dirty();
    };
    this.ending.push(onThemeChange(restyle));
    // Icons can be drawn only when their font is there.
    void document.fonts.load('13px codicon').then(restyle, () => undefined);
    const { ending } = this;
    const on = <K extends keyof HTMLElementEventMap>(
      element: HTMLElement,
      name: K,
      act: (event: HTMLElementEventMap[K]) => void,
      passive = true,
    ): void => {
      element.addEventListener(name, act, { passive });
      ending.push(() => element.removeEventListener(name, act));
    };
    on(scroller, 'scroll', () => this.scrolled());
    on(scroller, 'wheel', (event) => this.wheel(event), false);
    on(canvas, 'pointerdown', (event) => this.down(event));
    on(canvas, 'pointermove', (event) => this.move(event));
    on(canvas, 'pointerup', (event) => this.up(event));
    on(canvas, 'pointercancel', () => this.drop());
    on(canvas, 'pointerleave', () => this.leave());
    on(canvas, 'dblclick', (event) => this.doubleClick(event));
    on(canvas, 'contextmenu', (event) => this.contextMenu(event), false);
  }

  dispose(): void {
    for (const end of this.ending) end();
    this.sharp.dispose();
  }

  focus(): void {
    this.scroller.focus();
  }

  pointerTime(): number {
    return timeAt(this.page.view, this.sharp.width, this.pointerX ?? this.sharp.width / 2);
  }

  scrollBy(pages: number): void {
    this.scroller.scrollTop += pages * this.laneHeight();
  }

  selectedPlace(): { x: number; y: number } | undefined {
    const id = this.page.selection?.call.id;
    const bar = this.bars.find((one) => one.call.id === id);
    const box = this.canvas.getBoundingClientRect();
    return bar && { x: box.left + Math.max(0, bar.x) + 8, y: box.top + AXIS_HEIGHT + bar.y + bar.height };
  }

  private laneHeight(): number {
    return this.sharp.height - AXIS_HEIGHT;
  }

  private draw(): void {
    const { page } = this;
    if (page.scrollTo) this.reveal(page.scrollTo);
    const { width, height } = this.sharp;
    const size = { width, height, scroll: this.scroller.scrollTop };
    const painting = paintStage(this.sharp.context, this.letters, this.theme, page, size, this.hover, this.dragRange);
    this.bars = painting.bars;
    this.scroller.ariaBusy = String(!painting.complete);
    if (painting.left !== this.left) {
      this.left = painting.left;
      this.outside.setLeft(painting.left);
    }
  }

  /** Scrolls the lanes so that a call's row is seen. */
  private reveal(call: CallRow): void {
    this.page.scrollTo = undefined;
    const row = this.rowOf(call);
    if (!row) return;
    const { scrollTop } = this.scroller;
    if (row.top < scrollTop) this.scroller.scrollTop = Math.max(0, row.top - LANE_PADDING);
    else if (row.bottom > scrollTop + this.laneHeight())
      this.scroller.scrollTop = row.bottom - this.laneHeight() + LANE_PADDING;
  }

  /** Where a call stands among the lanes, in pixels from the first one's top. */
  private rowOf(call: CallRow): { top: number; bottom: number } | undefined {
    const lane = this.page.layout.byTask.get(call.task);
    if (!lane) return undefined;
    const top = lane.top + LANE_PADDING + call.depth * lane.rowHeight;
    return { top, bottom: top + lane.rowHeight };
  }

  private resized(): void {
    const { page, height } = this;
    this.height = this.laneHeight();
    page.width = Math.max(1, this.sharp.width);
    // The pane with its facts opens over the call that was just selected.
    const row = page.selection && this.rowOf(page.selection.call);
    const { scrollTop } = this.scroller;
    if (row && this.height < height && row.top < scrollTop + height && row.bottom > scrollTop)
      page.scrollTo ??= page.selection?.call;
    this.outside.setScroll({ top: this.scroller.scrollTop, height: this.scroller.clientHeight });
  }

  private scrolled(): void {
    this.outside.setScroll({ top: this.scroller.scrollTop, height: this.scroller.clientHeight });
    this.point(undefined);
    this.sharp.dirty();
  }

  private wheel(event: WheelEvent): void {
    const { page } = this;
    const pixels =
      event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const x = event.clientX - this.canvas.getBoundingClientRect().left;
      page.window.zoomBy(Math.exp((-event.deltaY * pixels) / 400), timeAt(page.view, this.sharp.width, Math.max(0, x)));
      return;
    }
    const along = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (Math.abs(along) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
    event.preventDefault();
    page.window.panBy((along * pixels) / this.sharp.width);
  }

  private at(event: MouseEvent): { x: number; y: number; bar: Bar | undefined } {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return { x, y, bar: y < AXIS_HEIGHT ? undefined : barAt(this.bars, x, y - AXIS_HEIGHT) };
  }

  private down(event: PointerEvent): void {
    this.focus();
    if (event.button !== 0) return;
    const { x, y } = this.at(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.press = { x, y, view: this.page.view, top: this.scroller.scrollTop, moved: false, range: event.shiftKey };
    this.point(undefined);
  }

  private move(event: PointerEvent): void {
    const { x, y, bar } = this.at(event);
    this.pointerX = x;
    const { press, page } = this;
    if (!press) {
      this.point(bar && { call: bar.call, x: event.clientX, y: event.clientY });
      return;
    }
    if (!press.moved && Math.hypot(x - press.x, y - press.y) < 4) return;
    press.moved = true;
    const { width } = this.sharp;
    if (press.range) {
      const times = [timeAt(press.view, width, press.x), timeAt(press.view, width, x)].map((time) =>
        Math.min(page.now(), Math.max(0, time)),
      );
      this.dragRange = { from: Math.min(...times), to: Math.max(...times) };
      this.sharp.dirty();
      return;
    }
    const shift = ((press.x - x) / width) * (press.view.to - press.view.from);
    page.window.look({ from: press.view.from + shift, to: press.view.to + shift });
    this.scroller.scrollTop = press.top + press.y - y;
  }

  private leave(): void {
    if (!this.press) this.pointerX = undefined;
    this.point(undefined);
  }

  private up(event: PointerEvent): void {
    const { press, dragRange, page } = this;
    this.drop();
    if (!press) return;
    if (dragRange) void page.ranger.select(dragRange.from, dragRange.to);
    else if (!press.moved) {
      const { bar } = this.at(event);
      if (bar) page.chooser.select(bar.call);
      else if (page.range) page.ranger.drop();
    }
  }

  private drop(): void {
    this.press = undefined;
    this.dragRange = undefined;
    this.sharp.dirty();
  }

  private doubleClick(event: MouseEvent): void {
    const { bar } = this.at(event);
    if (bar) this.page.window.fitCall(bar.call);
  }

  private contextMenu(event: MouseEvent): void {
    event.preventDefault();
    const { bar } = this.at(event);
    if (!bar) return;
    this.point(undefined);
    if (this.page.selection?.call.id !== bar.call.id) this.page.chooser.select(bar.call);
    this.outside.openMenu(bar.call, { x: event.clientX, y: event.clientY });
  }

  private point(hover: { call: CallRow; x: number; y: number } | undefined): void {
    if (hover?.call.id !== this.hover) this.sharp.dirty();
    if (hover || this.hover !== undefined) this.outside.setHover(hover);
    this.hover = hover?.call.id;
  }
}
