import type { ErrorObject } from 'ajv';
import * as checks from '../../../protocol/generated/query.check.cjs';
import type { Query, QueryOrder, RowType } from '../../../protocol/query';
import type { CallState } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import { shorten } from '../reader/text';
import { isErrorType, parsePath, typeName, type ValuePath } from './paths';
import type { Patterns } from './pattern';
import { durationIn, momentIn, type Moment } from './times';

const USUAL_LIMIT = 50;
const LARGEST_LIMIT = 500;
const LONGEST_TEXT = 10_000;
const MOST_CONDITIONS = 20;

export interface Condition {
  path: ValuePath;
  /** Given when something is to be equal; null is a value, too. */
  equals: { json: unknown } | undefined;
  shown: string | undefined;
  contains: string | undefined;
  matches: RegExp | undefined;
}

/** A query that was read and is well formed. */
export interface Compiled {
  query: Query;
  types: ReadonlySet<RowType>;
  kinds: ReadonlySet<string> | undefined;
  name: { equals: string | undefined; contains: string | undefined; regex: RegExp | undefined } | undefined;
  file: string | undefined;
  status: ReadonlySet<CallState> | undefined;
  error: string | undefined;
  where: readonly Condition[];
  text: string | undefined;
  task: string | undefined;
  process: number | string | undefined;
  from: Moment | undefined;
  to: Moment | undefined;
  minimum: number;
  order: QueryOrder;
  limit: number;
}

/** Reads a query that comes from outside. Throws a `UserError` that names the first field that is wrong. */
export function compileQuery(given: unknown, patterns: Patterns, runs: number): Compiled {
  if (!checks.query(given)) throw new UserError(sentenceFor(checks.query.errors ?? []));
  const query = given as Query;
  refuseLong(query, '');
  const limit = query.limit ?? USUAL_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT)
    throw new UserError(`"limit" is a whole number from 1 to ${LARGEST_LIMIT}.`);
  if ((query.where?.length ?? 0) > MOST_CONDITIONS)
    throw new UserError(`"where" has at most ${MOST_CONDITIONS} conditions.`);
  const compiled: Compiled = {
    query,
    types: new Set(query.types === undefined || query.types.length === 0 ? ['call'] : query.types),
    kinds: setOf(query.kinds),
    name: nameOf(query, patterns),
    file: query.file?.replaceAll('\\', '/').replace(/^\.\//, ''),
    status: setOf(query.status),
    error: query.error === undefined ? undefined : typeName(query.error),
    where: (query.where ?? []).map((one) => conditionOf(one, patterns)),
    text: query.text === undefined || query.text === '' ? undefined : query.text.toLowerCase(),
    task: query.task?.toLowerCase(),
    process: typeof query.process === 'string' ? query.process.toLowerCase() : query.process,
    from: query.from === undefined ? undefined : momentIn(query.from, 'from'),
    to: query.to === undefined ? undefined : momentIn(query.to, 'to'),
    minimum: query.minimumDuration === undefined ? 0 : durationIn(query.minimumDuration, 'minimumDuration'),
    order: query.order ?? (runs > 1 ? '-start' : 'start'),
    limit,
  };
  if (compiled.order.endsWith('duration')) refuseForDuration(compiled);
  return compiled;
}

function refuseForDuration({ types, status }: Compiled): void {
  if ([...types].some((type) => type !== 'call'))
    throw new UserError('Only calls have a duration: order by "start", or ask for calls alone.');
  if (status?.size === 1 && status.has('running'))
    throw new UserError('Calls that run have no duration yet: order them by "start".');
}

function nameOf({ name }: Query, patterns: Patterns): Compiled['name'] {
  if (name === undefined) return undefined;
  if (name.equals === undefined && name.contains === undefined && name.regex === undefined)
    throw new UserError('"name" needs one of equals, contains and regex.');
  return {
    equals: name.equals,
    contains: name.contains?.toLowerCase(),
    regex: name.regex === undefined ? undefined : patterns.compile(name.regex),
  };
}

function conditionOf(given: NonNullable<Query['where']>[number], patterns: Patterns): Condition {
  const { path, shown, contains, matches } = given;
  const equals = Object.hasOwn(given, 'equals') && given.equals !== undefined;
  if (!equals && shown === undefined && contains === undefined && matches === undefined)
    throw new UserError(`The condition on "${path.slice(0, 80)}" needs one of equals, shown, contains and matches.`);
  const parsed = parsePath(path);
  const named = <T>(value: T): T | string =>
    typeof value === 'string' && isErrorType(parsed) ? typeName(value) : value;
  return {
    path: parsed,
    equals: equals ? { json: named(given.equals) } : undefined,
    shown: named(shown),
    contains,
    matches: matches === undefined ? undefined : patterns.compile(matches),
  };
}

function setOf<T>(items: readonly T[] | undefined): ReadonlySet<T> | undefined {
  return items === undefined || items.length === 0 ? undefined : new Set(items);
}

/** Texts that no person types would only cost time. The cursor says for itself what is wrong with it. */
function refuseLong(value: unknown, field: string): void {
  if (typeof value === 'string' && value.length > LONGEST_TEXT && field !== 'cursor')
    throw new UserError(`"${field}" is too long: a text of a query has at most ${LONGEST_TEXT} characters.`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) refuseLong(inner, field === '' ? key : field);
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  array: 'a list',
  object: 'an object',
};

/** `"status" cannot be "dead": it is one of running, returned, error, cancelled, skipped, interrupted.` */
function sentenceFor(errors: readonly ErrorObject[]): string {
  const error = errors[0];
  const field = (error?.instancePath ?? '')
    .split('/')
    .slice(1)
    .reduce((text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`), '');
  const params = (error?.params ?? {}) as {
    allowedValues?: unknown[];
    type?: string | string[];
    additionalProperty?: string;
    missingProperty?: string;
  };
  const name = field === '' ? 'A query' : `"${field}"`;
  switch (error?.keyword) {
    case 'enum':
      return `"${field.replace(/\[\d+\]$/, '')}" cannot be ${shorten(JSON.stringify(error.data), 80)}: it is one of ${(params.allowedValues ?? []).join(', ')}.`;
    case 'additionalProperties':
      return `${name} has no field "${(params.additionalProperty ?? '').slice(0, 80)}".`;
    case 'required':
      return `${name} needs "${params.missingProperty ?? ''}".`;
    case 'type':
      return `${name} is ${[params.type ?? []]
        .flat()
        .map((type) => TYPES[type] ?? type)
        .join(' or ')}.`;
    default:
      return `${name} cannot be read: it ${error?.message ?? 'is not valid'}.`;
  }
}
