import type { SeenCall } from './recorder';
import type { RecordingOptions } from './recording';
import type { ProcessInfo } from './writer';

/** From the adapter's main thread to the store worker. Times are wall clock nanoseconds. */
export type ToWorker =
  | { type: 'processStarted'; index: number; info: ProcessInfo }
  | { type: 'processEnded'; index: number; exitCode: number | undefined; wall: bigint }
  | { type: 'event'; name: string; call: string | undefined; data: Record<string, unknown>; wall: bigint }
  | { type: 'index'; process: string; index: number }
  | { type: 'sync'; id: number }
  | { type: 'close'; wall: bigint };

export type FromWorker =
  | { type: 'problem'; sentence: string }
  | { type: 'indexFor'; process: string }
  | { type: 'synced'; id: number }
  | { type: 'calls'; calls: SeenCall[] }
  | { type: 'closed' };

export interface WorkerData {
  options: RecordingOptions;
  /** The session's process. */
  pid: number;
  wall: bigint;
  keptSpoolBytes?: number;
}
