import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../common/errors';
import { toolbreakVersion } from '../common/installation';
import { Log } from '../common/log';
import { deadSpools, SessionFolder } from '../common/sessions';
import { Session } from '../dap/session';
import type { Target } from '../engine/target';
import { deleteSpool } from '../store/spoolOwner';
import { openRecorder } from '../store/workerRecorder';
import { MixedTarget } from '../targets/mixed/target';
import { DelegateStarter, isNative, NativeTarget, type EarlyDelegate } from '../targets/native';
import { LaunchTarget, makePythonTarget } from '../targets/python';
import { connectToSession, openClientsDoor, type ClientsDoor } from './clients';
import { Front } from './front';
import { finishBehindUs, placeRun } from './runs';

/** How long an orderly end may take when we are told to go. */
const END_WITHIN = 5_000;
/** How long what was recorded may take to be read, once the app and the clients are gone. What is left then is recovered later. */
const READ_WITHIN = 10 * 60_000;
const ANSWER_WITHIN = 1_000;
const TIDY_AFTER = 2_000;
/** Clients at a time that have not shown the token. */
const MOST_STRANGERS = 64;

/** A session and all that it stands on: its folder, its log, its door for further clients. One a process. */
export class ServedSession {
  private readonly targets: Target[] = [];
  /** The app is not ours to end any more. */
  private letsGo = false;
  private readonly streams = new Set<Readable>();
  private readonly fronts = new Set<Front>();
  private runs = 0;
  private ending = false;
  private readonly spools: string[] = [];
  private readonly runFiles: string[] = [];
  private tidying: ChildProcess | undefined;

  private constructor(
    readonly folder: SessionFolder,
    readonly log: Log,
    readonly session: Session,
    private clients: ClientsDoor | undefined,
    /** Whoever started us knows that native code will be debugged. */
    private readonly native: boolean,
  ) {}

  /** `native`: native code will be debugged, by this debugger if one is named, in a process that runs already or not; it may have been started. */
  static async open(native?: {
    lldbDap: string | undefined;
    attaches: boolean;
    early?: EarlyDelegate | undefined;
  }): Promise<ServedSession> {
    const log = new Log(undefined, 'info');
    const starter = new DelegateStarter(log, native?.early);
    // Before all else: it takes longer than that.
    if (native) starter.expect(native.lldbDap, native.attaches);
    const folder = await SessionFolder.create(toolbreakVersion());
    log.redirect(join(folder.logs, 'adapter.log'), 'info');
    const session: Session = new Session({
      id: folder.id,
      logs: folder.logs,
      log,
      makeTarget: (request) => {
        if (isNative(request)) return served.remember(new NativeTarget({ ...request, log, starter }));
        const { subProcess, lldbDap } = request.attributes;
        const python = served.remember(makePythonTarget(request, log));
        return new MixedTarget(python, { log, children: subProcess !== false, lldbDap });
      },
      expectTarget: (request) => {
        if (isNative(request) && !(request.mode === 'launch' && request.noDebug)) {
          starter.expect(request.attributes.lldbDap, request.mode === 'attach');
        } else starter.drop();
      },
      placeRun: (name, cwd) => {
        folder.update({ name, cwd });
        return placeRun(folder, cwd, ++served.runs, log);
      },
      openRecorder: (options) => {
        folder.addRun(options.run, options.runFile, options.name);
        served.spools.push(options.spoolFolder);
        served.runFiles.push(options.runFile);
        return openRecorder(options);
      },
      journal: folder,
    });
    const served: ServedSession = new ServedSession(folder, log, session, undefined, native !== undefined);
    served.clients = await openClientsDoor((socket, token) => served.admit(socket, socket, 'client', token), log);
    folder.update({ address: served.clients.address, ...(served.clients.token && { token: served.clients.token }) });
    served.guard();
    setTimeout(() => void served.tidy(), TIDY_AFTER).unref();
    return served;
  }

  /** Lets a client in; with a token, only after it has shown it. */
  admit(input: Readable, output: Writable, name: string, token?: string): void {
    if (token !== undefined && [...this.fronts].filter((front) => front.isStranger).length >= MOST_STRANGERS) {
      input.destroy();
      output.destroy();
      return;
    }
    this.streams.add(input);
    input.on('close', () => this.streams.delete(input));
    const front = new Front(input, output, {
      ...(token !== undefined && { token }),
      here: (inward, outward) => this.session.accept(inward, outward, name),
      elsewhere: connectToSession,
      log: this.log,
      native: this.native,
    });
    this.fronts.add(front);
    void front.finished.then(() => this.fronts.delete(front));
  }

