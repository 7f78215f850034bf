import type { FoundCall, Query, QueryAnswer, ValueQuery } from '../../../protocol/query';
import { UserError } from '../../common/errors';
import { inertJson } from '../../common/inertJson';
import { parsePath, type ValuePath } from '../../store/query/paths';
import { runQuery, type Budget } from '../../store/query/query';
import { count, fit } from './text';

/** Of one question that leaves a part out: whoever mistyped it does not wait long. */
const QUICK: Budget = { rows: 20_000, counting: 20_000, milliseconds: 300 };
const LOOKED_AT = 200;
const LISTED = 12;
const VALUES = 5;
const LONGEST = 40;

/** How the parts of a question are typed. */
const FLAGS = {
  kinds: '--kind',
  file: '--file',
  status: '--status',
  error: '--error',
  text: '--text',
  task: '--task',
  process: '--process',
  from: '--from',
  to: '--to',
  minimumDuration: '--min-duration',
} as const satisfies Partial<Record<keyof Query, string>>;

/**
 * For a question that nothing answers: which of its parts leaves everything out, and what there is in its place, such as the names of the
 * calls. A line for each; none where more than one part does.
 */
export function whyNothing(files: readonly string[], query: Query): string[] {
  const { limit: _limit, cursor: _cursor, order: _order, values: _values, ...asked } = query;
  const without = (rest: Query, typed: string, said: (calls: FoundCall[]) => string): string[] => {
    const answer = quickly(files, { ...rest, limit: LOOKED_AT });
    if (answer === undefined) return [];
    const calls = answer.rows.filter((row) => row.type === 'call');
    const told = calls.length < answer.rows.length ? '' : said(calls);
    return answer.rows.length === 0 ? [] : [`Without ${typed} ${foundText(answer)}${told}`];
  };
  const lines: string[] = [];
  const { name, where = [], ...others } = asked;
  if (name !== undefined) {
    const [way] = (['contains', 'equals', 'regex'] as const).filter((one) => name[one] !== undefined);
    const flag = way === 'contains' ? '--name' : way === 'equals' ? '--name-is' : '--name-regex';
    lines.push(
      ...without({ ...others, where }, flag, (calls) =>
        theirs(
          'names',
          calls.map(({ call }) => call.name),
        ),
      ),
    );
  }
  for (const [index, condition] of where.entries()) {
    const rest = { ...asked, where: where.filter((_, other) => other !== index), values: true };
    lines.push(
      ...without(rest, `the condition on ${fit(condition.path, 80)}`, (calls) => thereInstead(condition, calls)),
    );
  }
  for (const [field, flag] of Object.entries(FLAGS) as [keyof typeof FLAGS, string][]) {
    if (asked[field] === undefined) continue;
    const list = LISTS[field];
    lines.push(
      ...without({ ...asked, [field]: undefined }, flag, (calls) =>
        list === undefined ? '' : theirs(list.of, calls.map(list.text)),
      ),
    );
  }
  return lines;
}

/** Nothing where a regular expression is too slow for what is now asked of it. */
function quickly(files: readonly string[], query: Query): QueryAnswer | undefined {
  try {
    return runQuery(files, query, QUICK);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const LISTS: Partial<Record<keyof typeof FLAGS, { of: string; text: (found: FoundCall) => string }>> = {
  kinds: { of: 'kinds', text: ({ call }) => call.kind },
  file: { of: 'files', text: ({ source }) => source?.path.split(/[\\/]/).at(-1) ?? '' },
  status: { of: 'states', text: ({ call }) => call.state },
  error: { of: 'errors', text: ({ error }) => /^[\w.]+/.exec(error ?? '')?.[0] ?? '' },
  task: { of: 'tasks', text: ({ task }) => task },
};

/** `3 calls match.` */
function foundText({ rows, more }: QueryAnswer): string {
  const number = rows.length + more.count;
  const isCalls = rows.every(({ type }) => type === 'call');
  const text = count(number, isCalls ? 'call' : 'row');
  return `${more.exact ? text : `at least ${text}`} ${number === 1 ? 'matches' : 'match'}.`;
}

function theirs(what: string, texts: readonly string[]): string {
  const list = listed(texts);
  return list === '' ? '' : ` Their ${what}: ${list}.`;
}

/** `lookup_order, refund and 3 more`, the most frequent first. */
function listed(texts: readonly string[], most = LISTED): string {
  const times = new Map<string, number>();
  for (const text of texts) if (text !== '') times.set(text, (times.get(text) ?? 0) + 1);
  const names = [...times].sort(([, one], [, other]) => other - one).map(([text]) => fit(text, LONGEST));
  const rest = names.length - most;
  return `${names.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** What stands at the condition's place; where nothing does, what the values have there. */
function thereInstead({ path }: ValueQuery, calls: readonly FoundCall[]): string {
  const { root, steps } = parsePath(path);
  const values = calls.map((call) => rootOf(call, root)).filter((value) => value !== undefined);
  if (values.length === 0) return ` None of them has a ${ROOTS[root]}.`;
  let at: unknown[] = values;
  let said: string = root;
  for (const step of steps) {
    const next = at.flatMap((value) => below(value, step));
    if (next.length === 0) {
      const keys = listed(at.flatMap((value) => (isRecord(value) ? Object.keys(value) : [])));
      return keys === '' ? '' : ` There ${said} has ${keys}.`;
    }
    said += typeof step === 'number' ? `[${step}]` : /^\w+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    at = next;
  }
  return ` There ${said} is ${listed(at.map(jsonText), VALUES)}.`;
}

function jsonText(value: unknown): string {
  return inertJson(JSON.stringify(value));
}

const ROOTS: Record<ValuePath['root'], string> = {
  argument: 'argument',
  result: 'result',
  error: 'error',
  state: 'state',
  stateBefore: 'state before',
  stateAfter: 'state after',
};

function rootOf({ values }: FoundCall, root: ValuePath['root']): unknown {
  if (root === 'argument') return values?.arguments;
  return root === 'state' ? (values?.stateAfter ?? values?.stateBefore) : values?.[root];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function below(value: unknown, step: string | number): unknown[] {
  if (Array.isArray(value)) return typeof step === 'number' && value.at(step) !== undefined ? [value.at(step)] : [];
  return isRecord(value) && Object.hasOwn(value, String(step)) ? [value[String(step)]] : [];
}
