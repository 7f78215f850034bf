/**
 * Control messages between the adapter and the runtime inside the debuggee.
 *
 * Transport: a Unix socket (loopback TCP on Windows), one JSON object a line, UTF-8. The runtime connects, sends `hello`, and waits
 * for `welcome`; nothing of the app runs before that (5 s at most, then the app runs without a debugger and says so once).
 * The adapter sends requests `{seq, request, ...}`; the runtime answers `{re, ok: true, body}` or `{re, ok: false, error}`.
 * The runtime sends events `{event, ...}`, which have no answer.
 */

/** Changes with every incompatible change of this file or of `spool.ts`; both sides refuse another one with a sentence. */
export const PROTOCOL_VERSION = 1;

export type CallKind = 'workflow' | 'node' | 'tool' | 'llm' | 'http' | 'function' | 'native';
/** `line`: between two lines or instructions, of Python or of native code. */
export type Boundary = 'before' | 'after' | 'error' | 'line';

/** What the file named by the environment variable TOOLBREAK_CONNECT holds (JSON, mode 0600). */
export interface ConnectFile {
  version: number;
  /** Path of a Unix socket, or `host:port` on loopback. */
  address: string;
  token: string;
  /** Folder for spool files; absent when nothing is to be recorded. */
  spool?: string;
  /** File whose first byte is the stop flag: 0 run, 1 every task stops at its next boundary. */
  stopFile: string;
  /** Named pipes that are the app's stdout and stderr; the runtime keeps them open for reading, so that a dead adapter breaks no write. */
  output?: string[];
  /** Seconds of silence after which the adapter counts as hanging and every hold is released; 10 if absent. */
  heartbeatSeconds?: number;
  /** What a runtime has to know that records into `spool` without a connection, as that of Node does. */
  joining?: Joining;
}

export interface Joining extends Pick<RecordSettings, 'maxValueBytes' | 'maxDepth' | 'maskKeys' | 'maskPatterns'> {
  /** False: only the first process is recorded. It is the one that makes the file `first` beside this one, with its number in it. */
  children: boolean;
  /** The adapter's number: a file that a killed one left behind invites nobody. */
  pid: number;
  /** On Linux, `/proc/self/ns/pid` of the adapter: elsewhere numbers of processes mean others. */
  pidNamespace?: string;
}

// ---------------------------------------------------------------- what is configured

export interface Configuration {
  /** Grows with each change; the runtime keeps the newest. */
  generation: number;
  breakpoints: Breakpoint[];
  exceptions: ExceptionFilter[];
  /** What one stop holds: its own task, or every task at its next boundary. */
  hold: 'task' | 'all';
  /** Stop at the first boundary of the run. */
  stopOnEntry: boolean;
  justMyCode: boolean;
  record: RecordSettings;
  /** Time limit of an evaluation or of a value's own `repr`, in seconds. */
  evaluationSeconds: number;
  /** It is recorded, and nobody is there who could stop it or look into it. */
  unattended?: boolean;
  /** Only while breakpoints stand in native sources, which are the adapter's own matter: what the app does for them. */
  native?: NativeGates;
}

export interface NativeGates {
  /** Process that may look into the app where only parents may: the adapter's. */
  tracer: number;
  /** Loads of libraries wait for the adapter: a breakpoint may be in one. */
  loads: boolean;
  /** A library that holds a program which is being started, and the socket where it asks; absent: programs are left alone. */
  gate?: { library: string; address: string };
}

export interface RecordSettings {
  enabled: boolean;
  /** `pkg.*`, `@usercode`, `@file:src/*.py`. */
  functions: string[];
  /** Bytes of one encoded value before it is cut, with a mark. */
  maxValueBytes: number;
  /** Nesting of one value before it is cut, with a mark. */
  maxDepth: number;
  /** Key names whose values are masked, beside the usual ones; case-insensitive globs. */
  maskKeys: string[];
  /** Regular expressions of text to mask, beside the usual ones. */
  maskPatterns: string[];
  /** Whoever reads the spool understands `keep` and `same`. */
  references?: boolean;
  /** What is written through `sys.stdout` and `sys.stderr` is told as `output`: nobody else reads the app's streams. */
  output?: boolean;
}

