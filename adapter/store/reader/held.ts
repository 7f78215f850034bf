import type { ValueHandle } from '../../../protocol/timeline';
import { Dict, type Value } from '../values/model';
import { partOf } from './place';
import { node } from './render';
import type { RunFile } from './runFile';

const MOST_EVENTS = 1000;

/** What became of a call's arguments and result while it was held, as its events tell. */
export interface DuringHolds {
  /** What it got in the end, where something of it was edited. */
  args?: ValueHandle;
  /** What it is about to give, while it is held after it ran. */
  result?: ValueHandle;
}

/** Events of one call, in order. */
export function duringHolds(file: RunFile, events: readonly { name: string; value: number | null }[]): DuringHolds {
  let args: ValueHandle | undefined;
  /** Edited after the call ran: it gets these only when it runs again. */
  let later: ValueHandle | undefined;
  let result: ValueHandle | undefined;
  for (const { name, value } of events) {
    if (name === 'again') [args, later, result] = [later ?? args, undefined, undefined];
    if (value === null || (name !== 'held' && name !== 'edited')) continue;
    const after = boundaryOf(file, value) === 'after';
    const edited = name === 'edited' ? partHandle(file, value, 'args') : undefined;
    if (after) {
      later = edited ?? later;
      result = partHandle(file, value, 'result') ?? result;
    } else {
      args = edited ?? later ?? args;
      [later, result] = [undefined, undefined];
    }
  }
  return { ...(args === undefined ? {} : { args }), ...(result === undefined ? {} : { result }) };
}

/** What a call got in the end, where something of its arguments was edited. */
export function editedArguments(file: RunFile, call: number): Value | undefined {
  const events = file
    .sql(
      "SELECT name, value FROM events WHERE call = ? AND name IN ('held', 'edited', 'again') ORDER BY time, id LIMIT ?",
    )
    .all(call, MOST_EVENTS) as { name: string; value: number | null }[];
  if (!events.some(({ name }) => name === 'edited')) return undefined;
  const { args } = duringHolds(file, events);
  return args === undefined ? undefined : partOf(file, args);
}

function boundaryOf(file: RunFile, value: number): string | undefined {
  const data = file.values.root(value);
  const boundary = data instanceof Dict ? file.values.resolve(data.get('boundary') ?? null) : undefined;
  return typeof boundary === 'string' ? boundary : undefined;
}

function partHandle(file: RunFile, value: number, name: string): ValueHandle | undefined {
  const data = file.values.root(value);
  if (!(data instanceof Dict) || data.get(name) === undefined) return undefined;
  const path = [name];
  return { value, path, root: node('', partOf(file, { value, path }), file.values) };
}
