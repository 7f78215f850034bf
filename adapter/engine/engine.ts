import type {
  BreakpointState,
  Configuration,
  ControlRequests,
  ExceptionFilter,
  Frame,
  FramesEvent,
  Hold,
  LogEvent,
  RecordEvent,
  RecordSettings,
  Release,
  ResumedEvent,
} from '../../protocol/control';
import { Emitter } from '../common/emitter';
import { messageOf, UserError } from '../common/errors';
import type { BadBreakpoint, BreakpointSpec, SetName } from '../model/breakpoint';
import type { KnownName } from '../model/names';
import { BreakpointTable, type BreakpointView, type Place } from './breakpoints';
import type { Target, TargetEvents, TargetProcess } from './target';
import { holdOf, TaskTable, type Task } from './tasks';

/** What one start of the app is told, beside the breakpoints. */
export interface EngineSettings {
  hold: 'task' | 'all';
  stopOnEntry: boolean;
  justMyCode: boolean;
  record: RecordSettings;
  evaluationSeconds: number;
}

/** How a held task goes on. */
export type ReleaseWay = Pick<Release, 'action' | 'step' | 'target' | 'result' | 'granularity' | 'single'>;

export interface ReleaseOptions {
  client: string;
  /** The client learns of it from the answer to its own request; it needs no event. */
  answered: boolean;
}

export type EngineEvents = {
  processStarted: [process: TargetProcess];
  processEnded: TargetEvents['processEnded'];
  threadStarted: [task: Task];
  threadExited: [task: Task];
  /** `others`: another task was held before. `along`: tasks that only stand still because their process does. */
  held: [task: Task, hold: Hold, others: boolean, along: readonly Task[]];
  /** The frames of a hold are known, which was told with `framesFollow`; or it ends, and they will not be. Comes once for each. */
  traced: [task: Task, hold: Hold];
  /** `along`: tasks that go on with it, since their whole process does. */
  resumed: [
    task: Task,
    hold: Hold,
    by: (ReleaseOptions & { way: ReleaseWay }) | undefined,
    why: ResumedEvent['why'],
    along: readonly Task[],
  ];
  /** Something for the timeline alone. */
  recorded: [process: TargetProcess, event: RecordEvent];
  /** Values of a held task may have been edited; its frames are fresh, and may look different. */
  edited: [task: Task, looksDifferent: boolean];
  /** Some breakpoints may look different now. */
  breakpoints: [];
  log: [process: TargetProcess, event: LogEvent];
  output: [category: 'stdout' | 'stderr', text: string];
  notice: [category: 'console' | 'important' | 'stderr', text: string];
  exited: [code: number | undefined];
};

/** A thread list must come quickly, also from a process that is busy or natively stopped. */
const TASKS_MS = 1000;

/** Drives one target: breakpoints in, holds out. One engine lives as long as its session, also over restarts of the app. */
export class Engine {
  readonly breakpoints = new BreakpointTable();
  readonly tasks = new TaskTable();
  #target: Target | undefined;
  #settings: EngineSettings | undefined;
  #generation = 0;
  #stopFlag = false;
  /** Questions for tasks that are not answered yet. */
  readonly #tasksAsked = new Map<TargetProcess, Promise<void>>();
  /** A pause of all was asked for, and nothing went on since. */
  #pausing = false;
  /** Every configuration waits for the one before. */
  #pushing: Promise<unknown> = Promise.resolve();
  #namesBusy = false;
  #namesAgain = false;
  readonly #events: Emitter<EngineEvents>;

  /** `report` hears of failures of ours that stop nothing. */
  constructor(private readonly report: (text: string, error: unknown) => void) {
    this.#events = new Emitter((error) => report('listener', error));
  }

  on<K extends keyof EngineEvents>(event: K, listener: (...args: EngineEvents[K]) => void): void {
    this.#events.on(event, listener);
  }

  get processes(): readonly TargetProcess[] {
    return this.#target?.processes ?? [];
  }

