import type { Query } from '../../../protocol/query';
import type { ReaderMethods } from '../../../protocol/timeline';
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
  const { types: _types, cursor: _cursor, ...rest } = given;
  const where = conditions.map(conditionIn);
  // What was typed and the page's own filters must both hold.
  const wanted = both(given.kinds, kinds);
  const status = both(given.status, errors === true ? ['error'] : undefined);
  if (wanted?.length === 0 || status?.length === 0) return { calls: [], total: 0 };
  const { calls, total, exact } = findCalls(
    file,
    {
      ...rest,
      ...(where.length === 0 ? {} : { where: Array.isArray(given.where) ? [...given.where, ...where] : where }),
      ...(name === '' ? {} : { name: { ...given.name, contains: name } }),
      ...(wanted === undefined ? {} : { kinds: wanted }),
      ...(status === undefined ? {} : { status }),
    },
    Math.min(limit, MOST_ROWS),
  );
  return { calls, total, ...(exact ? {} : { atLeast: true }) };
}

function both<T>(one: readonly T[] | undefined, other: readonly T[] | undefined): readonly T[] | undefined {
  if (!Array.isArray(one) || one.length === 0) return other === undefined || other.length === 0 ? undefined : other;
  return other === undefined || other.length === 0
    ? (one as readonly T[])
    : (one as readonly T[]).filter((item) => other.includes(item));
}
