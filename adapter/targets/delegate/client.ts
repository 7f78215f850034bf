import type { ChildProcess } from 'node:child_process';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { Emitter } from '../../common/emitter';
import { cancelled, cannotStart, messageOf, UserError } from '../../common/errors';
import { frame, FrameReader } from '../../common/framing';
import type { Log } from '../../common/log';
import { Guard } from './guard';
import { CAPABILITY_OF, LIST_OF, type DelegateCommand, type DelegateEvents, type DelegateRequests } from './requests';
import { spawnDelegate } from './spawn';

export interface DelegateOptions {
  command: string;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** It will attach to a process, and not launch one. */
  attaches?: boolean;
  /** It was started already; nothing was said to it. */
  child?: ChildProcess | undefined;
  /** What a person calls it: `lldb-dap 19`. */
  name: string;
  log: Log;
  /** Milliseconds an answer may take; 10 s if absent. */
  patience?: number;
  /** Answers a request of the delegate, such as `startDebugging`; without it all are refused. */
  reverse?: (command: string, args: unknown) => Promise<unknown>;
  /** Sees every message in both directions. */
  tap?: (direction: 'in' | 'out', message: unknown) => void;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds; Infinity waits for ever. */
  within?: number;
}

/** Why a delegate did not answer as it should; the message is for the person. */
export class DelegateError extends UserError {
  constructor(
    message: string,
    /** refused: it said no. silent: no answer in time. gone: it ended. missing: it cannot do this. nonsense: its answer has no sense. */
    readonly why: 'refused' | 'silent' | 'gone' | 'missing' | 'nonsense',
  ) {
    super(message);
  }
}

interface Waiting {
  command: DelegateCommand;
  resolve(body: unknown): void;
  reject(error: Error): void;
}

const PATIENCE = 10_000;
/** For its first answer: it may have to be read from a slow disk first, which takes ten seconds for some. */
const START_PATIENCE = 20_000;
/** Bytes of its stderr that are kept to explain its end. */
const LAST_WORDS = 2_000;
/** What it wrote before its end is still read, but not for ever: a child of its may keep its streams. */
const DRAIN_WITHIN = 300;

/**
 * A debug adapter of somebody else that we are the client of: `start`, then requests and events, then `leave`.
 *
 * It runs in a process group of its own, so that no Ctrl-C and no signal to our group reaches it, and is never signalled by us: some end the
 * program they hold when they die. It ends by `disconnect` or by the end of its stdin, which comes by itself when our process dies. What it
 * writes is not trusted: noise is skipped, an answer without sense fails its request alone, and silence ends in a sentence.
 *
 * A request that its capabilities do not name is never sent (`can`); asked for all the same, it fails with `why: 'missing'`.
 */
