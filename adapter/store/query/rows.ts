import type { FoundCall, FoundEvent } from '../../../protocol/query';
import { UserError } from '../../common/errors';
import { callName } from '../callNames';
import { callRow } from '../reader/calls';
import { children } from '../reader/children';
import { line } from '../reader/render';
import type { RunFile } from '../reader/runFile';
import { LINE, shorten } from '../reader/text';
import { Dict, type Value } from '../values/model';
import { ENDED_WITH_PROCESS } from '../writer';
import { outputOf, typeOf, type FileQuery } from './fileQuery';
import type { CallCandidate, Candidate, EventCandidate } from './sources';
import { isoText } from './times';

/** Longest text of an event. */
const LONGEST = 4000;
/** Arguments that are named in a line. */
const MOST_ARGUMENTS = 12;

/** A row as it is answered. */
export function rowOf(query: FileQuery, row: Candidate): FoundCall | FoundEvent {
  return row.type === 'call' ? foundCall(query, row) : foundEvent(query, row);
}

function foundCall(query: FileQuery, row: CallCandidate): FoundCall {
  const { file } = query;
  const { function: called, process } = query.placeOf(row);
  const path = called?.path ?? undefined;
  const found: FoundCall = {
    type: 'call',
    run: query.run.run,
    at: isoText(query.wall(row.start)),
    call: callRow(file, row, query.zero, query.held),
    task: query.tasks.get(row.task) ?? '',
    pid: query.processes.get(process ?? 0)?.pid ?? 0,
  };
  if (path !== undefined) found.source = { path, line: called!.line };
  const { args, result, error } = row;
  if (args !== null) found.arguments = text(file, args, (value) => argumentsLine(value, query));
  if (result !== null) found.result = text(file, result, (value) => line(value, file.values));
  if (row.status === ENDED_WITH_PROCESS) found.error = 'The process ended while this call ran.';
  else if (error !== null) found.error = text(file, error, (value) => line(value, file.values));
  return found;
}

/** What cannot be read says why. */
function text(file: RunFile, id: number, of: (value: Value) => string): string {
  try {
    return of(file.values.root(id));
  } catch (error) {
    if (error instanceof UserError) return `(${error.message})`;
    throw error;
  }
}

/** `order_id=7, region='eu'`, as far as it fits. */
function argumentsLine(value: Value, query: FileQuery): string {
  const stored = query.file.values;
  const plain = stored.resolve(value);
  if (!(plain instanceof Dict)) return line(plain, stored);
  const parts = children(plain, stored, 0, MOST_ARGUMENTS).map(
    ({ name, value: item }) => `${name}=${line(item, stored, 60)}`,
  );
  if (plain.entries.length > MOST_ARGUMENTS) parts.push('…');
  return shorten(parts.join(', '), LINE);
}

function foundEvent(query: FileQuery, row: EventCandidate): FoundEvent {
  const type = typeOf(row);
  const output = outputOf(row);
  const place = query.placeOf(row);
  const process = query.processes.get(place.process ?? 0);
  const text = output?.text ?? query.eventLine(row);
  return {
    type,
    run: query.run.run,
    at: isoText(query.wall(row.time)),
    time: row.time - query.zero,
    name: output?.category ?? row.name,
    text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text,
    ...(row.call === null
      ? {}
      : {
          call: {
            id: callName(row.call),
            kind: place.function?.kind ?? 'function',
            name: place.function?.name ?? '?',
          },
        }),
    ...(process === undefined ? {} : { pid: process.pid }),
  };
}
