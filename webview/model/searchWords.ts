import type { Query } from '../../protocol/query';

const STATES: Record<string, NonNullable<Query['status']>[number]> = {
  running: 'running',
  returned: 'returned',
  error: 'error',
  failed: 'error',
  cancelled: 'cancelled',
  skipped: 'skipped',
};
const WORD = /(?:^|\s)(status|min|value):("[^"]*"?|\S+)/g;

const STATE_WORDS = 'running, returned, error, cancelled and skipped';
const UNITS = 'ns, us, ms, s, m and h';

/** Longest text of a value that is searched for. */
const LONGEST = 80;

/** What finds a text in values: as much of one line of it as can stand between quotes. Nothing for a text without words. */
export function valueWord(text: string): string | undefined {
  const parts = text.split(/["\r\n]/).map((part) => part.trim().slice(0, LONGEST).trim());
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return longest === '' ? undefined : `value:"${longest}"`;
}

/**
 * What was typed into the search: names as they are; `status:error`, `min:200ms` and `value:"order 7"` ask for more than a name. A
 * `problem` says which words there are, where one of them cannot become any.
 */
export function searchWords(typed: string): { text: string; query?: Query; problem?: string } {
  const query: Query = {};
  let problem: string | undefined;
  const text = typed.replace(WORD, (_whole, word: string, given: string) => {
    const value = given.replace(/^"|"$/g, '');
    if (word === 'status') {
      const state = Object.hasOwn(STATES, value.toLowerCase()) ? STATES[value.toLowerCase()] : undefined;
      if (state === undefined) problem = `There is no status "${value}". There are ${STATE_WORDS}.`;
      else query.status = [...(query.status ?? []), state];
    } else if (word === 'min') {
      if (/^[\d.]+(?:ns|us|µs|ms|s|m|min|h)$/.test(value)) query.minimumDuration = value;
      // While it is being typed there is a number and no unit yet.
      else if (!/^[\d.]+(?:n|u|µ|mi)?$/.test(value))
        problem = `"${value}" is no length of time, such as 200ms. The units are ${UNITS}.`;
    } else if (value !== '') query.text = value;
    return ' ';
  });
  if (problem !== undefined) return { text: text.trim(), problem };
  return Object.keys(query).length === 0
    ? { text: text.trim() === typed.trim() ? typed : text.trim() }
    : { text: text.trim(), query };
}
