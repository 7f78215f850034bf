import { existsSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BreakpointState, Configuration, ControlRequests, Hello } from '../../../protocol/control';
import { PROTOCOL_VERSION } from '../../../protocol/control';
import type { AttachAttributes, LaunchAttributes } from '../../../protocol/launch';
import { Emitter } from '../../common/emitter';
import { cancelled, processGone, UserError } from '../../common/errors';
import { toolbreakVersion } from '../../common/installation';
import type { Log } from '../../common/log';
import { makeRuntimeFolder } from '../../common/paths';
import { isAlive, signal as sendSignal } from '../../common/processes';
import type { Target, TargetEvents, TargetProcess } from '../../engine/target';
import { DelegateError, type DelegateClient } from '../delegate/client';
import { applyVariables } from '../python/environment';
import { ProcessTree } from '../python/tree';
import type { DelegateStarter } from './ahead';
import { isCore } from './binary';
import { prepareGdb } from './gdb';
import { leaveRunning } from './halt';
import { ProgramStreams } from './io';
import { noDebugInformation, readNativeLaunch, readProcessId, type NativeLaunch } from './options';
import { Output } from './output';
import { startPlain, type PlainProgram } from './plain';
import { NativeProcess } from './process';
import { attachRefused } from './refused';
import {
  environmentFor,
  QUICK_START,
  quirksOf,
  readableError,
  signalSentence,
  unsetCommands,
  type Quirks,
} from './quirks';

export type NativeRequest = (
  { mode: 'launch'; attributes: LaunchAttributes; noDebug: boolean } | { mode: 'attach'; attributes: AttachAttributes }
) & { log: Log; starter: DelegateStarter };

/** Variable of the environment by which what the program starts is found. */
const MARK = 'TOOLBREAK_NATIVE';
const END_WITHIN = 10_000;
/** Not while a program starts, which is to be quick: until then lldb-dap notices our death by itself. */
const GUARD_AFTER = 500;
const LEAVE_WITHIN = 5_000;
const OUTPUT_WITHIN = 1_000;
/** What a shell says of a program that a signal ended. */
const BY_SIGNAL = 128;

/** A native program, launched or attached to, behind one delegate. Single use. */
export class NativeTarget implements Target {
  readonly #emitter: Emitter<TargetEvents>;
  readonly #log: Log;
  #client: DelegateClient | undefined;
  #quirks: Quirks | undefined;
  #native: NativeProcess | undefined;
  #process: TargetProcess | undefined;
  #configuration: Configuration | undefined;
  #streams: ProgramStreams | undefined;
  #tree = new ProcessTree(undefined);
  #folder: string | undefined;
  #pid: number | undefined;
  #name = 'program';
  #ending = false;
  #over = false;
  /** It was left already, whatever came of that. */
  #left = false;
  #terminated = 0;
  #killTimer: NodeJS.Timeout | undefined;
  #guardTimer: NodeJS.Timeout | undefined;
  #guarded = false;
  #carriage = '';
  readonly #printed = new Output((category, text) => this.#emitter.emit('output', category, text));
  #plain: PlainProgram | undefined;
  readonly #indexes = new Map<string, number>();

  constructor(private readonly request_: NativeRequest) {
    this.#log = request_.log;
    this.#emitter = new Emitter((error) => this.#log.error('listener of the target failed', error));
  }

  /** What we started is ours to end. */
  get launched(): boolean {
    return this.request_.mode === 'launch';
  }

  on<K extends keyof TargetEvents>(event: K, listener: (...args: TargetEvents[K]) => void): void {
    this.#emitter.on(event, listener);
  }

  get processes(): readonly TargetProcess[] {
    return this.#process && !this.#over ? [this.#process] : [];
  }

  indexFor(process: string): number {
    const known = this.#indexes.get(process);
    if (known !== undefined) return known;
    const index = this.#indexes.size + 1;
    this.#indexes.set(process, index);
    return index;
  }

  // ------------------------------------------------------------ start

