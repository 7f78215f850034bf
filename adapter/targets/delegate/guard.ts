import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import { startTimeOf } from '../../common/processes';

/**
 * The process that stands by a delegate and outlives us: when we die it lets go what the delegate holds (`guardian.ts`). It has the delegate's
 * streams open beside us, and reads and writes nothing while we live.
 */
export class Guard {
  readonly #process: ChildProcess;
  #watched: Held | undefined;
  #over = false;

  /** Started at once, or not at all: then the delegate is as well off as before. It knows from its first moment what is held, where we do. */
  constructor(delegate: ChildProcess, log: Log, held?: Held) {
    const { stdin, stdout, pid } = delegate;
    const known = held === undefined ? [] : [JSON.stringify(held)];
    this.#process = spawn(process.execPath, [...guardianProgram(), String(pid), ...known], {
      stdio: ['pipe', 'ignore', 'ignore', stdin, stdout],
      cwd: '/',
      detached: true,
      // Where the editor's Electron runs us, this makes it a Node again.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    });
    // A stream that is given away is paused.
    stdout?.resume();
    this.#process.on('error', (error) => log.warn(`guardian of the native debugger: ${messageOf(error)}`));
    this.#process.stdin?.on('error', (error) => log.debug(() => `guardian: ${messageOf(error)}`));
    this.#process.unref();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** What the delegate holds, or is about to. `ends`: it was launched, and ends with its debugger. */
  watch(pid: number, ends: boolean): void {
    const watched = (this.#watched = { pid, ends });
    // With its start, which tells it from another process that gets its number.
    void startTimeOf(pid).then((born) => {
      if (this.#over || this.#watched !== watched) return;
      this.#process.stdin?.write(`${JSON.stringify({ pid, ends, born } satisfies Watched)}\n`);
    });
  }

  /** What the delegate holds is to go on from now on, whatever becomes of the delegate. */
  spare(): void {
    if (this.#watched?.ends) this.watch(this.#watched.pid, false);
  }

  /** The delegate has ended. */
  over(): void {
    this.#over = true;
    this.#process.stdin?.end('over\n');
  }
}

/** What a guardian starts with: it finds out itself when that process began. */
export interface Held {
  pid: number;
  ends: boolean;
}

/** A line that a guardian is told. */
export interface Watched extends Held {
  /** Absent: there was no such process any more. */
  born: string | undefined;
}

/** From the bundle it is a file of its own; from the sources it needs the TypeScript loader. */
export function guardianProgram(): string[] {
  const bundled = join(__dirname, 'guardian.js');
  if (existsSync(bundled)) return [bundled];
  return ['--import', pathToFileURL(require.resolve('tsx')).href, join(__dirname, 'guardian.ts')];
}
