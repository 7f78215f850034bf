/**
 * Messages between the timeline page, its host (the extension), and the trace reader process.
 *
 * The page posts `{id, method, params}` and gets `{id, result}` or `{id, error}`. Methods of `ReaderMethods` are forwarded to the reader
 * process unchanged; those of `HostMethods` are answered by the host. `{notify, params}` goes to the page without an answer.
 * The reader speaks the same JSON, one object a line, on stdin and stdout.
 *
 * Times are nanoseconds since the run's first call, or in a run without calls since the first event, as JavaScript numbers (exact for 104 days).
 */
import type { Query } from './query';

export interface RunSummary {
  file: string;
  run: string;
  /** What a person called the run; else `support_agent`, or the program's name while no workflow was seen. */
  name: string;
  /** Number of the run in its project, 1 for the first. */
  number: number;
  /** `2026-11-22T10:00:00.123456789Z`, of which times are counted. */
  startedAt: string;
  /** Duration so far or in all. */
  duration: number;
  live: boolean;
  /** The app has ended, and the rest of what it recorded is still being read; counts grow. `changed` tells. */
  reading?: boolean;
  /** What recorded it is gone, and a process of the app still runs; whoever looks at runs takes over what it records on, if it does. */
  left?: true;
  calls: number;
  errors: number;
  holds: number;
  tokens: number;
  /** Parts of the recording that could not be read when the file was made: their calls, values or ends of calls are missing. */
  damaged?: number;
  /** The recording of a process ended before the process did: its space was used up, or it was let go. */
  partial?: true;
  /** A page of the file is damaged, so that it is not known how the run ended. What can be read is there. */
  torn?: true;
  /** A person keeps it: it is never pruned. */
  kept?: boolean;
  /** What ended it, or one of its processes, where that did not end by itself. Only of a run that has ended. */
  ending?: Ending;
  /** `Python 3.11.2`, `Node 24.1.0`, of its processes. */
  languages?: string[];
  /** A sentence when the file cannot be read. */
  problem?: string;
}

/** What is missing of the run, where something is. */
export function damageText({
  damaged = 0,
  partial,
  torn,
}: Pick<RunSummary, 'damaged' | 'partial' | 'torn'>): string | undefined {
  const unread = damaged === 0 ? [] : [damaged === 1 ? '1 part unreadable' : `${damaged} parts unreadable`];
  const all = [
    ...unread,
    ...(partial === true ? ['recorded in part'] : []),
    ...(torn === true ? ['file damaged'] : []),
  ];
  return all.length > 0 ? all.join(', ') : undefined;
}

export interface Ending {
  /**
   * By an exception that nothing caught or a fault in native code; by SIGKILL; by another signal; by itself, with a code that is not 0; because the
   * person stopped it; without a word in what it recorded.
   */
  how: 'crashed' | 'killed' | 'ended' | 'exited' | 'stopped' | 'vanished';
  /** Of a program that exited. */
  code?: number;
  /** Where it is known. */
  signal?: string;
  /** Only a process that the program started: the program itself went on, or ended by itself. */
  child?: true;
}

/** `crashed (SIGSEGV)`, `killed by SIGKILL`, `a process crashed`, `exit code 3`, `stopped`, `no end recorded`: how a run ended that did not end well by itself. */
export function endingText({ how, signal, child, code }: Ending): string {
  if (how === 'stopped') return code === undefined ? how : `stopped, exit code ${code}`;
  if (how === 'vanished') return 'no end recorded';
  if (how === 'exited') return `exit code ${code}`;
  if (how === 'crashed')
    return `${child === true ? 'a process ' : ''}crashed${signal === undefined ? '' : ` (${signal})`}`;
  return `${child === true ? 'a process was ' : ''}${how} by ${signal}`;
}

export interface Lane {
  task: number;
  /** `support_agent`, `support_agent › check_stock`, `Process-2`. */
  name: string;
  parent?: number;
  /** Deepest nesting of calls on this lane, at least 1. */
  depth: number;
  first: number;
  last: number;
  /** It has no calls, but what happened in the run outside of them: rows of kind `event`. */
  events?: true;
}

export type CallState = 'running' | 'returned' | 'error' | 'cancelled' | 'skipped' | 'interrupted';

/**
 * A call; or, of kind `event`, something that happened outside of calls, such as output, a stop of a program or a crash: its name is what is said
 * of it, it is as long as the program stood still there, and a crash has the state `error`.
 */
