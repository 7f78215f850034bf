/** How a person acts and looks: an action whose effect is not seen within a moment is done again. */
import type { Locator } from 'playwright-core';
import { until } from './processes';

/** Milliseconds after which a person would try again. */
const MOMENT = 4000;
/** Milliseconds until trying again is given up. */
const PATIENCE = 30_000;

/** Whether something comes to be seen (or to be gone) within a moment. */
export function seen(locator: Locator, state: 'visible' | 'hidden' = 'visible', timeout = MOMENT): Promise<boolean> {
  return did(locator.waitFor({ state, timeout }));
}

/** Whether an action could be done; the workbench may draw anew what it was for. */
export function did(action: Promise<unknown>): Promise<boolean> {
  return action.then(
    () => true,
    () => false,
  );
}

/** Waits for something visible; a failure says what it was. */
export async function see(
  what: string,
  locator: Locator,
  options: Parameters<Locator['waitFor']>[0] = {},
): Promise<void> {
  try {
    await locator.waitFor(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const wanted = options.state === 'hidden' ? 'It did not go' : 'Not seen';
    throw new Error(`${wanted}: ${what}\n${why}`, { cause: error });
  }
}

export type Done = Locator | (() => Promise<boolean>);

/**
 * Acts until the effect is there. The effect is looked for first, so an action that was slow to take effect is not done twice; `act` answers
 * whether it could be done.
 */
export async function act(
  what: string,
  action: () => Promise<boolean>,
  done: Done,
  patience = PATIENCE,
): Promise<void> {
  const isDone = typeof done === 'function' ? done : () => done.isVisible();
  const comes = async (): Promise<boolean> => {
    if (typeof done !== 'function') return seen(done);
    const end = Date.now() + MOMENT;
    while (!(await done())) {
      if (Date.now() > end) return false;
      await new Promise((next) => setTimeout(next, 50));
    }
    return true;
  };
  await until(what, async () => (await isDone()) || ((await action()) && (await comes())), patience);
}

export const QUICK = { timeout: MOMENT };
