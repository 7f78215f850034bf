import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { apps, marker, python, refusal, root, scenes, until, type Scene } from './e2e-support';

const folder = join(apps, 'server');
const program = join(folder, 'server.py');

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

class Server {
  said = '';
  readonly ended: Promise<number | null>;
  constructor(s: Scene, file: string, env: Record<string, string>) {
    const child = spawn(python, [file], {
      cwd: folder,
      env: { ...s.env, PYTHONPATH: join(root, 'runtimes', 'python'), PYTHONUNBUFFERED: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    }
    this.ended = new Promise((resolve) => child.once('exit', resolve));
    s.cleanup(async () => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
      await this.ended;
    });
  }

  async ready(): Promise<{ url: string; connect: string; token: string }> {
    await until(() => /http:\S+\n/.test(this.said), 'the server to be ready');
    const [, connect, token] = /on (127\.0\.0\.1:\d+) with token (\S+)/.exec(this.said)!;
    return { url: /http:\S+/.exec(this.said)![0], connect: connect!, token: token! };
  }
}

const get = async (url: string): Promise<unknown> => (await fetch(url)).json();

scenes('Attaching to a server', (scene) => {
  it('stops, edits, leaves it running, and attaches again', async () => {
    const s = scene();
    const server = new Server(s, program, { LISTEN: '0' });
    const { url, connect, token } = await server.ready();

    for (const [client, edited] of [
      [s.client, '"desk"'],
      [s.adapter(), '"lamp"'],
    ] as const) {
      await client.attach({ connect, token }, () => s.setDots(program, ['price'], client));
      const asked = get(`${url}/price?item=sofa`);
      const stop = await s.stop(undefined, client);
      assert.equal(stop.name, "price(item='sofa') · function, before");
      assert.equal(stop.top.line, marker(program, 'price'));
      await s.set(stop, 'Arguments', 'item', edited);
      await s.go(stop);
      assert.deepEqual(await asked, { item: 'sofa', price: edited === '"desk"' ? 200 : 30 });

      // Held when we leave: the request is answered all the same.
      const left = get(`${url}/price?item=desk`);
      await s.stop(undefined, client);
      await client.request('disconnect', {});
      assert.deepEqual(await left, { item: 'desk', price: 200 });
      await client.closed;
      assert.deepEqual(await get(`${url}/price?item=lamp`), { item: 'lamp', price: 30 });
    }
    await get(`${url}/stop`);
    assert.equal(await server.ended, 0);
  });

  it('holds two requests at the same time', async () => {
    const s = scene();
    const server = new Server(s, program, { LISTEN: '0' });
    const { url, connect, token } = await server.ready();
    await s.client.attach({ connect, token }, () => s.setDots(program, ['price']));
    const lamp = get(`${url}/price?item=lamp`);
    const one = await s.stop();
    const desk = get(`${url}/price?item=desk`);
    const two = await s.stop();
    assert.notEqual(one.threadId, two.threadId);
    await s.go(two);
    assert.deepEqual(await desk, { item: 'desk', price: 200 });
    await s.go(one);
    assert.deepEqual(await lamp, { item: 'lamp', price: 30 });
  });

  it('refuses a wrong token and an address where nothing listens, with a sentence', async () => {
    const s = scene();
    const server = new Server(s, program, { LISTEN: '0' });
    const { url, connect, token } = await server.ready();
    assert.match(await refusal(s.client.attach({ connect, token: `${token}x` })), /Check "token" in launch\.json/);
    const free = await freePort();
    const nobody = s.adapter();
    assert.match(await refusal(nobody.attach({ connect: free, token })), /^Nothing listens on 127\.0\.0\.1:\d+\. /);
    const elsewhere = s.adapter();
    assert.match(await refusal(elsewhere.attach({ connect: 'example.test:1', token })), /is another machine/);
    const nothing = s.adapter();
    assert.match(await refusal(nothing.attach({})), /^Nothing to attach to: /);
    assert.deepEqual(await get(`${url}/price?item=lamp`), { item: 'lamp', price: 30 });
  });

  it('goes on debugging a server that is reloaded', async () => {
    const s = scene();
    const [listen, port] = [await freePort(), await freePort()];
    const reloading = join(folder, 'reloading.py');
    const server = new Server(s, reloading, { LISTEN: String(listen), PORT: String(port) });
    const { url, connect, token } = await server.ready();
    await s.client.attach({ connect, token }, () => s.setDots(program, ['price']));
    const asked = get(`${url}/price?item=lamp`);
    await s.go(await s.stop());
    assert.deepEqual(await asked, { item: 'lamp', price: 30 });

    const bound = (): Promise<unknown> => s.client.waitFor('breakpoint', ({ breakpoint }) => breakpoint.verified);
    await bound();
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await get(`${url}/reload`), { reloading: true });
      await s.client.waitFor('breakpoint', ({ breakpoint }) => !breakpoint.verified);
      await bound();
      // The new worker may not serve yet.
      const answer = until(
        () =>
          get(`${url}/price?item=lamp`).then(
            (body) => assert.deepEqual(body, { item: 'lamp', price: 200 }) ?? true,
            (error: unknown) => !(error instanceof TypeError),
          ),
        'the new worker to serve',
      );
      const again = await s.stop();
      await s.set(again, 'Arguments', 'item', '"desk"');
      await s.go(again);
      await answer;
    }
    assert.match(s.client.output['console'] ?? '', /has ended\. Waiting for 127\.0\.0\.1:\d+ to listen again/);
    await s.setDots(program, []);
    assert.deepEqual(await get(`${url}/price?item=desk`), { item: 'desk', price: 200 });
  });
});
