/**
 * Editors send a changed breakpoint and, at once, `continue`. The answer to the first takes a moment (its file is read), so the order
 * of arrival is kept here: breakpoint requests one after the other, and what lets tasks go on after the breakpoints before it.
 */
const CONFIGURES = new Set([
  'setBreakpoints',
  'setFunctionBreakpoints',
  'setExceptionBreakpoints',
  'setDataBreakpoints',
]);
const LETS_GO = new Set([
  'configurationDone',
  'continue',
  'next',
  'stepIn',
  'stepOut',
  'goto',
  'restartFrame',
  'terminateThreads',
  'toolbreak/skip',
  'toolbreak/again',
  'toolbreak/cancel',
]);

/** The order of one client's requests. */
export class Order {
  #settled: Promise<unknown> = Promise.resolve();

  /** Runs `handle` when its turn has come. */
  run(command: string, handle: () => unknown): unknown {
    if (CONFIGURES.has(command)) {
      const done = this.#settled.then(handle);
      this.#settled = done.catch(() => undefined);
      return done;
    }
    return LETS_GO.has(command) ? this.#settled.then(handle) : handle();
  }
}
