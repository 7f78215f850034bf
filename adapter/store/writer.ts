import { CallStatus, FrameKind } from '../../protocol/spool';
import type { Fault } from '../common/faults';
import { startMark } from './alive';
import { callName, ENDED_WITH_PROCESS, globalId, parseCallName, processOf } from './callNames';
import { CallWriter } from './chunks/callWriter';
import { ARGS, END_ATTRIBUTES, ERROR, RESULT, START_ATTRIBUTES, STATE_AFTER, STATE_BEFORE } from './chunks/chunk';
import { callOfFault, crashError, crashSeen, faultData, type Crash, type RunningCall } from './crash';
import type { Connection } from './database';
import { Lanes } from './lanes';
import type { Frame } from './spool/frames';
import { textIn } from './spool/frames';
import type { Item, Segment } from './spool/follower';
import { keepEarlier } from './spool/earlier';
import type { MarshalReader } from './spool/marshal';
import { MOST_SEEN, type SeenCall } from './recorder';
import { idOrNull, prepare } from './statements';
import { Tiles } from './tiles';
import { tokensIn } from './tokens';
import { ValueTable } from './values/intern';
import { DecodeError, Dict } from './values/model';

/** Times lie within 52 days of the run's first: the difference of any two of them is packed, and stays exact. */
export const LATEST = 2 ** 52;

const STATUS_WORDS: Record<number, string> = {
  [CallStatus.Returned]: 'returned',
  [CallStatus.Error]: 'failed',
  [CallStatus.Cancelled]: 'cancelled',
  [CallStatus.Skipped]: 'skipped',
  [CallStatus.Interrupted]: 'interrupted',
};

export interface RunInfo {
  run: string;
  session: string;
  name: string;
  /** A person gave the name: it stands in `runs.workflow`, where else the first workflow's would. */
  isNamed?: boolean;
  number: number;
  pid: number;
  pidStart: string;
  /** Wall clock in nanoseconds when the run began. */
  started: bigint;
}

interface Span {
  depth: number;
  first: number;
  last: number;
}

export interface ProcessInfo {
  key: string;
  pid: number;
  parentPid: number;
  name: string;
  language: string;
  languageVersion: string;
  runtime: string;
  executable: string;
  cwd: string;
  argv: string[];
}

/**
 * Writes frames and what the session saw into one run file. Frames of a batch and the place where reading goes on are committed
 * together, so each frame counts exactly once, whoever dies when. Frames of one call may come in any order.
 */
export class RunWriter {
  private readonly sql;
  private readonly values: ValueTable;
  private readonly lanes: Lanes;
  private readonly calls: CallWriter;
  private readonly tiles: Tiles;
  private readonly processes = new Map<string, number>();
  private readonly offsets = new Map<string, number>();
  private readonly kinds = new Map<number, string>();
  private readonly counts = { calls: 0, errors: 0, holds: 0, tokens: 0, damaged: 0 };
  /** Calls of tools and models that run, and what is to be told of them. */
  private readonly watched = new Map<number, { kind: string; name: string; start: number }>();
  private seen: SeenCall[] = [];
  private seenCount = 0;
  private readonly taskSpans = new Map<number, Span>();
  private readonly processLast = new Map<number, number>();
  private readonly moved = new Map<string, number>();
  /** The segment of the last frame, and what is known of it; kept apart, since the next frame is mostly of the same. */
  private readFrom: Segment | undefined;
  private readBy = 0;
  private readTo = 0;
  private readLatest = -Infinity;
  /** The same of the task of the last call. */
  private lastTask = -1;
  private lastSpan: Span = { depth: 0, first: 0, last: 0 };
  private first = Infinity;
  private last = -Infinity;
  private base: number | undefined;
  private started: bigint;
  private workflow: string | null;

