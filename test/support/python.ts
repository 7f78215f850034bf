import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A Python to run test programs with: the first prepared environment, else the one of the PATH. */
export function findPython(): string {
  const root = join(__dirname, '..', '..', '.cache', 'python');
  for (const version of ['3.11', '3.12', '3.13', '3.10']) {
    const found = join(root, version, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
    if (existsSync(found)) return found;
  }
  return process.platform === 'win32' ? 'python' : 'python3';
}
