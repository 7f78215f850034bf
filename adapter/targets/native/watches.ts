import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import type { DelegateClient, RequestOptions } from '../delegate/client';
import { contentsOf } from './contents';
import { UNAVAILABLE } from './feedback';
import { maskedValue } from './masked';
import { readableError } from './quirks';

/** What a variable shows that is not there at this place. */
const NO_VALUE = /^<(?:variable not available|optimized out|error: .*|could not .*|read memory .*)>$/s;
/** What the compiler of expressions refuses will be refused at every hit: the person wrote something else than there is. */
const WRITTEN_WRONGLY = /<user expression \d+>|^No symbol |^There is no member|syntax error/im;

/** Values of expressions at stops. */
export class Watches {
  /** Evaluations still on their way. */
  readonly #pending = new Set<Promise<void>>();
  /** Expressions by their place that are single values: those need no second question, so the program need not wait for the first answer. */
  readonly #single = new Set<string>();
  /** Expressions by their place that had a value once. */
  readonly #sound = new Set<string>();
  readonly #mistakes = new Map<string, string>();

  constructor(
    private readonly client: DelegateClient,
    private readonly log: Log,
    /** How long a question may take, at the moment it is asked. */
    private readonly options: () => RequestOptions,
  ) {}

  /** Sentences on expressions that make no sense at their place. */
  get mistakes(): string[] {
    return [...this.#mistakes.values()];
  }

  /** Gives the value to `tell`, now or a little later; resolves when the program may go on. */
  async ask(location: string, expression: string, frameId: number, tell: (value: string) => void): Promise<void> {
    const key = `${location}=${expression}`;
    const asked = this.#evaluate(expression, frameId, key).then(tell);
    const pending = asked.finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    if (!this.#single.has(key)) await pending;
  }

  /** Until every value that was asked for is there. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** The value now; `UNAVAILABLE` where there is none. */
  async evaluate(expression: string, frameId: number): Promise<string> {
    return this.#evaluate(expression, frameId, undefined);
  }

  async #evaluate(expression: string, frameId: number, key: string | undefined): Promise<string> {
    try {
      const args = { expression, frameId, context: 'watch' as const };
      const body = await this.client.request('evaluate', args, this.options());
      if (NO_VALUE.test(body.result)) return UNAVAILABLE;
      const stands = key === undefined || !this.#single.has(key);
      if (key !== undefined) this.#learn(key, body);
      if (body.variablesReference > 0 && stands) return await contentsOf(this.client, expression, body, this.options());
      return maskedValue(expression, body.result);
    } catch (error) {
      const text = messageOf(error);
      this.log.debug(() => `evaluate ${expression}: ${text}`);
      if (key !== undefined && !this.#sound.has(key) && WRITTEN_WRONGLY.test(text)) {
        const place = key.slice(0, -expression.length - 1);
        this.#mistakes.set(key, `"${expression}" has no value at ${place}: ${readableError(text)}`);
      }
      return UNAVAILABLE;
    }
  }

  #learn(key: string, { variablesReference }: P.EvaluateResponse['body']): void {
    this.#sound.add(key);
    this.#mistakes.delete(key);
    if (!(variablesReference > 0)) this.#single.add(key);
  }
}