  constructor(
    private readonly db: Connection,
    run: RunInfo,
    /** Calls of tools and models are told. */
    private readonly watches = false,
  ) {
    this.sql = prepare(db);
    this.sql.insertRun.run(
      run.run,
      run.session,
      run.name,
      BigInt(run.number),
      run.started,
      BigInt(run.pid),
      run.pidStart,
      run.isNamed ? run.name : null,
    );
    const row = db.prepare('SELECT base, started, workflow FROM runs WHERE id = 1').safeIntegers().get() as {
      base: bigint | null;
      started: bigint;
      workflow: string | null;
    };
    this.base = row.base === null ? undefined : Number(row.base);
    this.started = row.started;
    this.workflow = row.workflow;
    this.values = new ValueTable(db);
    this.calls = new CallWriter(db);
    this.lanes = new Lanes();
    this.tiles = new Tiles(db);
    this.goOn();
    const known = db.prepare('SELECT id, key, last FROM processes').all() as {
      id: number;
      key: string;
      last: number | null;
    }[];
    for (const { id, key, last } of known) {
      this.processes.set(key, id);
      if (last !== null) this.processLast.set(id, last);
    }
    for (const { file, offset } of db.prepare('SELECT file, offset FROM segments').all() as {
      file: string;
      offset: number;
    }[])
      this.offsets.set(file, offset);
    for (const { id, kind } of db.prepare('SELECT id, kind FROM functions').all() as { id: number; kind: string }[])
      this.kinds.set(id, kind);
  }

  /** Goes on where an earlier writer of the file stopped. */
  private goOn(): void {
    for (const chunk of this.calls.all(this.db)) {
      for (let slot = 0; slot < chunk.length; slot++) {
        if (!chunk.isStarted(slot)) continue;
        this.lanes.known(chunk, slot);
        this.tiles.recount(chunk.task[slot]!, chunk.start[slot]!, chunk.statusOf(slot) === CallStatus.Error);
      }
    }
  }

  /** Calls of tools and models that began or ended since this was asked last. */
  takeSeen(): SeenCall[] {
    return this.seen.splice(0);
  }

  offset(file: string): number {
    return this.offsets.get(file) ?? 0;
  }

  indexOf(process: string): number | undefined {
    return this.processes.get(process);
  }

  nextIndex(): number {
    return Math.max(0, ...this.processes.values()) + 1;
  }

  /** Does `work` in one transaction. Whoever gets an error must throw this writer away: its memory may be ahead of the file. */
  transaction(work: () => void): void {
    this.db
      .transaction(() => {
        work();
        this.flush();
        // At once for writing: a transaction that first read would be refused, and not wait, when another has written in between.
      })
      .immediate();
  }

  addProcess(index: number, key: string): void {
    this.processes.set(key, index);
    this.sql.insertProcess.run(BigInt(index), key, BigInt(/^\d{1,15}/.exec(key)?.[0] ?? '0'));
  }

  describeProcess(index: number, info: ProcessInfo): void {
    this.addProcess(index, info.key);
    this.sql.describeProcess.run(
      BigInt(info.pid),
      BigInt(info.parentPid),
      startMark(info.pid),
      info.name,
      info.language,
      info.languageVersion,
      info.runtime,
      info.executable,
      info.cwd,
      JSON.stringify(info.argv),
      BigInt(index),
    );
  }

  /** When the run began and a process recorded last, in milliseconds of the wall clock. */
  spanOf(index: number): { began: number; last: number } {
    const began = Number(this.started / 1_000_000n);
    return { began, last: began + (this.processLast.get(index) ?? 0) / 1e6 };
  }

