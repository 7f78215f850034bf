import type { DelegateClient } from '../delegate/client';
import { halt } from '../delegate/halt';

/** A program that came to a breakpoint that did not stop it comes to one again in this time, if soon. */
const COMES_AGAIN_WITHIN = 200;

/** The program that is to be paused. */
export interface Pausable {
  client: DelegateClient;
  /** The thread that the delegate is asked to pause. */
  thread(): number;
  /** It stands still already, or has ended. */
  isStill(): boolean;
  isOver(): boolean;
  /** Nothing that was said of stops is being looked at. */
  settled(): Promise<void>;
  /** The delegate has said that the program goes on, where it says so. */
  goesOn(): Promise<void>;
  /** Whom a signal stops for sure; nothing where a request to the delegate is the better way. */
  signalled(): number | undefined;
}

/** A pause that somebody asked for, until a stop is told. */
export class Pause {
  #asked = false;
  /** Signals that were sent, and have not stopped the program yet: a breakpoint may have done so first. One may be lost. */
  #owed = 0;
  #whenTold: (() => void) | undefined;
  /** When the program was let go on, where it may come to a breakpoint that does not stop it. */
  #wentOn = 0;

  constructor(private readonly program: Pausable) {}

  get isAsked(): boolean {
    return this.#asked;
  }

  async ask(): Promise<void> {
    const { program } = this;
    if (program.isStill()) return;
    this.#asked = true;
    await this.#stopsByItself();
    if (this.#isPending()) await program.goesOn();
    if (this.#isPending() && !(await this.#isHalted())) {
      await program.client.request('pause', { threadId: program.thread() });
    }
  }

  /** A stop is told: whatever it is for, the program stands still. */
  told(): void {
    this.#asked = false;
    this.#whenTold?.();
  }

  /** The program was let go on, and may come to a breakpoint that does not stop it. */
  wentOn(): void {
    this.#wentOn = Date.now();
  }

  /** The program stopped for a signal of this kind: whether it was sent here. */
  takes(): boolean {
    if (this.#owed === 0) return false;
    this.#owed--;
    return true;
  }

  /**
   * A program that comes again and again to breakpoints that do not stop it is paused at the next one: lldb may hang, or lose the program, where it is
   * asked to pause in that moment.
   */
  async #stopsByItself(): Promise<void> {
    if (Date.now() - this.#wentOn <= COMES_AGAIN_WITHIN) {
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, COMES_AGAIN_WITHIN)));
      await Promise.race([enough, new Promise<void>((resolve) => (this.#whenTold = resolve))]);
      clearTimeout(timer);
    }
    await this.program.settled();
  }

  /** A request to pause is lost among conditions that are not met; a signal is not. */
  async #isHalted(): Promise<boolean> {
    const { client, isOver, signalled } = this.program;
    const pid = signalled();
    if (pid === undefined) return false;
    await halt(pid, {
      heard: () => !this.#isPending(),
      over: () => isOver() || client.isGone,
      sent: () => this.#owed++,
    });
    return !this.#isPending();
  }

  #isPending(): boolean {
    return this.#asked && !this.program.isStill();
  }
}
