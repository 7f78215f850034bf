import type { Log } from '../../common/log';
import type { TraceFrame } from './backtrace';
import { Collector } from './collector';
import type { Naming } from './discovery';
import { placesOf } from './places';
import { programAt } from './program';

export interface FeedbackOptions {
  /** The program, and its arguments. */
  command: readonly string[];
  /** The project: paths and keys are relative to it, and the program runs in it. */
  project: string;
  env?: NodeJS.ProcessEnv;
  /** `file:line`: each hit gives a backtrace. */
  at?: readonly string[];
  /** Each hit of the place gives the value of the expression, before the line has run. */
  watches?: readonly { location: string; expression: string }[];
  /** `name@file:line`, or a global's name: each change gives value, place and backtrace. */
  data?: readonly string[];
  /** A file that is the program's standard input; empty without one. */
  stdin?: string;
  /** `redirect` lets the debugger open the file as standard input; `variable` names it in TOOLBREAK_STDIN_FILE, for programs that look there. */
  stdinBy?: 'redirect' | 'variable';
  /** Frames of a structured backtrace, at most. */
  depth?: number;
  seconds?: Partial<FeedbackSeconds>;
  /** Path or name of the debugger; else it is looked for. */
  debugger?: string | undefined;
  /** How the person chooses it, for sentences. */
  naming?: Naming;
  log?: Log;
  /** Ends it early; what came so far is the result. */
  signal?: AbortSignal;
}

export interface FeedbackSeconds {
  /** Until the program runs. */
  launch: number;
  /** From then on until a first place is reached. */
  firstStop: number;
  /** From the first place on until the program ends. */
  exit: number;
}

export const USUAL_SECONDS: FeedbackSeconds = { launch: 10, firstStop: 30, exit: 30 };
export const USUAL_DEPTH = 32;

/** Everything by key as given, in the order of happening. */
export interface Feedback {
  watchpoints: Record<string, { var: string; value: string }[]>;
  /** Compact: `work_basic() -> main() @ loop_basic.c:7`. */
  breakpoints: Record<string, string[]>;
  backtraces: Record<string, TraceFrame[][]>;
  /** Each change: what the variable was before and what it is now, and the line that changed it. */
  dataBreakpoints: Record<string, { before: string; value: string; backtrace: string; frames: TraceFrame[] }[]>;
  /** Sentences on what was asked for and is not there, such as a variable of another name. */
  mistakes?: string[];
  /** Why something is missing; absent when the program ran to its end and everything was seen. */
  partial?: string;
  /** As a shell says it: 128 and the signal's number where a fault ended it. */
  exitCode?: number;
  /** A fault that ended the program. */
  crash?: { signal: string; text: string; backtrace: string; frames: TraceFrame[] };
  /** The end of what it wrote. */
  output: { stdout: string; stderr: string };
  /** Times that it was stopped. */
  stops: number;
  /** From the first stop at a place on. */
  seconds: number;
  debugger: string;
}

/** What cannot be evaluated has this value. */
export const UNAVAILABLE = '<unavailable>';

/**
 * Runs a native program once under its debugger and gathers values and backtraces at places of its source. Rejects with a sentence when it cannot be
 * started or a place cannot be bound; whatever happens once it runs, the answer holds what was gathered. Nothing is left running. Secrets are masked.
 */
export async function runtimeFeedback(options: FeedbackOptions): Promise<Feedback> {
  const { project, at = [], watches = [], data = [] } = options;
  const places = placesOf({ at, watches, data }, project);
  const program = programAt(options.command[0] ?? '', project, options.env ?? process.env);
  const collector = new Collector(options, program, places);
  try {
    await collector.start();
    await collector.collect();
  } finally {
    await collector.end();
  }
  return collector.result();
}
