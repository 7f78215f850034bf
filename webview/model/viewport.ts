import { NARROWEST, wholeTo } from '../../protocol/tiles';
import type { Nanoseconds } from './time';

/** The part of a run that is on screen. Immutable: each function returns a new one. */
export interface Viewport {
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
}

/** The whole run. */
export function whole(end: Nanoseconds): Viewport {
  return { from: 0, to: wholeTo(end) };
}

/** Keeps a window inside the run: first its width, then its place. */
export function clamp(view: Viewport, end: Nanoseconds): Viewport {
  const limit = whole(end);
  const width = Math.min(limit.to, Math.max(NARROWEST, view.to - view.from));
  const from = Math.min(Math.max(0, view.from), limit.to - width);
  return { from, to: from + width };
}

/** Zooms by `factor` (2 shows half as much) so that the moment `at` stays where it is on screen. */
export function zoom(view: Viewport, factor: number, at: Nanoseconds, end: Nanoseconds): Viewport {
  const width = view.to - view.from;
  const wanted = Math.max(NARROWEST, width / factor);
  const share = Math.min(1, Math.max(0, (at - view.from) / width));
  const from = at - share * wanted;
  return clamp({ from, to: from + wanted }, end);
}

export function pan(view: Viewport, by: Nanoseconds, end: Nanoseconds): Viewport {
  return clamp({ from: view.from + by, to: view.to + by }, end);
}

/** Part of the window that a range fills when it is fitted, and a call, which is understood from what is around it. */
const RANGE_SHARE = 0.8;
export const SELECTION_SHARE = 0.6;

/** Shows from..to in the middle, filling `share` of the window. */
export function fit(from: Nanoseconds, to: Nanoseconds, end: Nanoseconds, share = RANGE_SHARE): Viewport {
  const half = Math.max(NARROWEST, (to - from) / share) / 2;
  const middle = (from + to) / 2;
  return clamp({ from: middle - half, to: middle + half }, end);
}

/** A call narrower than this is zoomed to when it is revealed, to a width at which its name can be read. */
const LEAST_PIXELS = 8;
const NAMED_PIXELS = 140;

/**
 * Moves as little as needed for from..to to be seen. A part too short to be seen at this zoom is zoomed to; one wider than the window is
 * fitted, unless it already fills the window.
 */
export function reveal(view: Viewport, from: Nanoseconds, to: Nanoseconds, end: Nanoseconds, width: number): Viewport {
  const span = view.to - view.from;
  const length = Math.max(1, to - from);
  if ((length / span) * width < LEAST_PIXELS) {
    const wanted = Math.min(span, Math.max(NARROWEST, (length * width) / NAMED_PIXELS));
    return clamp({ from: from - wanted / 2, to: from + wanted / 2 }, end);
  }
  if (length > span) return from <= view.from && to >= view.to ? view : fit(from, to, end);
  const air = Math.min(span * 0.08, (span - length) / 2);
  if (from < view.from) return pan(view, from - view.from - air, end);
  if (to > view.to) return pan(view, to - view.to + air, end);
  return view;
}

/** Keeps the width and puts the end of the run near the right edge. */
export function followEnd(view: Viewport, end: Nanoseconds): Viewport {
  const right = whole(end).to;
  return clamp({ from: right - (view.to - view.from), to: right }, end);
}

/** A run is followed as a whole for this long, however many calls it has. */
const SHORT_RUN: Nanoseconds = 20e9;
/** On average a call gets this many pixels when more than a short run is followed. */
const PIXELS_PER_CALL = 4;

/** The window on a live run that is followed: all of it while its calls can be told apart, then its end, so that they still can. */
export function followed(end: Nanoseconds, calls: number, width: number): Viewport {
  const comfortable = width / PIXELS_PER_CALL;
  if (end <= SHORT_RUN || calls <= comfortable) return whole(end);
  const span = Math.max(SHORT_RUN, (end * comfortable) / calls);
  return followEnd({ from: 0, to: span }, end);
}

export function isWhole(view: Viewport, end: Nanoseconds): boolean {
  return view.from <= 0 && view.to >= end;
}

export function xOf(view: Viewport, width: number, time: Nanoseconds): number {
  return ((time - view.from) / (view.to - view.from)) * width;
}

export function timeAt(view: Viewport, width: number, x: number): Nanoseconds {
  return view.from + (x / width) * (view.to - view.from);
}
