import { Console } from 'node:console';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { listen, newToken } from './clients';
import { ServedSession } from './serve';

/** A session that nobody uses ends by itself after this time. */
const IDLE = 30 * 60_000;

/** Whoever starts the adapter knows that native code will be debugged, and by what. */
type Native = Parameters<typeof ServedSession.open>[0];

/** DAP over stdin and stdout. The session ends with them. */
export async function serveStdio(native?: Native): Promise<void> {
  keepStdoutClean();
  const served = await ServedSession.open(native);
  served.admit(process.stdin, process.stdout, 'editor');
  // The client may leave before it launched anything.
  process.stdin.on('close', () => setImmediate(() => served.end('stdin was closed', 0)));
  process.stdin.on('end', () => setImmediate(() => served.end('stdin ended', 0)));
  await served.session.done;
  served.end('all is done', 0, true);
}

/** DAP for several clients on a loopback port, behind a token. Ends when the app ended and all clients left, or nobody came. */
export async function servePort(port: number, tokenFile: string | undefined, native?: Native): Promise<void> {
  keepStdoutClean();
  const served = await ServedSession.open(native);
  const token = newToken();
  const server = createServer((socket) => {
    socket.on('error', (error) => served.log.info(`client connection: ${error.message}`));
    served.admit(socket, socket, 'client', token);
  });
  const chosen = await listen(server, port);
  if (tokenFile !== undefined) writeToken(tokenFile, token);
  process.stderr.write(`toolbreak: session ${served.folder.id} listens on 127.0.0.1:${chosen}\n`);
  process.stderr.write(tokenFile === undefined ? `toolbreak: token ${token}\n` : `toolbreak: token in ${tokenFile}\n`);
  const idle = setTimeout(() => {
    if (served.session.clients.size === 0) served.end('nobody came', 0);
  }, IDLE);
  await served.session.done;
  clearTimeout(idle);
  server.close();
  served.end('all is done', 0, true);
}

/** A file of our own: one that is there keeps who may read it, and a link leads anywhere. */
function writeToken(file: string, token: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, token, { mode: 0o600, flag: 'wx' });
}

/** Only DAP goes to stdout: what some library prints goes to stderr. */
function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
}
