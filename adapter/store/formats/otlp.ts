import { createHash } from 'node:crypto';
import { CallStatus } from '../../../protocol/spool';
import { UserError } from '../../common/errors';
import { callName } from '../callNames';
import { children } from '../reader/children';
import type { ErrorValue } from '../reader/errorValue';
import { objectIn } from '../reader/eventPlace';
import { field } from '../reader/messageBlocks';
import { messagesIn, toolArguments, toolName } from '../reader/messageText';
import { editedArguments } from '../reader/held';
import type { RunFile } from '../reader/runFile';
import { Dict, Float, Tuple, type Value } from '../values/model';
import { classOf, providerOf } from './otlpModel';
import { plainJson, wellFormed, type Cuts } from './plain';
import { CALLS } from '../chunks/chunk';
import { shownName } from '../functionName';
import { attributesOf, errorsOf, scanner, statusOf, TOLD_EVENTS, type ScannedCall } from './scan';

/** Characters of a value. */
const LARGEST_VALUE = 64_000;
const MOST_MESSAGES = 200;
const MOST_HOLDS = 100;
const MOST_EVENTS = 100;
/** A hold is told with its length, its reason and its end; what the session says of an edit, the app says, too. */
const HOLDS = `'held', 'resumed', 'stop', 'release', 'edit'`;
/** What happened in a call beside its holds. */
const TOLD = [...TOLD_EVENTS].map((name) => `'${name}'`).join();
/** A line holds so many spans, or as many as fit in so many characters. */
const SPANS = 500;
const CHARACTERS = 2_000_000;

const INTERNAL = 1;
const CLIENT = 3;
const STATUS_ERROR = 2;
const FAILED: number = CallStatus.Error;
const OUTPUT = 'gen_ai.output.messages';
const PROVIDER = 'gen_ai.provider.name';

interface AnyValue {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: AnyValue[] };
}
interface Attribute {
  key: string;
  value: AnyValue;
}

/**
 * OTLP JSON, one `TracesData` a line: a run is a trace, a process a resource, a call a span whose id is the call's own. Names are those of OpenTelemetry's
 * semantic conventions where these have one, and begin with `toolbreak.` where they have none. `toolbreak.cut` names the attributes of a span that
 * are not whole, `toolbreak.hold` where it has not all of its holds, and `toolbreak.event` where it has not all of its other events. Other events, such
 * as what was printed, have no place in it.
 */
