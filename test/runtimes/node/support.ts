import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrameKind } from '../../../protocol/spool';
import { parseFrame, type Frame } from '../../../adapter/store/spool/frames';
import { decodeMarshal } from '../../../adapter/store/spool/marshal';
import { SegmentReader } from '../../../adapter/store/spool/segment';
import { Complex, Dict, Float, SetValue, Tagged, Tuple, type Value } from '../../../adapter/store/values/model';
import { Bytes } from '../../../runtimes/node/bytes.mjs';
import { Encoder } from '../../../runtimes/node/encoder.mjs';
import { Recorder } from '../../../runtimes/node/recorder.mjs';
import { shared } from '../../../runtimes/node/shared.mjs';

/** What the runtime writes for a value, as the adapter reads it. */
export function recordedValue(value: unknown): Value {
  const bytes = new Bytes(4 * 1024 * 1024);
  new Encoder(bytes).root(value);
  return decodeMarshal(Buffer.from(bytes.buffer.subarray(0, bytes.at)));
}

/** A value in few words: marks as `[tag, ...parts]`, floating point numbers and tuples by name. */
export function plain(value: Value): unknown {
  if (value instanceof Tagged) return [`<${value.tag}>`, ...value.parts.map(plain)];
  if (value instanceof Float) return { float: value.value };
  if (value instanceof Tuple) return { tuple: value.items.map(plain) };
  if (value instanceof SetValue) return { set: value.items.map(plain) };
  if (value instanceof Complex) return 'complex';
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('latin1') };
  if (value instanceof Dict) {
    return value.entries.every(([key]) => typeof key === 'string')
      ? Object.fromEntries(value.entries.map(([key, item]) => [key, plain(item)]))
      : { entries: value.entries.map(([key, item]) => [plain(key), plain(item)]) };
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

export const encoded = (value: unknown): unknown => plain(recordedValue(value));

export interface SeenCall {
  id: number;
  parent: number;
  task: number;
  name: string;
  args: unknown;
  status?: number;
  value?: unknown;
}

/** A recorder into a folder of its own, in this process. `close` takes all of it away. */
export class Recorded {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolbreak-node-'));
  readonly reasons: string[] = [];
  readonly recorder: Recorder;

  constructor(limit = 2 ** 31) {
    const about = {
      process: '1-a',
      pid: process.pid,
      parentPid: process.ppid,
      thread: 0,
      threadName: 'main',
      pidStart: '',
      name: 'test',
      argv: [],
    };
    this.recorder = new Recorder(this.folder, about, limit, (reason: string) => void this.reasons.push(reason));
  }

  /** Records what is called while `body` runs. */
  async during<T>(body: () => T | Promise<T>): Promise<T> {
    shared.recorder = this.recorder;
    try {
      return await body();
    } finally {
      shared.recorder = null;
      this.recorder.spool.flush();
    }
  }

  files(): string[] {
    return readdirSync(this.folder).sort();
  }

  frames(): Frame[] {
    return this.files().flatMap((file) => {
      const reader = new SegmentReader(join(this.folder, file), 0);
      try {
        const frames: Frame[] = [];
        do {
          reader.read(10_000, true, (bytes, from, to) => void frames.push(parseFrame(bytes, undefined, from, to)!));
        } while (reader.tail === 'more');
        if (reader.damaged > 0) throw new Error(`${file} is damaged`);
        return frames;
      } finally {
        reader.close();
      }
    });
  }

  calls(): SeenCall[] {
    const names = new Map<number, string>();
    const calls = new Map<number, SeenCall>();
    for (const frame of this.frames()) {
      if (frame.kind === FrameKind.Function) names.set(frame.id, frame.name);
      else if (frame.kind === FrameKind.Start) {
        const { id, parent, task, func, reader } = frame;
        calls.set(id, { id, parent, task, name: names.get(func)!, args: plain(reader.value()) });
      } else if (frame.kind === FrameKind.End) {
        const call = calls.get(frame.id)!;
        if (call.status !== undefined) throw new Error(`call ${frame.id} ends twice`);
        call.status = frame.status;
        call.value = plain(frame.reader.value());
      }
    }
    return [...calls.values()];
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
