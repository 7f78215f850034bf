import type { FoundCall, FoundEvent, FoundValues, Query } from '../../../protocol/query';
import type { CallLine } from '../../../protocol/timeline';
import { CallStatus } from '../../../protocol/spool';
import { UserError } from '../../common/errors';
import { callName, parseCallName, processOf } from '../callNames';
import { ARGS, ERROR, RESULT, STATE_AFTER, STATE_BEFORE } from '../chunks/chunk';
import { addressOf } from '../chunks/rows';
import { isDamage } from '../database';
import { attributesOf, unmergedOf } from '../reader/attributes';
import { callRow, heldCalls } from '../reader/calls';
import { children, content } from '../reader/children';
import { copyText, TooLarge } from '../reader/copy';
import { editedArguments } from '../reader/held';
import { plainArguments, plainLine } from '../reader/plainLine';
import { line } from '../reader/render';
import type { RunFile } from '../reader/runFile';
import type { StoredValues } from '../reader/stored';
import { LINE, shorten } from '../reader/text';
import { Dict, type Value } from '../values/model';
import { ENDED_WITH_PROCESS } from '../callNames';
import { shownName } from '../functionName';
import { asJson } from './asJson';
import { outputOf, typeOf, type FileQuery } from './fileQuery';
import type { CallCandidate, Candidate, EventCandidate } from './sources';

/** Characters that the texts of all events of an answer may have, and what each may have in any case: of few events much is told, of one all. */
const MOST_TEXT = 2_000_000;
const LEAST_TEXT = 4000;
/** Arguments that are named in a line, and the longest text of one. */
const MOST_ARGUMENTS = 12;
const ARGUMENT = 60;
/** Characters of a question that is told with what is in it. */
const QUESTION = 100;

/** Characters that the values of an answer may take. */
const MOST_VALUES = 8_000_000;

/** Characters that are left for values in an answer, below 0 once they did not do; it is absent where no values are asked for. */
export interface Room {
  left: number;
}

export const roomFor = ({ values }: Query): Room | undefined => (values === true ? { left: MOST_VALUES } : undefined);

/** A row as it is answered. */
export function rowOf(query: FileQuery, row: Candidate, room?: Room): FoundCall | FoundEvent {
  return row.type === 'call' ? foundCall(query, row, room) : foundEvent(query, row);
}

function foundCall(query: FileQuery, row: CallCandidate, room: Room | undefined): FoundCall {
  const { file } = query;
  const called = query.functions.get(row.function);
  const path = called?.path ?? undefined;
  const found: FoundCall = {
    type: 'call',
    run: query.run.run,
    at: query.clock.text(row.start),
    call: callRow(file, row, query.zero, query.held),
    task: query.tasks.get(row.task) ?? '',
    pid: query.processes.get(processOf(row.id))?.pid ?? 0,
  };
  if (path !== undefined) found.source = { path, line: called!.line };
  const edited = editedOf(file, row, query.held);
  tell(found, file, row, edited);
  if (room !== undefined) found.values = valuesOf(file, row, room, edited);
  return found;
}

/** What a call got in place of what it was given, where a person changed that. */
function editedOf(file: RunFile, row: CallCandidate, held: ReadonlySet<number> | undefined): Value | undefined {
  return held === undefined || held.has(row.id) ? editedArguments(file, row.id) : undefined;
}

function tell(found: CallLine, file: RunFile, row: CallCandidate, edited: Value | undefined): void {
  const args = edited === undefined ? text(file, row, ARGS) : argumentsLine(edited, file.values);
  const result = text(file, row, RESULT);
  const error = row.status === ENDED_WITH_PROCESS ? file.endedSentence(row.parent) : text(file, row, ERROR);
  if (args !== undefined) found.arguments = args;
  if (result !== undefined) found.result = result;
  if (error !== undefined) found.error = error;
}

/** The lines of calls by their ids; see `ReaderMethods.lines`. */
export function linesOf(file: RunFile, ids: readonly string[]): CallLine[] {
  const held = heldCalls(file);
  return ids.map((name) => {
    const found: CallLine = {};
    try {
      const id = parseCallName(name);
      const row = id === undefined ? undefined : file.calls.get(id);
      if (row !== undefined) tell(found, file, row, editedOf(file, row, held));
    } catch (error) {
      // What is damaged of one call is said where it is opened, and takes no others with it.
      if (!(error instanceof UserError) && !isDamage(error)) throw error;
    }
    return found;
  });
}