export function* otlp(file: RunFile, toolbreak: string, cuts: Cuts): Generator<string> {
  const row = file.row();
  if (row === undefined) return;
  const trace = createHash('sha256').update(row.run).digest('hex').slice(0, 32);
  const wall = (time: number): string => String(row.started + BigInt(time));
  // What runs now has run until now.
  const now = file.live(row) ? Number(BigInt(Date.now()) * 1_000_000n - row.started) : 0;
  const latest = Math.max(Number(row.last ?? 0n), now);
  const processes = file.db.prepare('SELECT * FROM processes ORDER BY id').all() as Process[];
  const holds = file.db.prepare<[number, number], Hold>(
    'SELECT start, end, description, why FROM holds WHERE call = ? ORDER BY start LIMIT ?',
  );
  const events = file.db.prepare<[number, number], CallEvent>(
    `SELECT time, name, value, data FROM events WHERE call = ? AND name IN (${TOLD}) ORDER BY time, id LIMIT ?`,
  );
  cuts.events += file.db
    .prepare(
      `SELECT count(*) FROM events WHERE name NOT IN (${HOLDS}, 'exited') AND (call IS NULL OR name NOT IN (${TOLD}))`,
    )
    .pluck()
    .get() as number;
  const scan = scanner(file);
  const names = file.db.prepare('SELECT id, name FROM tasks').all() as { id: number; name: string }[];
  const tasks = new Map(names.map(({ id, name }) => [id, name]));
  let isEmpty = true;
  for (const process of processes) {
    const resource = resourceOf(process, row.workflow ?? row.name, row.run, toolbreak);
    const head = `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":[{"scope":${JSON.stringify({ name: 'toolbreak', version: toolbreak })},"spans":[`;
    let spans: string[] = [];
    let size = 0;
    const line = (): string => `${head}${spans.join(',')}]}]}]}\n`;
    const calls = function* (): Generator<ScannedCall & { taskName: string | null }> {
      for (const id of file.calls.ids()) {
        if (Math.floor((id * CALLS) / 2 ** 32) !== process.id) continue;
        for (const call of file.calls.inChunk(id)) yield { ...scan(call), taskName: tasks.get(call.task) ?? null };
      }
    };
    for (const call of calls()) {
      isEmpty = false;
      const text = JSON.stringify({
        traceId: trace,
        spanId: spanId(call.id),
        ...(call.parent !== null && { parentSpanId: spanId(call.parent) }),
        ...named(call, isAgent(file, call)),
        startTimeUnixNano: wall(call.start),
        endTimeUnixNano: wall(call.end ?? Math.max(latest, call.start)),
        ...contentOf(file, call, wall, holds.all(call.id, MOST_HOLDS + 1), events.all(call.id, MOST_EVENTS + 1), cuts),
      });
      spans.push(text);
      size += text.length;
      if (spans.length < SPANS && size < CHARACTERS) continue;
      yield line();
      [spans, size] = [[], 0];
    }
    if (spans.length > 0) yield line();
  }
  if (isEmpty)
    throw new UserError('The run has no call, and there is nothing else in this format. Leave --format out.');
}

interface Process {
  id: number;
  key: string;
  pid: number;
  name: string;
  language: string | null;
  language_version: string | null;
  executable: string | null;
  cwd: string | null;
  argv: string | null;
}

interface Hold {
  start: number;
  end: number | null;
  description: string;
  why: string | null;
}

interface CallEvent {
  time: number;
  name: string;
  value: number | null;
  data: string | null;
}

function spanId(call: number): string {
  return call.toString(16).padStart(16, '0');
}

/** Its app, or the framework, says so. */
function isAgent(file: RunFile, call: ScannedCall): boolean {
  return call.kind === 'workflow' && attributesOf(file, call).attributes.has('gen_ai.agent.name');
}

function named(call: ScannedCall, agent: boolean): { name: string; kind: number } {
  if (call.kind === 'llm') return { name: `chat ${call.name}`, kind: CLIENT };
  if (call.kind === 'http') return { name: call.name, kind: CLIENT };
  if (call.kind === 'tool') return { name: `execute_tool ${call.name}`, kind: INTERNAL };
  return {
    name: call.kind === 'workflow' ? `${agent ? 'invoke_agent' : 'invoke_workflow'} ${call.name}` : shownName(call),
    kind: INTERNAL,
  };
}

function resourceOf(process: Process, run: string, id: string, toolbreak: string): { attributes: Attribute[] } {
  const attributes: Attribute[] = [];
  const put = (key: string, value: AnyValue | undefined): void => {
    if (value !== undefined) attributes.push({ key, value });
  };
  const text = (given: string | null): AnyValue | undefined => (given === null ? undefined : { stringValue: given });
  put('service.name', text(run));
  put('service.instance.id', text(process.key));
  // Of an imported run nobody may know it.
  if (process.pid > 0) put('process.pid', { intValue: String(process.pid) });
  put('process.executable.path', text(process.executable));
  put('process.working_directory', text(process.cwd));
  const args = argumentsIn(process.argv);
  if (args.length > 0)
    put('process.command_args', { arrayValue: { values: args.map((each) => ({ stringValue: String(each) })) } });
  put('process.runtime.name', text(process.language));
  put('process.runtime.version', text(process.language_version));
  put('telemetry.sdk.name', text('toolbreak'));
  put('telemetry.sdk.language', text(process.language ?? 'python'));
  put('telemetry.sdk.version', text(toolbreak));
  put('toolbreak.run', text(id));
  put('toolbreak.process', text(process.name));
  return { attributes };
}

