import type { CallDetail, SaidMessage, ValueHandle } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import { callName, ENDED_WITH_PROCESS, parseCallName } from '../callNames';
import type { StoredCall } from '../chunks/rows';
import { Dict, type Value } from '../values/model';
import { attributesOf, attributeText, PARTIAL, shownAttributes, unmergedOf } from './attributes';
import { callRow, functionOf } from './calls';
import { diff } from './diff';
import { errorChain, errorValue } from './errorValue';
import { eventText } from './eventText';
import { SAID_TWICE } from './eventWords';
import { duringHolds } from './held';
import { messagesIn, saidMessage, type Message } from './messageText';
import { partOf } from './place';
import { line, node } from './render';
import type { RunFile } from './runFile';
import { same } from './same';
import { shorten } from './text';
import { unrecorded } from './unrecorded';

/** Exceptions from which the one that ended a call was raised; what is behind them is in the value itself. */
const MOST_CAUSES = 20;
const MOST_EVENTS = 500;
const MOST_MESSAGES = 500;
const LONGEST_MESSAGE = 20_000;
/** Levels around a call that are told at either end: a recursion of Python has no more than 1,000, unless its program wants it. */
const MOST_LEVELS = 500;

interface Parts {
  parent: number | null;
  args: number | null;
  result: number | null;
  error: number | null;
  state_before: number | null;
  state_after: number | null;
  start_attributes: number | null;
  end_attributes: number | null;
  status: number | null;
  tokens: number | null;
}

/** Everything about one call. Throws a sentence when it is not in the run. */
export function callDetail(file: RunFile, name: string): CallDetail {
  const id = parseCallName(name);
  const call = id === undefined ? undefined : file.calls.get(id);
  if (id === undefined || call === undefined) throw new UserError(`There is no call ${shorten(name, 40)} in this run.`);
  const parts: Parts = call;
  const { kind } = functionOf(file, call.function);
  const source = file.sql('SELECT path, line FROM functions WHERE id = ?').get(call.function) as
    { path: string | null; line: number } | undefined;
  const handle = (value: number | null): ValueHandle | undefined =>
    value === null ? undefined : { value, root: node('', file.values.root(value), file.values) };
  const before = parts.state_before === null ? undefined : file.values.root(parts.state_before);
  const after = parts.state_after === null ? undefined : file.values.root(parts.state_after);
  const events = eventsOf(file, id);
  // Written as `Edited: lookup_order: order_id 7 → 70 (edited)`; the call is known here.
  const edits = events
    .filter(({ name }) => name === 'edited')
    .map(({ text }) => text.replace(/^Edited: ([^:]*: )?/, '').replace(/ \(edited\)$/, ''));
  const held = duringHolds(file, events);
  const given = handle(parts.args);
  const edited = held.args === undefined || !differs(file, given, held.args) ? undefined : held.args;
  const changed = before === undefined || after === undefined ? undefined : diff(before, after, file.values);
  const attributes = attributesOf(file, parts);
  const unmerged = after === undefined ? [] : unmergedOf(attributes, file.values);
  const partial = attributes.get(PARTIAL);
  const messages = WITH_MESSAGES.has(kind) ? messagesOf(file, parts, kind, unmerged, partial) : [];
  return clean({
    call: callRow(file, call),
    ...path(file, call),
    source: source?.path ? { path: source.path, line: source.line } : undefined,
    input: edited ?? given,
    inputBefore: edited === undefined ? undefined : given,
    output: handle(parts.result) ?? (call.end === null ? held.result : undefined),
    error: errorOf(file, parts),
    stateBefore: handle(parts.state_before),
    stateAfter: handle(parts.state_after),
    changes: changed?.changes,
    moreChanges: changed?.more === true ? true : undefined,
    unrecorded: changed?.changes.length === 0 ? unrecorded([before!, after!], file.values) : undefined,
    messages: messages.length > 0 ? messages : undefined,
    unmerged: unmerged.length > 0 ? unmerged : undefined,
    attributes: shownAttributes(attributes).map(([name, value]) => ({
      name,
      value: attributeText(value, file.values),
    })),
    edits: edits.length > 0 ? edits : undefined,
    events: events.map(({ time, text }) => ({ time, text })),
  });
}

function differs(file: RunFile, one: ValueHandle | undefined, other: ValueHandle): boolean {
  return one === undefined || !same(partOf(file, one), partOf(file, other), file.values);
}

