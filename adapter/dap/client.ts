import { pathToFileURL, fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { UserError } from '../common/errors';
import type { Task } from '../engine/tasks';
import { NATIVE_CAPABILITIES } from './capabilities';
import { Handles } from './handles';
import { Order } from './order';

/** A frame of a held task. */
export interface FrameHandle {
  task: Task;
  hold: number;
  frame: number;
}
/** A value with children. */
export interface ValueHandle {
  task: Task;
  hold: number;
  ref: number;
}

/** One connected client: its arguments, its numbers, and how it counts lines and writes paths. */
export class Client {
  initialize: Partial<DebugProtocol.InitializeRequestArguments> = {};
  readonly frames = new Handles<FrameHandle>();
  readonly values = new Handles<ValueHandle>();
  readonly order = new Order();
  /** Set with the client's first request `initialize`. */
  initialized = false;
  /** What it calls itself there, unlike the session's others. */
  name = '';
  /** It launched or attached; it hears of everything. */
  joined = false;
  /** Resolves with its `configurationDone`, rejects when it leaves before. */
  readonly configured: Promise<void>;
  configurationDone!: () => void;
  #giveUp!: (error: Error) => void;
  #knowsNative = false;

  constructor(
    private readonly number: string,
    readonly send: (event: string, body?: unknown) => void,
    readonly request: (command: string, args: unknown) => Promise<unknown>,
  ) {
    this.configured = new Promise((resolve, reject) => {
      this.configurationDone = resolve;
      this.#giveUp = reject;
    });
    // Whoever waits hears of it; nobody has to.
    this.configured.catch(() => undefined);
  }

  /** Unique in the session; names the client in the record, with what it calls itself: `client-2 (Neovim)`. */
  get id(): string {
    return this.name === '' ? this.number : `${this.number} (${this.name})`;
  }

  /** VS Code, and whoever says to be it, shows a stop's description beside its thread; others may show it nowhere. */
  get saysWhyHeld(): boolean {
    return this.#isVSCode;
  }

  /** It still asks for what it was about to show when a person stepped, and would show a refusal in red until the next stop is there. */
  get asksTooLate(): boolean {
    return this.#isVSCode;
  }

  get #isVSCode(): boolean {
    return this.initialize.clientID === 'vscode';
  }

  /** Native code is debugged here: what that makes possible is told once. */
  offerNative(): void {
    if (!this.#knowsNative) {
      this.#knowsNative = true;
      this.send('capabilities', { capabilities: NATIVE_CAPABILITIES });
    }
  }

  leave(): void {
    this.#giveUp(new UserError('The session ended before the app started.'));
  }

  // ------------------------------------------------------------ lines, columns, paths

  lineFrom(line: number): number {
    return this.initialize.linesStartAt1 === false ? line + 1 : line;
  }
  /** Lines of ours start at 1; 0 says that there is none, for the client too. */
  lineTo(line: number): number {
    return this.initialize.linesStartAt1 === false ? Math.max(line - 1, 0) : line;
  }
  columnFrom(column: number): number {
    return this.initialize.columnsStartAt1 === false ? column + 1 : column;
  }
  columnTo(column: number): number {
    return this.initialize.columnsStartAt1 === false ? column - 1 : column;
  }
  pathFrom(path: string): string {
    if (this.initialize.pathFormat !== 'uri' && !path.startsWith('file:')) {
      return path;
    }
    try {
      return fileURLToPath(path);
    } catch {
      return path;
    }
  }
  pathTo(path: string): string {
    return this.initialize.pathFormat === 'uri' ? pathToFileURL(path).href : path;
  }

  // ------------------------------------------------------------ numbers

  frame(id: number): FrameHandle {
    const handle = this.frames.get(id);
    if (!handle || handle.task.hold?.id !== handle.hold) {
      throw new UserError('This frame is gone: its task went on.');
    }
    return handle;
  }

  value(id: number): ValueHandle {
    const handle = this.values.get(id);
    if (!handle || handle.task.hold?.id !== handle.hold) {
      throw new UserError('This value is gone: its task went on.');
    }
    return handle;
  }

  frameHandle(task: Task, frame: number): number {
    const hold = task.hold?.id ?? 0;
    return this.frames.put(task.thread, `${hold}/${frame}`, { task, hold, frame });
  }

  /** 0 stays 0: no children. */
  valueHandle(task: Task, ref: number): number {
    const hold = task.hold?.id ?? 0;
    return ref === 0 ? 0 : this.values.put(task.thread, `${hold}/${ref}`, { task, hold, ref });
  }

  dropThread(thread: number): void {
    this.frames.drop(thread);
    this.values.drop(thread);
  }
}
