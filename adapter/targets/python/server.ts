import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Hello } from '../../../protocol/control';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import { parseObject } from '../../common/ndjson';
import { readLines, readToTheEnd, type Connection } from './connection';

/** Time a stranger has to say hello. */
const HELLO_WITHIN = 5_000;
const MOST_STRANGERS = 64;

/** The door for runtimes: a Unix socket, loopback TCP on Windows. Only who knows the token is let in. */
export class ControlServer {
  readonly token = randomBytes(24).toString('base64url');
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private strangers = 0;

  constructor(
    private readonly log: Log,
    /** Makes the connection of a process that showed the token, or refuses it. */
    private readonly accept: (hello: Hello, socket: Socket) => Connection | undefined,
  ) {}

  /** Opens the door; answers its address. */
  async listen(folder: string): Promise<string> {
    const server = createServer((socket) => this.connected(socket));
    this.server = server;
    const path = join(folder, 'control.sock');
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      if (process.platform === 'win32') server.listen(0, '127.0.0.1', resolve);
      else server.listen(path, resolve);
    });
    server.on('error', (error) => this.log.error('control socket', error));
    server.unref();
    if (process.platform === 'win32') return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    chmodSync(path, 0o600);
    return path;
  }

  close(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private connected(socket: Socket): void {
    if (this.strangers >= MOST_STRANGERS) {
      socket.destroy();
      return;
    }
    this.strangers++;
    this.sockets.add(socket);
    let known = false;
    const timer = setTimeout(() => {
      this.log.warn('control socket: a connection said nothing and was closed');
      socket.destroy();
    }, HELLO_WITHIN);
    timer.unref();
    const settled = (): void => {
      if (known) return;
      known = true;
      clearTimeout(timer);
      this.strangers--;
    };
    socket.on('error', (error) => this.log.debug(() => `control socket: ${messageOf(error)}`));
    socket.on('close', () => {
      settled();
      this.sockets.delete(socket);
    });
    socket.setNoDelay(true);
    readToTheEnd(socket);
    readLines(
      socket,
      (line) => {
        const connection = this.hello(line, socket);
        settled();
        if (connection === undefined) socket.end();
        return connection;
      },
      (why) => this.log.warn(`control socket: connection closed (${why})`),
    );
  }

  private hello(line: string, socket: Socket): Connection | undefined {
    const message = parseObject(line);
    if (message?.['event'] !== 'hello' || !this.isToken(message['token'])) {
      this.log.warn('control socket: connection without hello or token was closed');
      socket.destroy();
      return undefined;
    }
    const hello = readHello(message);
    if (hello === undefined) {
      this.log.warn('control socket: malformed hello');
      socket.destroy();
      return undefined;
    }
    return this.accept(hello, socket);
  }

  private isToken(given: unknown): boolean {
    if (typeof given !== 'string') return false;
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(given), digest(this.token));
  }
}

function readHello(message: Record<string, unknown>): Hello | undefined {
  const numbers = ['version', 'pid', 'parentPid'].every((key) => Number.isSafeInteger(message[key]));
  const texts = ['runtime', 'languageVersion', 'process', 'name', 'cwd', 'executable'].every(
    (key) => typeof message[key] === 'string',
  );
  // The process names spool files, so it must not be a path.
  if (!numbers || !texts || !/^[A-Za-z0-9._-]{1,64}$/.test(message['process'] as string)) return undefined;
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return {
    ...message,
    argv: list(message['argv']).map(String),
    frameworks: list(message['frameworks']).filter((item) => typeof item === 'object' && item !== null),
  } as unknown as Hello;
}
