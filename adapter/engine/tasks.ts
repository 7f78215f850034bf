import type { Frame, Hold, TaskInfo } from '../../protocol/control';
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
  /** Lists that are on their way, and which tasks ended meanwhile. */
  readonly #lists = new Set<{ process: TargetProcess; ended: Set<number> }>();
  #next = 1;

  ensure(process: TargetProcess, task: number, name: string): { task: Task; isNew: boolean } {
    for (const list of this.#listsOf(process)) {
      list.ended.delete(task);
    }
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

  /** Learns from a list of its tasks that the process was asked for. One that ends meanwhile may still be in it. */
  async learn(process: TargetProcess, ask: () => Promise<readonly TaskInfo[]>): Promise<void> {
    const list = { process, ended: new Set<number>() };
    this.#lists.add(list);
    try {
      for (const info of await ask()) {
        if (!list.ended.has(info.id)) {
          this.ensure(process, info.id, info.name).task.where = info.where;
        }
      }
    } finally {
      this.#lists.delete(list);
    }
  }

  /** The process says that a task of its has ended, whether or not it was known here. */
  ended(process: TargetProcess, task: number): void {
    for (const list of this.#listsOf(process)) {
      list.ended.add(task);
    }
  }

  #listsOf(process: TargetProcess) {
    return [...this.#lists].filter((list) => list.process === process);
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

/** The name that a frame's call has in the recording: `1.42`. */
export function callOfFrame(task: Task, { call, process = task.process.index }: Frame): string | undefined {
  return call ? `${process}.${call}` : undefined;
}
