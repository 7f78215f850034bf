import type { Query, QueryAnswer, ValueQuery } from '../../../protocol/query';
import { withCommas } from '../../../protocol/withCommas';
import { UserError } from '../../common/errors';
import { parseExact } from '../../common/exactJson';
import { shorten } from '../reader/text';
import { readPath } from './paths';
import { pythonJson } from './pythonJson';
import { runQuery } from './query';

const COMPARE = /^\s*(equals\b|==?|contains\b|matches\b|~)\s*([\s\S]*)$/;

/** `argument.order_id=7` */
const WITHOUT_SPACE = /^([A-Za-z]+(?:\.[^\s=~.["']+|\[(?:"[^"]*"|'[^']*'|-?\d+)\])*)(==?|~)(?=\S)/;

/** `argument.order_id equals 7`, `result.total matches ^1`, `state["a key"] contains eu`; also `=` and `~`. Throws a `UserError`. */
export function conditionIn(text: string): ValueQuery {
  const trimmed = text.trimStart();
  const split = (typed: string): [path: string, match: RegExpExecArray | null] => {
    const { length } = readPath(typed);
    return [typed.slice(0, length), COMPARE.exec(typed.slice(length))];
  };
  let [path, match] = split(trimmed);
  // A name may have the sign in it, so that is tried first.
  if (match === null) [path, match] = split(trimmed.replace(WITHOUT_SPACE, '$1 $2 '));
  if (match === null)
    throw new UserError(
      `"${shorten(text, 80)}" is no condition. Write it like "argument.order_id equals 7", "result.note contains refund" or "result.total matches ^1".`,
    );
  const [, word, rest] = match as unknown as [string, string, string];
  const isEqual = /^(equals|==?)$/.test(word);
  if (rest === '')
    throw new UserError(
      `"${shorten(text, 80)}" has nothing behind ${word}.${isEqual ? ' An empty text is "" in quotes.' : ''}`,
    );
  if (word === 'contains') return { path, contains: unquoted(rest) };
  if (word === 'matches' || word === '~') return { path, matches: rest };
  const value = jsonOrText(rest, path);
  // What is in quotes is that text and nothing else.
  return value === rest.trim() ? { path, shown: value } : { path, equals: value };
}

/** A text in quotes is what is in them, as it is behind `equals`; two quotes alone are what they are, since every text contains nothing. */
function unquoted(text: string): string {
  const value = /^\s*"[^]+"\s*$/.test(text) ? jsonOrText(text) : '';
  return typeof value === 'string' && value !== '' && value !== text.trim() ? value : text;
}

const PYTHON: Record<string, unknown> = { None: null, True: true, False: false };

/** What is no JSON is a text: nobody types quotes in quotes for a name. */
function jsonOrText(text: string, path = ''): unknown {
  const trimmed = text.trim();
  if (Object.hasOwn(PYTHON, trimmed)) return PYTHON[trimmed];
  try {
    return parseExact(trimmed);
  } catch {
    // What a KeyError says has such quotes itself.
    return path.startsWith('error') && trimmed.startsWith("'") ? trimmed : pythonOrText(trimmed);
  }
}

/** What was copied from a line that tells a call. */
function pythonOrText(text: string): unknown {
  const bare = text.replace(/^frozenset\((\{.*\})\)$/s, '$1');
  const json = /^['[({]/.test(bare) ? pythonJson(bare) : undefined;
  try {
    return json === undefined ? text : parseExact(json);
  } catch {
    return text;
  }
}

/** Calls that are listed when there are several. */
const LISTED = 50;

/**
 * The id of the one call that a person means by its id or its name. Throws a `UserError` that says which there are, in lines that the
 * caller writes.
 */
export function findCall(path: string, name: string, listed: (answer: QueryAnswer) => readonly string[]): string {
  if (/^\d+\.\d+$/.test(name)) return name;
  const answer = runQuery([path], { name: { equals: name }, limit: LISTED } satisfies Query);
  const ids = answer.rows.flatMap((row) => (row.type === 'call' ? [row.call.id] : []));
  if (ids.length === 1) return ids[0]!;
  if (ids.length === 0)
    throw new UserError(`No call of this run is named ${shorten(name, 80)}. "toolbreak show RUN" lists the calls.`);
  const { count, exact } = answer.more;
  const all = `${exact ? '' : 'At least '}${withCommas(ids.length + count)}`;
  const rest = count > 0 || !exact ? ['These are the first; "toolbreak query RUN --name-is NAME" finds all.'] : [];
  throw new UserError(
    [`${all} calls are named ${shorten(name, 80)}. Say which, by its number:`, ...listed(answer), ...rest].join('\n'),
  );
}