  /** Ends what still runs in a process that is dead, of a fault or otherwise: nothing more can come of it. `ends`: until when calls ran, where that is known. */
  processEnded(
    index: number,
    exitCode: number | undefined,
    wall: bigint | undefined,
    fault?: Fault,
    ends?: ReadonlyMap<number, number>,
  ): void {
    const last = this.processLast.get(index) ?? 0;
    // What was running ends when the session saw the process die, or else where the process was last heard of.
    const end = Math.min(LATEST, wall === undefined ? last : Math.max(last, Number(wall - this.started)));
    const open = this.lanes.openFrom(globalId(index, 0), globalId(index + 1, 0));
    // One that ended by itself after all recovered from what a debugger saw.
    const crash = exitCode === undefined ? this.crashOf(index, end, open, fault) : undefined;
    const crashed = this.wayTo(crash?.call, open);
    for (const id of open) {
      const isCrashed = crash !== undefined && crashed.has(id);
      const last = isCrashed ? end : (ends?.get(id) ?? this.lastKnownOf(id, end));
      this.last = Math.max(this.last, last);
      if (isCrashed) this.crashed(id, last, crash);
      else {
        this.lanes.end(id, last);
        this.calls.end(id, last, ENDED_WITH_PROCESS, undefined);
      }
    }
    this.sql.endOpenHolds.run(BigInt(end), 'process ended', BigInt(index));
    this.sql.endProcess.run(BigInt(end), exitCode === undefined ? null : BigInt(exitCode), BigInt(index));
  }

  /**
   * The last moment at which a call without an end is known to have run. Its caller in the same task went on without it: an end was not recorded,
   * or it is a generator that nobody went on with, which may also have been begun behind its caller.
   */
  private lastKnownOf(id: number, end: number): number {
    const caller = this.calls.parentOf(id);
    if (caller === 0 || this.calls.taskOf(caller) !== this.calls.taskOf(id)) return end;
    const went = this.calls.endOf(caller);
    return went === undefined ? end : Math.min(end, Math.max(went, this.calls.startOf(id)));
  }

  /** What a native debugger saw of a crash says more than Python's own fault handler, which makes an event of the run here. */
  private crashOf(index: number, time: number, open: readonly number[], fault: Fault | undefined): Crash | undefined {
    const seen = this.sql.crashSeen.get(BigInt(index)) as { call: number | null; data: string } | undefined;
    if (seen !== undefined) return crashSeen(seen.call, seen.data);
    if (fault === undefined) return undefined;
    const running = open.flatMap((id): RunningCall[] => {
      const of = this.sql.functionPlace.get(BigInt(this.calls.functionOf(id))) as RunningCall['of'] | undefined;
      return of === undefined ? [] : [{ id, of }];
    });
    const call = callOfFault(fault, running);
    const data = { process: index, ...faultData(fault) };
    const id = call === undefined ? null : BigInt(call);
    this.sql.insertEvent.run(BigInt(time), 'crash', BigInt(index), id, null, JSON.stringify(data));
    this.last = Math.max(this.last, time);
    return { ...data, call };
  }

  /** A call and those that wait for it: all of them end by what it ends by. */
  private wayTo(call: number | undefined, open: readonly number[]): ReadonlySet<number> {
    const way = new Set<number>();
    const running = new Set(open);
    for (let id = call; id !== undefined && running.has(id) && !way.has(id); id = this.calls.parentOf(id)) way.add(id);
    return way;
  }

  /** The process ended in this call, which is its error. */
  private crashed(id: number, end: number, crash: Crash): void {
    this.calls.part(id, ERROR, this.values.takeOrKeep(crashError(crash)));
    this.ended(id, end, CallStatus.Error, undefined);
  }

  /** Something the session itself saw. */
  sessionEvent(name: string, call: string | undefined, data: Record<string, unknown>, wall: bigint): void {
    const id = call === undefined ? undefined : parseCallName(call);
    this.sql.insertEvent.run(
      wall - this.started,
      name,
      null,
      id === undefined ? null : BigInt(id),
      null,
      JSON.stringify(data),
    );
    if (id !== undefined && data['native'] === true) this.stoodStill(name, id, data, wall);
  }

  /** A call that native code stands still in, or under, is held, though the app could not say so. Its holds are told from the app's own by a number below 0. */
  private stoodStill(name: string, call: number, data: Record<string, unknown>, wall: bigint): void {
    const thread = typeof data['thread'] === 'number' ? data['thread'] : 0;
    const hold = BigInt(-1 - thread);
    const process = BigInt(processOf(call));
    if (name === 'stop') {
      const description = typeof data['description'] === 'string' ? data['description'] : 'Paused';
      this.sql.insertHold.run(process, hold, BigInt(call), wall - this.started, description);
      this.counts.holds++;
    } else if (name === 'release')
      this.sql.endHold.run(wall - this.started, 'release', process, BigInt(call), hold, hold);
  }

