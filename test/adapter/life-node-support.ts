import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Taken } from '../../adapter/store/life/importSpools';
import { openWithCalls } from '../support/run-file';
import { LifePlace, run, type Said } from './life-support';

export const RUNTIME = join(__dirname, '../../runtimes/node');

/** A project whose apps in Node have the package and record into a folder, without any session. */
export class NodePlace extends LifePlace {
  readonly recorded = join(this.folder, 'recorded');
  readonly recording: NodeJS.ProcessEnv = { ...this.env, TOOLBREAK_RECORD: this.recorded };

  constructor() {
    super();
    mkdirSync(join(this.project, 'node_modules'));
    symlinkSync(RUNTIME, join(this.project, 'node_modules', 'toolbreak'));
  }

  node(args: string[], more: NodeJS.ProcessEnv = {}): Promise<Said> {
    return run(process.execPath, ['--import', 'toolbreak/register', ...args], {
      cwd: this.project,
      env: { ...this.recording, ...more },
    });
  }

  taken(): Promise<Taken[]> {
    return this.json<Taken[]>('import', this.recorded);
  }
}

export function rows(file: string, sql: string): unknown[] {
  const db = openWithCalls(file);
  try {
    return db.prepare(sql).raw().all();
  } finally {
    db.close();
  }
}
