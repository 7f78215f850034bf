import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { catalogue, type Talk } from './native-catalogue-support';
import type { Compiled } from '../support/native';

/** A program that signals end has this code for a shell; the plain adapter tells the signal's number alone. */
const asShells = (facts: Talk['facts']): Talk['facts'] =>
  facts.map(([what, fact]) => [what, what === 'exit code' ? 128 + Number(fact) : fact]);

const library = (compiled: Compiled): string => compiled.program('library.c', ['-shared', '-fPIC'], 'libcatalogue.so');

const crash = (signal: string, how: string, marker: string | undefined) => ({
  name: `${signal} ends the program`,
  file: 'order.c',
  async talk(t: Talk) {
    await t.launch({ args: [how] });
    const at = await t.stop();
    assert.equal(at.reason, 'exception');
    const own = at.frames.find(({ name }) => name === 'fail')!;
    if (marker) assert.equal(own.line, t.line(marker).line);
    await t.values(at, ['seed', 'how'], { frame: own });
    const info = await t.client.request('exceptionInfo', { threadId: at.threadId });
    t.note('signal', /SIG[A-Z]+/.exec(JSON.stringify(info))?.[0] ?? signalSaid(t));
    await t.go(at);
    await t.end();
  },
  better: asShells,
});
/** Where the plain adapter says the signal beside the stop only. */
function signalSaid(t: Talk): string {
  const stops = t.client.messages
    .map(({ message }) => JSON.stringify(message))
    .filter((text) => text.includes('"stopped"'));
  return /SIG[A-Z]+/.exec(stops.join())?.[0] ?? 'none';
}

