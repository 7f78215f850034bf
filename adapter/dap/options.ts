import type { AttachAttributes, LaunchAttributes } from '../../protocol/launch';
import type { Target } from '../engine/target';
import type { Recorder, RecorderOptions } from '../store/recorder';

/** What a session writes to its log. `adapter/common` has the one that writes a file. */
export interface SessionLog {
  info(text: string): void;
  error(text: string, error?: unknown): void;
  /** Secrets are masked with this from now on. */
  maskWith?(mask: (text: string) => string): void;
}

/** Where one run of the session is recorded. A restart makes another run. */
export interface RunPlace {
  run: string;
  runFile: string;
  /** Folder of the project's run files. */
  runsFolder: string;
  /** Folder the runtimes write spool files to. */
  spoolFolder: string;
}

/** What a target is made from. `attributes` are validated. */
export type TargetRequest = (
  { mode: 'launch'; attributes: LaunchAttributes; noDebug: boolean } | { mode: 'attach'; attributes: AttachAttributes }
) & {
  /** Absent when nothing is to be recorded. */
  spoolFolder?: string;
  /** Asks the client that launches for a terminal; absent when it has none. */
  runInTerminal?: (request: TerminalRequest) => Promise<{ processId?: number; shellProcessId?: number }>;
};

export interface TerminalRequest {
  title: string;
  cwd: string;
  args: string[];
  /** `null` removes a variable. */
  env: Record<string, string | null>;
}

/** Everything a session needs from outside; doors put it together. */
export interface SessionOptions {
  /** Human-readable id of the session. */
  id: string;
  /** Folder of the session's logs. */
  logs: string;
  log: SessionLog;
  makeTarget(request: TargetRequest): Target;
  /** Such a target will be made as soon as the client has configured everything. */
  expectTarget?(request: TargetRequest): void;
  /** Chooses the place of a new run; `name` is the program or module, `cwd` the folder that names the project. */
  placeRun(name: string, cwd: string): RunPlace;
  openRecorder(options: RecorderOptions): Recorder;
  /** Takes lines for people and scripts who follow a session: what happened, and what clients asked for. */
  journal?: {
    events(entries: readonly Record<string, unknown>[]): void;
    commands(entries: readonly Record<string, unknown>[]): void;
  };
  /** Milliseconds after which a slow start shows progress. */
  progressAfter?: number;
}
