import { UserError } from '../../common/errors';

const UNITS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
  d: 86400e9,
};
const LENGTH = new RegExp(String.raw`^(\d{1,15}(?:\.\d{1,9})?)\s*(${Object.keys(UNITS).join('|')})$`);
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

/** A moment as a query names it. */
export type Moment =
  /** Nanoseconds since 1970. */
  | { since: 'epoch'; time: bigint }
  /** Nanoseconds since the run's start, or before its end as a number below zero. */
  | { since: 'start' | 'end'; time: number };

/** Nanoseconds of `1.5s`, `200ms` or a number. Throws a `UserError`. */
export function durationIn(value: string | number, field: string): number {
  const length = typeof value === 'number' ? value : lengthOf(value.trim());
  if (length === undefined || !Number.isFinite(length) || length < 0)
    throw new UserError(`"${field}" is a length of time in ns, us, ms, s, m, h or d, such as 200ms, 1.5s or 2m.`);
  return Math.round(length);
}

/** Throws a `UserError`. */
export function momentIn(value: string | number, field: string): Moment {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return { since: value < 0 ? 'end' : 'start', time: Math.round(value) };
    throw badMoment(field);
  }
  const text = value.trim();
  const length = lengthOf(text.replace(/^[+-]/, ''));
  if (length !== undefined)
    return { since: text.startsWith('-') ? 'end' : 'start', time: Math.round(text.startsWith('-') ? -length : length) };
  if (!ISO.test(text)) throw badMoment(field);
  return { since: 'epoch', time: wallClock(text, field) };
}

function lengthOf(text: string): number | undefined {
  const match = LENGTH.exec(text);
  return match === null ? undefined : Number(match[1]) * UNITS[match[2]!]!;
}

/** Milliseconds from the date, and the digits behind them as they stand. */
function wallClock(text: string, field: string): bigint {
  const [, whole, fraction = '', zone = ''] = /^(.*?)(?:[.,](\d+))?(Z|[+-]\d{2}:?\d{2})?$/i.exec(text)!;
  // A day without an hour begins at midnight here; JavaScript would take that of Greenwich.
  const local = whole!.length === 10 ? `${whole}T00:00:00` : whole!.replace(' ', 'T');
  const seconds = Date.parse(
    local + (/^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()),
  );
  if (Number.isNaN(seconds)) throw badMoment(field);
  // JavaScript takes the 30th of February for a day in March.
  const day = local.slice(0, 10);
  if (new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day) throw badMoment(field);
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

function badMoment(field: string): UserError {
  return new UserError(
    `"${field}" is a moment: a date and time (2026-11-22T10:00:00Z), since the run's start (+5s), or before its end (-5s, -2h, -1d).`,
  );
}

/** `2026-11-22T10:00:00.123456789Z` */
export function isoText(wall: bigint): string {
  const seconds = wall / SECOND - (wall % SECOND < 0n ? 1n : 0n);
  return written(Number(seconds), Number(wall - seconds * SECOND));
}

/** Moments of one run as `isoText` writes them, told by their time since its start. */
export class RunClock {
  private readonly seconds: number;
  private readonly nanoseconds: number;

  constructor(private readonly started: bigint) {
    const seconds = started / SECOND;
    this.seconds = Number(seconds);
    this.nanoseconds = Number(started - seconds * SECOND);
  }

  text(time: number): string {
    const since = this.nanoseconds + Math.round(time);
    if (!Number.isSafeInteger(since)) return isoText(this.started + BigInt(Math.round(time)));
    const seconds = Math.floor(since / 1e9);
    return written(this.seconds + seconds, since - seconds * 1e9);
  }
}

const SECOND = 1_000_000_000n;
/** Calls that are told together mostly began in the same second. */
let last = { seconds: 0, text: '1970-01-01T00:00:00' };

function written(seconds: number, nanoseconds: number): string {
  if (seconds !== last.seconds) {
    const date = new Date(seconds * 1000);
    last = { seconds, text: Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, -5) };
  }
  return last.text === '' ? '' : `${last.text}.${String(nanoseconds).padStart(9, '0')}Z`;
}
