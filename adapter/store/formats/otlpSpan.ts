import { isDeepStrictEqual } from 'node:util';
import { CallStatus } from '../../../protocol/spool';
import { withCommas } from '../../../protocol/withCommas';
import { numberIn, RecordedErrorValue, WholeFloat, type Told } from './marshalWriter';
import { takeDocuments, takeInput, takeOutput } from './otlpMessages';
import { INPUTS, kindOf, NAMES, nameUsage, OUTPUTS, type Form, type Place } from './otlpNames';
import { TOLD_EVENTS } from './scan';
import { areFields, attributesIn, fromText, MOST_ATTRIBUTES, nanoseconds, type Fields } from './otlpValue';

const LONGEST_NAME = 500;
const LONGEST_PATH = 4096;
/** A model that streams says an event for each of its words. */
const MOST_EVENTS = 100_000;
/** What is left out of it is its end. */
export const STILL_RAN = 'a call still ran when it was exported';

/** What our own export says of a call. */
const STATUS = /^(?:returned|error|skipped|running|cancelled|ended|interrupted)/;
const WITH_RESULT: ReadonlySet<CallStatus> = new Set([CallStatus.Returned, CallStatus.Skipped, CallStatus.Interrupted]);

/** What our own export makes of what it also says itself. */
const DERIVED = [
  ['toolbreak.arguments', 'gen_ai.input.messages'],
  ['toolbreak.result', 'gen_ai.output.messages'],
] as const;

/** What a span says, in our words. */
export interface SpanCall {
  kind: string;
  name: string;
  qualified: string;
  path: string | null;
  line: number;
  args: Told;
  attributes: { [key: string]: Told };
  /** Of the workflow, where our own export says it. */
  states: { when: 'before' | 'after'; value: Told }[];
  /** Undefined for a call of which no end is known. */
  status: CallStatus | undefined;
  /** Undefined where the span says none. */
  result: Told | RecordedErrorValue | undefined;
  /** Which line of the app it was on, where the span says so. */
  thread: string | undefined;
  threadName: string | undefined;
  events: { time: bigint; name: string; data: { [key: string]: Told } }[];
  /** What of the span is not here, in a sentence each. */
  leftOut: string[];
}