export class DelegateClient {
  readonly name: string;
  #capabilities: P.Capabilities & Record<string, unknown> = {};
  readonly #emitter: Emitter<DelegateEvents>;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #guard: Guard | undefined;
  #seq = 1;
  /** `launch` or `attach` was sent. */
  #hasBegun = false;
  #leaving = false;
  #gone = false;
  #goneHeard!: () => void;
  /** Resolves when its process has ended. */
  readonly ended = new Promise<void>((resolve) => (this.#goneHeard = resolve));
  #initializedHeard!: () => void;
  /** It takes breakpoints: some say so when they have started, some when they are to launch or attach. */
  readonly initialized = new Promise<void>((resolve) => (this.#initializedHeard = resolve));
  #lastWords = '';

  constructor(private readonly options: DelegateOptions) {
    this.name = options.name;
    this.#log = options.log;
    this.#emitter = new Emitter((error) => this.#log.error(`listener of ${this.name}`, error));
  }

  on<K extends keyof DelegateEvents>(event: K, listener: (...args: DelegateEvents[K]) => void): { dispose(): void } {
    return this.#emitter.on(event, listener);
  }

  /** What it said in answer to `initialize`, and in `capabilities` events since. */
  get capabilities(): Readonly<P.Capabilities & Record<string, unknown>> {
    return this.#capabilities;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isGone(): boolean {
    return this.#gone;
  }

  /** Whether this may be asked. */
  can(command: DelegateCommand): boolean {
    const capability = CAPABILITY_OF[command];
    return capability === undefined || this.#capabilities[capability] === true;
  }

  /** Starts the process and says `initialize`. Rejects with a sentence; then nothing is left running. */
  async start(args: Partial<P.InitializeRequestArguments> = {}): Promise<void> {
    const { command, child: early } = this.options;
    const child = early ?? spawnDelegate(command, this.options.args ?? [], this.options);
    this.#child = child;
    this.#listen(child);
    if (early === undefined)
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', (error) => reject(cannotStart(command, messageOf(error))));
      });
    try {
      this.#learn(
        await this.request(
          'initialize',
          {
            clientID: 'toolbreak',
            clientName: 'Toolbreak',
            adapterID: 'toolbreak',
            linesStartAt1: true,
            columnsStartAt1: true,
            pathFormat: 'path',
            ...args,
          },
          { within: this.options.patience ?? START_PATIENCE },
        ),
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * From now on, when our process dies, what this one holds is let go in order, or ended where it was launched. To be called ahead where time
   * matters, and at last with the process.
   */
  guard(pid?: number, ends = false): void {
    if (this.#child === undefined || this.#gone || process.platform === 'win32') return;
    // One that leaves, or has ended just now, has no streams to share any more.
    const held = pid === undefined ? undefined : { pid, ends };
    if (this.#child.stdin?.writable && this.#child.stdout?.readable)
      this.#guard ??= new Guard(this.#child, this.#log, held);
    if (pid !== undefined) this.#guard?.watch(pid, ends);
  }

  async request<C extends DelegateCommand>(
    command: C,
    args: DelegateRequests[C]['arguments'],
    { signal, within = this.options.patience ?? PATIENCE }: RequestOptions = {},
  ): Promise<DelegateRequests[C]['body']> {
    if (this.#gone || this.#child === undefined) throw this.#goneError();
    if (!this.can(command)) throw new DelegateError(`${this.name} cannot do "${command}".`, 'missing');
    if (signal?.aborted) throw cancelled();
    if (command === 'launch' || command === 'attach') this.#hasBegun = true;
    const seq = this.#seq++;
    let timer: NodeJS.Timeout | undefined;
    let abort: (() => void) | undefined;
    try {
      return await new Promise<DelegateRequests[C]['body']>((resolve, reject) => {
        this.#waiting.set(seq, { command, resolve: (body) => resolve(body as DelegateRequests[C]['body']), reject });
        if (Number.isFinite(within)) {
          timer = setTimeout(() => reject(this.#silence(command, within)), within);
        }
        abort = () => {
          this.#cancel(seq);
          reject(cancelled());
        };
        signal?.addEventListener('abort', abort, { once: true });
        this.#send({ seq, type: 'request', command, arguments: args });
      });
    } finally {
      clearTimeout(timer);
      if (abort) signal?.removeEventListener('abort', abort);
      this.#waiting.delete(seq);
    }
  }

  /**
   * Says `disconnect`, then closes its stdin. Resolves when it has ended, or after `within` when it hangs: then it ends by itself as soon as it
   * reads again.
   */
  async leave(args: P.DisconnectArguments = {}, within = 5_000): Promise<void> {
    if (this.#gone || this.#child === undefined) return;
    this.#leaving = true;
    if (args.terminateDebuggee === false) this.#guard?.spare();
    const until = Date.now() + within;
    // One that has begun nothing has nothing to disconnect from, and may wait for that for ever.
    if (this.#hasBegun) {
      await this.request('disconnect', args, { within: within / 2 }).catch((error: unknown) =>
        this.#log.info(`disconnect of ${this.name}: ${messageOf(error)}`),
      );
    }
    this.close();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      this.ended,
      new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.max(until - Date.now(), 0)))),
    ]);
    clearTimeout(timer);
    if (!this.#gone) {
      this.#log.warn(`${this.name} (${this.pid ?? '?'}) does not end; its input is closed`);
      // It keeps neither our process nor our ears.
      this.#child.unref();
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.destroy();
    }
  }

  /** Closes its stdin, nothing else: what it debugs is let go by its own rules. For the last moment of our process, too. */
  close(): void {
    this.#leaving = true;
    this.#child?.stdin?.end();
  }

  /** Ends a delegate that holds nothing any more: only for when what it debugged is known to have ended, or never started. */
  killWhenEmpty(): void {
    this.#leaving = true;
    if (!this.#gone) this.#child?.kill('SIGKILL');
  }

  // ------------------------------------------------------------ the process

  #listen(child: ChildProcess): void {
    const reader = new FrameReader();
    child.stdout?.on('data', (chunk: Buffer) => {
      for (const framed of reader.push(chunk)) {
        if ('problem' in framed) this.#log.info(`${this.name}: ${framed.problem}`);
        else this.#receive(framed.message);
      }
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      const text = chunk.toString('utf8');
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
      this.#log.debug(() => `${this.name} stderr: ${text.trimEnd()}`);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream?.on('error', (error) => this.#log.debug(() => `${this.name}: ${messageOf(error)}`));
    }
    let exit: [number | null, NodeJS.Signals | null] = [null, null];
    child.once('exit', (code, signal) => {
      exit = [code, signal];
      setTimeout(() => this.#ended(...exit), DRAIN_WITHIN).unref();
    });
    child.once('close', () => this.#ended(...exit));
    child.once('error', () => this.#ended(null, null));
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#gone) return;
    this.#gone = true;
    const expected = this.#leaving;
    this.#guard?.over();
    this.#log.info(`${this.name} ended${expected ? '' : ' unexpectedly'}: ${code ?? signal ?? 'not started'}`);
    const error = this.#goneError();
    for (const waiting of [...this.#waiting.values()]) waiting.reject(error);
    this.#waiting.clear();
    this.#goneHeard();
    this.#emitter.emit('gone', { expected, code, signal, lastWords: this.#lastWords.trim() });
  }

  #goneError(): DelegateError {
    return new DelegateError(`${this.name} has ended.`, 'gone');
  }

  // ------------------------------------------------------------ messages

  #send(message: Record<string, unknown>): void {
    const input = this.#child?.stdin;
    if (!input?.writable) return;
    this.options.tap?.('out', message);
    // What is asked together is written together: a write takes longer than all else that we do with a message.
    if (input.writableCorked === 0) {
      input.cork();
      process.nextTick(() => input.uncork());
    }
    input.write(frame(message));
  }

  #receive(message: unknown): void {
    this.options.tap?.('in', message);
    if (!isObject(message)) {
      this.#log.info(`${this.name} sent what is no message`);
      return;
    }
    if (message['type'] === 'response' && typeof message['request_seq'] === 'number') {
      this.#answered(message['request_seq'], message);
    } else if (message['type'] === 'event' && typeof message['event'] === 'string') {
      const body = message['body'];
      if (message['event'] === 'capabilities' && isObject(body)) this.#learn(body['capabilities']);
      if (message['event'] === 'initialized') this.#initializedHeard();
      this.#emitter.emit('event', message['event'], body);
    } else if (message['type'] === 'request' && typeof message['command'] === 'string') {
      void this.#reverse(message['seq'], message['command'], message['arguments']);
    } else {
      this.#log.info(`${this.name} sent what is no message`);
    }
  }

  #answered(seq: number, response: Record<string, unknown>): void {
    const waiting = this.#waiting.get(seq);
    // Late, or of nothing we asked.
    if (!waiting) return;
    const { command } = waiting;
    if (response['success'] !== true) {
      waiting.reject(new DelegateError(refusal(response) || `${this.name} refused "${command}".`, 'refused'));
      return;
    }
    const list = LIST_OF[command];
    const body = response['body'];
    const sense =
      list === undefined ||
      (isObject(body) && Array.isArray(body[list]) && (body[list] as unknown[]).every((one) => isObject(one)));
    if (sense) waiting.resolve(isObject(body) ? body : {});
    else {
      waiting.reject(new DelegateError(`The answer of ${this.name} to "${command}" makes no sense.`, 'nonsense'));
    }
  }

  async #reverse(seq: unknown, command: string, args: unknown): Promise<void> {
    const answer = { type: 'response', request_seq: seq, command };
    try {
      if (!this.options.reverse) throw new UserError(`"${command}" is not supported.`);
      const body = await this.options.reverse(command, args);
      this.#send({ seq: this.#seq++, ...answer, success: true, body });
    } catch (error) {
      this.#send({ seq: this.#seq++, ...answer, success: false, message: messageOf(error) });
    }
  }

  #cancel(seq: number): void {
    if (this.can('cancel')) {
      this.request('cancel', { requestId: seq }).catch((error: unknown) =>
        this.#log.debug(() => `cancel: ${messageOf(error)}`),
      );
    }
  }

  #silence(command: string, within: number): DelegateError {
    return new DelegateError(
      `${this.name} has not answered "${command}" for ${Math.round(within / 1000)} s.`,
      'silent',
    );
  }

  #learn(capabilities: unknown): void {
    if (isObject(capabilities)) this.#capabilities = { ...this.#capabilities, ...capabilities };
  }
}

/** What it says for people, wherever its version puts it. */
function refusal(response: Record<string, unknown>): string {
  const body = response['body'];
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const variables = isObject(error['variables']) ? error['variables'] : {};
  const format = typeof error['format'] === 'string' ? error['format'] : '';
  const text = format.replace(/\{(\w+)\}/g, (all, name: string) =>
    typeof variables[name] === 'string' ? variables[name] : all,
  );
  const message = typeof response['message'] === 'string' ? response['message'] : '';
  const inside = isObject(body) && typeof body['message'] === 'string' ? body['message'] : '';
  return (text || message || inside).trim();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
