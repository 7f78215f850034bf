/** Time as the page uses it: nanoseconds since the run's first call, in a JavaScript number (exact for 104 days). */
export type Nanoseconds = number;

export const MICROSECOND = 1e3;
export const MILLISECOND = 1e6;
export const SECOND = 1e9;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A length of time as a person says it: `340 ns`, `3 ms`, `12.4 s`, `2 min 5 s`, `1 h 4 min`. */
export function formatDuration(time: Nanoseconds): string {
  const length = Math.max(0, time);
  if (length < 999.5) return `${Math.round(length)} ns`;
  if (length < 999.5 * MICROSECOND) return `${short(length / MICROSECOND)} µs`;
  if (length < 999.5 * MILLISECOND) return `${short(length / MILLISECOND)} ms`;
  if (length < 59.95 * SECOND) return `${trimmed((length / SECOND).toFixed(1))} s`;
  if (length < HOUR) return pair(Math.round(length / SECOND), 60, 'min', 's');
  if (length < DAY) return pair(Math.round(length / MINUTE), 60, 'h', 'min');
  return pair(Math.round(length / HOUR), 24, length < 2 * DAY ? 'day' : 'days', 'h');
}

/**
 * A moment of a run that is so long, to be compared with others in a column: `0.020 s`, `12.214 s`, of a short run `3.214 ms`. `span`: of the
 * part of the run that is looked at, whose moments are told apart.
 */
export function formatMoment(time: Nanoseconds, length: Nanoseconds, span: Nanoseconds = length): string {
  const [unit, name] = momentUnit(length);
  return `${(Math.max(0, time) / unit).toFixed(placesFor(unit, span))} ${name}`;
}

function momentUnit(length: Nanoseconds): [unit: Nanoseconds, name: string] {
  if (length <= MICROSECOND) return [1, 'ns'];
  if (length <= MILLISECOND) return [MICROSECOND, 'µs'];
  return length <= SECOND ? [MILLISECOND, 'ms'] : [SECOND, 's'];
}

/** Decimals that tell thousands of moments apart, but no more than there are of nanoseconds. */
function placesFor(unit: Nanoseconds, span: Nanoseconds): number {
  const needed = Math.ceil(Math.log10((unit * 1e4) / Math.max(1, span)) - 1e-9);
  return Math.min(Math.round(Math.log10(unit)), Math.max(3, needed));
}

/** One decimal below ten, none above: `3.2`, `3`, `12`. */
function short(value: number): string {
  return value < 9.95 ? trimmed(value.toFixed(1)) : String(Math.round(value));
}

function trimmed(text: string): string {
  return text.endsWith('.0') ? text.slice(0, -2) : text;
}

function pair(small: number, base: number, big: string, little: string): string {
  const rest = small % base;
  return `${Math.floor(small / base)} ${big}${rest === 0 ? '' : ` ${rest} ${little}`}`;
}

/** Clock time of a moment of a run, in the person's own time zone: `14:03:22.418`; of a short `span` with more decimals. Empty when the start is not known. */
export function formatClock(startedAt: string, time: Nanoseconds, span: Nanoseconds = Infinity): string {
  const second = Date.parse(startedAt.replace(/\.\d+/, ''));
  if (Number.isNaN(second)) return '';
  // A date has no more than milliseconds.
  const start = Number((/\.(\d{1,9})/.exec(startedAt)?.[1] ?? '').padEnd(9, '0'));
  const since = start + Math.floor(time);
  const date = new Date(second + Math.floor(since / SECOND) * 1000);
  const two = (part: number) => String(part).padStart(2, '0');
  const fraction = String(((since % SECOND) + SECOND) % SECOND).padStart(9, '0');
  const places = placesFor(SECOND, span);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${fraction.slice(0, places)}`;
}

/** Clock times of an axis' marks, with as many decimals as tell two of them apart. */
export function clockLabels(startedAt: string, marks: readonly Tick[]): string[] {
  const step = marks.length > 1 ? marks[1]!.time - marks[0]!.time : Infinity;
  return marks.map(({ time }) => formatClock(startedAt, time, step * 1e4));
}

const LONG_STEPS = [1, 2, 5, 10, 15, 30].map((n) => n * SECOND);
LONG_STEPS.push(...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE));
LONG_STEPS.push(...[1, 2, 3, 6, 12].map((n) => n * HOUR));

/** The smallest round step that is at least `least`: 1, 2 or 5 times a power of ten below a second, clock-like steps above. */
export function roundStep(least: Nanoseconds): Nanoseconds {
  if (least <= 0.5 * SECOND) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    for (const factor of [1, 2, 5, 10]) if (power * factor >= least * (1 - 1e-9)) return power * factor;
  }
  return LONG_STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY) * DAY;
}

export interface Tick {
  time: Nanoseconds;
  label: string;
}

/** Labelled marks of the time axis for a window of `width` pixels, with at least `spacing` pixels between two. */
export function ticks(from: Nanoseconds, to: Nanoseconds, width: number, spacing = 90): Tick[] {
  if (!(to > from) || width <= 0) return [];
  const step = roundStep(((to - from) * spacing) / width);
  const marks: Tick[] = [];
  for (let index = Math.ceil(from / step); index * step <= to; index++) {
    const time = index * step;
    if (time >= 0) marks.push({ time, label: tickLabel(time, step, to) });
  }
  return marks;
}

/** Every label of one axis has the same unit and as many decimals as its step needs. */
function tickLabel(time: Nanoseconds, step: Nanoseconds, to: Nanoseconds): string {
  if (time === 0) return '0';
  if (to <= MICROSECOND) return `${time} ns`;
  if (to <= MILLISECOND) return `${decimals(time, MICROSECOND, step)} µs`;
  if (to <= SECOND) return `${decimals(time, MILLISECOND, step)} ms`;
  if (to <= 2 * MINUTE) return `${decimals(time, SECOND, step)} s`;
  const hours = Math.floor(time / HOUR);
  const minutes = Math.floor((time % HOUR) / MINUTE);
  const seconds = decimals(time % MINUTE, SECOND, step);
  const padded = /^\d(\.|$)/.test(seconds) ? `0${seconds}` : seconds;
  return hours > 0 || to > HOUR ? `${hours}:${String(minutes).padStart(2, '0')}:${padded}` : `${minutes}:${padded}`;
}

function decimals(time: Nanoseconds, unit: Nanoseconds, step: Nanoseconds): string {
  const places = step >= unit ? 0 : Math.min(9, Math.ceil(Math.log10(unit / step) - 1e-9));
  return (time / unit).toFixed(places);
}