  /** Says in a place of the run what its recording lacks from there on. */
  mark(wall: bigint, text: string): void {
    const time = wall < this.started ? 0n : wall - this.started;
    this.sql.insertEvent.run(time, 'mark', null, null, null, JSON.stringify({ text }));
  }

  /** The app has ended; what it recorded may still have to be read. */
  stopped(wall: bigint): void {
    this.sql.stopRun.run(wall);
  }

  end(wall: bigint): void {
    this.sql.stopRun.run(wall);
    this.sql.endRun.run(wall);
  }

  /** A frame that could not be read: counted, and said in the run's events. */
  damaged(reason: string): void {
    this.counts.damaged++;
    const time = Number.isFinite(this.last) ? this.last : 0;
    this.sql.insertEvent.run(BigInt(time), 'damaged', null, null, null, JSON.stringify({ reason }));
  }

  apply(item: Item): void {
    const { segment, frame } = item;
    if (segment !== this.readFrom) this.enter(segment);
    if (segment.began > 0) keepEarlier(segment, (reader) => this.values.takeParts(reader));
    if (frame !== undefined) {
      try {
        this.frame(this.readBy, frame);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        this.damaged(error.message);
      }
    }
    this.readTo = item.end;
  }

  private enter(segment: Segment): void {
    this.leave();
    const process = this.processes.get(segment.process);
    if (process === undefined) throw new Error(`process ${segment.process} has no index`);
    this.readFrom = segment;
    this.readBy = process;
    this.readTo = this.offset(segment.file);
    this.readLatest = this.processLast.get(process) ?? -Infinity;
  }

  private leave(): void {
    if (this.readFrom === undefined) return;
    const { file } = this.readFrom;
    this.offsets.set(file, this.readTo);
    this.moved.set(file, this.readBy);
    if (this.readLatest > -Infinity) this.processLast.set(this.readBy, this.readLatest);
    this.readFrom = undefined;
  }

  private frame(process: number, frame: Frame): void {
    switch (frame.kind) {
      case FrameKind.Segment:
        return this.segment(process, frame);
      case FrameKind.Function: {
        const id = globalId(process, frame.id);
        this.kinds.set(id, frame.callKind);
        this.sql.insertFunction.run(
          BigInt(id),
          BigInt(process),
          frame.callKind,
          frame.name,
          frame.qualified,
          frame.module,
          frame.path,
          BigInt(frame.line),
          BigInt(frame.endLine),
        );
        return;
      }
      case FrameKind.Task:
        this.sql.insertTask.run(
          BigInt(globalId(process, frame.id)),
          BigInt(process),
          idOrNull(process, frame.parent),
          frame.name,
        );
        return;
      case FrameKind.Rename:
        this.sql.insertTask.run(BigInt(globalId(process, frame.id)), BigInt(process), null, frame.name);
        return;
      case FrameKind.Start:
        return this.start(process, frame);
      case FrameKind.End:
        return this.endOf(process, frame);
      case FrameKind.State: {
        this.moment(frame.time);
        const value = this.values.takeOrKeep(frame.reader);
        this.calls.part(globalId(process, frame.id), frame.when === 'before' ? STATE_BEFORE : STATE_AFTER, value);
        return;
      }
      case FrameKind.Event:
        return this.event(process, frame);
    }
  }

