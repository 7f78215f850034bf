import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(__dirname, '..', '..');

/**
 * Arguments for Node that start the `toolbreak` command: the bundle in dist/ where the test runner has just made it, which starts
 * quicker and is what people run; else the sources, so that a test run by hand needs no bundle.
 */
export function toolbreakCommand(...args: string[]): string[] {
  if (process.env.TOOLBREAK_TEST_DIST) return [join(root, 'dist', 'toolbreak.js'), ...args];
  return ['--import', pathToFileURL(require.resolve('tsx')).href, join(root, 'adapter', 'doors', 'start.ts'), ...args];
}