/** Reads a span of whatever origin: what is not as it should be is left out, and what has no place in a call stays an attribute. */
export function readSpan(span: Fields, start: bigint): SpanCall {
  const all = attributesIn(span['attributes']);
  /** The first of these that says something. One that says the same goes with it, and one that says something else stays an attribute. */
  const take = (...names: string[]): Told | undefined => {
    const found = names.map((name) => all.get(name)).find((value) => value !== undefined && value !== null);
    for (const name of names) if (isDeepStrictEqual(all.get(name), found)) all.delete(name);
    return found;
  };
  /** A text; what is none stays an attribute. */
  const word = (names: string[], longest = LONGEST_NAME): string | undefined => {
    const texts = names.filter((name) => typeof all.get(name) === 'string' && all.get(name) !== '');
    const found = take(...texts);
    return typeof found === 'string' ? shortened(found, longest) : undefined;
  };
  const cut = [all.get('toolbreak.cut') ?? []].flat();
  const operation = all.get('gen_ai.operation.name');
  const kind = kindOf(all);
  const spanName = typeof span['name'] === 'string' ? span['name'] : '';
  const own = word(['toolbreak.name']);
  const named = NAMES[kind]?.map((name) => all.get(name)).find((told) => typeof told === 'string' && told !== '');
  // `execute_tool search` is the name of a span, and `search` that of the tool.
  const bare =
    typeof operation === 'string' && spanName.startsWith(`${operation} `)
      ? spanName.slice(operation.length + 1)
      : spanName;
  const name = own ?? shortened(typeof named === 'string' ? named : bare || 'span', LONGEST_NAME);
  if (own === undefined && typeof named === 'string' && spanName !== '' && !spanName.includes(name))
    all.set('span.name', shortened(spanName, LONGEST_NAME));
  if (kind === 'llm') nameUsage(all);
  for (const [own, derived] of DERIVED) if (all.has(own) && !cut.includes(own)) all.delete(derived);
  /** The first of these places that says something. */
  const value = (places: readonly Place[]): Told | undefined => {
    const place = places.find(([name]) => (all.get(name) ?? null) !== null);
    const form = place === undefined ? 'json' : formOf(place, all);
    return read(take(...places.map(([name]) => name)), form);
  };
  // A model's messages say more than what else is said of its input.
  const isModel = kind === 'llm' && !all.has('toolbreak.arguments');
  const messages = isModel ? takeInput(all) : undefined;
  const args = withMessages(messages) ?? value(INPUTS) ?? withMessages(takeInput(all)) ?? {};
  const ending = all.get('toolbreak.status');
  const said = typeof ending === 'string' && STATUS.test(ending) ? word(['toolbreak.status']) : undefined;
  const status = span['status'] as Fields | null | undefined;
  const failed = status?.['code'] === 2 || status?.['code'] === 'STATUS_CODE_ERROR' || said === 'error';
  const lines = ['code.line.number', 'code.lineno'].filter((name) => isLine(all.get(name)));
  const line = numberIn(take(...lines));
  const thread = take('thread.id');
  const threadName = word(['thread.name']);
  const path = word(['code.file.path', 'code.filepath'], LONGEST_PATH) ?? null;
  const qualified = word(['toolbreak.qualified', 'code.function.name', 'code.function']) ?? name;
  for (const name of ['toolbreak.call', 'toolbreak.kind']) all.delete(name);
  const partial = all.get('toolbreak.partial');
  if (partial !== undefined) all.set('toolbreak.partial', fromText(partial) ?? null);
  const callStatus = failed ? CallStatus.Error : statusOf(said);
  const outputs = (): Told | undefined => value(OUTPUTS);
  // What a call that failed had said until then is no result of it.
  const hasResult = callStatus !== undefined && WITH_RESULT.has(callStatus);
  const answers = kind === 'llm' && !all.has('toolbreak.result') ? [takeOutput, outputs] : [outputs, takeOutput];
  const answer = hasResult ? firstOf([...answers, takeDocuments], all) : undefined;
  const fields = fromText(take('toolbreak.error.fields'));
  const states = (['before', 'after'] as const).flatMap((when) => {
    const value = fromText(take(`toolbreak.state.${when}`));
    return value === undefined ? [] : [{ when, value }];
  });
  // What cancelled a call is an exception, too. A call that returned has handled its own.
  const isCancelled = callStatus === CallStatus.Cancelled;
  const { events, exception: raised, leftOut } = eventsOf(span['events'], start, failed || isCancelled);
  const exception = raised ?? (isCancelled ? cancelledBy(all) : undefined);
  return {
    kind,
    name,
    qualified,
    path,
    line: line ?? 0,
    args: areFields(args) ? args : { input: args },
    attributes: Object.fromEntries(all),
    states,
    status: callStatus,
    result: failed || exception !== undefined ? errorOf(exception, fields, all, status) : answer,
    thread: thread === undefined ? undefined : JSON.stringify(thread),
    threadName,
    events,
    leftOut: [
      ...(said === 'running' ? [STILL_RAN] : []),
      ...(isLonger(span['attributes'], MOST_ATTRIBUTES)
        ? [`a span has more than ${withCommas(MOST_ATTRIBUTES)} attributes`]
        : []),
      ...leftOut,
      ...(isLonger(span['events'], MOST_EVENTS) ? [`a span has more than ${withCommas(MOST_EVENTS)} events`] : []),
    ],
  };
}

function statusOf(said: string | undefined): CallStatus | undefined {
  if (said === 'running' || said?.startsWith('ended')) return undefined;
  if (said === 'skipped') return CallStatus.Skipped;
  if (said === 'interrupted') return CallStatus.Interrupted;
  return said?.startsWith('cancelled') ? CallStatus.Cancelled : CallStatus.Returned;
}

/** What our own export says of it, as it says it of an exception. */
function cancelledBy(all: Map<string, Told>): Map<string, Told> | undefined {
  const found = new Map<string, Told>();
  for (const name of ['type', 'message', 'stacktrace']) {
    const key = `toolbreak.cancelled.${name}`;
    const value = all.get(key);
    if (typeof value !== 'string') continue;
    found.set(`exception.${name}`, value);
    all.delete(key);
  }
  return found.size > 0 ? found : undefined;
}

function isLine(given: Told | undefined): boolean {
  const line = numberIn(given);
  return line !== undefined && Number.isSafeInteger(line) && line >= 0;
}

function withMessages(messages: Told | undefined): Told | undefined {
  return messages === undefined ? undefined : { messages };
}

