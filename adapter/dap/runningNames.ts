import type { Engine } from '../engine/engine';
import type { Task } from '../engine/tasks';
import { threadName } from './present/stack';

/** Milliseconds until names are looked at again; longer each time that all tasks are where they were. */
const SOON = 1000;
const SELDOM = 4000;

/** Without how long it has been there. */
const place = (name: string | undefined): string | undefined => name?.replace(/, [\d.]+ s$/, '');

/**
 * The name of a running task says in which call it is and since when. An editor asks for names only when a thread begins: so it is told of one once
 * more when the names that it got are old.
 */
export class RunningNames {
  #told = new Map<Task, string>();
  #wait = SOON;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly changed: (task: Task) => void,
  ) {}

  /** A client got the names of these tasks. */
  told(tasks: Task[]): void {
    this.#told = new Map(tasks.map((task) => [task, threadName(task)]));
    clearTimeout(this.#timer);
    if (!tasks.some((task) => !task.hold && task.where)) return;
    this.#timer = setTimeout(() => void this.#look(), this.#wait).unref();
  }

  async #look(): Promise<void> {
    const before = this.#told;
    const tasks = (await this.engine.threads()).filter((task) => before.has(task));
    // Somebody asked meanwhile, and has got the new ones.
    if (before !== this.#told) return;
    const isElsewhere = (task: Task): boolean => place(before.get(task)) !== place(threadName(task));
    this.#wait = tasks.some(isElsewhere) ? SOON : Math.min(SELDOM, this.#wait * 2);
    // Of a held one VS Code would forget a stop that it is just told of.
    const old = tasks.find((task) => !task.hold && before.get(task) !== threadName(task));
    this.told(tasks);
    if (old) this.changed(old);
  }
}
