import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Frame, Hold } from '../../protocol/control';
import { StreamMasker } from '../common/masking';
import type { TargetProcess } from '../engine/target';
import { callOfFrame, type Task } from '../engine/tasks';
import { recordEnd } from '../store/processEnd';
import type { Client } from './client';
import { presentBreakpoint } from './present/breakpoint';
import { sourceOf } from './present/stack';
import type { Session } from './session';

/** Reasons for which the person who released the task wants to see it again at once. */
const ASKED_FOR: readonly Hold['reason'][] = ['step', 'goto', 'restart'];

/** So many frames of a stop at a line are recorded. */
const RECORDED_FRAMES = 50;

/** Turns what the engine says into events for every client, and into the record. */
export class Broadcast {
  #maskers = new Map<string, StreamMasker>();
  /** What is to be recorded of crashes, by the process. */
  readonly #crashes = new Map<TargetProcess, Record<string, unknown>>();
  #saidProcess = false;
  #progress = 0;

  constructor(private readonly session: Session) {
    const { engine } = session;
    engine.on('processStarted', (process) => {
      const argv = session.masker.arguments(process.hello.argv);
      if (process.hello.language === 'native') {
        this.#joined((client) => client.offerNative());
      }
      const name = session.masker.text(process.hello.name);
      session.recorder?.processStarted(process.index, { ...process.hello, argv, name });
      if (!this.#saidProcess) {
        this.#saidProcess = true;
        const { name, pid } = process.hello;
        session.sendAll('process', {
          name,
          systemProcessId: pid,
          isLocalProcess: true,
          startMethod: session.startMethod,
        });
      }
      for (const framework of process.hello.frameworks) {
        if (!framework.supported && framework.message) {
          session.tell('important', `${framework.message}\n`);
        }
      }
    });
    engine.on('processEnded', (process, crashed, ended) => {
      this.#recordCrash(process);
      if (session.recorder) recordEnd(session.recorder, process.index, crashed, ended);
      // A server that is reloaded has nothing bound until its next process is there.
      if (session.startMethod === 'attach') {
        this.#tellBreakpoints();
      }
    });
    engine.on('threadStarted', (task) => session.sendAll('thread', { reason: 'started', threadId: task.thread }));
    engine.on('threadExited', (task) => {
      this.#dropThread(task);
      session.sendAll('thread', { reason: 'exited', threadId: task.thread });
    });
    engine.on('held', (task, hold, others, along) => {
      [task, ...along].forEach((one) => this.#dropThread(one));
      this.#joined((client) => {
        const body = stopped(session, client, task, hold, others);
        client.send('stopped', body);
        if (!body.allThreadsStopped) {
          along.forEach((one) => one.hold && client.send('stopped', stopped(session, client, one, one.hold, true)));
        }
      });
      if (!hold.framesFollow) this.#recordStop(task, hold);
    });
    engine.on('traced', (task, hold) => this.#recordStop(task, hold));
    engine.on('recorded', (process, { name, data }) => {
      const event = { process: process.index, ...session.masker.recorded(data) };
      // A crash is of the call that it stops in, which may be told a moment later.
      if (name === 'crash') this.#crashes.set(process, event);
      else session.recorder?.event(name, undefined, event);
      engine.tasks.held().forEach((task) => this.#stoppedByCrash(task));
    });
    engine.on('resumed', (task, hold, by, why, along) => {
      [task, ...along].forEach((one) => this.#dropThread(one));
      const action = by
        ? { action: by.way.action, step: by.way.step ?? null, client: by.client }
        : { action: why, step: null, client: null };
      this.record('release', task, { ...action, ...standing(task, hold) }, hold);
      this.#joined((client) => {
        if (!by?.answered || client.id !== by.client) {
          client.send('continued', { threadId: task.thread, allThreadsContinued: this.#allGoOn(along) });
        }
        // Steps of one are steps of all, and soon over.
        if (!by?.way.step && !this.#allGoOn(along)) {
          along.forEach((one) => client.send('continued', { threadId: one.thread, allThreadsContinued: false }));
        }
        if (by && by.way.action !== 'continue') {
          client.send('toolbreak/released', { threadId: task.thread, action: by.way.action, client: by.client });
        }
      });
    });
    engine.on('edited', (task, looksDifferent) => {
      // A client that fetches its stacks again may show the task as running meanwhile, and take no key that goes on with it.
      const areas = looksDifferent ? ['stacks', 'variables'] : ['variables'];
      this.#joined((client) => {
        if (client.initialize.supportsInvalidatedEvent) {
          client.send('invalidated', { areas, threadId: task.thread });
        }
      });
    });
    engine.on('breakpoints', () => this.#tellBreakpoints());
    engine.on('log', (_process, event) => {
      this.#joined((client) => {
        const place = event.path
          ? { source: sourceOf(client, event.path, false), line: client.lineTo(event.line ?? 1) }
          : {};
        client.send('output', { category: event.category, output: withNewline(event.text), ...place });
      });
    });
    engine.on('output', (category, text) => {
      session.sendAll('output', { category, output: text });
      this.#recordOutput(category, text);
    });
    engine.on('notice', (category, text) => session.tell(category, withNewline(text)));
  }

  /** Everything is held as it is: what a client that came later must hear. */
  replay(client: Client): void {
    const held = this.session.engine.tasks.held();
    held.forEach((task, index) => {
      if (task.hold) {
        client.send('stopped', stopped(this.session, client, task, task.hold, index > 0));
      }
    });
  }

  /** Shows progress to those who can, once it took a while. */
  progress(title: string, after: number): { end(): void } {
    const progressId = `progress-${++this.#progress}`;
    const shown = new Set<Client>();
    const timer = setTimeout(() => {
      this.#joined((client) => {
        if (client.initialize.supportsProgressReporting) {
          shown.add(client);
          client.send('progressStart', { progressId, title });
        }
      });
    }, after);
    return {
      end: () => {
        clearTimeout(timer);
        shown.forEach((client) => client.send('progressEnd', { progressId }));
      },
    };
  }

  record(name: string, task: Task, data: Record<string, unknown>, hold = task.hold): void {
    this.session.recorder?.event(name, callOfHold(task, hold), data);
  }

  #recordStop(task: Task, hold: Hold): void {
    const { reason, description, boundary, text } = hold;
    const said = { reason, description, ...(text ? { text: this.session.masker.text(text) } : {}), boundary };
    this.record('stop', task, { ...said, ...standing(task, hold), ...tracedBack(hold) }, hold);
    this.#stoppedByCrash(task);
  }

  /** What else is held in the process has nothing to do with it. */
  #stoppedByCrash(task: Task): void {
    if (task.hold?.reason === 'exception' && task.hold.boundary === 'line') this.#recordCrash(task.process, task);
  }

  #recordCrash(process: TargetProcess, task?: Task): void {
    const crash = this.#crashes.get(process);
    this.#crashes.delete(process);
    if (crash) this.session.recorder?.event('crash', task && callOfHold(task, task.hold), crash);
  }

  /** Writes what the output's last lines were, and forgets about the run. */
  flush(): void {
    for (const process of [...this.#crashes.keys()]) this.#recordCrash(process);
    for (const [category, masker] of this.#maskers) {
      const text = masker.flush();
      if (text) {
        this.session.recorder?.event('output', undefined, { category, text });
      }
    }
    this.#maskers = new Map();
    this.#saidProcess = false;
  }

  /** Secrets are not recorded; lines are looked at whole, since a secret may be cut in two pieces of output. */
  #recordOutput(category: string, text: string): void {
    const { recorder, masker } = this.session;
    if (!recorder) {
      return;
    }
    const stream = this.#maskers.get(category) ?? new StreamMasker(masker.patterns);
    this.#maskers.set(category, stream);
    const ready = stream.push(text);
    if (ready) {
      recorder.event('output', undefined, { category, text: ready });
    }
  }

  #tellBreakpoints(): void {
    this.#joined((client) => {
      for (const view of this.session.engine.breakpoints.changed(client.id)) {
        client.send('breakpoint', { reason: 'changed', breakpoint: presentBreakpoint(client, view) });
      }
    });
  }

  /** Nothing is held any more, and it was a whole process that went on. */
  #allGoOn(along: readonly Task[]): boolean {
    return along.length > 0 && this.session.engine.tasks.held().length === 0;
  }

  #dropThread(task: Task): void {
    this.session.clients.forEach((client) => client.dropThread(task.thread));
  }

  #joined(tell: (client: Client) => void): void {
    [...this.session.clients].filter((client) => client.joined).forEach(tell);
  }
}