  /** There is an app, or there is about to be. */
  get isStarted(): boolean {
    return this.#target !== undefined;
  }

  // ------------------------------------------------------------ start and end

  async start(target: Target, settings: EngineSettings): Promise<void> {
    this.abandon();
    this.#target = target;
    this.#settings = { ...settings };
    this.#stopFlag = this.#pausing = false;
    this.breakpoints.setRunning(true);
    this.#listen(target);
    await target.start(this.#configuration(this.#settings));
    if (this.#target === target && target.processes.length > 0) {
      await this.#push().catch((error: unknown) => this.report('breakpoints after the start', error));
      this.#refreshNames();
    }
  }

  /** Forgets the target: nothing it says is heard any more. */
  abandon(): void {
    this.#target = undefined;
    this.breakpoints.setRunning(false);
    this.breakpoints.forgetAll();
    this.tasks.all().forEach((task) => this.#end(task));
  }

  // ------------------------------------------------------------ breakpoints

  async setBreakpoints(
    client: string,
    set: SetName,
    wanted: readonly (BreakpointSpec | BadBreakpoint)[],
    places: readonly (Place | undefined)[] = [],
  ): Promise<BreakpointView[]> {
    this.breakpoints.replace(client, set, wanted, places);
    await this.#push();
    if (this.breakpoints.wantsNames) {
      await this.#learnNames();
    }
    return this.breakpoints.views(client, set);
  }

  async setExceptions(client: string, filters: ExceptionFilter[]): Promise<void> {
    this.breakpoints.replaceExceptions(client, filters);
    await this.#push();
  }

  async removeClient(client: string): Promise<void> {
    this.breakpoints.removeClient(client);
    await this.#push();
  }

  #configuration(settings: EngineSettings): Configuration {
    return {
      generation: ++this.#generation,
      breakpoints: this.breakpoints.wire(),
      exceptions: this.breakpoints.wireExceptions(),
      ...settings,
    };
  }

  /** Sends the table as it is when its turn comes. */
  #push(): Promise<void> {
    const next = this.#pushing.then(async () => {
      const target = this.#target;
      const settings = this.#settings;
      if (target && settings) {
        const states: BreakpointState[] = await target.configure(this.#configuration(settings));
        this.breakpoints.learnTogether(states);
        this.#events.emit('breakpoints');
      }
    });
    this.#pushing = next.catch(() => undefined);
    return next;
  }

  /** Names of all processes, each once. */
  async names(): Promise<KnownName[]> {
    const answers = await Promise.all(
      this.processes.map((process) =>
        this.request(process, 'names', {}).catch((error: unknown) => {
          this.report('names', error);
          return { names: [] };
        }),
      ),
    );
    const all = answers.flatMap((answer) => answer.names);
    return [
      ...new Map(all.map((name) => [JSON.stringify([name.kind, name.name, name.path, name.line]), name])).values(),
    ];
  }

  async #learnNames(): Promise<void> {
    this.breakpoints.learnNames(await this.names());
  }

  /** Names explain function breakpoints that match nothing; asked again when something new may be known. */
  #refreshNames(): void {
    if (!this.breakpoints.wantsNames) {
      return;
    }
    if (this.#namesBusy) {
      this.#namesAgain = true;
      return;
    }
    this.#namesBusy = true;
    void this.#learnNames()
      // Once no process is there any more, what the last one said of its breakpoints stays said.
      .then(() => this.processes.length > 0 && this.#events.emit('breakpoints'))
      .catch((error: unknown) => this.report('names', error))
      .finally(() => {
        this.#namesBusy = false;
        if (this.#namesAgain) {
          this.#namesAgain = false;
          this.#refreshNames();
        }
      });
  }

  // ------------------------------------------------------------ running

  /** Lets one held task go on. Its next stop is heard only after this resolved. */
  async release(task: Task, way: ReleaseWay, options: ReleaseOptions): Promise<void> {
    const hold = holdOf(task);
    if (task.waiting) {
      throw new UserError(`${task.name} is already going on.`);
    }
    const waiting: (() => void)[] = (task.waiting = []);
    this.#setStopFlag(false);
    try {
      await this.request(task.process, 'release', { hold: hold.id, ...way, client: options.client });
      this.#traced(task, hold);
      task.hold = undefined;
      task.lastRelease = {
        client: options.client,
        towardsStop: way.step !== undefined || way.action === 'skip' || way.action === 'restart',
      };
      this.#events.emit('resumed', task, hold, { ...options, way }, 'release', this.#goAlong(task, hold));
    } finally {
      // The answer of whoever asked goes out first: it is written in the microtasks after this.
      setImmediate(() => {
        task.waiting = undefined;
        waiting.forEach((tell) => tell());
      });
    }
  }

  /** The held task's frames from `start` on, at most `count` where that is said; fetched as far as somebody looks. */
  async frames(task: Task, start = 0, count?: number): Promise<readonly Frame[]> {
    const hold = holdOf(task);
    const end = count ? start + count : Infinity;
    while (hold.moreFrames && hold.frames.length < end) {
      const known = hold.frames.length;
      const { frames, more } = await this.request(task.process, 'frames', {
        hold: hold.id,
        start: known,
        ...(count ? { count: end - known } : {}),
      });
      // They came another way meanwhile.
      if (hold.frames.length !== known) continue;
      hold.frames.push(...frames);
      hold.moreFrames = more === true && frames.length > 0;
    }
    return hold.frames.slice(start, end);
  }

  /** Continues or steps one task; with `hold: all` the others go on, too, unless only this one is meant. */
  async proceed(
    task: Task,
    how: Pick<ReleaseWay, 'step' | 'target' | 'granularity'>,
    single: boolean,
    client: string,
  ): Promise<void> {
    holdOf(task);
    const others =
      this.#settings?.hold === 'all' && !single
        ? this.tasks
            .held()
            .filter(
              (other) => other !== task && !other.waiting && !(other.hold?.whole && other.process === task.process),
            )
        : [];
    const way: ReleaseWay = {
      action: 'continue',
      ...how,
      ...(single && task.hold?.whole ? { single } : {}),
    };
    const letGo = (one: Task) =>
      one === task
        ? this.release(task, way, { client, answered: true })
        : this.release(one, { action: 'continue' }, { client, answered: false }).catch((error: unknown) =>
            this.report('release', error),
          );
    // The stops that made the others stop end first: a task let go before them would stop for them once more.
    const causes = [task, ...others].filter((one) => one.hold?.reason !== 'pause');
    const stopped = [task, ...others].filter((one) => !causes.includes(one));
    await Promise.all(causes.map(letGo));
    await Promise.all(stopped.map(letGo));
  }

  /** Stops one task at its next boundary, or every task. */
  async pause(task?: Task): Promise<void> {
    if (task) {
      await this.request(task.process, 'pause', { task: task.task });
      return;
    }
    this.#pausing = true;
    this.#setStopFlag(true);
    // The flag is what stops them. A busy process may take its time to answer, and nobody has to wait for that.
    for (const process of this.processes) {
      this.request(process, 'pause', {}).catch((error: unknown) => this.report('pause', error));
    }
  }

  #setStopFlag(stop: boolean): void {
    if (!stop) this.#pausing = false;
    if (this.#stopFlag !== stop) {
      this.#stopFlag = stop;
      this.#target?.setStopFlag(stop);
    }
  }

  /** All tasks, with where each is now. A process that does not answer in time keeps what was known. */
  async threads(): Promise<Task[]> {
    let timer: NodeJS.Timeout | undefined;
    // Cancelling would wait for the process to agree, which is what it cannot do.
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, TASKS_MS)));
    const answers = this.processes.map((process) => {
      // One that stands still would answer all of them at once, later.
      const asked = this.#tasksAsked.get(process) ?? this.#learnTasks(process);
      this.#tasksAsked.set(process, asked);
      return asked;
    });
    await Promise.race([Promise.all(answers), patience]);
    clearTimeout(timer);
    return this.tasks.all();
  }

  async #learnTasks(process: TargetProcess): Promise<void> {
    try {
      await this.tasks.learn(process, async () => (await this.request(process, 'tasks', {})).tasks);
    } catch (error) {
      this.report(`tasks: ${messageOf(error)}`, undefined);
    } finally {
      this.#tasksAsked.delete(process);
    }
  }

  // ------------------------------------------------------------ looking and changing

  request<K extends keyof ControlRequests>(
    process: TargetProcess,
    name: K,
    args: ControlRequests[K]['arguments'],
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    if (!this.#target) {
      return Promise.reject(new UserError('The app is not running.'));
    }
    return this.#target.request(process, name, args, signal);
  }

  /** A request about the hold of a task. */
  inspect<
    K extends
      | 'scopes'
      | 'variables'
      | 'location'
      | 'exception'
      | 'stepTargets'
      | 'dataInfo'
      | 'memoryInfo'
      | 'completions'
      | 'evaluate',
  >(
    task: Task,
    name: K,
    args: Omit<ControlRequests[K]['arguments'], 'hold'>,
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    return this.request(task.process, name, { ...args, hold: holdOf(task).id }, signal);
  }

  /** Changes a value of a held task; then everybody hears that it looks different. */
  async edit<K extends 'setVariable' | 'setExpression'>(
    task: Task,
    name: K,
    args: Omit<ControlRequests[K]['arguments'], 'hold'>,
    signal?: AbortSignal,
  ): Promise<ControlRequests[K]['body']> {
    const hold = holdOf(task);
    const body = await this.request(
      task.process,
      name,
      { ...args, hold: hold.id } as ControlRequests[K]['arguments'],
      signal,
    );
    await this.refresh(task);
    return body;
  }

  /** Fetches the frames of a hold again, after values may have changed. */
  async refresh(task: Task): Promise<void> {
    const hold = task.hold;
    if (!hold) {
      return;
    }
    let looksDifferent = true;
    try {
      const { frames, more } = await this.request(task.process, 'frames', { hold: hold.id });
      looksDifferent = JSON.stringify(frames) !== JSON.stringify(hold.frames);
      hold.frames = frames;
      hold.moreFrames = more === true;
    } catch (error) {
      this.report('frames', error);
    }
    // Whoever edited hears the answer first.
    setImmediate(() => {
      if (task.hold === hold) {
        this.#events.emit('edited', task, looksDifferent);
      }
    });
  }

  // ------------------------------------------------------------ what the target says

  #listen(target: Target): void {
    // After a restart the old target may still talk.
    const mine = (): boolean => this.#target === target;
    target.on('processStarted', (process) => {
      if (mine()) {
        this.#events.emit('processStarted', process);
        this.#refreshNames();
        // It came after the pause.
        if (this.#pausing && process.hello.language !== 'native') {
          this.request(process, 'pause', {}).catch((error: unknown) => this.report('pause', error));
        }
      }
    });
    target.on('processEnded', (process, ...how) => {
      if (mine()) {
        this.tasks
          .all()
          .filter((task) => task.process === process)
          .forEach((task) => this.#end(task));
        this.breakpoints.forgetProcess(process.index, this.processes.length === 0);
        this.#events.emit('processEnded', process, ...how);
      }
    });
    target.on('output', (category, text) => mine() && this.#events.emit('output', category, text));
    target.on('notice', (category, text) => mine() && this.#events.emit('notice', category, text));
    target.on('exited', (code) => mine() && this.#events.emit('exited', code));
    target.on('control', (process, event) => {
      if (!mine()) {
        return;
      }
      switch (event.event) {
        case 'held':
          this.#inOrder(process, event.hold.task, () => this.#held(process, event.hold, event.along));
          break;
        case 'frames':
          // Of a hold that was told: of one that waits to be told, after it.
          if (this.tasks.find(process, event.task)?.hold?.id === event.hold) this.#frames(process, event);
          else this.#inOrder(process, event.task, () => this.#frames(process, event));
          break;
        case 'resumed':
          this.#inOrder(process, event.task, () => this.#resumed(process, event));
          break;
        case 'task':
          this.#inOrder(process, event.task, () => {
            if (event.change === 'started') {
              this.#ensure(process, event.task, event.name);
            } else {
              this.tasks.ended(process, event.task);
              const task = this.tasks.find(process, event.task);
              if (task) {
                this.#end(task);
              }
            }
          });
          break;
        case 'breakpoints':
          this.breakpoints.learn(process.index, event.breakpoints);
          this.#events.emit('breakpoints');
          this.#refreshNames();
          break;
        case 'log':
          this.#events.emit('log', process, event);
          break;
        case 'record':
          this.#events.emit('recorded', process, event);
          break;
        case 'bye':
          break;
      }
    });
  }

  /** What a process says is told in its order, also where one of its tasks has to be waited for. */
  #inOrder(process: TargetProcess, taskId: number, tell: () => void): void {
    const waiting =
      this.tasks.find(process, taskId)?.waiting ??
      this.tasks.all().find((other) => other.process === process && other.waiting?.length)?.waiting;
    if (waiting) {
      waiting.push(tell);
    } else {
      tell();
    }
  }

  #held(process: TargetProcess, hold: Hold, stoodStill: readonly Hold[] = []): void {
    if (!this.processes.includes(process)) {
      return;
    }
    const task = this.#ensure(process, hold.task, hold.taskName);
    const others = this.tasks.held().some((other) => other !== task);
    if (task.hold) this.#traced(task, task.hold);
    task.hold = hold;
    const along = stoodStill.map((one) => {
      const other = this.#ensure(process, one.task, one.taskName);
      other.hold = one;
      return other;
    });
    if (this.#settings?.hold === 'all') {
      this.#setStopFlag(true);
    }
    if (hold.reason === 'entry' && this.#settings?.stopOnEntry) {
      // One entry a run: child processes that come later do not stop at theirs.
      this.#settings.stopOnEntry = false;
      void this.#push().catch((error: unknown) => this.report('configuration', error));
    }
    this.#events.emit('held', task, hold, others, along);
    this.#refreshNames();
  }

  #frames(process: TargetProcess, { task: id, hold: number, frames, moreFrames }: FramesEvent): void {
    const task = this.tasks.find(process, id);
    const hold = task?.hold;
    if (task === undefined || hold?.id !== number || hold.framesFollow !== true) return;
    if (hold.frames.length === 0) Object.assign(hold, { frames, moreFrames });
    this.#traced(task, hold);
  }

  #traced(task: Task, hold: Hold): void {
    if (hold.framesFollow !== true) return;
    hold.framesFollow = false;
    this.#events.emit('traced', task, hold);
  }

  #resumed(process: TargetProcess, event: ResumedEvent): void {
    const task = this.tasks.find(process, event.task);
    if (task?.hold?.id === event.hold) {
      const hold = task.hold;
      this.#traced(task, hold);
      task.hold = undefined;
      this.#events.emit('resumed', task, hold, undefined, event.why, this.#goAlong(task, hold));
    }
  }

  /** Tasks that go on with this one, since their process stood still as a whole. */
  #goAlong(task: Task, hold: Hold): Task[] {
    const along = hold.whole ? this.tasks.held().filter((one) => one.process === task.process && one.hold?.whole) : [];
    for (const one of along) {
      this.#traced(one, one.hold!);
      one.hold = undefined;
    }
    return along;
  }

  #ensure(process: TargetProcess, id: number, name: string): Task {
    const { task, isNew } = this.tasks.ensure(process, id, name);
    if (isNew) {
      this.#events.emit('threadStarted', task);
      this.#refreshNames();
    }
    return task;
  }

  #end(task: Task): void {
    if (task.hold) this.#traced(task, task.hold);
    task.hold = undefined;
    this.tasks.remove(task);
    this.#events.emit('threadExited', task);
  }
}
