import type { CallDetail, ValueHandle } from '../../../protocol/timeline';
import { parseCallName, processOf } from '../callNames';
import { problemWith } from '../database';
import { taskNames } from '../reader/apart';
import { attributesOf, attributeText, shownAttributes } from '../reader/attributes';
import { callDetail } from '../reader/detail';
import { errorChain, errorValue, type ErrorValue } from '../reader/errorValue';
import { outline, type OutlineLine } from '../reader/outline';
import { partOf } from '../reader/place';
import { headLine, markOf } from '../reader/render';
import { RunFile } from '../reader/runFile';
import { Dict, Tagged, type Value } from '../values/model';
import { asJson } from './asJson';
import { isoText } from './times';

/** Titles of the values of a call, in the order in which people read them. */
const PARTS = [
  ['arguments', 'input'],
  ['result', 'output'],
  ['stateBefore', 'stateBefore'],
  ['stateAfter', 'stateAfter'],
] as const;

/** Characters of an attribute with its name, and of its value at least. */
const ATTRIBUTE = 94;
const LEAST_ATTRIBUTE = 30;

type Part = (typeof PARTS)[number][0];

/** One call with all that is known of it. */
export interface WholeCall {
  detail: CallDetail;
  /** Wall clock of its start. */
  at: string;
  /** The name of its lane, where calls have more than one. */
  lane?: string;
  /** Its values, each with its own line first. */
  values: {
    part: Part;
    text: string;
    mark: string | undefined;
    /** What it is, its parts do not tell: it is no dict, or an object. */
    typed: boolean;
    lines: OutlineLine[];
    /** An earlier one that is the same value, whose lines are here, too. */
    sameAs?: Part;
  }[];
  /** The exception that ended it, then what that was raised from or during, and so on; `way` is that of the one before. */
  errors: (Pick<ErrorValue, 'type' | 'message' | 'stack'> & {
    way?: ErrorValue['way'] | undefined;
    fields: OutlineLine[];
    mark?: string | undefined;
  })[];
}

/**
 * A call and its values as lines, at most so many for each; a value that is there twice says so. With `whole`, the lines are not shortened.
 * Throws a `UserError`.
 */
export function wholeCall(path: string, id: string, most: number, whole = false): WholeCall {
  return inFile(path, (file) => {
    const detail = callDetail(file, id);
    const seen = new Map<string, Part>();
    const values = PARTS.flatMap(([part, field]) => {
      const handle = detail[field];
      if (handle === undefined) return [];
      // A small value has no row that it could share: its bytes tell.
      const bytes = handle.value < 0 ? file.calls.bytes(handle.value)?.toString('latin1') : undefined;
      const place = [bytes ?? handle.value, ...(handle.path ?? [])].join(' ');
      const sameAs = seen.get(place);
      if (sameAs === undefined) seen.set(place, part);
      const { mark } = handle.root;
      const value = partOf(file, handle);
      const text = headLine(value, file.values, whole);
      const typed = !(withoutCut(value, file) instanceof Dict);
      const lines = outline(value, file.values, most, whole);
      return [{ part, text, mark, typed, lines, ...(sameAs !== undefined && { sameAs }) }];
    });
    detail.attributes = attributeTexts(file, id, whole);
    const lane = laneOf(file, detail.call.task);
    const found: WholeCall = { detail, at: startOf(file, detail), values, errors: errorsOf(file, detail, most, whole) };
    if (lane !== undefined) found.lane = lane;
    return found;
  });
}

/** The head of what the recording cut. */
function withoutCut(value: Value, file: RunFile): Value {
  const plain = file.values.resolve(value);
  return plain instanceof Tagged && plain.tag === 'cut' ? file.values.resolve(plain.parts[1] ?? null) : plain;
}

