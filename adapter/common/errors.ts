/** An error whose message is a sentence for the person: what happened, what to do. Shown as it is, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  constructor(
    message: string,
    /** Optional button: a command of the extension. */
    readonly action?: { title: string; command: string },
  ) {
    super(message);
  }
}

/** What was asked for makes no sense, whatever else is tried: a command that gets it ends with another code than one that failed. */
export class MistakeError extends UserError {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// ---------------------------------------------------------------- finding Python

const choosePython = { title: 'Choose an Interpreter', command: 'toolbreak.chooseInterpreter' };

export function pythonNotFound(path: string): UserError {
  return new UserError(
    `Python not found at ${path}. Choose an interpreter (button) or set "python" in launch.json.`,
    choosePython,
  );
}

export function noPython(): UserError {
  return new UserError(
    'No Python found: no .venv in the workspace, no python3 on the PATH. Choose an interpreter (button) or set "python" in launch.json.',
    choosePython,
  );
}

export function pythonDoesNotRun(path: string, reason: string): UserError {
  return new UserError(
    `Python at ${path} does not run: ${reason}. Choose another interpreter (button) or set "python" in launch.json.`,
    choosePython,
  );
}

export function pythonTooOld(version: string): UserError {
  return new UserError(`Python ${version} is too old; Toolbreak needs 3.10 or later.`, choosePython);
}

export function pythonFreeThreaded(version: string): UserError {
  return new UserError(
    `Python ${version} is a free-threaded build, which Toolbreak cannot debug yet. Choose a standard build (button).`,
    choosePython,
  );
}

// ---------------------------------------------------------------- launch

export function programOrModule(both: boolean): UserError {
  return new UserError(
    both
      ? 'Both "program" and "module" are set. Keep one of them in launch.json.'
      : 'Nothing to run: set "program" (a Python file) or "module" in launch.json.',
  );
}

export function programNotFound(path: string): UserError {
  return new UserError(`The program ${path} does not exist. Check "program" in launch.json.`);
}

export function folderNotFound(path: string): UserError {
  return new UserError(`The folder ${path} does not exist. Check "cwd" in launch.json.`);
}

export function envFileUnreadable(path: string, reason: string): UserError {
  return new UserError(`The file ${path} cannot be read (${reason}). Check "envFile" in launch.json.`);
}

export function envFileBadLine(path: string, line: number, text: string): UserError {
  return new UserError(`Line ${line} of ${path} is not NAME=value: ${text}. Mend or remove it.`);
}

export function wrongType(attribute: string, expected: string): UserError {
  return new UserError(`"${attribute}" in launch.json must be ${expected}.`);
}

export function cannotStart(command: string, reason: string): UserError {
  return new UserError(`${command} could not be started: ${reason}.`);
}

/** A command that did not begin to run; whoever was to run it ends with a shell's code for that. */
export class CommandError extends UserError {
  constructor(
    message: string,
    /** Not there: 127; there, but not to be run: 126. */
    readonly exitCode: 126 | 127,
  ) {
    super(message);
  }
}

export function noTerminal(): UserError {
  return new UserError(
    'This editor cannot run programs in its terminal. Set "console" to "internalConsole" in launch.json.',
  );
}

// ---------------------------------------------------------------- the app and its runtime

export function versionMismatch(runtime: string, adapter: string): UserError {
  return new UserError(
    `The app's environment holds toolbreak ${runtime}, which does not fit Toolbreak ${adapter}. Update or remove the package toolbreak there; until then the app runs without a debugger.`,
  );
}

export function processGone(name: string): UserError {
  return new UserError(`${name} has ended.`);
}

export function cancelled(): UserError {
  return new UserError('Cancelled.');
}

// ---------------------------------------------------------------- attach

export function badAddress(text: string): UserError {
  return new UserError(
    `"${text}" is no address. Set "connect" to what toolbreak.listen() printed: host:port, a port, or a socket path.`,
  );
}

export function notLoopback(host: string): UserError {
  return new UserError(`${host} is another machine. Toolbreak attaches to this machine only; use "127.0.0.1".`);
}

export function nothingListens(address: string): UserError {
  return new UserError(
    `Nothing listens on ${address}. Start the app with toolbreak.listen() in it, and check "connect" in launch.json.`,
  );
}

export function attachRefused(address: string, reason: string): UserError {
  return new UserError(
    `The app at ${address} refused: ${reason}. Check "token" in launch.json; toolbreak.listen() prints it.`,
  );
}

export function nothingToAttach(): UserError {
  return new UserError(
    'Nothing to attach to: set "connect" (printed by toolbreak.listen()), "session", or for native code "processId" or "coreFile" in launch.json.',
  );
}

export function sessionNotFound(name: string, known: readonly string[]): UserError {
  const list = known.length > 0 ? `Running sessions: ${known.join(', ')}.` : 'No session is running.';
  return new UserError(`No running session is named ${name}. ${list}`);
}

// ---------------------------------------------------------------- this machine

export function unsafeFolder(path: string): UserError {
  return new UserError(
    `The folder ${path} belongs to another user. Remove it, or set XDG_RUNTIME_DIR to a folder of your own.`,
  );
}

export function stateUnusable(path: string, reason: string): UserError {
  return new UserError(
    `Toolbreak keeps what it records in ${path}, which cannot be used (${reason}). Make it writable, or set ${process.platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_STATE_HOME'} to a folder that is.`,
  );
}

export function tokenNeeded(): UserError {
  return new UserError('This session needs a token: pass "token" in the arguments of initialize, launch or attach.');
}
