import type { HostMethods, Known, PageNotifications, ReaderMethods } from '../../protocol/timeline';

type Methods = ReaderMethods & HostMethods;
export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]['params'];
export type Result<M extends Method> = Methods[M]['result'];

/** Asks the reader or the host; the answer is a promise. What the rest of the page needs of the connection. */
export interface Ask {
  <M extends Method>(method: M, params: Params<M>): Promise<Result<M>>;
}

export interface Wire {
  post(message: unknown): void;
  listen(receive: (message: unknown) => void): void;
}

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

type Listeners = { [N in keyof PageNotifications]?: (params: PageNotifications[N]) => void };

/** Pairs requests with answers and hands out notifications. Messages of any other shape are ignored: a page hears more than its host. */
export class Client {
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners: Listeners = {};
  private readonly known = new Map<string, unknown>();
  private lastId = 0;

  constructor(private readonly wire: Wire) {
    wire.listen((message) => this.receive(message));
  }

  /** The host answered before the page asked: good for the next such question. */
  know({ method, params, result }: Known): void {
    this.known.set(questionOf(method, params), result);
  }

  /** What was not asked by now is asked when it is wanted: the file may have changed by then. */
  forget(): void {
    this.known.clear();
  }

  readonly ask: Ask = <M extends Method>(method: M, params: Params<M>) => {
    const question = this.known.size > 0 ? questionOf(method, params) : '';
    if (this.known.has(question)) {
      const result = this.known.get(question) as Result<M>;
      this.known.delete(question);
      return Promise.resolve(result);
    }
    const id = ++this.lastId;
    return new Promise<Result<M>>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.wire.post({ id, method, params });
    });
  };

  on<N extends keyof PageNotifications>(name: N, listener: (params: PageNotifications[N]) => void): void {
    this.listeners[name] = listener as Listeners[N];
  }

  private receive(message: unknown): void {
    if (!isRecord(message)) return;
    if (typeof message.notify === 'string') {
      const listener = (this.listeners as Record<string, ((params: unknown) => void) | undefined>)[message.notify];
      listener?.(message.params);
      return;
    }
    if (typeof message.id !== 'number') return;
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    if (isRecord(message.error)) waiting.reject(new Error(String(message.error.message)));
    else waiting.resolve(message.result);
  }
}

function questionOf(method: Method, params: object): string {
  return `${method} ${JSON.stringify(params)}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
