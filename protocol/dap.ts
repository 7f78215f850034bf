/** Toolbreak's own DAP requests and events. Everything else is plain DAP (`@vscode/debugprotocol`). */

/** Request name to arguments and body. */
export interface ToolbreakRequests {
  /** Do not run the held call: stop at its `after` with this result (an expression in the debuggee's language; absent: None). */
  'toolbreak/skip': { arguments: { threadId: number; result?: string }; body: Record<string, never> };
  /** Run the held call again, with its arguments as they are now. */
  'toolbreak/again': { arguments: { threadId: number }; body: Record<string, never> };
  /** Cancel the held call. */
  'toolbreak/cancel': { arguments: { threadId: number }; body: Record<string, never> };
  /** What the session is and where its recording lies. */
  'toolbreak/status': { arguments: Record<string, never>; body: SessionStatus };
  /** The recorded call a stack frame stands for. */
  'toolbreak/frameCall': { arguments: { frameId: number }; body: { call?: string } };
  /** The frame of a held stack that stands for a recorded call. */
  'toolbreak/callFrame': { arguments: { call: string }; body: { threadId?: number; frameIndex?: number } };
  /** Tools, nodes, workflows and models known so far. */
  'toolbreak/names': {
    arguments: Record<string, never>;
    body: { names: { kind: string; name: string; path?: string; line?: number }[] };
  };
}

export interface SessionStatus {
  /** Human-readable session id. */
  session: string;
  run: string;
  /** Run file; absent when nothing is recorded. */
  runFile?: string;
  /** Folder of the project's run files. */
  runsFolder: string;
  logs: string;
  /** `line`: at a line of source or machine code, not at a call. */
  holds: { threadId: number; name: string; description: string; line: boolean }[];
  processes: { pid: number; name: string }[];
}

/** Event name to body. */
export interface ToolbreakEvents {
  /** The run file exists from now on. */
  'toolbreak/run': { session: string; run: string; runFile: string; runsFolder: string };
  /** A hold ended with one of our own actions; sent to all clients. */
  'toolbreak/released': { threadId: number; action: string; client: string };
}

/**
 * Calls are named to the outside by `<process index>.<call id in the process>`, such as `1.42`: short, and the same in the run file, the
 * timeline and the requests above. Process indexes count from 1 in the order in which processes appear in the run.
 */
export type CallName = string;
