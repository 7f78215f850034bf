import { Dict, type Value } from '../values/model';
import { child } from './children';
import type { RunFile } from './runFile';
import { shorten } from './text';

/** A line of the way to where something happened. */
export interface EventFrame {
  function: string;
  path?: string;
  line?: number;
}

const MOST_FACTS = 400;
const LONGEST_MESSAGE = 200;
/** `fail @ /desk/order.c:40`, as stops and crashes are recorded; without the place where it is not known. */
const FRAME = /^(.*) @ (.*):(\d+)$/s;

/** Fields of an event, seen by the session or recorded by the app. Of what cannot be read there are none. */
export class EventFields {
  private readonly json: Record<string, unknown> | undefined;
  private readonly value: Value | undefined;

  constructor(
    private readonly file: RunFile,
    value: number | null,
    data: string | null,
  ) {
    this.value = value === null ? undefined : file.values.root(value);
    this.json = data === null ? undefined : objectIn(data);
  }

  text(name: string): string | undefined {
    const found = this.field(name);
    return typeof found === 'string' && found !== '' ? found : undefined;
  }

  /** Of a list, all that are texts; of a text itself. */
  texts(name: string): string[] {
    const found = this.field(name);
    const all: unknown[] = Array.isArray(found)
      ? (found as Value[]).map((item) => this.file.values.resolve(item))
      : [found];
    return all.filter((text): text is string => typeof text === 'string' && text !== '');
  }

  number(name: string): number | undefined {
    const found = this.field(name);
    return typeof found === 'number' ? found : undefined;
  }

  flag(name: string): boolean {
    return this.field(name) === true;
  }

  /** Where it happened: what names a place itself knows best. */
  get place(): EventFrame | undefined {
    return this.saidPlace ?? this.stack.find((frame) => frame.path !== undefined);
  }

  get saidPlace(): EventFrame | undefined {
    const [path, line] = [this.text('path'), this.number('line')];
    return path === undefined || line === undefined ? undefined : { function: this.text('function') ?? '', path, line };
  }

  /** The way there, innermost first; of what names only a place, this. */
  get stack(): EventFrame[] {
    const lines = this.field('backtrace');
    if (Array.isArray(lines))
      return lines
        .map((line: unknown) => this.file.values.resolve(line as Value))
        .filter((line) => typeof line === 'string')
        .map(frameOf);
    const { saidPlace } = this;
    return saidPlace === undefined ? [] : [saidPlace];
  }

  /** What else was kept, such as a signal or registers: `registers.rax`. */
  facts(): { name: string; value: string }[] {
    return this.json === undefined ? [] : flat(this.json, '').slice(0, MOST_FACTS);
  }

  /** The app told no more than is shown elsewhere, such as an error's text and the way to it. */
  get isSaid(): boolean {
    const { value } = this;
    // The title has it on one line, and not all of one that is long.
    const message = this.field('message') ?? '';
    if (typeof message !== 'string' || message.length > LONGEST_MESSAGE || message.includes('\n')) return false;
    return value instanceof Dict && value.entries.every(([key]) => typeof key === 'string' && SAID.has(key));
  }

  private field(name: string): unknown {
    if (this.json !== undefined) return Object.hasOwn(this.json, name) ? this.json[name] : undefined;
    if (!(this.value instanceof Dict)) return undefined;
    const found = child(this.value, name, this.file.values);
    return found === undefined ? undefined : this.file.values.resolve(found);
  }
}

/** What the session wrote of an event. */
export function objectIn(data: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(data);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : {};
  } catch {
    // A damaged file: the event is still worth its name and its time.
    return {};
  }
}

/** What is shown elsewhere, or says nothing to a person. */
const SHOWN = new Set(
  'text backtrace path line function category breakpoint boundary process copied native'.split(' '),
);
/** The same of what the app told: an error's type and message are its text, the thread is in the title. */
const SAID = new Set('text type message backtrace path line function thread'.split(' '));

function flat(data: Record<string, unknown>, before: string): { name: string; value: string }[] {
  return Object.entries(data).flatMap(([key, value]) => {
    if ((before === '' && SHOWN.has(key)) || value === null) return [];
    const name = `${before}${key}`;
    return typeof value === 'object'
      ? flat(value as Record<string, unknown>, `${name}.`)
      : [{ name, value: shorten(typeof value === 'string' ? value : JSON.stringify(value), 1000) }];
  });
}

function frameOf(line: string): EventFrame {
  const [, name, path, number] = FRAME.exec(line) ?? [];
  return name === undefined || path === undefined ? { function: line } : { function: name, path, line: Number(number) };
}

/** `fail @ /desk/order.c:40`. */
export function wholeFrame({ function: name, path, line }: EventFrame): string {
  return path === undefined ? name : `${name} @ ${path}:${line}`;
}

/** `fail @ order.c:40`. */
export function shortFrame({ function: name, path, line }: EventFrame): string {
  if (path === undefined) return name;
  const place = `${path.split(/[\\/]/).pop()}:${line}`;
  return name === '' ? place : `${name} @ ${place}`;
}
