import type { ExceptionInfo, Frame, Variable } from '../../../protocol/control';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import type { DelegateClient } from '../delegate/client';
import { isCrash, signalSentence, type Signal, type StopReason } from './quirks';
import type { NativeValues } from './values';

/** So many of the innermost frames that have sources are recorded with their locals. */
const FRAMES_WITH_LOCALS = 3;
const MOST_LOCALS = 50;
const MOST_REGISTERS = 64;
/** Longer values are cut: this is for reading. */
const LONGEST = 500;

export interface Crash {
  values: NativeValues;
  log: Log;
  thread: number;
  signal: Signal;
  frames: readonly Frame[];
}

/** What is kept of a crash: signal, fault address, registers, the way there, and the locals of the innermost frames. */
export async function crashRecord({ values, log, thread, signal, frames }: Crash): Promise<Record<string, unknown>> {
  const parts: Record<string, unknown> = {};
  try {
    const [top] = frames;
    if (top) parts['registers'] = await registersOf(values, top);
    const locals: { frame: string; locals: Record<string, string> }[] = [];
    for (const frame of frames.filter(({ path }) => path !== undefined).slice(0, FRAMES_WITH_LOCALS)) {
      locals.push({ frame: lineOf(frame), locals: await localsOf(values, frame) });
    }
    parts['locals'] = locals;
  } catch (error) {
    // What is there already is kept.
    log.warn(`what a crash left: ${messageOf(error)}`);
  }
  return {
    text: signalSentence(signal),
    signal: signal.name,
    ...(signal.address ? { address: signal.address } : {}),
    thread,
    backtrace: frames.map(lineOf),
    ...parts,
  };
}

/** Why it stopped, for who asks about an exception. */
export async function exceptionInfo(
  client: DelegateClient,
  thread: number,
  { signal, reason, text, description }: StopReason,
  frames: readonly Frame[],
): Promise<ExceptionInfo> {
  const info = client.can('exceptionInfo')
    ? await client.request('exceptionInfo', { threadId: thread }).catch(() => undefined)
    : undefined;
  const type = signal?.name ?? info?.exceptionId ?? reason;
  return {
    type,
    fullType: type,
    message: signal ? signalSentence(signal) : (info?.description ?? text ?? description),
    stackTrace: frames.map(lineOf).join('\n'),
    uncaught: signal !== undefined && isCrash(signal),
  };
}

function lineOf({ name, path, line }: Frame): string {
  return path ? `${name} @ ${path}:${line}` : name;
}

async function localsOf(values: NativeValues, frame: Frame): Promise<Record<string, string>> {
  const { scopes } = await values.scopes(frame.id);
  const scope = scopes.find(({ hint, name }) => hint === 'locals' || /^locals/i.test(name));
  if (!scope) return {};
  const { variables } = await values.variables({ ref: scope.ref, count: MOST_LOCALS });
  return texts(variables);
}

/** The general ones: those for floats and vectors are many, and seldom say why. */
async function registersOf(values: NativeValues, frame: Frame): Promise<Record<string, string>> {
  const { scopes } = await values.scopes(frame.id);
  const scope = scopes.find(({ hint }) => hint === 'registers');
  if (!scope) return {};
  const { variables } = await values.variables({ ref: scope.ref });
  const general =
    variables.find(({ name, ref }) => ref > 0 && /general/i.test(name)) ?? variables.find(({ ref }) => ref > 0);
  const inside = general ? (await values.variables({ ref: general.ref, count: MOST_REGISTERS })).variables : variables;
  return texts(inside.slice(0, MOST_REGISTERS));
}

function texts(variables: readonly Variable[]): Record<string, string> {
  return Object.fromEntries(
    variables.map(({ name, value }) => [name, value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value]),
  );
}
