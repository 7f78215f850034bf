import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { types } from 'node:util';
import { isMainThread, threadId } from 'node:worker_threads';
import { classOf } from './classes.mjs';
import { partsOf } from './errors.mjs';
import { joined, notRecorded } from './joined.mjs';
import { MAX_SPOOL_BYTES } from './limits.mjs';
import { isOption, isSecretKey, maskText } from './masking.mjs';
import { endSentence, Recorder } from './recorder.mjs';
import { failed, say } from './report.mjs';
import { MASK } from './secrets.mjs';
import { shared } from './shared.mjs';

/** Recording without any debugger: spools and a note in a folder, which `toolbreak import` takes over later. */

const NOTE = 'run.json';
/** The folder of the run, for the processes that this one starts, of whatever language. */
const INTO = 'TOOLBREAK_RECORD_INTO';
/** What is asked of errors and of `process` here is not in older ones. */
const OLDEST = [22, 2];
/** In place of the start of a process whose number means nothing to whoever reads it. */
const ELSEWHERE = '-';
const immediately = setImmediate;
/** Milliseconds from an error that the app caught to the `process.exit` that it leads to. */
const TIDIES_UP = 10_000;
/** With what is there in it that has no type. */
const inner = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (process));

/**
 * Records from now on; answers the run's own folder. Throws when it cannot be written.
 * @param {string} folder
 */
export function begin(folder) {
  return shared.recorder?.folder ?? start(() => folderOfRun(resolve(folder)));
}

/** Records from now on where a session above this process wants it, into its run. */
export function joinSession() {
  if (joined === null || shared.recorder !== null) return;
  const { spool } = joined;
  try {
    start(() => spool);
  } catch (error) {
    notRecorded(error);
  }
}

/** Records from now on where a process above this one records into a folder, and there is no session. */
export function joinRun() {
  const into = process.env[INTO] ?? '';
  if (joined !== null || shared.recorder !== null || into === '') return;
  try {
    if (existsSync(join(into, NOTE))) start(() => into);
  } catch (error) {
    notRecorded(error);
  }
}

/** @param {() => string} place */
function start(place) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new Error(`recording takes Node ${OLDEST.join('.')} or later, and this is ${process.versions.node}`);
  const most = limit();
  const into = place();
  const recorder = new Recorder(into, about(), most, (reason) => {
    if (shared.recorder === recorder) shared.recorder = null;
    say(endSentence(reason));
  });
  shared.recorder = recorder;
  const { spool } = recorder;
  const crash = isMainThread ? 'crash' : 'uncaught';
  /** What the app itself was told of, and may be about to end for. @type {{ told: ReturnType<typeof crashOf>, at: number, code: unknown, isNow: boolean, fails: boolean } | null} */
  let caught = null;
  /** Whether nothing is left to do, or an error that nobody caught ends it: then no `process.exit` comes behind the event. */
  let ends = false;
  let isTold = false;

  /** What comes in this turn is written at once: there may be no later one. */
  const atOnce = () => {
    spool.flush();
    spool.last = true;
    immediately(() => {
      spool.last = ends = false;
      if (caught === null) return;
      caught.isNow = false;
      caught.fails ||= Boolean(process.exitCode) && process.exitCode !== caught.code;
    }).unref();
  };
  /** @param {number | undefined} code where it is known */
  const end = (code) => {
    if (!isTold && isMainThread && rootOf(into) === process.pid)
      recorder.event('exited', code === undefined ? {} : { code: codeOf(code) });
    isTold = true;
    spool.flush();
    spool.last = true;
  };

  process.on('uncaughtExceptionMonitor', (error) => {
    // An error here would stand in the place of the app's own.
    try {
      const told = crashOf(error);
      if (isCaught()) {
        caught = { told, at: performance.now(), code: process.exitCode, isNow: true, fails: false };
        // What catches it may throw again, which ends the process without any event.
        atOnce();
      } else {
        ends = true;
        caught = null;
        recorder.event(crash, told);
        spool.flush();
      }
    } catch (problem) {
      failed(problem);
    }
  });
  process.on('exit', (code) => {
    if (caught !== null && code !== 0) {
      const { told, at, isNow, fails } = caught;
      // An app that goes on has not crashed, however it ends later; one that tidies up may take a while.
      if (isNow || fails || (!ends && performance.now() - at < TIDIES_UP)) recorder.event(crash, told);
    }
    // What else listens may end it with another code.
    const isLast = ends || reallyExit === undefined || inner['reallyExit'] !== reallyExit;
    if (isLast) end(process.listenerCount('exit') === 1 ? code : undefined);
    else spool.flush();
    spool.last = true;
  });
  // Nothing that is recorded now may keep the process alive; but what was started may.
  process.on('beforeExit', () => {
    atOnce();
    ends = true;
  });
  spool.waitForNothing();
  allowOneMore();
  const reallyExit = isMainThread ? lastOf('reallyExit', end) : undefined;
  lastOf('execve', () => spool.flush());
  return into;
}

/** Ours is no reason to warn of a leak: of listeners of `process` there may be one more, whatever the app allows. */
function allowOneMore() {
  const name = '_maxListeners';
  let own = inner[name];
  Object.defineProperty(process, name, {
    get() {
      const most = typeof own === 'number' ? own : EventEmitter.defaultMaxListeners;
      return most > 0 ? most + 1 : most;
    },
    set(given) {
      own = given;
    },
    enumerable: true,
    configurable: true,
  });
}

