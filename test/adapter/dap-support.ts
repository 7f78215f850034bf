import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { SessionOptions, TargetRequest } from '../../adapter/dap/options';
import { Session } from '../../adapter/dap/session';
import type { Recorder, RecorderOptions } from '../../adapter/store/recorder';
import { DapClient, RefusedError } from '../support/dap-client';
import { FakeTarget } from './fake-target';

/** A session with fake targets and a recorder that only listens; one target for each start. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'tb-dap-'));
  readonly targets: FakeTarget[] = [];
  readonly targetRequests: TargetRequest[] = [];
  readonly recorded: { name: string; call: string | undefined; data: Record<string, unknown> }[] = [];
  readonly problems: string[] = [];
  recordersClosed = 0;
  recorderOptions: RecorderOptions | undefined;
  /** Prepares each target before it is started. */
  prepare: (target: FakeTarget) => void = () => undefined;
  readonly session: Session;
  #clients: DapClient[] = [];

  constructor(progressAfter = 60_000, journal?: SessionOptions['journal']) {
    this.session = new Session({
      id: 'quick-otter-1',
      logs: this.folder,
      log: { info: () => undefined, error: (text, error) => void this.problems.push(`${text} ${String(error)}`) },
      makeTarget: (request) => {
        const target = new FakeTarget();
        this.targetRequests.push(request);
        this.targets.push(target);
        this.prepare(target);
        return target;
      },
      placeRun: () => ({
        run: 'run-1',
        runFile: join(this.folder, 'run-1.db'),
        runsFolder: this.folder,
        spoolFolder: this.folder,
      }),
      openRecorder: (options) => {
        this.recorderOptions = options;
        return this.#recorder();
      },
      progressAfter,
      ...(journal ? { journal } : {}),
    });
  }

  get target(): FakeTarget {
    return this.targets.at(-1)!;
  }

  client(): DapClient {
    const [toAdapter, fromAdapter] = [new PassThrough(), new PassThrough()];
    this.session.accept(toAdapter, fromAdapter);
    const client = new DapClient(fromAdapter, toAdapter);
    this.#clients.push(client);
    return client;
  }

  async launched(
    configure?: (client: DapClient) => Promise<unknown>,
    attributes: Record<string, unknown> = {},
  ): Promise<DapClient> {
    const client = this.client();
    await client.launch({ program: '/app/triage.py', ...attributes }, () => configure?.(client) ?? Promise.resolve());
    return client;
  }

  /** A task that is held, as its first client sees it. */
  async held(client: DapClient, task = 1): Promise<number> {
    this.target.hold({ task });
    const { threadId } = await client.waitFor('stopped');
    return threadId!;
  }

  async end(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
    if (this.#clients.length > 0) {
      await this.session.done;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #recorder(): Recorder {
    return {
      processStarted: () => undefined,
      processEnded: () => undefined,
      event: (name, call, data) => void this.recorded.push({ name, call, data }),
      sync: () => Promise.resolve(),
      close: () => {
        this.recordersClosed++;
        return Promise.resolve();
      },
    };
  }
}

/** The error with which a request is refused. */
export async function refusal(promise: Promise<unknown>): Promise<RefusedError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof RefusedError, String(error));
    return error;
  }
  throw new Error('It was not refused.');
}