  async start(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    try {
      if (this.request_.mode === 'launch') await this.#launch(this.request_.attributes, configuration);
      else await this.#attach(this.request_.attributes, configuration);
      if (this.#ending) throw cancelled();
    } catch (error) {
      this.request_.starter.drop();
      await this.#giveUp();
      throw error instanceof DelegateError && error.why === 'refused'
        ? new UserError(
            this.launched ? startError(error.message) : attachRefused(error.message, this.#pid ?? 0, this.#name),
          )
        : error;
    }
  }

  async #launch(attributes: LaunchAttributes, configuration: Configuration): Promise<void> {
    const launch = readNativeLaunch(attributes);
    this.#name = basename(launch.program);
    const folder = makeRuntimeFolder();
    this.#folder = folder;
    // Whatever the program starts inherits it, and so is found at the end.
    this.#tree = new ProcessTree(folder);
    if (launch.noDebug || (this.request_.mode === 'launch' && this.request_.noDebug)) return this.#run(launch, folder);
    const streams = (this.#streams = new ProgramStreams(folder, this.#log, (stream, text) =>
      this.#output(stream, text),
    ));
    // Both are waited for, so that what fails leaves nothing half open.
    const connected = this.#connect(launch.lldbDap, noDebugInformation(launch.program));
    const [delegate, opened] = await Promise.allSettled([connected, streams.open(launch.stdin)]);
    for (const one of [delegate, opened]) if (one.status === 'rejected') throw one.reason;
    const native = await connected;
    const isGdb = this.#quirks?.family === 'gdb';
    const ready = join(folder, 'ready');
    if (isGdb) {
      await streams.takeOutput();
      await prepareGdb(this.#client!, launch.program, { ...streams.files, ready });
    }
    await native.begin('launch', this.#launchArguments(launch, folder, configuration), configuration);
    if (isGdb) streams.openedWith(ready);
    else streams.opened();
    this.#guardTimer = setTimeout(() => {
      this.#guarded = true;
      this.#client?.guard(this.#pid, true);
    }, GUARD_AFTER).unref();
  }

  /** Without debugging. */
  async #run(launch: NativeLaunch, folder: string): Promise<void> {
    const env = applyVariables(process.env, { ...launch.variables, [MARK]: folder });
    const plain = await startPlain(launch, env, (category, text) => this.#output(category, text));
    this.#plain = plain;
    this.#pid = plain.pid;
    await this.#tree.addLeader(plain.pid);
    void plain.ended.then((code) => this.#finish(code));
  }

  #launchArguments(launch: NativeLaunch, folder: string, configuration: Configuration): Record<string, unknown> {
    const quirks = this.#quirks!;
    const variables = { ...launch.variables, [MARK]: folder };
    return {
      program: launch.program,
      args: launch.args,
      cwd: launch.cwd,
      ...environmentFor(quirks, variables),
      // gdb would stop before the C library is loaded; the breakpoint on main is enough.
      stopOnEntry: configuration.stopOnEntry && quirks.family === 'lldb',
      ...(quirks.family === 'lldb'
        ? {
            initCommands: [...QUICK_START, ...unsetCommands(variables)],
            preRunCommands: this.#streams?.commands ?? [],
            ...(launch.sourceMap.length > 0 ? { sourceMap: launch.sourceMap } : {}),
          }
        : {}),
    };
  }

  async #attach(attributes: AttachAttributes, configuration: Configuration): Promise<void> {
    const { lldbDap, coreFile, program } = attributes;
    const sourceMap = Object.entries(attributes.sourceMap ?? {});
    const more = {
      ...(program ? { program } : {}),
      ...(sourceMap.length > 0 ? { sourceMap } : {}),
      initCommands: QUICK_START,
    };
    if (coreFile !== undefined) {
      if (!existsSync(coreFile))
        throw new UserError(`The core file ${coreFile} does not exist. Check "coreFile" in launch.json.`);
      if (isCore(coreFile) === undefined && statSync(coreFile).isFile())
        throw new UserError(
          `The core file ${coreFile} cannot be read. Make it readable, or start the editor as its owner.`,
        );
      if (!isCore(coreFile)) throw new UserError(`${coreFile} is no core file. Check "coreFile" in launch.json.`);
      this.#name = basename(program ?? coreFile);
      const native = await this.#connect(lldbDap, program ? noDebugInformation(program) : undefined, true);
      if (this.#quirks?.family === 'gdb')
        throw new UserError(
          'gdb opens no core file for another program. Name an lldb-dap with "lldbDap" in launch.json.',
        );
      await native.begin('attach', { coreFile, ...more }, configuration);
      return;
    }
    const pid = readProcessId(attributes.processId);
    if (!isAlive(pid)) throw new UserError(`There is no process ${pid}. Check "processId" in launch.json.`);
    this.#name = `process ${pid}`;
    const native = await this.#connect(lldbDap, undefined);
    this.#pid = pid;
    this.#client?.guard(pid);
    await native.begin('attach', { pid, ...more }, configuration);
  }

