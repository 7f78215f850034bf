import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, UserError } from '../../common/errors';
import { installationFolder } from '../../common/installation';
import type { Log } from '../../common/log';
import { LineSplitter } from '../../common/ndjson';
import { makePrivateFolder, makeRuntimeFolder, stateFolder } from '../../common/paths';

const COMPILERS = ['cc', 'gcc', 'clang'];
const COMPILE_WITHIN = 20_000;
const MOST_WAITING = 256;

/** Who started a program: process, number of the call there (0: none), and Python's number of the thread. */
export interface Starter {
  pid: number;
  call: number;
  thread: number;
}

/** What the file of the library is called; `gate.c` knows it, too. */
const NAME = 'toolbreak-gate.so';
/** Programs with another C library than ours get it, too: nothing is in it that they may not have. */
export const GATE_FLAGS = ['-shared', '-fPIC', '-O1', '-nostdlib', '-U_FORTIFY_SOURCE', '-fno-stack-protector'];
/** What `$LIB` stands for in the loader of 64-bit programs, and in that of 32-bit ones, on one system or another. */
const WIDE = [process.arch === 'arm64' ? 'lib/aarch64-linux-gnu' : 'lib/x86_64-linux-gnu', 'lib64', 'lib'];
const NARROW = ['lib/i386-linux-gnu', 'lib/arm-linux-gnueabihf', 'lib32', 'lib'];

/**
 * What `LD_PRELOAD` is to be, so that a program is held before its `main`: a library that is compiled once for each text of its source. Throws a sentence.
 *
 * Where the system's loader knows `$LIB`, a 32-bit program finds an empty library of its own kind: it would complain of ours on its stderr.
 */
export async function gateLibrary(): Promise<string> {
  const source = join(installationFolder(), 'runtimes', 'native', 'gate.c');
  const text = readFileSync(source);
  const hash = createHash('sha256').update(text).update(`${process.arch} 2`).digest('hex').slice(0, 16);
  const all = makePrivateFolder(join(stateFolder(), 'gates'));
  const folder = join(all, hash);
  if (/[\s:$]/.test(folder)) {
    throw new UserError(
      `Programs that a tool starts cannot be stopped in their sources: the path ${all} has a space, a colon or a dollar sign, and what holds them cannot be loaded from there. Set XDG_STATE_HOME to another folder, and start again.`,
    );
  }
  const place = join(folder, 'place');
  if (existsSync(place)) return join(folder, readFileSync(place, 'utf8'));
  const made = mkdtempSync(`${folder}-`);
  try {
    const compiler = await compile([...GATE_FLAGS, source], join(made, NAME));
    writeFileSync(join(made, 'place'), await layOut(made, compiler));
    try {
      renameSync(made, folder);
    } catch (error) {
      // Another adapter was first.
      if (!existsSync(place)) throw error;
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return join(folder, readFileSync(place, 'utf8'));
}

/** Puts the library where `$LIB` leads to, and an empty one where it leads 32-bit programs. Answers how it is named then, below the folder. */
async function layOut(folder: string, compiler: string): Promise<string> {
  const named = join('$LIB', NAME);
  let wide: string | undefined;
  for (const one of WIDE) {
    mkdirSync(join(folder, one), { recursive: true });
    copyFileSync(join(folder, NAME), join(folder, one, NAME));
    if (await isLoadedFrom(join(folder, named))) {
      wide = one;
      break;
    }
    rmSync(join(folder, one, NAME));
  }
  if (wide === undefined) return NAME;
  const empty = join(folder, 'empty.so');
  try {
    const flags = ['-m32', '-shared', '-nostdlib', '-x', 'c', '/dev/null'];
    await promisify(execFile)(compiler, [...flags, '-o', empty], { timeout: COMPILE_WITHIN });
  } catch {
    // A compiler that makes no 32-bit code, on a machine that most likely runs none.
    return named;
  }
  for (const one of NARROW.filter((each) => each !== wide)) {
    mkdirSync(join(folder, one), { recursive: true });
    copyFileSync(empty, join(folder, one, NAME));
  }
  return named;
}

/** Whether the system's loader finds the library there, for an ordinary program. */
async function isLoadedFrom(library: string): Promise<boolean> {
  try {
    const env = { ...process.env, LD_PRELOAD: library };
    const { stdout } = await promisify(execFile)('cat', ['/proc/self/maps'], { env, timeout: COMPILE_WITHIN });
    return stdout.includes(NAME);
  } catch {
    return false;
  }
}

/** Answers the compiler that did it. Throws a sentence. */
async function compile(args: readonly string[], output: string): Promise<string> {
  let reason = '';
  for (const compiler of COMPILERS) {
    try {
      await promisify(execFile)(compiler, [...args, '-o', output], { timeout: COMPILE_WITHIN });
      return compiler;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') reason = messageOf(error).split('\n')[0] ?? '';
    }
  }
  throw new UserError(
    reason === ''
      ? 'Programs that a tool starts cannot be stopped in their sources: that needs a C compiler (cc, gcc or clang), and none was found. Install one, for example with apt install gcc, and start again.'
      : `Programs that a tool starts cannot be stopped in their sources: what holds them could not be compiled (${reason}).`,
  );
}

/** The socket where a program asks whether it may begin. */
export class GateDoor {
  readonly #folder = makeRuntimeFolder();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly address = join(this.#folder, 'gate');

  private constructor(
    private readonly log: Log,
    private readonly arrived: (pid: number, by: Starter) => Promise<void>,
  ) {
    this.#server = createServer((socket) => this.#connected(socket));
    this.#server.on('error', (error) => this.log.error('gate', error));
    this.#server.unref();
  }

  /** `arrived` decides; when it has settled, the program goes on. */
  static async open(log: Log, arrived: (pid: number, by: Starter) => Promise<void>): Promise<GateDoor> {
    const door = new GateDoor(log, arrived);
    await new Promise<void>((resolve, reject) => {
      door.#server.once('error', reject);
      door.#server.listen(door.address, resolve);
    });
    chmodSync(door.address, 0o600);
    return door;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #connected(socket: Socket): void {
    if (this.#sockets.size >= MOST_WAITING) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#livesOn();
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', (error) => this.log.debug(() => `gate: ${messageOf(error)}`));
    const lines = new LineSplitter(
      (line) => {
        const [, pid, by, call, thread, space] = /^(\d+) (\d+)\.(\d+)\.(\d+) (\S*)$/.exec(line) ?? [];
        if (pid === undefined || [pid, by, call, thread].some((one) => !Number.isSafeInteger(Number(one)))) {
          socket.destroy();
          return;
        }
        // Among the numbers of another container this one may be anybody's here.
        if (space !== ownSpace()) {
          this.log.info(`a program that counts processes otherwise (${space}) was let pass`);
          socket.end('.');
          return;
        }
        this.arrived(Number(pid), { pid: Number(by), call: Number(call), thread: Number(thread) })
          .catch((error: unknown) => this.log.warn(`gate of ${pid}: ${messageOf(error)}`))
          .finally(() => {
            this.#livesOn();
            socket.end('.');
          });
      },
      256,
      () => socket.destroy(),
    );
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
  }

  /** A program that waited in vain has noted that nobody is here: the next ones are to ask again. */
  #livesOn(): void {
    rmSync(`${this.address}.late`, { force: true });
  }
}

/** Where this process's number counts: a namespace of the system. */
function ownSpace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}
