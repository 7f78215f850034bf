import type { CallRow, CallState } from '../../protocol/timeline';
import { placeBars, type Bar, type Stage } from '../model/bars';
import { isEvent, isHeld, lookOf } from '../model/kinds';
import { lanesBetween } from '../model/layout';
import { clockLabels, ticks, type Tick } from '../model/time';
import { xOf } from '../model/viewport';
import type { Page } from '../data/page';
import type { Theme } from './theme';

export const AXIS_HEIGHT = 22;
/** Bars narrower than this have no room for a name. */
const LABEL_ROOM = 26;
/** Calls that did not end by themselves. */
const OUTLINED: ReadonlySet<CallState> = new Set(['skipped', 'cancelled', 'interrupted']);
const FADED = 0.35;
const FADED_CONTRAST = 0.55;

/** Draws text that fits a width; remembers how wide each text is, since measuring is the slowest thing on a canvas. */
export class Lettering {
  private readonly widths = new Map<string, number>();
  private font = '';

  constructor(private readonly context: CanvasRenderingContext2D) {}

  use(font: string): void {
    if (font !== this.font) this.widths.clear();
    this.font = font;
    this.context.font = font;
  }

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      if (this.widths.size > 20_000) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }

  /** As much of `text` as fits, with an ellipsis where it is cut; empty when not even three letters do. */
  fit(text: string, room: number): string {
    const width = this.width(text);
    if (width <= room) return text;
    const letters = Math.floor((text.length * (room - 8)) / width);
    return letters < 2 ? '' : `${text.slice(0, letters)}…`;
  }
}

export interface Painting {
  bars: Bar[];
  left: number;
  /** False while calls of the window are on their way. */
  complete: boolean;
}

/** Draws the lanes (below) and the time axis (above). Gives the bars back, for the pointer to find. */
export function paintStage(
  context: CanvasRenderingContext2D,
  letters: Lettering,
  theme: Theme,
  page: Page,
  size: { width: number; height: number; scroll: number },
  hover: string | undefined,
  drag: { from: number; to: number } | undefined,
): Painting {
  const { width, height } = size;
  context.clearRect(0, 0, width, height);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  const stage: Stage = { view: page.view, width, height: height - AXIS_HEIGHT, scroll: size.scroll, now: page.now() };
  // A clock's time is longer: `14:03:22.4183512`.
  const marks = ticks(page.view.from, page.view.to, width, page.clock ? 120 : undefined);
  const seen = page.loaded.seen();

  context.save();
  context.translate(0, AXIS_HEIGHT);
  context.beginPath();
  context.rect(0, 0, width, stage.height);
  context.clip();
  paintGrid(context, theme, page, stage, marks);
  // Asked for together with the calls, which say how many of them are left out.
  if (seen.left > 0 || !seen.complete) paintDensity(context, theme, page, stage);
  const found = page.search?.done ? page.search.ids : undefined;
  const stays = (call: CallRow): boolean => call.id === page.selection?.call.id || (found?.has(call.id) ?? false);
  const bars = placeBars(seen.calls, page.layout, stage, stays);
  letters.use(theme.font);
  context.textBaseline = 'middle';
  for (const bar of bars) paintBar(context, letters, theme, page, stage, bar, hover);
  paintPresent(context, theme, page, stage);
  context.restore();

  paintAxis(context, theme, page, stage, marks);
  const range = drag ?? page.range;
  if (range) paintRange(context, theme, page, stage, height, range);
  return { bars, left: seen.left, complete: seen.complete };
}

function paintGrid(
  context: CanvasRenderingContext2D,
  theme: Theme,
  page: Page,
  stage: Stage,
  marks: readonly Tick[],
): void {
  context.fillStyle = theme.line;
  context.globalAlpha = theme.contrast ? 0.25 : 0.5;
  for (const mark of marks) context.fillRect(Math.round(xOf(stage.view, stage.width, mark.time)), 0, 1, stage.height);
  context.globalAlpha = theme.contrast ? 0.6 : 1;
  for (const lane of lanesBetween(page.layout, stage.scroll, stage.scroll + stage.height)) {
    context.fillRect(0, Math.round(lane.top + lane.height - stage.scroll) - 1, stage.width, 1);
  }
  context.globalAlpha = 1;
}

/** So many calls in four pixels look as busy as can be. */
const BUSIEST = 10_000;
/** Height of the strip that says where calls failed. */
const ERRORS = 3;