/**
 * Has `before` called first by a function of `process` behind which nothing of this program runs; whatever listens to `exit` may have been removed, or end
 * the process itself. Answers what stands there now; nothing where this Node has none.
 * @param {'reallyExit' | 'execve'} name
 * @param {(code: number | undefined) => void} before
 */
function lastOf(name, before) {
  const own = inner[name];
  if (typeof own !== 'function') return undefined;
  /** @param {...unknown} args */
  const instead = (...args) => {
    try {
      before(typeof args[0] === 'number' ? args[0] : undefined);
    } catch (problem) {
      failed(problem);
    }
    return Reflect.apply(own, process, args);
  };
  Object.defineProperty(instead, 'name', { value: name });
  inner[name] = instead;
  return instead;
}

/** Whether the app goes on after an exception that nothing caught on its way. */
function isCaught() {
  return process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
}

/** What ends this thread, in the words of the other runtime. @param {unknown} error */
function crashOf(error) {
  const { type, message, frames } = thrown(error);
  const [own] = frames;
  return {
    text: message === '' ? type : `${type}: ${message}`,
    type,
    message,
    backtrace: frames.map(({ path, line, called }) => `${called || '<anonymous>'} @ ${path}:${line}`),
    ...(own && { path: own.path, line: own.line, function: own.called || '<anonymous>' }),
    ...(!isMainThread && { thread: `worker ${threadId}` }),
  };
}

/** Innermost frame first. Anything may be thrown. @param {unknown} error */
function thrown(error) {
  if (typeof error !== 'object' || error === null || types.isProxy(error)) {
    const isText = typeof error !== 'object' && typeof error !== 'function' && typeof error !== 'symbol';
    return { type: typeof error, message: isText ? maskText(String(error)) : '', frames: [] };
  }
  const { type, message, frames } = partsOf(error, classOf(error).name);
  return { type, message, frames: frames.reverse() };
}

function limit() {
  const megabytes = process.env.TOOLBREAK_RECORD_MEGABYTES ?? '';
  if (/^0*[1-9]\d{0,8}$/.test(megabytes)) return Number(megabytes) * 2 ** 20;
  // Said by the first process of a run alone, where that is known: the others have the same.
  if (megabytes !== '' && process.env[INTO] === undefined)
    say(
      `TOOLBREAK_RECORD_MEGABYTES is ${JSON.stringify(megabytes.slice(0, 40))}, and has to be a whole number from 1 on: ${MAX_SPOOL_BYTES / 2 ** 20} is taken.`,
    );
  return MAX_SPOOL_BYTES;
}

/** @returns {import('./recorder.mjs').About} */
function about() {
  const started = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
  return {
    process: `${process.pid}-${started.toString(16)}${isMainThread ? '' : `-w${threadId}`}`,
    pid: process.pid,
    parentPid: process.ppid,
    thread: threadId,
    threadName: isMainThread ? 'main' : `worker ${threadId}`,
    pidStart: joined?.elsewhere === true ? ELSEWHERE : startMark(),
    name: isMainThread ? name() : `${name()} (worker ${threadId})`,
    argv: argv(),
  };
}

function name() {
  const [, script] = process.argv;
  return script === undefined ? 'node' : basename(script);
}

/** The command line without secrets. */
function argv() {
  const words = process.argv.slice(1);
  return words.map((word, index) => {
    const before = index > 0 ? words[index - 1] : '';
    return isOption(before) && isSecretKey(before.replace(/^-+/, '')) ? MASK : maskText(word);
  });
}

/**
 * With those above it. Node's own way never comes back where a folder above is there and takes none, as below `/proc`.
 * @param {string} folder
 */
function makeFolder(folder) {
  const missing = [];
  for (let above = folder; !existsSync(above) && dirname(above) !== above; above = dirname(above)) missing.push(above);
  for (const one of missing.reverse()) {
    try {
      mkdirSync(one, { mode: 0o700 });
    } catch (error) {
      // Another process of the app made it in the same moment.
      if (/** @type {{ code?: string }} */ (error).code !== 'EEXIST') throw error;
    }
  }
}

/** The folder that a process above us made for the run, or a new one with its note. @param {string} folder */
function folderOfRun(folder) {
  const known = process.env[INTO] ?? '';
  if (known !== '' && dirname(known) === folder && existsSync(join(known, NOTE))) return known;
  const token = randomBytes(8).toString('hex');
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const into = join(folder, `${time}-${process.pid}-${token.slice(0, 4)}`);
  makeFolder(into);
  const note = {
    version: 1,
    id: token,
    name: name(),
    argv: argv(),
    cwd: process.cwd(),
    executable: process.execPath,
    pid: process.pid,
    machine: machine(),
    started: Date.now() * 1e6,
  };
  const path = join(into, NOTE);
  writeFileSync(`${path}.new`, JSON.stringify(note), { flag: 'wx', mode: 0o600 });
  renameSync(`${path}.new`, path);
  process.env[INTO] = into;
  return into;
}

/** As whoever started it is told. @param {number} code */
const codeOf = (code) => (process.platform === 'win32' ? code : code & 255);

/**
 * The process that made the folder of the run. At its end it says so, which one that is killed does not; in the run of a session it is the session that does.
 * @param {string} folder
 */
function rootOf(folder) {
  return joined === null ? Number(basename(folder).split('-').at(-2)) : undefined;
}

/** This machine since it was started, and which numbers processes have: elsewhere, or later, ours mean nothing. */
function machine() {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Tells this process from a later one of its number, as the adapter reads it; empty where the system does not say. */
function startMark() {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