const VALUES = [
  ['arguments', ARGS],
  ['result', RESULT],
  ['error', ERROR],
  ['stateBefore', STATE_BEFORE],
  ['stateAfter', STATE_AFTER],
] as const;

/** The first row has its values in any case: there would be no way to them. */
function valuesOf(file: RunFile, row: CallCandidate, room: Room, edited: Value | undefined): FoundValues {
  const longest = room.left < MOST_VALUES ? Math.max(room.left, 0) : undefined;
  const values: FoundValues = {};
  for (const [name, part] of VALUES) {
    const stored = file.calls.part(row.id, part);
    if (stored === undefined) continue;
    const value = (): Value =>
      part === ARGS && edited !== undefined
        ? edited
        : file.values.root(typeof stored === 'number' ? stored : addressOf(row.id, part));
    const { json, length } = asJson(value, file.values, longest);
    values[name] = json;
    room.left -= length;
  }
  const unmerged = 'stateAfter' in values ? unmergedIn(file, row) : [];
  if (unmerged.length > 0) values.unmerged = unmerged;
  return values;
}

function unmergedIn(file: RunFile, row: CallCandidate): string[] {
  try {
    const call = file.calls.get(row.id);
    return call === undefined ? [] : unmergedOf(attributesOf(file, call), file.values);
  } catch (error) {
    // Attributes that cannot be read leave the values what they are.
    if (!(error instanceof UserError) && !isDamage(error)) throw error;
    return [];
  }
}

/** The line of a value; what cannot be read says why. */
function text(file: RunFile, row: CallCandidate, part: number): string | undefined {
  const stored = file.calls.part(row.id, part);
  if (stored === undefined) return undefined;
  try {
    if (typeof stored !== 'number' && row.status !== CallStatus.Interrupted) {
      const plain = part === ARGS ? plainArguments(stored, ARGUMENT) : plainLine(stored);
      if (plain !== undefined) return plain;
    }
    const value = file.values.root(typeof stored === 'number' ? stored : addressOf(row.id, part));
    if (part === ARGS) return argumentsLine(value, file.values);
    return row.status === CallStatus.Interrupted ? questionLine(value, file.values) : line(value, file.values);
  } catch (error) {
    if (error instanceof UserError) return `(${error.message})`;
    throw error;
  }
}

/** What a call asks a person, with what is in it where that is short. */
function questionLine(value: Value, stored: StoredValues): string {
  try {
    return copyText(value, stored, 'python', QUESTION);
  } catch (error) {
    if (error instanceof TooLarge) return line(value, stored);
    throw error;
  }
}

/** `order_id=7, region='eu'`, as far as it fits. */
export function argumentsLine(value: Value, stored: StoredValues): string {
  const given = stored.resolve(value);
  // Of arguments that were too large for the recording there are some.
  const plain = content(given, stored);
  if (!(plain instanceof Dict)) return line(given, stored);
  const parts = children(plain, stored, 0, MOST_ARGUMENTS).map(
    ({ name, value: item }) => `${name}=${line(item, stored, ARGUMENT)}`,
  );
  if (plain !== given || plain.entries.length > MOST_ARGUMENTS) parts.push('…');
  return shorten(parts.join(', '), LINE);
}

function foundEvent(query: FileQuery, row: EventCandidate): FoundEvent {
  const type = typeOf(row);
  const output = outputOf(row);
  const place = query.placeOf(row);
  const process = query.processes.get(place.process ?? 0);
  // What was printed and cannot be read is damaged, and no word `output`.
  const text = output?.text ?? (row.name === 'output' ? '(damaged)' : query.eventLine(row));
  const longest = Math.max(LEAST_TEXT, Math.floor(MOST_TEXT / query.limit));
  return {
    type,
    run: query.run.run,
    at: query.clock.text(row.time),
    time: row.time - query.zero,
    name: output?.category ?? row.name,
    text: text.length > longest ? `${text.slice(0, longest)}…` : text,
    ...(text.length > longest ? { length: text.length } : {}),
    ...(row.call === null
      ? {}
      : {
          call: {
            id: callName(row.call),
            kind: place.function?.kind ?? 'function',
            name: place.function === undefined ? '?' : shownName(place.function),
          },
        }),
    ...(process === undefined ? {} : { pid: process.pid }),
  };
}
