import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import type { DelegateClient } from '../delegate/client';
import { saysItGoesOn, type Quirks } from './quirks';

/** The delegate's word that a program goes on comes with its answer. One that has said nothing for so long is looked at. Milliseconds. */
const WORD_WITHIN = 500;
/** Between two looks at a program that seems to stand still: the word of a stop may be on its way. */
const SETTLES_WITHIN = 200;

/**
 * lldb before 21 does not let a program go on where another one of its own threads looks at it in that moment, and lldb-dap answers all the same that it
 * goes on. Nobody would ever hear of it again. So where no word comes, and the thread has frames, which no running one has, it is asked again. A step
 * that was refused waits in lldb: going on carries it out.
 */
export class GoingOn {
  /** Words of the delegate that follow one that lets the program go on. */
  #words = 0;
  /** How many there were when it was asked last, and when that was. */
  #before = -1;
  #askedAt = 0;
  #whenWord: (() => void) | undefined;

  constructor(
    private readonly client: DelegateClient,
    private readonly quirks: Quirks,
    private readonly log: Log,
  ) {
    client.on('event', (name) => {
      if (!['continued', 'stopped', 'exited', 'terminated'].includes(name)) return;
      this.#words++;
      this.#whenWord?.();
    });
  }

  /** `ask` asks for it; `thread` is one of the program's, as far as that is known. Rejects as `ask` does. */
  async ask(thread: () => number | undefined, ask: () => Promise<unknown>): Promise<void> {
    const before = (this.#before = this.#words);
    this.#askedAt = Date.now();
    await ask();
    if (!saysItGoesOn(this.quirks)) return;
    this.#see(thread, before).catch((error: unknown) =>
      this.log.info(`whether the program goes on: ${messageOf(error)}`),
    );
  }

  /** Until the delegate has said of the last time that the program goes on, or is late with it: before that it takes no notice of a request to pause. */
  async said(): Promise<void> {
    const left = this.#askedAt + WORD_WITHIN - Date.now();
    if (this.#words !== this.#before || left <= 0 || !saysItGoesOn(this.quirks)) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => (this.#whenWord = resolve)),
      new Promise<void>((resolve) => (timer = setTimeout(resolve, left))),
    ]);
    clearTimeout(timer);
  }

  async #see(thread: () => number | undefined, before: number): Promise<void> {
    const isSilent = (): boolean => this.#words === before && !this.client.isGone;
    while (isSilent()) {
      for (const pause of [WORD_WITHIN, SETTLES_WITHIN]) {
        await new Promise((resolve) => setTimeout(resolve, pause).unref());
        const one = thread();
        if (one === undefined || !isSilent() || !(await this.#standsStill(one)) || !isSilent()) return;
      }
      this.log.warn(`${this.quirks.name} did not let the program go on; it is asked again`);
      await this.client.request('continue', { threadId: thread() ?? 0 });
    }
  }

  async #standsStill(thread: number): Promise<boolean> {
    const { stackFrames } = await this.client.request('stackTrace', { threadId: thread, startFrame: 0, levels: 1 });
    return stackFrames.length > 0;
  }
}
