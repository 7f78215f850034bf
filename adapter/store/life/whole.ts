import { mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cannotWrite } from './output';

const ENDED_BY = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;
const BESIDE = '.toolbreak-export-';
const STALE = 86_400_000;

/** Folders of this process that are to go with it. */
const folders = new Set<string>();
let forget: (() => void) | undefined;

/** From now on a signal that ends this process takes the folders with it. Not before: while SQLite copies, nobody would hear the signal. */
function watch(): void {
  if (forget !== undefined) return;
  const handlers = ENDED_BY.map(([signal, code]) => {
    const handler = (): void => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      process.exit(code);
    };
    process.once(signal, handler);
    return () => process.off(signal, handler);
  });
  forget = () => handlers.forEach((off) => off());
}

/** Calls `work` with a new folder, whose name begins with `prefix` and goes on with letters that no other has. It is gone afterwards, once `work` called `watch` also by a signal. */
export async function inNewFolder<T>(
  prefix: string,
  work: (folder: string, watch: () => void) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(prefix);
  folders.add(folder);
  try {
    return await work(folder, watch);
  } finally {
    folders.delete(folder);
    rmSync(folder, { recursive: true, force: true });
    if (folders.size === 0) {
      forget?.();
      forget = undefined;
    }
  }
}

/** Makes a file whole or not at all: what `write` made under the name that it gets is moved to `target`. Throws a `UserError`. */
export async function makeWhole<T>(target: string, write: (path: string, watch: () => void) => Promise<T>): Promise<T> {
  const parent = dirname(target);
  try {
    removeStale(parent);
    // Beside it, since a file is moved at once only within a file system.
    return await inNewFolder(join(parent, `${BESIDE}${process.pid}-`), async (folder, watched) => {
      const path = join(folder, 'made');
      const answer = await write(path, watched);
      renameSync(path, target);
      return answer;
    });
  } catch (error) {
    throw cannotWrite(target, error);
  }
}

/** Of an export that was killed, a day ago or more. */
function removeStale(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      const pid = name.startsWith(BESIDE) ? Number.parseInt(name.slice(BESIDE.length), 10) : 0;
      const folder = join(parent, name);
      if (pid > 0 && !isThere(pid) && Date.now() - statSync(folder).mtimeMs > STALE)
        rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // What is wrong with the folder is said when something is made in it.
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
