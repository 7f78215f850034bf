import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../../common/errors';
import { parseObject } from '../../common/ndjson';
import { stateFolder } from '../../common/paths';

/** How long recordings stay. Nothing: without that limit. */
export interface Retention {
  /** Milliseconds since a run was last written. */
  age?: number;
  /** Bytes of all runs together. */
  size?: number;
}

/** As a person sets them; 0 is no limit. */
export interface RetentionSettings {
  days: number;
  gigabytes: number;
}

export const DEFAULT_RETENTION: RetentionSettings = { days: 7, gigabytes: 10 };

const DAY = 86_400_000;
const GIGABYTE = 1e9;

/** `settings.json` in the state folder: what every session and every command of this machine goes by. */
export function settingsFile(state: string = stateFolder()): string {
  return join(state, 'settings.json');
}

/** The limits in force. Throws a sentence for a file that says something else than limits: nothing may be deleted by a guess. */
export function readRetention(state: string = stateFolder()): Retention {
  const file = settingsFile(state);
  const { retention } = readSettings(file);
  const given: Record<string, unknown> =
    retention === undefined ? {} : isObject(retention) ? retention : fail(file, '"retention" is no object');
  const limit = (name: keyof RetentionSettings): number => {
    const value = given[name] ?? DEFAULT_RETENTION[name];
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      return fail(file, `"${name}" is no number from 0 on`);
    return value;
  };
  const days = limit('days');
  const gigabytes = limit('gigabytes');
  return { ...(days > 0 && { age: days * DAY }), ...(gigabytes > 0 && { size: gigabytes * GIGABYTE }) };
}

/** Notes the editor's settings, so that whoever prunes goes by them, too. */
export function noteRetention(settings: RetentionSettings, state: string = stateFolder()): void {
  const file = settingsFile(state);
  const all = readSettings(file);
  const known = isObject(all['retention']) ? all['retention'] : {};
  if (known['days'] === settings.days && known['gigabytes'] === settings.gigabytes) return;
  const fresh = `${file}.${process.pid}.new`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(fresh, `${JSON.stringify({ ...all, retention: { ...known, ...settings } }, null, 2)}\n`, {
    mode: 0o600,
  });
  renameSync(fresh, file);
}

function readSettings(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UserError(`The settings ${file} cannot be read. Check who may read the file.`);
  }
  return parseObject(text) ?? fail(file, 'it is no JSON object');
}

function fail(file: string, what: string): never {
  throw new UserError(`The settings ${file} cannot be used: ${what}. Mend the file or remove it.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// ---------------------------------------------------------------- in words

const TIMES: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY, w: 7 * DAY };
const SIZES: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: GIGABYTE, t: 1e12 };

/** Milliseconds of `7d`, `12h`, `30m`, `2w`; nothing for another text. */
export function parseAge(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text.trim());
  return match === null ? undefined : Number(match[1]) * TIMES[match[2]!]!;
}

/** Bytes of `10GB`, `500MB`, `1.5 TB`, `0`; nothing for another text. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])b?|b)$/i.exec(text.trim());
  return match === null ? undefined : Math.round(Number(match[1]) * SIZES[(match[2] ?? '').toLowerCase()]!);
}

export function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['TB', 1e12],
    ['GB', 1e9],
    ['MB', 1e6],
    ['kB', 1e3],
  ] as const)
    if (bytes >= size) return `${(bytes / size).toFixed(bytes >= size * 100 ? 0 : 1)} ${unit}`;
  return `${bytes} bytes`;
}
