import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Which lines of a stack are this package's own: none that the app has to do with. In a bundle its files are the app's, and nothing is known. */

const OWN = ownFiles();

/** @param {string} place of a file, as a stack has it */
export function isOurs(place) {
  return OWN.has(place);
}

function ownFiles() {
  /** @type {Set<string>} */
  const found = new Set();
  try {
    const folder = new URL('./', import.meta.url);
    const names = readdirSync(folder);
    if (!names.includes('ours.mjs') || !import.meta.url.endsWith('/ours.mjs')) return found;
    for (const name of names.filter((each) => each.endsWith('.mjs'))) {
      const { href } = new URL(name, folder);
      found.add(href);
      found.add(fileURLToPath(href));
    }
  } catch {
    // A bundle as a plain script does not know where it is.
  }
  return found;
}
