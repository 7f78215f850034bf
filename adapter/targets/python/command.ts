import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Configuration } from '../../../protocol/control';
import { cannotStart, CommandError, messageOf } from '../../common/errors';
import { pythonBootFolder } from '../../common/installation';
import { startedByNohup, type Ended } from '../../common/signals';
import type { TargetProcess } from '../../engine/target';
import { endOf, PythonTarget, type TargetOptions } from './base';
import { findPython } from './discovery';
import { applyVariables, mergeVariables, pythonPath } from './environment';

/** How long processes that outlive the command may take to leave, before they go on without us. */
const LEAVE_WITHIN = 2_000;
/** How long one that ended without a word is waited for: it may have forked another just before, as daemons do, which connects by then. */
const FORKED_WITHIN = 500;

export interface CommandOptions extends TargetOptions {
  command: readonly string[];
  cwd: string;
  /** False: only the first Python is recorded. */
  subProcess: boolean;
}

/** A signal that is ignored stays so in what takes the place of the shell. */
const IGNORE_HANGUP = 'trap "" HUP; exec "$@"';

/** A command of the person's, with their own terminal or pipes: whatever Python it starts is recorded, and what Node wraps. */
export class CommandTarget extends PythonTarget {
  private child: ChildProcess | undefined;
  private childEnded: Promise<Ended> | undefined;
  private exitCode: number | undefined;
  /** When the command ended, in nanoseconds of the wall clock. */
  private endedAt = 0n;
  /** When the last process ended that did not say so before, in milliseconds of the clock. */
  private lostAt = 0;
  /** Of processes that outlived the command, and were let go. */
  left: string | undefined;

  constructor(protected override readonly options: CommandOptions) {
    super(options);
    this.emitter.on('processEnded', (_process, lost) => {
      if (lost) this.lostAt = Date.now();
    });
  }

  /** Resolves when the command has started. */
  async start(configuration: Configuration): Promise<void> {
    this.configuration = configuration;
    try {
      const { file } = await this.open();
      const env = applyVariables(
        process.env,
        mergeVariables({
          PYTHONPATH: pythonPath(pythonBootFolder(), process.env['PYTHONPATH']),
          TOOLBREAK_CONNECT: file,
          TOOLBREAK_RECORD: null,
          TOOLBREAK_CHILD: null,
        }),
      );
      const line = await this.commandLine(env);
      const [first = '', ...rest] = startedByNohup() ? ['/bin/sh', '-c', IGNORE_HANGUP, 'sh', ...line] : line;
      const { cwd } = this.options;
      const path = env['PATH'] ?? '';
      const problem = (error: unknown): CommandError => commandProblem(first, cwd, path, error);
      const child = startCommand(() => spawn(first, rest, { cwd, env, stdio: 'inherit' }), problem);
      this.child = child;
      this.childEnded = endOf(child);
      child.once('exit', (code, signal) => {
        this.endedAt = BigInt(Date.now()) * 1_000_000n;
        this.exitCode = code ?? 128 + (constants.signals[signal!] ?? 0);
        this.log.info(`the command ended: ${code ?? signal}`);
        this.leave()
          .catch((error: unknown) => this.log.error('the end of the command', error))
          .finally(() => this.finish(this.exitCode));
      });
      await new Promise<void>((started, failed) => {
        child.once('spawn', started);
        child.once('error', (error) => failed(problem(error)));
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The command itself, where it is recorded without a connection: which process of the run it is, and how it ended. */
  async alone(): Promise<{ index: number; ended: Ended; wall: bigint } | undefined> {
    const index = this.unconnected(new RegExp(`^${this.child?.pid}-[0-9a-f]+$`));
    return index === undefined ? undefined : { index, ended: await this.childEnded!, wall: this.endedAt };
  }

  /** Hands a signal on to the command. */
  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  terminate(): Promise<void> {
    this.signal('SIGTERM');
    return Promise.resolve();
  }

  kill(): Promise<void> {
    this.signal('SIGKILL');
    return Promise.resolve();
  }

  protected override finish(code: number | undefined): void {
    // Whoever is let go has no code, and the command has one.
    super.finish(code ?? this.exitCode);
  }

  protected override takesChildren(): boolean {
    return this.options.subProcess;
  }

  protected override howEnded({ hello }: TargetProcess): Promise<Ended | undefined> {
    return hello.pid === this.child?.pid ? this.childEnded! : super.howEnded();
  }

  /** `app.py` and `-m package` mean this folder's Python; all else is a command as a shell knows it. */
  private async commandLine(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
    const { command, cwd } = this.options;
    const [first = ''] = command;
    const script = /\.pyw?$/.test(first) && existsSync(resolve(cwd, first));
    if (!script && first !== '-m') return command;
    return [(await findPython(undefined, cwd, env)).command, ...command];
  }

  /** The command is over. What it left running is let go, as a shell does it. */
  private async leave(): Promise<void> {
    const mayCome = (): boolean => this.processes.length > 0 || Date.now() < this.lostAt + FORKED_WITHIN;
    for (const until = Date.now() + LEAVE_WITHIN; mayCome() && Date.now() < until;)
      await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.processes.length > 0) {
      const names = this.processes.map(({ hello }) => `${hello.name} (${hello.pid})`);
      this.left = `Still running, and not recorded any more: ${names.join(', ')}.`;
      this.notice('important', this.left);
      await this.detach();
    }
  }
}

/** Some of what cannot be started is refused at once. */
function startCommand(start: () => ChildProcess, problem: (error: unknown) => CommandError): ChildProcess {
  try {
    return start();
  } catch (error) {
    throw problem(error);
  }
}

/** What `exec` said, told as a shell does; it also says that it may not where there is only a folder of that name, or one that may not be looked into. */
function commandProblem(command: string, cwd: string, path: string, error: unknown): CommandError {
  if (command === '') return new CommandError('The command is empty. Name one behind "--".', 127);
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES')
    return new CommandError(cannotStart(command, messageOf(error)).message, 126);
  const named = /[\\/]/.test(command);
  const found = named ? [resolve(cwd, command)] : path.split(delimiter).map((folder) => join(folder, command));
  if (found.some(isFile)) {
    if (code === 'ENOENT' && found.some(hasInterpreter))
      return new CommandError(`The interpreter that the first line of ${command} names was not found.`, 127);
    const what =
      code === 'ENOENT'
        ? 'The system does not know how to run it.'
        : 'Make it executable (chmod +x), or name its interpreter first.';
    return new CommandError(`${command} may not be executed. ${what}`, 126);
  }
  if (named && isFolder(found[0]!)) return new CommandError(`${command} is a folder, not a command.`, 126);
  const hint = command === 'python' ? ' Is it called python3 here?' : '';
  return new CommandError(`The command ${command} was not found.${hint}`, 127);
}

const isFile = (path: string): boolean => statOf(path)?.isFile() === true;
const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true;

/** Nothing also where it may not be looked at. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function hasInterpreter(path: string): boolean {
  try {
    const file = openSync(path, 'r');
    const begin = Buffer.alloc(2);
    readSync(file, begin);
    closeSync(file);
    return begin.toString() === '#!';
  } catch {
    return false;
  }
}