/** One entry of the engine's table: the union of all clients' breakpoints. */
export interface Breakpoint {
  id: number;
  enabled: boolean;
  target: SourceTarget | FunctionTarget | DataTarget | InstructionTarget | MemoryTarget;
  boundaries: Boundary[];
  /** Expression over args, state, result, error, call (and value, old for data breakpoints). */
  condition?: string;
  /** `5`, `==5`, `>5`, `>=5`, `<5`, `%3`. */
  hitCondition?: string;
  /** Text with `{expression}` parts; the call does not stop. */
  logMessage?: string;
  /** Hits passed over before the first stop. */
  ignoreCount?: number;
  group?: string;
  /** Seconds after which a hold made by this breakpoint is released by itself. */
  holdSeconds?: number;
}
/** A line of a `def`, of its decorators, or inside its body. */
export interface SourceTarget {
  type: 'source';
  path: string;
  line: number;
}
/** `kind` absent: any kind. `glob`: `*` stops at a dot, `**` does not; tried on the short and on the qualified name. */
export interface FunctionTarget {
  type: 'function';
  kind?: CallKind;
  glob: string;
}
/** A path in a workflow's state, `verdict` or `visits[1]`; stops after the node that wrote it. */
export interface DataTarget {
  type: 'data';
  path: string;
}

/** An address of native code; `offset` in bytes. */
export interface InstructionTarget {
  type: 'instruction';
  reference: string;
  offset?: number;
}
/** A variable or an address of native code that is watched; `data` comes from `dataInfo`. */
export interface MemoryTarget {
  type: 'memory';
  data: string;
  access: MemoryAccess;
}
export type MemoryAccess = 'read' | 'write' | 'readWrite';

export interface ExceptionFilter {
  /** The last three are of native code; `fault` is for the processes of other languages that it runs in. */
  filter: 'tool' | 'model' | 'validation' | 'uncaught' | 'fault' | 'cpp_throw' | 'cpp_catch';
  condition?: string;
}

/** What became of one breakpoint in one process. */
export interface BreakpointState {
  id: number;
  verified: boolean;
  /** Why not, or what is special; a sentence for the person. */
  message?: string;
  path?: string;
  line?: number;
  endLine?: number;
  hits?: number;
}

// ---------------------------------------------------------------- holds

export type HoldReason =
  | 'breakpoint'
  | 'function breakpoint'
  | 'data breakpoint'
  | 'instruction breakpoint'
  | 'exception'
  | 'step'
  | 'pause'
  | 'entry'
  | 'goto'
  | 'restart';

export interface Hold {
  /** Unique in its process. */
  id: number;
  task: number;
  taskName: string;
  /** Absent or 0 where no call is held: code outside of any. */
  call?: number;
  boundary: Boundary;
  reason: HoldReason;
  /** "Paused before tool". */
  description: string;
  /** More, where there is more: the exception's text, what this hold blocks. */
  text?: string;
  breakpoints: number[];
  frames: Frame[];
  /** There are more frames than these: `frames` has them, by `start` and `count`. */
  moreFrames?: boolean;
  /** It is told before its frames are known: they come with the event `frames`. */
  framesFollow?: boolean;
  /** All tasks of the process stand still, and all go on when one of them is released. */
  whole?: boolean;
  /** Native code stands still: an app around it knows nothing of this hold, so the session records it. */
  native?: boolean;
  /** The system's number of the thread that stands at a line. */
  thread?: number;
}

