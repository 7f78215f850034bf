import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { isAlive } from '../../adapter/common/processes';
import { toolbreakCommand } from '../support/adapter';
import { DapClient, RefusedError } from '../support/dap-client';
import { Place, python, until } from './target-support';
import { openWithCalls } from '../support/run-file';

export { python, until };
export const root = join(__dirname, '..', '..');
export const apps = join(root, 'fixtures', 'apps');

/** Line of a `# BP: name` marker. */
export function marker(file: string, name: string): number {
  const index = readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((text) => text.endsWith(`# BP: ${name}`));
  assert.ok(index >= 0, `no marker ${name} in ${file}`);
  return index + 1;
}

/** A breakpoint on a marker, or on a line. */
export type Dot = string | (Omit<DebugProtocol.SourceBreakpoint, 'line'> & { at: string | number });
/** Breakpoints by file. */
export type Dots = Record<string, Dot[]>;

export interface Setup {
  dots?: Dots;
  functions?: (string | DebugProtocol.FunctionBreakpoint)[];
  exceptions?: (string | DebugProtocol.ExceptionFilterOptions)[];
}

export function sourceBreakpoints(file: string, dots: readonly Dot[]): DebugProtocol.SourceBreakpoint[] {
  return dots.map((dot) => {
    const { at, ...rest } = typeof dot === 'string' ? { at: dot } : dot;
    return { ...rest, line: typeof at === 'number' ? at : marker(file, at) };
  });
}

/** One held task. */
export interface Stop {
  client: DapClient;
  threadId: number;
  body: DebugProtocol.StoppedEvent['body'];
  frames: DebugProtocol.StackFrame[];
  top: DebugProtocol.StackFrame;
  /** The innermost frame's name. */
  name: string;
}

/** Adapters with state folders of their own, their apps, and what is left to clean up. */
export class Scene {
  readonly place = new Place();
  readonly env: NodeJS.ProcessEnv;
  readonly clients: DapClient[] = [];
  private readonly cleanups: (() => unknown)[] = [];
  private main: DapClient | undefined;

  constructor() {
    this.env = { ...process.env, XDG_STATE_HOME: join(this.place.folder, 'state'), XDG_RUNTIME_DIR: this.place.folder };
    // Containers set it, a person's machine does not.
    delete this.env['PYTHONUNBUFFERED'];
  }

  /** The session's first client; its adapter starts with the first use. */
  get client(): DapClient {
    return (this.main ??= this.adapter());
  }

  /** One more adapter. */
  adapter(args: string[] = ['dap'], env: NodeJS.ProcessEnv = {}): DapClient {
    const client = DapClient.start(process.execPath, toolbreakCommand(...args), {
      cwd: root,
      env: { ...this.env, ...env },
    });
    this.clients.push(client);
    return client;
  }

  /** Another client of a running session. */
  async join(address: string | number): Promise<DapClient> {
    const client = await DapClient.connect(address);
    this.clients.push(client);
    return client;
  }

  /** Writes a program of the test's own; lines may carry `# BP:` markers. */
  app(name: string, text: string): string {
    const path = join(this.place.folder, 'app', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replace(/^\n/, ''));
    return path;
  }

  cleanup(work: () => unknown): void {
    this.cleanups.push(work);
  }

  async launch(attributes: Record<string, unknown>, setup: Setup = {}, client = this.client): Promise<void> {
    const program = attributes['program'] as string | undefined;
    await client.launch({ python, ...(program ? { cwd: dirname(program) } : {}), ...attributes }, () =>
      this.configure(setup, client),
    );
  }

  async configure(setup: Setup, client = this.client): Promise<void> {
    for (const [file, dots] of Object.entries(setup.dots ?? {})) await this.setDots(file, dots, client);
    if (setup.functions) {
      const breakpoints = setup.functions.map((one) => (typeof one === 'string' ? { name: one } : one));
      await client.request('setFunctionBreakpoints', { breakpoints });
    }
    if (setup.exceptions) {
      await client.request('setExceptionBreakpoints', {
        filters: setup.exceptions.filter((one) => typeof one === 'string'),
        filterOptions: setup.exceptions.filter((one) => typeof one !== 'string'),
      });
    }
  }

  /** As an editor does: the file's whole list of breakpoints, disabled ones left out. */
  async setDots(file: string, dots: readonly Dot[], client = this.client): Promise<DebugProtocol.Breakpoint[]> {
    const breakpoints = sourceBreakpoints(file, dots);
    return (await client.request('setBreakpoints', { source: { path: file }, breakpoints })).breakpoints;
  }

