import { InvalidArgumentError, type Command } from 'commander';
import {
  damageText,
  endingText,
  errorText,
  messageTitle,
  unmergedText,
  type CallDetail,
  type RunSummary,
} from '../../../protocol/timeline';
import { withCommas } from '../../../protocol/withCommas';
import type { OutlineLine } from '../../store/reader/outline';
import { findRun } from '../../store/life/find';
import { leftOutside } from '../../store/recover';
import { eventCounts } from '../../store/reader/ending';
import { summaryOf } from '../../store/reader/folder';
import { RunFile } from '../../store/reader/runFile';
import { UserError } from '../../common/errors';
import { typed } from '../../common/shell';
import { boundTree, callTree, type TreeNode } from '../../store/query/tree';
import { wholeCall, wholeCallJson, type WholeCall } from '../../store/query/wholeCall';
import { findCall } from '../../store/query/words';
import { callText, lengthText } from './callText';
import { placeFrom, runNames, withPlace, type PlaceOptions } from './place';
import { notEmpty, wholeNumber } from './arguments';
import { tableOf } from './query';
import { clockText, column, count, durationText, fit, momentText, plainText, print, printJson, width } from './text';

const USUAL_CALLS = 200;
const MOST_ERRORS = 20;
const LONGEST_TASK = 30;
/** Columns of a line of the tree that its place in it does not take, and those of one level. */
const LEAST_ROOM = 60;
const LEVEL = 3;
const MOST_CALLS = 20_000;
const USUAL_LINES = 40;
const ALL_LINES = 100_000;
/** Columns of a key and of the value behind it, where not both fit. */
const LEAST_KEY = 20;
const LEAST_VALUE = 24;
/** Levels that are set in further and further; a deeper one says its number. */
const MOST_INDENT = 40;

interface Options extends PlaceOptions {
  limit?: number;
  full?: boolean;
  json?: boolean;
}

export function showCommand(program: Command): void {
  withPlace(program.command('show'))
    .description("show a run's calls as a tree, or one call with all that is known of it")
    .argument('<run>', 'number, id, "last" or path')
    .argument('[call]', 'number of a call, such as 1.4, or its name', notEmpty)
    .option('--limit <number>', `calls of the tree at most (default: ${USUAL_CALLS})`, fromOne)
    .option('--full', 'values of a call to their end: 100,000 lines of each, and all of them with --json')
    .option('--json', 'as JSON; times in nanoseconds')
    .action((name: string, call: string | undefined, options: Options, command: Command) => {
      if (call !== undefined && options.limit !== undefined)
        command.error('toolbreak: --limit is for the tree of a run. --full shows all of a call.');
      if (call === undefined && options.full === true)
        command.error('toolbreak: --full is for one call: name it behind the run.');
      const file = findRun(name, placeFrom(options));
      const run = summaryOf(file);
      if (run.problem !== undefined) throw new UserError(run.problem);
      if (call === undefined) return showTree(run, name, options);
      const id = findCall(file, call, tableOf);
      if (options.json === true) return printJson({ ...runNames(file), ...wholeCallJson(file, id) });
      const full = options.full === true;
      print(callLines(run, wholeCall(file, id, full ? ALL_LINES : USUAL_LINES, full), full));
    });
}

function fromOne(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return number;
}

// ------------------------------------------------------------ the tree

function showTree(run: RunSummary, named: string, options: Options): void {
  const { limit, json } = options;
  const most = Math.max(1, Math.min(limit ?? USUAL_CALLS, MOST_CALLS));
  const outside = leftOutside([run.file]);
  const { tops, shown, problems: unread, ...more } = callTree(run.file, most);
  const problems = [...outside, ...unread];
  const whole = problems.length === 0;
  // How many calls there are is known; a run that goes on has more of them in the next moment.
  const exact = whole && (more.exact || !run.live);
  const left = more.exact || !whole ? more.left : Math.max(more.left, run.calls - shown);
  if (json === true)
    return printJson({ ...run, tree: boundTree(tops), more: { count: left, exact }, ...(!whole && { problems }) });
  const lines = [runLine(run)];
  // What one thread or task alone did needs no word of it.
  const several = new Set(tops.map(({ call }) => call.task)).size > 1;
  for (const top of tops) addNode(lines, top, several ? `${fit(top.call.task, LONGEST_TASK)}: ` : '', '');
  if (shown === 0) lines.push(noCall(run, named, options));
  const advice = most < MOST_CALLS ? '--limit, or' : `a tree has ${withCommas(MOST_CALLS)} at most;`;
  if (left > 0 || (!exact && whole))
    lines.push(`${exact ? '' : 'At least '}${withCommas(left)} more: ${advice} "toolbreak query" to find some.`);
  print(lines);
  for (const problem of problems) process.stderr.write(`toolbreak: ${plainText(problem)}\n`);
}