  /**
   * Ends everything, as if all clients had left; by force when that takes too long. Then the process ends, once all that was recorded is
   * in the run file. `orderly`: they have left, and only their last answers have to be written.
   */
  end(why: string, code: number, orderly = false): void {
    if (this.ending) return;
    this.ending = true;
    this.log.info(`ending: ${why}`);
    const giveUp = (): void => {
      this.log.warn('the end took too long');
      process.exit(code);
    };
    setTimeout(() => {
      if (!this.session.onlyRecording) giveUp();
      setTimeout(giveUp, READ_WITHIN).unref();
    }, END_WITHIN).unref();
    const answered = Promise.race([Promise.all([...this.fronts].map((front) => front.finished)), sleep(ANSWER_WITHIN)]);
    if (!orderly) for (const stream of this.streams) stream.destroy();
    void Promise.all(this.launched.map((target) => target.kill()))
      .catch((error: unknown) => this.log.error('ending the app', error))
      .then(() => Promise.race([this.session.done, this.nobodyCame()]))
      .then(() => answered)
      .then(() => process.exit(code));
  }

  private nobodyCame(): Promise<void> {
    return this.session.clients.size === 0 && this.launched.length === 0 ? Promise.resolve() : new Promise(() => {});
  }

  /**
   * After an error of ours: nobody knows what still works here, and the person's app is not to suffer. It runs on without us, its held calls
   * released; then we end.
   */
  private abandon(error: unknown): void {
    this.log.error('unexpected', error);
    if (this.ending) return;
    this.ending = true;
    this.letsGo = true;
    const sentence = `Toolbreak failed inside and lets the app run on without it: ${messageOf(error)}. Its log says more: ${this.log.path ?? ''}`;
    process.stderr.write(`toolbreak: ${sentence}\n`);
    setTimeout(() => process.exit(1), END_WITHIN);
    const say = async (): Promise<void> => this.session.tell('important', `${sentence}\n`);
    const report = (why: unknown): void => this.log.error('letting the app go', why);
    void say()
      .catch(report)
      .then(() => Promise.allSettled(this.targets.map((target) => target.detach())))
      .then((results) => results.forEach((result) => result.status === 'rejected' && report(result.reason)))
      // Clients leave when they hear that the session is over.
      .then(() => Promise.race([this.session.done, sleep(ANSWER_WITHIN)]))
      .catch(report)
      .then(() => process.exit(1));
  }

  private get launched(): (LaunchTarget | NativeTarget)[] {
    return this.targets.filter(
      (target): target is LaunchTarget | NativeTarget =>
        target instanceof LaunchTarget || (target instanceof NativeTarget && target.launched),
    );
  }

  private remember<T extends Target>(target: T): T {
    this.targets.push(target);
    return target;
  }

  /** Whatever way our process ends, the app that we started ends, too; only after an error of ours it runs on. */
  private guard(): void {
    let signals = 0;
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      // An editor sends one when it is done with us, while there may be much left to read. Who sends a second one means it.
      process.on(name, () => (signals++ === 0 ? this.end(name, 0) : process.exit(0)));
    }
    process.on('uncaughtException', (error) => this.abandon(error));
    process.on('unhandledRejection', (error) => this.abandon(error));
    process.on('exit', () => {
      if (!this.letsGo) for (const target of this.launched) target.killNow();
      this.tidying?.kill('SIGKILL');
      try {
        this.session.flush();
        this.clients?.close();
        // Each spool answers for itself whether all of it is in its run file.
        const deleted = this.spools.map((spool) => deleteSpool(spool));
        this.folder.close(!deleted.every(Boolean));
      } catch (error) {
        this.log.error('closing the session folder', error);
      }
      if (this.runFiles.length > 0) finishBehindUs(this.runFiles, this.log);
    });
  }

  /** Takes over what dead sessions left, in a process of its own: there may be much of it, and this session has other things to do. */
  private async tidy(): Promise<void> {
    try {
      if (this.ending || !(await deadSpools())) return;
      const command = [...process.execArgv, process.argv[1]!, 'tidy'];
      const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
      this.tidying = spawn(process.execPath, command, { stdio: 'ignore', windowsHide: true, env });
      this.tidying.on('error', (error) => this.log.warn('tidying sessions', error));
      this.tidying.unref();
    } catch (error) {
      this.log.warn('tidying sessions', error);
    }
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
