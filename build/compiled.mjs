// The compiled part of the Python runtime, runtimes/python/native. A help, never a need: where it cannot be built, Python code does the same.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const COMPILERS = ['cc', 'gcc', 'clang'];
const FLAGS = ['-O2', '-shared', '-fPIC', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Wno-cast-function-type'];
/** Python is found by the process that loads it. */
const LINKED = process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : [];

const runtime = (root) => join(root, 'runtimes/python');
const sourceOf = (root) => join(runtime(root), 'native/_compiled.c');
/** It, and what it includes. */
const partsOf = (root) =>
  readdirSync(join(runtime(root), 'native'))
    .filter((name) => name.endsWith('.c'))
    .toSorted()
    .map((name) => join(runtime(root), 'native', name));
/** One file serves every Python from 3.10 on of this system. */
const fileOf = (root) => join(runtime(root), 'toolbreak/_compiled.abi3.so');
/** Beside it: which sources it was made from, and its checksum. Python loads no other. */
const noteOf = (root) => join(runtime(root), 'toolbreak/_compiled.key');

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

/** Changes with everything that it is made from. */
export const compiledKey = (root, headers) =>
  partsOf(root)
    .reduce((hash, path) => hash.update(readFileSync(path)), createHash('sha256'))
    .update([process.arch, headers, ...FLAGS, ...LINKED].join(' '))
    .digest('hex');

/** That of Python's zlib; Node's own came with 20.15, and setting up begins under any 20. */
function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** What Python wants to read in the note. */
function noteFor(root) {
  const [, key] = /"([0-9a-f]+)"$/m.exec(readFileSync(join(runtime(root), 'toolbreak/_key.py'), 'utf8')) ?? [];
  return `${key} ${crc32(readFileSync(fileOf(root)))
    .toString(16)
    .padStart(8, '0')}\n`;
}

/** Whether it is there, whole, and made from these sources. */
export function isBuilt(root) {
  try {
    return readFileSync(noteOf(root), 'utf8') === noteFor(root);
  } catch {
    return false;
  }
}

/** Builds it. Throws a sentence. */
export function buildCompiled(root, headers) {
  const out = fileOf(root);
  const made = `${out}.${process.pid}`;
  let said = 'no C compiler';
  for (const name of COMPILERS) {
    const args = [...FLAGS, ...LINKED, `-I${headers}`, sourceOf(root), '-o', made];
    const { error, status, stderr } = spawnSync(name, args, { encoding: 'utf8' });
    if (status === 0) {
      // Apps that run have the old one open.
      rmSync(out, { recursive: true, force: true });
      renameSync(made, out);
      writeFileSync(noteOf(root), noteFor(root));
      return;
    }
    if (!error) said = stderr.trim().split('\n')[0];
  }
  rmSync(made, { force: true });
  throw new Error(`Recording works; its compiled part, which makes it quicker, could not be built (${said}).`);
}
