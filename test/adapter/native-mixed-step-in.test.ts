import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { marker, type Stop } from './e2e-support';
import { agent, mixedScenes, prices, type MixedScene } from './native-mixed-support';

const at = (name: string): string => `prices.c:${marker(prices, name)}`;
const line = (name: string, more = 0): string => `agent.py:${marker(agent, name) + more}`;

/** No agent: a function that calls C. */
const outsideOfCalls = (library: string): string => `
import ctypes

library = ctypes.CDLL(${JSON.stringify(library)})

def work():
    total = library.owed((ctypes.c_int * 2)(10, 20), 2, 50)  # BP: call
    return total  # BP: after

print(work())
`;

/** Held at a line of Python, with no breakpoint in C. */
async function heldAt(s: MixedScene, way: string, dot: string, more: Record<string, unknown> = {}): Promise<Stop> {
  await s.launch(way, s.library(), { dots: { [agent]: [dot] } }, more);
  return s.scene.stop();
}

mixedScenes('A step in from Python to C', (scene) => {
  it('stops in the first line of the function that is called, without a breakpoint in C', async () => {
    const s = scene();
    let held = await heldAt(s, 'library', 'call');
    assert.deepEqual(await s.debuggers(), []);
    held = await s.scene.step('stepIn', held);
    assert.equal(held.body.reason, 'step');
    assert.equal(held.body.description, 'Paused on step');
    assert.deepEqual(s.stack(held).slice(0, 4), [
      `owed @ ${at('first')}`,
      `call_library @ ${line('call')}`,
      `price @ ${line('ways')}`,
      `price(prices=list (3), percent=50) · tool @ ${line('price')}`,
    ]);
    assert.equal((await s.scene.values(held, 'Locals'))['percent'], '50');
    // C goes on as in any C debugger, and out of it to the next Python line.
    held = await s.scene.step('next', held);
    held = await s.scene.step('stepOut', held);
    assert.equal(s.stack(held)[0], `call_library @ ${line('after')}`);
    assert.equal((await s.scene.values(held, 'Locals'))['result'], '30');
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  for (const path of ['its whole path', 'a path that begins at its folder'])
    it(`works outside of any call, in a library that was loaded by ${path}`, async () => {
      const s = scene();
      const library = s.library();
      const loaded = path === 'its whole path' ? library : `./${basename(library)}`;
      const program = s.scene.app('plain.py', outsideOfCalls(loaded));
      const here = (name: string): string => `plain.py:${marker(program, name)}`;
      const attributes = { program, cwd: dirname(library), lldbDap: s.delegate.path };
      await s.scene.launch(attributes, { dots: { [program]: ['call'] } });
      let held = await s.scene.stop();
      held = await s.scene.step('stepIn', held);
      assert.deepEqual(s.stack(held).slice(0, 2), [`owed @ ${at('first')}`, `work @ ${here('call')}`]);
      held = await s.scene.step('stepOut', held);
      assert.equal(s.stack(held)[0], `work @ ${here('after')}`);
      await s.go(held);
      assert.equal(await s.scene.exit(), '15\n');
    });

  it('keeps the breakpoints that are set while the first step prepares itself', async () => {
    const s = scene();
    let held = await heldAt(s, 'library', 'call');
    const [inside] = await Promise.all([s.scene.step('stepIn', held), s.scene.setDots(agent, ['after'])]);
    assert.equal(s.stack(inside)[0], `owed @ ${at('first')}`);
    await s.go(inside);
    held = await s.scene.stop();
    assert.equal(held.body.reason, 'breakpoint');
    assert.equal(s.stack(held)[0], `call_library @ ${line('after')}`);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('goes on to the next line where no native code with source is called, and is over then', async () => {
    const s = scene();
    let held = await heldAt(s, 'library', 'after');
    held = await s.scene.step('stepIn', held);
    assert.equal(s.stack(held)[0], `call_library @ ${line('after', 1)}`);
    held = await s.scene.step('stepIn', held);
    assert.match(held.name, /^price/);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('a continue in C ends the step: nothing stops in Python', async () => {
    const s = scene();
    let held = await heldAt(s, 'library', 'call');
    held = await s.scene.step('stepIn', held);
    assert.match(held.name, /^owed/);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
    assert.equal(s.client.output['important'] ?? '', '');
  });

  it('from C into Python that it calls only by a breakpoint; a step in from there comes to C again', async () => {
    const s = scene();
    await s.launch('callback', s.library(), { dots: { [agent]: ['with callback', 'called back'] } });
    let held = await s.scene.stop();
    held = await s.scene.step('stepIn', held);
    assert.equal(s.stack(held)[0], `with_callback @ ${at('ask')}`);
    held = await s.scene.step('next', held);
    // Python 3.10 names functions without what they are in.
    assert.equal(s.stack(held)[0]!.replace(/^answer/, 'call_back.answer'), `call_back.answer @ ${line('called back')}`);
    assert.equal(held.body.reason, 'breakpoint');
    held = await s.scene.step('stepIn', held);
    assert.equal(s.stack(held)[0], `inner @ ${at('inner')}`);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 101\n');
  });

  it('a breakpoint in C that is not met does not swallow the step', async () => {
    const s = scene();
    const held = await heldAt(s, 'library', 'call');
    await s.scene.setDots(prices, [{ at: 'first', condition: 'percent == 1' }]);
    const inside = await s.scene.step('stepIn', held);
    assert.equal(s.stack(inside)[0], `owed @ ${at('first')}`);
    await s.go(inside);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  const plain: [title: string, more: Record<string, unknown>][] = [
    ['with "subProcess": false', { subProcess: false }],
    ['without a debugger of native code', { lldbDap: '/nowhere/lldb-dap' }],
  ];
  for (const [title, more] of plain) {
    it(`is a plain step ${title}`, async () => {
      const s = scene();
      let held = await heldAt(s, 'library', 'call', more);
      held = await s.scene.step('stepIn', held);
      assert.equal(s.stack(held)[0], `call_library @ ${line('after')}`);
      assert.deepEqual(await s.debuggers(), []);
      assert.equal(await s.scene.evaluate(held, "'toolbreak._gates' in __import__('sys').modules", 'repl'), 'False');
      await s.go(held);
      assert.equal(await s.scene.exit(), 'To pay: 30\n');
      assert.equal(s.client.output['important'] ?? '', '');
    });
  }

  it('is a plain step where the debugger cannot attach, which is tried and told once', async () => {
    const s = scene();
    const broken = s.scene.app(
      'lldb-dap',
      `
#!/usr/bin/env python3
import json, sys

with open(sys.argv[0] + ".starts", "a") as starts:
    starts.write("started\\n")
while True:
    length = int(sys.stdin.buffer.readline().split(b":")[1])
    sys.stdin.buffer.readline()
    asked = json.loads(sys.stdin.buffer.read(length))
    answer = {"seq": 1, "type": "response", "request_seq": asked["seq"], "command": asked["command"], "body": {}}
    answer.update({"success": asked["command"] == "initialize", "message": "it may not be looked into"})
    text = json.dumps(answer).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(text), text))
    sys.stdout.buffer.flush()
`,
    );
    chmodSync(broken, 0o755);
    let held = await heldAt(s, 'library', 'call', { lldbDap: broken });
    held = await s.scene.step('stepIn', held);
    assert.equal(s.stack(held)[0], `call_library @ ${line('after')}`);
    held = await s.scene.step('stepIn', held);
    assert.equal(s.stack(held)[0], `call_library @ ${line('after', 1)}`);
    assert.equal(readFileSync(`${broken}.starts`, 'utf8'), 'started\n');
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
    assert.match(s.client.output['important'] ?? '', /may not be looked into/);
  });

  it('is a plain step where nothing with debug information and source is loaded', async () => {
    const s = scene();
    const library = s.compiled.program(prices, ['-shared', '-fPIC', '-g0'], 'prices.so');
    await s.launch('library', library, { dots: { [agent]: ['call'] } });
    let held = await s.scene.stop();
    held = await s.scene.step('stepIn', held);
    assert.equal(s.stack(held)[0], `call_library @ ${line('after')}`);
    assert.deepEqual(await s.debuggers(), []);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });
});
