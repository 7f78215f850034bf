import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROTOCOL_VERSION, type Configuration, type ControlEvent, type Hello } from '../../protocol/control';
import { Log } from '../../adapter/common/log';
import type { Target, TargetProcess } from '../../adapter/engine/target';

export const standInBoot = join(__dirname, 'stand-in', 'boot');
export const python =
  process.env['TOOLBREAK_TEST_PYTHON'] ?? join(__dirname, '..', '..', '.cache', 'python', '3.11', 'bin', 'python');

export const configuration: Configuration = {
  generation: 1,
  breakpoints: [],
  exceptions: [],
  hold: 'task',
  stopOnEntry: false,
  justMyCode: true,
  record: { enabled: false, functions: [], maxValueBytes: 1048576, maxDepth: 100, maskKeys: [], maskPatterns: [] },
  evaluationSeconds: 5,
};
export const protocolVersion = PROTOCOL_VERSION;

/** A folder that is gone after the test. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'tb-test-'));
  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }
  log(): Log {
    return new Log(join(this.folder, 'adapter.log'), 'debug');
  }
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Everything a target said, and waiting for what it will say. */
export class Heard {
  readonly started: TargetProcess[] = [];
  readonly ended: { process: TargetProcess; crashed: boolean }[] = [];
  readonly control: Exclude<ControlEvent, Hello>[] = [];
  readonly notices: string[] = [];
  stdout = '';
  stderr = '';
  exits: (number | undefined)[] = [];

  constructor(target: Target) {
    target.on('processStarted', (process) => this.started.push(process));
    target.on('processEnded', (process, crashed) => this.ended.push({ process, crashed }));
    target.on('control', (_, event) => this.control.push(event));
    target.on('notice', (_, text) => this.notices.push(text));
    target.on('output', (category, text) => (this[category] += text));
    target.on('exited', (code) => this.exits.push(code));
  }

  exited(): Promise<void> {
    return until(() => this.exits.length > 0, 'the target to end');
  }
}

/** Polls a condition; the test's own time limit is the last resort. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