/** Innermost first. `id` is stable while the hold lasts. */
export interface Frame {
  id: number;
  /** The workflow-level call this frame is; absent for plain source frames. */
  call?: number;
  /** The number of the process whose call it is, where that is not the one of the hold: a program stands under the call that started it. */
  process?: number;
  kind: CallKind | 'source';
  /** `lookup_order(order_id=7, region='eu')`. */
  name: string;
  /** `tool, before`, `node, step 2`, `workflow, call 3`; empty for source frames. */
  detail: string;
  path?: string;
  /** 1-based; 0 where there is no source. */
  line: number;
  /** 1-based; absent: the whole line is meant. */
  column?: number;
  endLine?: number;
  /** Address of the instruction that is next, for `disassemble`. */
  instruction?: string;
  /** Framework internals. */
  subtle: boolean;
  canRestart: boolean;
}

export interface Scope {
  name: string;
  /** `arguments`, `locals`, `returnValue` as DAP's presentation hints, or none. */
  hint?: string;
  ref: number;
  named?: number;
  indexed?: number;
  expensive: boolean;
}

/** `ref` 0: no children. Equal (parent, name) keep their ref while the hold lasts. */
export interface Variable {
  name: string;
  value: string;
  type?: string;
  ref: number;
  named?: number;
  indexed?: number;
  evaluateName?: string;
  editable: boolean;
  /** DAP's presentation hint attributes, such as `readOnly`, `rawString`; `lazy` values run user code when opened. */
  attributes?: string[];
  /** DAP's presentation hint kind. */
  kind?: string;
  lazy?: boolean;
  /** Address of the value's memory, for `readMemory`. */
  memory?: string;
  /** For the request `location`, as long as the hold lasts: the value is a function, a method or a class that a file defines. */
  location?: number;
}

export interface TaskInfo {
  id: number;
  name: string;
  /** Id of the hold it waits in. */
  hold?: number;
  /** `in llm:gpt-x, 12 s`; empty when between calls. */
  where: string;
}

export interface ExceptionInfo {
  type: string;
  fullType: string;
  message: string;
  stackTrace: string;
  inner?: ExceptionInfo;
  uncaught: boolean;
}

// ---------------------------------------------------------------- requests: adapter to runtime

