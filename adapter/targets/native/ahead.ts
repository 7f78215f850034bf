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
  #ahead: { chosen: string | undefined; attaches: boolean; started: Promise<StartedDelegate> } | undefined;

  /** `early`: one that was started before us. */
  constructor(
    private readonly log: Log,
    private early?: EarlyDelegate,
  ) {}

  /** One will be needed soon, to attach with or to launch. `chosen`: its path or name, where one was named. */
  expect(chosen: string | undefined, attaches: boolean): void {
    const wanted = chosenDelegate(chosen);
    if (this.#ahead !== undefined && this.#ahead.chosen === wanted && this.#ahead.attaches === attaches) return;
    this.drop();
    const started = this.#start(wanted, attaches);
    // Whoever takes it hears why there is none.
    started.catch(() => undefined);
    this.#ahead = { chosen: wanted, attaches, started };
  }

  /** Rejects with a sentence. */
  async take(chosen: string | undefined, attaches: boolean): Promise<StartedDelegate> {
    this.expect(chosen, attaches);
    const started = this.#ahead?.started ?? this.#start(chosenDelegate(chosen), attaches);
    this.#ahead = undefined;
    const delegate = await started;
    return delegate.client.isGone ? this.#start(chosenDelegate(chosen), attaches) : delegate;
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
  async #start(chosen: string | undefined, attaches: boolean): Promise<StartedDelegate> {
    const found = await findDelegate(chosen, process.env);
    const { command, args } = found;
    const child = this.#takeEarly(command, attaches);
    const client = new DelegateClient({ command, args, name: delegateName(command), log: this.log, child, attaches });
    await startDelegate(client, command, IN_LAUNCH_JSON);
    return { client, found };
  }

  /** The one that was started before us, if it is this one; another is not needed. */
  #takeEarly(command: string, attaches: boolean): EarlyDelegate['child'] | undefined {
    const { early } = this;
    this.early = undefined;
    if (early === undefined) return undefined;
    const { child } = early;
    const isAlive = child.exitCode === null && child.signalCode === null;
    if (early.command === command && early.attaches === attaches && isAlive) return child;
    early.child.kill('SIGKILL');
    return undefined;
  }
}