  async #connect(
    chosen: string | undefined,
    noDebugInformation: string | undefined,
    ofCore = false,
  ): Promise<NativeProcess> {
    const { client, found } = await this.request_.starter.take(chosen, !this.launched);
    if (this.#ending) {
      client.killWhenEmpty();
      throw cancelled();
    }
    this.#client = client;
    client.on('gone', ({ expected, code, signal }) => this.#delegateGone(expected, code ?? signal));
    this.#quirks = quirksOf(found, client.capabilities);
    this.#log.info(`${this.#quirks.name}: ${found.command}`);
    const native = new NativeProcess({
      client,
      quirks: this.#quirks,
      log: this.#log,
      name: this.#name,
      ...(noDebugInformation ? { noDebugInformation } : {}),
      framesFollow: true,
      isCore: ofCore,
      emit: (event) => {
        this.#printed.flush();
        if (this.#process) this.#emitter.emit('control', this.#process, event);
      },
      output: (category, text) => this.#fromDelegate(category, text),
      notice: (category, text) => this.#notice(category, text),
      started: (pid) => this.#started(pid),
      exited: (end) => void this.#exited(end),
    });
    this.#native = native;
    return native;
  }

  #started(pid: number | undefined): void {
    this.#pid = pid ?? this.#pid;
    // On a slow machine the guardian is there before the program.
    if (this.#guarded) this.#client?.guard(this.#pid, true);
    const number = this.#pid ?? 0;
    const { attributes } = this.request_;
    const program = 'program' in attributes && attributes.program ? attributes.program : this.#name;
    const name = `${number}-${process.hrtime.bigint().toString(16)}`;
    const hello: Hello = {
      event: 'hello',
      version: PROTOCOL_VERSION,
      token: '',
      runtime: toolbreakVersion(),
      language: 'native',
      languageVersion: this.#quirks?.name ?? '',
      pid: number,
      parentPid: process.pid,
      process: name,
      name: this.#name,
      argv: [program, ...('args' in attributes ? (attributes.args ?? []) : [])],
      cwd: ('cwd' in attributes && attributes.cwd) || process.cwd(),
      executable: program,
      frameworks: [],
    };
    this.#process = { index: this.indexFor(name), hello };
    if (number > 0) void this.#tree.add(number).catch((error: unknown) => this.#log.error('process tree', error));
    this.#emitter.emit('processStarted', this.#process);
  }

  // ------------------------------------------------------------ while it runs

  async configure(configuration: Configuration): Promise<BreakpointState[]> {
    this.#configuration = configuration;
    return (await this.#native?.configure(configuration)) ?? [];
  }

  request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const native = this.#native;
    if (!native || this.#over || process.index !== this.#process?.index) {
      return Promise.reject(processGone(process.hello.name));
    }
    if (name === 'evaluate' && !native.isHeld) {
      const typed = this.#type(args as ControlRequests['evaluate']['arguments']);
      if (typed) return Promise.resolve(typed as ControlRequests[K]['body']);
    }
    return native.request(name, args, signal);
  }

  /** While the program runs, what is typed in the Debug Console is its input. */
  #type({
    context,
    expression,
    hold,
  }: ControlRequests['evaluate']['arguments']): ControlRequests['evaluate']['body'] | undefined {
    if (context !== 'repl' || hold !== undefined || expression.startsWith('`')) return undefined;
    if (!this.#streams?.write(expression)) return undefined;
    return { name: expression, value: '', ref: 0, editable: false };
  }

  /** A native program has no boundaries at which a flag could be read; `pause` stops it. */
  setStopFlag(_stop: boolean): void {}

  // ------------------------------------------------------------ the end

  async terminate(): Promise<void> {
    this.#ending = true;
    if (this.#over) return;
    if (this.#terminated++ > 0 || this.#pid === undefined || process.platform === 'win32') return this.kill();
    if (this.#pid > 0) sendSignal(this.#pid, 'SIGTERM');
    this.#killTimer = setTimeout(() => {
      this.#log.warn('the program did not end in time and is killed');
      this.kill().catch((error: unknown) => this.#log.error('kill', error));
    }, END_WITHIN);
    this.#killTimer.unref();
    await this.#native?.expectEnd();
  }

  /** Without the delegate's help, which may hang: first the program, then the delegate, which holds nothing any more. */
  async kill(): Promise<void> {
    this.#ending = true;
    if (this.#over) return;
    if (this.#pid !== undefined && this.#pid > 0) await this.#tree.kill();
    await this.#finish(undefined);
  }

  /** For the last moment of the adapter. */
  killNow(): void {
    if (this.#over) return;
    this.#tree.killNow();
    this.#client?.close();
  }

  async detach(): Promise<void> {
    this.#ending = true;
    if (this.#over) return;
    clearTimeout(this.#guardTimer);
    await this.#letGo();
    await this.#finish(undefined);
  }

  /** What was attached to goes on. */
  async #letGo(): Promise<void> {
    const client = this.#client;
    const pid = this.#pid ?? 0;
    const isHeld = this.#native?.isHeld !== false;
    if (client === undefined) return;
    if (this.launched || pid === 0) await client.leave({ terminateDebuggee: false }, LEAVE_WITHIN);
    else await leaveRunning(client, pid, { isHeld, log: this.#log, within: LEAVE_WITHIN });
    this.#left = true;
  }

  async #exited({ code, signal }: { code: number | undefined; signal?: string }): Promise<void> {
    if (this.#over) return;
    if (signal !== undefined && !this.#ending)
      this.#notice('console', `${this.#name} was ended by ${signalSentence({ name: signal })}.`);
    else if (code === 9 && !this.#ending) {
      this.#notice(
        'console',
        `${this.#name} ended with code 9. That is also how it looks when it was killed, such as for want of memory.`,
      );
    }
    this.#streams?.opened();
    // What was written before the end arrives before the end. A child of the program may keep the pipe open.
    await Promise.race([this.#streams?.ended ?? Promise.resolve(), sleep(OUTPUT_WITHIN)]);
    await this.#finish(
      signal === undefined || code === undefined ? code : BY_SIGNAL + code,
      signal !== undefined && !this.#ending,
    );
  }

  #delegateGone(expected: boolean, how: number | string | null): void {
    if (this.#over || expected) return;
    const name = this.#client?.name ?? 'lldb-dap';
    const started = this.#process !== undefined;
    this.#log.error(`${name} ended: ${how ?? 'unknown'}`);
    if (!started) return;
    this.#notice(
      'important',
      `${name} ended unexpectedly (${how ?? 'no reason given'}), so ${this.#name} cannot be debugged any more. ${this.launched ? 'Start it again.' : 'It runs on if it survived; attach again.'}`,
    );
    if (this.launched) void this.kill().catch((error: unknown) => this.#log.error('kill', error));
    else void this.#finish(undefined);
  }

  async #finish(code: number | undefined, crashed = false): Promise<void> {
    if (this.#over) return;
    this.#printed.flush();
    this.#over = true;
    clearTimeout(this.#killTimer);
    clearTimeout(this.#guardTimer);
    const process = this.#process;
    if (process) this.#emitter.emit('processEnded', process, crashed);
    await this.#close();
    this.#log.info(`target ended, exit code ${code ?? 'unknown'}`);
    this.#emitter.emit('exited', code);
  }

  /** A start that failed: nothing of it is left, nobody is told but by the error. */
  async #giveUp(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    if (this.launched && this.#pid !== undefined && this.#pid > 0) await this.#tree.kill();
    await this.#close();
  }

  async #close(): Promise<void> {
    const client = this.#client;
    if (client && !client.isGone && !this.#left) {
      const holdsSomething = this.#pid !== undefined && this.#pid > 0 && isAlive(this.#pid);
      // One that holds nothing may be ended; some hang or crash when they are asked to.
      if (holdsSomething) await client.leave({ terminateDebuggee: false }, LEAVE_WITHIN);
      else client.killWhenEmpty();
    }
    this.#streams?.close();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  // ------------------------------------------------------------ words

  /** The delegate's terminal ends lines as terminals do. */
  #fromDelegate(category: 'stdout' | 'stderr', text: string): void {
    const isItsOwn = category === 'stderr' || this.#quirks?.family === 'gdb';
    if (isItsOwn && this.#streams && process.platform !== 'win32') {
      // The program's own comes by its pipe; this is the delegate's.
      this.#log.debug(() => `${this.#client?.name ?? ''}: ${text.trimEnd()}`);
      return;
    }
    const whole = this.#carriage + text;
    this.#carriage = whole.endsWith('\r') ? '\r' : '';
    this.#output(category, (this.#carriage ? whole.slice(0, -1) : whole).replaceAll('\r\n', '\n'));
  }

  #output(category: 'stdout' | 'stderr', text: string): void {
    if (text !== '' && !this.#over) this.#printed.push(category, text);
  }

  #notice(category: TargetEvents['notice'][0], text: string): void {
    this.#log.info(`notice: ${text}`);
    this.#printed.flush();
    this.#emitter.emit('notice', category, text);
  }
}

/** Why a program could not be started, with what to do where that is known. */
function startError(text: string): string {
  const sentence = readableError(text);
  if (/exec format/i.test(text))
    return `${sentence} It is damaged, or was compiled for another machine: compile it again.`;
  if (/not permitted|permission|ptrace/i.test(text)) {
    return `${sentence} The program must be allowed to run, and to be debugged; a container needs "--cap-add=SYS_PTRACE".`;
  }
  return sentence;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
