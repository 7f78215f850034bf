/** Any function, and any class. */
type Wrappable = ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown);

/** What `wrap` may be told of a function. */
export interface WrapOptions {
  /** What the recording calls it; its own name when this is left out. */
  name?: string;
  kind?: 'workflow' | 'node' | 'tool' | 'llm' | 'http' | 'function';
}

/**
 * The function with its calls recorded while something records, and as quick as itself otherwise. `this`, `length`, `name` and the properties that it has
 * by now stay as they are; a promise that an async function returns is one step later than its own.
 *
 * Throws a `TypeError` for what is no function or an unknown kind.
 */
export function wrap<F extends Wrappable>(fn: F, options?: WrapOptions): F;

/**
 * Records this process, and those it starts, into a folder, without any debugger; `toolbreak import FOLDER` takes it over. Answers the run's own
 * folder. A process that is recorded already goes on as it is; so is one that a process started which records.
 *
 * Throws a `TypeError` where neither `folder` nor TOOLBREAK_RECORD names one, and the system's error when it cannot be written.
 */
export function record(folder?: string): string;
