import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { firstAnswers } from '../../protocol/tiles';
import { MINIMAP_BUCKETS, type HostMethods, type ReaderMethods } from '../../protocol/timeline';
import { Place, python } from '../adapter/target-support';
import { toolbreakCommand } from '../support/adapter';
import { DapClient } from '../support/dap-client';
import type { Answer } from './browser';

const ROOT = join(__dirname, '../..');
/** From the bundle where `npm test` and `npm run bench` have just built it. */
const READER = process.env.TOOLBREAK_TEST_DIST
  ? [join(ROOT, 'dist/reader.js')]
  : ['--import', 'tsx', join(ROOT, 'adapter/doors/reader.ts')];

/** What the reader says without being asked. */
export type Notified = (name: string, params: unknown) => void;

/** The real reader process, which answers a page for one run. */
export class ReaderProcess {
  /** Set by who shows the page. */
  notified: Notified = () => undefined;
  private readonly waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  private readonly process: ChildProcess;
  private lastId = 0;

  constructor(
    readonly file: string,
    env: NodeJS.ProcessEnv = process.env,
  ) {
    this.process = spawn(process.execPath, READER, {
      cwd: ROOT,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (!this.process.stdout) throw new Error('The reader has no output.');
    createInterface({ input: this.process.stdout }).on('line', (line) => this.receive(line));
  }

  /** Answers the page: its host's part is small, the rest is the reader's. */
  readonly answer: Answer = (method, params) => {
    if (method === 'start') return this.start(params);
    if (['openSource', 'breakHere', 'copyText', 'selected'].includes(method)) return {};
    return this.forward(method, params);
  };

  /** As the extension does it. */
  private async start({ width }: HostMethods['start']['params']): Promise<HostMethods['start']['result']> {
    const { file } = this;
    const overview = await this.ask('overview', { file, buckets: MINIMAP_BUCKETS }).catch(() => undefined);
    const known =
      overview === undefined
        ? []
        : await firstAnswers(file, overview, width ?? 0, (method, asked) => this.ask(method, asked));
    return { folder: dirname(file), file, follow: true, overview, known };
  }

  private ask<K extends keyof ReaderMethods>(
    method: K,
    params: ReaderMethods[K]['params'],
  ): Promise<ReaderMethods[K]['result']> {
    return this.forward(method, params) as Promise<ReaderMethods[K]['result']>;
  }

  private forward(method: string, params: unknown): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.process.stdin?.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
  }

  private receive(line: string): void {
    const message = JSON.parse(line) as {
      id?: number;
      result?: unknown;
      error?: { message: string };
      notify?: string;
      params?: unknown;
    };
    if (message.notify !== undefined) {
      this.notified(message.notify, message.params);
      return;
    }
    const waiting = this.waiting.get(message.id ?? -1);
    if (!waiting) return;
    this.waiting.delete(message.id ?? -1);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }
}

/** A run of a fixture app under the real adapter and runtime, and the reader that answers the page for it. */
export class RealRun extends ReaderProcess {
  private constructor(
    file: string,
    private readonly client: DapClient,
    private readonly place: Place,
    private readonly thread: number,
    env: NodeJS.ProcessEnv,
  ) {
    super(file, env);
  }

  /** Runs `program` (a path under fixtures/apps) until the line with `marker` stops it. */
  static async held(program: string, marker: string): Promise<RealRun> {
    const place = new Place();
    const path = join(ROOT, 'fixtures/apps', program);
    const env = { ...process.env, XDG_STATE_HOME: join(place.folder, 'state'), XDG_RUNTIME_DIR: place.folder };
    const client = DapClient.start(process.execPath, toolbreakCommand('dap'), {
      cwd: ROOT,
      env,
    });
    try {
      const lines = readFileSync(path, 'utf8').split('\n');
      const line = 1 + lines.findIndex((text) => text.includes(marker));
      await client.launch({ program: path, python, cwd: dirname(path), record: { functions: ['@usercode'] } }, () =>
        client.request('setBreakpoints', { source: { path }, breakpoints: [{ line }] }),
      );
      const { threadId } = await client.waitFor('stopped');
      const { runFile } = await client.waitFor('toolbreak/run');
      await client.request('setBreakpoints', { source: { path }, breakpoints: [] });
      return new RealRun(runFile, client, place, threadId ?? 0, env);
    } catch (error) {
      await client.end();
      place.remove();
      throw error;
    }
  }

  /** Releases the held call and waits until the app has ended. */
  async finish(): Promise<void> {
    await this.client.request('continue', { threadId: this.thread });
    await this.client.waitFor('terminated');
    await this.client.request('disconnect', {});
    await this.client.closed;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.client.end();
    this.place.remove();
  }
}