  private segment(process: number, frame: Extract<Frame, { kind: FrameKind.Segment }>): void {
    if (this.base === undefined) {
      this.base = frame.time;
      // What the session saw before counts from the same moment.
      const by = this.started - frame.wall;
      this.sql.shiftEvents.run(by);
      this.sql.shiftHolds.run({ by });
      this.started = frame.wall;
      this.sql.setBase.run(BigInt(frame.time), frame.wall);
    }
    this.moment(frame.time);
    const name = textIn(frame.info, 'name') ?? textIn(frame.info, 'program') ?? '';
    const python = textIn(frame.info, 'python');
    this.sql.processClocks.run(
      BigInt(frame.pid),
      BigInt(frame.parentPid),
      name,
      frame.wall,
      BigInt(frame.time),
      textIn(frame.info, 'pidStart') ?? null,
      textIn(frame.info, 'language') ?? (python === undefined ? null : 'python'),
      textIn(frame.info, 'languageVersion') ?? python ?? null,
      BigInt(process),
    );
  }

  private start(process: number, frame: Extract<Frame, { kind: FrameKind.Start }>): void {
    const id = globalId(process, frame.id);
    const task = globalId(process, frame.task);
    const func = globalId(process, frame.func);
    const start = this.moment(frame.time);
    const parent = frame.parent === 0 ? 0 : globalId(process, frame.parent);
    if (this.calls.hasStarted(id)) throw new DecodeError('a call starts twice');
    // Its values first: where they cannot be read, there is no call yet.
    this.calls.part(id, ARGS, this.values.takeOrKeep(frame.reader));
    if (!frame.reader.isNone) this.calls.part(id, START_ATTRIBUTES, this.values.takeOrKeep(frame.reader));
    const before = this.calls.start(id, parent, task, func, start);
    const end = before?.end;
    const depth = this.lanes.start(id, parent, task, start, end);
    if (depth > 0) this.calls.depth(id, depth);
    this.tiles.count(task, start, 1, before?.status === CallStatus.Error ? 1 : 0);
    this.counts.calls++;
    this.first = Math.min(this.first, start);
    const span = this.spanOfTask(task);
    span.depth = Math.max(span.depth, depth + 1);
    span.first = Math.min(span.first, start);
    span.last = Math.max(span.last, end ?? start);
    if (!this.watches && this.workflow !== null) return;
    const kind = this.kinds.get(func);
    if (this.watches && (kind === 'tool' || kind === 'llm') && this.seenCount++ < MOST_SEEN) {
      const name = this.sql.functionName.get(BigInt(func)) as string;
      this.watched.set(id, { kind, name, start });
      this.seen.push({ event: 'started', call: callName(id), kind, name, wall: this.started + BigInt(start) });
    }
    if (this.workflow === null && kind === 'workflow') {
      this.workflow = this.sql.functionName.get(BigInt(func)) as string;
      this.sql.setWorkflow.run(this.workflow);
    }
  }

  private spanOfTask(task: number): Span {
    if (task === this.lastTask) return this.lastSpan;
    let span = this.taskSpans.get(task);
    if (span === undefined) this.taskSpans.set(task, (span = { depth: 0, first: Infinity, last: -Infinity }));
    this.lastTask = task;
    return (this.lastSpan = span);
  }

  private endOf(process: number, frame: Extract<Frame, { kind: FrameKind.End }>): void {
    const id = globalId(process, frame.id);
    const end = this.moment(frame.time);
    const failed = frame.status === CallStatus.Error || frame.status === CallStatus.Cancelled;
    if (frame.isUntold !== true) this.calls.part(id, failed ? ERROR : RESULT, this.values.takeOrKeep(frame.reader));
    const attributed = !frame.reader.isNone;
    const tokens = attributed ? this.tokensOf(frame.reader) : undefined;
    this.ended(id, end, frame.status, tokens);
    if (attributed) this.calls.part(id, END_ATTRIBUTES, this.values.takeOrKeep(frame.reader));
    // What an agent says it used, the models below it have said.
    if (tokens !== undefined && this.kinds.get(this.calls.functionOf(id)) !== 'workflow') this.counts.tokens += tokens;
  }

