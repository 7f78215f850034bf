import { messageOf } from '../common/errors';
import type { Hold } from '../../protocol/control';
import type { Task } from '../engine/tasks';
import { MOST_SEEN, type SeenCall } from '../store/recorder';
import type { Client } from './client';
import type { SessionOptions } from './options';
import type { Session } from './session';

/** Requests that only look: editors send them by the dozen at each stop. */
const LOOKS: ReadonlySet<string> = new Set([
  'initialize', 'threads', 'stackTrace', 'scopes', 'variables', 'exceptionInfo', 'completions', 'breakpointLocations', 'dataBreakpointInfo',
  'stepInTargets', 'gotoTargets', 'loadedSources', 'source', 'toolbreak/status', 'toolbreak/frameCall', 'toolbreak/callFrame',
  'toolbreak/names', 'readMemory', 'disassemble', 'modules',
]); // prettier-ignore

/** What of a command is written: never a value or an expression, since nothing says what is in them. */
const SHOWN = ['threadId', 'threadIds', 'granularity', 'name', 'context', 'program', 'module', 'terminateDebuggee'];

type Entry = Record<string, unknown>;

/** How long a line may wait: lines are masked and written off the way of what the person waits for. */
const WITHIN_MS = 25;

/** Keeps `events.jsonl` and `commands.jsonl` of the session: calls of tools and models, holds, and what clients asked for. */
export class Journal {
  readonly #to: SessionOptions['journal'];
  #broken = false;
  #waiting: { events: Entry[]; commands: Entry[] } = { events: [], commands: [] };
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;

  constructor(
    private readonly session: Session,
    options: SessionOptions,
  ) {
    this.#to = options.journal;
    const { engine } = session;
    const held = (task: Task, hold: Hold): void =>
      this.#event({ event: 'held', ...place(task, hold), boundary: hold.boundary, reason: hold.reason });
    engine.on('held', (task, hold) => hold.framesFollow || held(task, hold));
    engine.on('traced', held);
    engine.on('resumed', (task, hold, by, why) =>
      this.#event({
        event: 'released',
        ...place(task, hold),
        why: by ? by.way.action : why,
        ...(by?.way.step ? { step: by.way.step } : {}),
        ...(by ? { client: by.client } : {}),
      }),
    );
  }

  edited(task: Task, what: string, client: Client): void {
    this.#event({ event: 'edited', ...(task.hold ? place(task, task.hold) : {}), edited: what, client: client.id });
  }

  calls(calls: readonly SeenCall[]): void {
    for (const { wall, ...call } of calls) {
      this.#event({ time: new Date(Number(wall / 1_000_000n)).toISOString(), ...call });
      if (call.event === 'started' && ++this.#calls === MOST_SEEN) {
        this.#event({ event: 'more', note: 'Further calls of tools and models are in the run file only.' });
      }
    }
  }

  command(client: Client, command: string, args: unknown): void {
    // Watches and hovers are asked with every stop, too; what a person typed is a command.
    const given = (typeof args === 'object' && args !== null ? args : {}) as Record<string, unknown>;
    if (LOOKS.has(command) || (command === 'evaluate' && given['context'] !== 'repl')) {
      return;
    }
    const { source, breakpoints } = given as { source?: { path?: unknown }; breakpoints?: unknown };
    const shown = Object.fromEntries(SHOWN.filter((name) => name in given).map((name) => [name, given[name]]));
    this.#write('commands', {
      client: client.id,
      command,
      ...shown,
      ...(typeof source?.path === 'string' ? { path: source.path } : {}),
      ...(Array.isArray(breakpoints) ? { breakpoints: breakpoints.length } : {}),
    });
  }

  #event(entry: Entry): void {
    this.#write('events', entry);
  }

  #write(kind: 'events' | 'commands', entry: Entry): void {
    if (!this.#broken && this.#to) {
      this.#waiting[kind].push({ time: new Date().toISOString(), ...entry });
      this.#timer ??= setTimeout(() => this.flush(), WITHIN_MS).unref();
    }
  }

  /** Writes what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = { events: [], commands: [] };
    try {
      for (const kind of ['events', 'commands'] as const) {
        if (waiting[kind].length > 0) {
          this.#to?.[kind](waiting[kind].map((entry) => JSON.parse(this.session.masker.message(entry)) as Entry));
        }
      }
    } catch (error) {
      // A full disk must not end a session.
      this.#broken = true;
      this.session.log.info(`The session's events are no longer written: ${messageOf(error)}`);
    }
  }
}

function place(task: Task, hold: Hold): Record<string, unknown> {
  const [top] = hold.frames;
  return {
    threadId: task.thread,
    ...(hold.call ? { call: `${task.process.index}.${hold.call}` } : {}),
    // Without its arguments.
    ...(top ? { kind: top.kind, name: top.name.replace(/\(.*$/s, '') } : {}),
  };
}
