import { readFile } from 'node:fs/promises';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { breakpointLines, lineWithCode, meaningOf } from '../../../language/lines';
import { readPython } from '../../../language/python';
import type { ExceptionFilter } from '../../../protocol/control';
import { messageOf } from '../../common/errors';
import {
  boundariesOf,
  problemOfHitCondition,
  type BadBreakpoint,
  type BreakpointSpec,
  type SetName,
} from '../../model/breakpoint';
import { parseNamePattern } from '../../model/names';
import type { Place } from '../../engine/breakpoints';
import { presentBreakpoint } from '../present/breakpoint';
import type { Client } from '../client';
import type { Handler } from '../requests';

export const setBreakpoints: Handler<'setBreakpoints'> = async ({ session, client }, args) => {
  const path = client.pathFrom(args.source.path ?? '');
  const wanted = args.breakpoints ?? (args.lines ?? []).map((line): DebugProtocol.SourceBreakpoint => ({ line }));
  const set: SetName = `source:${path}`;
  const views = await session.engine.setBreakpoints(
    client.id,
    set,
    wanted.map((one) => sourceSpec(client, path, one)),
    await placesOf(
      path,
      wanted.map((one) => client.lineFrom(one.line)),
    ),
  );
  return { breakpoints: views.map((view) => presentBreakpoint(client, view)) };
};

/** Where these breakpoints belong, or why nothing stops there; nothing where the file cannot be read: the app itself says so later. */
async function placesOf(path: string, lines: readonly number[]): Promise<(Place | undefined)[]> {
  if (lines.length === 0 || !path.endsWith('.py')) {
    return [];
  }
  try {
    const file = await readPython(await readFile(path, 'utf8'));
    return lines.map((line) => {
      const meaning = meaningOf(line, file.functions);
      if (meaning.at === 'definition') {
        return { line: meaning.function.line };
      }
      const found = lineWithCode(line, file);
      if (found !== undefined) {
        return { line: found };
      }
      const after = meaning.at === 'body' ? ` of ${meaning.function.name} or after it` : '';
      return { line, problem: `There is no code on line ${line}${after}.` };
    });
  } catch {
    return [];
  }
}

function sourceSpec(client: Client, path: string, one: DebugProtocol.SourceBreakpoint): BreakpointSpec | BadBreakpoint {
  if (path === '') {
    return { problem: 'This text is not a file; a breakpoint needs one.' };
  }
  const boundaries = boundariesOf(one.mode ?? 'before');
  if (!boundaries) {
    return { problem: `The mode "${one.mode ?? ''}" is not known. Use before, after, "before and after" or error.` };
  }
  return withConditions(one, {
    enabled: true,
    target: { type: 'source', path, line: client.lineFrom(one.line) },
    boundaries,
    ...(one.logMessage ? { logMessage: one.logMessage } : {}),
  });
}

/** Empty texts are what editors send for "none". */
export function withConditions(
  from: { condition?: string; hitCondition?: string },
  spec: BreakpointSpec,
): BreakpointSpec | BadBreakpoint {
  const hitCondition = from.hitCondition?.trim() || undefined;
  const problem = problemOfHitCondition(hitCondition);
  if (problem) {
    return { problem };
  }
  const condition = [spec.condition, from.condition?.trim() || undefined].filter((text) => text !== undefined);
  return {
    ...spec,
    ...(condition.length > 0
      ? { condition: condition.length > 1 ? condition.map((c) => `(${c})`).join(' and ') : condition[0] }
      : {}),
    ...(hitCondition ? { hitCondition } : {}),
  };
}

export const setFunctionBreakpoints: Handler<'setFunctionBreakpoints'> = async ({ session, client }, args) => {
  const views = await session.engine.setBreakpoints(
    client.id,
    'function',
    args.breakpoints.map((one) => {
      const parsed = parseNamePattern(one.name);
      if ('problem' in parsed) {
        return parsed;
      }
      const extra = 'condition' in parsed && parsed.condition ? { condition: parsed.condition } : {};
      return withConditions(one, { enabled: true, target: parsed.target, boundaries: parsed.boundaries, ...extra });
    }),
  );
  return { breakpoints: views.map((view) => presentBreakpoint(client, view)) };
};

const FILTERS: readonly ExceptionFilter['filter'][] = [
  'tool',
  'model',
  'validation',
  'uncaught',
  'fault',
  'cpp_throw',
  'cpp_catch',
];

export const setExceptionBreakpoints: Handler<'setExceptionBreakpoints'> = async ({ session, client }, args) => {
  const wanted = [
    ...args.filters.map((filterId) => ({ filterId, condition: undefined })),
    ...(args.filterOptions ?? []),
  ];
  const answers: DebugProtocol.Breakpoint[] = [];
  const filters: ExceptionFilter[] = [];
  for (const one of wanted) {
    const filter = FILTERS.find((known) => known === one.filterId);
    if (filter) {
      filters.push({ filter, ...(one.condition?.trim() ? { condition: one.condition.trim() } : {}) });
      answers.push({ verified: true });
    } else {
      answers.push({ verified: false, message: `"${one.filterId}" is not known. Use ${FILTERS.join(', ')}.` });
    }
  }
  await session.engine.setExceptions(client.id, filters);
  return { breakpoints: answers };
};

/** Lines on which a breakpoint can be; none where the file cannot be read. */
export const breakpointLocations: Handler<'breakpointLocations'> = async ({ session, client }, args) => {
  const from = client.lineFrom(args.line);
  const to = args.endLine === undefined ? from : client.lineFrom(args.endLine);
  try {
    const file = await readPython(await readFile(client.pathFrom(args.source.path ?? ''), 'utf8'));
    return { breakpoints: breakpointLines(from, to, file).map((line) => ({ line: client.lineTo(line) })) };
  } catch (error) {
    session.log.info(`breakpoint locations: ${messageOf(error)}`);
    return { breakpoints: [] };
  }
};