/** None of a text that is no list: a run file may come from elsewhere. */
function argumentsIn(argv: string | null): unknown[] {
  if (argv === null) return [];
  try {
    const given: unknown = JSON.parse(argv);
    return Array.isArray(given) ? given : [];
  } catch {
    return [];
  }
}

function contentOf(
  file: RunFile,
  call: ScannedCall & { taskName: string | null },
  wall: (time: number) => string,
  holds: readonly Hold[],
  happened: readonly CallEvent[],
  cuts: Cuts,
): object {
  const all = new Map<string, AnyValue>();
  const text = (key: string, given: string | null | undefined): void => {
    if (given !== null && given !== undefined && given !== '') all.set(key, { stringValue: given });
  };
  const cut: string[] = [];
  const rootOf = (id: number | null): Value | undefined => (id === null ? undefined : file.values.root(id));
  const put = (key: string, given: Value | undefined): void => {
    if (given === undefined) return;
    const { json, cut: shortened } = plainJson(given, file.values, LARGEST_VALUE, true);
    if (shortened) cut.push(key);
    text(key, JSON.stringify(json));
  };
  const tool = call.kind === 'tool';
  text('gen_ai.operation.name', OPERATIONS[call.kind]);
  if (tool) text('gen_ai.tool.name', call.name);
  if (call.kind === 'llm') text('gen_ai.request.model', call.name);
  if (call.kind === 'workflow') text('gen_ai.workflow.name', call.name);
  const { attributes, cut: hasMore } = attributesOf(file, call);
  if (hasMore) cut.push('attributes');
  for (const [name, given] of attributes) {
    // A name of the app's own says whose it is.
    const key = /[.]/.test(name) ? name : `toolbreak.attribute.${name}`;
    const found = anyValue(given, file, () => cut.push(key));
    if (found !== undefined) all.set(key, found);
  }
  if (call.kind === 'llm' && !all.has(PROVIDER))
    text(PROVIDER, providerOf(call, call.result === null ? null : file.values.root(call.result), file.values));
  if (call.kind === 'workflow' && all.has('gen_ai.agent.name')) text('gen_ai.operation.name', 'invoke_agent');
  const edited = call.edited === 0 ? undefined : editedArguments(file, call.id);
  put(tool ? 'gen_ai.tool.call.arguments' : 'toolbreak.arguments', edited ?? rootOf(call.args));
  put(tool ? 'gen_ai.tool.call.result' : 'toolbreak.result', rootOf(call.result));
  put('toolbreak.state.before', rootOf(call.state_before));
  put('toolbreak.state.after', rootOf(call.state_after));
  if (call.kind === 'llm') {
    const reasons = (all.get('gen_ai.response.finish_reasons')?.arrayValue?.values ?? []).map(
      (each) => each.stringValue,
    );
    for (const [key, id] of [
      ['gen_ai.input.messages', call.args],
      [OUTPUT, call.result],
    ] as const)
      text(
        key,
        messages(file, id, key === OUTPUT ? reasons : [], () => cut.push(key)),
      );
  }
  text('toolbreak.call', callName(call.id));
  text('toolbreak.kind', call.kind);
  text('toolbreak.name', call.name);
  text('toolbreak.status', statusOf(call));
  if (call.edited !== 0) all.set('toolbreak.edited', { boolValue: true });
  all.set('thread.id', { intValue: String(call.task % 2 ** 32) });
  text('thread.name', call.taskName);
  text(
    call.kind === 'llm' && classOf(call) !== undefined ? 'toolbreak.qualified' : 'code.function.name',
    call.qualified,
  );
  text('code.file.path', call.path);
  if (call.line !== null && call.line > 0) all.set('code.line.number', { intValue: String(call.line) });
  if (holds.length > MOST_HOLDS) cut.push('toolbreak.hold');
  const events: { timeUnixNano: string; name: string; attributes: Attribute[] }[] = holds
    .slice(0, MOST_HOLDS)
    .map(({ start, end, description, why }) => ({
      timeUnixNano: wall(start),
      name: 'toolbreak.hold',
      attributes: [
        { key: 'description', value: { stringValue: description } },
        ...(why === null ? [] : [{ key: 'why', value: { stringValue: why } }]),
        ...(end === null ? [] : [{ key: 'duration', value: { intValue: String(end - start) } }]),
      ],
    }));
  if (happened.length > MOST_EVENTS) cut.push('toolbreak.event');
  for (const { time, name, value: id, data } of happened.slice(0, MOST_EVENTS)) {
    const onCut = (): void => void cut.push('toolbreak.event');
    const fields = id === null ? fieldsOf(data, onCut) : fieldsIn(file, id, name, onCut);
    events.push({ timeUnixNano: wall(time), name: `toolbreak.${name}`, attributes: fields });
  }
  const { errors, origin, cut: isMessageCut } = errorsOf(file, call);
  const [error, ...causes] = errors;
  if (error !== undefined) {
    if (isMessageCut) cut.push(call.status === FAILED ? 'exception.message' : 'toolbreak.cancelled.message');
    if (error.fields !== undefined) {
      const { json, cut: shortened } = plainJson(error.fields, file.values, LARGEST_VALUE, true);
      if (shortened) cut.push('toolbreak.error.fields');
      text('toolbreak.error.fields', JSON.stringify(json));
    }
    const stack = [
      ...linesOf(error),
      ...causes.flatMap((cause, index) => [
        `${linkText(errors[index]!)}: ${cause.qualified}: ${cause.message}`,
        ...linesOf(cause),
      ]),
      ...(origin === undefined ? [] : [`${linkText(errors.at(-1)!)}: ${origin}`]),
    ];
    const said = [
      ['type', error.qualified],
      ['message', error.message],
      ...(stack.length > 0 ? [['stacktrace', stack.join('\n')] as const] : []),
    ] as const;
    if (call.status === FAILED) {
      text('error.type', error.qualified);
      events.push({
        timeUnixNano: wall(call.end ?? call.start),
        name: 'exception',
        attributes: said.map(([name, given]) => ({ key: `exception.${name}`, value: { stringValue: given } })),
      });
      // A stream that was left, or a task that was cancelled, is no failure, and would be counted as one.
    } else for (const [name, given] of said) text(`toolbreak.cancelled.${name}`, given);
  }
  cuts.count += cut.length;
  if (cut.length > 0) all.set('toolbreak.cut', { arrayValue: { values: cut.map((key) => ({ stringValue: key })) } });
  return {
    attributes: [...all].map(([key, found]) => ({ key, value: found })),
    ...(events.length > 0 && { events }),
    ...(call.status === FAILED && {
      status: { code: STATUS_ERROR, ...(error !== undefined && { message: error.message }) },
    }),
  };
}