function errorsOf(file: RunFile, { error }: CallDetail, most: number, whole: boolean): WholeCall['errors'] {
  if (error === undefined) return [];
  const value = error.value === undefined ? null : partOf(file, error.value);
  const { errors, origin } = errorChain(value, file.values);
  // In JavaScript anything may be thrown.
  if (errors.length === 0)
    return [
      value === null
        ? { ...error, fields: [] }
        : { ...error, message: headLine(value, file.values, whole), fields: outline(value, file.values, most, whole) },
    ];
  const parts = (of: Value): Pick<WholeCall['errors'][number], 'fields' | 'mark'> => ({
    fields: outline(of, file.values, most, whole),
    mark: markOf(file.values.resolve(of), file.values),
  });
  const told = errors.map(({ type, message, stack, fields }, index) => ({
    ...{ type, message, stack, way: errors[index - 1]?.way },
    ...parts(fields ?? null),
  }));
  // In JavaScript anything may be a cause.
  const last = {
    type: '',
    way: errors.at(-1)!.way,
    message: headLine(origin, file.values, whole),
    stack: [],
  };
  return origin === null ? told : [...told, { ...last, ...parts(origin) }];
}

/** The same as JSON, its values whole. Throws a `UserError`. */
export function wholeCallJson(path: string, id: string): Record<string, unknown> {
  return inFile(path, (file) => {
    const handles = callDetail(file, id);
    const { input: _i, inputBefore: _g, output: _o, stateBefore: _b, stateAfter: _a, error, ...detail } = handles;
    const values = PARTS.flatMap(([part, field]) => {
      const handle = handles[field];
      return handle === undefined ? [] : [[part, jsonOf(file, handle)] as const];
    });
    return {
      ...detail,
      at: startOf(file, handles),
      ...whereOf(file, handles),
      attributes: [...attributesIn(file, id)].map(([name, value]) => ({
        name,
        value: asJson(() => value, file.values).json,
      })),
      ...Object.fromEntries(values),
      ...(error === undefined ? {} : { error: errorJson(file, error) }),
    };
  });
}

const attributesIn = (file: RunFile, id: string): ReadonlyMap<string, Value> =>
  attributesOf(file, file.calls.get(parseCallName(id)!)!);

/** As long as a line is, or whole. */
function attributeTexts(file: RunFile, id: string, whole: boolean): CallDetail['attributes'] {
  return shownAttributes(attributesIn(file, id)).map(([name, value]) => {
    const room = whole ? Infinity : Math.max(LEAST_ATTRIBUTE, ATTRIBUTE - name.length);
    return { name, value: attributeText(value, file.values, room) };
  });
}

/** With its cause and its fields, where it is an exception. */
function errorJson(
  file: RunFile,
  { value, causes: _c, moreCauses: _m, ...said }: NonNullable<CallDetail['error']>,
): unknown {
  const isError = value !== undefined && errorValue(partOf(file, value), file.values) !== undefined;
  if (isError) return { ...said, ...(jsonOf(file, value) as object) };
  return value === undefined || partOf(file, value) === null ? said : { ...said, value: jsonOf(file, value) };
}

function startOf(file: RunFile, { call }: CallDetail): string {
  const run = file.row();
  return run === undefined ? '' : isoText(run.started + BigInt(Math.round(call.start + file.zero())));
}

/** What one task alone did needs no word of it. */
function laneOf(file: RunFile, task: number): string | undefined {
  const begun = file.sql('SELECT count(*) FROM tasks WHERE first IS NOT NULL').pluck().get() as number;
  return begun > 1 ? taskNames(file).lane.get(task) : undefined;
}

/** The task and the process, as in what a query answers. */
function whereOf(file: RunFile, { call }: CallDetail): { task: string; pid: number } {
  const pid = file
    .sql('SELECT pid FROM processes WHERE id = ?')
    .pluck()
    .get(processOf(parseCallName(call.id)!));
  return { task: taskNames(file).task.get(call.task) ?? '', pid: (pid as number | null | undefined) ?? 0 };
}

const jsonOf = (file: RunFile, handle: ValueHandle): unknown => asJson(() => partOf(file, handle), file.values).json;

function inFile<T>(path: string, work: (file: RunFile) => T): T {
  const file = new RunFile(path);
  try {
    return work(file);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    throw typeof code === 'string' && code.startsWith('SQLITE') ? problemWith(path, error) : error;
  } finally {
    file.close();
  }
}
