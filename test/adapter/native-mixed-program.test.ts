import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { marker } from './e2e-support';
import { agent, mixedScenes, prices } from './native-mixed-support';

const at = (name: string): string => `prices.c:${marker(prices, name)}`;
/** A tool that starts a program, and says how it ended. */
const APP = `
import subprocess, sys
import toolbreak

@toolbreak.tool
def work():
    done = subprocess.run([sys.argv[1]], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr

print(work())
`;

/** Becomes itself once more. */
const AGAIN = `
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int work(int value) {
  return value + 1; // # BP: work
}
int main(int argc, char **argv) {
  int result = work(argc);
  if (getenv("AGAIN") == NULL) {
    setenv("AGAIN", "1", 1);
    execv("/proc/self/exe", argv);
  }
  printf("%d\\n", result);
  return 0;
}
`;

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

  it('goes on under its debugger where it becomes another program', async () => {
    const s = scene();
    const source = s.scene.place.file('again.c', AGAIN);
    const args = [s.compiled.program(source)];
    await s.launch('', '', { dots: { [source]: ['work'] } }, { program: s.scene.app('app.py', APP), args });
    for (const time of ['first', 'second']) {
      const held = await s.scene.stop();
      assert.equal(held.body.reason, 'breakpoint', time);
      assert.equal(s.stack(held)[0], `work @ again.c:${marker(source, 'work')}`, time);
      await s.go(held);
    }
    assert.equal(await s.scene.exit(), "(0, '2\\n', '')\n");
  });

  it('runs as ever where it has a sanitizer that wants to be loaded first', async () => {
    const s = scene();
    const args = [s.compiled.program(s.scene.place.file('again.c', AGAIN), ['-fsanitize=address'])];
    await s.launch('', '', { dots: { [prices]: ['add'] } }, { program: s.scene.app('app.py', APP), args });
    assert.equal(await s.scene.exit(), "(0, '2\\n', '')\n");
  });

  it('says where its gate cannot be loaded from, and the app runs', async () => {
    const s = scene();
    const client = s.scene.adapter(['dap'], { XDG_STATE_HOME: join(s.scene.place.folder, 'a state') });
    const program = { program: agent, args: ['program', s.program()], lldbDap: s.delegate.path };
    await s.scene.launch(program, { dots: { [prices]: ['add'] } }, client);
    assert.equal(await s.scene.exit(0, client), 'To pay: 30\n');
    assert.match(client.output['important'] ?? '', /has a space, a colon or a dollar sign/);
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
