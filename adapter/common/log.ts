import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from './errors';
import { maskText } from './masking';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
const ranks: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3 };

/**
 * Leveled log to one file, made with the first line. Secrets are masked. A log that cannot be written is given up without a word: it must
 * never be the reason that a session ends.
 */
export class Log {
  private broken = false;
  private made = false;
  private mask: (text: string) => string = (text) => maskText(text);

  constructor(
    private file: string | undefined,
    private level: LogLevel = 'info',
  ) {}

  /** Log to another place, or with another level, from now on. */
  redirect(file: string | undefined, level: LogLevel): void {
    this.file = file;
    this.level = level;
    this.made = false;
    this.broken = false;
  }

  /** Mask with this from now on: the usual secrets, and those the person named. */
  maskWith(mask: (text: string) => string): void {
    this.mask = mask;
  }

  get path(): string | undefined {
    return this.file;
  }

  enabled(level: LogLevel): boolean {
    return this.file !== undefined && !this.broken && ranks[level] <= ranks[this.level];
  }

  error(what: string, error?: unknown): void {
    this.write('error', what, error);
  }
  warn(what: string, error?: unknown): void {
    this.write('warn', what, error);
  }
  info(what: string): void {
    this.write('info', what);
  }
  debug(what: string | (() => string)): void {
    if (this.enabled('debug')) this.write('debug', typeof what === 'string' ? what : what());
  }

  private write(level: LogLevel, what: string, error?: unknown): void {
    if (!this.enabled(level) || this.file === undefined) return;
    const detail =
      error === undefined ? '' : ` ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`;
    try {
      if (!this.made) mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      this.made = true;
      const line = this.mask(`${new Date().toISOString()} ${level.padEnd(5)} ${what}${detail}`);
      appendFileSync(this.file, `${line}\n`, { mode: 0o600 });
    } catch {
      this.broken = true;
    }
  }
}
