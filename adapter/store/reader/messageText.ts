import { Dict, Tagged, Tuple, type Value } from '../values/model';
import { child, children, content, keyText } from './children';
import type { StoredValues } from './stored';
import { oneLine } from './text';

export interface Message {
  role: string;
  text: string;
  tools: string[];
  /** The calls of tools that it asks for, as they are. */
  calls: Value[];
  /** Of a tool's answer: the id of the call. */
  answers: string | undefined;
  /** Parts of its content that are no text, such as pictures. */
  others: number;
}

/** `human: please refund order 7`, `ai: → lookup_order, check_stock`; nothing for what is no chat message. */
export function messageLine(value: Value, stored: StoredValues): string | undefined {
  const message = messageOf(value, stored);
  if (message === undefined) return undefined;
  return oneLine(`${message.role}: ${bodyOf(message)}`);
}

function bodyOf(message: Message): string {
  return withCalls(message, message.tools);
}

function withCalls({ text }: Message, calls: readonly string[]): string {
  return [text, calls.length > 0 ? `→ ${calls.join(', ')}` : ''].filter((part) => part !== '').join(' ');
}

/** The same where there is room: `→ lookup_order(order_id=7), check_stock(item='mug')`. */
export function wholeBodyOf(message: Message, stored: StoredValues): string {
  const calls = message.calls.map((call) => {
    const args = toolArguments(call, stored);
    const name = toolName(call, stored);
    if (typeof args === 'string') return `${name}(${args})`;
    if (!(args instanceof Dict)) return name;
    return `${name}(${children(args, stored)
      .map((arg) => `${arg.name}=${keyText(arg.value, stored)}`)
      .join(', ')})`;
  });
  return withCalls(message, calls);
}

/** What LangChain keeps under `args`, and OpenAI as JSON text below `function`. */
export function toolArguments(call: Value, stored: StoredValues): Value {
  const inner = field(call, 'function', stored);
  return field(call, 'args', stored) ?? (inner === undefined ? null : (field(inner, 'arguments', stored) ?? null));
}

/** Reads a message object, or a dict with role and content. */
export function messageOf(value: Value, stored: StoredValues): Message | undefined {
  const plain = stored.resolve(value);
  let role: Value | undefined;
  if (plain instanceof Tagged) {
    if (plain.tag !== 'object') return undefined;
    const type = stored.resolve(plain.parts[0] ?? null);
    if (typeof type !== 'string' || !/Message(Chunk)?$/.test(type)) return undefined;
    role = field(plain, 'type', stored) ?? field(plain, 'role', stored);
    if (typeof role !== 'string') role = /([A-Za-z]+?)Message(Chunk)?$/.exec(type)?.[1]?.toLowerCase() ?? 'message';
    if (field(plain, 'content', stored) === undefined) return undefined;
  } else if (plain instanceof Dict) {
    if (plain.entries.length > 12) return undefined;
    role = field(plain, 'role', stored);
    if (typeof role !== 'string' || field(plain, 'content', stored) === undefined) return undefined;
  } else return undefined;
  const calls = list(field(plain, 'tool_calls', stored), stored).filter((call) => toolName(call, stored) !== '');
  const answers = field(plain, 'tool_call_id', stored);
  const texts = textsOf(field(plain, 'content', stored) ?? null, stored);
  const text = texts.filter((text) => text !== undefined && text !== '').join(' ');
  return {
    role: shortRole(role),
    text: role === 'remove' && text === '' ? removedText(plain, stored) : text,
    tools: calls.map((call) => toolName(call, stored)),
    calls,
    answers: typeof answers === 'string' ? answers : undefined,
    others: texts.filter((text) => text === undefined).length,
  };
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

/** A part of an answer that was streamed has its class as its type: `AIMessageChunk` is of the role `ai`. */
function shortRole(role: string): string {
  const ofClass = /^(\w+?)Message(?:Chunk)?$/.exec(role)?.[1];
  return ofClass === undefined ? role.replace(/Chunk$/, '') : ofClass.toLowerCase();
}

export function field(value: Value, name: string, stored: StoredValues): Value | undefined {
  const found = child(value, name, stored);
  return found === undefined ? undefined : content(found, stored);
}

function list(value: Value | undefined, stored: StoredValues): Value[] {
  const plain = value === undefined ? null : content(value, stored);
  return Array.isArray(plain) ? plain : plain instanceof Tuple ? plain.items : [];
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

/** Content is text, or a list of parts with text in them; undefined stands for a part without. */
function textsOf(value: Value, stored: StoredValues): (string | undefined)[] {
  const plain = content(value, stored);
  if (typeof plain === 'string') return [plain];
  return list(plain, stored).map((part) => {
    const inner = content(part, stored);
    if (typeof inner === 'string') return inner;
    const text = inner instanceof Dict ? field(inner, 'text', stored) : undefined;
    return typeof text === 'string' ? text : undefined;
  });
}

/** Messages among a call's values: the value itself, a list of them, or one under `messages` or `input`. */
export function messagesIn(value: Value, stored: StoredValues, limit: number, level = 0): Message[] {
  const plain = content(value, stored);
  const single = messageOf(plain, stored);
  if (single !== undefined) return [single];
  const items = list(plain, stored);
  if (items.length > 0) {
    const found = items.slice(0, limit).map((item) => messageOf(item, stored));
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
