import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Configuration, Hello } from '../../../protocol/control';
import type { LaunchAttributes } from '../../../protocol/launch';
import { cancelled, cannotStart, messageOf, noTerminal } from '../../common/errors';
import { readFault } from '../../common/faults';
import { pythonBootFolder } from '../../common/installation';
import { endedBy as saidOf, isFault, type Ended } from '../../common/signals';
import type { TargetProcess } from '../../engine/target';
import { endOf, PythonTarget, type TargetOptions } from './base';
import { findPython } from './discovery';
import { applyVariables, mergeVariables, pythonPath, type Variables } from './environment';
import { launchName, readLaunch, type Launch } from './options';
import { makePipes, type OutputPipe } from './pipes';
import { ProcessTree } from './tree';

export interface TerminalRequest {
  title: string;
  cwd: string;
  args: string[];
  env: Record<string, string | null>;
}

export interface LaunchOptions extends TargetOptions {
  attributes: LaunchAttributes;
  /** The client asks for a run without debugging. */
  noDebug?: boolean;
  /** Runs a program in the client's terminal; absent when it has none. */
  runInTerminal?: (request: TerminalRequest) => Promise<{ processId?: number; shellProcessId?: number }>;
  /** Where the runtime's `sitecustomize` lies, if not in this installation. */
  bootFolder?: string;
  /** Milliseconds until an app that has not connected is said to run without a debugger. */
  connectWithin?: number;
  /** Milliseconds from the request to end until the tree is killed. */
  endWithin?: number;
}

/** What Python prints into a pipe comes in pieces of 8 KB otherwise, long after a person waits for it. */
const AT_ONCE = { PYTHONUNBUFFERED: '1' };

const LOOK_EVERY = 200;
const CONNECT_WITHIN = 10_000;
/** Milliseconds without a program in the terminal's shell after which ours has ended. */
const SHELL_QUIET = 1_000;

/** An app that we start, and end with us. */
export class LaunchTarget extends PythonTarget {
  private tree = new ProcessTree(undefined);
  private child: ChildProcess | undefined;
  /** Named pipes for the app's output, where the platform has them. */
  private pipes: OutputPipe[] | undefined;
  private outputs: { stdout: Readable; stderr: Readable } | undefined;
  private launch: Launch | undefined;
  private exitCode: number | undefined;
  private childEnded: Promise<Ended> | undefined;
  private endedBy: NodeJS.Signals | null = null;
  /** The first process ended, or, in a terminal, is gone. */
  private firstEnded = false;
  private everConnected = false;
  /** The process that connected first. */
  private first: TargetProcess | undefined;
  private outputEnded: Promise<void> = Promise.resolve();
  private terminated = 0;
  private watching = false;
  private firstContact: () => void = () => {};
  private killTimer: NodeJS.Timeout | undefined;
  /** Ends the question to the interpreter. */
  private readonly asking = new AbortController();

  constructor(protected override readonly options: LaunchOptions) {
    super(options);
  }

  async start(configuration: Configuration): Promise<void> {
    this.configuration = configuration;
    const launch = readLaunch(this.options.attributes);
    this.launch = launch;
    const env = applyVariables(process.env, launch.variables);
    const python = await findPython(launch.python, launch.cwd, env, this.asking.signal).catch((error: unknown) => {
      throw this.ending ? cancelled() : error;
    });
    this.log.info(`Python ${python.version}: ${python.command}`);
    if (this.ending) throw cancelled();
    const undebugged = launch.noDebug || this.options.noDebug === true;
    const what = launch.module === undefined ? [launch.program!] : ['-m', launch.module];
    const command = [python.command, ...what, ...launch.args];

    const contact = new Promise<void>((resolve) => (this.firstContact = resolve));
    try {
      const variables = undebugged ? this.plainVariables(launch) : await this.debugVariables(launch);
      if (this.ending) throw cancelled();
      if (launch.console === 'integratedTerminal') await this.startInTerminal(command, launch, variables);
      else await this.startWithPipes(command, launch, variables);
    } catch (error) {
      this.close();
      throw error;
    }
    if (undebugged) return;
    const patience = setTimeout(() => this.neverConnected(), this.options.connectWithin ?? CONNECT_WITHIN);
    patience.unref();
    await contact;
    clearTimeout(patience);
  }

