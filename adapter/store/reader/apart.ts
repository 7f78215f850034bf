import { processOf } from '../callNames';
import type { RunFile } from './runFile';

export interface TaskNames {
  /** As the app named it. */
  task: ReadonlyMap<number, string>;
  /** With its process, where that is not the first. */
  lane: ReadonlyMap<number, string>;
}

/**
 * Names of tasks and of their lanes. A program that starts itself again has processes whose threads go by the same names: those of all but the first
 * process that has a name say which process they are of.
 */
export function taskNames(file: RunFile): TaskNames {
  return file.once('task names', () => {
    const rows = file
      .sql(
        'SELECT t.id, t.name, p.name AS process, p.pid FROM tasks t LEFT JOIN processes p ON p.id = t.process ORDER BY t.id',
      )
      .all() as { id: number; name: string; process: string | null; pid: number | null }[];
    const task = new Map<number, string>();
    const lane = new Map<number, string>();
    const [tasks, lanes] = [apart(), apart()];
    for (const { id, name, process, pid } of rows) {
      const own = tasks(id, name, pid);
      task.set(id, own);
      lane.set(id, lanes(id, own === name ? laneName(id, name, process ?? '') : own, pid));
    }
    return { task, lane };
  });
}

function apart(): (task: number, name: string, pid: number | null) => string {
  const owners = new Map<string, number>();
  return (task, name, pid) => {
    const process = processOf(task);
    const owner = owners.get(name) ?? process;
    owners.set(name, owner);
    return owner === process || !pid || name === '' ? name : `${name} (pid ${pid})`;
  };
}

/** The first process's tasks go by their own names; those of others say whose they are. */
function laneName(task: number, name: string, process: string): string {
  if (name === '') return process === '' ? 'task' : process;
  return processOf(task) === 1 || process === '' || name.startsWith(process) ? name : `${process} › ${name}`;
}
