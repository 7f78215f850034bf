import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { DelegateClient, RequestOptions } from '../delegate/client';
import { functionName } from './backtrace';
import type { Place } from './places';

/** Stacks at stops, asked for with as little as is known to do: what calls `main` is of no interest, and frames without sources cost most. */
export class Stacks {
  /** Frames down to `main` when a place was reached last. */
  readonly #depths = new Map<Place, number>();
  /** The number of a thread's innermost frame, and at how many stops it was that. */
  readonly #tops = new Map<number, { id: number; seen: number }>();

  constructor(
    private readonly client: DelegateClient,
    /** Frames of a stack, at most. */
    private readonly depth: number,
    /** How long a question may take, at the moment it is asked. */
    private readonly options: () => RequestOptions,
  ) {}

  /** Whole to `main`, or to the most that is wanted: then, and only then, it ends with another function though it has that many. */
  async of(threadId: number, place?: Place): Promise<P.StackFrame[]> {
    const { depth } = this;
    const levels = Math.min((place && this.#depths.get(place)) ?? depth, depth);
    const stack = await this.#ask(threadId, 0, levels);
    // It is deeper than last time: a function that calls itself.
    if (stack.length === levels && levels < depth && !endsInMain(stack)) {
      stack.push(...(await this.#ask(threadId, levels, depth - levels)));
    }
    const main = stack.findIndex(({ name }) => functionName(name) === 'main');
    if (place && main >= 0) this.#depths.set(place, main + 1);
    const [top] = stack;
    if (top) {
      const known = this.#tops.get(threadId);
      this.#tops.set(threadId, { id: top.id, seen: known?.id === top.id ? known.seen + 1 : 1 });
    }
    return stack;
  }

  /** Some make a frame's number of its thread and its place in the stack: then the innermost one is known before it is asked for. */
  top(threadId: number): number | undefined {
    const top = this.#tops.get(threadId);
    return top && top.seen > 1 ? top.id : undefined;
  }

  async #ask(threadId: number, startFrame: number, levels: number): Promise<P.StackFrame[]> {
    return (await this.client.request('stackTrace', { threadId, startFrame, levels }, this.options())).stackFrames;
  }
}

function endsInMain(stack: readonly P.StackFrame[]): boolean {
  return functionName(stack.at(-1)?.name ?? '') === 'main';
}
