import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { percentile, type Figures } from './session';

/** Starts a program that takes its turns from this port; what it answers waits for the program's end, which comes when its connection is closed. */
export type Begin = (port: number) => Promise<() => Promise<void>>;

/** Turns that a program needs until it is warm and the recording beside it has begun; then those that count. */
const WARM = 8;
const COUNTED = 20;
/** Milliseconds in which a program begins, and in which it is its turn again. */
const PATIENCE = 60_000;

/** A program that works only when it is its turn, and then says how long that took it. */
class Player {
  readonly times: number[] = [];
  readonly #lines: AsyncIterator<string>;

  constructor(
    readonly name: string,
    private readonly socket: Socket,
    private readonly over: () => Promise<void>,
  ) {
    socket.setTimeout(PATIENCE, () => socket.destroy());
    this.#lines = createInterface(socket)[Symbol.asyncIterator]();
  }

  async turn(): Promise<number> {
    this.socket.write('.');
    const next = await this.#lines.next();
    if (next.done) throw new Error(`The program "${this.name}" of the bench ended before its last turn.`);
    return Number(next.value);
  }

  async end(): Promise<void> {
    this.socket.end();
    await this.over();
  }
}

async function join(name: string, begin: Begin): Promise<Player> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const joined = once(server, 'connection', { signal: AbortSignal.timeout(PATIENCE) }) as Promise<[Socket]>;
  joined.catch(() => undefined); // It is awaited only where the program has begun.
  let end: (() => Promise<void>) | undefined;
  try {
    end = await begin((server.address() as AddressInfo).port);
    const [socket] = await joined;
    return new Player(name, socket, end);
  } catch (error) {
    await end?.();
    throw new Error(`The program "${name}" of the bench did not begin: ${String(error)}`, { cause: error });
  } finally {
    server.close();
  }
}

/**
 * Runs programs beside each other, of which one works at a time. Answers the time of each but the first over that of the first in the same round of
 * turns, the median: a machine may be half as quick in the next second, but seldom within one.
 */
export async function inTurns(programs: Record<string, Begin>): Promise<Figures> {
  const players: Player[] = [];
  try {
    for (const [name, begin] of Object.entries(programs)) players.push(await join(name, begin));
    const [first, ...others] = players;
    if (!first) throw new Error('Nothing is to be measured.');
    for (let turn = 0; turn < WARM + COUNTED; turn += 1) {
      const base = await first.turn();
      for (const player of others) {
        const time = (await player.turn()) / base;
        if (turn >= WARM) player.times.push(time);
      }
    }
    return new Map(others.map(({ name, times }) => [name, percentile(times, 0.5)]));
  } finally {
    for (const ended of await Promise.allSettled(players.map((player) => player.end())))
      if (ended.status === 'rejected') console.error(ended.reason);
  }
}
