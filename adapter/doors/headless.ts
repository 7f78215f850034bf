import { join } from 'node:path';
import type { Ending } from '../../protocol/timeline';
import { messageOf } from '../common/errors';
import { meets } from '../common/functionPattern';
import { toolbreakVersion } from '../common/installation';
import { Log } from '../common/log';
import { SessionFolder } from '../common/sessions';
import { EVALUATION_SECONDS, recordSettings } from '../dap/attributes';
import { Masker } from '../common/masker';
import { StreamMasker } from '../common/masking';
import { recordEnd, recordKnownEnd } from '../store/processEnd';
import type { Recorder } from '../store/recorder';
import { removeRun } from '../store/life/remove';
import { eventCounts } from '../store/reader/ending';
import { RunFile } from '../store/reader/runFile';
import { deleteSpool } from '../store/spoolOwner';
import { openRecorder } from '../store/workerRecorder';
import { CommandTarget } from '../targets/python/command';
import { passOn } from './node';
import { finishBehindUs, placeRun } from './runs';

const LONGEST_NAME = 60;

export interface HeadlessOptions {
  command: readonly string[];
  cwd: string;
  name?: string;
  functions: readonly string[];
  /** Names of secrets, beside the usual ones. */
  maskKeys: readonly string[];
  subProcess: boolean;
}

export interface Recorded {
  /** The command's own. */
  code: number;
  runFile: string;
  /** The run's number in its project; 0 where it has none. */
  number: number;
  /** Processes that were recorded. */
  processes: number;
  calls: number;
  errors: number;
  /** A fault or an exception ended a process, and where is recorded. */
  crashed: boolean;
  /** What ended the command, or a process of it, that did not end by itself. */
  ending?: Ending;
  /** Exceptions that nothing caught in a thread. */
  uncaught: number;
  /** Patterns of names none of which a recorded function has. */
  unmet: readonly string[];
  /** Processes that are still there, and record on without us. */
  left: readonly string[];
  /** The recording of a process ended before the process did. */
  partial: boolean;
  /** The run file could not take all of what was recorded, which is kept beside it. */
  kept: boolean;
  /** What was written where our own words go ended in the middle of a line. */
  inLine: boolean;
  /** The run file cannot be read, and so nothing is known of all this; the recorder has said why. */
  unread?: boolean;
}

/**
 * Runs a command and records it, with nobody looking on. Its input, output and signals are the person's own. Throws a sentence when it cannot be
 * started; a failure of ours lets it run on.
 */
export async function recordCommand(options: HeadlessOptions, say: (sentence: string) => void): Promise<Recorded> {
  const folder = await SessionFolder.create(toolbreakVersion());
  const log = new Log(join(folder.logs, 'adapter.log'), 'info');
  const { functions, maskKeys } = options;
  const record = { ...recordSettings({ functions: [...functions], maskKeys: [...maskKeys] }), output: true };
  const masker = new Masker(record);
  const name = options.name === undefined ? nameOf(masker.arguments(options.command)) : masker.text(options.name);
  const place = placeRun(folder, options.cwd, 1, log);
  folder.update({ name, cwd: options.cwd });
  log.maskWith((text) => masker.text(text));
  const { command, cwd, subProcess } = options;
  const target = new CommandTarget({ command, cwd, subProcess, log, spoolFolder: place.spoolFolder });
  folder.addRun(place.run, place.runFile, name);
  const recorder = openRecorder({
    runFile: place.runFile,
    spoolFolder: place.spoolFolder,
    run: place.run,
    session: folder.id,
    name,
    isNamed: options.name !== undefined,
    onProblem: say,
    indexFor: (process) => target.indexFor(process),
  });
  target.on('processStarted', ({ index, hello }) =>
    recorder.processStarted(index, {
      ...hello,
      argv: masker.arguments(hello.argv),
      name: masker.text(hello.name),
    }),
  );
  const output = new Output(recorder, masker);
  target.on('processEnded', ({ index }, crashed, ended) => {
    output.ended(index);
    recordEnd(recorder, index, crashed, ended);
  });
  target.on('notice', (category, text) => void (category === 'important' && say(text)));
  target.on('control', ({ index }, event) => {
    if (event.event === 'output') output.wrote(index, event.stream, event.text, event.wall);
    if (event.event === 'log' && event.category === 'important') say(event.text);
  });
  const ended = new Promise<number>((resolve) => target.on('exited', (code) => resolve(code ?? 1)));
  const pass = passOn((signal) => target.signal(signal));
  // The command is the person's: it goes on, whatever happens here.
  const failed = (error: unknown): void => {
    log.error('unexpected', error);
    say(`Toolbreak failed inside, and the command goes on: ${messageOf(error)}`);
  };
  process.on('uncaughtException', failed);
  process.on('unhandledRejection', failed);
  let started = false;
  let stays = false;
  let code: number;
  try {
    const configuration = {
      generation: 1,
      breakpoints: [],
      exceptions: [],
      hold: 'task' as const,
      stopOnEntry: false,
      justMyCode: true,
      record,
      evaluationSeconds: EVALUATION_SECONDS,
      unattended: true,
    };
    await target.start(configuration);
    started = true;
    code = await ended;
    await recorder.sync();
    const alone = await target.alone();
    if (alone !== undefined) recordKnownEnd(recorder, alone.index, alone.ended, alone.wall);
    if (target.left !== undefined) recorder.event('mark', undefined, { text: target.left });
    recorder.event('exited', undefined, { code });
  } finally {
    pass();
    await recorder.close();
    // What a full disk refuses now, whoever asks for runs next does; the recorder has said so, and the command's own end is what counts.
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        log.error('at the end', error);
      }
    };
    attempt(() => {
      stays = !deleteSpool(place.spoolFolder);
      folder.close(stays);
    });
    // What never ran is no run, and neither is a command in which nothing could be recorded.
    if (!started || target.processCount === 0) attempt(() => void removeRun(place.runFile));
    process.off('uncaughtException', failed);
    process.off('unhandledRejection', failed);
    attempt(() => finishBehindUs([place.runFile], log));
  }
  const { goesOn, ...recorded } = target.processCount === 0 ? NOTHING : counts(place.runFile, functions, log);
  return {
    code,
    runFile: place.runFile,
    processes: target.processCount,
    inLine: output.inLine,
    // A process that goes on still has its spool.
    kept: stays && !goesOn,
    ...recorded,
  };
}