  private ended(id: number, end: number, status: CallStatus, tokens: number | undefined): void {
    // What its process seems to have died in may have gone on after all, where the recording is taken over from elsewhere.
    const more = (status === CallStatus.Error ? 1 : 0) - (this.calls.hasFailed(id) ? 1 : 0);
    const start = this.calls.end(id, end, status, tokens);
    this.lanes.end(id, end);
    this.counts.errors += more;
    if (more !== 0 && start !== undefined) this.tiles.count(this.calls.taskOf(id), start, 0, more);
    const watched = this.watches ? this.watched.get(id) : undefined;
    if (watched === undefined) return;
    this.watched.delete(id);
    const { kind, name } = watched;
    const said = {
      status: STATUS_WORDS[status] ?? 'ended',
      milliseconds: (end - watched.start) / 1e6,
      ...(tokens === undefined ? {} : { tokens }),
    };
    this.seen.push({ event: 'ended', call: callName(id), kind, name, wall: this.started + BigInt(end), ...said });
  }

  private event(process: number, frame: Extract<Frame, { kind: FrameKind.Event }>): void {
    const time = this.moment(frame.time);
    const call = frame.call === 0 ? undefined : globalId(process, frame.call);
    const data = frame.reader.peek();
    const value = this.values.take(frame.reader);
    this.sql.insertEvent.run(
      BigInt(time),
      frame.name,
      BigInt(process),
      call === undefined ? null : BigInt(call),
      BigInt(value),
      null,
    );
    if (call === undefined) return;
    const hold = data instanceof Dict ? data.get('hold') : undefined;
    const number = typeof hold === 'number' ? BigInt(hold) : null;
    if (frame.name === 'held') {
      const description = textIn(data, 'description') ?? 'Paused';
      this.sql.insertHold.run(BigInt(process), number, BigInt(call), BigInt(time), description);
      this.counts.holds++;
    } else if (frame.name === 'resumed') {
      this.sql.endHold.run(BigInt(time), textIn(data, 'why') ?? null, BigInt(process), BigInt(call), number, number);
    } else if (frame.name === 'edited') this.calls.edited(call);
  }

  /** A call has ended also when nobody can read what was said of it. */
  private tokensOf(reader: MarshalReader): number | undefined {
    try {
      return tokensIn(reader.peek());
    } catch (error) {
      if (error instanceof DecodeError) return undefined;
      throw error;
    }
  }

  /** Nanoseconds since time 0 of the run. */
  private moment(time: number): number {
    if (this.base === undefined) {
      this.base = time;
      this.sql.setBase.run(BigInt(time), this.started);
    }
    const moment = time - this.base;
    if (!Number.isSafeInteger(moment) || Math.abs(moment) > LATEST) throw new DecodeError('a time is out of range');
    this.last = Math.max(this.last, moment);
    if (moment > this.readLatest) this.readLatest = moment;
    return moment;
  }

  /** Writes what was only counted so far. */
  private flush(): void {
    this.leave();
    this.values.flush();
    this.calls.flush();
    this.tiles.flush();
    const { calls, errors, holds, tokens, damaged } = this.counts;
    const first = Number.isFinite(this.first) ? BigInt(this.first) : null;
    const last = Number.isFinite(this.last) ? BigInt(this.last) : null;
    this.sql.count.run(
      BigInt(calls),
      BigInt(errors),
      BigInt(holds),
      BigInt(tokens),
      BigInt(damaged),
      first,
      first,
      last,
      last,
    );
    Object.assign(this.counts, { calls: 0, errors: 0, holds: 0, tokens: 0, damaged: 0 });
    for (const [task, span] of this.taskSpans) {
      this.sql.spanTask.run(
        BigInt(task),
        BigInt(Math.floor(task / 2 ** 32)),
        BigInt(span.depth),
        BigInt(span.first),
        BigInt(span.last),
      );
    }
    this.taskSpans.clear();
    this.lastTask = -1;
    for (const [process, latest] of this.processLast) this.sql.setProcessLast.run(BigInt(latest), BigInt(process));
    for (const [file, process] of this.moved)
      this.sql.setOffset.run(file, BigInt(process), BigInt(this.offsets.get(file)!));
    this.moved.clear();
  }
}
