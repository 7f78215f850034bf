import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDER = join(import.meta.dirname ?? __dirname, '..', 'adapter', 'golden');

/**
 * Compares a text with `test/adapter/golden/<name>.txt`. When it differs, what came is written beside it as `<name>.txt.actual`.
 * `UPDATE_GOLDEN=1`, or `--update` on the command line, writes the golden text instead: read it before it is committed.
 */
export function assertGolden(name: string, actual: string, folder = FOLDER): void {
  const file = join(folder, `${name}.txt`);
  const beside = `${file}.actual`;
  const text = actual.endsWith('\n') ? actual : `${actual}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1' || process.argv.includes('--update')) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    rmSync(beside, { force: true });
    return;
  }
  const expected = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (expected === text) {
    rmSync(beside, { force: true });
    return;
  }
  writeFileSync(beside, text);
  throw new Error(`${name}: ${firstDifference(expected, text)}\nSee ${beside}; UPDATE_GOLDEN=1 accepts it.`);
}

function firstDifference(expected: string, actual: string): string {
  const [a, b] = [expected.split('\n'), actual.split('\n')];
  const line = a.findIndex((text, index) => text !== b[index]);
  const at = line < 0 ? a.length : line;
  return `line ${at + 1} differs\n  expected: ${a[at] ?? '(nothing)'}\n  actual:   ${b[at] ?? '(nothing)'}`;
}
