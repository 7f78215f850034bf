import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Configuration, ControlEvent, ControlRequests, Hello, Welcome } from '../../../protocol/control';
import { PROTOCOL_VERSION } from '../../../protocol/control';
import { cancelled, processGone, UserError } from '../../common/errors';
import type { Log } from '../../common/log';
import { LineSplitter, parseObject } from '../../common/ndjson';

/** Largest line before a process has shown its token, and after. */
export const HELLO_LIMIT = 256 * 1024;
export const LINE_LIMIT = 64 * 1024 * 1024;

const PING_EVERY = 2_000;
const SILENT_AFTER = 10_000;
/** How long a cancelled request waits for the runtime to agree. */
const CANCEL_GRACE = 2_000;

export interface ConnectionEvents {
  event(event: Exclude<ControlEvent, Hello>): void;
  closed(saidBye: boolean): void;
  /** No answer for a while, or answering again. */
  silent(silent: boolean): void;
}

interface Pending {
  name: string;
  resolve(body: never): void;
  reject(error: Error): void;
}

/** One process's control connection after its hello: requests with answers, events, and a heartbeat. */
export class Connection {
  private readonly pending = new Map<number, Pending>();
  private next = 1;
  private bye = false;
  private ended = false;
  private lastAnswer = performance.now();
  private lastBeat = performance.now();
  private isSilent = false;
  private readonly heartbeat: NodeJS.Timeout;

  constructor(
    private readonly socket: Socket,
    private readonly name: string,
    private readonly log: Log,
    private readonly events: ConnectionEvents,
  ) {
    this.heartbeat = setInterval(() => this.beat(), PING_EVERY);
    this.heartbeat.unref();
    socket.on('close', () => this.close());
  }

  get open(): boolean {
    return !this.ended;
  }

  welcome(configuration: Configuration): void {
    const welcome: Welcome = { welcome: true, version: PROTOCOL_VERSION, configuration };
    this.write(welcome);
  }

