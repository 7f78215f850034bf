import { AsyncLocalStorage } from 'node:async_hooks';
import { LIST, TUPLE } from './bytes.mjs';
import { Encoder } from './encoder.mjs';
import { bytesOf } from './marks.mjs';
import { failed } from './report.mjs';
import { Spool } from './spool.mjs';

/**
 * The calls of wrapped functions, written as they begin and end.
 *
 * Who called whom is known from two things: what runs on the stack, `running`, and behind an `await` or a callback what the asynchronous context
 * says. A call that has ended is nobody's parent; the one it stood in is.
 */

/**
 * @typedef {import('./wrap.mjs').Wrapped} Wrapped
 * @typedef {{ id: number, innermost: Call | null }} Task a lane: its calls stand in each other
 * @typedef {{ id: number, parent: Call | null, task: Task, under: Call | null, ended: boolean }} Call
 * @typedef {{ process: string, pid: number, parentPid: number, thread: number, threadName: string, pidStart: string, name: string, argv: string[] }} About
 */

export const RETURNED = 0;
export const ERROR = 1;

const SPOOL_VERSION = 2;
/** Arguments without a name; those behind them are a list. */
const MOST_UNNAMED = 100;
const START = bytesOf((bytes) => {
  bytes.open(TUPLE, 8);
  bytes.int(3);
});
const END = bytesOf((bytes) => {
  bytes.open(TUPLE, 6);
  bytes.int(4);
});
const { floor } = Math;
const clock = performance.now.bind(performance);
const { timeOrigin } = performance;

/** What is to be added to the clock to get the system's monotonic time, which all processes have in common. */
const offset = (() => {
  let best = Infinity;
  let found = 0;
  for (let round = 0; round < 5; round++) {
    const before = clock();
    const time = Number(process.hrtime.bigint());
    const took = clock() - before;
    if (took >= best) continue;
    best = took;
    found = time - (before + took / 2) * 1e6;
  }
  return Math.round(found);
})();

/** Nanoseconds of the system's monotonic clock. */
const now = () => floor(clock() * 1e6) + offset;

/** @param {string} reason */
export const endSentence = (reason) => `Recording ended: ${reason}. The app goes on without it.`;

/** Of an event that belongs to no call. @param {import('./bytes.mjs').Bytes} bytes @param {string} name @param {number} time */
function eventHead(bytes, name, time) {
  bytes.open(TUPLE, 5);
  bytes.int(6);
  bytes.long(time);
  bytes.text(name);
  bytes.int(0);
}

export class Recorder {
  /** The innermost call on the stack. @type {Call | null} */
  running = null;
  /** @type {AsyncLocalStorage<Call>} */
  storage = new AsyncLocalStorage();
  /** @private */ calls = 0;
  /** @private */ functions = 0;
  /** @private */ tasks = 0;
  /** Tasks in which nothing runs. @private @type {Task[]} */ free = [];

  /**
   * Throws when the folder cannot be written.
   * @param {string} folder
   * @param {About} about
   * @param {number} limit bytes of files
   * @param {(reason: string) => void} ended
   */
  constructor(folder, about, limit, ended) {
    this.folder = folder;
    this.about = about;
    const mark = (/** @type {import('./bytes.mjs').Bytes} */ bytes, /** @type {string} */ reason) => {
      eventHead(bytes, 'mark', now());
      bytes.openDict();
      bytes.text('text');
      bytes.text(endSentence(reason));
      bytes.closeDict();
    };
    this.spool = new Spool(folder, about.process, limit, (bytes) => this.header(bytes), mark, ended);
    this.encoder = new Encoder(this.spool.bytes);
    /** @private @type {Task} */
    this.main = this.newTask();
  }

  /**
   * A call begins; nothing when it could not be recorded.
   * @param {Wrapped} wrapped
   * @param {ArrayLike<unknown>} args
   * @returns {Call | null}
   */
  start(wrapped, args) {
    const { spool, encoder } = this;
    try {
      let parent = this.running ?? this.storage.getStore() ?? null;
      while (parent !== null && parent.ended) parent = parent.parent;
      const task = this.taskIn(parent);
      if (wrapped.known !== this) this.describe(wrapped);
      const time = now();
      const id = ++this.calls;
      const bytes = spool.begin();
      bytes.copy(START);
      bytes.int(id);
      bytes.int(parent === null ? 0 : parent.id);
      bytes.int(wrapped.id);
      bytes.int(task.id);
      bytes.long(time);
      encoder.begin();
      bytes.openDict();
      const { params } = wrapped;
      const { length } = args;
      for (let index = 0; index < length; index++) {
        const isRest = index - params.length === MOST_UNNAMED;
        const param = isRest
          ? encoder.key(`${index}…`)
          : index < params.length
            ? params[index]
            : encoder.key(String(index));
        bytes.copy(param.bytes);
        if (isRest || param === wrapped.rest) {
          const rest = Array.prototype.slice.call(args, index);
          if (param.mask !== null) encoder.under(param, rest, 0);
          else encoder.list(rest, 1);
          break;
        }
        encoder.under(param, args[index], 0, param.beside !== undefined ? wrapped.row(args) : undefined);
      }
      bytes.closeDict();
      bytes.none();
      spool.commit(time);
      const call = { id, parent, task, under: task.innermost, ended: false };
      task.innermost = call;
      return call;
    } catch (error) {
      failed(error);
      return null;
    }
  }

