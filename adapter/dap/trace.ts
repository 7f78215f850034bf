import type { BreakpointState, Configuration, ControlRequests } from '../../protocol/control';
import { messageOf } from '../common/errors';
import type { Target, TargetEvents, TargetProcess } from '../engine/target';

/** Takes one line for the trace log. */
export type TraceSink = (line: string, message?: unknown) => void;

/** A target whose control messages are written to the trace log on their way. */
export class TracedTarget implements Target {
  constructor(
    private readonly inner: Target,
    private readonly trace: TraceSink,
  ) {
    inner.on('control', (process, event) => trace(`control ${process.index} event`, event));
    inner.on('processStarted', (process) => trace(`control ${process.index} hello`, process.hello));
    inner.on('processEnded', (process, crashed) => trace(`control ${process.index} ended, crashed: ${crashed}`));
    inner.on('exited', (code) => trace(`app exited: ${code ?? 'code unknown'}`));
  }

  get processes(): readonly TargetProcess[] {
    return this.inner.processes;
  }

  on<K extends keyof TargetEvents>(event: K, listener: (...args: TargetEvents[K]) => void): void {
    this.inner.on(event, listener);
  }

  indexFor(process: string): number {
    return this.inner.indexFor(process);
  }

  start(configuration: Configuration): Promise<void> {
    this.trace('start', configuration);
    return this.inner.start(configuration);
  }

  configure(configuration: Configuration): Promise<BreakpointState[]> {
    this.trace('configure', configuration);
    return this.inner.configure(configuration);
  }

  async request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    this.trace(`control ${process.index} ${name}`, args);
    try {
      const body = await this.inner.request(process, name, args, signal);
      this.trace(`control ${process.index} ${name} answered`, name === 'evaluate' ? undefined : body);
      return body;
    } catch (error) {
      this.trace(`control ${process.index} ${name} refused: ${messageOf(error)}`);
      throw error;
    }
  }

  setStopFlag(stop: boolean): void {
    this.trace(`stop flag: ${stop}`);
    this.inner.setStopFlag(stop);
  }

  terminate(): Promise<void> {
    this.trace('terminate');
    return this.inner.terminate();
  }

  kill(): Promise<void> {
    this.trace('kill');
    return this.inner.kill();
  }

  detach(): Promise<void> {
    this.trace('detach');
    return this.inner.detach();
  }
}
