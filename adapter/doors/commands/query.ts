import type { Command } from 'commander';
import { kindNamed, type FoundCall, type FoundEvent, type Query, type QueryAnswer } from '../../../protocol/query';
import { withCommas } from '../../../protocol/withCommas';
import { UserError } from '../../common/errors';
import { findRun, listRuns, noRuns } from '../../store/life/find';
import { leftOutside } from '../../store/recover';
import { KINDS } from '../../model/names';
import { compileQuery } from '../../store/query/compile';
import { Patterns } from '../../store/query/pattern';
import { runQuery } from '../../store/query/query';
import { tooLarge } from '../../store/query/search';
import { conditionIn } from '../../store/query/words';
import { notEmpty, wholeNumber } from './arguments';
import { callText, lengthText } from './callText';
import { whyNothing } from './nothing';
import { placeFrom, withPlace, type PlaceOptions } from './place';
import { FLAGS } from './queryFlags';
import { column, count, fit, momentText, plainText, print, printJson, width } from './text';

interface Options extends PlaceOptions {
  type?: string[];
  kind?: string[];
  name?: string;
  nameIs?: string;
  nameRegex?: string;
  file?: string;
  status?: string[];
  error?: string;
  where?: string[];
  text?: string;
  task?: string;
  process?: string;
  from?: string;
  to?: string;
  minDuration?: string;
  order?: string;
  limit?: number;
  cursor?: string;
  json?: boolean;
  values?: boolean;
}

export function queryCommand(program: Command): void {
  withPlace(program.command('query'))
    .description('find calls, output, crashes and other events in one run or in all of the project')
    .argument('[run...]', 'number, id, "last" or path (default: all of the project)')
    .option('--type <types>', 'call, output, crash, event, or several with commas (default: call)', list)
    .option(
      '--kind <kinds>',
      'tool, node, workflow (or agent), llm (or model), function, ..., or several with commas',
      list,
    )
    .option('--name <text>', 'part of the name', notEmpty)
    .option('--name-is <name>', 'the whole name: lookup_order, or tool:lookup_order', notEmpty)
    .option('--name-regex <expression>', 'the name matches this regular expression')
    .option('--file <path>', 'file of the function, or the end of its path', notEmpty)
    .option(
      '--status <states>',
      'running, returned, error, cancelled, skipped, interrupted, or several with commas',
      list,
    )
    .option('--error <type>', 'type of the error, such as ValueError', notEmpty)
    .option('--where <condition>', '"argument.order_id equals 7", "result.total matches ^1"; may be repeated', collect)
    .option('--text <text>', 'in the name, the arguments, the result, the error or an event', notEmpty)
    .option('--task <text>', "part of the task's name", notEmpty)
    .option('--process <pid or name>', 'the process', notEmpty)
    .option('--from <moment>', "date and time, since the run's start (+5s), or before its end (-5s, -1d)")
    .option('--to <moment>', 'the same')
    .option('--min-duration <duration>', 'takes at least so long, in ns, us, ms, s, m, h or d: 200ms, 1.5s, 2m')
    .option(
      '--order <order>',
      'start, -start, duration or -duration (longest first; default: start, over several runs -start)',
    )
    .option('--limit <number>', 'rows at most, from 1 to 500 (default: 50)', wholeNumber)
    .option('--cursor <cursor>', 'go on after an earlier answer')
    .option('--json', 'as JSON; times in nanoseconds')
    .option('--values', 'with --json: arguments, results, errors and states themselves, not only their lines')
    .action((names: string[], options: Options, command: Command) => {
      if (options.values === true && options.json !== true)
        command.error('toolbreak: --values is for --json. "toolbreak show RUN CALL" tells people all of a call.');
      const query = queryFrom(options, command);
      const place = placeFrom(options);
      const named =
        names.length > 0 ? names.map((name) => findRun(name, place)) : listRuns(place).map(({ file }) => file);
      const files = [...new Set(named)];
      if (files.length === 0) throw noRuns(place);
      const outside = leftOutside(files);
      const found = answerOf(files, query, command);
      const answer = { ...found, problems: [...outside, ...found.problems] };
      if (options.json === true) printJson(answer);
      else {
        for (const problem of answer.problems) process.stderr.write(`toolbreak: ${problem}\n`);
        const isNothing = answer.rows.length === 0 && (answer.cursor ?? query.cursor) === undefined;
        const why = isNothing ? whyNothing(files, query) : [];
        // Output is read from top to bottom: of several runs its newest lines, like the end of a log.
        const isLog = query.types?.includes('output') === true && query.order === undefined && files.length > 1;
        print(
          isLog
            ? [...tableOf({ ...answer, rows: answer.rows.toReversed() }), ...footer(answer, 'earlier'), ...why]
            : [...tableOf(answer), ...footer(answer, 'more'), ...why],
        );
      }
    });
}

