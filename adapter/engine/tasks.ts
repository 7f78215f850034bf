import type { Hold, TaskInfo } from '../../protocol/control';
import { UserError } from '../common/errors';
import type { TargetProcess } from './target';

/** A task of one process, under a number that is unique in the session. */
export interface Task {
  readonly thread: number;
  readonly process: TargetProcess;
  /** The process's own number of the task. */
  readonly task: number;
  name: string;
  /** Where it runs, `in llm:gpt-x, 12 s`; empty when between calls. */
  where: string;
  hold?: Hold;
  /** While a release is under way, what its process says about the task waits here, so that nobody hears of the next stop before the answer. */
  waiting?: (() => void)[];
  /** Who let it go last, and whether towards another stop. */
  lastRelease?: { client: string; towardsStop: boolean };
}

/** Tasks of all processes. Numbers are never used twice, also after a restart. */
export class TaskTable {
  readonly #tasks = new Map<number, Task>();
  #next = 1;

  ensure(process: TargetProcess, task: number, name: string): { task: Task; isNew: boolean } {
    const known = this.find(process, task);
    if (known) {
      known.name = name || known.name;
      return { task: known, isNew: false };
    }
    const made: Task = { thread: this.#next++, process, task, name, where: '' };
    this.#tasks.set(made.thread, made);
    return { task: made, isNew: true };
  }

  find(process: TargetProcess, task: number): Task | undefined {
    return this.all().find((t) => t.process === process && t.task === task);
  }

  remove(task: Task): void {
    this.#tasks.delete(task.thread);
  }

  all(): Task[] {
    return [...this.#tasks.values()];
  }

  held(): Task[] {
    return this.all().filter((task) => task.hold);
  }

  get(thread: number): Task {
    const task = this.#tasks.get(thread);
    if (!task) {
      throw new UserError('This task has ended.');
    }
    return task;
  }

  learn(process: TargetProcess, infos: readonly TaskInfo[]): void {
    for (const info of infos) {
      this.ensure(process, info.id, info.name).task.where = info.where;
    }
  }
}

/** What a person calls a task; tasks of child processes carry their process's name. */
export function taskTitle(task: Task): string {
  return task.process.index > 1 ? `${task.process.hello.name} › ${task.name}` : task.name;
}

export function holdOf(task: Task): Hold {
  if (!task.hold) {
    throw new UserError(`${taskTitle(task)} is running. Pause it first.`);
  }
  return task.hold;
}
