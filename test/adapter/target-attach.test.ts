import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import type { AttachAttributes } from '../../protocol/launch';
import { isAlive } from '../../adapter/common/processes';
import { AttachTarget, parseAddress } from '../../adapter/targets/python/attach';
import { configuration, Heard, Place, python, standInBoot, until } from './target-support';

/** What `toolbreak.listen()` does, with the stand-in. */
const listener = `
import json, os, socket, sys, time
sys.path.insert(0, ${JSON.stringify(standInBoot)})
import sitecustomize
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    asked = json.loads(c.makefile().readline())
    fine = asked["token"] == "secret"
    c.sendall(json.dumps({"ok": True} if fine else {"ok": False, "error": "Wrong token."}).encode() + b"\\n")
    c.close()
    if fine: break
s.close()
from importlib.util import spec_from_file_location, module_from_spec
spec = spec_from_file_location("stand_in", os.path.join(sys.path[0], "sitecustomize.py"))
stand_in = module_from_spec(spec); spec.loader.exec_module(stand_in)
stand_in.start(asked["connect"])
while not os.path.exists("go"): time.sleep(0.02)
`;

describe('Attaching to a Python app', function () {
  this.timeout(30_000);
  let place: Place;
  let target: AttachTarget | undefined;
  const children: ChildProcess[] = [];

  beforeEach(() => (place = new Place()));
  afterEach(async () => {
    await target?.detach();
    for (const child of children.splice(0)) child.kill('SIGKILL');
    place.remove();
  });

  async function listen(port = 0): Promise<{ port: number; child: ChildProcess }> {
    const program = place.file('server.py', listener);
    const child = spawn(python, [program, String(port)], { cwd: place.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const line = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data: Buffer) => resolve(String(data))),
    );
    return { port: Number(line), child };
  }
  function make(attributes: AttachAttributes): Heard {
    target = new AttachTarget({ attributes, log: place.log() });
    return new Heard(target);
  }

  it('connects, follows a reload, detaches and leaves the app running', async () => {
    const { port, child } = await listen();
    const heard = make({ connect: port, token: 'secret' });
    await target!.start(configuration);
    assert.equal(heard.started.length, 1);
    assert.equal(heard.started[0]!.hello.pid, child.pid);
    child.kill('SIGKILL');
    await until(() => heard.notices.length > 0, 'a notice');
    assert.match(heard.notices[0]!, /Waiting for 127\.0\.0\.1:\d+ to listen again/);
    const next = await listen(port);
    await until(() => heard.started.length === 2, 'the next process');
    assert.equal(heard.started[1]!.index, 2);
    assert.deepEqual(heard.exits, []);
    await target!.detach();
    assert.deepEqual(heard.exits, [undefined]);
    assert.ok(isAlive(next.child.pid!));
  });

  it('terminate ends the app', async () => {
    const { port } = await listen();
    const heard = make({ connect: `localhost:${port}`, token: 'secret' });
    await target!.start(configuration);
    await target!.terminate();
    await heard.exited();
    assert.deepEqual(heard.exits, [undefined]);
  });

  it('says what is wrong with the address or the token', async () => {
    const { port } = await listen();
    make({ connect: port, token: 'wrong' });
    await assert.rejects(target!.start(configuration), {
      name: 'UserError',
      message: `The app at 127.0.0.1:${port} refused: Wrong token. Check "token" in launch.json; toolbreak.listen() prints it.`,
    });
    make({ connect: 1 });
    await assert.rejects(target!.start(configuration), {
      name: 'UserError',
      message: /Nothing listens on 127.0.0.1:1\./,
    });
    make({});
    await assert.rejects(target!.start(configuration), { name: 'UserError', message: /Nothing to attach to/ });
  });

  it('takes addresses of this machine only', () => {
    assert.deepEqual(parseAddress('5678'), { host: '127.0.0.1', port: 5678 });
    assert.deepEqual(parseAddress('[::1]:80'), { host: '::1', port: 80 });
    assert.deepEqual(parseAddress('/run/app.sock'), { path: '/run/app.sock' });
    assert.throws(() => parseAddress('example.org:80'), /another machine/);
    assert.throws(() => parseAddress('127.0.0.1.evil.org:80'), /another machine/);
    assert.throws(() => parseAddress('0.0.0.0:80'), /another machine/);
    assert.throws(() => parseAddress('what'), /is no address/);
    assert.throws(() => parseAddress('99999'), /is no address/);
  });
});
