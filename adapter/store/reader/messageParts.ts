import { Dict, type Value } from '../values/model';
import { content, keyText } from './children';
import { field, list, textField, type Block } from './messageBlocks';
import type { StoredValues } from './stored';

/** What a message says by its parts, as OpenTelemetry's GenAI conventions write them. */
export interface Parts {
  blocks: Block[];
  calls: Value[];
  /** The id of the call that it answers. */
  answers: string | undefined;
}

export function partsOf(parts: Value, stored: StoredValues): Parts {
  const found: Parts = { blocks: [], calls: [], answers: undefined };
  for (const part of list(parts, stored)) {
    const plain = content(part, stored);
    if (typeof plain === 'string') found.blocks.push({ text: plain });
    if (!(plain instanceof Dict)) continue;
    const type = textField(plain, 'type', stored);
    if (type === 'tool_call' && textField(plain, 'name', stored) !== undefined) found.calls.push(plain);
    else found.blocks.push(blockOf(plain, type, stored));
    if (type === 'tool_call_response') found.answers ??= textField(plain, 'id', stored);
  }
  return found;
}

function blockOf(part: Dict, type: string | undefined, stored: StoredValues): Block {
  if (type === 'tool_call_response') {
    const response = field(part, 'response', stored) ?? field(part, 'result', stored) ?? null;
    return { text: typeof response === 'string' ? response : keyText(response, stored) };
  }
  const said = field(part, 'content', stored);
  if (type === 'text' && typeof said === 'string') return { text: said };
  // Google's parts have no type.
  const text = type === undefined ? textField(part, 'text', stored) : undefined;
  if (text !== undefined) return { text };
  const name = textField(part, 'modality', stored) ?? type ?? 'part';
  return { name, said: type === 'reasoning' && typeof said === 'string' ? said : '' };
}
