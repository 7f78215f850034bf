import type { Readable, Writable } from 'node:stream';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { messageOf, UserError } from '../common/errors';
import { frame, FrameReader } from '../common/framing';
import type { SessionLog } from './options';

/** Bytes that may wait for a client to read them; one that reads nothing is not to fill our memory. */
const MOST_QUEUED = 64 * 1024 * 1024;

/** What these do is done at once, or not at all: an answer "cancelled" would be untrue. */
const NOT_CANCELLED = new Set([
  'configurationDone',
  'continue',
  'disconnect',
  'goto',
  'next',
  'restart',
  'restartFrame',
  'setBreakpoints',
  'setDataBreakpoints',
  'setExceptionBreakpoints',
  'setExpression',
  'setFunctionBreakpoints',
  'setInstructionBreakpoints',
  'setVariable',
  'stepIn',
  'stepOut',
  'terminate',
  'terminateThreads',
  'writeMemory',
  'toolbreak/again',
  'toolbreak/cancel',
  'toolbreak/skip',
]);

export interface ConnectionOptions {
  /** Answers a request with its body. Throws `UserError` for what the person should read. */
  handle(command: string, args: unknown, signal: AbortSignal): Promise<unknown>;
  /** The stream ended, or broke. Called once. */
  closed(): void;
  log: SessionLog;
  /** Sees every message in both directions. */
  tap?(direction: 'in' | 'out', message: DebugProtocol.ProtocolMessage): void;
}

interface Waiting {
  resolve(body: unknown): void;
  reject(error: Error): void;
}

/** DAP over a pair of streams: framing, numbering, cancelling. Every request gets exactly one answer. */
export class Connection {
  #seq = 1;
  #closed = false;
  readonly #running = new Map<number, { controller: AbortController; cancellable: boolean }>();
  readonly #waiting = new Map<number, Waiting>();

  constructor(
    input: Readable,
    private readonly output: Writable,
    private readonly options: ConnectionOptions,
  ) {
    const reader = new FrameReader();
    input.on('data', (chunk: Buffer | string) => {
      for (const framed of reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) {
        if ('problem' in framed) {
          this.#refuse(framed.problem);
        } else {
          this.#receive(framed.message);
        }
      }
    });
    for (const stream of [input, output]) {
      stream.on('error', (error: Error) => {
        options.log.info(`Connection: ${error.message}`);
        this.close();
      });
    }
    input.on('end', () => this.close());
    input.on('close', () => this.close());
  }

  event(event: string, body?: unknown): void {
    this.#send({ type: 'event', event, ...(body === undefined ? {} : { body }) });
  }

  /** A request of ours to the client: `runInTerminal`, `startDebugging`. */
  request(command: string, args: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new UserError('The editor is gone.'));
        return;
      }
      this.#waiting.set(this.#send({ type: 'request', command, arguments: args }), { resolve, reject });
    });
  }

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.#waiting.forEach((waiting) => waiting.reject(new UserError('The editor is gone.')));
    this.#waiting.clear();
    this.#running.forEach(({ controller }) => controller.abort());
    this.options.closed();
    this.output.end();
  }

  #receive(message: unknown): void {
    if (!isObject(message) || typeof message['seq'] !== 'number') {
      this.#refuse('A message that is neither a request nor an answer was skipped.');
      return;
    }
    this.options.tap?.('in', message as unknown as DebugProtocol.ProtocolMessage);
    if (message['type'] === 'request' && typeof message['command'] === 'string') {
      void this.#answer(message['seq'], message['command'], message['arguments']);
    } else if (message['type'] === 'response') {
      this.#answered(message as unknown as DebugProtocol.Response);
    } else {
      this.#refuse('A message that is neither a request nor an answer was skipped.');
    }
  }

  async #answer(seq: number, command: string, args: unknown): Promise<void> {
    if (command === 'cancel') {
      const target = isObject(args) ? args['requestId'] : undefined;
      this.#respond(seq, command, {});
      const running = typeof target === 'number' ? this.#running.get(target) : undefined;
      if (running?.cancellable) {
        running.controller.abort();
      }
      return;
    }
    const controller = new AbortController();
    this.#running.set(seq, { controller, cancellable: !NOT_CANCELLED.has(command) });
    const cancelled = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(new Cancelled()), { once: true });
    });
    try {
      const body = await Promise.race([this.options.handle(command, args ?? {}, controller.signal), cancelled]);
      this.#respond(seq, command, body);
    } catch (error) {
      this.#fail(seq, command, error);
    } finally {
      this.#running.delete(seq);
    }
  }

  #answered(response: DebugProtocol.Response): void {
    const waiting = this.#waiting.get(response.request_seq);
    this.#waiting.delete(response.request_seq);
    if (response.success) {
      waiting?.resolve(response.body);
    } else {
      waiting?.reject(new UserError(response.message ?? 'The editor refused.'));
    }
  }

  #respond(seq: number, command: string, body: unknown): void {
    this.#send({ type: 'response', request_seq: seq, success: true, command, ...(body === undefined ? {} : { body }) });
  }

  #fail(seq: number, command: string, error: unknown): void {
    if (error instanceof Cancelled) {
      this.#send({ type: 'response', request_seq: seq, success: false, command, message: 'cancelled' });
      return;
    }
    const forPerson = error instanceof UserError;
    if (!forPerson) {
      this.options.log.error(`${command} failed`, error);
    }
    const sentence = forPerson
      ? error.message
      : `Toolbreak failed inside: ${messageOf(error).replace(/\.$/, '')}. Its log says more.`;
    // A start that fails is never silent: there would be nothing to see at all.
    const shown = forPerson || command === 'launch' || command === 'attach';
    const body: DebugProtocol.ErrorResponse['body'] = { error: errorMessage(sentence, shown, error) };
    this.#send({ type: 'response', request_seq: seq, success: false, command, message: sentence, body });
  }

  /** What cannot be read has no number to answer; the client hears of it all the same. */
  #refuse(sentence: string): void {
    this.options.log.info(`Connection: ${sentence}`);
    this.#send({ type: 'response', request_seq: 0, success: false, command: '', message: sentence });
  }

  #send(message: Record<string, unknown>): number {
    const seq = this.#seq++;
    if (!this.#closed && this.output.writable) {
      const whole = { seq, ...message };
      this.options.tap?.('out', whole as unknown as DebugProtocol.ProtocolMessage);
      this.output.write(frame(whole));
      if (this.output.writableLength > MOST_QUEUED) {
        this.output.destroy(new Error('the client does not read what it is sent, and is disconnected'));
      }
    }
    return seq;
  }
}

class Cancelled extends Error {}

function errorMessage(sentence: string, showUser: boolean, error: unknown): DebugProtocol.Message {
  // Braces in a format would be taken for placeholders.
  const text = /[{}]/.test(sentence) ? { format: '{sentence}', variables: { sentence } } : { format: sentence };
  const action = error instanceof UserError ? error.action : undefined;
  return {
    id: showUser ? 1 : 2,
    showUser,
    ...text,
    ...(action ? { url: `command:${action.command}`, urlLabel: action.title } : {}),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