export interface CallRow {
  /** CallName; of an event `e` and its number. */
  id: string;
  parent?: string;
  task: number;
  /** Row inside the lane, 0 outermost. */
  depth: number;
  kind: string;
  name: string;
  start: number;
  /** Absent while it runs. */
  end?: number;
  state: CallState;
  /** Nothing tells when or how it ended: its `end` is the last moment at which it is known to have run. */
  unended?: true;
  /** Parts of the call in which it was held; an open one has no end. */
  holds: { start: number; end?: number; description: string }[];
  edited: boolean;
  /** Of a model's call that says how many it took: those of its input and its output. Rows of a `CallTable` have none. */
  tokens?: number;
}

/** Many calls, ordered by start, one entry a call in each list: a fifth of what rows take on their way to the page. */
export interface CallTable {
  functions: [kind: string, name: string][];
  /** Index in `functions`. */
  function: number[];
  /** CallName. */
  id: string[];
  /** CallName; empty where there is none. */
  parent: string[];
  task: number[];
  depth: number[];
  /** Nanoseconds since the call before began. */
  start: number[];
  /** Nanoseconds; -1 while it runs. */
  duration: number[];
  /** Index in `states`. */
  state: number[];
  states: CallState[];
  /** What few calls have, by the call's place in the lists. */
  held: { [index: string]: Pick<CallRow, 'holds' | 'edited'> };
}

/** Parts of the minimap. */
export const MINIMAP_BUCKETS = 600;

export interface Overview {
  run: RunSummary;
  lanes: Lane[];
  /** Whole range of the run. */
  end: number;
  /** Counts for the minimap, equally wide buckets over 0..end. */
  buckets: { calls: number; errors: number; held: boolean }[];
}

/** A value, shown without running anything. */
export interface ValueNode {
  /** Key, index or field name; empty for a root. */
  name: string;
  /** One line: `7`, `'eu'`, `dict (3)`, `human: please refund order 7`. */
  text: string;
  type: string;
  /** Number of children; ask for them with `value`. */
  children: number;
  /** Its line may not show all of a text, or not its lines: ask for it with `text`. */
  long?: true;
  /** Why something is missing: cut, masked, opaque; a sentence. */
  mark?: string;
}

/** Where a value is: its id in the run file, and the names on the way to a part of it. */
export interface ValuePlace {
  value: number;
  path: string[];
}

export interface ValueHandle {
  /** Id of the value in the run file. */
  value: number;
  /** It is a part of that value. */
  path?: string[];
  root: ValueNode;
}

/** A part of two values that are compared, as it is on each side. */
export interface ComparedRow {
  change: 'same' | 'added' | 'removed' | 'changed';
  before?: ValueNode;
  after?: ValueNode;
  /** Both are of one kind, so their own parts can be compared one by one. */
  alike: boolean;
  /** Of two long texts, or bytes, of which the beginnings are equal: where `text` is to begin, so that it has the first difference. */
  from?: number;
}

export interface CallDetail {
  call: CallRow;
  /** `support_agent › tools › lookup_order`. */
  path: { id: string; name: string; kind: string }[];
  /** So many levels are left out of it, before the step at this place. */
  pathLeft?: { at: number; levels: number };
  source?: { path: string; line: number };
  /** What the call got: where its arguments were edited while it was held, the edited ones. */
  input?: ValueHandle;
  /** What the call was given before that. Absent when its arguments were not edited. */
  inputBefore?: ValueHandle;
  /** Of a call that is held after it ran, or instead of it, what it is about to give. */
  output?: ValueHandle;
  error?: {
    type: string;
    message: string;
    stack: { path: string; line: number; function: string }[];
    /** What it was raised from, or while what it was raised (`context`), then the same of that one, and so on: the first of them. */
    causes?: {
      way: 'cause' | 'context';
      type: string;
      message: string;
      stack: { path: string; line: number; function: string }[];
    }[];
    /** So many further ones are in `value` alone. */
    moreCauses?: number;
    value?: ValueHandle;
  };
  stateBefore?: ValueHandle;
  stateAfter?: ValueHandle;
  changes?: Change[];
  /** There are more than these: `compare` has them all, page by page. */
  moreChanges?: boolean;
  /** Where there are no `changes`, why some of the state was not recorded, which may have changed all the same; see `compare`. */
  unrecorded?: string;
  /** Keys that the state after has as they were before: only the app's own reducer merges them, and recording does not run it. */
  unmerged?: string[];
  messages?: SaidMessage[];
  /** OpenTelemetry GenAI names where these exist. */
  attributes: { name: string; value: string }[];
  /** What a person changed while the call was held: `order_id 7 → 70`. Absent when nothing was. */
  edits?: string[];
  /** Held, released, edited, logged, in order. */
  events: { time: number; text: string }[];
  /** Where it is no call but an event: what was written or said in full, and the way there, innermost first. */
  event?: { text: string; stack: { path?: string; line?: number; function: string }[] };
}

