/** Toolbreak's runtime for Node. `wrap` and `record` are public; nothing else is. */
import { begin, joinRun, joinSession } from './run.mjs';

joinSession();
joinRun();

export { wrap } from './wrap.mjs';

/**
 * Records this process, and those it starts, into a folder, without any debugger; `toolbreak import FOLDER` takes it over. Answers the run's own
 * folder. A process that is recorded already goes on as it is; so is one that a process started which records.
 *
 * Throws a `TypeError` where neither `folder` nor TOOLBREAK_RECORD names one, and the system's error when it cannot be written.
 *
 * @param {string} [folder] TOOLBREAK_RECORD of the environment when it is left out
 */
export function record(folder = process.env.TOOLBREAK_RECORD) {
  if (typeof folder !== 'string' || folder === '') throw new TypeError('name a folder, or set TOOLBREAK_RECORD');
  return begin(folder);
}