/** Of a run that is over: what else there is of it, and how to see that. */
function noCall(run: RunSummary, named: string, { project, all }: PlaceOptions): string {
  if (run.live || run.reading === true) return 'No call is recorded yet.';
  const events = eventsOf(run.file);
  const kinds = [
    { type: 'output', what: 'what it printed', names: ['output'] },
    { type: 'crash', what: 'how it crashed', names: ['crash', 'crashed'] },
    { type: 'event', what: 'what went wrong in a thread', names: ['uncaught'] },
  ].filter(({ names }) => names.some((name) => events.has(name)));
  if (kinds.length === 0) return 'No call was recorded.';
  const place = [...(project === undefined ? [] : ['--project', project]), ...(all === true ? ['--all'] : [])];
  const command = ['query', named, ...place, '--type', kinds.map(({ type }) => type).join(',')].map(typed).join(' ');
  return `No call was recorded. See ${kinds.map(({ what }) => what).join(' and ')} with "toolbreak ${command}".`;
}

function eventsOf(path: string): ReadonlyMap<string, number> {
  const file = new RunFile(path);
  try {
    return eventCounts(file);
  } finally {
    file.close();
  }
}

function runLine(run: RunSummary): string {
  const missing = damageText(run);
  const parts = [
    `run ${run.number > 0 ? run.number : run.run}`,
    run.name,
    run.live ? `running for ${durationText(run.duration)}` : durationText(run.duration),
    count(run.calls, 'call'),
    ...(run.errors > 0 ? [count(run.errors, 'error')] : []),
    ...(run.holds > 0 ? [count(run.holds, 'hold')] : []),
    ...(run.tokens > 0 ? [count(run.tokens, 'token')] : []),
    ...(run.ending === undefined ? [] : [endingText(run.ending)]),
    ...(missing === undefined ? [] : [missing]),
    ...(run.languages ?? []),
    clockText(run.startedAt),
  ];
  return fit(parts.join(' · '), width());
}

/** Not by calling itself for each level: a recursion of the app may be deep. */
function addNode(lines: string[], top: TreeNode, lead: string, stem: string): void {
  const deepest = Math.max(LEVEL, Math.floor((width() - LEAST_ROOM) / LEVEL));
  const waiting = [{ node: top, lead, stem, level: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, stem: under, level } = next;
    // So deep that its place in the tree cannot be drawn beside its name.
    const before = level > deepest ? `(level ${level}) ` : next.lead;
    const { call } = node.call;
    const length = lengthText(call);
    const kind = call.kind === 'function' ? '' : `${call.kind} `;
    // What a model took is said even where its line is cut.
    const tokens = call.tokens === undefined ? '' : ` · ${count(call.tokens, 'token')}`;
    const place = `${column(call.id, 8)} ${column(length, 9)} ${before}${kind}`;
    const room = width() - tokens.length;
    lines.push(fit(place + callText(node.call, room - place.length), room) + tokens);
    const last = node.below.length - 1;
    for (let index = last; index >= 0; index--) {
      const end = index === last;
      waiting.push({
        node: node.below[index]!,
        lead: `${under}${end ? '└─ ' : '├─ '}`,
        stem: level > deepest ? under : `${under}${end ? '   ' : '│  '}`,
        level: level + 1,
      });
    }
  }
}

// ------------------------------------------------------------ one call

const TITLES = {
  arguments: 'Arguments',
  result: 'Result',
  stateBefore: 'State before',
  stateAfter: 'State after',
};
const OUTCOMES = {
  running: 'running for',
  returned: 'returned after',
  error: '✗ failed after',
  cancelled: 'cancelled after',
  skipped: 'skipped after',
  interrupted: 'interrupted after',
};
const CHANGES = { added: '+', removed: '-', changed: '~' };

/** Characters of a line of an error's message. */
const LONGEST_SAID = 4000;
const LEFT_OUT = 'Some of it is left out here: --full shows all.';

/** Levels that are named at either end of a deep recursion. */
const MOST_LEVELS = 20;

function wayText({ path, pathLeft }: CallDetail): string {
  const names = path.map(({ name }) => name);
  const left = names.length - 2 * MOST_LEVELS + (pathLeft?.levels ?? 0);
  if (left > 1) names.splice(MOST_LEVELS, names.length - 2 * MOST_LEVELS, `… ${withCommas(left)} more …`);
  return names.join(' › ');
}

