import { Dict, Float, type Value } from './values/model';

/** Tokens of a model call, by the names of the OpenTelemetry GenAI conventions. */
export function tokensIn(attributes: Value): number | undefined {
  if (!(attributes instanceof Dict)) return undefined;
  let sum: number | undefined;
  for (const name of ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens']) {
    const found = attributes.get(name);
    const count = found instanceof Float ? Math.round(found.value) : found;
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) sum = (sum ?? 0) + count;
  }
  return sum;
}
