import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { marker } from './e2e-support';
import { agent, mixedScenes, prices } from './native-mixed-support';

const at = (name: string): string => `prices.c:${marker(prices, name)}`;
/** How the tool starts the program, and the function that does. */
const WAYS = { program: 'run_program', shell: 'run_shell', async: '<lambda>' };

mixedScenes('A program that a Python tool starts', (scene) => {
  for (const [way, starter] of Object.entries(WAYS)) {
    it(`stops in C under the call that started it: ${way}`, async () => {
      const s = scene();
      await s.launch(way, s.program(), { dots: { [prices]: [{ at: 'add', condition: 'i == 2' }] } });
      const held = await s.scene.stop();
      assert.equal(held.body.reason, 'breakpoint');
      const stack = s.stack(held);
      assert.equal(stack[0], `owed @ ${at('add')}`);
      assert.match(stack[1]!, /^main @ prices\.c/);
      const names = held.frames.map(({ name }) => name);
      assert.deepEqual(names.slice(2), [
        starter,
        'price',
        'price(prices=list (3), percent=50) · tool',
        'tools · node, step 2',
        'shop · workflow, call 1',
      ]);
      // A thread of its own, beside the task that waits for it.
      assert.deepEqual(
        (await s.scene.threadNames()).map((name) => name.split(' — ')[0]),
        ['shop', 'prices › prices'],
      );
      const caller = { ...held, top: held.frames.at(-3)! };
      assert.equal((await s.scene.values(caller, 'Arguments'))['percent'], '50');
      assert.equal(await s.scene.evaluate(caller, 'percent + 1'), '51');
      assert.equal(await s.scene.set(held, 'Locals', 'total', '70'), '70');
      const next = await s.scene.step('stepOut', held);
      assert.match(next.name, /^main/);
      assert.deepEqual(next.frames.map(({ name }) => name).slice(-2), [
        'tools · node, step 2',
        'shop · workflow, call 1',
      ]);
      await s.go(next);
      assert.equal(await s.scene.exit(), 'To pay: 50\n');
    });
  }

  it('stops the task that waits for it as ever, while the program stands still', async () => {
    const s = scene();
    await s.launch('program', s.program(), { dots: { [prices]: ['end'] }, functions: ['tool:price@after'] });
    const held = await s.scene.stop();
    assert.match(held.name, /^main/);
    await s.go(held);
    const after = await s.scene.stop();
    assert.match(after.name, /^price\(/);
    await s.go(after);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('is left alone with "subProcess": false, and without a breakpoint in C', async () => {
    const s = scene();
    await s.launch('program', s.program(), { dots: { [prices]: ['add'] } }, { subProcess: false });
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
    assert.deepEqual(gates(s.scene.env), []);
  });

  it('starts no gate without a breakpoint in C', async () => {
    const s = scene();
    await s.launch('program', s.program(), { dots: { [agent]: ['run'] } });
    const held = await s.scene.stop();
    assert.deepEqual([await s.debuggers(), gates(s.scene.env)], [[], []]);
    await s.go(held);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
  });

  it('says that a compiler is missing, and the app runs', async () => {
    const s = scene();
    const client = s.scene.adapter(['dap'], { PATH: '/nowhere' });
    const program = { program: agent, args: ['program', s.program()], lldbDap: s.delegate.path };
    await s.scene.launch(program, { dots: { [prices]: ['add'] } }, client);
    assert.equal(await s.scene.exit(0, client), 'To pay: 30\n');
    assert.match(client.output['important'] ?? '', /needs a C compiler \(cc, gcc or clang\)/);
  });
});

function gates(env: NodeJS.ProcessEnv): string[] {
  const folder = join(env['XDG_STATE_HOME']!, 'toolbreak', 'gates');
  return existsSync(folder) ? readdirSync(folder) : [];
}