/** Of an event that the app recorded. The arguments after an edit stand with the call. */
function fieldsIn(file: RunFile, id: number, event: string, onCut: () => void): Attribute[] {
  const value = file.values.root(id);
  const all = value instanceof Dict ? children(value, file.values) : [{ name: 'value', value }];
  return all.flatMap(({ name, value: field }) => {
    const isTold = event === 'edited' && (name === 'args' || name === 'result');
    const found = isTold ? undefined : anyValue(field, file, onCut);
    return found === undefined ? [] : [{ key: name, value: found }];
  });
}

/** Of one that the session saw. What is nested is left out: a file from elsewhere may have anything there. */
function fieldsOf(data: string | null, onCut: () => void): Attribute[] {
  const fields = data === null ? {} : objectIn(data);
  const plain = (given: unknown): AnyValue | undefined => {
    const value = plainValue(given, onCut);
    if (value === undefined) onCut();
    return value;
  };
  return Object.entries(fields).flatMap(([key, given]) => {
    const value = Array.isArray(given)
      ? { arrayValue: { values: given.flatMap((item) => plain(item) ?? []) } }
      : plain(given);
    return value === undefined ? [] : [{ key, value }];
  });
}

function plainValue(given: unknown, onCut: () => void): AnyValue | undefined {
  if (typeof given === 'string') {
    if (given.length <= LARGEST_VALUE) return { stringValue: given };
    onCut();
    return { stringValue: `${given.slice(0, LARGEST_VALUE - 1)}…` };
  }
  if (typeof given === 'boolean') return { boolValue: given };
  if (typeof given !== 'number') return undefined;
  if (Number.isSafeInteger(given)) return { intValue: String(given) };
  return Number.isFinite(given) ? { doubleValue: given } : { stringValue: String(given) };
}

