import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { MistakeError } from '../../common/errors';
import { binaryKind, elfMachine } from './binary';
import { notCompiled } from './sourceFile';

const MACHINES: Record<string, number> = { x64: 62, arm64: 183, ia32: 3, arm: 40 };
const NAMES: Record<number, string> = { 3: 'x86', 40: 'ARM', 62: 'x86-64', 183: 'ARM64', 243: 'RISC-V' };

/** Whole path of a program as a shell would find it. Throws a sentence where it cannot be run under a native debugger here. */
export function programAt(name: string, folder: string, env: NodeJS.ProcessEnv): string {
  if (name === '') throw new MistakeError('Name the program behind "--", such as "-- ./program".');
  const path = find(name, folder, env);
  if (path === undefined && isFolder(resolve(folder, name)))
    throw new MistakeError(`${name} is a folder. Name the program itself.`);
  if (path === undefined)
    throw new MistakeError(`The program ${name} does not exist. Compile it first, or check its path.`);
  const source = binaryKind(path) === undefined ? notCompiled(name) : undefined;
  if (source !== undefined) throw new MistakeError(source);
  try {
    accessSync(path, constants.X_OK);
  } catch {
    // Also where it is no file: the next look says so.
    throw new MistakeError(
      `${name} cannot be run: it is not executable. If it is a program, "chmod +x ${name}" makes it so.`,
    );
  }
  const expected = process.platform === 'darwin' ? 'mach-o' : process.platform === 'win32' ? 'pe' : 'elf';
  const kind = binaryKind(path);
  if (kind === undefined)
    throw new MistakeError(
      `${name} is no compiled program. Name the executable that your compiler made, not a script.`,
    );
  const machine = elfMachine(path);
  const own = MACHINES[process.arch];
  if (kind !== expected || (machine !== undefined && own !== undefined && machine !== own && !runsHere(machine))) {
    const made = machine === undefined ? 'another system' : (NAMES[machine] ?? `machine ${machine}`);
    throw new MistakeError(
      `${name} was compiled for ${made} and cannot run here (${process.arch}). Compile it for this machine.`,
    );
  }
  return path;
}

/** A 64-bit processor runs the 32-bit code of its family. */
function runsHere(machine: number): boolean {
  return (process.arch === 'x64' && machine === 3) || (process.arch === 'arm64' && machine === 40);
}

function find(name: string, folder: string, env: NodeJS.ProcessEnv): string | undefined {
  const own = resolve(folder, name);
  if (isFile(own)) return own;
  if (/[\\/]/.test(name)) return undefined;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((each) => each !== '');
  return folders.map((each) => join(each, name)).find(isFile);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
