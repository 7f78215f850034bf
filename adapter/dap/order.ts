/**
 * Editors send a changed breakpoint and, at once, `continue`; a person changes a value, or types a statement, and presses the key behind it. The
 * answer to the first takes a moment, so the order of arrival is kept here: breakpoint requests one after the other, and what lets tasks go on
 * after the breakpoints and the changes before it.
 */
const CONFIGURES = new Set([
  'setBreakpoints',
  'setFunctionBreakpoints',
  'setExceptionBreakpoints',
  'setDataBreakpoints',
]);
const CHANGES = new Set(['setVariable', 'setExpression']);
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
  readonly #changing = new Set<Promise<unknown>>();

  /** Runs `handle` when its turn has come. */
  run(command: string, handle: () => unknown, args?: unknown): unknown {
    if (CHANGES.has(command) || isStatement(command, args)) {
      const done = Promise.resolve(handle());
      const change: Promise<unknown> = done.catch(() => undefined).finally(() => this.#changing.delete(change));
      this.#changing.add(change);
      return done;
    }
    if (CONFIGURES.has(command)) {
      const done = this.#settled.then(handle);
      this.#settled = done.catch(() => undefined);
      return done;
    }
    return LETS_GO.has(command) ? Promise.all([this.#settled, ...this.#changing]).then(handle) : handle();
  }
}

/** Typed for a frame: it runs in its task, and may change anything there. */
function isStatement(command: string, args: unknown): boolean {
  const { context, frameId } = (args ?? {}) as { context?: unknown; frameId?: unknown };
  return command === 'evaluate' && context === 'repl' && frameId !== undefined;
}