catalogue('Threads, watched memory, signals, processes, libraries', [
  {
    name: 'threads: each stops with its own variables, all stand',
    file: 'threads.c',
    async talk(t) {
      await t.launch({ dots: ['square', 'joined'] });
      for (const index of [0, 1, 2]) {
        const at = await t.stop();
        assert.equal(await t.evaluate(at, 'number'), String(index + 1));
        await t.values(at, ['index'], { frame: at.frames[1]! });
        await t.evaluate(at, 'own', 'watch', at.frames[1]);
        t.note('threads', (await t.threads()).length);
        await t.go(at);
      }
      const at = await t.stop();
      await t.values(at, ['results'], { scope: 'Globals', depth: 1 });
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'threads: a step stays in its thread, and the others can be looked at',
    file: 'threads.c',
    async talk(t) {
      await t.launch({ dots: [{ at: 'work', condition: 'index == 1' }] });
      let at = await t.stop();
      const first = at.threadId;
      at = await t.step('stepIn', at);
      assert.equal(at.threadId, first);
      at = await t.step('stepOut', at);
      at = await t.step('next', at);
      assert.equal(at.threadId, first);
      const ends: string[] = [];
      for (const { id } of await t.threads()) {
        const { stackFrames } = await t.client.request('stackTrace', { threadId: id, startFrame: 0, levels: 20 });
        ends.push(...stackFrames.map(({ name }) => name).filter((name) => name === 'main' || name === 'work'));
      }
      t.note('who is there', ends.sort());
      assert.deepEqual(ends, ['main', 'work', 'work', 'work']);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a watched global',
    file: 'kinds.c',
    async talk(t) {
      await t.launch({ dots: ['global'] });
      let at = await t.stop();
      await t.watch(at, 'global_count', 'Globals');
      for (const value of ['12', '14']) {
        await t.go(at);
        at = await t.stop();
        assert.equal(at.reason, 'data breakpoint');
        assert.equal(await t.evaluate(at, 'global_count'), value);
      }
      await t.unwatch();
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a watched local, and no longer',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['loop'], dots: ['loop'] });
      let at = await t.stop();
      await t.clear();
      await t.watch(at, 'total', 'Locals');
      for (const value of ['1', '3', '6']) {
        await t.go(at);
        at = await t.stop();
        assert.deepEqual([at.reason, await t.evaluate(at, 'total')], ['data breakpoint', value]);
      }
      await t.unwatch();
      await t.go(at);
      await t.end();
    },
  },
  crash('SIGSEGV', 'segv', 'segv'),
  crash('SIGABRT', 'abort', undefined),
  crash('SIGFPE', 'fpe', 'fpe'),
  {
    name: 'SIGKILL ends the program',
    file: 'order.c',
    async talk(t) {
      await t.launch({ args: ['kill'] });
      await t.end();
    },
  },
  {
    name: 'C++: an exception where it is thrown, and where it is caught',
    file: 'containers.cpp',
    async talk(t) {
      await t.launch({ args: ['caught'], exceptions: ['cpp_throw'], dots: ['caught'] });
      let at = await t.stop();
      assert.ok(at.frames.some(({ name }) => name.includes('deeper')));
      await t.go(at);
      at = await t.stop();
      await t.evaluate(at, 'argc');
      await t.go(at);
      await t.end();
      assert.ok(t.output().includes('caught not today'));
    },
  },
  {
    name: 'C++: an exception that nobody catches',
    file: 'containers.cpp',
    async talk(t) {
      await t.launch({ args: ['uncaught'] });
      const at = await t.stop();
      assert.equal(at.reason, 'exception');
      assert.ok(at.frames.some(({ name }) => name.includes('deeper')));
      await t.go(at);
      await t.end();
    },
    better: asShells,
  },
  {
    name: 'fork: the parent is debugged, the child runs free',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['fork'], dots: ['add', 'parent'] });
      const at = await t.stop();
      await t.values(at, ['status']);
      await t.go(at);
      await t.end();
      assert.ok(t.output().includes('the child ended with 5'));
    },
  },
  {
    name: 'a library that the program is linked to',
    file: 'uses_library.c',
    build: (compiled) => compiled.program('uses_library.c', [library(compiled), `-Wl,-rpath,${compiled.folder}`]),
    async talk(t) {
      await t.launch({ dots: ['use', 'library.c:scale'] });
      let at = await t.stop();
      at = await t.step('stepIn', at);
      assert.equal(at.top.name, 'library_scale');
      await t.values(at, ['number']);
      at = await t.step('next', at);
      await t.values(at, ['scaled']);
      at = await t.step('stepOut', at);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a library that is loaded later',
    file: 'loads_library.c',
    async talk(t) {
      await t.launch({ args: [library(t.compiled)], dots: ['library.c:scale'] });
      let at = await t.stop();
      assert.equal(at.top.name, 'library_scale');
      await t.values(at, ['number']);
      at = await t.step('stepOut', at);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a program that runs is attached to, and let go',
    file: 'flow.c',
    async talk(t) {
      const child = spawn(t.program, ['wait'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await once(child.stdout, 'data');
      await t.attach({ pid: child.pid! }, { dots: ['waiting'] });
      const at = await t.stop();
      assert.equal(at.top.name, 'wait_for_release');
      await t.evaluate(at, 'released');
      await t.evaluate(at, 'released = 1');
      await t.client.request('disconnect', { terminateDebuggee: false });
      const [code] = (await ended) as [number];
      t.note('afterwards', [code, said]);
      assert.deepEqual([code, said], [0, 'ready\nreleased\n']);
    },
  },
  {
    name: 'a core that was left behind',
    file: 'order.c',
    async talk(t) {
      const coreFile = join(t.compiled.folder, `core-${t.delegate.major}-${t.plain ? 'plain' : 'ours'}`);
      await t.launch({ args: ['segv'] });
      const at = await t.stop();
      await t.command(`process save-core --style=stack ${coreFile}`, at);
      await t.go(at);
      await t.end();
      await t.attach({ coreFile });
      const left = await t.stop();
      const own = left.frames.find(({ name }) => name === 'fail')!;
      await t.values(left, ['seed', 'how'], { frame: own });
      await t.values(left, ['first'], { frame: left.frames.find(({ name }) => name === 'main')!, depth: 3 });
    },
    // lldb-dap 22 calls it an entry that the program was ended by a signal.
    better: (facts) =>
      asShells(facts).map(([what, fact]) => [
        what,
        what === 'stopped' ? String(fact).replace(/^entry:/, 'exception:') : fact,
      ]),
  },
]);