/** Calls that are too short, or too many, for bars of their own: the more of them, the stronger the shade behind the bars. */
function paintDensity(context: CanvasRenderingContext2D, theme: Theme, page: Page, stage: Stage): void {
  const usual = theme.kinds.get('function')?.edge ?? theme.line;
  // Which of so many calls pass is not known here.
  const strength = page.errorsOnly || page.hiddenKinds.size > 0 || page.search?.done ? 0.3 : 1;
  for (const lane of lanesBetween(page.layout, stage.scroll, stage.scroll + stage.height)) {
    const top = Math.round(lane.top - stage.scroll) + 1;
    page.loaded.density(lane.lane.task, (from, to, calls, errors) => {
      const left = Math.round(xOf(stage.view, stage.width, from));
      const right = Math.round(xOf(stage.view, stage.width, to));
      const width = Math.max(1, right - left);
      context.fillStyle = usual;
      context.globalAlpha = strength * (0.08 + 0.4 * Math.min(1, Math.log2(1 + calls) / Math.log2(BUSIEST)));
      context.fillRect(left, top, width, lane.height - 2);
      if (errors === 0) return;
      // As in the minimap: of many errors only the first ones are drawn as calls.
      context.fillStyle = theme.errorText;
      context.globalAlpha = 1;
      context.fillRect(left, top + lane.height - 2 - ERRORS, width, ERRORS);
    });
  }
  context.globalAlpha = 1;
}

function paintBar(
  context: CanvasRenderingContext2D,
  letters: Lettering,
  theme: Theme,
  page: Page,
  stage: Stage,
  bar: Bar,
  hover: string | undefined,
): void {
  const { call, x, y, height } = bar;
  const width = bar.width > 3 ? bar.width - 1 : bar.width;
  const failed = call.state === 'error';
  const colours = theme.kinds.get(lookOf(call.kind).kind);
  if (!colours) return;
  const edge = failed ? theme.errorText : colours.edge;
  const selected = page.selection?.call.id === call.id;
  context.globalAlpha = page.matches(call) || selected ? 1 : theme.contrast ? FADED_CONTRAST : FADED;

  if (isEvent(call) && bar.room !== undefined) paintMark(context, letters, theme, bar, edge);
  else if (width < 3) {
    context.fillStyle = edge;
    context.fillRect(x, y, Math.max(failed ? 2 : 1, width), height);
    if (failed) paintErrorFlag(context, x + 1, y);
  } else {
    context.fillStyle = failed ? theme.error : colours.fill;
    context.fillRect(x, y, width, height);
    for (const hold of call.holds) paintHold(context, theme, stage, bar, hold.start, hold.end ?? call.end ?? stage.now);
    context.fillStyle = edge;
    if (!bar.cutLeft) context.fillRect(x, y, Math.min(3, width), height);
    if (call.end === undefined && !bar.cutRight) paintOpenEnd(context, x + width, y, height);
    if (theme.contrast || OUTLINED.has(call.state))
      outline(context, x, y, width, height, edge, call.state === 'skipped');
    if (bar.width > LABEL_ROOM && height > 10) paintLabel(context, letters, theme, bar);
    else if (failed) paintErrorFlag(context, x + Math.min(4, width / 2), y);
  }
  if (page.search?.done && page.search.ids.has(call.id)) paintMatch(context, theme, x, y, width, height);
  if (hover === call.id && !selected) outline(context, x, y, Math.max(2, width), height, theme.foreground, false);
  if (selected) {
    context.globalAlpha = 1;
    context.strokeStyle = theme.focus;
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, Math.max(3, width) + 2, height + 2);
  }
  context.globalAlpha = 1;
}

/** An event that is over at once: a flag whose pole stands at its moment, its words beside it where there is room. */
function paintMark(
  context: CanvasRenderingContext2D,
  letters: Lettering,
  theme: Theme,
  bar: Bar,
  colour: string,
): void {
  const { call, x, y, width, height, room = 0 } = bar;
  const failed = call.state === 'error';
  context.fillStyle = colour;
  context.fillRect(x, y, 2, height);
  context.beginPath();
  context.moveTo(x + 2, y);
  context.lineTo(x + width, failed ? y : y + height / 4);
  if (failed) context.lineTo(x + width, y + height / 2);
  context.lineTo(x + 2, y + height / 2);
  context.closePath();
  context.fill();
  if (room < LABEL_ROOM || height <= 10) return;
  const text = letters.fit(failed ? `! ${call.name}` : call.name, room - 8);
  context.font = theme.font;
  context.fillStyle = failed ? theme.errorText : theme.foreground;
  if (text !== '') context.fillText(text, x + width + 3, y + height / 2 + 0.5);
}

/** Found by the search: outlined, and where it is narrow flagged from below, to be seen among others that are as narrow. */
function paintMatch(
  context: CanvasRenderingContext2D,
  theme: Theme,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  outline(context, x, y, Math.max(3, width), height, theme.match, false);
  if (width > LABEL_ROOM) return;
  const middle = x + Math.max(3, width) / 2;
  const bottom = y + height + 1;
  context.fillStyle = theme.match;
  context.beginPath();
  context.moveTo(middle - 5, bottom);
  context.lineTo(middle + 5, bottom);
  context.lineTo(middle, bottom - 7);
  context.closePath();
  context.fill();
}

