import { readdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { makePrivateFolder, stateFolder } from '../common/paths';

/** Older files are of another version of ours or of Node; what is still in use is made anew once. */
const KEPT_MS = 30 * 24 * 3600_000;

/** Has Node keep our code as the machine understands it: half of the time until we answer is reading it. Not before Node 22.1. */
export function keepCode(): void {
  try {
    module.enableCompileCache?.(makePrivateFolder(codeFolder()));
  } catch {
    // Without a folder it is read anew each time; whoever needs the folder says what is wrong with it.
  }
}

/** Takes away what was kept long ago. */
export function forgetOldCode(state: string = stateFolder(), now: number = Date.now()): void {
  const folder = codeFolder(state);
  for (const name of names(folder)) {
    const kind = join(folder, name);
    for (const file of names(kind)) {
      const path = join(kind, file);
      if (now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > KEPT_MS) rmSync(path, { force: true });
    }
  }
}

function codeFolder(state: string = stateFolder()): string {
  return join(state, 'code');
}

/** None of a folder that is not there. */
function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
