import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
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

/** The library that holds a program before its `main`: compiled once for each text of its source. Throws a sentence. */
export async function gateLibrary(): Promise<string> {
  const source = join(installationFolder(), 'runtimes', 'native', 'gate.c');
  const hash = createHash('sha256').update(readFileSync(source)).update(process.arch).digest('hex').slice(0, 16);
  const folder = makePrivateFolder(join(stateFolder(), 'gates'));
  const library = join(folder, `gate-${hash}.so`);
  if (/[\s:$]/.test(library)) {
    throw new UserError(
      `Programs that a tool starts cannot be stopped in their sources: the path ${folder} has a space, a colon or a dollar sign, and what holds them cannot be loaded from there. Set XDG_STATE_HOME to another folder, and start again.`,
    );
  }
  if (existsSync(library)) return library;
  const made = `${library}.${process.pid}`;
  let reason = '';
  for (const compiler of COMPILERS) {
    try {
      await promisify(execFile)(compiler, ['-shared', '-fPIC', '-O1', '-o', made, source], { timeout: COMPILE_WITHIN });
      renameSync(made, library);
      return library;
    } catch (error) {
      rmSync(made, { force: true });
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
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', (error) => this.log.debug(() => `gate: ${messageOf(error)}`));
    const lines = new LineSplitter(
      (line) => {
        const [pid, ...by] = line.split(/[ .]/).map(Number);
        if (pid === undefined || by.length !== 3 || ![pid, ...by].every((one) => Number.isSafeInteger(one))) {
          socket.destroy();
          return;
        }
        this.arrived(pid, { pid: by[0]!, call: by[1]!, thread: by[2]! })
          .catch((error: unknown) => this.log.warn(`gate of ${pid}: ${messageOf(error)}`))
          .finally(() => socket.end('.'));
      },
      256,
      () => socket.destroy(),
    );
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
  }
}
