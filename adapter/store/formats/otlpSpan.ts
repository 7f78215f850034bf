import { isDeepStrictEqual } from 'node:util';
import { CallStatus } from '../../../protocol/spool';
import type { Json } from './plain';
import { RecordedErrorValue } from './marshalWriter';

/** Deepest value of an attribute. */
const DEEPEST = 50;
const LONGEST_NAME = 500;
const LONGEST_PATH = 4096;
/** A model that streams says an event for each of its words. */
const MOST_EVENTS = 100_000;
const MOST_ATTRIBUTES = 10_000;

/** What our own export says of a call. */
const STATUS = /^(?:returned|error|skipped|running|cancelled|ended)/;

/** What a span says, in our words. */
export interface SpanCall {
  kind: string;
  name: string;
  qualified: string;
  path: string | null;
  line: number;
  args: Json;
  attributes: { [key: string]: Json };
  status: CallStatus;
  result: Json | RecordedErrorValue;
  /** Which line of the app it was on, where the span says so. */
  thread: string | undefined;
  threadName: string | undefined;
  events: { time: bigint; name: string; data: { [key: string]: Json } }[];
  /** What of the span is not here, in a sentence each. */
  leftOut: string[];
}

type Fields = Record<string, unknown>;

/** Reads a span of whatever origin: what is not as it should be is left out, and what has no place in a call stays an attribute. */
export function readSpan(span: Fields, start: bigint): SpanCall {
  const all = attributesIn(span['attributes']);
  /** The first of these that says something. One that says the same goes with it, and one that says something else stays an attribute. */
  const take = (...names: string[]): Json | undefined => {
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
  const operation = all.get('gen_ai.operation.name');
  const kind = kindOf(all);
  const spanName = typeof span['name'] === 'string' ? span['name'] : '';
  const own = word(['toolbreak.name']);
  const told = {
    tool: all.get('gen_ai.tool.name'),
    llm: all.get('gen_ai.request.model'),
    workflow: all.get('gen_ai.workflow.name') ?? all.get('gen_ai.agent.name'),
  };
  const named = told[kind as keyof typeof told];
  // `execute_tool search` is the name of a span, and `search` that of the tool.
  const bare =
    typeof operation === 'string' && spanName.startsWith(`${operation} `)
      ? spanName.slice(operation.length + 1)
      : spanName;
  const name = own ?? shortened(typeof named === 'string' && named !== '' ? named : bare || 'span', LONGEST_NAME);
  const given = take('toolbreak.arguments', 'gen_ai.tool.call.arguments', 'input.value');
  const args = fromText(given) ?? fromMessages(take('gen_ai.input.messages'));
  const ending = all.get('toolbreak.status');
  const said = typeof ending === 'string' && STATUS.test(ending) ? word(['toolbreak.status']) : undefined;
  const status = span['status'] as Fields | null | undefined;
  const failed = status?.['code'] === 2 || status?.['code'] === 'STATUS_CODE_ERROR' || said === 'error';
  const lines = ['code.line.number', 'code.lineno'].filter((name) => isLine(all.get(name)));
  const line = take(...lines);
  const thread = take('thread.id');
  const threadName = word(['thread.name']);
  const path = word(['code.file.path', 'code.filepath'], LONGEST_PATH) ?? null;
  const qualified = word(['code.function.name', 'code.function']) ?? name;
  for (const name of ['toolbreak.call', 'toolbreak.kind']) all.delete(name);
  const callStatus = failed
    ? CallStatus.Error
    : said === 'skipped'
      ? CallStatus.Skipped
      : said?.startsWith('cancelled') || said?.startsWith('ended')
        ? CallStatus.Cancelled
        : CallStatus.Returned;
  // What a call that failed had said until then is no result of it.
  const hasResult = callStatus === CallStatus.Returned || callStatus === CallStatus.Skipped;
  const answer = hasResult
    ? take('toolbreak.result', 'gen_ai.tool.call.result', 'output.value', 'gen_ai.output.messages')
    : undefined;
  const fields = fromText(take('toolbreak.error.fields'));
  // What cancelled a call is an exception, too. A call that returned has handled its own.
  const { events, exception, leftOut } = eventsOf(span['events'], start, failed || callStatus === CallStatus.Cancelled);
  return {
    kind,
    name,
    qualified,
    path,
    line: isLine(line) ? line : 0,
    args: args !== null && typeof args === 'object' && !Array.isArray(args) ? args : { input: args },
    attributes: Object.fromEntries(all),
    status: callStatus,
    result: failed || exception !== undefined ? errorOf(exception, fields, all, status) : (fromText(answer) ?? null),
    thread: thread === undefined ? undefined : JSON.stringify(thread),
    threadName,
    events,
    leftOut: [
      ...(isLonger(span['attributes'], MOST_ATTRIBUTES)
        ? [`a span has more than ${MOST_ATTRIBUTES.toLocaleString('en-US')} attributes`]
        : []),
      ...leftOut,
      ...(isLonger(span['events'], MOST_EVENTS)
        ? [`a span has more than ${MOST_EVENTS.toLocaleString('en-US')} events`]
        : []),
    ],
  };
}

function isLine(given: Json | undefined): given is number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0;
}

