import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { threadIn } from './events';

/** What is said of one thread that stopped. */
export type StoppedBody = Partial<P.StoppedEvent['body']>;

/** What was not said in this time is not said any more: of a thread that stopped with another one, or that the program went on. Milliseconds. */
export const TOLD_WITHIN = 2_000;

export interface ToldStopsOptions {
  /** The delegate says when the program goes on, also where it was told to. */
  saysItGoesOn: boolean;
  /** There is word of a stop that is to be looked at. */
  heard(): void;
  /** Word of a stop that is over: the program was let go on before it came. */
  passed(body: StoppedBody): void;
}

/**
 * A delegate's words of threads that stopped, until they are looked at. It tells of one thread after the other, and answers questions in between: so a word
 * may come when the program was let go on already. lldb-dap says that it goes on behind the last word of a stop, and before the first one of the next.
 */
export class ToldStops {
  #told: StoppedBody[] = [];
  /** Said since the program was let go on, of the stop before it. */
  #late: StoppedBody[] = [];
  #isLetGo = false;
  #saysItGoesOn: boolean;
  #isStill = true;
  #whenTold: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ToldStopsOptions) {
    this.#saysItGoesOn = options.saysItGoesOn;
  }

  /** The first that is to be looked at. */
  get first(): StoppedBody | undefined {
    return this.#told[0];
  }
  /** Those that are to be looked at. */
  get all(): readonly StoppedBody[] {
    return this.#told;
  }
  take(): StoppedBody[] {
    return this.#told.splice(0);
  }
  /** These are not looked at any more. */
  forget(bodies: ReadonlySet<StoppedBody>): void {
    this.#told = this.#told.filter((body) => !bodies.has(body));
  }

  stopped(body: StoppedBody): void {
    if (this.#isLetGo && this.#saysItGoesOn) {
      this.#late.push(body);
      // A stop that nobody hears of cannot be ended: it is taken for one where the other word does not come.
      this.#timer ??= setTimeout(() => {
        this.#saysItGoesOn = false;
        this.stays();
      }, TOLD_WITHIN);
      return;
    }
    this.#isLetGo = false;
    this.#told.push(body);
    this.#whenTold?.();
    if (this.#told.length === 1) this.options.heard();
  }

  /** The program is let go on by us. */
  letGo(): void {
    this.end();
    this.#isLetGo = true;
  }

  /** It stands where it stood. */
  stays(): void {
    this.end();
    for (const body of this.#late.splice(0)) this.stopped(body);
  }

  /** The delegate says that the program goes on; answers whether we let it. */
  continued(): boolean {
    const wasLetGo = this.#isLetGo;
    const passed = [...this.take(), ...this.#late.splice(0)];
    this.end();
    for (const body of passed) this.options.passed(body);
    return wasLetGo;
  }

  /** Waits until each of these threads was told of, for as long as that may take and the program stands still. */
  async whenTold(threads: readonly number[]): Promise<void> {
    const until = Date.now() + TOLD_WITHIN;
    this.#isStill = true;
    while (this.#isStill && threads.some((id) => !this.#told.some((body) => threadIn(body) === id))) {
      if (Date.now() >= until) return;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((resolve) => (this.#whenTold = resolve)),
        new Promise<void>((resolve) => (timer = setTimeout(resolve, until - Date.now()))),
      ]);
      clearTimeout(timer);
    }
  }

  /** The program does not stand still any more, or the delegate is gone: nothing is waited for. */
  end(): void {
    this.#isLetGo = false;
    this.#isStill = false;
    this.#whenTold?.();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Threads that a stop has words of, as lldb lists them in its answer to `thread list`. */
export function stoppedThreads(list: string): number[] {
  return [
    ...list.matchAll(
      /tid = (\w+)[^\n]*stop reason = (?:breakpoint|watchpoint|(?:signal )?SIG(?:SEGV|BUS|FPE|ILL|ABRT|SYS|TRAP))/g,
    ),
  ].map((match) => Number(match[1]));
}