function stopped(
  session: Session,
  client: Client,
  task: Task,
  hold: Hold,
  others: boolean,
): DebugProtocol.StoppedEvent['body'] {
  const asked =
    task.lastRelease?.client === client.id && task.lastRelease.towardsStop && ASKED_FOR.includes(hold.reason);
  const hits = session.engine.breakpoints.idsFor(client.id, hold.breakpoints);
  return {
    reason: hold.reason,
    description: hold.description,
    threadId: task.thread,
    ...(others && !asked ? { preserveFocusHint: true } : {}),
    ...(hold.text ? { text: hold.text } : {}),
    allThreadsStopped: hold.whole === true && allStand(session),
    ...(hits.length > 0 ? { hitBreakpointIds: hits } : {}),
  };
}

/** The call that a hold is of; for a program, the one that started it. */
function callOfHold(task: Task, hold: Hold | undefined): string | undefined {
  if (hold?.call) return `${task.process.index}.${hold.call}`;
  const frame = hold?.frames.find((one) => one.process !== undefined && one.call !== undefined);
  return frame && callOfFrame(task, frame);
}

/** Of a process that has told of no task yet it is not known. */
function allStand({ engine }: Session): boolean {
  const tasks = engine.tasks.all();
  const told = engine.processes.every((process) => tasks.some((one) => one.process === process));
  return told && tasks.every((one) => one.hold);
}

/** Which thread it is, of which process where no call tells it, and whether the app cannot record this stop by itself. */
function standing(task: Task, hold: Hold): { thread: number; process?: number; native?: true } {
  return {
    thread: task.thread,
    ...(callOfHold(task, hold) === undefined ? { process: task.process.index } : {}),
    ...(hold.native ? { native: true } : {}),
  };
}

/** Where a line of code is held, or an exception outside of any call, the way there is part of what is recorded. */
function tracedBack(hold: Hold): { backtrace?: string[] } {
  if (hold.boundary !== 'line' && hold.call) return {};
  // A frame of call 0 stands for the code outside of calls, whose own frames are here.
  const frames = hold.frames.filter(({ call }) => call !== 0);
  return { backtrace: frames.slice(0, RECORDED_FRAMES).map(lineOf) };
}

/** A call's frame without its arguments, which may be secrets: they are recorded with the call, masked. */
function lineOf({ name, path, line, call }: Frame): string {
  const said = call === undefined ? name : name.replace(/\(.*$/s, '');
  return path ? `${said} @ ${path}:${line}` : said;
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