function callLines(run: RunSummary, { detail, at, lane, values, errors }: WholeCall, full: boolean): string[] {
  const { call, source, changes, edits, events, attributes, messages } = detail;
  const length = (call.end ?? Math.max(run.duration, call.start)) - call.start;
  const room = full ? Infinity : Math.max(width(), 100);
  // A terminal makes a link of a whole path.
  const places = new Set<string>();
  const uncut = (place: string): string => {
    places.add(place);
    return place;
  };
  const lines = [
    call.unended === true
      ? `${call.kind} ${call.name}, ran for at least ${durationText(length)}`
      : `${call.kind} ${call.name}, ${OUTCOMES[call.state]} ${durationText(length)}`,
    wayText(detail),
    `call ${call.id} of run ${run.number > 0 ? run.number : run.run} (${run.name}), ${clockText(at)}, ${momentText(call.start)}`,
    ...(lane === undefined ? [] : [`lane ${lane}`]),
    ...(source === undefined ? [] : [uncut(`${source.path}:${source.line}`)]),
  ];
  // Of very many, those at the top and the one at the bottom.
  const left = full ? 0 : Math.max(0, errors.length - MOST_ERRORS);
  errors.forEach(({ type, message, stack, way, fields, mark }, index) => {
    if (left > 0 && index === errors.length - 1) lines.push('', `… ${withCommas(left)} more: --full`);
    if (left > 0 && index >= MOST_ERRORS - 1 && index < errors.length - 1) return;
    const text = errorText({ type, message });
    const title = index === 0 ? 'Error' : way === 'context' ? 'While handling' : 'Caused by';
    // What an error says is why somebody looks: whole, unless it is very long.
    lines.push('', title, ...text.split('\n').map((line) => `  ${line.length > LONGEST_SAID ? line : uncut(line)}`));
    for (const frame of stack) lines.push(`    ${uncut(`${frame.path}:${frame.line} in ${frame.function}`)}`);
    for (const field of fields) lines.push(valueLine({ ...field, depth: field.depth + 1 }, room));
    if (mark !== undefined) lines.push(`    (${mark})`);
  });
  for (const { part, text, mark, typed, lines: parts, sameAs } of values) {
    const named = typed || parts.length === 0;
    lines.push('', part === 'result' && call.state === 'interrupted' ? 'Waits for' : TITLES[part]);
    // A node is given the state and answers what it becomes: what has parts is read once.
    if (sameAs !== undefined && parts.length > 0) {
      const isWhole = mark === undefined && parts.every((each) => each.mark === undefined);
      lines.push(`  the same as the ${TITLES[sameAs].toLowerCase()}${isWhole ? '' : ', as far as it was recorded'}`);
    } else {
      if (named) lines.push(marked(`  ${text}`, mark, room));
      for (const part of parts) lines.push(valueLine(named ? { ...part, depth: part.depth + 1 } : part, room));
      if (!named && mark !== undefined) lines.push(`  (${mark})`);
    }
    if (part === 'stateAfter') lines.push(...(detail.unmerged ?? []).map((key) => `  (${unmergedText(key)})`));
  }
  section(
    lines,
    'Changes',
    changes?.map(({ change, path: place, before, after }) =>
      [CHANGES[change], place, before, ...(before === undefined || after === undefined ? [] : ['→']), after]
        .filter((part) => part !== undefined)
        .join(' '),
    ),
  );
  section(
    lines,
    'Messages',
    messages?.map((message) => `${messageTitle(message)}: ${message.text.replace(/\s+/g, ' ')}`),
  );
  section(
    lines,
    'Attributes',
    attributes.map(({ name, value }) => `${name} = ${value}`),
  );
  section(lines, 'Edited', edits);
  section(
    lines,
    'Events',
    events.map(({ time, text }) => `${momentText(time)}  ${text}`),
  );
  let isCut = values.some((value) => value.lines.some(({ isRest }) => isRest));
  const shown = lines.map((line) => {
    const whole = plainText(line).trimEnd();
    const fitting = places.has(line.trimStart()) ? whole : fit(line, room).trimEnd();
    isCut ||= fitting !== whole;
    return fitting;
  });
  return isCut && !full ? [...shown, '', LEFT_OUT] : shown;
}

function valueLine({ depth, name, text, mark, isRest }: OutlineLine, room: number): string {
  const indent = '  '.repeat(Math.min(depth, MOST_INDENT) + 1) + (depth > MOST_INDENT ? `(level ${depth + 1}) ` : '');
  if (isRest) return `${indent}… ${text}`;
  // So the recording writes what it left out of an object.
  if (name === '…' && mark !== undefined) return marked(`${indent}…`, mark, room);
  // A key may be longer than the line: what stands behind it is asked for.
  const key = fit(name, Math.max(LEAST_KEY, room - indent.length - LEAST_VALUE));
  return marked(`${indent}${key} = ${text}`, mark, room);
}

/** Why a value is not whole is said even where its line is cut. */
function marked(text: string, mark: string | undefined, room: number): string {
  if (mark === undefined) return text;
  const said = fit(`  (${mark})`, Math.min(room, Math.max(room - 24, 0)));
  return fit(text, room - [...said].length) + said;
}

function section(lines: string[], title: string, items: readonly string[] | undefined): void {
  if (items !== undefined && items.length > 0) lines.push('', title, ...items.map((item) => `  ${item}`));
}
