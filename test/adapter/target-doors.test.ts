import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync as readlink, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:net';
import { isAlive } from '../../adapter/common/processes';
import type { SessionRecord } from '../../adapter/common/sessions';
import { DapClient } from '../support/dap-client';
import { Place, python, until } from './target-support';

const root = join(__dirname, '..', '..');
const command = ['--import', 'tsx', join(root, 'adapter', 'doors', 'start.ts')];

describe('The toolbreak command', function () {
  this.timeout(60_000);
  let place: Place;
  let env: NodeJS.ProcessEnv;
  const clients: DapClient[] = [];

  beforeEach(() => {
    place = new Place();
    env = { ...process.env, XDG_STATE_HOME: join(place.folder, 'state'), XDG_RUNTIME_DIR: place.folder };
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
    place.remove();
  });

  function start(...args: string[]): DapClient {
    const client = DapClient.start(process.execPath, [...command, 'dap', ...args], { cwd: root, env });
    clients.push(client);
    return client;
  }
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [...command, ...args], { cwd: root, env, encoding: 'utf8' });
  function sessions(): SessionRecord[] {
    const folder = join(place.folder, 'state', 'toolbreak', 'sessions');
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => JSON.parse(readFileSync(join(folder, entry.name, 'session.json'), 'utf8')) as SessionRecord);
  }
  /** An app that waits to be ended, also by force. */
  function waiting(): Record<string, unknown> {
    const program = place.file(
      'app.py',
      'import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("pid", os.getpid(), flush=True)\nwhile True: time.sleep(0.05)\n',
    );
    return { program, python, cwd: place.folder, noDebug: true };
  }
  async function appPid(client: DapClient): Promise<number> {
    await client.waitForOutput('stdout', '\n');
    return Number(/pid (\d+)/.exec(client.output['stdout'] ?? '')![1]);
  }

  it('says its version and its commands', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    for (const way of ['--version', 'version']) assert.equal(run(way), `${version}\n`);
    assert.match(run('--help'), /dap .*\n.*sessions/s);
    assert.equal(run('sessions'), 'No session is running.\n');
    assert.throws(() => run('dap', '--port', 'x'), /A port is a number/);
  });

  it('ends the app, and itself, when its stdin ends', async () => {
    const client = start();
    await client.launch(waiting());
    const pid = await appPid(client);
    assert.match(run('sessions'), new RegExp(`${sessions()[0]!.session} +running`));
    await client.end();
    await until(() => !isAlive(pid), 'the end of the app');
    assert.equal(client.child!.exitCode, 0);
    assert.ok(sessions()[0]!.ended);
    assert.equal(run('sessions'), 'No session is running.\n');
    assert.deepEqual(
      readdirSync(place.folder).filter(
        (name) => name === 'toolbreak' && readdirSync(join(place.folder, name)).length > 0,
      ),
      [],
    );
  });

  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    it(`ends the app, and itself, on ${signal}`, async () => {
      const client = start();
      await client.launch(waiting());
      const pid = await appPid(client);
      process.kill(client.child!.pid!, signal);
      await until(() => !isAlive(pid) && client.child!.exitCode === 0, 'the end of both');
    });
  }

  it('ends at once when nothing was launched', async () => {
    const client = start();
    await client.initialize();
    await client.end();
    assert.equal(client.child!.exitCode, 0);
  });

  it("keeps what makes the editor's Electron a Node from the app", async () => {
    env['ELECTRON_RUN_AS_NODE'] = '1';
    const program = place.file('env.py', 'import os; print(os.environ.get("ELECTRON_RUN_AS_NODE"))\n');
    const client = start();
    await client.launch({ program, python, cwd: place.folder, noDebug: true });
    await client.waitFor('terminated');
    assert.equal(client.output['stdout'], 'None\n');
  });

  it('ends after disconnect', async () => {
    const client = start();
    await client.launch(waiting());
    const pid = await appPid(client);
    await client.request('disconnect', { terminateDebuggee: true });
    await until(() => !isAlive(pid) && client.child!.exitCode === 0, 'the end of both');
  });

  it('on a port lets in only those who show the token', async () => {
    const file = join(place.folder, 'token');
    // A file that everybody may read is no place for it.
    writeFileSync(file, '', { mode: 0o644 });
    const server = start('--port', '0', '--token-file', file);
    await until(() => {
      try {
        return readFileSync(file, 'utf8').length > 20;
      } catch {
        return false;
      }
    }, 'the token');
    const token = readFileSync(file, 'utf8');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const port = listeningPort(server.child!.pid!);

    const stranger = await DapClient.connect(port);
    await stranger.initialize();
    await assert.rejects(stranger.request('threads', {}), /needs a token/);
    await assert.rejects(stranger.request('launch', { ...waiting() }), /needs a token/);
    await assert.rejects(stranger.request('launch', { ...waiting(), token: 'wrong' } as never), /needs a token/);
    await stranger.closed;
    const page = connect(port, '127.0.0.1');
    page.write('POST / HTTP/1.1\r\nHost: localhost\r\n\r\n{"type":"request"}');
    await new Promise((resolve) => page.once('close', resolve));

    const client = await DapClient.connect(port);
    await client.launch({ ...waiting(), token });
    const pid = await appPid(client);
    const { session } = await client.request('toolbreak/status', {});
    assert.match(run('sessions', '--json'), /"name": "app.py",\n *"cwd": "\//);
    assert.deepEqual(client.output['console'], undefined);

    // Another client finds the session by its name.
    const other = start();
    await other.attach({ session });
    assert.equal((await other.request('toolbreak/status', {})).session, session);
    await other.request('disconnect', {});
    await other.end();
    assert.ok(isAlive(pid));

    const lost = start();
    await assert.rejects(
      lost.attach({ session: 'no-such-1' }),
      new RegExp(`named no-such-1. Running sessions: .*${session}`),
    );
    await client.request('disconnect', {});
    await until(() => !isAlive(pid) && server.child!.exitCode === 0, 'the end of both');
  });

  /** The port a process listens on, from the system's own tables. */
  function listeningPort(pid: number): number {
    const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /socket:\[(\d+)\]/.exec(readlink(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
    const line = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((row) => row.trim().split(/\s+/))
      .find((row) => row[3] === '0A' && inodes.includes(row[9] ?? ''));
    return parseInt(line![1]!.split(':')[1]!, 16);
  }
});
