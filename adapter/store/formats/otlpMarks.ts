import { CutValue, DEEPEST, Masked, RecordedErrorValue, WholeFloat, type Told } from './marshalWriter';
import type { SpanCall } from './otlpSpan';
import { areFields } from './otlpValue';

/** As `plainJson` writes them. */
const ELLIPSIS = '…';
const MASKED_TEXT = '<masked>';
const WHY = 'it was not whole where it comes from';
const UNSEEN = /^<([\w.]{1,100})…>$/;

/** Which attributes of a span are not whole, as our own export says it. */
export const CUT = 'toolbreak.cut';
const ARGUMENTS = ['toolbreak.arguments', 'gen_ai.tool.call.arguments', 'gen_ai.input.messages'];
const RESULT = ['toolbreak.result', 'gen_ai.tool.call.result', 'gen_ai.output.messages'];
const FIELDS = ['toolbreak.error.fields'];

/** A call whose values carry the marks that our own export has written into them. What is marked is named no more. */
export function marked(call: SpanCall): SpanCall {
  const { [CUT]: told, ...attributes } = call.attributes;
  let names = [told ?? []].flat().filter((name) => typeof name === 'string');
  const value = (given: Told, places: readonly string[]): Told => {
    const { value, found } = withMarks(
      given,
      names.some((name) => places.includes(name)),
    );
    if (found) names = names.filter((name) => !places.includes(name));
    return value;
  };
  const { args, result, states } = call;
  const made = {
    ...call,
    args: fieldsOf(value(args, ARGUMENTS)),
    states: states.map(({ when, value: state }) => ({ when, value: value(state, [`toolbreak.state.${when}`]) })),
    result:
      result instanceof RecordedErrorValue
        ? new RecordedErrorValue({ ...result.error, fields: fieldsOf(value(result.error.fields, FIELDS)) })
        : result === undefined
          ? undefined
          : value(result, RESULT),
    attributes: Object.fromEntries(Object.entries(attributes).map(([key, one]) => [key, value(one, [key])])),
  };
  if (names.length > 0) made.attributes[CUT] = names;
  return made;
}

/** Fields by their names; of those that were cut the rest is one more. */
function fieldsOf(value: Told): { [key: string]: Told } {
  if (areFields(value)) return value;
  const head = value instanceof CutValue ? value.head : null;
  return { ...(areFields(head) && head), [ELLIPSIS]: new CutValue(null, 'value', WHY) };
}

/**
 * The marks of a value that our own export wrote as JSON: `<masked>` is one wherever it stands, and an ellipsis at the end of a text, a list or a dict is one
 * where the span says that the value is not whole. Answers whether there was one of the second kind, too.
 */
function withMarks(value: Told, isCut: boolean): { value: Told; found: boolean } {
  let found = false;
  const cut = (head: Told, type: string): CutValue => {
    found = true;
    return new CutValue(head, type, WHY);
  };
  const each = (given: Told, depth: number): Told => {
    if (typeof given === 'string') return text(given);
    if (typeof given !== 'object' || given === null || given instanceof WholeFloat || depth > DEEPEST) return given;
    if (given instanceof Masked || given instanceof CutValue) return given;
    if (Array.isArray(given)) {
      const hasMore = isCut && given.at(-1) === ELLIPSIS;
      const items = (hasMore ? given.slice(0, -1) : given).map((item) => each(item, depth + 1));
      return hasMore ? cut(items, 'list') : items;
    }
    const { [ELLIPSIS]: rest, ...fields } = given;
    const hasMore = isCut && rest === null;
    const made = Object.fromEntries(
      Object.entries(hasMore ? fields : given).map(([key, item]) => [key, each(item, depth + 1)]),
    );
    return hasMore ? cut(made, 'dict') : made;
  };
  const text = (given: string): Told => {
    if (given === MASKED_TEXT) return new Masked('');
    if (!isCut) return given;
    const type = UNSEEN.exec(given)?.[1];
    if (type !== undefined) return cut(null, type);
    if (!given.endsWith(ELLIPSIS)) return given;
    const head = given.slice(0, -ELLIPSIS.length);
    return head === '' ? cut(null, 'value') : cut(head, 'str');
  };
  return { value: each(value, 0), found };
}
