import { RunFile } from '../reader/runFile';
import { taskNames } from '../reader/apart';
import { shownName, type Named } from '../functionName';
import { UserError } from '../../common/errors';
import { globalId } from '../callNames';
import { isDamage } from '../database';
import type { StoredProcess } from './fileQuery';
import type { Files } from './query';

/** What calls of some runs can be found by, each with how many calls there are of it. */
export interface ThereIs {
  names: Map<string, number>;
  kinds: Map<string, number>;
  files: Map<string, number>;
  tasks: Map<string, number>;
  /** With their pids. */
  processes: Map<string, number>;
}

/** Runs whose tables are read. */
const MOST_RUNS = 20;

/** Of the newest of these runs, from the tables that have all of it. */
export function thereIs(paths: readonly string[], files: Files): ThereIs {
  const found: ThereIs = {
    names: new Map(),
    kinds: new Map(),
    files: new Map(),
    tasks: new Map(),
    processes: new Map(),
  };
  const count = (into: Map<string, number>, name: string, calls: number): void =>
    void into.set(name, (into.get(name) ?? 0) + calls);
  for (const path of paths.slice(0, MOST_RUNS)) {
    try {
      const file = files.open(path);
      const rows = file
        .sql(
          'SELECT f.kind, f.name, f.qualified, f.module, f.path, t.calls FROM functions f JOIN function_totals t ON t.function = f.id WHERE t.calls > 0',
        )
        .all() as (Named & { path: string | null; calls: number })[];
      for (const row of rows) {
        count(found.names, shownName(row), row.calls);
        count(found.kinds, row.kind, row.calls);
        if (row.path !== null) count(found.files, row.path.split(/[\\/]/).at(-1)!, row.calls);
      }
      const begun = new Set(file.sql('SELECT id FROM tasks WHERE first IS NOT NULL').pluck().all() as number[]);
      const { lane, task } = taskNames(file);
      for (const [id, name] of lane) if (begun.has(id)) count(found.tasks, name, 1);
      for (const { id, pid, name } of file.sql('SELECT id, pid, name FROM processes').all() as StoredProcess[]) {
        // A child has the program's name; that of its first thread tells it from the others.
        const shown = (id > 1 && task.get(globalId(id, 1))) || name;
        count(found.processes, pid > 0 && shown !== `Process ${pid}` ? `${shown} (${pid})` : shown, 1);
      }
    } catch (error) {
      // What is damaged was said by the query itself.
      if (!(error instanceof UserError) && !isDamage(error)) throw error;
    }
  }
  return found;
}

/** Run files that several questions are put to, each opened once. */
export class KeptFiles implements Files {
  private readonly opened = new Map<string, RunFile>();

  open(path: string): RunFile {
    let file = this.opened.get(path);
    if (file === undefined) this.opened.set(path, (file = new RunFile(path)));
    return file;
  }

  /** Asked when a question is over: the next one is put to the same file. */
  close(): void {
    return;
  }

  closeAll(): void {
    for (const file of this.opened.values()) file.close();
    this.opened.clear();
  }
}
