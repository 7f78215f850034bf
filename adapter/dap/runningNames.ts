import type { Engine } from '../engine/engine';
import type { Task } from '../engine/tasks';
import type { Client } from './client';
import { threadName } from './present/stack';

/** Milliseconds until names are looked at again; longer each time that all tasks are where they were. */
const SOON = 1000;
const SELDOM = 4000;

/** Without how long it has been there. */
const place = (name: string | undefined): string | undefined => name?.replace(/, [\d.]+ s$/, '');

/**
 * The name of a running task says in which call it is and since when. An editor asks for names only when a thread begins or stops: so it is told of
 * one once more when the names that it got are old.
 */
export class RunningNames {
  readonly #told = new WeakMap<Client, Map<Task, string>>();
  #wait = SOON;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly clients: ReadonlySet<Client>,
  ) {
    engine.on('resumed', () => {
      this.#wait = SOON;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#lookLater();
    });
  }

  /** A client got the names of these tasks. */
  told(client: Client, tasks: Task[]): void {
    this.#told.set(client, new Map(tasks.map((task) => [task, threadName(task)])));
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#timer || this.engine.tasks.all().every((task) => task.hold)) return;
    this.#timer = setTimeout(() => void this.#look(), this.#wait).unref();
  }

  async #look(): Promise<void> {
    const timer = this.#timer;
    const tasks = await this.engine.threads();
    let moved = false;
    for (const client of this.clients) {
      const before = this.#told.get(client);
      // Of a held one VS Code would forget a stop that it is just told of; of one that it has not asked for, it was told as it began.
      const old = tasks.filter((task) => !task.hold && before?.has(task) && before.get(task) !== threadName(task));
      const [first] = old;
      if (!before || !first) continue;
      moved ||= old.some((task) => place(before.get(task)) !== place(threadName(task)));
      for (const task of old) before.set(task, threadName(task));
      client.send('thread', { reason: 'started', threadId: first.thread });
    }
    // A task went on meanwhile: another look is due already.
    if (this.#timer !== timer) return;
    this.#wait = moved ? SOON : Math.min(SELDOM, this.#wait * 2);
    this.#timer = undefined;
    this.#lookLater();
  }
}
