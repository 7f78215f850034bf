import { messageTitle, type SaidMessage } from '../../../protocol/timeline';
import { Dict, Tagged, type Value } from '../values/model';
import { children, content, keyText } from './children';
import { blocksOf, blocksText, field, list, textField, type Block } from './messageBlocks';
import { partsOf } from './messageParts';
import type { StoredValues } from './stored';
import { oneLine } from './text';

export interface Message {
  role: string;
  /** Of a tool's answer: the tool. */
  name: string | undefined;
  /** A tool answers that it failed. */
  failed: boolean;
  /** Text alone. */
  text: string;
  /** All of its content. */
  blocks: Block[];
  /** The calls of tools that it asks for, as they are. */
  calls: Value[];
  /** Those that the model wrote so that they cannot be read. */
  invalid: Value[];
  /** Of a tool's answer: the id of the call. */
  answers: string | undefined;
  /** A tool's answer has something beside it that the model does not get. */
  artifact: boolean;
  /** Parts of its content that are no text, such as pictures. */
  others: number;
}

/** `human: please refund order 7`, `ai: → lookup_order, check_stock`; nothing for what is no chat message. */
export function messageLine(value: Value, stored: StoredValues): string | undefined {
  const message = messageOf(value, stored);
  if (message === undefined) return undefined;
  const calls = message.calls.map((call) => toolName(call, stored));
  const invalid = message.invalid.map((call) => `${toolName(call, stored)} (invalid)`);
  return oneLine(`${titleOf(message)}: ${body(message, [...calls, ...invalid], false)}`);
}

function isModel(role: string): boolean {
  return role === 'ai' || role === 'assistant';
}

/** `human`, `tool lookup_order (error)`. */
function titleOf({ role, name, failed }: Message): string {
  return messageTitle({ role, ...(name !== undefined && { name }), ...(failed && { status: 'error' }) });
}

function body(message: Message, calls: readonly string[], whole: boolean): string {
  const text = blocksText(message.blocks, isModel(message.role), whole);
  const asked = calls.length > 0 ? `→ ${calls.join(', ')}` : '';
  return [text, asked, message.artifact ? '(with an artifact)' : ''].filter((part) => part !== '').join(' ');
}

/** The same where there is room: `→ lookup_order(order_id=7), check_stock(item='mug')`. */
export function saidMessage(message: Message, stored: StoredValues): SaidMessage {
  const calls = message.calls.map((call) => {
    const args = toolArguments(call, stored);
    const name = toolName(call, stored);
    if (typeof args === 'string') return `${name}(${args})`;
    if (!(args instanceof Dict)) return name;
    return `${name}(${children(args, stored)
      .map((arg) => `${arg.name}=${keyText(arg.value, stored)}`)
      .join(', ')})`;
  });
  const invalid = message.invalid.map((call) => {
    const why = textField(call, 'error', stored);
    const args = textField(call, 'args', stored) ?? '';
    return `${toolName(call, stored)}(${args}) (invalid${why === undefined ? '' : `: ${why}`})`;
  });
  return {
    role: message.role,
    ...(message.name !== undefined && { name: message.name }),
    ...(message.failed && { status: 'error' }),
    text: body(message, [...calls, ...invalid], true),
  };
}

/** What LangChain keeps under `args`, OpenTelemetry under `arguments`, and OpenAI as JSON text below `function`. */
export function toolArguments(call: Value, stored: StoredValues): Value {
  const inner = field(call, 'function', stored);
  const own = field(call, 'args', stored) ?? field(call, 'arguments', stored);
  return own ?? (inner === undefined ? null : (field(inner, 'arguments', stored) ?? null));
}

/** Types of messages, with their modules or without. */
export const MESSAGE = /Message(Chunk)?$/;

