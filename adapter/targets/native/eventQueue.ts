export interface QueuedEvent {
  name: string;
  body: unknown;
}

/** A delegate's events in their order, for one reader that asks for the next. */
export class EventQueue {
  readonly #queue: QueuedEvent[] = [];
  #reader: { fits(event: QueuedEvent): boolean; resolve(event: QueuedEvent | undefined): void } | undefined;
  #interrupt!: () => void;
  readonly interrupted = new Promise<void>((resolve) => (this.#interrupt = resolve));
  /** Why there will be no more. */
  interruption: string | undefined;

  push(name: string, body: unknown): void {
    const event = { name, body };
    if (this.#reader?.fits(event)) this.#reader.resolve(event);
    else this.#queue.push(event);
  }

  /** The next that fits, or nothing after `within` milliseconds or an interruption. */
  next(fits: (event: QueuedEvent) => boolean, within = Infinity): Promise<QueuedEvent | undefined> {
    const past = this.#queue.findIndex(fits);
    if (past >= 0) return Promise.resolve(this.#queue.splice(past, 1)[0]);
    if (this.interruption !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const timer = Number.isFinite(within) ? setTimeout(() => done(undefined), within) : undefined;
      const done = (event: QueuedEvent | undefined): void => {
        clearTimeout(timer);
        this.#reader = undefined;
        resolve(event);
      };
      this.#reader = { fits, resolve: done };
    });
  }

  /** One that is there already. */
  take(name: string): unknown {
    const index = this.#queue.findIndex((event) => event.name === name);
    return index < 0 ? undefined : this.#queue.splice(index, 1)[0]?.body;
  }

  interrupt(why: string): void {
    this.interruption ??= why;
    this.#interrupt();
    this.#reader?.resolve(undefined);
  }
}
