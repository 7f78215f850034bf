import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { cannotStart, messageOf } from '../../common/errors';
import type { NativeLaunch } from './options';

/** A program that runs without any debugger. */
export interface PlainProgram {
  pid: number;
  /** What was typed; answers whether the program can still read it. */
  write(text: string): boolean;
  /** Its exit code as a shell says it, once its output is read. */
  ended: Promise<number>;
}

/** Starts the program in a process group of its own. Rejects with a sentence. */
export async function startPlain(
  { program, args, cwd, stdin }: NativeLaunch,
  env: NodeJS.ProcessEnv,
  output: (category: 'stdout' | 'stderr', text: string) => void,
): Promise<PlainProgram> {
  const file = stdin.kind === 'file' ? openSync(stdin.path, 'r') : undefined;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [file ?? (stdin.kind === 'none' ? 'ignore' : 'pipe'), 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (file !== undefined) closeSync(file);
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  forward(child.stdout!, (text) => output('stdout', text));
  forward(child.stderr!, (text) => output('stderr', text));
  // A program that reads nothing closes its end.
  child.stdin?.on('error', () => child.stdin?.destroy());
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(cannotStart(program, messageOf(error))));
  });
  if (stdin.kind === 'text') child.stdin?.end(stdin.text);
  return {
    pid: child.pid!,
    ended,
    write: (text) => {
      const input = child.stdin;
      if (stdin.kind !== 'console' || !input?.writable) return false;
      if (text === '^D' || text === '\u0004') input.end();
      else input.write(text.endsWith('\n') ? text : `${text}\n`);
      return true;
    },
  };
}

function forward(stream: Readable, tell: (text: string) => void): void {
  const decoder = new StringDecoder('utf8');
  stream.on('data', (chunk: Buffer) => tell(decoder.write(chunk)));
  stream.on('end', () => tell(decoder.end()));
}
