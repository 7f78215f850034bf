import type { CallRow } from '../../protocol/timeline';
import { isEvent } from './kinds';
import { LANE_PADDING, type Layout } from './layout';
import type { Nanoseconds } from './time';
import { xOf, type Viewport } from './viewport';

/** A call's rectangle on the canvas, in CSS pixels. */
export interface Bar {
  call: CallRow;
  x: number;
  y: number;
  width: number;
  height: number;
  /** The window cuts it off on this side. */
  cutLeft: boolean;
  cutRight: boolean;
  /** Of an event that is drawn as a mark: how far its words can go on the right. */
  room?: number;
}

/** Events take so much of the canvas, however short they are. */
export const MARK_WIDTH = 9;
/** Marks nearer than this would hide each other. */
const MARK_STEP = 4;

export interface Stage {
  view: Viewport;
  width: number;
  height: number;
  /** How far the lanes are scrolled down. */
  scroll: number;
  /** The run's present end; open calls reach it. */
  now: Nanoseconds;
}

/** The end of a call for drawing: a running one has reached the present. */
export function endOf(call: CallRow, now: Nanoseconds): Nanoseconds {
  return call.end ?? Math.max(call.start, now);
}

/**
 * Places the calls that are to be seen. Of ordinary calls that would fall on the pixels of their left neighbour in the same row only the first
 * is kept; errors, and calls that are to `stay`, always are. `calls` is sorted by start.
 */
export function placeBars(
  calls: readonly CallRow[],
  layout: Layout,
  stage: Stage,
  stay: (call: CallRow) => boolean,
): Bar[] {
  const bars: Bar[] = [];
  const reached = new Map<number, number>();
  const marks = new Map<number, Bar>();
  for (const call of calls) {
    const lane = layout.byTask.get(call.task);
    if (!lane) continue;
    const y = lane.top + LANE_PADDING + call.depth * lane.rowHeight - stage.scroll;
    if (y + lane.rowHeight < 0 || y > stage.height) continue;
    const from = xOf(stage.view, stage.width, call.start);
    const to = xOf(stage.view, stage.width, endOf(call, stage.now));
    if (to < -1 || from > stage.width) continue;
    const left = Math.max(-2, from);
    const event = isEvent(call);
    const right = Math.min(stage.width + 2, Math.max(to, from + 1));
    const row = call.task * 4096 + call.depth;
    const last = reached.get(row) ?? -Infinity;
    if ((event ? right - MARK_STEP : right - 0.5) <= last && call.state !== 'error' && !stay(call)) continue;
    // A mark right behind a stop hides nothing of it.
    reached.set(row, Math.max(last, event && right - left > MARK_WIDTH ? right - MARK_STEP : right));
    const bar: Bar = {
      call,
      x: left,
      y: y + (lane.collapsed ? 0 : 1),
      width: Math.max(event && !lane.collapsed ? MARK_WIDTH : 1, right - left),
      height: lane.collapsed ? Math.max(1, lane.rowHeight - 1) : lane.rowHeight - 2,
      cutLeft: from < -2,
      cutRight: to > stage.width + 2,
    };
    bars.push(bar);
    if (!event) continue;
    const before = marks.get(row);
    if (before?.room !== undefined) before.room = Math.max(0, bar.x - before.x - before.width);
    if (bar.width <= MARK_WIDTH) bar.room = stage.width - bar.x - bar.width;
    marks.set(row, bar);
  }
  return bars;
}

/** The call at a point. Thin bars can be hit two pixels beside; the nearest of several wins, of equals the one drawn on top. */
export function barAt(bars: readonly Bar[], x: number, y: number): Bar | undefined {
  let best: Bar | undefined;
  let bestDistance = 2.5;
  for (const bar of bars) {
    if (y < bar.y - 1 || y > bar.y + bar.height + 1) continue;
    const distance = Math.max(0, bar.x - x, x - (bar.x + bar.width));
    if (distance < bestDistance || (distance === bestDistance && best !== undefined)) {
      best = bar;
      bestDistance = distance;
    }
  }
  return best;
}
