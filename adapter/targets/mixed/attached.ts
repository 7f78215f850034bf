import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type {
  BreakpointState,
  Configuration,
  ControlEvent,
  ControlRequests,
  Frame,
  Hello,
} from '../../../protocol/control';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import type { TargetEvents } from '../../engine/target';
import { leaveRunning } from '../native/halt';
import { NativeProcess } from '../native/process';
import { within } from '../python/base';
import { attachArguments, type Delegate } from './delegates';

export type Event = Exclude<ControlEvent, Hello>;

/** Numbers of ours, beside those that the app and the delegates give. */
export const OURS = 2 ** 30;
let numbers = OURS;
export const nextNumber = (): number => ++numbers;

/** A file that CPython was built from. */
const INTERPRETER_SOURCE = /\/(?:Python|Objects|Modules|Include)\/[\w./-]+\.[ch]\b/;

/** Somebody waits for it: a thread that is to load a library, or a program before its beginning. */
const ATTACH_WITHIN = 20_000;

/** Deeper native stacks are cut: what stands behind them is to be seen soon. */
const MOST_NATIVE = 500;

export interface AttachedOptions {
  log: Log;
  pid: number;
  name: string;
  control(event: Event): void;
  notice(category: TargetEvents['notice'][0], text: string): void;
  /** The debugger of native code is gone: it left, or ended. */
  gone(crashed: boolean): void;
}

/** One process that a debugger of native code is attached to. */
export abstract class Attached {
  protected readonly native: NativeProcess;
  #over = false;
  #hasBegun = false;
  #leaving: Promise<void> | undefined;

  constructor(
    protected readonly delegate: Delegate,
    protected readonly options: AttachedOptions,
  ) {
    this.native = new NativeProcess({
      ...delegate,
      log: options.log,
      name: options.name,
      emit: (event) => {
        if (this.#leaving === undefined) this.heard(event);
      },
      awaits: (thread) => this.awaits(thread),
      noteFaults: true,
      output: () => undefined,
      notice: (category, text) => {
        // Nobody asked for the sources of Python itself.
        if (!INTERPRETER_SOURCE.test(text)) options.notice(category, text);
      },
      started: () => undefined,
      exited: () => this.#gone(false),
    });
    delegate.client.on('gone', ({ expected }) => {
      if (!expected && !this.#over) {
        options.notice(
          'important',
          `${delegate.quirks.name} ended while it was attached to ${options.name}; breakpoints in native code do not stop there any more.`,
        );
      }
      this.#gone(!expected);
    });
  }

  /** Attaches; the process runs on when this resolves. Rejects with a sentence. */
  async start(configuration: Configuration): Promise<void> {
    this.delegate.client.guard(this.options.pid);
    try {
      await within(
        ATTACH_WITHIN,
        this.native.begin('attach', attachArguments(this.options.pid, this.first()), configuration),
      );
      this.#hasBegun = true;
    } catch (error) {
      this.#over = true;
      void this.delegate.client.leave({ terminateDebuggee: false });
      throw error;
    }
  }

  /** Not before it has attached: what is set then is set nowhere. */
  configure(configuration: Configuration): Promise<BreakpointState[]> {
    return this.#hasBegun ? this.native.configure(configuration) : Promise.resolve([]);
  }

  /** What became of the breakpoints. */
  states(): BreakpointState[] {
    return this.native.breakpoints.states();
  }

  /** Says goodbye; the process goes on. */
  leave(): Promise<void> {
    this.#leaving ??= (async () => {
      const { log, pid } = this.options;
      // Also where it has said that the process ended: it ends itself only when it is told to.
      if (this.#over) await this.delegate.client.leave({ terminateDebuggee: false });
      else await leaveRunning(this.delegate.client, pid, { isHeld: this.native.isHeld, log });
      this.#gone(false);
    })();
    return this.#leaving;
  }

  /** Whether any breakpoint of this thread is told, also one that does not want to stop. */
  protected awaits(_thread: number | undefined): boolean {
    return false;
  }

  /** Commands for when it has attached, before the process goes on. */
  protected first(): string[] {
    return [];
  }

  abstract request<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']>;

  protected abstract heard(event: Event): void;
  /** Nothing of it is held any more. */
  protected abstract ended(): void;

  /** All frames of a native hold, as far as anybody wants to see them. */
  protected async frames(hold: number, first?: { frames: Frame[]; moreFrames?: boolean }): Promise<Frame[]> {
    const frames = [...(first?.frames ?? [])];
    let more = first === undefined || first.moreFrames === true;
    while (more && frames.length < MOST_NATIVE) {
      const count = MOST_NATIVE - frames.length;
      const answer = await this.native.request('frames', { hold, start: frames.length, count });
      frames.push(...answer.frames);
      more = answer.more === true && answer.frames.length > 0;
    }
    return frames;
  }

  /** A stop that cannot be shown: nobody could end it. */
  protected goOn(hold: number, error: unknown): void {
    const { log, name, notice } = this.options;
    if (this.#over || !this.native.isHeld) return log.info(`a stop of ${name} that is over: ${messageOf(error)}`);
    notice(
      'important',
      `${name} stopped in native code, but the stop cannot be shown: ${messageOf(error)} It goes on.`,
    );
    this.native
      .request('release', { hold, action: 'continue', client: '' })
      .catch((failed: unknown) => log.error(`${name} does not go on`, failed));
  }

  #gone(crashed: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.ended();
    this.options.gone(crashed);
    // The process is gone, or let go: its debugger has nothing left to do.
    void this.leave();
  }
}

/** What a person calls a process: its program. */
export function programName(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return `process ${pid}`;
  }
}

/** The files that addresses of a process's code are in, as it is now. */
export function codeFiles(pid: number): (frame: Frame) => string | undefined {
  let ranges: { from: number; to: number; path: string }[] | undefined;
  return ({ instruction }) => {
    const at = Number(instruction);
    if (!Number.isSafeInteger(at) || at <= 0) return undefined;
    ranges ??= readFileSync(`/proc/${pid}/maps`, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const match = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+\s+(.+)$/.exec(line);
        return match === null ? [] : [{ from: parseInt(match[1]!, 16), to: parseInt(match[2]!, 16), path: match[3]! }];
      });
    return ranges.find(({ from, to }) => at >= from && at < to)?.path;
  };
}