function fromMessages(given: Json | undefined): Json {
  return given === undefined ? {} : { messages: fromText(given) ?? null };
}

function isLonger(given: unknown, most: number): boolean {
  return Array.isArray(given) && given.length > most;
}

/** Names are told apart by their beginning; that there was more is to be seen. */
function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

const OPERATIONS: Record<string, string> = {
  chat: 'llm',
  text_completion: 'llm',
  generate_content: 'llm',
  embeddings: 'llm',
  execute_tool: 'tool',
  retrieval: 'tool',
  invoke_agent: 'workflow',
  create_agent: 'workflow',
  invoke_workflow: 'workflow',
};
/** As OpenInference says it. */
const SPAN_KINDS: Record<string, string> = {
  LLM: 'llm',
  EMBEDDING: 'llm',
  TOOL: 'tool',
  RETRIEVER: 'tool',
  AGENT: 'workflow',
  CHAIN: 'node',
};
const KINDS = new Set(['workflow', 'node', 'tool', 'llm', 'http', 'function', 'native']);

function kindOf(all: Map<string, Json>): string {
  const own = all.get('toolbreak.kind');
  if (typeof own === 'string' && KINDS.has(own)) return own;
  const operation = all.get('gen_ai.operation.name');
  if (typeof operation === 'string' && Object.hasOwn(OPERATIONS, operation)) return OPERATIONS[operation]!;
  const kind = all.get('openinference.span.kind');
  if (typeof kind === 'string' && Object.hasOwn(SPAN_KINDS, kind)) return SPAN_KINDS[kind]!;
  if (all.has('gen_ai.tool.name')) return 'tool';
  if (all.has('gen_ai.request.model')) return 'llm';
  return all.has('http.request.method') || all.has('http.method') ? 'http' : 'function';
}

function errorOf(
  exception: Map<string, Json> | undefined,
  fields: Json | undefined,
  all: Map<string, Json>,
  status: Fields | null | undefined,
): RecordedErrorValue {
  const message = status?.['message'];
  const stack = wordOf(exception?.get('exception.stacktrace'));
  return new RecordedErrorValue({
    type: wordOf(exception?.get('exception.type')) ?? wordOf(all.get('error.type')) ?? 'Error',
    message: wordOf(exception?.get('exception.message')) ?? (typeof message === 'string' ? message : ''),
    fields: {
      ...(typeof fields === 'object' && !Array.isArray(fields) ? fields : {}),
      ...(stack !== undefined && { stacktrace: stack }),
    },
  });
}

function wordOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

type EventsOfSpan = Pick<SpanCall, 'events' | 'leftOut'> & { exception: Map<string, Json> | undefined };

