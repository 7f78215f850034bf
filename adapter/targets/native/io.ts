import { execFile } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Log } from '../../common/log';
import { messageOf } from '../../common/errors';
import type { Stdin } from './options';
import type { StreamFiles } from './gdb';
import { asArgument } from './quirks';

const LOOK_EVERY = 10;
/** What is typed to end the input, as in a terminal. */
const END_OF_INPUT = '\u0004';

/**
 * The program's streams beside the delegate: stderr by a named pipe of its own, since the delegate would mix it into stdout; stdin from a file, or by a
 * named pipe that is written to while the program runs. stdout stays with the delegate's terminal, so that lines come as they are written.
 */
export class ProgramStreams {
  readonly #outputs: Socket[] = [];
  #writeEnds: number[] = [];
  #input: { path: string; hold: number } | undefined;
  #typed: Socket | undefined;
  #inputEnded = false;
  /** Resolves when nothing more comes by pipes. */
  ended: Promise<unknown> = Promise.resolve();
  /** What lldb is told, as commands. */
  readonly commands: string[] = [];
  /** The same for others. */
  readonly files: StreamFiles = {};

  constructor(
    private readonly folder: string,
    private readonly log: Log,
    private readonly tell: (stream: 'stdout' | 'stderr', text: string) => void,
  ) {}

  async open(stdin: Stdin): Promise<void> {
    if (process.platform === 'win32') {
      if (stdin.kind === 'file') this.#redirect('input', stdin.path);
      return;
    }
    const error = join(this.folder, 'stderr');
    const input = join(this.folder, 'stdin');
    const names = [error, ...(stdin.kind === 'console' ? [input] : [])];
    await makeFifos(names);
    this.#read('stderr', error);
    switch (stdin.kind) {
      case 'none':
        this.#redirect('input', '/dev/null');
        break;
      case 'file':
        this.#redirect('input', stdin.path);
        break;
      case 'text': {
        const path = join(this.folder, 'input');
        writeFileSync(path, stdin.text, { mode: 0o600 });
        this.#redirect('input', path);
        break;
      }
      case 'console':
        // Both ends, so that nobody waits for the other to open it.
        this.#input = { path: input, hold: openSync(input, constants.O_RDWR | constants.O_NONBLOCK) };
        this.#redirect('input', input);
    }
  }

  /** stdout by a pipe, too: for a debugger that says there what it has to say itself. */
  async takeOutput(): Promise<void> {
    if (process.platform === 'win32') return;
    const output = join(this.folder, 'stdout');
    await makeFifos([output]);
    this.#read('stdout', output);
  }

  /** As `opened`, as soon as this file is there. */
  openedWith(ready: string): void {
    if (existsSync(ready)) this.opened();
    else if (!this.#inputEnded) setTimeout(() => this.openedWith(ready), LOOK_EVERY).unref();
  }

  /** The program runs and has opened its ends. */
  opened(): void {
    if (this.#input && !this.#inputEnded) {
      this.#typed = new Socket({
        fd: openSync(this.#input.path, constants.O_WRONLY | constants.O_NONBLOCK),
        readable: false,
        writable: true,
      });
      this.#typed.on('error', (error) => this.log.debug(() => `input of the program: ${messageOf(error)}`));
      closeSync(this.#input.hold);
      this.#input = undefined;
    }
    this.#closeWriteEnds();
  }

  /** What was typed; answers whether the program can still read it. Ctrl-D ends the input. */
  write(text: string): boolean {
    const typed = this.#typed;
    if (!typed?.writable) return false;
    if (text === END_OF_INPUT || text === '^D') typed.end();
    else typed.write(text.endsWith('\n') ? text : `${text}\n`);
    return true;
  }

  close(): void {
    this.#inputEnded = true;
    this.#typed?.destroy();
    if (this.#input) closeSync(this.#input.hold);
    this.#input = undefined;
    this.#closeWriteEnds();
    this.#outputs.forEach((stream) => stream.destroy());
  }

  #redirect(which: keyof StreamFiles, path: string): void {
    this.commands.push(`settings set target.${which}-path ${asArgument(path)}`);
    this.files[which] = path;
  }

  #closeWriteEnds(): void {
    this.#writeEnds.forEach((end) => closeSync(end));
    this.#writeEnds = [];
  }

  #read(name: 'stdout' | 'stderr', path: string): void {
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    // Held until the program has opened its own end: a pipe that nobody writes to has ended.
    this.#writeEnds.push(openSync(path, constants.O_WRONLY));
    const stream = new Socket({ fd: read, readable: true, writable: false });
    this.#outputs.push(stream);
    const decoder = new StringDecoder('utf8');
    stream.on('data', (chunk: Buffer) => this.tell(name, decoder.write(chunk)));
    stream.on('end', () => this.tell(name, decoder.end()));
    stream.on('error', (error) => this.log.warn(`${name} of the program`, error));
    this.ended = Promise.all([this.ended, new Promise((resolve) => stream.once('close', resolve))]);
    this.#redirect(name === 'stdout' ? 'output' : 'error', path);
  }
}

function makeFifos(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('mkfifo', ['-m', '600', ...paths], (error) =>
      error === null ? resolve() : reject(new Error(error.message)),
    );
  });
}
