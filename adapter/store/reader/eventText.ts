import { Dict, type Value } from '../values/model';
import { child } from './children';
import { crashText } from './crashPlace';
import { EventFields, shortFrame } from './eventPlace';
import { goneText } from './goneText';
import { askedBy, releaseText } from './releaseWords';
import { line } from './render';
import type { RunFile } from './runFile';
import { oneLine } from './text';

/** Characters at most; a longer one has an ellipsis in it. */
export const EVENT_TEXT = 500;

const TITLES: Record<string, string> = {
  held: 'Held',
  stop: 'Held',
  edited: 'Edited',
  edit: 'Edited',
  skipped: 'Skipped',
  again: 'Run again',
  cancelled: 'Cancelled',
  log: 'Log',
  mark: 'Note',
  alone: 'Note',
  route: 'Goes on to',
  crash: 'Crash',
  uncaught: 'Uncaught exception',
  terminated: 'Stopped',
  damaged: 'Part of the recording could not be read',
};

/** Fields that say most, in the order in which they are tried. */
const TELLING = ['text', 'description', 'message', 'why', 'path', 'name', 'to', 'reason'];
/** What is asked for by somebody, and said with who it was. */
const ASKED_FOR = ['client', 'action', 'step'];

/** `Edited: order_id 7 → 70`, `Released in the editor`, in one line. */
export function eventText(file: RunFile, name: string, value: number | null, data: string | null): string {
  const title = TITLES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
  const fields = value === null ? fromJson(data) : fromValue(file, value);
  if (name === 'resumed' || name === 'release') return oneLine(releaseText(fields), 100);
  if (name === 'skipped' || name === 'again')
    return oneLine([title, askedBy(fields['client'])].filter(Boolean).join(' '), 100);
  if (name === 'route') return oneLine(`${title} ${routeText(new EventFields(file, value, data))}`, EVENT_TEXT);
  if (name === 'exited') {
    const code = new EventFields(file, value, data).number('code');
    return code === undefined ? 'Ended' : `Ended with exit code ${code}`;
  }
  const change =
    fields['name'] !== undefined && fields['after'] !== undefined
      ? `${fields['name']} ${fields['before'] ?? ''} → ${fields['after']}`
      : undefined;
  if (name === 'crashed' || name === 'lost' || name === 'vanished')
    return goneText(file, name, new EventFields(file, value, data));
  if (name === 'crash' || name === 'uncaught') {
    const event = new EventFields(file, value, data);
    const way = crashText(file, event);
    const said = name === 'crash' ? title : uncaughtTitle(event);
    // `Segmentation fault in string_at, from …`, but a message may end with anything: `ValueError: no tea, at …`.
    const isIn = way.startsWith('in ');
    const between = event.text('type') === undefined ? (isIn ? ' ' : ' in ') : isIn ? ', ' : ', at ';
    if (way !== '') return oneLine(`${said}: ${fields['text'] ?? fields['signal'] ?? ''}${between}${way}`, EVENT_TEXT);
  }
  const text = change ?? TELLING.map((key) => fields[key]).find((found) => found !== undefined && found !== '');
  if (text === undefined) return title;
  if (name === 'edited') return oneLine(`${title}: ${editText(text)}`, EVENT_TEXT);
  if (name === 'held' || name === 'stop') {
    const place = placeText(new EventFields(file, value, data));
    return oneLine([title, text, place].filter(Boolean).join(': '), EVENT_TEXT);
  }
  return oneLine(`${title}: ${text}`, EVENT_TEXT);
}

/** `tools, work (60 times)`, `the end`. */
function routeText(event: EventFields): string {
  const times = new Map<string, number>();
  for (const name of event.texts('to')) times.set(name, (times.get(name) ?? 0) + 1);
  if (times.size === 0) return 'the end';
  const said = (name: string): string => (name === '__end__' ? 'the end' : name);
  return [...times].map(([name, count]) => said(name) + (count > 1 ? ` (${count} times)` : '')).join(', ');
}

/** `lookup @ app.py:14`: the line that was held. */
function placeText(event: EventFields): string | undefined {
  const top = event.place ?? event.stack[0];
  return top && shortFrame(top);
}

/** As the console says it, `lookup_order: order_id 7 → 70 (edited)`; of code outside of calls an older runtime said `line: a 1 → 10`. */
function editText(text: string): string {
  return text.replace(/ \(edited\)$/, '').replace(/^line: /, '');
}

/** It ends a thread, not the app. */
export function uncaughtTitle(event: EventFields): string {
  const thread = event.text('thread');
  return `${TITLES['uncaught']} in ${thread === undefined ? 'a thread' : `thread ${thread}`}`;
}

function fromValue(file: RunFile, id: number): Record<string, string | undefined> {
  const value = file.values.root(id);
  if (!(value instanceof Dict)) return {};
  const keys = [...TELLING, ...ASKED_FOR, 'before', 'after'];
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
    Object.entries(parsed)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