export interface SaidMessage {
  role: string;
  /** Of a tool's answer: the tool. */
  name?: string;
  /** Of one that says that the tool failed: `error`; of an answer that ended early: `so far`. */
  status?: string;
  text: string;
}

/** `human`, `tool lookup_order`, `tool refund (error)`, `ai (so far)`. */
export function messageTitle({ role, name, status }: Omit<SaidMessage, 'text'>): string {
  return `${role}${name === undefined ? '' : ` ${name}`}${status === undefined ? '' : ` (${status})`}`;
}

/** Of a key among `unmerged`. */
export function unmergedText(key: string): string {
  return `${key} is shown as it was before: recording does not run its own reducer`;
}

/** What an exception means that has no message of its own. */
export function errorMeaning(type: string): string {
  return type === 'GeneratorExit' ? 'the consumer stopped before the end' : '';
}

/** What a call was given and what came of it, each in one line: `order_id=7, region='eu'`. */
export interface CallLine {
  arguments?: string;
  result?: string;
  /** `ValueError: amount 700 needs approval`. */
  error?: string;
}

/** What came of a call, to stand behind it: ` → 'ok'`, `: ValueError: no tea`, `: waits for {'question': 'refund?'}`. */
export function outcomeText(state: CallState, { result, error }: CallLine): string {
  if (error !== undefined && (state === 'error' || state === 'cancelled')) return `: ${error}`;
  if (result === undefined || result === 'None') return '';
  return state === 'interrupted' ? `: waits for ${result}` : ` → ${result}`;
}

/** `ValueError: no tea`; of one without a message its type alone, or with what it means. */
export function errorText({ type, message }: { type: string; message: string }): string {
  return [type, message === '' ? errorMeaning(type) : message].filter((part) => part !== '').join(': ');
}

export interface Change {
  change: 'added' | 'removed' | 'changed';
  path: string;
  before?: string;
  after?: string;
}

export interface Statistics {
  calls: number;
  errors: number;
  /** Sum of the whole durations of these calls; one that is inside another counts in both. */
  total: number;
  /** Durations that half, and nineteen of twenty, of the calls that have ended stay within. Absent while none has ended. */
  p50?: number;
  p95?: number;
  /** These two are told to within a tenth, of all calls of a run that are too many to be looked at one by one. */
  approximate?: boolean;
  tokens: number;
  /** Of each kind of these calls, the largest sum of durations first. */
  kinds: { kind: string; calls: number; total: number }[];
  /** There were too many calls to look at all: counts and sums are the least there are, the rest is of those that were looked at. */
  sampled: boolean;
}