/** `exception`: the last one, where one ended the span. An event without a time has that of the span's start. */
function eventsOf(given: unknown, start: bigint, raised: boolean): EventsOfSpan {
  const leftOut: string[] = [];
  const events: SpanCall['events'] = [];
  const all = Array.isArray(given) ? given.slice(0, MOST_EVENTS) : [];
  const last = raised ? all.findLastIndex((event: Fields | null) => event?.['name'] === 'exception') : -1;
  let exception: Map<string, Json> | undefined;
  for (const [index, entry] of all.entries()) {
    const event = (entry ?? {}) as Fields;
    const { name, timeUnixNano: told } = event;
    const time = NO_TIME.has(told) ? start : nanoseconds(told);
    if (typeof name !== 'string') leftOut.push('an event of a span has no name');
    else if (index === last) exception = attributesIn(event['attributes']);
    else if (time === undefined) leftOut.push('an event of a span has a time that cannot be');
    else events.push(...eventOf(name, time, attributesIn(event['attributes'])));
    if (isLonger(event['attributes'], MOST_ATTRIBUTES))
      leftOut.push(`an event of a span has more than ${MOST_ATTRIBUTES.toLocaleString('en-US')} attributes`);
  }
  return { events, exception, leftOut };
}

/** How the format says that a time is not known. */
const NO_TIME = new Set<unknown>([undefined, null, '', '0', 0]);

/** What our own export says of a hold are two events of ours. */
function eventOf(name: string, time: bigint, all: Map<string, Json>): SpanCall['events'] {
  const fields = Object.fromEntries(all);
  if (name !== 'toolbreak.hold') {
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
  const { description, why, duration } = fields;
  const held = { description: typeof description === 'string' ? description : 'Paused' };
  const events: SpanCall['events'] = [{ time, name: 'held', data: held }];
  if (typeof duration === 'number' && duration >= 0 && Number.isSafeInteger(duration))
    events.push({
      time: time + BigInt(duration),
      name: 'resumed',
      data: { why: typeof why === 'string' ? why : 'release' },
    });
  return events;
}

/** Attributes by name; of equal names the first counts. */
export function attributesIn(given: unknown): Map<string, Json> {
  const all = new Map<string, Json>();
  for (const entry of Array.isArray(given) ? (given as unknown[]).slice(0, MOST_ATTRIBUTES) : []) {
    const { key, value } = (entry ?? {}) as Fields;
    if (typeof key === 'string' && !all.has(key)) all.set(key, anyValue(value, 0));
  }
  return all;
}

function anyValue(given: unknown, depth: number): Json {
  if (typeof given !== 'object' || given === null || depth > DEEPEST) return null;
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = given as Fields;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (typeof intValue === 'number') return intValue;
  if (typeof intValue === 'string') {
    const number = Number(intValue);
    return Number.isSafeInteger(number) ? number : intValue;
  }
  if (typeof doubleValue === 'number' || typeof doubleValue === 'string') return Number(doubleValue);
  if (typeof bytesValue === 'string') return bytesValue;
  const items = (arrayValue as Fields | undefined)?.['values'];
  if (Array.isArray(items)) return items.map((item) => anyValue(item, depth + 1));
  const pairs = (kvlistValue as Fields | undefined)?.['values'];
  if (!Array.isArray(pairs)) return null;
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const { key, value } = (pair ?? {}) as Fields;
      return typeof key === 'string' ? [[key, anyValue(value, depth + 1)]] : [];
    }),
  );
}

/** A whole number that a double does not hold is the text of its digits, as it is in an `intValue`. */
function exact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  const fits = typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined;
  return fits || !/^-?\d+$/.test(source) ? value : source;
}

/** What stands as JSON in a text; text that is none is itself. */
function fromText(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value;
  try {
    // Being asked for each value takes a deep one to the end of the stack; it then stays a text.
    return JSON.parse(value, /\d{16}/.test(value) ? exact : undefined) as Json;
  } catch {
    return value;
  }
}

/** Nanoseconds since 1970, of a text or a number; nothing for what is none, or lies beyond what a file can hold. */
export function nanoseconds(given: unknown): bigint | undefined {
  const fine =
    typeof given === 'number' ? Number.isFinite(given) : typeof given === 'string' && /^[1-9]\d{0,18}$/.test(given);
  if (!fine) return undefined;
  const time = BigInt(typeof given === 'number' ? Math.round(given) : (given as string));
  return time > 0n && time < 2n ** 62n ? time : undefined;
}
