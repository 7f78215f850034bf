import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callDetail } from '../../adapter/store/reader/detail';
import { RunFile } from '../../adapter/store/reader/runFile';
import { toolbreakCommand } from '../support/adapter';
import type { DapClient } from '../support/dap-client';
import { apps, refusal, root, scenes, until, type Scene } from './e2e-support';

const level0 = join(apps, 'level0', 'calculator.py');

scenes('Several clients on one session', (scene) => {
  /** A second client through the session's door, as `session.json` tells it. */
  async function second(s: Scene): Promise<DapClient> {
    const [record] = s.sessions();
    const client = await s.join(record!['address'] as string);
    client.clientName = 'Neovim';
    await client.attach({}, () => Promise.resolve());
    return client;
  }

  it('replays stops; each has its own handles and breakpoints, both see events', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const first = await s.stop();
    const other = await second(s);
    const replayed = await s.stop(undefined, other);
    assert.equal(replayed.threadId, first.threadId);
    assert.equal(replayed.name, first.name);
    assert.equal(replayed.body.hitBreakpointIds, undefined);

    // The same line is a breakpoint of its own here.
    const [own] = await s.setDots(level0, ['mul'], other);
    assert.equal(own!.verified, true);
    await s.set(replayed, 'Arguments', 'b', '30');
    await s.client.waitFor('invalidated', ({ threadId }) => threadId === first.threadId);
    assert.equal(await s.evaluate(first, 'b'), '30');

    // Released by the second, heard by the first.
    await s.go(replayed);
    await s.client.waitFor('continued', ({ threadId }) => threadId === first.threadId);
    const [mine, theirs] = await Promise.all([s.stop(), s.stop(undefined, other)]);
    assert.match(mine.name, /^mul\(a=32, b=4\)/);
    assert.equal(mine.body.hitBreakpointIds, undefined);
    assert.deepEqual(theirs.body.hitBreakpointIds, [own!.id]);
    await refusal(s.evaluate(first, 'b'));

    await s.go(mine);
    await other.waitFor('continued', ({ threadId }) => threadId === theirs.threadId);
    await s.exit(0, other);
    assert.equal(other.output['stdout'], '2 + 3 = 32\n32 * 4 = 128\n');
    assert.equal(await s.exit(), '2 + 3 = 32\n32 * 4 = 128\n');

    await other.request('disconnect', {});
    const file = new RunFile(await s.recording());
    const released = ['1.1', '1.2'].map((call) => callDetail(file, call).events.at(-1)?.text);
    file.db.close();
    assert.deepEqual(released, ['Released by Neovim', 'Released in the editor']);
  });

  it('takes the breakpoints of a client away when it leaves, and leaves the app alone', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const first = await s.stop();
    const other = await second(s);
    await s.setDots(level0, ['mul'], other);
    await other.request('disconnect', {});
    await other.closed;
    await s.go(first);
    assert.match(await s.exit(), /^2 \+ 3 = 5$/m);
  });

  it('lets a client that broke off go as one that left', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const first = await s.stop();
    const other = await second(s);
    await s.setDots(level0, ['mul'], other);
    await other.end();
    const { processes } = await s.client.request('toolbreak/status', {});
    assert.equal(processes.length, 1);
    // Its breakpoints go as soon as the session has noticed; the log says when.
    const { logs } = await s.client.request('toolbreak/status', {});
    await until(() => readFileSync(join(logs, 'adapter.log'), 'utf8').includes('client: the client left'), 'the end');
    await s.go(first);
    await s.exit();
  });

  it('is reached by name', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const first = await s.stop();
    const { session } = await s.client.request('toolbreak/status', {});
    const other = s.adapter();
    await other.attach({ session });
    const replayed = await s.stop(undefined, other);
    assert.equal(replayed.name, first.name);
    const stranger = s.adapter();
    const sentence = await refusal(stranger.attach({ session: 'no-such-session' }));
    assert.match(sentence, /^No running session is named no-such-session\. Running sessions: /);
    assert.ok(sentence.includes(session));
    await s.go(replayed);
    assert.match(await s.exit(), /^2 \+ 3 = 5$/m);
  });
});

scenes('A session on a port', (scene) => {
  async function serve(s: Scene): Promise<{ port: number; token: string }> {
    const child = spawn(process.execPath, toolbreakCommand('dap', '--port', '0'), {
      cwd: root,
      env: s.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    s.cleanup(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until(() => /token \S+\n/.test(said), 'the port and the token');
    return { port: Number(/127\.0\.0\.1:(\d+)/.exec(said)![1]), token: /token (\S+)\n/.exec(said)![1]! };
  }

  it('lets in who shows the token, and nobody else', async () => {
    const s = scene();
    const { port, token } = await serve(s);

    const missing = await s.join(port);
    assert.match(await refusal(s.launch({ program: level0 }, {}, missing)), /needs a token/);

    const wrong = await s.join(port);
    assert.match(await refusal(s.launch({ program: level0, token: `${token}x` }, {}, wrong)), /needs a token/);
    await wrong.closed;

    const right = await s.join(port);
    await s.launch({ program: level0, token }, { dots: { [level0]: ['add'] } }, right);
    const stop = await s.stop(undefined, right);
    const more = await s.join(port);
    await more.attach({ token });
    const replayed = await s.stop(undefined, more);
    await s.go(replayed);
    await right.waitFor('continued', ({ threadId }) => threadId === stop.threadId);
    assert.equal(await s.exit(0, right), '2 + 3 = 5\n5 * 4 = 20\n');
    await more.waitFor('terminated');
  });
});
