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

/** What was typed into the search: names as they are; `status:error`, `min:200ms` and `value:"order 7"` ask for more than a name. */
export function searchWords(typed: string): { text: string; query?: Query } {
  const query: Query = {};
  const text = typed.replace(WORD, (whole, word: string, given: string) => {
    const value = given.replace(/^"|"$/g, '');
    if (word === 'status') {
      const state = Object.hasOwn(STATES, value.toLowerCase()) ? STATES[value.toLowerCase()] : undefined;
      if (state === undefined) return whole;
      query.status = [...(query.status ?? []), state];
    } else if (word === 'min') {
      // While it is being typed there is a number and no unit yet.
      if (!/^[\d.]+(?:ns|us|µs|ms|s|m|min|h)$/.test(value)) return /^[\d.]+\w*$/.test(value) ? ' ' : whole;
      query.minimumDuration = value;
    } else if (value !== '') query.text = value;
    return ' ';
  });
  return Object.keys(query).length === 0
    ? { text: text.trim() === typed.trim() ? typed : text.trim() }
    : { text: text.trim(), query };
}