/** Which cursors there are is known only where the runs are. */
function answerOf(files: readonly string[], query: Query, command: Command): QueryAnswer {
  try {
    return runQuery(files, query);
  } catch (error) {
    if (!(error instanceof UserError) || !error.message.startsWith('"cursor"')) throw error;
    return mistake(error, command);
  }
}

/** What cannot be asked is a mistake of whoever typed it. */
function queryFrom(options: Options, command: Command): Query {
  try {
    const unknown = options.kind?.find((kind) => !KINDS.some((known) => known === kindNamed(kind)));
    if (unknown !== undefined) throw new UserError(`"kinds" cannot be "${unknown}": it is one of ${KINDS.join(', ')}.`);
    const query = queryOf(options);
    compileQuery(query, new Patterns(), 1);
    return query;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return mistake(error, command);
  }
}

function mistake(error: UserError, command: Command): never {
  const said = error.message.replace(/^"(\w+)"/, (quoted, field: string) =>
    Object.hasOwn(FLAGS, field) ? FLAGS[field as keyof typeof FLAGS] : quoted,
  );
  return command.error(`toolbreak: ${said}`);
}

function queryOf(options: Options): Query {
  const { name, nameIs, nameRegex } = options;
  const names = without({ contains: name, equals: nameIs, regex: nameRegex });
  const pid =
    options.process !== undefined && /^\d+$/.test(options.process) ? Number(options.process) : options.process;
  return without({
    types: options.type as Query['types'],
    kinds: options.kind?.map(kindNamed),
    name: Object.keys(names).length > 0 ? names : undefined,
    file: options.file,
    // `show` and the timeline's search say so, too.
    status: options.status?.map((state) => (state === 'failed' ? 'error' : state)) as Query['status'],
    error: options.error,
    where: options.where?.map(conditionIn),
    text: options.text,
    task: options.task,
    process: pid,
    from: options.from,
    to: options.to,
    minimumDuration: options.minDuration,
    order: options.order as Query['order'],
    limit: options.limit,
    cursor: options.cursor,
    values: options.values,
  });
}

/** Only what was given. */
function without<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Not as many arguments as follow: they would take the runs, too. */
function list(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',').map((part) => part.trim())];
}

function collect(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** A line for each row below a head, as wide as the terminal; crashes wider. */
export function tableOf(answer: QueryAnswer): string[] {
  const several = answer.runs.length > 1;
  const runs = new Map(answer.runs.map(({ run, number, name }) => [run, `${number} ${name}`]));
  // Whole: the number of a call is what the next command asks for.
  const calls = Math.max(8, ...answer.rows.map(({ call }) => call?.id.length ?? 0));
  const lines = answer.rows.map((row) => {
    const run = several ? `${column(runs.get(row.run) ?? row.run, 18)} ` : '';
    // A crash is told whole, and what else happened: their places come last. What the app printed or logged may be of any length.
    const isWhole = row.type === 'crash' || (row.type === 'event' && row.name !== 'log');
    const room = isWhole ? Infinity : width();
    return fit(run + (row.type === 'call' ? callLine(row, calls, room - run.length) : eventLine(row, calls)), room);
  });
  if (lines.length > 0) {
    const head = [column('AT', 12), column('CALL', calls), column('LENGTH', 9), column('KIND', 9), 'WHAT'].join(' ');
    lines.unshift((several ? `${column('RUN', 18)} ` : '') + head);
  }
  return lines;
}

function callLine(row: FoundCall, calls: number, room: number): string {
  const { call } = row;
  const columns = [
    column(momentText(call.start), 12),
    column(call.id, calls),
    column(lengthText(call), 9),
    column(call.kind, 9),
  ];
  const place = `${columns.join(' ')} `;
  return place + callText(row, room - place.length);
}

function eventLine(row: FoundEvent, calls: number): string {
  const text = plainText(row.text.trimEnd());
  const what = row.type === 'output' ? `${row.name}: ${text}` : row.type === 'crash' ? `✗ ${text}` : text;
  const about = row.call === undefined ? '' : `${row.call.name}: `;
  return [
    column(momentText(row.time), 12),
    column(row.call?.id ?? '', calls),
    column('', 9),
    column(row.type, 9),
    about + what,
  ].join(' ');
}

function footer({ rows, more, cursor, looked, partly }: QueryAnswer, others: 'more' | 'earlier'): string[] {
  const lines: string[] = [];
  if (rows.length === 0 && more.exact) lines.push('Nothing matches.');
  else if (rows.length === 0 && cursor === undefined) lines.push('Nothing that can be read matches.');
  else if (rows.length === 0) lines.push(`Nothing yet among the first ${count(looked, 'row')}.`);
  if (partly > 0) lines.push(tooLarge(partly));
  if (more.count > 0 || (!more.exact && (rows.length > 0 || cursor !== undefined)))
    lines.push(
      !more.exact && more.count === 0
        ? 'There may be more.'
        : `${more.exact ? '' : 'At least '}${withCommas(more.count)} ${others}.`,
    );
  if (cursor !== undefined && (more.count > 0 || !more.exact)) lines.push(`Go on: --cursor ${cursor}`);
  return lines;
}
