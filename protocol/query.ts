/**
 * One question about what was recorded, and its answer: the same for the command line, the timeline's search and whoever comes later.
 *
 * All fields of a query that are given must hold. Durations and times are nanoseconds as numbers, or texts with a unit (`ns`, `us`, `ms`,
 * `s`, `m`, `h`): `1.5s`, `200ms`. The start of a run is its first call.
 */
import type { CallRow, CallState } from './timeline';

/** What stands on the timeline: calls; output of the app; crashes of its processes; all else that happened, such as holds, edits and logs. */
export type RowType = 'call' | 'output' | 'crash' | 'event';

/**
 * `start`: oldest first; `-start`: newest first. `duration` and `-duration`: shortest and longest first, of calls that have ended, and
 * of nothing else.
 */
export type QueryOrder = 'start' | '-start' | 'duration' | '-duration';

/** What people also call a kind of calls. */
const OTHER_NAMES: Readonly<Record<string, string>> = { agent: 'workflow', model: 'llm' };

/** The kind that is meant: `llm` for `model`. */
export function kindNamed(word: string): string {
  return Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word]! : word;
}

/** At least one of these; all that are given hold. */
export interface NameQuery {
  /** The name (`lookup_order`), the qualified name (`Shop.lookup_order`), the name as it is shown, or the name with the kind (`tool:lookup_order`). */
  equals?: string;
  /** Part of one of these, without case. */
  contains?: string;
  /** JavaScript's regular expressions, found anywhere in the name, the qualified name or the name as it is shown. At most 1000 characters. */
  regex?: string;
}

/** What must be true of a part of a call's values. At least one of `equals`, `shown`, `contains` and `matches`; all that are given hold. */
export interface ValueQuery {
  /**
   * `argument`, `result`, `error`, `state` (after the call, or before it when there is no later one), `stateBefore` or `stateAfter`,
   * then keys and indexes: `argument.order_id`, `result.lines[0].price`, `state["a key"]`, `result[-1]`.
   */
  path: string;
  /**
   * Equal to this JSON value. 7 equals 7.0; tuples and sets equal lists; an object equals its fields; an enum equals its name or value; a
   * time equals its ISO text. Of a whole number beyond 2^53 a text of its digits is as exact as these.
   */
  equals?: unknown;
  /** Equal to this text, or told by it as lines of answers write it, with nothing left out: `Order(id=7)`, `b'hi'`, `{1, 2}`, `KeyError: 'eu'`. */
  shown?: string;
  /** A text, or a text or key anywhere below, has this part, without case. */
  contains?: string;
  /**
   * A text, or a text or key anywhere below, matches this regular expression. Numbers and the like are matched as Python writes them.
   * At most 1000 characters.
   */
  matches?: string;
}

export interface Query {
  /** What is looked for; calls when this is not given. */
  types?: RowType[];
  /** `tool`, `node`, `workflow`, `llm`, `function`, ... An event has the kind, name, file and task of the call it belongs to. */
  kinds?: string[];
  name?: NameQuery;
  /** The function's file: all of its path, or the end of it (`triage.py`, `shop/triage.py`). */
  file?: string;
  status?: CallState[];
  /** Type of the error, with or without its module: `ValueError`, `shop.errors.OutOfStock`. */
  error?: string;
  where?: ValueQuery[];
  /** In the name, in the arguments, the result or the error, or in an event's text; without case. */
  text?: string;
  /** Name of a task, or part of it, without case. */
  task?: string;
  /** Number of a process (pid), or its name (`app.py`, `ForkProcess-2`) or a part of it. */
  process?: number | string;
  /**
   * Calls that start, and events that happen, at this moment or later: ISO 8601 (`2026-11-22T10:00:00Z`; without a zone it is local
   * time), since the run's start (`+5s`, `1.5s`, a number), or before its end (`-5s`; a run that goes on ends now).
   */
  from?: string | number;
  /** At this moment or earlier. */
  to?: string | number;
  /** Calls that take at least so long; those that run count with their time so far. */
  minimumDuration?: string | number;
  /** `start` when one run is asked, `-start` when there are several. */
  order?: QueryOrder;
  /** Rows of one answer, from 1 to 500; 50 when this is not given. */
  limit?: number;
  /** Calls come with their values, beside the lines that tell them. An answer has room for 8 million characters of them, and ends before a row that has none. */
  values?: boolean;
  /** What an answer gave: goes on after its last row. All else must be as it was. */
  cursor?: string;
}

/** A run that was looked at. */
export interface QueriedRun {
  run: string;
  number: number;
  name: string;
  file: string;
  startedAt: string;
}

export interface FoundCall {
  type: 'call';
  /** Id of its run. */
  run: string;
  /** Wall clock of its start, to the nanosecond: `2026-11-22T10:00:00.123456789Z`. */
  at: string;
  /** Its times are nanoseconds since the run's start. A method's name has its class: `Agent.run`. */
  call: CallRow;
  /** Name of its task. */
  task: string;
  pid: number;
  source?: { path: string; line: number };
  /** In one line: `order_id=7, region='eu'`. */
  arguments?: string;
  result?: string;
  /** `ValueError: amount 700 needs approval`. */
  error?: string;
  /** Where the query asks for them. */
  values?: FoundValues;
}

/**
 * Values of a call as JSON, those that it has. What is masked, cut, not looked into or contains itself is an object that says why (`$mark`,
 * `reason`) and has what there is of it (`value`), or its type where that is all there is (`type`); so is what is too large to be told.
 */
export interface FoundValues {
  arguments?: unknown;
  result?: unknown;
  error?: unknown;
  stateBefore?: unknown;
  stateAfter?: unknown;
  /** Keys of the state after that only the app's own reducer could have merged: they are as they were before. */
  unmerged?: string[];
}

export interface FoundEvent {
  type: 'output' | 'crash' | 'event';
  run: string;
  at: string;
  /** Nanoseconds since the run's start; less than 0 before its first call. */
  time: number;
  /** `stdout` and the like for output, `held`, `edited`, `log`, ... */
  name: string;
  /** Of a long one the beginning and `…`; an answer of fewer rows (`limit`) has more of it. */
  text: string;
  /** Characters of the whole text, where `text` is its beginning. */
  length?: number;
  /** Call it belongs to. */
  call?: { id: string; kind: string; name: string };
  pid?: number;
}

export interface QueryAnswer {
  /** In the order asked; those among them that could not be read are in `problems`. */
  runs: QueriedRun[];
  rows: (FoundCall | FoundEvent)[];
  /** What matches beyond `rows`: `count` of them, and not one more if `exact`. */
  more: { count: number; exact: boolean };
  /** Goes on after these rows. Absent when nothing can follow. With it there may be less than `limit` rows: the work was done for now. */
  cursor?: string;
  /** Calls and events that were looked at for this answer. */
  looked: number;
  /** Values too large to be searched to their end; a match may be missing. */
  partly: number;
  /** Sentences about runs that could not be read. */
  problems: string[];
}
