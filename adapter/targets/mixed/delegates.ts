import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import { DelegateClient } from '../delegate/client';
import { findDelegate, noDelegate } from '../native/discovery';
import { QUICK_START, quirksOf, type Quirks } from '../native/quirks';

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
  return {
    pid,
    initCommands: [
      ...QUICK_START,
      'settings set target.preload-symbols false',
      'settings set plugin.jit-loader.gdb.enable off',
      // Nobody asked for a stop where a program becomes another one.
    ],
    preRunCommands: [`process handle -p true -s false -n false ${OWN_SIGNALS}`],
    ...(first.length > 0 && { postRunCommands: first }),
  };
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
    const client = new DelegateClient({ command, args, name: 'lldb-dap', log: this.log });
    await client.start();
    client.guard();
    return { client, quirks: quirksOf(found, client.capabilities) };
  }
}
