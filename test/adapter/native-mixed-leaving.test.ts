import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../adapter/common/processes';
import { until, type Dot } from './e2e-support';
import { mixedScenes, prices, type MixedScene } from './native-mixed-support';

/** `TOOLBREAK_NATIVE_KILLS=100` for a long run. */
const KILLS = Number(process.env['TOOLBREAK_NATIVE_KILLS'] ?? 5);

/** A library's caller that works on until a file appears, and then says what it got. */
const APP = `
import ctypes, os, sys, time
import toolbreak

folder, native = sys.argv[1], sys.argv[2]
numbers = (ctypes.c_int * 3)(10, 20, 30)

@toolbreak.tool
def price(percent):
    return ctypes.CDLL(native).owed(numbers, 3, percent)

results = [price(50)]
while not os.path.exists(os.path.join(folder, "enough")):
    results.append(price(50))
with open(os.path.join(folder, "part"), "w") as file:
    file.write(f"{set(results)}")
os.rename(os.path.join(folder, "part"), os.path.join(folder, "done"))
`;

mixedScenes('Leaving a library under a Python tool', (s) => {
  async function start(mixed: MixedScene, at: string | Dot = 'add'): Promise<{ folder: string; pid: number }> {
    const program = mixed.scene.app('app.py', APP);
    const folder = mixed.scene.place.folder;
    await mixed.launch('library', '', { dots: { [prices]: [at] } }, { program, args: [folder, mixed.library()] });
    return { folder, pid: (await mixed.client.waitFor('process')).systemProcessId! };
  }

  /** The app is alive, its results are right, and it ends by itself. */
  async function finishes({ folder, pid }: { folder: string; pid: number }): Promise<void> {
    s().scene.place.file('enough', '');
    await until(() => existsSync(join(folder, 'done')), 'the end of the app');
    assert.equal(readFileSync(join(folder, 'done'), 'utf8'), '{30}');
    await until(() => !isAlive(pid), 'the end of its process');
  }
  for (let round = 1; round <= KILLS; round++) {
    it(`kill -9 of the adapter while it is stopped leaves the app to itself (${round})`, async () => {
      const app = await start(s());
      await s().scene.stop();
      process.kill(s().client.child!.pid!, 'SIGKILL');
      await s().client.closed;
      await finishes(app);
    });

    it(`kill -9 of the adapter while a condition that is not met is asked all the time leaves the app to itself (${round})`, async () => {
      const app = await start(s(), { at: 'add', condition: 'percent == 51' });
      await s().client.waitFor('breakpoint', (body) => body.breakpoint.verified);
      await s().client.request('modules', {});
      process.kill(s().client.child!.pid!, 'SIGKILL');
      await s().client.closed;
      await finishes(app);
    });

    it(`kill -9 of the adapter while it runs leaves the app to itself (${round})`, async () => {
      const app = await start(s(), 'crash');
      await s().client.waitFor('breakpoint', (body) => body.breakpoint.verified);
      // Answered by the debugger once it has let the app run.
      await s().client.request('modules', {});
      process.kill(s().client.child!.pid!, 'SIGKILL');
      await s().client.closed;
      await finishes(app);
    });
  }

  it('disconnect without ending the app lets it run on from a stop', async () => {
    const app = await start(s());
    await s().scene.stop();
    await s().client.request('disconnect', { terminateDebuggee: false });
    await finishes(app);
  });

  it('disconnect lets it run on, also while a condition that is not met is asked all the time', async () => {
    const app = await start(s(), { at: 'add', condition: 'percent == 51' });
    await s().client.waitFor('breakpoint', (body) => body.breakpoint.verified);
    await s().client.request('disconnect', { terminateDebuggee: false });
    await finishes(app);
  });

  it('terminate ends an app that is stopped in C', async () => {
    const { pid } = await start(s());
    await s().scene.stop();
    await s().client.request('terminate', {});
    await s().client.waitFor('terminated');
    await until(() => !isAlive(pid), 'the end of the app');
  });

  it('taking the last breakpoint away leaves nothing that stops', async () => {
    const app = await start(s());
    const held = await s().scene.stop();
    await s().scene.setDots(prices, []);
    await s().go(held);
    await finishes(app);
    await s().client.waitFor('terminated');
    assert.deepEqual(s().client.pending('stopped'), []);
  });

  it('kill -9 of the adapter while a started program is stopped lets the program and the app finish', async () => {
    const mixed = s();
    const result = join(mixed.scene.place.folder, 'result');
    const program = mixed.scene.app(
      'start.py',
      `
import os, subprocess, sys
out = subprocess.run([sys.argv[1], "50", "10", "20", "30"], capture_output=True, text=True).stdout
with open(sys.argv[2] + ".part", "w") as file:
    file.write(out)
os.rename(sys.argv[2] + ".part", sys.argv[2])
`,
    );
    await mixed.launch('program', '', { dots: { [prices]: ['add'] } }, { program, args: [mixed.program(), result] });
    await mixed.client.waitFor('stopped');
    process.kill(mixed.client.child!.pid!, 'SIGKILL');
    await until(() => existsSync(result), 'the end of the app');
    assert.equal(readFileSync(result, 'utf8'), '30\n');
  });

  it('a debugger that ends when it is to attach is told, and the app runs', async () => {
    const mixed = s();
    const broken = mixed.scene.app(
      'lldb-dap',
      `
#!/usr/bin/env python3
import json, sys

while True:
    length = int(sys.stdin.buffer.readline().split(b":")[1])
    sys.stdin.buffer.readline()
    asked = json.loads(sys.stdin.buffer.read(length))
    if asked["command"] != "initialize":
        sys.exit(3)
    answer = {"seq": 1, "type": "response", "request_seq": asked["seq"], "command": "initialize", "success": True, "body": {}}
    text = json.dumps(answer).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(text), text))
    sys.stdout.buffer.flush()
`,
    );
    chmodSync(broken, 0o755);
    await mixed.launch('library', mixed.library(), { dots: { [prices]: ['add'] } }, { lldbDap: broken });
    assert.equal(await mixed.scene.exit(), 'To pay: 30\n');
    assert.match(mixed.client.output['important'] ?? '', /lldb-dap has ended/);
  });
});
