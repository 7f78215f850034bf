import { Dict, Tagged, Tuple, type Value } from '../values/model';
import { child, content } from './children';
import type { StoredValues } from './stored';

/** A part of a message's content: a text, or something else with its name, such as `image` or `file report.pdf`, and what text that has. */
export type Block = { text: string } | { name: string; said: string };

/** As people call it. */
const NAMES = new Map([
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['input_file', 'file'],
]);
/** Fields of blocks that have a text of their own. */
const SAID = ['thinking', 'reasoning', 'refusal'];
/** Calls of tools, which a message has in a list of its own. */
const CALLS = /^(tool_use|tool_call|function_call|input_json_delta)$/;

export function field(value: Value, name: string, stored: StoredValues): Value | undefined {
  const found = child(value, name, stored);
  return found === undefined ? undefined : content(found, stored);
}

export function textField(value: Value, name: string, stored: StoredValues): string | undefined {
  const found = field(value, name, stored);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function list(value: Value | undefined, stored: StoredValues): Value[] {
  const plain = value === undefined ? null : content(value, stored);
  return Array.isArray(plain) ? plain : plain instanceof Tuple ? plain.items : [];
}

/** Content is text, or a list of texts and of blocks. `asksTools`: calls in it are told elsewhere. */
export function blocksOf(value: Value, stored: StoredValues, asksTools: boolean): Block[] {
  const plain = content(value, stored);
  if (typeof plain === 'string') return [{ text: plain }];
  return list(plain, stored).flatMap((part): Block[] => {
    const inner = content(part, stored);
    if (typeof inner === 'string') return [{ text: inner }];
    if (!(inner instanceof Dict || inner instanceof Tagged)) return [{ name: 'block', said: '' }];
    const type = textField(inner, 'type', stored) ?? 'block';
    const text = field(inner, 'text', stored);
    if (typeof text === 'string') return [{ text }];
    return asksTools && CALLS.test(type) ? [] : [{ name: blockName(type, inner, stored), said: saidIn(inner, stored) }];
  });
}

function saidIn(block: Value, stored: StoredValues): string {
  return SAID.map((name) => textField(block, name, stored)).find((text) => text !== undefined) ?? '';
}

/** `image`, `file report.pdf`. */
function blockName(type: string, block: Value, stored: StoredValues): string {
  const name = NAMES.get(type) ?? type;
  const file = fileName(block, stored) ?? fileName(field(block, 'file', stored) ?? null, stored);
  return file === undefined ? name : `${name} ${file}`;
}

function fileName(block: Value, stored: StoredValues): string | undefined {
  const named = textField(block, 'filename', stored) ?? textField(block, 'title', stored);
  const url = textField(block, 'url', stored);
  return named ?? (url === undefined || url.startsWith('data:') ? undefined : /([^/?#]+)(?:[?#].*)?$/.exec(url)?.[1]);
}

/** The content in one text, what is no text as `[image]`; `whole`: with what that says, `[thinking: …]`. What a model says goes on in its next block. */
export function blocksText(blocks: readonly Block[], goesOn: boolean, whole: boolean): string {
  let result = '';
  let wasText = false;
  for (const block of blocks) {
    const isText = 'text' in block;
    const told = isText ? block.text : `[${whole && block.said !== '' ? `${block.name}: ${block.said}` : block.name}]`;
    if (told === '') continue;
    result += (result === '' || (goesOn && isText && wasText) ? '' : ' ') + told;
    wasText = isText;
  }
  return result;
}
