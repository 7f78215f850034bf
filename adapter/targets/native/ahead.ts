import type { Log } from '../../common/log';
import { DelegateClient } from '../delegate/client';
import { delegateName, startDelegate } from './connect';
import { chosenDelegate, findDelegate, IN_LAUNCH_JSON, type FoundDelegate } from './discovery';
import type { EarlyDelegate } from './early';

export interface StartedDelegate {
  client: DelegateClient;
  found: FoundDelegate;
}

/**
 * Starts delegates. One may be started ahead, before anybody has said what it is for: starting it takes as long as starting a program under it, and
 * an editor has much to say before the program is to run.
 */
export class DelegateStarter {
  #ahead: { chosen: string | undefined; started: Promise<StartedDelegate> } | undefined;

  /** `early`: one that was started before us. */
  constructor(
    private readonly log: Log,
    private early?: EarlyDelegate,
  ) {}

  /** One will be needed soon. `chosen`: its path or name, where one was named. */
  expect(chosen: string | undefined): void {
    const wanted = chosenDelegate(chosen);
    if (this.#ahead !== undefined && this.#ahead.chosen === wanted) return;
    this.drop();
    const started = this.#start(wanted);
    // Whoever takes it hears why there is none.
    started.catch(() => undefined);
    this.#ahead = { chosen: wanted, started };
  }

  /** Rejects with a sentence. */
  async take(chosen: string | undefined): Promise<StartedDelegate> {
    this.expect(chosen);
    const started = this.#ahead?.started ?? this.#start(chosenDelegate(chosen));
    this.#ahead = undefined;
    const delegate = await started;
    return delegate.client.isGone ? this.#start(chosenDelegate(chosen)) : delegate;
  }

  /** None is needed after all. */
  drop(): void {
    const { started } = this.#ahead ?? {};
    this.#ahead = undefined;
    started?.then(
      ({ client }) => client.killWhenEmpty(),
      () => undefined,
    );
  }

  /** It has our environment: the program's own may hold what breaks it. */
  async #start(chosen: string | undefined): Promise<StartedDelegate> {
    const found = await findDelegate(chosen, process.env);
    const { command, args } = found;
    const child = this.#takeEarly(command);
    const client = new DelegateClient({ command, args, name: delegateName(command), log: this.log, child });
    await startDelegate(client, command, IN_LAUNCH_JSON);
    return { client, found };
  }

  /** The one that was started before us, if it is this one; another is not needed. */
  #takeEarly(command: string): EarlyDelegate['child'] | undefined {
    const { early } = this;
    this.early = undefined;
    if (early === undefined) return undefined;
    if (early.command === command && early.child.exitCode === null && early.child.signalCode === null)
      return early.child;
    early.child.kill('SIGKILL');
    return undefined;
  }
}
