import type { Configuration, ControlEvent, ControlRequests, BreakpointState, Hello } from '../../protocol/control';
import type { Ended } from '../common/signals';

/** One debuggee process with a runtime inside. `index` counts from 1 in order of appearance; it names the process in call names. */
export interface TargetProcess {
  index: number;
  hello: Hello;
}

export interface TargetEvents {
  /** A process connected and was configured. */
  processStarted: [process: TargetProcess];
  /** Its connection is gone; `crashed` when it did not say goodbye, `ended` tells how where that can be known of some and not of others. */
  processEnded: [process: TargetProcess, crashed: boolean, ended?: Promise<Ended | undefined>];
  control: [process: TargetProcess, event: Exclude<ControlEvent, Hello>];
  /** The app's own output, as it came. */
  output: [category: 'stdout' | 'stderr', text: string];
  /** A sentence of ours for the person. */
  notice: [category: 'console' | 'important' | 'stderr', text: string];
  /** The whole process tree ended. Fires once. `code` is undefined when unknown, such as after attach. */
  exited: [code: number | undefined];
}

/** What the engine drives: a live process tree. Errors thrown here are user-facing sentences (`UserError`) unless ours. */
export interface Target {
  on<K extends keyof TargetEvents>(event: K, listener: (...args: TargetEvents[K]) => void): void;
  readonly processes: readonly TargetProcess[];
  /** The index of a process named as in `Hello.process`, also of one that never connected: the next free one, kept for it. */
  indexFor(process: string): number;
  /** Starts or attaches with this configuration in force from the first instruction of the app. Resolves when the first process connected, or ended. */
  start(configuration: Configuration): Promise<void>;
  /** Pushes a new configuration to every process. Resolves with the states of all processes, merged: verified anywhere is verified. */
  configure(configuration: Configuration): Promise<BreakpointState[]>;
  request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']>;
  /** Writes the stop flag, then nothing else: seen at each task's next boundary within microseconds. */
  setStopFlag(stop: boolean): void;
  /** Asks the app to end (SIGTERM to the whole tree, Ctrl-C first where the app handles it). A second call kills. */
  terminate(): Promise<void>;
  /** Kills the whole tree. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Lets the app run on without us. */
  detach(): Promise<void>;
}
