import { damageText, endingText, type CallRow, type RunSummary, type ValueNode } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import { isEvent, stateWord } from './kinds';
import { endOf } from './bars';
import { formatDuration, formatMoment, type Nanoseconds } from './time';

/** `1 call`, `41 calls`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${withCommas(value)} ${value === 1 ? one : many}`;
}

/** `812`, `3.1 k`, `2.4 M`. */
export function rough(value: number): string {
  if (value < 1000) return String(value);
  const [number, unit] = value < 999_950 ? [value / 1e3, 'k'] : [value / 1e6, 'M'];
  const text = number.toFixed(1);
  return `${text.endsWith('.0') ? text.slice(0, -2) : text} ${unit}`;
}

/**
 * The facts of a run after its name: `12.4 s · crashed (SIGSEGV) · 41 calls · 2 errors · 3.1 k tokens`. What is zero is not said, calls excepted; how
 * it ended is only said where it did not end by itself.
 */
export function runFacts(run: RunSummary, now: Nanoseconds = run.duration): string[] {
  const facts = [formatDuration(now)];
  if (run.ending) facts.push(endingText(run.ending));
  facts.push(counted(run.calls, 'call'));
  if (run.errors > 0) facts.push(counted(run.errors, 'error'));
  if (run.holds > 0) facts.push(counted(run.holds, 'hold'));
  if (run.tokens > 0) facts.push(`${rough(run.tokens)} ${run.tokens === 1 ? 'token' : 'tokens'}`);
  const missing = damageText(run);
  if (missing !== undefined) facts.push(missing);
  return facts;
}

/** Said aloud when a call is selected, and shown in its tooltip: `refund, tool, error, 3 ms, edited`. */
export function callFacts(call: CallRow, now: Nanoseconds): string[] {
  if (isEvent(call)) {
    const stood = call.holds.length > 0 ? [`${stateWord(call) || 'held'} ${formatDuration(heldTime(call, now))}`] : [];
    return ['event', `at ${formatMoment(call.start, now)}`, ...stood, ...(call.state === 'error' ? ['crash'] : [])];
  }
  const facts = [call.kind, stateWord(call), formatDuration(endOf(call, now) - call.start)];
  if (call.holds.length > 0) facts.push(`held ${formatDuration(heldTime(call, now))}`);
  if (call.edited) facts.push('edited');
  return facts;
}

export function heldTime(call: CallRow, now: Nanoseconds): Nanoseconds {
  return call.holds.reduce((sum, hold) => sum + Math.max(0, (hold.end ?? endOf(call, now)) - hold.start), 0);
}

/** `refund(amount=700, reason='late')` from the first arguments, cut in the middle where it is long. */
export function callTitle(name: string, args: readonly ValueNode[], more: boolean): string {
  const parts = args.map((arg) => (/^\d*$/.test(arg.name) ? cut(arg.text, 40) : `${arg.name}=${cut(arg.text, 40)}`));
  if (more) parts.push('…');
  return `${name}(${parts.join(', ')})`;
}

/** How long a text is of which only the ends are told: it stands behind the quotes. */
const LENGTH = / \(\d+ (?:characters|bytes)\)$/;

/** A line, and what it says at its end of its length, which is of no use in part. */
export function withoutLength(line: string): [line: string, length: string] {
  const length = LENGTH.exec(line)?.[0] ?? '';
  return [line.slice(0, line.length - length.length), length];
}

/** Cuts in the middle, so that both ends stay readable. */
export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ');
  if (line.length <= length) return line;
  const [kept, said] = withoutLength(line);
  const room = length - 1 - said.length;
  const head = Math.ceil(room * 0.6);
  return `${kept.slice(0, head)}…${kept.slice(kept.length - (room - head))}${said}`;
}
