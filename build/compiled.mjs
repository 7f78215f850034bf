// The compiled part of the Python runtime, runtimes/python/native. A help, never a need: where it cannot be built, Python code does the same.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const COMPILERS = ['cc', 'gcc', 'clang'];
const FLAGS = ['-O2', '-shared', '-fPIC', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Wno-cast-function-type'];
/** Python is found by the process that loads it. */
const LINKED = process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : [];

/** Where it lies. One file serves every Python from 3.10 on of this system. */
export const compiledFile = (root) => join(root, 'runtimes/python/toolbreak/_compiled.abi3.so');

/** The folder with the headers of one of these Pythons. */
export function headersOf(pythons) {
  for (const python of pythons) {
    const probe = 'import sysconfig;print(sysconfig.get_path("include"))';
    const { status, stdout } = spawnSync(python, ['-c', probe], { encoding: 'utf8' });
    const folder = status === 0 ? stdout.trim() : '';
    if (folder && existsSync(join(folder, 'Python.h'))) return folder;
  }
  return undefined;
}

export const hasCompiler = () => COMPILERS.some((name) => spawnSync(name, ['--version']).status === 0);

/** Says which sources it was built from: Python loads no other. `build/generate.ts` writes it. */
const keyOf = (root) =>
  /"([0-9a-f]+)"$/m.exec(readFileSync(join(root, 'runtimes/python/toolbreak/_key.py'), 'utf8'))?.[1];

const sourceOf = (root) => join(root, 'runtimes/python/native/_compiled.c');

/** Changes with everything that the file is made from. */
export const compiledKey = (root, headers) =>
  createHash('sha256')
    .update(readFileSync(sourceOf(root)))
    .update([process.arch, headers, keyOf(root), ...FLAGS, ...LINKED].join(' '))
    .digest('hex');

/** Builds it. Throws a sentence. */
export function buildCompiled(root, headers) {
  const out = compiledFile(root);
  const made = `${out}.${process.pid}`;
  let said = 'no C compiler';
  for (const name of COMPILERS) {
    const key = `-DTOOLBREAK_KEY="${keyOf(root)}"`;
    const args = [...FLAGS, key, ...LINKED, `-I${headers}`, sourceOf(root), '-o', made];
    const { error, status, stderr } = spawnSync(name, args, { encoding: 'utf8' });
    if (status === 0) {
      // Apps that run have the old one open.
      renameSync(made, out);
      return;
    }
    if (!error) said = stderr.trim().split('\n')[0];
  }
  rmSync(made, { force: true });
  throw new Error(`Recording works; its compiled part, which makes it quicker, could not be built (${said}).`);
}
