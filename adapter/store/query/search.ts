import type { Query } from '../../../protocol/query';
import type { ReaderMethods } from '../../../protocol/timeline';
import { withCommas } from '../../../protocol/withCommas';
import { UserError } from '../../common/errors';
import { MOST_ROWS } from '../reader/calls';
import type { RunFile } from '../reader/runFile';
import { findCalls } from './query';
import { conditionIn } from './words';

/** The timeline's search where it asks for more than a name. Throws a `UserError` for a query that is wrong. */
export function searchQuery(
  file: RunFile,
  { text, kinds, errors, limit, conditions = [] }: ReaderMethods['search']['params'],
  query: unknown,
): ReaderMethods['search']['result'] {
  if (typeof query !== 'object' || query === null || Array.isArray(query)) throw new UserError('"query" is an object.');
  const given: Query = query;
  const name = text.trim();
  const { types: _types, ...rest } = given;
  const where = conditions.map(conditionIn);
  // What was typed and the page's own filters must both hold.
  const wanted = both(given.kinds, kinds);
  const status = both(given.status, errors === true ? ['error'] : undefined);
  if (wanted?.length === 0 || status?.length === 0) return { calls: [], total: 0 };
  const most = Math.min(limit, MOST_ROWS);
  const { calls, answer } = findCalls(
    file,
    {
      ...rest,
      ...(where.length === 0 ? {} : { where: Array.isArray(given.where) ? [...given.where, ...where] : where }),
      ...(name === '' ? {} : { name: { ...given.name, contains: name } }),
      ...(wanted === undefined ? {} : { kinds: wanted }),
      ...(status === undefined ? {} : { status }),
    },
    most,
  );
  const { more, partly, problems, looked, cursor } = answer;
  const notes = [...problems, ...(partly > 0 ? [tooLarge(partly)] : [])];
  return {
    calls,
    total: calls.length + more.count,
    looked,
    ...(more.exact ? {} : { atLeast: true }),
    // What does not fit on the page is counted: to go on behind the page would count it again.
    ...(!more.exact && cursor !== undefined && calls.length < most ? { cursor } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

/** Of values that were not searched to their end. */
export function tooLarge(values: number): string {
  return `${values === 1 ? '1 value was' : `${withCommas(values)} values were`} too large to be searched to the end.`;
}

function both<T>(one: readonly T[] | undefined, other: readonly T[] | undefined): readonly T[] | undefined {
  if (!Array.isArray(one) || one.length === 0) return other === undefined || other.length === 0 ? undefined : other;
  return other === undefined || other.length === 0
    ? (one as readonly T[])
    : (one as readonly T[]).filter((item) => other.includes(item));
}