function firstOf(
  ways: readonly ((all: Map<string, Told>) => Told | undefined)[],
  all: Map<string, Told>,
): Told | undefined {
  for (const way of ways) {
    const found = way(all);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `input.mime_type` says what `input.value` is. */
function formOf([name, form]: Place, all: ReadonlyMap<string, Told>): Form {
  if (form !== 'typed') return form;
  const type = all.get(name.replace(/value$/, 'mime_type'));
  if (typeof type !== 'string') return 'some';
  return /json/i.test(type) ? 'json' : 'text';
}

function read(given: Told | undefined, form: Form): Told | undefined {
  if (form === 'text') return given;
  const value = fromText(given);
  return form === 'some' && (typeof value !== 'object' || value instanceof WholeFloat) ? given : value;
}

function isLonger(given: unknown, most: number): boolean {
  return Array.isArray(given) && given.length > most;
}

/** Names are told apart by their beginning; that there was more is to be seen. */
function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

function errorOf(
  exception: Map<string, Told> | undefined,
  fields: Told | undefined,
  all: Map<string, Told>,
  status: Fields | null | undefined,
): RecordedErrorValue {
  const message = status?.['message'];
  const { stack, rest } = framesIn(wordOf(exception?.get('exception.stacktrace')) ?? '');
  return new RecordedErrorValue({
    type: wordOf(exception?.get('exception.type')) ?? wordOf(all.get('error.type')) ?? 'Error',
    message: wordOf(exception?.get('exception.message')) ?? (typeof message === 'string' ? message : ''),
    fields: {
      ...(areFields(fields) ? fields : {}),
      ...(rest !== '' && { stacktrace: rest }),
    },
    stack,
  });
}

const FRAME = /^ {2}File "(.+)", line (\d{1,9}), in (.*)$/;

/** Frames at the beginning, as our own export writes them, and what comes behind them. */
function framesIn(text: string): { stack: { path: string; line: number; function: string }[]; rest: string } {
  const lines = text.split('\n');
  const found = lines.map((line) => FRAME.exec(line));
  const end = found.indexOf(null);
  const stack = (end < 0 ? found : found.slice(0, end)).map((frame) => ({
    path: frame![1]!,
    line: Number(frame![2]),
    function: frame![3]!,
  }));
  return { stack, rest: end < 0 ? '' : lines.slice(end).join('\n') };
}

function wordOf(value: Told | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

type EventsOfSpan = Pick<SpanCall, 'events' | 'leftOut'> & { exception: Map<string, Told> | undefined };

/** `exception`: the last one, where one ended the span. An event without a time has that of the span's start. */
function eventsOf(given: unknown, start: bigint, raised: boolean): EventsOfSpan {
  const leftOut: string[] = [];
  const events: SpanCall['events'] = [];
  const all = Array.isArray(given) ? given.slice(0, MOST_EVENTS) : [];
  const last = raised ? all.findLastIndex((event: Fields | null) => event?.['name'] === 'exception') : -1;
  let exception: Map<string, Told> | undefined;
  for (const [index, entry] of all.entries()) {
    const event = (entry ?? {}) as Fields;
    const { name, timeUnixNano: told } = event;
    const time = NO_TIME.has(told) ? start : nanoseconds(told);
    if (typeof name !== 'string') leftOut.push('an event of a span has no name');
    else if (index === last) exception = attributesIn(event['attributes']);
    else if (time === undefined) leftOut.push('an event of a span has a time that cannot be');
    else events.push(...eventOf(name, time, attributesIn(event['attributes'])));
    if (isLonger(event['attributes'], MOST_ATTRIBUTES))
      leftOut.push(`an event of a span has more than ${withCommas(MOST_ATTRIBUTES)} attributes`);
  }
  return { events, exception, leftOut };
}

/** How the format says that a time is not known. */
const NO_TIME = new Set<unknown>([undefined, null, '', '0', 0]);

/** What our own export says of a hold are two events of ours, and what it says of others is one. */
function eventOf(name: string, time: bigint, all: Map<string, Told>): SpanCall['events'] {
  const fields = Object.fromEntries(all);
  const own = /^toolbreak\.(\w+)$/.exec(name)?.[1];
  if (own !== undefined && TOLD_EVENTS.has(own)) return [{ time, name: own, data: fields }];
  if (own !== 'hold') {
    const said = [fields['exception.type'], fields['exception.message']]
      .map(wordOf)
      .filter((each) => each !== undefined);
    return [
      {
        time,
        name: 'log',
        data: { text: name === 'exception' ? `${name} ${said.join(': ')}`.trim() : name, ...fields },
      },
    ];
  }
  const { description, why } = fields;
  const duration = numberIn(fields['duration']);
  const held = { description: typeof description === 'string' ? description : 'Paused' };
  const events: SpanCall['events'] = [{ time, name: 'held', data: held }];
  if (duration !== undefined && duration >= 0 && Number.isSafeInteger(duration))
    events.push({
      time: time + BigInt(duration),
      name: 'resumed',
      data: { why: typeof why === 'string' ? why : 'release' },
    });
  return events;
}