/** A command as a name: without the folders of its words. */
function nameOf(command: readonly string[]): string {
  const name = command.map((word) => word.split(/[\\/]/).pop() ?? word).join(' ');
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

const IN_ONE_TERMINAL = process.stdout.isTTY && process.stderr.isTTY;

/** What the processes wrote, for the record: masked, line by line. */
class Output {
  private readonly streams = new Map<number, Map<string, Stream>>();

  constructor(
    private readonly recorder: Recorder,
    private readonly masker: Masker,
  ) {}

  /** Whether the last text, of those that stand where stderr does, has no end of a line. */
  inLine = false;

  /** `wall`: when it was written, in microseconds. */
  wrote(process: number, category: string, text: string, wall: number | undefined): void {
    if (category === 'stderr' || IN_ONE_TERMINAL) this.inLine = text === '' ? this.inLine : !text.endsWith('\n');
    const streams = this.streams.get(process) ?? new Map<string, Stream>();
    this.streams.set(process, streams);
    const stream = streams.get(category) ?? { masker: new StreamMasker(this.masker.patterns) };
    streams.set(category, stream);
    const written = momentOf(wall);
    stream.since ??= written;
    const ready = stream.masker.push(text);
    this.record(category, ready, stream.since);
    // What is left of it is the beginning of the next line. A line of a key is left out.
    if (text.endsWith('\n')) stream.since = undefined;
    else if (ready !== '') stream.since = written;
  }

  /** Its last lines may have no end. */
  ended(process: number): void {
    for (const [category, { masker, since }] of this.streams.get(process) ?? [])
      this.record(category, masker.flush(), since);
    this.streams.delete(process);
  }

  private record(category: string, text: string, wall: bigint | undefined): void {
    if (text !== '') this.recorder.event('output', undefined, { category, text }, wall);
  }
}

interface Stream {
  masker: StreamMasker;
  /** When the first of the characters was written that wait for the end of their line. */
  since?: bigint | undefined;
}

/** Nanoseconds; nothing where the clock of the app cannot be that of this process. */
function momentOf(wall: number | undefined): bigint | undefined {
  const fits = wall !== undefined && Number.isSafeInteger(wall) && Math.abs(wall / 1000 - Date.now()) < MOST_APART;
  return fits ? BigInt(wall) * 1000n : undefined;
}

/** Milliseconds between a text that is written and the adapter that has it: it may be far behind. */
const MOST_APART = 60_000;

type Counts = Pick<
  Recorded,
  'number' | 'calls' | 'errors' | 'crashed' | 'ending' | 'uncaught' | 'unmet' | 'left' | 'partial' | 'unread'
> & { goesOn: boolean };

const NOTHING: Counts = {
  number: 0,
  calls: 0,
  errors: 0,
  crashed: false,
  uncaught: 0,
  unmet: [],
  left: [],
  partial: false,
  goesOn: false,
};

/** Those that never connected: the others were told to stop recording. A worker of Node is a part of its process. */
const LEFT =
  "SELECT name || ' (' || pid || ')' FROM processes WHERE ended IS NULL AND runtime IS NULL GROUP BY pid ORDER BY id";

const NAMES =
  "SELECT f.module || '.' || f.qualified FROM functions f JOIN function_totals t ON t.function = f.id WHERE t.calls > 0";

function counts(runFile: string, patterns: readonly string[], log: Log): Counts {
  try {
    const file = new RunFile(runFile);
    const { number, calls, errors, ending, partial = false, left: goesOn = false } = file.summary();
    const events = eventCounts(file);
    const left = file.sql(LEFT).pluck().all() as string[];
    const names = file.sql(NAMES).pluck().all() as string[];
    file.close();
    return {
      number,
      calls,
      errors,
      crashed: events.has('crash'),
      uncaught: events.get('uncaught') ?? 0,
      unmet: patterns.filter((pattern) => !meets(pattern, names)),
      left,
      partial,
      goesOn,
      ...(ending !== undefined && { ending }),
    };
  } catch (error) {
    log.warn('the recording', error);
    return { ...NOTHING, unread: true };
  }
}
