import type { Hello } from '../../protocol/control';

/** A call of a tool or a model began or ended. Its values are in the run file. */
export interface SeenCall {
  event: 'started' | 'ended';
  call: string;
  kind: string;
  name: string;
  /** Wall clock in nanoseconds. */
  wall: bigint;
  status?: string;
  milliseconds?: number;
  tokens?: number;
}

/** So many calls of a run are told at most; all of them are in the run file. */
export const MOST_SEEN = 10_000;

export interface RecorderOptions {
  runFile: string;
  /** Folder the runtimes write spool files to. */
  spoolFolder: string;
  run: string;
  session: string;
  /** Program or module, for people. */
  name: string;
  /** A person gave the name: the run is called by it also where it has a workflow. */
  isNamed?: boolean;
  /** Called once when recording had to end or is incomplete: a full disk, a locked file. A sentence. */
  onProblem(sentence: string): void;
  /** A spool appeared of a process that was never announced; answer its index. */
  indexFor(process: string): number;
  /** Hears of calls of tools and models once they are in the file, in their order. */
  onCalls?(calls: readonly SeenCall[]): void;
  /** Spool files that were read are deleted once they take this much. */
  keptSpoolBytes?: number;
}

/** Writes one run file from spools and from what the adapter itself saw. The work is done in a worker thread; no method blocks. */
export interface Recorder {
  processStarted(index: number, hello: Hello): void;
  /** `wall`: when it was (nanoseconds), if not now. */
  processEnded(index: number, exitCode: number | undefined, wall?: bigint): void;
  /** Output, breakpoints hit, crashes; `call` is a call name such as `1.42`, `wall` when it was (nanoseconds), if not now. */
  event(name: string, call: string | undefined, data: Record<string, unknown>, wall?: bigint): void;
  /** Resolves when every frame committed by now can be queried. */
  sync(): Promise<void>;
  /** Follows to the end, closes the file. The spool folder's files may be deleted afterwards. */
  close(): Promise<void>;
}
