import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DapClient } from './dap-client';
import { findPython } from './python';

interface TerminalArguments {
  title?: string;
  cwd: string;
  args: string[];
  env?: Record<string, string | null>;
}

/** A terminal as an editor has one: `runInTerminal` runs its command in a pseudo terminal. */
export class Terminal {
  /** Everything that was shown. */
  shown = '';
  /** Exit status of the command; negative for a signal. */
  readonly ended: Promise<number>;
  request: TerminalArguments | undefined;
  private child: ChildProcess | undefined;
  private pid: number | undefined;
  private listeners: (() => void)[] = [];
  private resolveEnded!: (status: number) => void;

  constructor(client: DapClient) {
    this.ended = new Promise((resolve) => (this.resolveEnded = resolve));
    client.answer('runInTerminal', (args) => this.run(args as TerminalArguments));
  }

  private run(wanted: TerminalArguments): Promise<{ processId: number }> {
    this.request = wanted;
    const script = join(__dirname, 'terminal.py');
    const request = { env: {}, ...wanted };
    const child = spawn(findPython(), ['-I', '-S', script, JSON.stringify(request)], { stdio: 'pipe' });
    this.child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.shown += text.replaceAll('\r\n', '\n');
      this.listeners.forEach((look) => look());
    });
    let said = '';
    child.stdin.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const processId = Number.parseInt(said, 10);
        if (!said.includes('\n')) return;
        this.pid = processId;
        resolve({ processId });
      });
      child.once('close', () => this.resolveEnded(Number(said.trim().split('\n').pop())));
    });
  }

  /** Waits until the text stands on the screen. */
  async waitFor(text: string): Promise<void> {
    while (!this.shown.includes(text)) {
      await new Promise<void>((resolve, reject) => {
        const patience = setTimeout(() => reject(new Error(`no "${text}" in the terminal: ${this.shown}`)), 30_000);
        this.listeners.push(() => {
          clearTimeout(patience);
          resolve();
        });
      });
    }
  }

  /**
   * Waits until the command waits for input. A Ctrl-C between the prompt and that is seen with the next line only, with or without a debugger: no
   * system call is there to be interrupted.
   */
  async reads(): Promise<void> {
    const patience = Date.now() + 30_000;
    while (!/\) S /.test(readFileSync(`/proc/${this.pid ?? 'self'}/stat`, 'latin1'))) {
      if (Date.now() > patience) throw new Error(`the command does not wait for input: ${this.shown}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  type(text: string): void {
    this.child?.stdin?.write(text);
  }

  /** Closes the terminal's window. */
  close(): void {
    this.child?.kill('SIGKILL');
  }
}
