import { Dict, type Value } from '../values/model';
import { child } from './children';
import { EventFields, wholeFrame } from './eventPlace';
import { line } from './render';
import type { RunFile } from './runFile';
import { oneLine } from './text';

const TITLES: Record<string, string> = {
  held: 'Held',
  resumed: 'Released',
  edited: 'Edited',
  skipped: 'Skipped',
  again: 'Run again',
  cancelled: 'Cancelled',
  log: 'Log',
  mark: 'Note',
  route: 'Goes on to',
  crash: 'Crash',
  damaged: 'Part of the recording could not be read',
};

/** Fields that say most, in the order in which they are tried. */
const TELLING = ['text', 'description', 'message', 'why', 'path', 'name', 'to', 'client', 'reason'];

/** `Edited: order_id 7 → 70`, `Released (deadline)`, in one line. */
export function eventText(file: RunFile, name: string, value: number | null, data: string | null): string {
  const title = TITLES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
  const fields = value === null ? fromJson(data) : fromValue(file, value);
  if (name === 'resumed' && fields['why'] === 'release')
    return fields['client'] === undefined ? title : `${title} by ${oneLine(fields['client'], 100)}`;
  if (name === 'route') return oneLine(`${title} ${fields['to'] ?? 'the end'}`, 500);
  const change =
    fields['name'] !== undefined && fields['after'] !== undefined
      ? `${fields['name']} ${fields['before'] ?? ''} → ${fields['after']}`
      : undefined;
  if (name === 'crash') {
    const { stack } = new EventFields(file, value, data);
    const way = stack.map(wholeFrame).join(' ← ');
    if (way !== '') return oneLine(`${title}: ${fields['text'] ?? fields['signal'] ?? ''} ${way}`, 500);
  }
  const text = change ?? TELLING.map((key) => fields[key]).find((found) => found !== undefined && found !== '');
  return oneLine(text === undefined ? title : `${title}: ${text}`, 500);
}

function fromValue(file: RunFile, id: number): Record<string, string | undefined> {
  const value = file.values.root(id);
  if (!(value instanceof Dict)) return {};
  const keys = [...TELLING, 'before', 'after'];
  return Object.fromEntries(
    keys.map((key) => {
      const found = child(value, key, file.values);
      const plain = found === undefined ? undefined : file.values.resolve(found);
      return [key, plain === undefined || plain === null ? undefined : shown(plain, file)];
    }),
  );
}

/** Text as it is, a list of texts (where a route goes) as `a, b`, and all else in one line. */
function shown(plain: Value, file: RunFile): string {
  if (typeof plain === 'string') return plain;
  const items = Array.isArray(plain) ? plain.map((item) => file.values.resolve(item)) : [];
  return items.length > 0 && items.every((item) => typeof item === 'string')
    ? items.join(', ')
    : line(plain, file.values);
}

function fromJson(data: string | null): Record<string, string | undefined> {
  if (data === null) return {};
  const parsed = JSON.parse(data) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(parsed).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
