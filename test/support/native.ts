import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

export const nativeFixtures = join(__dirname, '..', '..', 'fixtures', 'native');

/** Statements in their order, variables in memory, frames whole. */
export const DEBUG_FLAGS = ['-O0', '-g', '-fno-omit-frame-pointer', '-fno-inline', '-Wall'];

/** A debug adapter for native code that the tests run with. */
export interface Delegate {
  name: string;
  major: number;
  path: string;
}

/** Every lldb-dap that the test runner found; run by hand, the variables name them. */
export function delegates(): Delegate[] {
  const found: Delegate[] = [];
  for (const major of [19, 22]) {
    const path = process.env[`TOOLBREAK_TEST_LLDB_${major}`];
    if (path) found.push({ name: `lldb-dap ${major}`, major, path });
  }
  if (found.length === 0)
    throw new Error('No lldb-dap to test with: set TOOLBREAK_TEST_LLDB_19 or TOOLBREAK_TEST_LLDB_22 to its path.');
  return found;
}

/** Those, and gdb where the test runner found one that speaks DAP. */
export function debuggers(): (Delegate & { family: 'lldb' | 'gdb' })[] {
  const found = delegates().map((one) => ({ ...one, family: 'lldb' as const }));
  const gdb = process.env['TOOLBREAK_TEST_GDB'];
  return gdb ? [...found, { name: 'gdb 16', major: 16, path: gdb, family: 'gdb' }] : found;
}

/** Compiles C, or C++ where the first source is that, with debug information. */
export function compile(sources: readonly string[], output: string, flags: readonly string[] = []): void {
  const compiler = /\.(cpp|cc)$/.test(sources[0]!) ? 'g++' : 'gcc';
  const { status, stderr, error } = spawnSync(compiler, [...DEBUG_FLAGS, ...sources, '-o', output, ...flags], {
    encoding: 'utf8',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${compiler} could not compile ${sources.join(', ')}:\n${stderr}`);
}

/** Programs compiled from fixtures, in a folder of their own until `remove`. */
export class Compiled {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolbreak-native-'));
  readonly #made = new Set<string>();

  /** Compiles fixtures, or sources by their whole path, into one program; C++ where the first source is. Answers its path. */
  program(sources: string | string[], flags: string[] = [], name?: string): string {
    const files = [sources].flat().map((source) => join(source.startsWith('/') ? '/' : nativeFixtures, source));
    const output = join(this.folder, name ?? basename(files[0]!).replace(/\.\w+$/, ''));
    const key = JSON.stringify([files, output, flags]);
    if (!this.#made.has(key)) compile(files, output, flags);
    this.#made.add(key);
    return output;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
