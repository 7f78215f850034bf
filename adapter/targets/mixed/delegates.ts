import { readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import { DelegateClient } from '../delegate/client';
import { findDelegate, noDelegate } from '../native/discovery';
import { asArgument, QUICK_START, quirksOf, type Quirks } from '../native/quirks';
import { mapped } from './sources';

/** Libraries of the system are loaded by their whole paths, as installed packages are. */
const SYSTEM_FOLDER = /^\/(usr|lib|lib64)(\/|$)|\/(site|dist)-packages(\/|$)|\/lib-dynload$/;
const MOST_FOLDERS = 50;

export interface Delegate {
  client: DelegateClient;
  quirks: Quirks;
}

/** Signals that programs use for themselves: passed on, and no stop. */
const OWN_SIGNALS = [
  'SIGCHLD SIGUSR1 SIGUSR2 SIGALRM SIGPROF SIGVTALRM SIGURG SIGPIPE SIGWINCH SIGIO SIGHUP SIGTERM SIGINT SIGCONT',
  'SIGQUIT SIGTSTP SIGTTIN SIGTTOU SIGXCPU SIGXFSZ SIGPWR SIGSTKFLT SIGRTMIN SIGRTMAX',
  ...Array.from({ length: 15 }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `SIGRTMAX-${index + 1}`),
].join(' ');

/** How lldb-dap is to attach: no more is read of symbols than somebody looks at, so that the app stands still for a moment only. */
export function attachArguments(pid: number, first: readonly string[] = []): Record<string, unknown> {
  const folders = libraryFolders(pid).map((folder) => asArgument(JSON.stringify(folder)));
  return {
    pid,
    initCommands: [
      ...QUICK_START,
      // One that was loaded as `./lib.so` is looked for where lldb-dap runs, else.
      ...(folders.length > 0 ? [`settings set target.exec-search-paths ${folders.join(' ')}`] : []),
      'settings set target.preload-symbols false',
      'settings set plugin.jit-loader.gdb.enable off',
      // Nobody asked for a stop where a program becomes another one.
    ],
    preRunCommands: [`process handle -p true -s false -n false ${OWN_SIGNALS}`],
    ...(first.length > 0 && { postRunCommands: first }),
  };
}

/** Where a process may have libraries that it loads by a path that begins at its own folder: there, and where it has some already. */
function libraryFolders(pid: number): string[] {
  const folders = new Set(mapped(pid).map((path) => dirname(path)));
  try {
    folders.add(readlinkSync(`/proc/${pid}/cwd`));
  } catch {
    // It has ended, or is not ours: attaching says so.
  }
  return [...folders].filter((folder) => !SYSTEM_FOLDER.test(folder)).slice(0, MOST_FOLDERS);
}

/** Debuggers of native code, started ahead: the first one is there before it is needed. Only lldb-dap will do, since its threads have the system's numbers. */
export class Delegates {
  #ready: Promise<Delegate> | undefined;
  #there: Promise<boolean> | undefined;

  constructor(
    private readonly chosen: string | undefined,
    private readonly log: Log,
    private readonly missing: (sentence: string) => void,
  ) {}

  /** Starts one that says `initialize`, and nothing more. */
  warm(): void {
    this.#ready ??= this.#start();
    // Whoever takes it hears why there is none, and who waits for it, too.
    this.#ready.catch((error: unknown) => this.missing(messageOf(error)));
  }

  /** Whether there is one at all; looked for once. */
  areThere(): Promise<boolean> {
    this.#there ??= findDelegate(this.chosen, process.env).then(
      ({ family }) => family === 'lldb',
      () => false,
    );
    return this.#there;
  }

  /** Rejects with a sentence. */
  async take(): Promise<Delegate> {
    const ready = this.#ready ?? this.#start();
    this.#ready = undefined;
    const delegate = await ready;
    return delegate.client.isGone ? this.#start() : delegate;
  }

  async close(): Promise<void> {
    const ready = this.#ready;
    this.#ready = undefined;
    await ready?.then(
      ({ client }) => client.leave(),
      () => undefined,
    );
  }

  async #start(): Promise<Delegate> {
    const found = await findDelegate(this.chosen, process.env);
    if (found.family !== 'lldb') throw noDelegate(false);
    const { command, args } = found;
    const client = new DelegateClient({ command, args, name: 'lldb-dap', log: this.log, attaches: true });
    await client.start();
    client.guard();
    return { client, quirks: quirksOf(found, client.capabilities) };
  }
}