export interface ReaderMethods {
  /** Folder of the run files of a workspace folder, whether or not it exists yet. */
  project: { params: { workspace: string }; result: { folder: string } };
  /** Runs of a folder, newest first. Recovers what a dead session left behind. */
  runs: { params: { folder: string }; result: { runs: RunSummary[] } };
  overview: { params: { file: string; buckets: number }; result: Overview };
  /** Calls that overlap from..to. Those shorter than `minimum` are left out and counted in `left`. */
  calls: {
    params: { file: string; from: number; to: number; minimum: number; limit: number };
    /** Events among them. */
    result: { calls: CallRow[]; left: number };
  };
  /** The same for the lanes, which have thousands. */
  bars: { params: ReaderMethods['calls']['params']; result: { calls: CallTable; events: CallRow[]; left: number } };
  call: { params: { file: string; id: string }; result: CallDetail };
  /** In the order of the ids, of which there are at most 500. Nothing of what is no call, or is not there. */
  lines: { params: { file: string; ids: string[] }; result: { lines: CallLine[] } };
  value: {
    params: { file: string; value: number; path: string[]; start: number; count: number };
    result: { nodes: ValueNode[] };
  };
  /** A text with its lines, or bytes as Python writes them; of a very long one a part, from the beginning or `from`, and how much there is in `all`. */
  text: {
    params: { file: string; value: number; path: string[]; from?: number };
    result: { text: string; all?: { count: number; of: 'characters' | 'bytes' } };
  };
  /** The value as JSON or as Python text. */
  copy: {
    params: { file: string; value: number; path: string[]; format: 'json' | 'python' };
    result: { text: string };
  };
  /** Two values beside each other, one level at a time: the parts that differ, or those that are equal. Of one alone, all parts differ. */
  compare: {
    params: {
      file: string;
      before?: ValuePlace;
      after?: ValuePlace;
      which: 'different' | 'equal';
      start: number;
      count: number;
    };
    /** `root`: the two values themselves. */
    result: {
      root: ComparedRow;
      rows: ComparedRow[];
      different: number;
      equal: number;
      /**
       * Where nothing differs, why some of either was not recorded, which may differ all the same: the mark of a part, wherever in it. Empty where
       * the values are too large to be looked through. Absent where all of both was recorded.
       */
      unrecorded?: string;
      /** Nothing differs but the order of the keys. */
      reordered?: true;
    };
  };
  /** Figures of the calls that overlap from..to. */
  statistics: {
    /** `name`: any by which a query finds it. `errors`: of calls that failed alone. */
    params: { file: string; from: number; to: number; kinds?: string[]; name?: string; errors?: boolean };
    result: Statistics;
  };
  search: {
    /**
     * With a `query`, all of it holds as well, and `text` is looked for in names as without it. Its `types` and `limit` are passed over.
     * `conditions` on values, as people type them, are added to it: `argument.order_id = 7`, `result.note contains late`, `result.total ~ ^1`.
     */
    params: {
      file: string;
      text: string;
      kinds?: string[];
      errors?: boolean;
      limit: number;
      query?: Query;
      conditions?: string[];
    };
    /** `events`: without a query and conditions, those that belong to no call and say the text; not among `total`. `atLeast`: there may be more, which were not looked at. */
    result: {
      calls: CallRow[];
      total: number;
      events?: CallRow[];
      atLeast?: boolean;
      /** With a query: calls that were looked at, the `cursor` that goes on behind them where there are others, and sentences about what was not searched. */
      looked?: number;
      cursor?: string;
      notes?: string[];
    };
  };
  /** How many calls began in each of so many parts of a range, for tasks whose calls are too many to be fetched. */
  density: {
    params: { file: string; from: number; to: number; buckets: number; tasks: number[] };
    result: { lanes: { task: number; calls: number[]; errors: number[] }[] };
  };
  /** Neighbouring call that ended with an error. */
  errorNear: { params: { file: string; time: number; direction: 'next' | 'previous' }; result: { call?: CallRow } };
  /** From now on `changed` is notified for this file. */
  follow: { params: { file: string }; result: Record<string, never> };
  unfollow: { params: { file: string }; result: Record<string, never> };
}

/** A question of the first picture. */
export type Question = { [M in 'bars' | 'density']: { method: M; params: ReaderMethods[M]['params'] } }[
  'bars' | 'density'];
/** With the reader's answer. */
export type Known = Question & { result: ReaderMethods['bars' | 'density']['result'] };

export interface HostMethods {
  /** What the page should show first. `recording`: a session records into `file`, which may not be there yet. */
  start: {
    /** `width`: CSS pixels that the lanes will have. */
    params: { width?: number };
    /**
     * `overview`: of `file`, with `MINIMAP_BUCKETS`, where it can be read; `known`: what the page asks of it next, with the answers. The first
     * picture then waits for no other question.
     */
    result: {
      folder: string;
      file?: string;
      call?: string;
      follow: boolean;
      recording?: boolean;
      overview?: Overview;
      known?: Known[];
    };
  };
  openSource: { params: { path: string; line: number }; result: Record<string, never> };
  breakHere: {
    params: { path?: string; line?: number; kind: string; name: string; boundary: 'before' | 'after' | 'error' };
    result: Record<string, never>;
  };
  copyText: { params: { text: string }; result: Record<string, never> };
  /** The person chose a call: the call stack follows when the call is on a held stack. */
  selected: { params: { file: string; id: string }; result: Record<string, never> };
}

export interface PageNotifications {
  /** The file has new content. */
  changed: { file: string };
  /** Show this run, and this call if given. `recording`: a session has just begun to record into `file`, which may not be there yet. */
  show: { file: string; call?: string; recording?: boolean };
  /** The list of runs changed. */
  runsChanged: { folder: string };
}

export type ReaderRequest = { id: number; method: string; params: unknown };
export type ReaderAnswer = { id: number; result: unknown } | { id: number; error: { message: string } };