  /**
   * @param {Call} call
   * @param {number} status
   * @param {unknown} value the result, or the error
   */
  end(call, status, value) {
    if (call.ended) return;
    call.ended = true;
    try {
      this.leave(call);
      const { spool } = this;
      if (!spool.open) return;
      const time = now();
      const bytes = spool.begin();
      bytes.copy(END);
      bytes.int(call.id);
      bytes.long(time);
      bytes.int(status);
      this.encoder.root(value);
      bytes.none();
      spool.commit(time);
    } catch (error) {
      failed(error);
    }
  }

  /**
   * Something that belongs to no call.
   * @param {string} name
   * @param {Record<string, unknown>} data
   */
  event(name, data) {
    try {
      const { spool } = this;
      if (!spool.open) return;
      const time = now();
      const bytes = spool.begin();
      eventHead(bytes, name, time);
      this.encoder.root(data);
      spool.commit(time);
    } catch (error) {
      failed(error);
    }
  }

  /** @private @param {Call} call */
  leave(call) {
    const { task } = call;
    if (task.innermost !== call) return;
    let { under } = call;
    while (under !== null && under.ended) under = under.under;
    task.innermost = under;
    if (under === null && task !== this.main) this.free.push(task);
  }

  /** Where a call stands: in its parent's task, or where nothing else runs. @private @param {Call | null} parent */
  taskIn(parent) {
    if (parent !== null && parent.task.innermost === parent) return parent.task;
    if (parent === null && this.main.innermost === null) return this.main;
    // Of those that are in use again since they were free, nothing is known here.
    for (let task = this.free.pop(); task !== undefined; task = this.free.pop())
      if (task.innermost === null) return task;
    return this.newTask();
  }

  /** @private @returns {Task} */
  newTask() {
    const id = ++this.tasks;
    const bytes = this.spool.begin();
    bytes.open(TUPLE, 4);
    bytes.int(2);
    bytes.int(id);
    // As Python's first thread is called: among several processes "main" says nothing.
    const { name } = this.about;
    bytes.text(id === 1 ? name : `${name} ${id}`);
    bytes.int(0);
    this.spool.commit(now());
    return { id, innermost: null };
  }

  /** @private @param {Wrapped} wrapped */
  describe(wrapped) {
    wrapped.id = ++this.functions;
    const bytes = this.spool.begin();
    bytes.open(TUPLE, 9);
    bytes.int(1);
    bytes.int(wrapped.id);
    bytes.text(wrapped.kind);
    bytes.text(wrapped.name);
    bytes.text(wrapped.name);
    bytes.text('');
    if (wrapped.path === null) bytes.none();
    else bytes.text(wrapped.path);
    bytes.int(wrapped.line);
    bytes.int(wrapped.line);
    this.spool.commit(now());
    wrapped.known = this;
  }

  /** The first frame of a file. @private @param {import('./bytes.mjs').Bytes} bytes */
  header(bytes) {
    const { about } = this;
    bytes.open(TUPLE, 10);
    bytes.int(0);
    bytes.int(SPOOL_VERSION);
    bytes.text(about.process);
    bytes.number(about.pid);
    bytes.number(about.parentPid);
    bytes.number(about.thread);
    bytes.text(about.threadName);
    bytes.bigint(BigInt(Math.round((timeOrigin + clock()) * 1000)) * 1000n);
    bytes.long(now());
    bytes.openDict();
    for (const [name, text] of [
      ['name', about.name],
      ['language', 'node'],
      ['languageVersion', process.versions.node],
      ['pidStart', about.pidStart],
    ]) {
      bytes.text(name);
      bytes.text(text);
    }
    bytes.text('argv');
    bytes.open(LIST, about.argv.length);
    for (const word of about.argv) bytes.text(word.slice(0, 10_000));
    bytes.closeDict();
  }
}
