import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../data/page';
import { formatDuration } from '../model/time';
import { timeAt, whole, xOf, type Viewport } from '../model/viewport';
import { SharpCanvas } from './canvas';
import { usePageView } from './hooks';
import { hatch } from './paint';
import { onThemeChange, readTheme, type Theme } from './theme';

const EDGE = 5;

/** The whole run in one strip: how many calls, where errors and holds are, and which part the window shows. */
export function Minimap({ page }: { page: Page }): JSX.Element {
  usePageView(page);
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    let theme = readTheme();
    const sharp = new SharpCanvas(element, () => paint(sharp, theme, page));
    const ending = [
      page.onView(() => sharp.dirty()),
      onThemeChange(() => {
        theme = readTheme();
        sharp.dirty();
      }),
      drag(element, page),
      () => sharp.dispose(),
    ];
    sharp.dirty();
    return () => {
      for (const end of ending) end();
    };
  }, [page]);
  const end = Math.max(1, page.now());
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowLeft: -0.25,
      ArrowRight: 0.25,
      PageUp: -1,
      PageDown: 1,
      Home: -1e9,
      End: 1e9,
    };
    const step = steps[event.key];
    if (step === undefined || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    page.window.panBy(step);
  };
  return (
    <canvas
      class="minimap"
      ref={canvas}
      tabIndex={0}
      role="slider"
      aria-label="Part of the run that is shown"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round((page.view.from / end) * 100)}
      aria-valuetext={`${formatDuration(page.view.from)} to ${formatDuration(Math.min(end, page.view.to))} of ${formatDuration(end)}`}
      onKeyDown={onKeyDown}
    />
  );
}

function paint(sharp: SharpCanvas, theme: Theme, page: Page): void {
  const { context, width, height } = sharp;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  const { overview } = page;
  if (!overview) return;
  const full = whole(page.now());
  const { buckets } = overview;
  const most = buckets.reduce((max, bucket) => Math.max(max, bucket.calls), 1);
  const tickHeight = 5;
  const floor = height - 2;
  const room = floor - tickHeight - 3;
  const place = (index: number): number => xOf(full, width, (overview.end * index) / buckets.length);
  const area = theme.kinds.get('node');
  buckets.forEach((bucket, index) => {
    const x = place(index);
    const wide = Math.max(1, place(index + 1) - x);
    // The square root keeps one call visible beside a thousand.
    const tall = bucket.calls === 0 ? 0 : Math.max(2, Math.sqrt(bucket.calls / most) * room);
    context.fillStyle = area?.edge ?? theme.foreground;
    context.globalAlpha = theme.contrast ? 1 : 0.55;
    context.fillRect(x, floor - tall, wide + 0.3, tall);
    context.globalAlpha = 1;
  });
  for (let index = 0; index < buckets.length; index++) {
    if (!buckets[index]?.held) continue;
    let last = index;
    while (buckets[last + 1]?.held) last++;
    // A hold that goes on reaches the present, though the counts are older.
    const to = page.live && last === buckets.length - 1 ? xOf(full, width, page.now()) : place(last + 1);
    hatch(context, theme.warning, place(index), 2, Math.max(3, to - place(index)), floor - 2);
    index = last;
  }
  context.fillStyle = theme.errorText;
  buckets.forEach((bucket, index) => {
    if (bucket.errors > 0) context.fillRect(Math.round(place(index)), 1, 2, tickHeight + 2);
  });
  paintMatches(sharp, theme, page, full);
  paintFrame(context, theme, width, height, xOf(full, width, page.view.from), xOf(full, width, page.view.to));
}

/** Where the search found something: a line for each match, a broad one for the selected. */
function paintMatches({ context, width, height }: SharpCanvas, theme: Theme, page: Page, full: Viewport): void {
  if (!page.search?.done) return;
  const selected = page.selection?.call.id;
  context.fillStyle = theme.match;
  let last = -Infinity;
  for (const call of page.search.calls) {
    const x = Math.round(xOf(full, width, call.start));
    const here = call.id === selected;
    if (x - last < 2 && !here) continue;
    last = x;
    const wide = here ? 4 : 2;
    context.fillRect(Math.max(0, x - wide / 2), 1, wide, height - 2);
  }
}

function paintFrame(
  context: CanvasRenderingContext2D,
  theme: Theme,
  width: number,
  height: number,
  from: number,
  to: number,
): void {
  const left = Math.max(0, from);
  const right = Math.min(width, Math.max(to, from + 3));
  context.fillStyle = theme.frame;
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.strokeStyle = theme.focus;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), height - 1);
  context.fillStyle = theme.focus;
  for (const x of [left, right - 3]) context.fillRect(x, height / 2 - 6, 3, 12);
}

/** Dragging moves the frame or one of its edges; a press beside it brings it there. */
function drag(element: HTMLCanvasElement, page: Page): () => void {
  let grip: { part: 'left' | 'right' | 'all'; x: number; view: Viewport } | undefined;
  const scale = (): Viewport => whole(page.now());
  const partAt = (x: number): 'left' | 'right' | 'all' | undefined => {
    const left = xOf(scale(), element.clientWidth, page.view.from);
    const right = xOf(scale(), element.clientWidth, page.view.to);
    if (right - left > 3 * EDGE || x < left || x > right) {
      if (Math.abs(x - left) <= EDGE) return 'left';
      if (Math.abs(x - right) <= EDGE) return 'right';
    }
    return x >= left - EDGE && x <= right + EDGE ? 'all' : undefined;
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const part = partAt(event.offsetX);
    if (!part) {
      const middle = timeAt(scale(), element.clientWidth, event.offsetX);
      const half = (page.view.to - page.view.from) / 2;
      page.window.look({ from: middle - half, to: middle + half });
    }
    grip = { part: part ?? 'all', x: event.offsetX, view: page.view };
    element.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    if (!grip) {
      const part = partAt(event.offsetX);
      element.style.cursor = part === 'all' ? 'grab' : part ? 'ew-resize' : 'default';
      return;
    }
    const full = scale();
    const by = ((event.offsetX - grip.x) / element.clientWidth) * (full.to - full.from);
    const { from, to } = grip.view;
    if (grip.part === 'all') page.window.look({ from: from + by, to: to + by });
    else if (grip.part === 'left') page.window.look({ from: Math.max(0, Math.min(from + by, to - 1000)), to });
    else page.window.look({ from, to: Math.max(to + by, from + 1000) });
  };
  const up = (): void => {
    grip = undefined;
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    page.window.zoomBy(Math.exp(-event.deltaY / 400), timeAt(scale(), element.clientWidth, event.offsetX));
  };
  element.addEventListener('pointerdown', down);
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
  element.addEventListener('pointercancel', up);
  element.addEventListener('wheel', wheel, { passive: false });
  return () => {
    element.removeEventListener('pointerdown', down);
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
    element.removeEventListener('pointercancel', up);
    element.removeEventListener('wheel', wheel);
  };
}
