import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { PageNotifications, ReaderAnswer, ReaderMethods } from '../../protocol/timeline';
import { logError } from '../log';
import { nodeCommand } from '../node';

type Notification = {
  [N in keyof PageNotifications]: { notify: N; params: PageNotifications[N] };
}[keyof PageNotifications];

const GONE =
  'The process that reads recordings ended. It starts again with the next question; the output channel "Toolbreak" says why it ended.';

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * The process that answers from run files. It starts with the first question and again after it died; files that are followed are
 * followed again then. Ends with `dispose`.
 */
export class Reader {
  private child: ChildProcessWithoutNullStreams | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private readonly followers = new Map<string, number>();
  private errors = '';

  constructor(
    private readonly program: string,
    private readonly notify: (notification: Notification) => void,
  ) {}

  ask<K extends keyof ReaderMethods>(
    method: K,
    params: ReaderMethods[K]['params'],
  ): Promise<ReaderMethods[K]['result']> {
    return this.forward(method, params) as Promise<ReaderMethods[K]['result']>;
  }

  /** A question whose parameters the reader checks itself. */
  forward(method: string, params: unknown): Promise<unknown> {
    const child = (this.child ??= this.start());
    const id = ++this.lastId;
    return new Promise<unknown>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  /** Several pages may follow one file; the reader hears of the first and the last. */
  async follow(file: string): Promise<void> {
    const count = this.followers.get(file) ?? 0;
    this.followers.set(file, count + 1);
    if (count > 0) return;
    try {
      await this.ask('follow', { file });
    } catch (error) {
      this.followers.delete(file);
      throw error;
    }
  }

  async unfollow(file: string): Promise<void> {
    const count = this.followers.get(file) ?? 0;
    if (count > 1) {
      this.followers.set(file, count - 1);
    } else if (this.followers.delete(file) && this.child !== undefined) {
      await this.ask('unfollow', { file });
    }
  }

  private start(): ChildProcessWithoutNullStreams {
    const { command, env } = nodeCommand();
    const child = spawn(command, [this.program], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.errors = '';
    createInterface({ input: child.stdout }).on('line', (line) => this.receive(line));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.errors = (this.errors + text).slice(-2000)));
    // A question may be written just when the process ends; the exit below answers it.
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => this.ended(child, error.message));
    child.once('exit', (code, signal) => this.ended(child, `it ended with ${signal ?? `code ${code}`}`));
    for (const file of this.followers.keys()) {
      child.stdin.write(`${JSON.stringify({ id: ++this.lastId, method: 'follow', params: { file } })}\n`);
    }
    return child;
  }

  private receive(line: string): void {
    let message: ReaderAnswer | Notification;
    try {
      message = JSON.parse(line) as ReaderAnswer | Notification;
    } catch {
      // Something else printed a line on the reader's stdout: it is no answer.
      return;
    }
    if ('notify' in message) {
      this.notify(message);
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (waiting === undefined) return;
    this.waiting.delete(message.id);
    if ('error' in message) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  private ended(child: ChildProcessWithoutNullStreams, why: string): void {
    if (this.child !== child) return;
    this.child = undefined;
    logError(`The process that reads recordings is gone: ${why}.`, this.errors.trim());
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const each of waiting) each.reject(new Error(GONE));
  }

  dispose(): void {
    const child = this.child;
    this.child = undefined;
    for (const each of this.waiting.values()) each.reject(new Error('The timeline was closed.'));
    this.waiting.clear();
    // Its stdin ends with us; a reader that is busy gets no second question.
    child?.stdin.end();
    child?.kill();
  }
}
