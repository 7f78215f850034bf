import { basename } from 'node:path';
import type { Fault, FaultFrame } from '../common/faults';
import { marshal, RecordedErrorValue } from './formats/marshalWriter';
import { MarshalReader } from './spool/marshal';

/** How a process ended that did not end by itself, and in which call, as far as that is known. */
export interface Crash {
  call: number | undefined;
  text: string;
  /** Innermost first: `fail @ /desk/order.c:40`. */
  backtrace: readonly string[];
}

/** Where a running call has its code. */
export interface RunningCall {
  id: number;
  of: { qualified: string; path: string | null; line: number; end: number };
}

/** The innermost call that ran, by Python's frames. */
export function callOfFault({ frames }: Fault, running: readonly RunningCall[]): number | undefined {
  const latestFirst = [...running].sort((a, b) => b.id - a.id);
  return frames.map((frame) => latestFirst.find(({ of }) => isIn(frame, of))).find((found) => found !== undefined)?.id;
}

/** Python names files as it found them, the recording by where they really are. */
function isIn({ name, path, line }: FaultFrame, of: RunningCall['of']): boolean {
  return (
    of.path !== null &&
    basename(of.path) === basename(path) &&
    of.line <= line &&
    line <= of.end &&
    of.qualified.split('.').pop() === name
  );
}

/** What is kept of a fault as an event. Its place is the person's own line, below those of libraries. */
export function faultData({ text, frames, place }: Fault) {
  return {
    text,
    backtrace: frames.map(({ name, path, line }) => `${name} @ ${path}:${line}`),
    ...(place !== undefined && { path: place.path, line: place.line, function: place.name }),
  };
}

/** The crash that a native debugger saw. Nothing where the file was changed behind our back. */
export function crashSeen(call: number | null, data: string): Crash {
  let told: Record<string, unknown> = {};
  try {
    told = JSON.parse(data) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const { text, signal, backtrace } = told;
  const said = [text, signal].find((one) => typeof one === 'string');
  const frames = Array.isArray(backtrace) ? backtrace.filter((frame) => typeof frame === 'string') : [];
  return { call: call ?? undefined, text: said ?? '', backtrace: frames };
}

const FRAME = /^(.*) @ (.*):(\d{1,9})$/s;

/** The error of the calls that it ended, as a runtime would have recorded it. */
export function crashError({ text, backtrace }: Crash): MarshalReader {
  const stack = backtrace.flatMap((frame) => {
    const [, name, path, line] = FRAME.exec(frame) ?? [];
    return name === undefined ? [] : [{ path: path!, line: Number(line), function: name }];
  });
  return new MarshalReader(
    marshal(new RecordedErrorValue({ type: 'Crash', message: text, fields: {}, stack: stack.reverse() })),
  );
}
