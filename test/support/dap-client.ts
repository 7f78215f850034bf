import { spawn, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Requests } from '../../adapter/dap/requests';
import type { ToolbreakEvents } from '../../protocol/dap';

/** Body of each event, by name. */
export interface Events extends ToolbreakEvents {
  initialized: undefined;
  stopped: DebugProtocol.StoppedEvent['body'];
  continued: DebugProtocol.ContinuedEvent['body'];
  exited: DebugProtocol.ExitedEvent['body'];
  terminated: DebugProtocol.TerminatedEvent['body'];
  thread: DebugProtocol.ThreadEvent['body'];
  output: DebugProtocol.OutputEvent['body'];
  breakpoint: DebugProtocol.BreakpointEvent['body'];
  invalidated: DebugProtocol.InvalidatedEvent['body'];
  process: DebugProtocol.ProcessEvent['body'];
  progressStart: DebugProtocol.ProgressStartEvent['body'];
  progressEnd: DebugProtocol.ProgressEndEvent['body'];
}

/** A request that was answered with `success: false`. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  constructor(readonly response: DebugProtocol.Response) {
    super(response.message ?? 'refused');
  }
  /** Whether the person is to see the sentence. */
  get showUser(): boolean {
    return (this.response.body as DebugProtocol.ErrorResponse['body'] | undefined)?.error?.showUser ?? false;
  }
}

interface Waiter {
  matches(event: DebugProtocol.Event): boolean;
  resolve(event: DebugProtocol.Event): void;
}

export type Direction = '-->' | '<--';

/** Longest wait for an answer or an event; a test that needs it has failed. */
const PATIENCE_MS = 30_000;

/**
 * A DAP client for tests: over any pair of streams, a child process, or a socket. Events wait in order until a test asks for them, so
 * nothing is missed between two waits.
 */
export class DapClient {
  /** Everything that went over the line. */
  readonly messages: { direction: Direction; message: DebugProtocol.ProtocolMessage }[] = [];
  /** Text of all output events, by category. */
  readonly output: Record<string, string> = {};
  /** Resolves when the stream from the adapter ended. */
  readonly closed: Promise<void>;
  child: ChildProcess | undefined;
  /** What it calls itself, if anything. */
  clientName: string | undefined;
  #seq = 1;
  #buffer = Buffer.alloc(0) as Buffer;
  #waiting = new Map<number, { resolve(response: DebugProtocol.Response): void }>();
  #events: DebugProtocol.Event[] = [];
  #waiters: Waiter[] = [];
  #reverse = new Map<string, (args: unknown) => unknown>();

