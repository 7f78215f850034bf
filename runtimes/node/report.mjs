import { writeSync } from 'node:fs';

/** One line on stderr for the person, each sentence once; never an error into the app. */

/** @type {Set<string>} */
const said = new Set();

/** @param {string} sentence */
export function say(sentence) {
  if (said.has(sentence)) return;
  said.add(sentence);
  try {
    writeSync(2, `Toolbreak: ${sentence}\n`);
  } catch {
    // Nobody listens: there is no other way to say it.
  }
}

/** A failure of ours: the app goes on as if we were not there. @param {unknown} error */
export function failed(error) {
  // The app was about to run out of stack: it has its own error of that.
  if (isOutOfStack(error)) return;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  say(`a part of the debugger failed (${text}); the program goes on without it.`);
}

/** @param {unknown} error */
export function isOutOfStack(error) {
  return error instanceof RangeError && error.message.includes('call stack');
}
