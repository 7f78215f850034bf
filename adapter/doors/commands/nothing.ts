import type { FoundCall, NameQuery, Query, QueryAnswer, ValueQuery } from '../../../protocol/query';
import { withCommas } from '../../../protocol/withCommas';
import { UserError } from '../../common/errors';
import { inertJson } from '../../common/inertJson';
import { KeptFiles, thereIs, type ThereIs } from '../../store/query/instead';
import { parsePath, type ValuePath } from '../../store/query/paths';
import { runQuery, type Budget } from '../../store/query/query';
import { wordsOfLine } from '../../store/query/valueMatch';
import { FLAGS } from './queryFlags';
import { count, fit } from './text';

/** Of one question that leaves a part out, and of all of them in milliseconds: whoever mistyped it does not wait long. */
const QUICK: Budget = { rows: 20_000, counting: 20_000, milliseconds: 300 };
const PATIENCE = 1500;
/** Calls whose values are looked at. */
const LOOKED_AT = 200;
const LISTED = 12;
const VALUES = 5;
const LONGEST = 40;

/** Parts of a question that are left out as they are. */
const PARTS = ['kinds', 'file', 'status', 'error', 'text', 'task', 'process', 'from', 'to', 'minimumDuration'] as const;

/** Whatever is asked of a call leaves it out. */
const PRINTED = ' What was printed belongs to no call: --text, --process, --from and --to find it.';
const OF_OUTPUT: ReadonlySet<string> = new Set([FLAGS.text, FLAGS.process, FLAGS.from, FLAGS.to]);

/** A line that tells a value, where it leaves something out. */
const LEFT_OUT = /…|\w \(\d+( × \d+)*\)/;
const LINE_OF_TEXT = ` A text is looked for in one text of a value at a time; a whole line is found by --where "result equals ...".`;

const NAME_FLAGS = {
  contains: '--name',
  equals: '--name-is',
  regex: '--name-regex',
} as const satisfies Record<keyof NameQuery, string>;

/**
 * For a question that nothing answers: which of its parts leaves everything out, and what there is in its place, such as the names of the
 * calls. A line for each; none where more than one part does.
 */
export function whyNothing(paths: readonly string[], query: Query): string[] {
  const files = new KeptFiles();
  try {
    return linesFor(paths, query, files);
  } finally {
    files.closeAll();
  }
}

function linesFor(paths: readonly string[], query: Query, files: KeptFiles): string[] {
  const { limit: _limit, cursor: _cursor, values: _values, ...asked } = query;
  const until = performance.now() + PATIENCE;
  let known: ThereIs | undefined;
  const there = (): ThereIs => (known ??= thereIs(paths, files));
  const lines: string[] = [];
  const without = (rest: Query, typed: string, said: (answer: QueryAnswer) => string): void => {
    if (performance.now() > until) return;
    const answer = quickly(paths, { ...rest, limit: LOOKED_AT }, files);
    if (answer === undefined || answer.rows.length === 0) return;
    const isPrinted =
      asked.types?.includes('output') === true &&
      !OF_OUTPUT.has(typed) &&
      answer.rows.every(({ type }) => type === 'output');
    lines.push(`Without ${typed} ${foundText(answer)}${isPrinted ? PRINTED : said(answer)}`);
  };
  const { name, where = [] } = asked;
  for (const [way, flag] of Object.entries(NAME_FLAGS) as [keyof NameQuery, string][]) {
    if (name?.[way] === undefined) continue;
    const { [way]: typed, ...others } = name;
    const { name: _name, ...rest } = asked;
    without(Object.keys(others).length > 0 ? { ...rest, name: others } : rest, flag, () =>
      among('Names', there().names, typed),
    );
  }
  for (const [index, condition] of where.entries()) {
    const rest = { ...asked, where: where.filter((_, other) => other !== index), values: true };
    without(rest, `the condition on ${fit(condition.path, 80)}`, (answer) => thereInstead(condition, answer));
  }
  for (const field of PARTS) {
    if (asked[field] === undefined) continue;
    const { [field]: _left, ...rest } = asked;
    without(rest, FLAGS[field], () => {
      if (field === 'kinds') return among('Kinds', there().kinds);
      if (field === 'file') return among('Files', there().files, asked.file);
      if (field === 'task') return among('Tasks', there().tasks, asked.task);
      if (field === 'text') return wordsOfLine(asked.text ?? '') === undefined ? '' : LINE_OF_TEXT;
      if (field === 'process') return among('Processes', there().processes, String(asked.process));
      return field === 'error' ? errorsOf(paths, rest, files, asked.error) : '';
    });
  }
  return lines;
}