/** Request name to arguments and answer. */
export interface ControlRequests {
  configure: { arguments: { configuration: Configuration }; body: { breakpoints: BreakpointState[] } };
  /** Stops the task, or every task, at its next boundary. */
  pause: { arguments: { task?: number }; body: Record<string, never> };
  /** Answered once the hold ended; refused, and still held, when the result of a skip cannot be made. */
  release: { arguments: Release; body: Record<string, never> };
  /** Fresh frames of a hold, after an edit; or those from `start` on, at most `count`. */
  frames: {
    arguments: { hold: number; start?: number; count?: number };
    body: { frames: Frame[]; more?: boolean };
  };
  scopes: { arguments: { hold: number; frame: number }; body: { scopes: Scope[] } };
  variables: {
    arguments: { hold: number; ref: number; filter?: 'indexed' | 'named'; start?: number; count?: number };
    body: { variables: Variable[] };
  };
  setVariable: {
    arguments: { hold: number; ref: number; name: string; value: string; client: string };
    body: Variable;
  };
  setExpression: {
    arguments: { hold: number; frame: number; expression: string; value: string; client: string };
    body: Variable;
  };
  /** Without a hold: in the main module's globals. */
  evaluate: {
    arguments: {
      hold?: number;
      frame?: number;
      expression: string;
      context: 'watch' | 'repl' | 'hover' | 'clipboard' | 'variables';
    };
    body: Variable;
  };
  /** `column` counts from 1, a target's `start` from 0, both in UTF-16 units of `text`. */
  completions: {
    arguments: { hold?: number; frame?: number; text: string; column: number };
    body: { targets: { label: string; type?: string; start?: number; length?: number }[] };
  };
  /** Ends the evaluation that request `seq` started. */
  cancel: { arguments: { target: number }; body: Record<string, never> };
  exception: { arguments: { hold: number }; body: ExceptionInfo };
  stepTargets: { arguments: { hold: number }; body: { targets: { id: number; label: string; line?: number }[] } };
  /** Where the function, method or class is defined that a variable's `location` names. */
  location: { arguments: { hold: number; location: number }; body: { path: string; line: number } };
  /** Where a variable lies in the state; empty path when it cannot be watched. */
  dataInfo: {
    arguments: { hold: number; ref: number; name: string };
    body: {
      path: string;
      description: string;
      /** For native code: what a `MemoryTarget` names, and how it can be watched. */
      data?: string;
      accesses?: MemoryAccess[];
    };
  };
  tasks: { arguments: Record<string, never>; body: { tasks: TaskInfo[] } };
  /** Names of tools, nodes, workflows and models seen or declared so far, for "Known tools: ...". */
  names: {
    arguments: Record<string, never>;
    body: { names: { kind: CallKind; name: string; path?: string; line?: number }[] };
  };
  /** Rendered prompts, tool schemas, workflow configuration. */
  sources: { arguments: Record<string, never>; body: { sources: { id: number; name: string; mimeType: string }[] } };
  source: { arguments: { id: number }; body: { text: string; mimeType: string } };
  // Native code only. References are addresses, as frames and variables carry them.
  /** `data` is base64; absent when nothing there can be read. */
  readMemory: {
    arguments: { reference: string; offset?: number; count: number };
    body: { address: string; data?: string; unreadable?: number };
  };
  writeMemory: {
    arguments: { reference: string; offset?: number; data: string; client: string };
    body: { written: number };
  };
  disassemble: {
    arguments: { reference: string; offset?: number; instructionOffset?: number; count: number };
    body: { instructions: Instruction[] };
  };
  /** What a frame's expression or an address is watched by. */
  memoryInfo: {
    arguments: { hold?: number; frame?: number; name: string; bytes?: number; asAddress?: boolean };
    body: ControlRequests['dataInfo']['body'];
  };
  modules: { arguments: { start?: number; count?: number }; body: { modules: ModuleInfo[]; total: number } };

  /** Ends every hold, takes every guard back; the app runs on as if it had never been debugged. */
  detach: { arguments: Record<string, never>; body: Record<string, never> };
  /** What a `native` event of kind `load` announced may be loaded. */
  nativePass: { arguments: { id: number }; body: Record<string, never> };
  /** The frames of a call that goes on, to be looked into as those of a hold until `nativeEndLook`; `hold` 0: it has ended. */
  nativeLook: {
    arguments: { call: number; thread: number };
    body: { hold: number; frames: Frame[] };
  };
  nativeEndLook: { arguments: { hold: number }; body: Record<string, never> };
  ping: { arguments: Record<string, never>; body: Record<string, never> };
}

export interface Instruction {
  address: string;
  bytes?: string;
  text: string;
  symbol?: string;
  path?: string;
  line?: number;
}

export interface ModuleInfo {
  id: string;
  name: string;
  path?: string;
  version?: string;
  /** A sentence: symbols loaded, or not. */
  symbols?: string;
  range?: string;
}

export interface Release {
  hold: number;
  /** skip: do not run the call, stop at its `after`; again: run it (from `after` or `error`: once more), with its arguments as they are;
   *  restart: from anywhere in the call back to its `before`; cancel: raise what no `except Exception` catches. */
  action: 'continue' | 'skip' | 'again' | 'restart' | 'cancel';
  /** Where the task stops next. */
  step?: 'over' | 'in' | 'out';
  /** How far a step goes; `line` if absent. */
  granularity?: 'statement' | 'line' | 'instruction';
  /** Only this task goes on, where the rest of its process would go on, too. */
  single?: boolean;
  /** A step-in target's id. */
  target?: number;
  /** A step in from a line that may come into native code: its number. The thread calls the gate before it begins, and when it ends elsewhere. */
  native?: { step: number };
  /** Expression of the result for `skip`; absent: None. */
  result?: string;
  /** Which client made it, for the record. */
  client: string;
}