/** A small triangle on a call too narrow for an exclamation mark: an error is told by its shape too. */
function paintErrorFlag(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - 4, y);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 6);
  context.closePath();
  context.fill();
}

/** Kind icon, mark and name, starting at the window's edge when the bar began before it. */
function paintLabel(context: CanvasRenderingContext2D, letters: Lettering, theme: Theme, bar: Bar): void {
  const { call } = bar;
  const failed = call.state === 'error';
  const middle = bar.y + bar.height / 2 + 0.5;
  const start = Math.max(0, bar.x) + 6;
  const end = Math.min(bar.x + bar.width - 4, bar.x + bar.width);
  let x = start;
  const icon = (name: string, colour: string): void => {
    if (end - x < 16) return;
    context.font = theme.iconFont;
    context.fillStyle = colour;
    context.fillText(theme.icons.get(name) ?? '', x, middle);
    x += 16;
  };
  const look = lookOf(call.kind);
  if (failed) {
    context.fillStyle = theme.errorText;
    context.font = `bold ${theme.font}`;
    context.fillText('!', x, middle);
    x += 7;
  }
  icon(look.icon, failed ? theme.errorText : (theme.kinds.get(look.kind)?.edge ?? theme.foreground));
  if (isHeld(call)) icon('debug-pause', theme.warning);
  if (call.edited) icon('edit', theme.warning);
  if (call.state === 'cancelled') icon('circle-slash', theme.muted);
  if (call.state === 'skipped') icon('debug-step-over', theme.muted);
  if (call.state === 'interrupted') icon('question', theme.warning);
  context.font = theme.font;
  context.fillStyle = theme.foreground;
  const text = letters.fit(call.name, end - x);
  if (text !== '') context.fillText(text, x, middle);
}

/** Hatching: diagonal lines inside the held part, so that a hold is not told by colour alone. */
function paintHold(
  context: CanvasRenderingContext2D,
  theme: Theme,
  stage: Stage,
  bar: Bar,
  from: number,
  to: number,
): void {
  const left = Math.max(bar.x, xOf(stage.view, stage.width, from));
  const right = Math.min(bar.x + bar.width, xOf(stage.view, stage.width, to));
  if (right - left < 2) return;
  hatch(context, theme.warning, left, bar.y, right - left, bar.height);
}

export function hatch(
  context: CanvasRenderingContext2D,
  colour: string,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  const alpha = context.globalAlpha;
  context.globalAlpha = alpha * 0.6;
  context.beginPath();
  for (let at = Math.floor(x / 6) * 6 - height; at < x + width; at += 6) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

/** A saw-toothed right edge: this call has not ended. */
function paintOpenEnd(context: CanvasRenderingContext2D, x: number, y: number, height: number): void {
  context.beginPath();
  context.moveTo(x, y);
  for (let at = 0; at < height; at += 6) {
    context.lineTo(x + 3, y + Math.min(height, at + 3));
    context.lineTo(x, y + Math.min(height, at + 6));
  }
  context.closePath();
  context.fill();
}

function outline(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
  dashed: boolean,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  if (dashed) context.setLineDash([3, 2]);
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  if (dashed) context.setLineDash([]);
}

function paintPresent(context: CanvasRenderingContext2D, theme: Theme, page: Page, stage: Stage): void {
  if (!page.overview?.run.live) return;
  context.fillStyle = theme.focus;
  context.fillRect(Math.round(xOf(stage.view, stage.width, stage.now)), 0, 1, stage.height);
}

function paintAxis(
  context: CanvasRenderingContext2D,
  theme: Theme,
  page: Page,
  stage: Stage,
  marks: readonly Tick[],
): void {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, stage.width, AXIS_HEIGHT);
  context.fillStyle = theme.line;
  context.fillRect(0, AXIS_HEIGHT - 1, stage.width, 1);
  context.font = theme.smallFont;
  context.textBaseline = 'middle';
  const started = page.overview?.run.startedAt ?? '';
  const labels = page.clock ? clockLabels(started, marks) : marks.map(({ label }) => label);
  for (const [index, mark] of marks.entries()) {
    const x = Math.round(xOf(stage.view, stage.width, mark.time));
    context.fillStyle = theme.line;
    context.fillRect(x, AXIS_HEIGHT - 7, 1, 6);
    context.fillStyle = theme.muted;
    context.fillText(labels[index]!, x + 4, AXIS_HEIGHT / 2);
  }
}

function paintRange(
  context: CanvasRenderingContext2D,
  theme: Theme,
  page: Page,
  stage: Stage,
  height: number,
  range: { from: number; to: number },
): void {
  const from = xOf(page.view, stage.width, range.from);
  const to = xOf(page.view, stage.width, range.to);
  context.fillStyle = theme.range;
  context.fillRect(from, 0, to - from, height);
  context.fillStyle = theme.focus;
  context.fillRect(Math.round(from), 0, 1, height);
  context.fillRect(Math.round(to), 0, 1, height);
}