  constructor(
    input: Readable,
    private readonly line: Writable,
  ) {
    input.on('data', (chunk: Buffer) => this.#push(chunk));
    line.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      input.on('end', resolve);
      input.on('close', resolve);
      input.on('error', () => resolve());
    });
  }

  /** Starts an adapter; it gets a process group of its own, which `end` ends. */
  static start(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): DapClient {
    const child = spawn(command, args, {
      ...options,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: process.platform !== 'win32',
    });
    const client = new DapClient(child.stdout, child.stdin);
    client.child = child;
    return client;
  }

  /** Connects to a port of this machine, or to a socket path. */
  static async connect(address: number | string): Promise<DapClient> {
    const socket = typeof address === 'string' ? connect(address) : connect(address, '127.0.0.1');
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new DapClient(socket, socket);
  }

  // ------------------------------------------------------------ talking

  /** Body of the answer; rejects with `RefusedError`. */
  async request<K extends keyof Requests>(command: K, args: Requests[K]['arguments']): Promise<Requests[K]['body']> {
    return (await this.send(command, args).answer).body as Requests[K]['body'];
  }

  /** A request whose number is needed, to cancel it, or that no type knows. */
  send(command: string, args?: unknown): { seq: number; answer: Promise<DebugProtocol.Response> } {
    const seq = this.#seq++;
    const answer = this.#patiently<DebugProtocol.Response>(`an answer to "${command}"`, (resolve) => {
      this.#waiting.set(seq, { resolve });
    }).then((response) => {
      if (!response.success) {
        throw new RefusedError(response);
      }
      return response;
    });
    this.#write({ seq, type: 'request', command, ...(args === undefined ? {} : { arguments: args }) });
    return { seq, answer };
  }

  /** How a request of the adapter is answered, such as `runInTerminal`. */
  answer(command: string, handler: (args: unknown) => unknown): void {
    this.#reverse.set(command, handler);
  }

  /** The next event of this name that fits and was not waited for yet, past or to come. */
  async waitFor<K extends keyof Events>(event: K, fits: (body: Events[K]) => boolean = () => true): Promise<Events[K]> {
    const matches = (one: DebugProtocol.Event): boolean => one.event === event && fits(one.body as Events[K]);
    const past = this.#events.findIndex(matches);
    if (past >= 0) {
      return this.#events.splice(past, 1)[0]!.body as Events[K];
    }
    const found = await this.#patiently<DebugProtocol.Event>(`the event "${event}"`, (resolve) =>
      this.#waiters.push({ matches, resolve }),
    );
    return found.body as Events[K];
  }

  /** Events of this name that nobody waited for. */
  pending<K extends keyof Events>(event: K): Events[K][] {
    return this.#events.filter((one) => one.event === event).map((one) => one.body as Events[K]);
  }

  /** Waits until the app's output of this category contains the text. */
  async waitForOutput(category: string, text: string): Promise<void> {
    while (!(this.output[category] ?? '').includes(text)) {
      await this.waitFor('output', (body) => (body.category ?? 'console') === category);
    }
  }

  // ------------------------------------------------------------ usual sequences

  initialize(args: Partial<DebugProtocol.InitializeRequestArguments> = {}): Promise<DebugProtocol.Capabilities> {
    return this.request('initialize', {
      adapterID: 'toolbreak',
      clientID: 'test',
      ...(this.clientName === undefined ? {} : { clientName: this.clientName }),
      linesStartAt1: true,
      columnsStartAt1: true,
      pathFormat: 'path',
      supportsInvalidatedEvent: true,
      supportsProgressReporting: true,
      supportsRunInTerminalRequest: false,
      ...args,
    });
  }

  /** `initialize`, `launch`, whatever is configured, `configurationDone`; resolves when the launch was answered. */
  async launch(
    attributes: Record<string, unknown>,
    configure: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    await this.#begin('launch', attributes, configure);
  }

  async attach(
    attributes: Record<string, unknown>,
    configure: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    await this.#begin('attach', attributes, configure);
  }

  async #begin(
    command: 'launch' | 'attach',
    attributes: Record<string, unknown>,
    configure: () => Promise<unknown>,
  ): Promise<void> {
    await this.initialize();
    const begun = this.send(command, attributes).answer;
    // A refusal comes instead of `initialized`.
    await Promise.race([this.waitFor('initialized'), begun]);
    await configure();
    await this.request('configurationDone', {});
    await begun;
  }

  /** The frames of a held task. */
  async frames(threadId: number): Promise<DebugProtocol.StackFrame[]> {
    return (await this.request('stackTrace', { threadId })).stackFrames;
  }

  /** Variables of one scope of a frame, by name. */
  async scope(frameId: number, name: string): Promise<Map<string, DebugProtocol.Variable>> {
    const { scopes } = await this.request('scopes', { frameId });
    const scope = scopes.find((one) => one.name === name);
    if (!scope) {
      throw new Error(`No scope ${name}, only ${scopes.map((one) => one.name).join(', ')}`);
    }
    const { variables } = await this.request('variables', { variablesReference: scope.variablesReference });
    return new Map(variables.map((variable) => [variable.name, variable]));
  }

  /** Ends the conversation, and the child process with all it started. */
  async end(): Promise<void> {
    this.line.end();
    const { child } = this;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      const ask = setTimeout(() => killGroup(child), 5000);
      await gone;
      clearTimeout(ask);
    }
    if (child) {
      killGroup(child);
    }
  }

  // ------------------------------------------------------------ the line

  #write(message: Record<string, unknown>): void {
    this.messages.push({ direction: '-->', message: message as unknown as DebugProtocol.ProtocolMessage });
    const body = Buffer.from(JSON.stringify(message));
    this.line.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  #push(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/.exec(this.#buffer.toString('latin1', 0, Math.max(end, 0)))?.[1]);
      if (end < 0 || this.#buffer.length < end + 4 + length) {
        return;
      }
      const body = this.#buffer.toString('utf8', end + 4, end + 4 + length);
      this.#buffer = this.#buffer.subarray(end + 4 + length);
      this.#receive(JSON.parse(body) as DebugProtocol.ProtocolMessage);
    }
  }

  #receive(message: DebugProtocol.ProtocolMessage): void {
    this.messages.push({ direction: '<--', message });
    if (message.type === 'response') {
      const response = message as DebugProtocol.Response;
      this.#waiting.get(response.request_seq)?.resolve(response);
      this.#waiting.delete(response.request_seq);
    } else if (message.type === 'event') {
      this.#event(message as DebugProtocol.Event);
    } else {
      void this.#answerReverse(message as DebugProtocol.Request);
    }
  }

  #event(event: DebugProtocol.Event): void {
    if (event.event === 'output') {
      const { category = 'console', output } = event.body as DebugProtocol.OutputEvent['body'];
      this.output[category] = (this.output[category] ?? '') + output;
    }
    const waiter = this.#waiters.findIndex((one) => one.matches(event));
    if (waiter >= 0) {
      this.#waiters.splice(waiter, 1)[0]?.resolve(event);
    } else {
      this.#events.push(event);
    }
  }

  async #answerReverse(request: DebugProtocol.Request): Promise<void> {
    const answer = { seq: this.#seq++, type: 'response', request_seq: request.seq, command: request.command };
    try {
      const handler = this.#reverse.get(request.command);
      if (!handler) {
        throw new Error(`The test answers no ${request.command}`);
      }
      this.#write({ ...answer, success: true, body: await handler(request.arguments) });
    } catch (error) {
      this.#write({ ...answer, success: false, message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** A wait that ends with a sentence, and with what came instead. */
  async #patiently<T>(what: string, start: (resolve: (value: T) => void) => void): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const impatient = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`Waited in vain for ${what}. Last messages:\n${this.#tail()}`)),
        PATIENCE_MS,
      );
    });
    const gone = this.closed.then(() => {
      throw new Error(`The adapter left before ${what}. Last messages:\n${this.#tail()}`);
    });
    gone.catch(() => undefined);
    try {
      return await Promise.race([new Promise<T>(start), impatient, gone]);
    } finally {
      clearTimeout(timer);
    }
  }

  #tail(): string {
    return this.messages
      .slice(-15)
      .map(({ direction, message }) => `${direction} ${JSON.stringify(message).slice(0, 400)}`)
      .join('\n');
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') {
      process.kill(-child.pid, 'SIGKILL');
    } else {
      child.kill('SIGKILL');
    }
  } catch {
    // Nobody is left in the group.
  }
}
