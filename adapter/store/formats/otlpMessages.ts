import type { Told } from './marshalWriter';
import { areFields, fromText } from './otlpValue';

/** Parts of a name such as `llm.input_messages.0.message.role` behind its beginning. */
const MOST_PARTS = 12;

type Attributes = Map<string, Told>;
/** What the names of attributes say by their dots. */
class Tree extends Map<string, Told | Tree> {}

/** The messages that a model was given, in the form in which they were said; what is taken is no attribute any more. */
export function takeInput(all: Attributes): Told | undefined {
  const told = takeList(all, 'gen_ai.input.messages');
  const system = takeList(all, 'gen_ai.system_instructions');
  if (told !== undefined || system !== undefined)
    return [...(system === undefined ? [] : [{ role: 'system', parts: system }]), ...(told ?? [])];
  return (
    takeIndexed(all, 'llm.input_messages') ?? takeIndexed(all, 'gen_ai.prompt') ?? takeList(all, 'ai.prompt.messages')
  );
}

/** The same of what it answered. */
export function takeOutput(all: Attributes): Told | undefined {
  return (
    takeList(all, 'gen_ai.output.messages') ??
    takeIndexed(all, 'llm.output_messages') ??
    takeIndexed(all, 'gen_ai.completion') ??
    takeVercel(all)
  );
}

/** What was found or sorted, where each document has attributes of its own. */
export function takeDocuments(all: Attributes): Told | undefined {
  return takeIndexed(all, 'retrieval.documents') ?? takeIndexed(all, 'reranker.output_documents');
}

function takeList(all: Attributes, name: string): Told[] | undefined {
  const list = fromText(all.get(name));
  if (!Array.isArray(list) || list.length === 0) return undefined;
  all.delete(name);
  return list;
}

/** Vercel's answer: a text, and calls of tools beside it. */
function takeVercel(all: Attributes): Told | undefined {
  if (!all.has('ai.response.toolCalls')) return undefined;
  const calls = takeList(all, 'ai.response.toolCalls') ?? [];
  const text = all.get('ai.response.text');
  all.delete('ai.response.text');
  return [{ role: 'assistant', content: text ?? '', tool_calls: calls.map(vercelCall) }];
}

function vercelCall(call: Told): Told {
  if (!areFields(call)) return call;
  const { toolCallId: id = null, toolName: name = null, args, input, ...more } = call;
  return { ...more, id, name, args: fromText(args ?? input) ?? null };
}

/** Attributes named `<beginning>.<number>.…`, as the list that they are. */
function takeIndexed(all: Attributes, beginning: string): Told[] | undefined {
  const tree = new Tree();
  for (const [name, value] of [...all]) {
    if (!name.startsWith(`${beginning}.`)) continue;
    const parts = name.slice(beginning.length + 1).split('.', MOST_PARTS + 1);
    if (parts.length > MOST_PARTS || !/^\d{1,6}$/.test(parts[0]!) || !hang(tree, parts, value)) continue;
    all.delete(name);
  }
  return tree.size === 0 ? undefined : numbered(tree).map(plainMessage);
}

/** False where another attribute says that there is no place for it. */
function hang(tree: Tree, parts: readonly string[], value: Told): boolean {
  let at = tree;
  for (const part of parts.slice(0, -1)) {
    const inner = at.get(part) ?? new Tree();
    if (!(inner instanceof Tree)) return false;
    at.set(part, inner);
    at = inner;
  }
  if (at.has(parts.at(-1)!)) return false;
  at.set(parts.at(-1)!, value);
  return true;
}

function numbered(tree: Tree): Told[] {
  return [...tree].sort(([one], [other]) => Number(one) - Number(other)).map(([, inner]) => told(inner));
}

function told(given: Told | Tree): Told {
  if (!(given instanceof Tree)) return given;
  if ([...given.keys()].every((key) => /^\d{1,6}$/.test(key))) return numbered(given);
  return Object.fromEntries([...given].map(([key, inner]) => [key, told(inner)]));
}

/** Without the wrappers that OpenInference has around a message, its parts and its calls of tools. */
function plainMessage(entry: Told): Told {
  const message = inside(entry, 'message', 'document');
  if (!areFields(message) || typeof message['role'] !== 'string') return message;
  const { contents, tool_calls: calls, ...more } = message;
  const parts = Array.isArray(contents) ? contents.map((part) => inside(part, 'message_content')) : '';
  return {
    ...more,
    content: more['content'] ?? parts,
    ...(Array.isArray(calls) && { tool_calls: calls.map((call) => inside(call, 'tool_call')) }),
  };
}

function inside(given: Told, ...names: string[]): Told {
  const name = areFields(given) ? names.find((each) => Object.hasOwn(given, each)) : undefined;
  return name === undefined ? given : (given as { [key: string]: Told })[name]!;
}
