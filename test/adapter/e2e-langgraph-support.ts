import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { callDetail } from '../../adapter/store/reader/detail';
import { callsBetween } from '../../adapter/store/reader/calls';
import { RunFile } from '../../adapter/store/reader/runFile';
import type { CallDetail, CallRow } from '../../protocol/timeline';
import { toolbreakCommand } from '../support/adapter';
import { DapClient, RefusedError } from '../support/dap-client';
import { Place, python } from './target-support';

const root = join(__dirname, '..', '..');
export const folder = join(root, 'fixtures', 'apps', 'langgraph');
export const program = join(folder, 'triage.py');

/** Line of a `# BP: name` marker. */
export function marker(name: string, file = program): number {
  const lines = readFileSync(file, 'utf8').split('\n');
  const index = lines.findIndex((text) => text.endsWith(`# BP: ${name}`));
  assert.ok(index >= 0, `no marker ${name} in ${file}`);
  return index + 1;
}

/** A prepared Python beside the one of most tests; fails with a sentence where it is absent. */
export function preparedPython(name: string): string {
  const found = join(
    root,
    '.cache',
    'python',
    name,
    process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python',
  );
  assert.ok(existsSync(found), `${found} is missing. Run "npm test" once: it prepares the Python environments.`);
  return found;
}

type SourceBreakpoint = DebugProtocol.SourceBreakpoint;

export interface Start {
  /** Words after the program's name. */
  args?: string[];
  program?: string;
  python?: string;
  /** Breakpoints on markers of the program: a name, or a name with the rest of the breakpoint. */
  dots?: (string | (Omit<SourceBreakpoint, 'line'> & { at: string | number }))[];
  functions?: (string | DebugProtocol.FunctionBreakpoint)[];
  data?: DebugProtocol.DataBreakpoint[];
  exceptions?: (string | DebugProtocol.ExceptionFilterOptions)[];
  /** More launch attributes. */
  attributes?: Record<string, unknown>;
}

/** One held task, as the last `stopped` told it. */
export interface Stopped {
  threadId: number;
  body: DebugProtocol.StoppedEvent['body'];
  frames: DebugProtocol.StackFrame[];
  /** The innermost frame's name. */
  name: string;
  top: DebugProtocol.StackFrame;
}

/** The recorded calls of one run. */
export class Recording {
  constructor(readonly calls: (CallRow & { detail: CallDetail })[]) {}

  named(kind: string, name: string): (CallRow & { detail: CallDetail })[] {
    return this.calls.filter((call) => call.kind === kind && call.name === name);
  }

  /** The first call of this name. */
  first(kind: string, name: string): CallRow & { detail: CallDetail } {
    const found = this.named(kind, name)[0];
    assert.ok(found, `no ${kind} ${name} was recorded`);
    return found;
  }
}

/** One debug session of a fixture, from the adapter's start to its end. */
export class Scenario {
  readonly place = new Place();
  readonly client: DapClient;
  /** What `setBreakpoints` and the like answered. */
  answers: DebugProtocol.Breakpoint[] = [];
  runFile: string | undefined;

  constructor() {
    const env = {
      ...process.env,
      XDG_STATE_HOME: join(this.place.folder, 'state'),
      XDG_RUNTIME_DIR: this.place.folder,
    };
    this.client = DapClient.start(process.execPath, toolbreakCommand('dap'), { cwd: root, env });
  }

  async start(start: Start): Promise<void> {
    const source = { path: start.program ?? program };
    const { client } = this;
    await client.launch(
      {
        program: source.path,
        args: start.args ?? [],
        python: start.python ?? python,
        cwd: folder,
        ...start.attributes,
      },
      async () => {
        if (start.dots) {
          const breakpoints = start.dots.map((dot) => {
            const { at, ...rest } = typeof dot === 'string' ? { at: dot } : dot;
            return { ...rest, line: typeof at === 'number' ? at : marker(at, source.path) };
          });
          this.answers.push(...(await client.request('setBreakpoints', { source, breakpoints })).breakpoints);
        }
        if (start.functions) {
          const breakpoints = start.functions.map((one) => (typeof one === 'string' ? { name: one } : one));
          this.answers.push(...(await client.request('setFunctionBreakpoints', { breakpoints })).breakpoints);
        }
        if (start.data) {
          this.answers.push(...(await client.request('setDataBreakpoints', { breakpoints: start.data })).breakpoints);
        }
        if (start.exceptions) {
          await client.request('setExceptionBreakpoints', {
            filters: start.exceptions.filter((one) => typeof one === 'string'),
            filterOptions: start.exceptions.filter((one) => typeof one !== 'string'),
          });
        }
      },
    );
  }

