import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { MASK } from '../../../protocol/secrets';
import type { DelegateClient, RequestOptions } from '../delegate/client';
import { maskedValue } from './masked';

/** Levels of parts that are looked into. */
const DEEPEST = 3;
/** Parts of one level that are shown. */
const MOST = 16;
/** Questions for one value, at most: a level of sixteen structs of structs would take hundreds. */
const QUESTIONS = 40;

/** Whether a value's own text says nothing of what is in it: nothing, its type, its address, or how many parts it has. */
function isBare({ value, type }: { value: string; type?: string | undefined }): boolean {
  return value === '' || value === type || / @ 0x[0-9a-fA-F]+$/.test(value) || /^size=\d+$/.test(value);
}

/**
 * A value with what is in it, bounded: `{x = 1, y = 2}`, `{1, 2, 3}`, `size=3 {1, 2, 3}`. What was left out is an ellipsis. Pointers are not
 * followed, and a value that says enough by itself is as it is. Only while the program stands still.
 */
export async function contentsOf(
  client: DelegateClient,
  name: string,
  { result, type, variablesReference }: P.EvaluateResponse['body'],
  options: RequestOptions,
): Promise<string> {
  let questions = QUESTIONS;
  const text = async (name: string, value: string, type: string | undefined, ref: number, level: number) => {
    const plain = maskedValue(name, value);
    // The bytes of a key have no names of their own.
    if (ref <= 0 || plain === MASK || !isBare({ value, type })) return plain;
    const size = /^size=\d+$/.test(value) ? `${value} ` : '';
    if (level === DEEPEST || questions === 0) return `${size}{…}`;
    questions -= 1;
    const asked = { variablesReference: ref, start: 0, count: MOST + 1 };
    const { variables } = await client.request('variables', asked, options);
    const parts: string[] = [];
    for (const part of variables.slice(0, MOST)) {
      const inside = await text(part.name, part.value, part.type, part.variablesReference, level + 1);
      parts.push(/^\[\d+\]$/.test(part.name) ? inside : `${part.name} = ${inside}`);
    }
    if (variables.length > MOST) parts.push('…');
    return `${size}{${parts.join(', ')}}`;
  };
  return text(name, result, type, variablesReference, 0);
}
