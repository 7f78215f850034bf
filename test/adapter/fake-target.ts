import { Emitter } from '../../adapter/common/emitter';
import { UserError } from '../../adapter/common/errors';
import type { Target, TargetEvents, TargetProcess } from '../../adapter/engine/target';
import type { BreakpointState, Configuration, ControlRequests, Frame, Hello, Hold } from '../../protocol/control';

type Answers = {
  [K in keyof ControlRequests]?: (args: ControlRequests[K]['arguments'], process: TargetProcess) => unknown;
};

/** A target without an app: tests say what it answers and what happens. For the unit tests of the engine and of DAP only. */
export class FakeTarget implements Target {
  readonly #events = new Emitter<TargetEvents>((error) => {
    throw error;
  });
  readonly live: TargetProcess[] = [];
  readonly requests: { name: string; args: unknown }[] = [];
  readonly configurations: Configuration[] = [];
  readonly stopFlags: boolean[] = [];
  readonly ends: string[] = [];
  /** What becomes of each breakpoint; by default each is verified where it was asked for. */
  states = (configuration: Configuration): BreakpointState[] =>
    configuration.breakpoints.map(({ id, target }) => ({
      id,
      verified: true,
      ...(target.type === 'source' ? { path: target.path, line: target.line } : {}),
    }));
  answers: Answers = {
    release: () => ({}),
    pause: () => ({}),
    tasks: () => ({ tasks: [] }),
    names: () => ({ names: [] }),
  };
  /** What happens when the app starts. */
  begin: () => void = () => this.addProcess();
  startError: Error | undefined;

  on<K extends keyof TargetEvents>(event: K, listener: (...args: TargetEvents[K]) => void): void {
    this.#events.on(event, listener);
  }
  emit<K extends keyof TargetEvents>(event: K, ...args: TargetEvents[K]): void {
    this.#events.emit(event, ...args);
  }
  get processes(): readonly TargetProcess[] {
    return [...this.live];
  }
  indexFor(): number {
    return this.live.length + 1;
  }
  start(configuration: Configuration): Promise<void> {
    this.configurations.push(configuration);
    if (this.startError) {
      return Promise.reject(this.startError);
    }
    this.begin();
    return Promise.resolve();
  }
  configure(configuration: Configuration): Promise<BreakpointState[]> {
    this.configurations.push(configuration);
    return Promise.resolve(this.live.length > 0 ? this.states(configuration) : []);
  }
  async request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    this.requests.push({ name, args });
    const answer = this.answers[name];
    if (!answer) {
      throw new UserError(`The fake answers no ${name}.`);
    }
    const body = await answer(args, process);
    signal?.throwIfAborted();
    return body as ControlRequests[K]['body'];
  }
  setStopFlag(stop: boolean): void {
    this.stopFlags.push(stop);
  }
  terminate(): Promise<void> {
    this.ends.push('terminate');
    this.end(0);
    return Promise.resolve();
  }
  kill(): Promise<void> {
    this.ends.push('kill');
    return Promise.resolve();
  }
  detach(): Promise<void> {
    this.ends.push('detach');
    return Promise.resolve();
  }

  // ------------------------------------------------------------ what happens

  addProcess(name = 'triage.py'): TargetProcess {
    const index = this.live.length + 1;
    const process = { index, hello: hello(name, index) };
    this.live.push(process);
    this.emit('processStarted', process);
    return process;
  }

  hold(hold: Partial<Hold> & { task: number }, process = this.live[0]!): void {
    this.emit('control', process, { event: 'held', hold: makeHold(hold) });
  }

  end(code: number | undefined): void {
    for (const process of this.live.splice(0)) {
      this.emit('processEnded', process, false);
    }
    this.emit('exited', code);
  }

  requested(name: keyof ControlRequests): unknown[] {
    return this.requests.filter((one) => one.name === name).map((one) => one.args);
  }
}

function hello(name: string, index: number): Hello {
  return {
    event: 'hello',
    version: 1,
    token: 't',
    runtime: '0.1.0',
    language: 'python',
    languageVersion: '3.13.0',
    pid: 100 + index,
    parentPid: 1,
    process: `${100 + index}-ff`,
    name,
    argv: [name],
    cwd: '/app',
    executable: '/usr/bin/python3',
    frameworks: [],
  };
}

export const toolFrame: Frame = {
  id: 1,
  call: 42,
  kind: 'tool',
  name: 'lookup_order(order_id=7)',
  detail: 'tool, before',
  path: '/app/triage.py',
  line: 12,
  endLine: 15,
  subtle: false,
  canRestart: true,
};
export const nodeFrame: Frame = {
  ...toolFrame,
  id: 2,
  call: 41,
  kind: 'node',
  name: 'tools',
  detail: 'node, step 2',
  line: 61,
  endLine: 66,
  canRestart: false,
};
export const innerFrame: Frame = {
  id: 3,
  kind: 'source',
  name: 'invoke',
  detail: '',
  line: 0,
  subtle: true,
  canRestart: false,
};

export function makeHold(hold: Partial<Hold> & { task: number }): Hold {
  return {
    id: hold.task * 10,
    taskName: `agent-${hold.task}`,
    call: 42,
    boundary: 'before',
    reason: 'breakpoint',
    description: 'Paused before tool',
    breakpoints: [],
    frames: [toolFrame, nodeFrame, innerFrame],
    ...hold,
  };
}
