import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from './native-catalogue-support';

catalogue('Ways through a program', [
  {
    name: 'a breakpoint, the variables there, the normal end',
    file: 'order.c',
    async talk(t) {
      await t.launch({ dots: ['main'] });
      const at = await t.stop();
      assert.equal(at.top.line, t.line('main').line);
      await t.values(at, ['argc', 'sum', 'first'], { depth: 3 });
      await t.go(at);
      await t.end();
      assert.ok(t.output().includes('11.0 6 3'));
    },
  },
  ...[7, 255].map((code) => ({
    name: `the exit code ${code}`,
    file: 'flow.c',
    async talk(t: Parameters<Parameters<typeof catalogue>[1][0]['talk']>[0]) {
      await t.launch({ args: ['exit', String(code)] });
      await t.end();
      assert.deepEqual(t.facts[0], ['exit code', code]);
    },
  })),
  {
    name: 'steps over, in and out',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['steps'], dots: ['call'] });
      let at = await t.stop();
      at = await t.step('stepIn', at);
      assert.deepEqual([at.top.name, at.reason], ['nested', 'step']);
      at = await t.step('stepIn', at);
      assert.equal(at.top.name, 'add');
      await t.values(at, ['left', 'right']);
      at = await t.step('next', at);
      await t.values(at, ['sum']);
      at = await t.step('stepOut', at);
      assert.equal(at.top.name, 'nested');
      at = await t.step('next', at);
      await t.values(at, ['more', 'number']);
      at = await t.step('stepOut', at);
      assert.equal(at.top.name, 'main');
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'steps of single instructions',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['steps'], dots: ['add'] });
      let at = await t.stop();
      const places = new Set([at.top.instructionPointerReference]);
      for (let i = 0; i < 4; i++) {
        if (t.plain && t.delegate.major < 20) {
          await t.command('thread step-inst', at);
          at = await t.stop();
        } else at = await t.step('stepIn', at, 'instruction');
        places.add(at.top.instructionPointerReference);
      }
      assert.equal(places.size, 5);
      await t.clear();
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'recursion: every frame has its own variables',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['factorial'], dots: [{ at: 'factorial end', condition: 'number == 1' }] });
      let at = await t.stop();
      await t.clear();
      for (let i = 0; i < 5; i++) at = await t.step('stepOut', at);
      await t.go(at);
      await t.end();
      assert.ok(t.output().includes('720'));
    },
  },
  {
    name: 'recursion: frames of one stop',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['factorial'], dots: [{ at: 'factorial end', condition: 'number == 1' }] });
      const at = await t.stop();
      for (const frame of at.frames.slice(0, 6).reverse()) {
        assert.equal(frame.name, 'factorial');
        await t.values(at, ['number'], { frame });
      }
      await t.clear();
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a deep stack, page by page',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['dig', '3000'], dots: ['ground'] });
      const at = await t.stop();
      for (const startFrame of [500, 2995]) {
        const asked = { threadId: at.threadId, startFrame, levels: 7 };
        const { stackFrames } = await t.client.request('stackTrace', asked);
        t.note(
          `frames from ${startFrame}`,
          stackFrames.map(({ name }) => name),
        );
        assert.equal(stackFrames[0]?.name, 'dig');
      }
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a condition',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['loop'], dots: [{ at: 'loop', condition: 'i == 4 && total > 5' }] });
      const at = await t.stop();
      await t.values(at, ['i', 'total']);
      await t.go(at);
      await t.end();
    },
  },
  {
    name: 'a count of hits',
    file: 'flow.c',
    async talk(t) {
      // The plain adapter's "5" means every hit from the fifth on.
      await t.launch({ args: ['loop'], dots: [{ at: 'loop', hitCondition: t.plain ? '5' : '>=5' }] });
      for (const i of [4, 5]) {
        const at = await t.stop();
        assert.equal(await t.evaluate(at, 'i'), String(i));
        await t.go(at);
      }
      await t.end();
    },
  },
  {
    name: 'a log message',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['loop'], dots: [{ at: 'loop', logMessage: 'i is {i}, total {total + 1}' }] });
      await t.end();
      const lines = (t.client.output['console'] ?? '').split('\n').filter((line) => /^i is/.test(line));
      assert.equal(lines.length, 6);
      t.note('log', lines);
    },
  },
  {
    name: 'breakpoints on functions',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['steps'], functions: ['add', 'nested'] });
      for (const name of ['nested', 'add', 'add']) {
        const at = await t.stop();
        assert.equal(at.top.name, name);
        await t.go(at);
      }
      await t.end();
    },
    // 19 says `breakpoint` of all of them.
    better: (facts) =>
      facts.map(([what, fact]) => [
        what,
        what === 'stopped' ? String(fact).replace(/^breakpoint:/, 'function breakpoint:') : fact,
      ]),
  },
  {
    name: 'breakpoints that come and go while the program runs',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['wander'], dots: ['begin'] });
      let at = await t.stop();
      await t.go(at);
      await t.dot('wander');
      at = await t.stop();
      await t.clear();
      await t.go(at);
      at = await t.pause();
      // Where in the library it sleeps, and how often it has, is a matter of luck.
      t.facts.pop();
      t.note('reason', at.reason);
      assert.equal(at.reason, 'pause');
    },
  },
  {
    name: 'a line without code, and one beyond the end',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['loop'], dots: ['begin'] });
      const at = await t.stop();
      const blank = t.line('begin').line + 1;
      for (const line of [blank, 4000]) {
        const dot = await t.dot(String(line));
        t.note(`line ${line}`, { verified: dot.verified, line: dot.verified ? dot.line : undefined });
      }
      await t.go(at);
      const next = await t.stop();
      assert.equal(next.top.line, blank + 1);
      await t.go(next);
      await t.end();
    },
  },
  {
    name: 'arguments, environment, folder, input from a file, both streams',
    file: 'flow.c',
    async talk(t) {
      const stdin = join(t.compiled.folder, 'lines');
      writeFileSync(stdin, 'one\ntwo words\n');
      await t.launch({ args: ['echo', 'a b', '"c"', '$d'], env: { FLOW: 'x=y z' }, stdin, dots: ['read'] });
      let at = await t.stop();
      await t.evaluate(at, '(char)line[0]');
      await t.go(at);
      at = await t.stop();
      await t.go(at);
      await t.end();
      for (const line of [
        'argument a b',
        'argument "c"',
        'argument $d',
        'variable x=y z',
        'read two words',
        'to the other stream',
      ])
        assert.ok(t.output().includes(line), line);
    },
  },
  {
    name: 'pause of a running program',
    file: 'flow.c',
    async talk(t) {
      await t.launch({ args: ['wait'] });
      await t.client.waitForOutput('stdout', 'ready');
      const at = await t.pause();
      // Where in the library it sleeps is a matter of luck.
      t.facts.pop();
      const own = at.frames.findIndex(({ name }) => name === 'wait_for_release');
      assert.ok(own >= 0);
      t.note('reason', at.reason);
      await t.evaluate(at, 'released = 1', 'watch', at.frames[own]);
      await t.go(at);
      await t.end();
    },
  },
]);
