import { crashWay } from './crashPlace';
import { EventFields, shortFrame } from './eventPlace';
import { eventText, uncaughtTitle } from './eventText';
import type { RunFile } from './runFile';
import { oneLine } from './text';

/** So much of what the app wrote is read for one line. */
const LONGEST = 500;

/** What a stop is called, by its reason. */
const STOPS: Record<string, string> = {
  breakpoint: 'Breakpoint',
  'function breakpoint': 'Function breakpoint',
  'instruction breakpoint': 'Breakpoint on an address',
  'data breakpoint': 'Watched value',
  step: 'Step',
  pause: 'Pause',
  entry: 'Start',
  goto: 'Jump',
  restart: 'Restart',
};

/** Of a row of `events`: what the session saw of a hold or an edit of a call is said by the app, too, where it can. */
export const SAID_TWICE = `CASE WHEN call IS NULL OR name NOT IN ('stop', 'edit', 'release') OR NOT json_valid(data) OR json_extract(data, '$.native') THEN 0
  WHEN name = 'edit' THEN EXISTS (SELECT 1 FROM events AS other WHERE other.call = events.call AND other.name = 'edited')
  ELSE 1 END`;

export interface StoredEvent {
  id: number;
  time: number;
  name: string;
  value: number | null;
  data: string | null;
}

/** What is said of an event where no call says more: `Breakpoint: work @ order.c:7`, `stdout: orders`, `Ended with exit code 0`. */
export function eventLine(file: RunFile, event: StoredEvent): string {
  const fields = new EventFields(file, event.value, event.data);
  const text = words(file, event, fields);
  return oneLine(text ?? plain(file, event), LONGEST);
}

/** The same in full: what was written, with its lines. */
export function wholeText(file: RunFile, event: StoredEvent): string {
  const fields = new EventFields(file, event.value, event.data);
  const said = fields.text('text');
  return said !== undefined && (event.name === 'output' || event.name === 'log') ? said : eventLine(file, event);
}

function words(file: RunFile, { name }: StoredEvent, fields: EventFields): string | undefined {
  const top =
    name === 'crash' || name === 'uncaught' ? crashWay(file, fields).way[0] : (fields.place ?? fields.stack[0]);
  const where = top === undefined ? undefined : shortFrame(top);
  switch (name) {
    case 'output':
      return `${fields.text('category') ?? 'output'}: ${(fields.text('text') ?? '').slice(0, 4 * LONGEST)}`;
    case 'stop': {
      const reason = fields.text('reason') ?? '';
      // `Paused on SIGSEGV`: what it was stands in the description.
      const title = STOPS[reason] ?? capital((fields.text('description') ?? 'Stopped').replace(/^Paused on /, ''));
      const text = fields.text('text') ?? '';
      return [text.includes(title) ? '' : title, text, where].filter(Boolean).join(': ');
    }
    case 'uncaught':
      return [`${uncaughtTitle(fields)}: ${fields.text('text') ?? ''}`, where].filter(Boolean).join(': ');
    case 'crash':
      return [`Crash: ${fields.text('text') ?? fields.text('signal') ?? ''}`.trim(), where].filter(Boolean).join(': ');
    default:
      return undefined;
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plain(file: RunFile, { name, value, data }: StoredEvent): string {
  try {
    return eventText(file, name, value, data);
  } catch (error) {
    // What the session wrote is not JSON any more: the event is still worth its name.
    if (error instanceof SyntaxError) return name;
    throw error;
  }
}