/** Outermost first, the call itself last. Of very many the outermost and the innermost, and how many are between them. */
function path(file: RunFile, call: StoredCall): Pick<CallDetail, 'path' | 'pathLeft'> {
  const inner: StoredCall[] = [];
  const outer: StoredCall[] = [];
  const seen = new Set<number>();
  for (let at: StoredCall | undefined = call; at !== undefined && !seen.has(at.id);) {
    seen.add(at.id);
    if (inner.length < MOST_LEVELS) inner.push(at);
    else outer[(seen.size - 1) % MOST_LEVELS] = at;
    at = at.parent === null ? undefined : file.calls.get(at.parent);
  }
  const last = seen.size % MOST_LEVELS;
  const levels = [...inner, ...outer.slice(last), ...outer.slice(0, last)];
  const left = seen.size - levels.length;
  return {
    path: levels.reverse().map((level) => ({ id: callName(level.id), ...functionOf(file, level.function) })),
    ...(left > 0 && { pathLeft: { at: outer.length, levels: left } }),
  };
}

function errorOf(file: RunFile, parts: Parts): CallDetail['error'] {
  if (parts.status === ENDED_WITH_PROCESS)
    return { type: 'Ended', message: file.endedSentence(parts.parent), stack: [] };
  if (parts.error === null) return undefined;
  const value = file.values.root(parts.error);
  const handle = { value: parts.error, root: node('', value, file.values) };
  const error = errorValue(value, file.values);
  if (error === undefined) {
    if (parts.status === 2 && value === null)
      return { type: 'Cancelled', message: 'The call was cancelled.', stack: [] };
    return { type: '', message: line(value, file.values), stack: [], value: handle };
  }
  const { type, message, stack } = error;
  const chain = errorChain(value, file.values).errors;
  const [, ...earlier] = chain.slice(0, MOST_CAUSES + 1);
  const moreCauses = chain.length - 1 - earlier.length;
  const ways = [error, ...earlier].map(({ way }) => way);
  const causes = earlier.map((one, index) => ({
    way: ways[index]!,
    type: one.type,
    message: shorten(one.message, 10_000),
    stack: one.stack,
  }));
  return {
    type,
    message: shorten(message, 10_000),
    stack,
    ...(causes.length > 0 && { causes }),
    ...(moreCauses > 0 && { moreCauses }),
    value: handle,
  };
}

/** Kinds of calls that have messages of their own. */
const WITH_MESSAGES = new Set(['llm', 'node', 'workflow']);

function messagesOf(
  file: RunFile,
  parts: Parts,
  kind: string,
  unmerged: readonly string[],
  partial: Value | undefined,
): SaidMessage[] {
  const { values } = file;
  const read = (id: number | null): Message[] =>
    id === null ? [] : messagesIn(values.root(id), values, -MOST_MESSAGES);
  const soFar = partial === undefined ? [] : messagesIn(partial, values, 1);
  return [
    ...allMessages().map((message) => saidMessage(message, values)),
    ...soFar.map((message) => ({ ...saidMessage(message, values), status: 'so far' })),
  ]
    .slice(-MOST_MESSAGES)
    .map(said);

  function allMessages(): Message[] {
    // What a node answers is merged into its state: some of it replaces or removes what was there. A workflow answers its state.
    const state = kind === 'node' && !unmerged.includes('messages') ? parts.state_after : null;
    const answer = kind === 'workflow' && parts.result !== null ? parts.result : null;
    const whole = read(state ?? (answer !== null && values.root(answer) instanceof Dict ? answer : null));
    if (whole.length > 0) return whole;
    // A node gets its messages through the state, a model through its arguments.
    const given = read(parts.args);
    return [...(given.length > 0 ? given : read(parts.state_before)), ...read(parts.result)];
  }
}

function said(message: SaidMessage): SaidMessage {
  return { ...message, text: shorten(message.text, LONGEST_MESSAGE) };
}

/** What happened at the call, in order. */
function eventsOf(file: RunFile, call: number): { time: number; text: string; name: string; value: number | null }[] {
  const zero = file.zero();
  const rows = file
    .sql(`SELECT time, name, value, data FROM events WHERE call = ? AND NOT ${SAID_TWICE} ORDER BY time, id LIMIT ?`)
    .all(call, MOST_EVENTS) as { time: number; name: string; value: number | null; data: string | null }[];
  return rows.map(({ time, name, value, data }) => ({
    time: time - zero,
    text: eventText(file, name, value, data),
    name,
    value,
  }));
}

function clean(detail: { [K in keyof CallDetail]: CallDetail[K] | undefined }): CallDetail {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== undefined)) as unknown as CallDetail;
}
