import type { ControlRequests, Frame, Hold, Scope, Variable } from '../../../protocol/control';
import { messageOf, UserError } from '../../common/errors';
import type { TargetProcess } from '../../engine/target';
import { Attached, codeFiles, OURS, type AttachedOptions, type Event } from './attached';
import type { Delegate } from './delegates';
import { programFrames } from './join';

/** The call that started a program, as it is now: it goes on in its own process. */
export interface Caller {
  /** Number of its process. */
  process: number;
  /** 0: it has ended. */
  hold: number;
  frames: Frame[];
  ask<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']>;
}

export interface ChildOptions extends AttachedOptions {
  process: TargetProcess;
  justMyCode(): boolean;
  look(): Promise<Caller | undefined>;
}

/** A program that a call started: its threads are tasks of the session, and its stacks go on with the call. */
export class Child extends Attached {
  #caller: Caller | undefined;

  constructor(
    delegate: Delegate,
    protected override readonly options: ChildOptions,
  ) {
    super(delegate, options);
  }

  get process(): TargetProcess {
    return this.options.process;
  }

  // ------------------------------------------------------------ what it says

  protected heard(event: Event): void {
    if (event.event === 'held') {
      this.#held(event.hold, event.along).catch((error: unknown) => {
        this.#endLook();
        this.goOn(event.hold.id, error);
      });
    } else {
      if (event.event === 'resumed') this.#endLook();
      this.options.control(event);
    }
  }

  async #held(hold: Hold, along: Hold[] | undefined): Promise<void> {
    const [frames, caller] = await Promise.all([this.#native(hold.id, hold), this.#look()]);
    this.#caller = caller;
    if (!this.native.isHeld) return this.#endLook();
    this.options.control({
      event: 'held',
      hold: { ...hold, frames: [...frames, ...this.#behind()], moreFrames: false },
      ...(along && { along }),
    });
  }

  async #native(hold: number, first?: Hold): Promise<Frame[]> {
    const { pid, justMyCode } = this.options;
    return programFrames(await this.frames(hold, first), { justMyCode: justMyCode(), fileOf: codeFiles(pid) });
  }

  async #look(): Promise<Caller | undefined> {
    try {
      return await this.options.look();
    } catch (error) {
      this.options.log.warn(`the call that started ${this.options.name}: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** The frames of the call, with numbers beside the delegate's. */
  #behind(): Frame[] {
    const { frames = [], process } = this.#caller ?? {};
    return frames.map((frame) => ({ ...frame, id: frame.id + OURS, process, canRestart: false }));
  }

  #endLook(): void {
    const caller = this.#caller;
    this.#caller = undefined;
    if (caller === undefined || caller.hold === 0) return;
    caller.ask('nativeEndLook', { hold: caller.hold }).catch((error: unknown) => {
      this.options.log.info(`end of a look: ${messageOf(error)}`);
    });
  }

  protected ended(): void {
    this.#endLook();
  }

  // ------------------------------------------------------------ what it is asked

  async request<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const { hold, frame, ref, start } = args as { hold?: number; frame?: number; ref?: number; start?: number };
    if (name === 'frames' && hold !== undefined) {
      const frames = [...(await this.#native(hold)), ...this.#behind()].slice(start ?? 0);
      return { frames } as ControlRequests[K]['body'];
    }
    if ((frame ?? 0) >= OURS || (ref ?? 0) >= OURS) return this.#ofCaller(name, args, signal);
    if (name === 'release') this.#endLook();
    return this.native.request(name, args, signal);
  }

  async #ofCaller<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const caller = this.#caller;
    if (caller === undefined || caller.hold === 0) throw new UserError('The call that started this program has ended.');
    const { frame, ref } = args as { frame?: number; ref?: number };
    const body = await caller.ask(
      name,
      {
        ...args,
        hold: caller.hold,
        ...(frame !== undefined && { frame: frame - OURS }),
        ...(ref !== undefined && { ref: ref - OURS }),
      },
      signal,
    );
    return renumbered(name, body) as ControlRequests[K]['body'];
  }
}

/** References of the caller's process, as ours. */
function renumbered(name: keyof ControlRequests, body: unknown): unknown {
  const shift = <T extends { ref: number }>(one: T): T => ({ ...one, ref: one.ref === 0 ? 0 : one.ref + OURS });
  if (name === 'scopes') return { scopes: (body as { scopes: Scope[] }).scopes.map(shift) };
  if (name === 'variables') return { variables: (body as { variables: Variable[] }).variables.map(shift) };
  if (name === 'evaluate' || name === 'setVariable' || name === 'setExpression') return shift(body as Variable);
  return body;
}
