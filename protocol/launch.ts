/** Attributes of launch.json, type `toolbreak`. package.json and the reference page are generated from these comments. */

export interface RecordAttribute {
  /**
   * Record the run. `false` debugs without a recording.
   * @default true
   */
  enabled?: boolean;
  /**
   * Functions to record beside tools, nodes and model calls: names such as `pkg.*`, `@usercode` (every function of the workspace), `@file:src/*.py`.
   * @default []
   */
  functions?: string[];
  /**
   * Largest encoded value in bytes; a larger one is cut, with a mark.
   * @minimum 256
   * @default 1048576
   */
  maxValueBytes?: number;
  /**
   * Deepest nesting of a value; what is deeper is cut, with a mark.
   * @minimum 1
   * @default 100
   */
  maxDepth?: number;
  /**
   * Names of keys whose values are masked in the recording, beside the usual ones (API keys, tokens, passwords, authorization headers). `*` stands for any text.
   * @default []
   */
  maskKeys?: string[];
  /**
   * Regular expressions (Python's) of text that is masked in the recording, beside the usual ones. Nothing is started with one that means something
   * else outside of Python, or that nothing at all may fit.
   * @default []
   */
  maskPatterns?: string[];
}

/** Where the program's input comes from. */
export type StdinAttribute = 'console' | 'none' | { file: string } | { text: string };

interface Common {
  /**
   * What one stop holds: only the task that reached it, or every task at its next call.
   * @default "task"
   */
  hold?: 'task' | 'all';
  /**
   * Hide framework internals in the call stack.
   * @default true
   */
  justMyCode?: boolean;
  /** What is recorded, and what is masked. `false` records nothing. */
  record?: boolean | RecordAttribute;
  /**
   * Debug child processes, too.
   * @default true
   */
  subProcess?: boolean;
  /**
   * Write a log of the debug session: `true` for the session's log folder, or a file path.
   * @default false
   */
  trace?: boolean | string;
}

export interface LaunchAttributes extends Common {
  /**
   * Python file or native executable to run. Give either "program" or "module".
   * @default "${file}"
   */
  program?: string;
  /** Python module to run, as with `python -m`. Give either "program" or "module". */
  module?: string;
  /**
   * What the program is. Without it, its first bytes say: machine code is "native", all else is "python".
   */
  target?: 'python' | 'native';
  /**
   * Native programs: input of the program. "console": what is typed in the Debug Console while it runs (^D ends it); "none"; `{ "file": "in.txt" }`; or
   * `{ "text": "4\\n" }`.
   * @default "console"
   */
  stdin?: StdinAttribute;
  /**
   * Native programs: debug adapter for native code, a path or a command: lldb-dap, or gdb 14 or later. Without it: the setting, then what is on the PATH.
   */
  lldbDap?: string;
  /**
   * Native programs: folders the program was compiled in, and where their files are on this machine.
   * @default {}
   */
  sourceMap?: { [compiled: string]: string };
  /**
   * Arguments of the program.
   * @default []
   */
  args?: string[];
  /**
   * Working directory.
   * @default "${workspaceFolder}"
   */
  cwd?: string;
  /**
   * Environment variables; `null` removes one.
   * @default {}
   */
  env?: { [name: string]: string | null };
  /** File with environment variables, one NAME=value a line. "env" wins. */
  envFile?: string;
  /** Python interpreter. Without it: the choice of the Python extension, then `.venv` in the workspace, then `python3` of the PATH. */
  python?: string;
  /** Another name for "python". */
  runtimeExecutable?: string;
  /**
   * Where the program runs: the Debug Console (for Python without input), or the integrated terminal (Python only).
   * @default "internalConsole"
   */
  console?: 'internalConsole' | 'integratedTerminal';
  /**
   * Stop at the first call of the run.
   * @default false
   */
  stopOnEntry?: boolean;
  /**
   * Run without debugging.
   * @default false
   */
  noDebug?: boolean;
}

export interface AttachAttributes extends Common {
  /** Address a process listens on, printed by `toolbreak.listen()`: `host:port`, a port, or a socket path. */
  connect?: string | number;
  /** Token that the listening process printed. */
  token?: string;
  /** A running Toolbreak session, by its name. */
  session?: string;
  /** Native code: number of the process to attach to. It lives on when the session ends. */
  processId?: string | number;
  /** Native code: a core file to look into. */
  coreFile?: string;
  /** Native code: the executable, where the process or the core file does not say. */
  program?: string;
  /** Native code: debug adapter for native code, a path or a command: lldb-dap, or gdb 14 or later. */
  lldbDap?: string;
  /**
   * Native code: folders the program was compiled in, and where their files are on this machine.
   * @default {}
   */
  sourceMap?: { [compiled: string]: string };
}
