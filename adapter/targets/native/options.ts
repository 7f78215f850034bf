import { existsSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { AttachAttributes, LaunchAttributes, StdinAttribute } from '../../../protocol/launch';
import { folderNotFound, programNotFound, UserError, wrongType } from '../../common/errors';
import { mergeVariables, readEnvFile, type Variables } from '../python/environment';
import { binaryKind, elfMachine, hasDebugInformation } from './binary';
import { notCompiled } from './sourceFile';

/** A native launch as checked. */
export interface NativeLaunch {
  program: string;
  args: string[];
  cwd: string;
  variables: Variables;
  stdin: Stdin;
  noDebug: boolean;
  lldbDap?: string;
  sourceMap: [string, string][];
}
export type Stdin = { kind: 'console' | 'none' } | { kind: 'file'; path: string } | { kind: 'text'; text: string };

/** Whether a launch is of native code: it says so, or its program is machine code. */
export function isNativeLaunch({ target, program, cwd }: LaunchAttributes): boolean {
  if (target !== undefined) return target === 'native';
  if (program === undefined || /\.pyw?$/.test(program)) return false;
  // A source that was not compiled is no Python either: what is to be done with it is said here.
  return notCompiled(program) !== undefined || binaryKind(resolve(cwd ?? '.', program)) !== undefined;
}

export function isNativeAttach({ processId, coreFile }: AttachAttributes): boolean {
  return processId !== undefined || coreFile !== undefined;
}

/** Throws a sentence for the first thing that is wrong. */
export function readNativeLaunch(attributes: LaunchAttributes): NativeLaunch {
  const { program, args = [], console = 'internalConsole' } = attributes;
  if (program === undefined || program === '') {
    throw new UserError('Nothing to run: set "program" to an executable in launch.json.');
  }
  const cwd = resolve(attributes.cwd ?? '.');
  if (!isDirectory(cwd)) throw folderNotFound(attributes.cwd ?? cwd);
  const path = resolve(cwd, program);
  checkProgram(path, program);
  if (console === 'integratedTerminal') {
    throw new UserError(
      'Native programs run in the Debug Console, where their input is typed, too. Remove "console" from launch.json.',
    );
  }
  const fromFile = attributes.envFile ? readEnvFile(resolve(cwd, attributes.envFile)) : undefined;
  return {
    program: path,
    args,
    cwd,
    variables: mergeVariables(fromFile, attributes.env ?? {}),
    stdin: readStdin(attributes.stdin, cwd),
    noDebug: attributes.noDebug ?? false,
    ...(attributes.lldbDap ? { lldbDap: attributes.lldbDap } : {}),
    sourceMap: Object.entries(attributes.sourceMap ?? {}).map(([from, to]) => [from, resolve(cwd, to)]),
  };
}

function readStdin(given: StdinAttribute | undefined, cwd: string): Stdin {
  if (given === undefined || given === 'console') return { kind: 'console' };
  if (given === 'none') return { kind: 'none' };
  if ('text' in given) return { kind: 'text', text: given.text };
  const path = resolve(cwd, given.file);
  if (!existsSync(path)) throw new UserError(`The file ${given.file} does not exist. Check "stdin" in launch.json.`);
  if (isDirectory(path)) throw new UserError(`${given.file} is a folder. Set "stdin" to a file in launch.json.`);
  return { kind: 'file', path };
}

/** What the machine can run, or a sentence why not. */
function checkProgram(path: string, given: string): void {
  if (!existsSync(path)) throw programNotFound(path);
  if (isDirectory(path)) throw new UserError(`${given} is a folder. Set "program" to an executable in launch.json.`);
  if (binaryKind(path) === undefined) {
    const source = notCompiled(given);
    if (source !== undefined) throw new UserError(`${source} It is "program" in launch.json.`);
    throw new UserError(
      `${given} is no native program: it does not begin as one. Compile it, and set "program" to what the compiler made.`,
    );
  }
  const machine = elfMachine(path);
  const ours = { x64: 62, arm64: 183, ia32: 3, arm: 40, riscv64: 243, s390x: 22, ppc64: 21 }[process.arch as string];
  // A machine of 64 bits runs its own programs of 32.
  const fits = machine === undefined || ours === undefined || machine === ours || (ours === 62 && machine === 3);
  if (!fits) {
    throw new UserError(
      `${given} was compiled for another machine than this one (${process.arch}). Compile it for this one.`,
    );
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o111) === 0) {
    throw new UserError(`${given} may not be executed. Make it executable with "chmod +x ${given}".`);
  }
}

/** Why no line of this program can be bound, if that is so. */
export function noDebugInformation(program: string): string | undefined {
  return hasDebugInformation(program) === false
    ? `${basename(program)} was compiled without debug information. Compile it with -g (and -O0, to see every variable).`
    : undefined;
}

export function readProcessId(given: string | number | undefined): number {
  const pid = Number(given);
  if (!Number.isSafeInteger(pid) || pid <= 0) throw wrongType('processId', 'the number of a process');
  return pid;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
