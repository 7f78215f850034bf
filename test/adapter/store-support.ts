import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ReaderMethods } from '../../protocol/timeline';
import type { Recorder } from '../../adapter/store/recorder';
import { openRecorder } from '../../adapter/store/workerRecorder';
import { findPython } from '../support/python';
import { SmallDisk } from '../support/small-disk';
import { openWithCalls } from '../support/run-file';

const root = join(__dirname, '..', '..');

/** A state folder with one run's places in it, and what was started for a test; all of it ends with the test. */
export class StorePlace {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
  readonly spool: string;
  readonly runFile: string;
  readonly problems: string[] = [];
  private readonly started: ChildProcess[] = [];
  private readonly disks: SmallDisk[] = [];

  constructor() {
    this.spool = join(this.folder, 'sessions', 's', 'spool', 'a');
    this.runFile = join(this.folder, 'projects', 'p', 'runs', 'a.db');
    mkdirSync(this.spool, { recursive: true });
    mkdirSync(dirname(this.runFile), { recursive: true });
  }

  recorder(options: { keptSpoolBytes?: number } = {}): Recorder {
    const onProblem = (text: string): void => void this.problems.push(text);
    return openRecorder({
      runFile: this.runFile,
      spoolFolder: this.spool,
      run: 'a',
      session: 's',
      name: 'app.py',
      onProblem,
      indexFor: () => 1,
      ...options,
    });
  }

  /** The real spool writer in a process of its own; with a disk its files are as small as that makes them. */
  writer(calls: number, disk?: SmallDisk): { child: ChildProcess; stderr: () => string; done: Promise<void> } {
    const command = [findPython(), join(root, 'test', 'support', 'spool_app.py'), this.spool, String(calls)];
    const [file, ...args] = disk?.limited(command, 1024) ?? command;
    const child = spawn(file!, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.started.push(child);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const lines = createInterface({ input: child.stdout });
    const done = new Promise<void>((resolve) => lines.on('line', (line) => void (line === 'done' && resolve())));
    return { child, stderr: () => stderr, done };
  }

  /** A file system of its own at this folder, as far as the system lets us; gone after the test. */
  disk(folder: string, options: string): SmallDisk {
    const disk = new SmallDisk(folder, options);
    this.disks.push(disk);
    return disk;
  }

  rows(sql: string): Record<string, unknown>[] {
    const db = openWithCalls(this.runFile);
    try {
      return db.prepare(sql).all() as Record<string, unknown>[];
    } finally {
      db.close();
    }
  }

  async remove(): Promise<void> {
    for (const child of this.started) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    for (const disk of this.disks) disk.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The reader process, asked as the page asks it. */
export class ReaderProcess {
  private readonly waiting = new Map<number, (answer: { result?: unknown; error?: { message: string } }) => void>();
  private next = 1;
  private readonly child = spawn(process.execPath, ['--import', 'tsx', join(root, 'adapter', 'doors', 'reader.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });

  constructor() {
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as { id?: number; result?: unknown; error?: { message: string } };
      if (answer.id !== undefined) this.waiting.get(answer.id)?.(answer);
    });
  }

  ask<K extends keyof ReaderMethods>(
    method: K,
    params: ReaderMethods[K]['params'],
  ): Promise<ReaderMethods[K]['result']> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result, error }) =>
        error ? reject(new Error(error.message)) : resolve(result as ReaderMethods[K]['result']),
      );
      this.child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  end(): void {
    this.child.kill('SIGKILL');
  }
}

/** Polls until the condition holds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; !condition();) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
