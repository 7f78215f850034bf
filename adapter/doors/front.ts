import { createHash, timingSafeEqual } from 'node:crypto';
import { Readable, Writable, type Duplex } from 'node:stream';
import { messageOf, tokenNeeded } from '../common/errors';
import { firstCapabilities } from '../dap/capabilities';
import { frame, FrameReader, LARGEST_MESSAGE } from '../common/framing';

/** Largest message of a client that has not shown the token, and the time it has to show it. */
const STRANGERS_LARGEST = 1024 * 1024;
const SHOW_WITHIN = 30_000;

interface Message {
  seq: number;
  type: string;
  command: string;
  arguments?: Record<string, unknown>;
}

export interface FrontOptions {
  /** What a client must show before it is let in; absent when whoever reaches the door may enter. */
  token?: string;
  /** Serves the client here. */
  here(input: Readable, output: Writable): void;
  /** A connection to the running session of this name. Throws a sentence. */
  elsewhere(session: string): Promise<{ stream: Duplex; token?: string }>;
  log: { info(text: string): void };
  /** It is known that native code will be debugged. */
  native?: boolean;
}

/**
 * Stands between a client and a session until the client has said where it belongs: it answers `initialize` itself, and with `launch` or
 * `attach` (token checked) hands the whole conversation to the session here, or to the running one that `attach` names. From then on it
 * only passes messages.
 */
export class Front {
  /** Resolves when the last answer is written. */
  readonly finished: Promise<void>;
  private initialize: Message | undefined;
  private shown: boolean;
  private pass: ((message: unknown) => void) | undefined;
  /** Messages that come while another session is being reached. */
  private waiting: Message[] | undefined;
  private closed = false;
  private next: Readable | undefined;
  private readonly reader: FrameReader;
  private readonly patience: NodeJS.Timeout | undefined;

  constructor(
    private readonly input: Readable,
    private readonly output: Writable,
    private readonly options: FrontOptions,
  ) {
    this.shown = options.token === undefined;
    this.finished = new Promise((resolve) => {
      for (const event of ['finish', 'close', 'error']) output.once(event, () => resolve());
    });
    this.reader = new FrameReader(this.shown ? LARGEST_MESSAGE : STRANGERS_LARGEST);
    if (!this.shown) this.patience = setTimeout(() => this.close('no token was shown'), SHOW_WITHIN).unref();
    input.on('data', (chunk: Buffer) => {
      if (this.pass !== undefined && this.reader.isBetween) {
        // From here on nothing is looked at any more.
        this.next?.push(chunk);
        return;
      }
      for (const framed of this.reader.push(chunk)) {
        if (this.closed) return;
        if ('message' in framed) this.take(framed.message);
        else if (!this.shown) this.close(framed.problem);
        else this.next?.push(Buffer.from('Content-Length: 0\r\n\r\n'));
      }
    });
    input.on('end', () => this.close('the client left'));
    input.on('close', () => this.close('the client left'));
    for (const stream of [input, output]) stream.on('error', (error) => this.close(error.message));
  }

  /** It has not shown the token that is asked for. */
  get isStranger(): boolean {
    return !this.shown;
  }

  close(why: string): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.patience);
    this.options.log.info(`client: ${why}`);
    this.next?.push(null);
    this.output.end();
    this.input.destroy();
  }

  private take(given: unknown): void {
    if (this.pass !== undefined) return this.pass(given);
    const message = given as Partial<Message> | null;
    if (message?.type !== 'request' || typeof message.seq !== 'number' || typeof message.command !== 'string') return;
    const request = message as Message;
    if (this.waiting !== undefined) void this.waiting.push(request);
    else this.before(request);
  }

  private before(request: Message): void {
    const args = request.arguments ?? {};
    switch (request.command) {
      case 'initialize':
        if (this.initialize !== undefined) return this.answer(request, 'The client has initialized already.');
        if (!this.check(request)) return;
        this.initialize = request;
        return this.answer(request, undefined, firstCapabilities(this.options.native === true));
      case 'launch':
      case 'attach': {
        if (this.initialize === undefined)
          return this.answer(request, `"initialize" has to come before "${request.command}".`);
        if (!this.check(request)) return;
        if (!this.shown) return this.refuse(request);
        const { session } = args;
        if (request.command === 'attach' && typeof session === 'string' && session !== '')
          return this.away(session, request);
        return this.hand(request, (input, output) => this.options.here(input, output));
      }
      case 'disconnect':
        this.answer(request, undefined, {});
        return this.close('the client left before it launched or attached');
      default:
        if (!this.shown) return this.refuse(request);
        this.answer(request, `"${request.command}" has to come after "launch" or "attach".`);
    }
  }

  /** Looks at a request's token. A right one opens the door and is taken out; a wrong one closes it. */
  private check(request: Message): boolean {
    const { token } = this.options;
    const given = request.arguments?.['token'];
    if (token === undefined || this.shown || given === undefined) return true;
    if (typeof given !== 'string' || !sameText(given, token)) {
      this.refuse(request);
      this.close('wrong token');
      return false;
    }
    this.shown = true;
    this.reader.setLargest(LARGEST_MESSAGE);
    clearTimeout(this.patience);
    delete request.arguments?.['token'];
    return true;
  }

  private away(session: string, request: Message): void {
    this.waiting = [];
    this.options.elsewhere(session).then(
      ({ stream, token }) => {
        stream.on('error', (error) => this.close(error.message));
        if (this.closed) {
          // The client left while the session was being reached.
          stream.destroy();
          return;
        }
        stream.on('close', () => this.close('the session ended'));
        delete request.arguments?.['session'];
        if (token !== undefined) request.arguments = { ...request.arguments, token };
        this.hand(request, (input, output) => {
          input.pipe(stream);
          stream.pipe(output);
        });
      },
      (error: unknown) => {
        this.waiting = undefined;
        this.answer(request, messageOf(error));
      },
    );
  }

  /** Hands the conversation over, as if it began there: with the `initialize` we answered, whose second answer nobody needs. */
  private hand(request: Message, serve: (input: Readable, output: Writable) => void): void {
    const inward = new Readable({ read: () => undefined });
    this.next = inward;
    const reader = new FrameReader();
    const seq = this.initialize!.seq;
    let swallowed = false;
    const outward = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (swallowed && reader.isBetween) return void this.output.write(chunk, () => done());
        for (const framed of reader.push(chunk)) {
          if (!('message' in framed)) continue;
          const answer = framed.message as { type?: string; request_seq?: number };
          if (!swallowed && answer.type === 'response' && answer.request_seq === seq) swallowed = true;
          else this.output.write(frame(framed.message));
        }
        done();
      },
      final: (done) => {
        this.output.end();
        done();
      },
    });
    // The session gave the client up: what still waits for it is dropped.
    outward.on('error', (error) => {
      this.output.destroy();
      this.close(error.message);
    });
    serve(inward, outward);
    this.pass = (message) => void inward.push(frame(message));
    for (const message of [this.initialize, request, ...(this.waiting ?? [])]) this.pass(message);
  }

  private refuse(request: Message): void {
    this.answer(request, tokenNeeded().message);
  }

  private answer(request: Message, problem: string | undefined, body?: unknown): void {
    const fields = {
      type: 'response',
      request_seq: request.seq,
      command: request.command,
      success: problem === undefined,
    };
    const error =
      problem === undefined ? {} : { message: problem, body: { error: { id: 1, format: problem, showUser: true } } };
    this.output.write(frame({ seq: 0, ...fields, ...(body === undefined ? {} : { body }), ...error }));
  }
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