/** Nothing where a regular expression is too slow for what is now asked of it. */
function quickly(paths: readonly string[], query: Query, files: KeptFiles): QueryAnswer | undefined {
  try {
    return runQuery(paths, query, QUICK, files);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** `3 calls match.` */
function foundText({ rows, more }: QueryAnswer): string {
  const number = rows.length + more.count;
  const isCalls = rows.every(({ type }) => type === 'call');
  const text = count(number, isCalls ? 'call' : 'row');
  return `${more.exact ? text : `at least ${text}`} ${number === 1 ? 'matches' : 'match'}.`;
}

function among(what: string, all: ReadonlyMap<string, number>, typed = ''): string {
  const list = listed(all, typed);
  return list === '' ? '' : ` ${what} that there are: ${list}.`;
}

/** `lookup_order, refund and 3 more`, those first that are most like what was typed, then the most frequent. */
function listed(times: ReadonlyMap<string, number>, typed = '', most = LISTED): string {
  const parts = partsOf(typed);
  const like = (name: string): number => [...partsOf(name)].filter((part) => parts.has(part)).length;
  const names = [...times]
    .map(([name, calls]) => ({ name, calls, like: parts.size === 0 ? 0 : like(name) }))
    .sort((one, other) => other.like - one.like || other.calls - one.calls)
    .map(({ name }) => fit(name, LONGEST));
  const rest = names.length - most;
  return `${names.slice(0, most).join(', ')}${rest > 0 ? ` and ${withCommas(rest)} more` : ''}`;
}

/** Pairs of letters that stand beside each other. */
function partsOf(text: string): Set<string> {
  const low = text.toLowerCase().slice(0, 200);
  return new Set(Array.from({ length: Math.max(0, low.length - 1) }, (_, index) => low.slice(index, index + 2)));
}

/** Types of the errors of those calls that failed. */
function errorsOf(paths: readonly string[], rest: Query, files: KeptFiles, typed: string | undefined): string {
  const answer = quickly(paths, { ...rest, status: rest.status ?? ['error'], limit: LOOKED_AT, values: true }, files);
  const times = new Map<string, number>();
  for (const row of answer?.rows ?? []) {
    const error = row.type === 'call' ? row.values?.error : undefined;
    const type = isRecord(error) && typeof error['type'] === 'string' ? error['type'] : '';
    if (type !== '') times.set(type, (times.get(type) ?? 0) + 1);
  }
  const list = listed(times, typed);
  return list === '' ? '' : ` ${isAll(answer!) ? 'Their errors' : `Errors of the first ${LOOKED_AT}`}: ${list}.`;
}

function isAll({ more }: QueryAnswer): boolean {
  return more.exact && more.count === 0;
}

/** What stands at the condition's place; where nothing does, what the values have there. */
function thereInstead({ path, shown }: ValueQuery, answer: QueryAnswer): string {
  const { root, steps } = parsePath(path);
  const calls = answer.rows.filter((row) => row.type === 'call');
  const where = isAll(answer) ? 'There' : `In the first ${count(calls.length, 'call')}`;
  const values = calls.map((call) => rootOf(call, root)).filter((value) => value !== undefined);
  if (values.length === 0) return isAll(answer) ? ` None of them has ${ROOTS[root]}.` : '';
  let at: unknown[] = values;
  let said: string = root;
  let inPart = '';
  for (const step of steps) {
    const next = at.flatMap((value) => below(value, step));
    const lost = at.filter((value) => isCut(value) && below(value, step).length === 0).length;
    if (lost > 0 && inPart === '')
      inPart = ` In ${lost === 1 ? 'another one' : `${withCommas(lost)} others`} ${said} was recorded in part.`;
    if (next.length === 0) {
      if (at.some(isCut)) return ` ${where} ${said} was recorded in part.`;
      const all = at.map(plain);
      const keys = listed(
        timesOf(all.flatMap((value) => (isRecord(value) ? Object.keys(value).map(keyWord) : []))),
        String(step),
      );
      return keys === '' ? inPart : ` ${where} ${said} has ${keys}.${inPart}`;
    }
    const word = keyWord(String(step));
    said += typeof step === 'number' ? `[${step}]` : word.startsWith('[') ? word : `.${word}`;
    at = next;
  }
  const list = listed(
    timesOf(at.map(plain).flatMap((value) => (value === HIDDEN ? [] : [jsonText(value)]))),
    '',
    VALUES,
  );
  const more =
    shown !== undefined && LEFT_OUT.test(shown)
      ? ' What a line leaves out, or only counts, is no part of a value.'
      : '';
  return `${list === '' ? '' : ` ${where} ${said} is ${list}.`}${inPart}${more}`;
}

/** As it is typed in a path. */
function keyWord(key: string): string {
  return /^[^.[\]\s"']+$/.test(key) ? key : `[${JSON.stringify(key)}]`;
}

function timesOf(texts: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return times;
}

const ROOTS: Record<ValuePath['root'], string> = {
  argument: 'an argument',
  result: 'a result',
  error: 'an error',
  state: 'a state',
  stateBefore: 'a state before',
  stateAfter: 'a state after',
};

function rootOf({ values }: FoundCall, root: ValuePath['root']): unknown {
  if (root === 'argument') return values?.arguments;
  return root === 'state' ? (values?.stateAfter ?? values?.stateBefore) : values?.[root];
}

/** Stands for what cannot be asked for, such as a masked value. */
const HIDDEN = Symbol();

/** Of a value that the recording cut what there is of it; a number that is written in its own way is a leaf. */
function plain(value: unknown): unknown {
  if (!isRecord(value) || typeof value['$mark'] !== 'string') return value;
  return isCut(value) ? value['value'] : HIDDEN;
}

function isCut(value: unknown): value is { value: unknown } {
  return isRecord(value) && value['$mark'] === 'cut' && 'value' in value;
}

function jsonText(value: unknown): string {
  return inertJson(JSON.stringify(value));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.isFrozen(value);
}

function below(within: unknown, step: string | number): unknown[] {
  // From the end that the value had, which is not there.
  if (isCut(within) && typeof step === 'number' && step < 0) return [];
  const value = plain(within);
  if (Array.isArray(value)) return typeof step === 'number' && value.at(step) !== undefined ? [value.at(step)] : [];
  return isRecord(value) && Object.hasOwn(value, String(step)) ? [value[String(step)]] : [];
}