  /** The next stop, of any thread or of one. */
  async stop(threadId?: number, client = this.client): Promise<Stop> {
    const body = await client.waitFor('stopped', (one) => threadId === undefined || one.threadId === threadId);
    assert.equal(body.allThreadsStopped, false);
    const frames = await client.frames(body.threadId!);
    return { client, threadId: body.threadId!, body, frames, top: frames[0]!, name: frames[0]!.name };
  }

  async go(stop: Stop): Promise<void> {
    const answer = await stop.client.request('continue', { threadId: stop.threadId });
    assert.equal(answer.allThreadsContinued, false);
  }

  async step(how: 'next' | 'stepIn' | 'stepOut', stop: Stop): Promise<Stop> {
    await stop.client.request(how, { threadId: stop.threadId });
    return this.stop(stop.threadId, stop.client);
  }

  async evaluate(
    stop: Stop,
    expression: string,
    context: 'watch' | 'repl' | 'hover' | 'clipboard' = 'watch',
  ): Promise<string> {
    return (await stop.client.request('evaluate', { expression, frameId: stop.top.id, context })).result;
  }

  async set(stop: Stop, scope: string, name: string, value: string): Promise<string> {
    const { scopes } = await stop.client.request('scopes', { frameId: stop.top.id });
    const found = scopes.find((one) => one.name === scope);
    assert.ok(found, `no scope ${scope}, only ${scopes.map((one) => one.name).join(', ')}`);
    const { variablesReference } = found;
    return (await stop.client.request('setVariable', { variablesReference, name, value })).value;
  }

  /** Values of a scope of the innermost frame. */
  async values(stop: Stop, scope: string): Promise<Record<string, string>> {
    const variables = await stop.client.scope(stop.top.id, scope);
    return Object.fromEntries([...variables].map(([name, { value }]) => [name, value]));
  }

  async threadNames(client = this.client): Promise<string[]> {
    return (await client.request('threads', {})).threads.map(({ name }) => name);
  }

  /** The run's normal end, without stops that nobody expected; answers the app's standard output. */
  async exit(code = 0, client = this.client): Promise<string> {
    const { exitCode } = await client.waitFor('exited');
    assert.equal(exitCode, code, JSON.stringify(client.output, undefined, 1));
    await client.waitFor('terminated');
    const left = client.pending('stopped').map(({ reason, description }) => `${reason}: ${description ?? ''}`);
    assert.deepEqual(left, [], 'stops that no one expected');
    return client.output['stdout'] ?? '';
  }

  /** Leaves the session; answers the run file once its adapter is gone. */
  async recording(client = this.client): Promise<string> {
    const { runFile } = await client.waitFor('toolbreak/run');
    await client.request('disconnect', {});
    await client.closed;
    return runFile;
  }

  /** `session.json` of every session of this scene. */
  sessions(): Record<string, unknown>[] {
    const folder = join(this.place.folder, 'state', 'toolbreak', 'sessions');
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(
        ({ name }) => JSON.parse(readFileSync(join(folder, name, 'session.json'), 'utf8')) as Record<string, unknown>,
      );
  }

  async end(): Promise<void> {
    for (const work of this.cleanups.reverse()) await work();
    await Promise.all(this.clients.map((client) => client.end()));
    this.place.remove();
  }
}

/** `describe` with a fresh scene for each test. */
export function scenes(title: string, body: (scene: () => Scene) => void): void {
  describe(title, function () {
    this.timeout(60_000);
    let scene: Scene;
    beforeEach(() => {
      scene = new Scene();
    });
    afterEach(() => scene.end());
    body(() => scene);
  });
}

/** The sentence with which a request is refused; it is for the person, and no stack trace. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof RefusedError, String(error));
    assertSentence(error.message);
    return error.message;
  }
  throw new assert.AssertionError({ message: 'the request was not refused' });
}

export function assertSentence(text: string): void {
  assert.match(text, /^\S.*[.)]$/s, `no sentence: ${text}`);
  assert.doesNotMatch(text, /Traceback|\n\s+at |File ".*", line/, `a stack trace: ${text}`);
}

/** Rows of the run file. */
export function rows<T>(runFile: string, sql: string): T[] {
  const db = openWithCalls(runFile);
  try {
    return db.prepare(sql).all() as T[];
  } finally {
    db.close();
  }
}

/** Names of the recorded calls, in the order of their start. */
export function calledNames(runFile: string): string[] {
  const sql = 'SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.start, c.id';
  return rows<{ name: string }>(runFile, sql).map(({ name }) => name);
}

export async function gone(pids: Iterable<number>): Promise<void> {
  for (const pid of pids) await until(() => !isAlive(pid), `process ${pid} to end`);
}

/** Waits until a file holds lines of the app's, and answers them. */
export async function linesOf(path: string, count = 1): Promise<string[]> {
  const read = (): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);
  await until(() => read().length >= count, `${count} lines in ${path}`);
  return read();
}