  request<K extends keyof ControlRequests>(
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    if (this.ended) return Promise.reject(processGone(this.name));
    if (signal?.aborted) return Promise.reject(cancelled());
    const seq = this.next++;
    return new Promise((resolve, reject) => {
      let grace: NodeJS.Timeout | undefined;
      const abort = (): void => {
        void this.request('cancel', { target: seq }).catch((error: unknown) => this.log.warn('cancel failed', error));
        grace = setTimeout(() => {
          const waiting = this.pending.get(seq);
          this.pending.delete(seq);
          waiting?.reject(cancelled());
        }, CANCEL_GRACE);
        grace.unref();
      };
      const settle = (): void => {
        clearTimeout(grace);
        signal?.removeEventListener('abort', abort);
      };
      this.pending.set(seq, {
        name,
        resolve: (body) => {
          settle();
          resolve(body);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      signal?.addEventListener('abort', abort, { once: true });
      this.write({ ...args, seq, request: name });
    });
  }

  /** One line of the process. What is not understood is dropped, with a line in the log. */
  receive(line: string): void {
    this.lastAnswer = performance.now();
    if (this.isSilent) {
      this.isSilent = false;
      this.events.silent(false);
    }
    const message = parseObject(line);
    if (message === undefined) return this.drop('not JSON', undefined, line);
    if (typeof message['re'] === 'number') return this.answered(message['re'], message, line);
    const event = message['event'];
    if (event === 'bye') {
      this.bye = true;
      const code = message['exitCode'];
      this.events.event({ event: 'bye', ...(Number.isSafeInteger(code) && { exitCode: code as number }) });
    } else if (typeof event === 'string' && isWellFormed[event]?.(message) === true) {
      this.events.event(message as unknown as Exclude<ControlEvent, Hello>);
    } else this.drop('unknown or malformed', event, line);
  }

  /** A line was thrown away because of its length. If it was an answer, its request ends with a sentence. */
  oversize(head: string): void {
    this.log.warn(`${this.name}: a message of more than ${LINE_LIMIT} bytes was dropped`);
    const re = /"re":\s*(\d+)/.exec(head)?.[1];
    if (re === undefined) return;
    const waiting = this.pending.get(Number(re));
    this.pending.delete(Number(re));
    waiting?.reject(new UserError('The answer is too large to show.'));
  }

  destroy(): void {
    this.socket.destroy();
    this.close();
  }

  private answered(re: number, message: Record<string, unknown>, line: string): void {
    const waiting = this.pending.get(re);
    if (waiting === undefined) return this.drop('answer nobody waits for', undefined, line);
    this.pending.delete(re);
    if (message['ok'] === true) return waiting.resolve((message['body'] ?? {}) as never);
    const error = (message['error'] ?? {}) as { message?: unknown; user?: unknown };
    const text = typeof error.message === 'string' ? error.message : 'The app gave no reason.';
    waiting.reject(error.user === true ? new UserError(text) : new Error(`${waiting.name}: ${text}`));
  }

  /** Only the event's name is written: nothing says what else is in the message. */
  private drop(why: string, event: unknown, line: string): void {
    const what = typeof event === 'string' && /^\w{1,40}$/.test(event) ? ` "${event}"` : '';
    this.log.warn(`${this.name}: message${what} of ${line.length} characters dropped (${why})`);
  }

  private beat(): void {
    if (this.ended) return;
    const now = performance.now();
    // If we ourselves stood still, such as stopped or asleep, its silence is ours.
    if (now - this.lastBeat > 2 * PING_EVERY) this.lastAnswer = now;
    this.lastBeat = now;
    this.request('ping', {}).catch((error: unknown) => this.log.debug(`${this.name}: ping: ${String(error)}`));
    if (!this.isSilent && now - this.lastAnswer > SILENT_AFTER) {
      this.isSilent = true;
      this.events.silent(true);
    }
  }

  private write(message: object): void {
    if (!this.ended && this.socket.writable) this.socket.write(`${JSON.stringify(message)}\n`);
  }

  private close(): void {
    if (this.ended) return;
    this.ended = true;
    clearInterval(this.heartbeat);
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const one of waiting) one.reject(processGone(this.name));
    this.events.closed(this.bye);
  }
}

const number = (value: unknown): boolean => typeof value === 'number';
const string = (value: unknown): boolean => typeof value === 'string';

/** The fields that the engine relies on without looking. */
const isWellFormed: Record<string, (message: Record<string, unknown>) => boolean> = {
  held: ({ hold }) => {
    const given = hold as Record<string, unknown> | null | undefined;
    return (
      typeof given === 'object' &&
      given !== null &&
      number(given['id']) &&
      number(given['task']) &&
      Array.isArray(given['frames']) &&
      Array.isArray(given['breakpoints'])
    );
  },
  resumed: ({ hold, task }) => number(hold) && number(task),
  breakpoints: ({ breakpoints }) => Array.isArray(breakpoints),
  log: ({ category, text }) => string(category) && string(text),
  output: ({ stream, text }) => (stream === 'stdout' || stream === 'stderr') && string(text),
  native: ({ kind, id, path, ...rest }) =>
    (kind === 'load' && number(id) && string(path)) ||
    (kind === 'ready' &&
      Array.isArray(rest['version']) &&
      ['runtime', 'context', 'threads'].every((name) => Number.isSafeInteger(rest[name])) &&
      string(rest['library']) &&
      string(rest['own'])),
  task: ({ task, name, change }) => number(task) && string(name) && string(change),
};

const GONE = new Set(['EPIPE', 'ECONNRESET', 'ECONNABORTED']);
/** How often a socket whose other side does not listen is looked at, in milliseconds, and how many times: until it has nothing more to say. */
const LOOK_EVERY = 500;
const LOOKS = 20;

/**
 * A process may end right after its last words. Node throws away what came from it but was not read yet when something written to it then
 * fails; here the writing fails without a word, and the end is what the reading comes to. Over TCP the system itself may throw it away.
 */
export function readToTheEnd(socket: Socket): void {
  type Done = (error?: Error | null) => void;
  let isDeaf = false;
  const deaf =
    (done: Done): Done =>
    (error) => {
      const isGone = GONE.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
      if (isGone && !isDeaf) {
        isDeaf = true;
        endWhenSilent(socket, LOOKS);
      }
      done(isGone ? null : error);
    };
  const one = socket._write.bind(socket);
  const several = socket._writev!.bind(socket);
  socket._write = (chunk, encoding, done) => one(chunk, encoding, deaf(done));
  socket._writev = (chunks, done) => several(chunks, deaf(done));
}

/** The other side may also have closed its ears alone: it is let go once nothing comes any more, or too much. */
function endWhenSilent(socket: Socket, looks: number): void {
  const { bytesRead } = socket;
  // What has arrived is read between a timer and this: we may have been busy meanwhile.
  const look = (): unknown =>
    socket.bytesRead === bytesRead || looks === 0 ? socket.destroy() : endWhenSilent(socket, looks - 1);
  setTimeout(() => setImmediate(look), LOOK_EVERY).unref();
}

/** Reads lines from a socket whose first one must be a hello; the rest goes to where `accept` says. */
export function readLines(
  socket: Socket,
  first: (line: string) => Connection | undefined,
  refused: (why: string) => void,
): void {
  let connection: Connection | undefined;
  const splitter = new LineSplitter(
    (line) => {
      if (socket.destroyed) return;
      if (connection !== undefined) return connection.receive(line);
      connection = first(line);
      if (connection !== undefined) splitter.setLimit(LINE_LIMIT);
    },
    HELLO_LIMIT,
    (head) => {
      if (connection !== undefined) connection.oversize(head);
      else {
        refused('first message too long');
        socket.destroy();
      }
    },
  );
  socket.on('data', (chunk: Buffer) => splitter.push(chunk));
}