/** Reads a message object, or a dict with role and content. */
export function messageOf(value: Value, stored: StoredValues): Message | undefined {
  const plain = stored.resolve(value);
  let role: Value | undefined;
  if (plain instanceof Tagged) {
    if (plain.tag !== 'object') return undefined;
    const type = stored.resolve(plain.parts[0] ?? null);
    if (typeof type !== 'string' || !MESSAGE.test(type)) return undefined;
    role = field(plain, 'type', stored) ?? field(plain, 'role', stored);
    if (typeof role !== 'string') role = /([A-Za-z]+?)Message(Chunk)?$/.exec(type)?.[1]?.toLowerCase() ?? 'message';
    if (field(plain, 'content', stored) === undefined) return undefined;
  } else if (plain instanceof Dict) {
    if (plain.entries.length > 12) return undefined;
    role = field(plain, 'role', stored) ?? roleOfType(field(plain, 'type', stored));
    const said = field(plain, 'content', stored) ?? field(plain, 'parts', stored);
    if (typeof role !== 'string' || said === undefined) return undefined;
  } else return undefined;
  const asked = (name: string): Value[] =>
    list(field(plain, name, stored), stored).filter((call) => toolName(call, stored) !== '');
  const said = field(plain, 'content', stored);
  const parts = said === undefined ? partsOf(field(plain, 'parts', stored) ?? null, stored) : undefined;
  const [calls, invalid] = [parts?.calls ?? asked('tool_calls'), asked('invalid_tool_calls')];
  const answers = parts?.answers ?? textField(plain, 'tool_call_id', stored);
  const blocks = parts?.blocks ?? blocksOf(said ?? null, stored, calls.length + invalid.length > 0);
  const others = blocks.filter((block) => !('text' in block)).length;
  const short = shortRole(role);
  const text = blocksText(blocks.filter((block) => 'text' in block), isModel(short), false); // prettier-ignore
  const thought = thoughtOf(plain, stored);
  const removed = short === 'remove' ? removedText(plain, stored) : '';
  return {
    role: short === 'chat' ? (textField(plain, 'role', stored) ?? short) : short,
    name: answers === undefined && short !== 'function' ? undefined : textField(plain, 'name', stored),
    failed: answers !== undefined && textField(plain, 'status', stored) === 'error',
    text: text === '' ? removed : text,
    blocks: [...(thought === undefined ? [] : [{ name: 'reasoning', said: thought }]), ...blocks, { text: removed }],
    calls,
    invalid,
    answers,
    artifact: answers !== undefined && (field(plain, 'artifact', stored) ?? null) !== null,
    others,
  };
}

/** What some models thought is kept beside the content. */
function thoughtOf(message: Value, stored: StoredValues): string | undefined {
  const more = field(message, 'additional_kwargs', stored);
  return more === undefined ? undefined : textField(more, 'reasoning_content', stored);
}

const REMOVE_ALL = '__remove_all__';

/** Which message one takes out of the list. */
function removedText(message: Value, stored: StoredValues): string {
  const id = field(message, 'id', stored);
  if (typeof id !== 'string') return '';
  return id === REMOVE_ALL ? 'all messages' : `message ${id}`;
}

/** Of a message that has one. */
export function messageId(value: Value, stored: StoredValues): string | undefined {
  const plain = stored.resolve(value);
  if (messageOf(plain, stored) === undefined) return undefined;
  const id = field(plain, 'id', stored);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** A message of LangChain's as a dict has its role as its type. */
function roleOfType(type: Value | undefined): Value | undefined {
  return typeof type === 'string' && /^(?:human|ai|system|tool|function|chat|remove|\w+MessageChunk)$/.test(type)
    ? type
    : undefined;
}

/** A part of an answer that was streamed has its class as its type: `AIMessageChunk` is of the role `ai`. */
function shortRole(role: string): string {
  const ofClass = /^(\w+?)Message(?:Chunk)?$/.exec(role)?.[1];
  return ofClass === undefined ? role.replace(/Chunk$/, '') : ofClass.toLowerCase();
}

/** Of an entry of `tool_calls`, also as OpenAI writes it. */
export function toolName(call: Value, stored: StoredValues): string {
  const plain = content(call, stored);
  if (!(plain instanceof Dict || plain instanceof Tagged)) return '';
  const name =
    field(plain, 'name', stored) ??
    (field(plain, 'function', stored) === undefined
      ? undefined
      : field(field(plain, 'function', stored)!, 'name', stored));
  return typeof name === 'string' ? name : '';
}

/** Messages among a call's values: the value itself, a list of them, or one under `messages` or `input`. Of too many the first ones; with a limit below zero the last ones. */
export function messagesIn(value: Value, stored: StoredValues, limit: number, level = 0): Message[] {
  const plain = content(value, stored);
  const single = messageOf(plain, stored);
  if (single !== undefined) return [single];
  const items = list(plain, stored);
  if (items.length > 0) {
    const found = (limit < 0 ? items.slice(limit) : items.slice(0, limit)).map((item) => messageOf(item, stored));
    if (found.every((message) => message !== undefined)) return found;
    // A model takes a list of conversations.
    return items.length === 1 && level < 3 ? messagesIn(items[0]!, stored, limit, level + 1) : [];
  }
  if (level >= 3 || !(plain instanceof Dict || plain instanceof Tagged)) return [];
  for (const name of ['messages', 'input', 'generations', 'message']) {
    const inner = field(plain, name, stored);
    const found = inner === undefined ? [] : messagesIn(inner, stored, limit, level + 1);
    if (found.length > 0) return found;
  }
  return [];
}
