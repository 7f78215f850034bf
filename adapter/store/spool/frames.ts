import { FrameKind, SPOOL_VERSION } from '../../../protocol/spool';
import { DecodeError, Dict, type Value } from '../values/model';
import { MarshalReader, type Kept } from './marshal';

/** Where a value lies in a frame's payload: it is transcoded later, straight into the store, by `reader`. */
export type Frame =
  | {
      kind: FrameKind.Segment;
      version: number;
      process: string;
      pid: number;
      parentPid: number;
      thread: bigint;
      threadName: string;
      wall: bigint;
      time: number;
      info: Value;
    }
  | {
      kind: FrameKind.Function;
      id: number;
      callKind: string;
      name: string;
      qualified: string;
      module: string;
      path: string | null;
      line: number;
      endLine: number;
    }
  | { kind: FrameKind.Task; id: number; name: string; parent: number }
  | { kind: FrameKind.Rename; id: number; name: string }
  | StartFrame
  | EndFrame
  | { kind: FrameKind.State; id: number; time: number; when: 'before' | 'after'; reader: MarshalReader }
  | { kind: FrameKind.Event; time: number; name: string; call: number; reader: MarshalReader };

export interface StartFrame {
  kind: FrameKind.Start;
  id: number;
  parent: number;
  func: number;
  task: number;
  time: number;
  reader: MarshalReader;
}

export interface EndFrame {
  kind: FrameKind.End;
  id: number;
  time: number;
  status: number;
  /** Its value is not in the reader: whoever recorded the call did not say what came of it. No spool of ours has such. */
  isUntold?: boolean;
  reader: MarshalReader;
}

/** A frame of each of the two kinds that nearly all are of, to be filled again and again. */
export interface UsualFrames {
  start: StartFrame;
  end: EndFrame;
}

export function usualFrames(reader: MarshalReader): UsualFrames {
  return {
    start: { kind: FrameKind.Start, id: 0, parent: 0, func: 0, task: 0, time: 0, reader },
    end: { kind: FrameKind.End, id: 0, time: 0, status: 0, reader },
  };
}

const SIZES: Record<FrameKind, number> = {
  [FrameKind.Segment]: 10,
  [FrameKind.Function]: 9,
  [FrameKind.Task]: 4,
  [FrameKind.Start]: 8,
  [FrameKind.End]: 6,
  [FrameKind.State]: 5,
  [FrameKind.Event]: 5,
  [FrameKind.Rename]: 3,
};

/** Largest id inside one process: it shares a number with the process index. */
const LARGEST_ID = 2 ** 32 - 1;

/**
 * The head of a frame; answers nothing for kinds of a later version. Throws `DecodeError`. More items than known are passed over, so a
 * later runtime may add some at the end. `kept`: of the file that the frame is from.
 */
export function parseFrame(bytes: Buffer, kept?: Kept, from = 0, to = bytes.length): Frame | undefined {
  const reader = new MarshalReader(bytes, kept, from, to);
  return readFrame(reader, usualFrames(reader));
}

/** The same of the frame that the reader stands before. Starts and ends are answered as what is in `usual`. */
export function readFrame(reader: MarshalReader, usual: UsualFrames): Frame | undefined {
  const count = reader.openTuple();
  if (count === 0) throw new DecodeError('a frame is empty');
  const kind = whole(reader.number());
  const size = SIZES[kind as FrameKind] as number | undefined;
  if (size === undefined) return undefined;
  if (count < size) throw new DecodeError('a frame has too few items');
  switch (kind as FrameKind) {
    case FrameKind.Segment:
      return {
        kind: FrameKind.Segment,
        version: known(whole(reader.value())),
        process: text(reader.value()),
        pid: whole(reader.value()),
        parentPid: whole(reader.value()),
        thread: BigInt.asIntN(64, wide(reader.value(), 64n)),
        threadName: text(reader.value()),
        wall: wide(reader.value()),
        time: moment(reader.value()),
        info: reader.value(),
      };
    case FrameKind.Function:
      return {
        kind: FrameKind.Function,
        id: id(reader.value()),
        callKind: text(reader.value()),
        name: text(reader.value()),
        qualified: text(reader.value()),
        module: optionalText(reader.value()) ?? '',
        path: optionalText(reader.value()),
        line: whole(reader.value() ?? 0),
        endLine: whole(reader.value() ?? 0),
      };
    case FrameKind.Task:
      return {
        kind: FrameKind.Task,
        id: id(reader.value()),
        name: text(reader.value()),
        parent: id(reader.value() ?? 0),
      };
    case FrameKind.Rename:
      return { kind: FrameKind.Rename, id: id(reader.value()), name: text(reader.value()) };
    case FrameKind.Start: {
      const { start } = usual;
      start.id = id(reader.number());
      start.parent = id(reader.number() ?? 0);
      start.func = id(reader.number());
      start.task = id(reader.number());
      start.time = moment(reader.number());
      return start;
    }
    case FrameKind.End: {
      const { end } = usual;
      end.id = id(reader.number());
      end.time = moment(reader.number());
      end.status = whole(reader.number());
      return end;
    }
    case FrameKind.State: {
      const call = id(reader.value());
      const time = moment(reader.value());
      const when = text(reader.value());
      if (when !== 'before' && when !== 'after') throw new DecodeError('a state is neither before nor after');
      return { kind: FrameKind.State, id: call, time, when, reader };
    }
    case FrameKind.Event:
      return {
        kind: FrameKind.Event,
        time: moment(reader.value()),
        name: text(reader.value()),
        call: id(reader.value() ?? 0),
        reader,
      };
  }
}

function known(version: number): number {
  if (version > SPOOL_VERSION)
    throw new DecodeError(`it was written in version ${version} of the format, which is later`);
  return version;
}

function whole(value: Value): number {
  if (typeof value !== 'number') throw new DecodeError('a frame has no whole number where one belongs');
  return value;
}

function id(value: Value): number {
  const number = whole(value);
  if (number < 0 || number > LARGEST_ID) throw new DecodeError('an id is out of range');
  return number;
}

/** A monotonic time in nanoseconds: exact for 104 days of the machine, and then to two or four of them. */
function moment(value: Value): number {
  return typeof value === 'number' ? value : Number(wide(value));
}

/** Wall clock times and thread ids: 64 bits. */
function wide(value: Value, bits = 63n): bigint {
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw new DecodeError('a frame has no whole number where one belongs');
  const number = BigInt(value);
  if (number < -(2n ** 63n) || number >= 2n ** bits) throw new DecodeError('a number is out of range');
  return number;
}

function text(value: Value): string {
  if (typeof value !== 'string') throw new DecodeError('a frame has no text where text belongs');
  return value;
}

function optionalText(value: Value): string | null {
  return value === null ? null : text(value);
}

/** Text under a key of a frame's dict, or nothing. */
export function textIn(value: Value, key: string): string | undefined {
  const found = value instanceof Dict ? value.get(key) : undefined;
  return typeof found === 'string' ? found : undefined;
}
