import { connect, type Socket } from 'node:net';
import type { Configuration, ConnectFile } from '../../../protocol/control';
import type { AttachAttributes } from '../../../protocol/launch';
import {
  attachRefused,
  badAddress,
  messageOf,
  nothingListens,
  nothingToAttach,
  notLoopback,
} from '../../common/errors';
import { LineSplitter, parseObject } from '../../common/ndjson';
import type { TargetProcess } from '../../engine/target';
import { PythonTarget, type TargetOptions } from './base';
import { ProcessTree } from './tree';

export interface AttachOptions extends TargetOptions {
  attributes: AttachAttributes;
  /** Milliseconds the listening process has to answer, and then to connect. */
  answerWithin?: number;
}

type Address = { path: string } | { host: string; port: number };

const TRY_EVERY = 500;

/** An app that called `toolbreak.listen()`. It lives on without us; when it is reloaded, its next process joins the session. */
export class AttachTarget extends PythonTarget {
  private readonly tree = new ProcessTree(undefined);
  private address: Address | undefined;
  private connectFile: ConnectFile | undefined;
  private arrived: () => void = () => {};
  private retry: NodeJS.Timeout | undefined;

  constructor(protected override readonly options: AttachOptions) {
    super(options);
  }

  async start(configuration: Configuration): Promise<void> {
    this.configuration = configuration;
    const { connect: given } = this.options.attributes;
    if (given === undefined || given === '') throw nothingToAttach();
    this.address = parseAddress(String(given));
    try {
      this.connectFile = (await this.open()).connect;
      const first = new Promise<void>((resolve) => (this.arrived = resolve));
      await this.ask();
      await Promise.race([first, this.patience()]);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Ends the processes that are connected; asked for expressly, since they are not ours. */
  async terminate(): Promise<void> {
    const again = this.ending;
    this.ending = true;
    if (this.over) return;
    if (again) return this.kill();
    await this.tree.terminate();
    if (this.processes.length === 0) this.finish(undefined);
  }

  async kill(): Promise<void> {
    this.ending = true;
    if (this.over) return;
    await this.tree.kill();
    this.finish(undefined);
  }

  protected override connected(process: TargetProcess): void {
    clearTimeout(this.retry);
    this.tree.add(process.hello.pid).catch((error: unknown) => this.log.error('process tree', error));
    this.arrived();
  }

  protected override disconnected(process: TargetProcess): void {
    if (this.over || this.processes.length > 0) return;
    if (this.ending) return this.finish(undefined);
    this.notice(
      'console',
      `${process.hello.name} has ended. Waiting for ${describe(this.address!)} to listen again; disconnect to stop waiting.`,
    );
    this.tryAgain();
  }

  protected override close(): void {
    clearTimeout(this.retry);
    super.close();
    this.arrived();
  }

  private tryAgain(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      if (this.over || this.ending || this.processes.length > 0) return;
      this.ask().catch((error: unknown) => {
        this.log.debug(`not yet: ${messageOf(error)}`);
      });
      // Also after an answer: the process may be gone before it connected.
      this.tryAgain();
    }, TRY_EVERY);
  }

  private async patience(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.options.answerWithin ?? 10_000).unref());
    if (this.processes.length === 0 && !this.over) throw nothingListens(describe(this.address!));
  }

  /** Tells the listening process where we are. */
  private ask(): Promise<void> {
    const address = this.address!;
    return new Promise((resolve, reject) => {
      const socket: Socket = connect(address);
      const fail = (error: Error): void => {
        socket.destroy();
        reject(error);
      };
      socket.setTimeout(this.options.answerWithin ?? 10_000, () => fail(nothingListens(describe(address))));
      socket.once('error', () => fail(nothingListens(describe(address))));
      socket.once('close', () => fail(nothingListens(describe(address))));
      const lines = new LineSplitter(
        (line) => {
          const answer = parseObject(line);
          if (answer?.['ok'] !== true) {
            const reason =
              typeof answer?.['error'] === 'string' ? answer['error'].replace(/\.$/, '') : 'it gave no reason';
            return fail(attachRefused(describe(address), reason));
          }
          socket.end();
          resolve();
        },
        64 * 1024,
        () => fail(nothingListens(describe(address))),
      );
      socket.on('data', (chunk: Buffer) => lines.push(chunk));
      socket.once('connect', () => {
        socket.write(`${JSON.stringify({ token: this.options.attributes.token ?? '', connect: this.connectFile })}\n`);
      });
    });
  }
}

/** `host:port`, a port, or a socket path. Throws a sentence; this machine only. */
export function parseAddress(text: string): Address {
  const given = text.trim();
  if (/^\d+$/.test(given)) return withPort('127.0.0.1', given, text);
  const match = /^(\[[0-9a-fA-F:]+\]|[^:/\\]+):(\d+)$/.exec(given);
  if (match !== null) {
    const host = match[1]!.replace(/^\[|\]$/g, '');
    if (!/^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)) throw notLoopback(host);
    return withPort(host.toLowerCase() === 'localhost' ? '127.0.0.1' : host, match[2]!, text);
  }
  if (/[/\\]/.test(given)) return { path: given };
  throw badAddress(text);
}

function withPort(host: string, digits: string, text: string): Address {
  const port = Number(digits);
  if (port < 1 || port > 65535) throw badAddress(text);
  return { host, port };
}

function describe(address: Address): string {
  return 'path' in address ? address.path : `${address.host}:${address.port}`;
}