  async terminate(): Promise<void> {
    this.ending = true;
    this.asking.abort();
    if (this.over) return;
    if (this.terminated++ > 0) return this.kill();
    await this.tree.terminate();
    this.killTimer = setTimeout(() => {
      this.log.warn('the app did not end in time and is killed');
      this.kill().catch((error: unknown) => this.log.error('kill', error));
    }, this.options.endWithin ?? 10_000);
    this.killTimer.unref();
    this.watch();
  }

  async kill(): Promise<void> {
    this.ending = true;
    this.asking.abort();
    if (this.over) return;
    await this.tree.kill();
    await Promise.race([Promise.all([this.outputEnded, this.childEnded]), sleep(1_000)]);
    this.finish(this.exitCode);
  }

  /** For the last moment of the adapter, when nothing can be waited for. */
  killNow(): void {
    if (!this.over) this.tree.killNow();
  }

  override async detach(): Promise<void> {
    this.asking.abort();
    await super.detach();
    this.child?.unref();
    for (const stream of [this.child?.stdout, this.child?.stderr]) stream?.destroy();
  }

  // ---------------------------------------------------------------- start

  private plainVariables(launch: Launch): Variables {
    return mergeVariables(launch.variables, { TOOLBREAK_CONNECT: null });
  }

  private async debugVariables(launch: Launch): Promise<Variables> {
    const { file } = await this.open(async (folder) => {
      const heartbeat = Number(process.env['TOOLBREAK_HEARTBEAT_SECONDS']);
      if (launch.console !== 'integratedTerminal') this.pipes = await makePipes(folder, this.log);
      return {
        ...(this.pipes && { output: this.pipes.map(({ path }) => path) }),
        // For tests, which are not to wait so long.
        ...(heartbeat > 0 && { heartbeatSeconds: heartbeat }),
      };
    });
    this.tree = new ProcessTree(file);
    const own = 'PYTHONPATH' in launch.variables ? launch.variables['PYTHONPATH'] : process.env['PYTHONPATH'];
    return mergeVariables(launch.variables, {
      PYTHONPATH: pythonPath(this.options.bootFolder ?? pythonBootFolder(), own),
      TOOLBREAK_CONNECT: file,
      // Windows pipes have the ANSI code page otherwise.
      ...(process.platform === 'win32' && { PYTHONIOENCODING: launch.variables['PYTHONIOENCODING'] ?? 'utf-8' }),
    });
  }

