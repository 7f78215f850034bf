import { withCommas } from '../../../protocol/withCommas';
import { messageOf } from '../../common/errors';
import { inertJson } from '../../common/inertJson';

/** Widest line in a terminal: longer ones read badly. */
export const WIDEST_SHOWN = 160;
/** Widest line in a file, or for a program that reads it: what is searched for is not to be cut off. */
const WIDEST = 1000;

/** Columns of the terminal, within what reads well. */
export function width(): number {
  const told = Number(process.env['COLUMNS']);
  const columns = process.stdout.columns ?? (told > 0 ? told : WIDEST);
  return Math.max(60, Math.min(columns, process.stdout.isTTY ? WIDEST_SHOWN : WIDEST));
}

/** `3 ms`, `12.4 s`, `3 min 20 s`: nanoseconds as a person says them. */
export function durationText(nanoseconds: number): string {
  const size = Math.abs(nanoseconds);
  const sign = nanoseconds < 0 ? '-' : '';
  if (size < 1e3) return `${sign}${Math.round(size)} ns`;
  // What rounds up to a thousand is said in the next unit.
  if (size < 999_500) return `${sign}${Math.round(size / 1e3)} us`;
  if (size < 10e6) return `${sign}${trimmed(size / 1e6)} ms`;
  if (size < 999.5e6) return `${sign}${Math.round(size / 1e6)} ms`;
  if (size < 59.95e9) return `${sign}${trimmed(size / 1e9)} s`;
  const seconds = Math.round(size / 1e9);
  if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${sign}${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

function trimmed(number: number): string {
  return number.toFixed(1).replace(/\.0$/, '');
}

/** A moment of a run, to be compared with others in a column: `+0.020 s`. */
export function momentText(nanoseconds: number): string {
  return `${nanoseconds < 0 ? '-' : '+'}${(Math.abs(nanoseconds) / 1e9).toFixed(3)} s`;
}

/** `1 call`, `41 calls`, `12,000 calls`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${withCommas(number)} ${number === 1 ? one : many}`;
}

/** `2026-11-22 02:33:31`, in this machine's time zone. */
export function clockText(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '';
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** At most so many columns; what the app wrote cannot steer the terminal. */
export function fit(text: string, columns: number): string {
  const plain = plainText(text);
  // Also for what is printed whole: counting its characters would take it apart.
  if (plain.length <= columns) return plain;
  const characters = [...plain];
  if (characters.length <= columns) return plain;
  // What ends here may have been cut before.
  return `${characters
    .slice(0, Math.max(0, columns - 1))
    .join('')
    .replace(/…+$/, '')}…`;
}

export function column(text: string, columns: number): string {
  const fitted = fit(text, columns);
  return fitted + ' '.repeat(Math.max(0, columns - [...fitted].length));
}

/** Without control characters: an escape sequence that was recorded is not to act on the terminal that shows it. */
export function plainText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ');
}

export function print(lines: string | readonly string[]): void {
  process.stdout.once('error', outputFailed);
  process.stdout.write(`${typeof lines === 'string' ? lines : lines.join('\n')}\n`);
}

export function outputFailed(error: NodeJS.ErrnoException): void {
  // Whoever read us, such as `head`, has enough.
  if (error.code === 'EPIPE' || error.code === 'EOF') process.exit();
  process.stderr.write(`toolbreak: The output could not be written: ${messageOf(error)}\n`);
  process.exit(1);
}

export function printJson(value: unknown): void {
  print(inertJson(JSON.stringify(value, null, 2)));
}