function linkText({ way }: ErrorValue): string {
  return way === 'context' ? 'While handling' : 'Caused by';
}

const OPERATIONS: Record<string, string> = { tool: 'execute_tool', llm: 'chat', workflow: 'invoke_workflow' };

function linesOf({ stack }: ErrorValue): string[] {
  return stack.map(({ path, line, function: name }) => `  File "${path}", line ${line}, in ${name}`);
}

/** Messages as the conventions write them: a role, and parts: text, calls of tools and their answers. `reasons`: why each of them ended. `onCut` hears once where they are not all, or not whole. */
function messages(
  file: RunFile,
  id: number | null,
  reasons: readonly (string | undefined)[],
  onCut: () => void,
): string | undefined {
  if (id === null) return undefined;
  const all = messagesIn(file.values.root(id), file.values, MOST_MESSAGES + 1);
  if (all.length === 0) return undefined;
  const found = all.slice(0, MOST_MESSAGES);
  let left = LARGEST_VALUE;
  // What the recording cut of them stands nowhere in a message.
  let isCut = all.length > MOST_MESSAGES || plainJson(file.values.root(id), file.values, Infinity).cut;
  const made = found.map(({ role, text, calls, answers, others }, index) => {
    const { json: content, cut } = plainJson(text, file.values, Math.max(0, left));
    left -= text.length;
    isCut ||= cut || others > 0;
    const asked = calls.map((call) => {
      const { json, cut } = plainJson(toolArguments(call, file.values), file.values, Math.max(0, left), true);
      left -= JSON.stringify(json).length;
      isCut ||= cut;
      const id = field(call, 'id', file.values);
      return {
        type: 'tool_call',
        ...(typeof id === 'string' && { id }),
        name: toolName(call, file.values),
        arguments: json,
      };
    });
    const said =
      answers === undefined
        ? { type: 'text', content }
        : { type: 'tool_call_response', id: answers, response: content };
    const reason = reasons[index];
    return {
      role: ROLES.get(role) ?? role,
      parts: [...(content === '' && answers === undefined ? [] : [said]), ...asked],
      ...(reason !== undefined && { finish_reason: reason }),
    };
  });
  if (isCut) onCut();
  return wellFormed(JSON.stringify(made));
}

const ROLES = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
]);

/** An attribute that an app set; nothing for what no attribute may be. `onCut` hears once where it is not whole. */
function anyValue(given: Value, file: RunFile, onCut: () => void): AnyValue | undefined {
  const value = file.values.resolve(given);
  if (value === null) return undefined;
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { intValue: String(value) };
  if (value instanceof Float)
    return Number.isFinite(value.value) ? { doubleValue: value.value } : { stringValue: String(value.value) };
  const { json, cut } = plainJson(value, file.values, LARGEST_VALUE);
  if (cut) onCut();
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  // Where all of it fits, so do its items.
  if (items !== undefined && !cut)
    return { arrayValue: { values: items.map((item) => anyValue(item, file, onCut) ?? {}) } };
  return { stringValue: typeof json === 'string' ? json : JSON.stringify(json) };
}