  private startWithPipes(command: string[], launch: Launch, variables: Variables): Promise<void> {
    const [out, err] = this.pipes ?? [];
    const child = spawn(command[0]!, command.slice(1), {
      cwd: launch.cwd,
      env: applyVariables({ ...AT_ONCE, ...process.env }, variables),
      stdio: ['ignore', out?.writeEnd ?? 'pipe', err?.writeEnd ?? 'pipe'],
      // A group, and session, of its own: signals reach the whole app and nobody else.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.child = child;
    this.childEnded = endOf(child);
    if (child.pid !== undefined) this.follow(this.tree.addLeader(child.pid));
    this.pipes?.forEach((pipe) => pipe.closeWriteEnd());
    this.outputs = { stdout: out?.output ?? child.stdout!, stderr: err?.output ?? child.stderr! };
    this.outputEnded = Promise.all([
      this.forward(this.outputs.stdout, 'stdout'),
      this.forward(this.outputs.stderr, 'stderr'),
    ]).then(() => undefined);
    child.once('exit', (code, signalName) => {
      this.exitCode = code ?? (signalName === null ? undefined : 128 + (signalNumbers[signalName] ?? 0));
      this.log.info(`the app's first process ended: ${code ?? signalName}`);
      this.endedBy = signalName;
      this.firstEnded = true;
      this.watch();
    });
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(cannotStart(command[0]!, messageOf(error))));
    });
  }

  private async startInTerminal(command: string[], launch: Launch, variables: Variables): Promise<void> {
    const run = this.options.runInTerminal;
    if (run === undefined) throw noTerminal();
    const answer = await run({
      title: `Toolbreak: ${launchName(launch)}`,
      cwd: launch.cwd,
      args: command,
      env: variables,
    });
    this.log.info(`started in the terminal, process ${answer.processId ?? 'not told'}`);
    // `shellProcessId` is the person's shell: never ours to end, only to look what runs in it.
    if (answer.processId !== undefined) await this.tree.add(answer.processId);
    this.follow(this.watchTerminal(answer.shellProcessId));
  }

  /**
   * Until the app has connected, its end in a terminal shows only in the list of processes. A shell runs programs of its own while it starts,
   * so only a longer quiet after it means that ours is gone; where the platform shows environments, only ours counts.
   */
  private async watchTerminal(shell: number | undefined): Promise<void> {
    let seen = false;
    let quiet = 0;
    const patience = (this.options.connectWithin ?? CONNECT_WITHIN) / LOOK_EVERY;
    for (;;) {
      if (this.over || this.everConnected) return;
      const ours = (await this.tree.members(true)).length;
      const inShell = shell === undefined ? 0 : (await this.tree.below(shell)).length;
      if (ours > 0 || (inShell > 0 && process.platform !== 'linux')) seen = true;
      quiet = ours + inShell > 0 ? 0 : quiet + 1;
      if (quiet > (seen ? SHELL_QUIET / LOOK_EVERY : patience)) {
        this.firstEnded = true;
        return this.watch();
      }
      await sleep(LOOK_EVERY);
    }
  }

  /** Resolves when there is nothing more to come. */
  private forward(stream: Readable, category: 'stdout' | 'stderr'): Promise<void> {
    const decoder = new StringDecoder('utf8');
    stream.on('data', (chunk: Buffer) => {
      const text = decoder.write(chunk);
      if (text !== '') this.emitter.emit('output', category, text);
    });
    stream.on('end', () => {
      const rest = decoder.end();
      if (rest !== '') this.emitter.emit('output', category, rest);
    });
    stream.on('error', (error) => this.log.warn(`${category} of the app`, error));
    return new Promise((resolve) => stream.once('close', () => resolve()));
  }

  // ---------------------------------------------------------------- life

  protected override takesChildren(): boolean {
    return this.launch?.subProcess !== false;
  }

  protected override admit(hello: Hello): boolean {
    if (super.admit(hello)) return true;
    this.follow(this.tree.add(hello.pid));
    return false;
  }

  /** In a terminal the app is the shell's child, so its exit code is known only as far as it says itself. */
  protected override goodbye(process: TargetProcess, exitCode: number | undefined): void {
    if (this.child === undefined && process === this.first) this.exitCode = exitCode;
  }

  protected override howEnded({ hello }: TargetProcess): Promise<Ended | undefined> {
    return hello.pid === this.child?.pid ? this.childEnded! : super.howEnded();
  }

  protected override connected(process: TargetProcess): void {
    this.first ??= process;
    this.everConnected = true;
    this.follow(this.tree.add(process.hello.pid).then(() => this.firstContact()));
  }

  protected override disconnected(): void {
    // In a terminal nobody tells us of the end but the connection.
    if (this.child === undefined && this.processes.length === 0) this.watch();
  }

  /** Something that goes on beside; that it fails is no reason to end. */
  private follow(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.log.error('process tree', error));
  }

  private neverConnected(): void {
    if (this.over || this.firstEnded) return;
    const name = launchName(this.launch!);
    this.notice(
      'important',
      `${name} runs without the debugger: Python has not loaded Toolbreak. Check that it is not started with -I, -S or -E, and that nothing replaces PYTHONPATH.`,
    );
    this.firstContact();
  }

  /** Looks until the tree is empty; then the session ends. */
  private watch(): void {
    if (this.watching || this.over) return;
    this.watching = true;
    this.follow(this.watchTree().finally(() => (this.watching = false)));
  }

  private async watchTree(): Promise<void> {
    let told = false;
    while (!this.over) {
      const members = (await this.tree.members(this.ending)).filter(
        ({ pid }) => pid !== this.child?.pid || !this.firstEnded,
      );
      if (members.length === 0 && (this.child === undefined || this.firstEnded)) break;
      if (this.firstEnded && !told && !this.ending) {
        told = true;
        // Children that end together with their parent are no news.
        await sleep(LOOK_EVERY * 2);
        continue;
      }
      if (told) this.tellLeft(members.map(({ pid, command }) => `${command} (${pid})`));
      await sleep(LOOK_EVERY);
    }
    // What was written before the end arrives before the end. A process that left may keep the pipe open.
    await Promise.race([Promise.all([this.outputEnded, this.firstGone()]), sleep(1_000)]);
    if (!this.everConnected && !this.ending && this.launch?.noDebug !== true && this.options.noDebug !== true)
      this.tellEnded();
    else if (!this.ending) this.tellFault();
    this.finish(this.exitCode);
  }

  /** Whether it said goodbye is known only when its connection has ended, too. */
  private async firstGone(): Promise<void> {
    while (!this.over && this.first !== undefined && this.processes.includes(this.first)) await sleep(10);
  }

  protected override close(): void {
    clearTimeout(this.killTimer);
    super.close();
    this.firstContact();
  }

  /** No traceback tells of a fault below Python, nor of an end from outside. */
  private tellFault(): void {
    const { endedBy } = this;
    // Of Ctrl-C there is a traceback.
    if (endedBy === null || endedBy === 'SIGINT') return;
    const wasShown = this.first !== undefined && this.faulted.has(this.first.index);
    const why =
      endedBy === 'SIGTRAP'
        ? 'was ended by SIGTRAP, mostly a breakpoint that a native debugger left in it when it was killed.'
        : !isFault(endedBy)
          ? `${saidOf(endedBy)}.`
          : `was ended by ${endedBy}, a fault in native code${this.faultPlace()}.${wasShown ? '' : ' With a breakpoint in the C or C++ file of its library, the next one stops where it happens.'}`;
    this.notice('important', `${launchName(this.launch!)} ${why} What was recorded until then is kept.`);
  }

  /** `, in lookup (/app/tools.py, line 12)`. */
  private faultPlace(): string {
    const { spoolFolder } = this.options;
    if (spoolFolder === undefined || this.first === undefined) return '';
    const place = readFault(spoolFolder, this.first.hello.process)?.place;
    return place === undefined ? '' : `, in ${place.name} (${place.path}, line ${place.line})`;
  }

  private tellEnded(): void {
    const code = this.exitCode === undefined ? '' : ` with exit code ${this.exitCode}`;
    this.notice(
      'important',
      `${launchName(this.launch!)} ended${code} before the debugger could connect. What it printed is above.`,
    );
  }

  private leftTold = false;
  private tellLeft(names: string[]): void {
    if (this.leftTold) return;
    this.leftTold = true;
    this.notice(
      'console',
      `${launchName(this.launch!)} ended${this.exitCode === undefined ? '' : ` with exit code ${this.exitCode}`}; still running: ${names.join(', ')}. Stop ends them.`,
    );
  }
}

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** A pause that does not keep our process alive by itself. */
function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
