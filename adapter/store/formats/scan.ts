import type { StoredCall } from '../chunks/rows';
import { select } from '../chunks/select';
import { errorChain, type ErrorValue } from '../reader/errorValue';
import { line } from '../reader/render';
import type { RunFile } from '../reader/runFile';
import { Dict, type Value } from '../values/model';

/** A call as it is stored, with its function. Times are nanoseconds since time 0 of the run. */
export interface ScannedCall {
  id: number;
  parent: number | null;
  task: number;
  start: number;
  end: number | null;
  status: number | null;
  kind: string;
  name: string;
  qualified: string | null;
  module: string;
  path: string | null;
  line: number | null;
  args: number | null;
  result: number | null;
  error: number | null;
  state_before: number | null;
  state_after: number | null;
  start_attributes: number | null;
  end_attributes: number | null;
  edited: number;
}

type StoredFunction = Pick<ScannedCall, 'kind' | 'name' | 'qualified' | 'module' | 'path' | 'line'>;

const UNKNOWN: StoredFunction = { kind: 'function', name: '?', qualified: null, module: '', path: null, line: null };

/** Calls as they are told to others, with what was called. */
export function scanner(file: RunFile): (call: StoredCall) => ScannedCall {
  const rows = file.db
    .prepare('SELECT id, kind, name, qualified, module, path, line FROM functions')
    .all() as (StoredFunction & {
    id: number;
  })[];
  const functions = new Map(rows.map(({ id, ...found }) => [id, found]));
  return (call) => ({
    ...call,
    ...(functions.get(call.function) ?? UNKNOWN),
    args: call.args,
    result: call.result,
    error: call.error,
    state_before: call.state_before,
    state_after: call.state_after,
    start_attributes: call.start_attributes,
    end_attributes: call.end_attributes,
  });
}

const AT_ONCE = 2048;

/** Every call in the order of their starts. */
export function* byStart(file: RunFile): Generator<StoredCall> {
  let after = { key: -Infinity, id: -1 };
  for (;;) {
    const calls = select(file.calls, { from: -Infinity, to: Infinity, minimum: 0 }, 'start', after, AT_ONCE);
    yield* calls;
    const last = calls.at(-1);
    if (last === undefined || calls.length < AT_ONCE) return;
    after = { key: last.start, id: last.id };
  }
}

/** Events of calls that are told of a span, and come back from one. */
export const TOLD_EVENTS: ReadonlySet<string> = new Set(['log', 'edited', 'skipped', 'again', 'route']);

export const STATUS = ['returned', 'error', 'cancelled', 'skipped', 'ended with its process', 'interrupted'] as const;

export function statusOf(call: ScannedCall): string {
  return call.status === null ? 'running' : (STATUS[call.status] ?? 'returned');
}

const LONGEST_MESSAGE = 10_000;

/** The exception that ended a call, first, and what it was raised from; `origin`: where that is no exception; `cut`: a message is not whole. */
export function errorsOf(
  file: RunFile,
  call: ScannedCall,
): { errors: ErrorValue[]; origin: string | undefined; cut: boolean } {
  if (call.error === null) return { errors: [], origin: undefined, cut: false };
  const { errors, origin } = errorChain(file.values.root(call.error), file.values);
  return {
    errors: errors.map((error) => ({ ...error, message: shortened(error.message) })),
    origin: origin === null ? undefined : line(origin, file.values),
    cut: errors.some(({ message }) => message.length > LONGEST_MESSAGE),
  };
}

function shortened(message: string): string {
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message;
}

const MOST_ATTRIBUTES = 200;
const LONGEST_NAME = 200;

/** What the app said at the start and at the end of the call; the later word counts. `cut`: there was more, or a name was longer. */
export function attributesOf(file: RunFile, call: ScannedCall): { attributes: Map<string, Value>; cut: boolean } {
  const attributes = new Map<string, Value>();
  let cut = false;
  for (const id of [call.start_attributes, call.end_attributes]) {
    const value: Value = id === null ? null : file.values.root(id);
    if (!(value instanceof Dict)) continue;
    cut ||= value.entries.length > MOST_ATTRIBUTES;
    for (const [key, item] of value.entries.slice(0, MOST_ATTRIBUTES)) {
      const name = file.values.resolve(key);
      if (typeof name !== 'string') continue;
      cut ||= name.length > LONGEST_NAME;
      attributes.set(name.slice(0, LONGEST_NAME), file.values.resolve(item));
    }
  }
  return { attributes, cut };
}
