import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { sessionNotFound } from '../common/errors';
import type { Log } from '../common/log';
import { makeRuntimeFolder } from '../common/paths';
import { listSessions } from '../common/sessions';

/** The door for further clients of a session: a Unix socket that only this user reaches, loopback with a token elsewhere. */
export interface ClientsDoor {
  address: string;
  /** Clients must show it; absent where the address itself is private. */
  token?: string;
  close(): void;
}

export async function openClientsDoor(serve: (socket: Socket, token?: string) => void, log: Log): Promise<ClientsDoor> {
  const token = process.platform === 'win32' ? newToken() : undefined;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', (error) => log.info(`client connection: ${error.message}`));
    serve(socket, token);
  });
  const close = (folder?: string): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  if (token !== undefined) {
    const port = await listen(server, 0);
    return { address: `127.0.0.1:${port}`, token, close };
  }
  const folder = makeRuntimeFolder();
  const path = join(folder, 'dap.sock');
  await listen(server, path);
  chmodSync(path, 0o600);
  server.unref();
  return { address: path, close: () => close(folder) };
}

/** Listens; answers the port, if it is one. */
export function listen(server: Server, where: number | string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const ready = (): void => resolve(typeof where === 'string' ? 0 : (server.address() as AddressInfo).port);
    if (typeof where === 'string') server.listen(where, ready);
    else server.listen(where, '127.0.0.1', ready);
  });
}

export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** A connection to the running session of this name, and the token to show there. Throws a sentence that names those there are. */
export async function connectToSession(name: string): Promise<{ stream: Socket; token?: string }> {
  const live = (await listSessions()).filter((session) => session.live);
  const record = live.find((session) => session.record.session === name)?.record;
  const unknown = sessionNotFound(
    name,
    live.map((session) => session.record.session),
  );
  const { address, token } = record ?? {};
  if (address === undefined) throw unknown;
  return new Promise((resolve, reject) => {
    const port = /^127\.0\.0\.1:(\d+)$/.exec(address)?.[1];
    const socket = port === undefined ? connect(address) : connect(Number(port), '127.0.0.1');
    socket.once('connect', () => resolve({ stream: socket, ...(token !== undefined && { token }) }));
    socket.once('error', () => reject(unknown));
  });
}
