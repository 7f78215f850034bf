import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cannotWrite } from './output';

const ENDED_BY = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

/**
 * Calls `work` with a new folder, whose name begins with `prefix` and goes on with letters that no other has. It is gone afterwards, also where a
 * signal ends this process: what is made there is not found in a year by somebody who wonders what it is.
 */
export async function inNewFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(prefix);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const ends = ENDED_BY.map(([signal, code]) => {
    const end = (): void => {
      remove();
      process.exit(code);
    };
    process.once(signal, end);
    return () => process.off(signal, end);
  });
  try {
    return await work(folder);
  } finally {
    for (const end of ends) end();
    remove();
  }
}

/** Makes a file whole or not at all: what `write` made under the name that it gets is moved to `target`. Throws a `UserError`. */
export async function writeWhole<T>(target: string, write: (path: string) => Promise<T>): Promise<T> {
  try {
    // Beside it, since a file is moved at once only within a file system.
    return await inNewFolder(join(dirname(target), '.toolbreak-export-'), async (folder) => {
      const path = join(folder, 'made');
      const answer = await write(path);
      renameSync(path, target);
      return answer;
    });
  } catch (error) {
    throw cannotWrite(target, error);
  }
}