// ---------------------------------------------------------------- events: runtime to adapter

export type ControlEvent =
  | Hello
  | HeldEvent
  | FramesEvent
  | ResumedEvent
  | BreakpointsEvent
  | LogEvent
  | OutputEvent
  | TaskEvent
  | RecordEvent
  | NativeReadyEvent
  | NativeLoadEvent
  | ByeEvent;

export interface Hello {
  event: 'hello';
  version: number;
  token: string;
  /** Version of the `toolbreak` package in the app. */
  runtime: string;
  language: 'python' | 'native';
  languageVersion: string;
  pid: number;
  parentPid: number;
  /** `<pid>-<start time in ns, hex>`: names the process in the spool, too. */
  process: string;
  /** What a person calls it: `triage.py`, `Process-2`. */
  name: string;
  argv: string[];
  cwd: string;
  executable: string;
  frameworks: { name: string; version: string; supported: boolean; message?: string }[];
}
/** The adapter's answer to `hello`, the only message without `request`. */
export interface Welcome {
  welcome: true;
  version: number;
  configuration: Configuration;
}
export interface HeldEvent {
  event: 'held';
  hold: Hold;
  /** Tasks that only stand still because their process does; their frames come with `frames`. */
  along?: Hold[];
}
/** The innermost frames of a hold that was told without them. */
export interface FramesEvent {
  event: 'frames';
  hold: number;
  task: number;
  frames: Frame[];
  moreFrames: boolean;
}
/** A hold ended: by a release, its deadline, the death of the adapter's connection, or cancellation of the call. */
export interface ResumedEvent {
  event: 'resumed';
  hold: number;
  task: number;
  why: 'release' | 'deadline' | 'cancelled';
}
export interface BreakpointsEvent {
  event: 'breakpoints';
  breakpoints: BreakpointState[];
}
/** One line for the Debug Console: a logpoint, an edit, a skip, a retry, a failed condition. */
export interface LogEvent {
  event: 'log';
  category: 'console' | 'important' | 'stderr';
  text: string;
  path?: string;
  line?: number;
}
/** Something the app wrote; only where `record.output` asks for it. Secrets are in it. */
export interface OutputEvent {
  event: 'output';
  stream: 'stdout' | 'stderr';
  text: string;
  /** Wall clock when it was written, in microseconds. */
  wall?: number;
}
export interface TaskEvent {
  event: 'task';
  task: number;
  name: string;
  change: 'started' | 'exited';
}
/** Something for the timeline alone, such as a crash with its registers; values in it are masked by the adapter. */
export interface RecordEvent {
  event: 'record';
  name: string;
  data: Record<string, unknown>;
}
/** Where the adapter finds the Python side of a process that stands still; addresses, and folders. */
export interface NativeReadyEvent {
  event: 'native';
  kind: 'ready';
  version: number[];
  /** `_PyRuntime`; 0 where it cannot be found. */
  runtime: number;
  /** The context variable of the current call. */
  context: number;
  /** `threading._active`. */
  threads: number;
  /** A function that threads call to be seen: steps that may come into native code begin and end with it. 0: there is none. */
  gate: number;
  /** Numbers of steps that ended in native code, each at its number modulo the count of them; 8 bytes each. */
  overtaken: number;
  /** The standard library's folder, and the runtime's own. */
  library: string;
  own: string;
}
/** A library is about to be loaded; its thread waits for `nativePass`. */
export interface NativeLoadEvent {
  event: 'native';
  kind: 'load';
  id: number;
  path: string;
}
export interface ByeEvent {
  event: 'bye';
  /** What the process ends with, where it can be known from inside: the main module ran to its end, or an exception left it that is no `SystemExit`. */
  exitCode?: number;
}

export type ControlAnswer =
  { re: number; ok: true; body: unknown } | { re: number; ok: false; error: { message: string; user: boolean } };