  /** The next stop, of any thread or of one. */
  async stop(threadId?: number): Promise<Stopped> {
    const body = await this.client.waitFor('stopped', (one) => threadId === undefined || one.threadId === threadId);
    assert.equal(body.allThreadsStopped, false);
    const frames = await this.client.frames(body.threadId!);
    return { threadId: body.threadId!, body, frames, name: frames[0]!.name, top: frames[0]! };
  }

  async go(stopped: Stopped): Promise<void> {
    const answer = await this.client.request('continue', { threadId: stopped.threadId });
    assert.equal(answer.allThreadsContinued, false);
  }

  /** A step, and the stop it leads to on the same thread. */
  async step(how: 'next' | 'stepIn' | 'stepOut', stopped: Stopped, targetId?: number): Promise<Stopped> {
    await this.client.request(how, { threadId: stopped.threadId, ...(targetId === undefined ? {} : { targetId }) });
    return this.stop(stopped.threadId);
  }

  async threadNames(): Promise<Map<number, string>> {
    const { threads } = await this.client.request('threads', {});
    return new Map(threads.map(({ id, name }) => [id, name]));
  }

  async evaluate(
    stopped: Stopped,
    expression: string,
    context: 'watch' | 'repl' | 'hover' | 'clipboard' = 'watch',
  ): Promise<string> {
    return (await this.client.request('evaluate', { expression, frameId: stopped.top.id, context })).result;
  }

  /** What the app's other tasks do, as the threads' names say. */
  async evaluateLive(except: Stopped): Promise<string> {
    return [...(await this.threadNames())]
      .filter(([id]) => id !== except.threadId)
      .map(([, name]) => name)
      .join('; ');
  }

  async scopeRef(frameId: number, name: string): Promise<number> {
    const { scopes } = await this.client.request('scopes', { frameId });
    const scope = scopes.find((one) => one.name === name);
    assert.ok(scope, `no scope ${name}, only ${scopes.map((one) => one.name).join(', ')}`);
    return scope.variablesReference;
  }

  async set(stopped: Stopped, scope: string, name: string, value: string): Promise<string> {
    const variablesReference = await this.scopeRef(stopped.top.id, scope);
    return (await this.client.request('setVariable', { variablesReference, name, value })).value;
  }

  /** The run's normal end; answers the app's standard output. */
  async exit(code = 0): Promise<string> {
    const { exitCode } = await this.client.waitFor('exited');
    assert.equal(exitCode, code, JSON.stringify(this.client.output, undefined, 1));
    await this.client.waitFor('terminated');
    assert.deepEqual(
      this.client.pending('stopped').map(({ reason, description }) => `${reason}: ${description ?? ''}`),
      [],
      'stops that no one expected',
    );
    return this.client.output['stdout'] ?? '';
  }

  /** What the timeline shows of the run; the adapter is gone by then. */
  async recording(): Promise<Recording> {
    const { runFile } = await this.client.waitFor('toolbreak/run');
    await this.client.request('disconnect', {});
    await this.client.closed;
    const file = new RunFile(runFile);
    try {
      const { calls } = callsBetween(file, { file: runFile, from: 0, to: 1e15, minimum: 0, limit: 1000 });
      return new Recording(calls.map((call) => ({ ...call, detail: callDetail(file, call.id) })));
    } finally {
      file.db.close();
    }
  }

  console(): string {
    return this.client.output['console'] ?? '';
  }

  async end(): Promise<void> {
    await this.client.end();
    this.place.remove();
  }
}

export async function refusal(promise: Promise<unknown>): Promise<RefusedError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof RefusedError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'the request was not refused' });
}

/** `describe` with a fresh scenario for each test. */
export function scenarios(title: string, body: (scenario: () => Scenario) => void): void {
  describe(title, function () {
    this.timeout(60_000);
    let scenario: Scenario;
    beforeEach(() => {
      scenario = new Scenario();
    });
    afterEach(async () => {
      await scenario.end();
    });
    body(() => scenario);
  });
}

export const VERDICT = 'verdict: approved, refunded 500\n';
