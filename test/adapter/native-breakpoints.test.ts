import assert from 'node:assert/strict';
import { nativeFixtures } from '../support/native';
import { rows } from './e2e-support';
import { lineOf, nativeScenes, ORDER } from './native-support';

nativeScenes('Breakpoints of a native program', (native) => {
  it('a condition, a hit count and a log message are kept', async () => {
    const { s, order, stop, go } = native();
    await order([], [{ at: 'sum', condition: 'i == 2 && order->id == 1' }]);
    let at = await stop();
    assert.deepEqual([await s.evaluate(at, 'i'), await s.evaluate(at, 'order->id')], ['2', '1']);
    const line = lineOf('order.c', 'sum');
    await s.client.request('setBreakpoints', {
      source: { path: ORDER },
      breakpoints: [
        { line, hitCondition: '2' },
        { line: line + 1, logMessage: 'served={served} of {nope} \\{x\\}' },
      ],
    });
    await go(at);
    at = await stop();
    // The second hit since it was set: the loop's second order begins again.
    assert.deepEqual([await s.evaluate(at, 'i'), await s.evaluate(at, 'order->id')], ['1', '2']);
    await go(at);
    await s.exit();
    const console = s.client.output['console'] ?? '';
    assert.match(console, /served=2 of <[^\n]*undeclared identifier 'nope'[^\n]*> \{x\}\n/);
    assert.match(console, /served=5 of/);
    const file = await s.recording();
    const logs = rows<{ data: string }>(file, "SELECT data FROM events WHERE name = 'log' ORDER BY id");
    assert.equal(logs.length, 4);
    assert.match(logs[0]!.data, /"text":"served=2 of/);
  });

  it('a log message is one line, whoever writes it, also where a part of it cannot be evaluated', async () => {
    const { s, order } = native();
    const logMessage = 'i={i}\\t{nope} {i->x} {i +} {*(char *)0}.';
    await order(
      [],
      [
        { at: 'sum', logMessage },
        { at: 'bottom', logMessage: logMessage.replaceAll('i', 'served'), hitCondition: '1' },
      ],
    );
    await s.exit();
    const lines = (s.client.output['console'] ?? '').split('\n').filter((line) => line.includes('nope'));
    const plain =
      "<Use of undeclared identifier 'nope'.> <Member reference type 'int' is not a pointer.> <Expected expression.> <Couldn't apply expression side effects : Couldn't dematerialize a result variable: couldn't read its memory.>.";
    assert.deepEqual(
      ['i=0', 'served=6'].map((start) => lines.find((line) => line.startsWith(start))),
      [`i=0\t${plain}`, `served=6\t${plain}`],
    );
  });

  it('a condition that cannot be evaluated does not stop, and says so once', async () => {
    const { s, order } = native();
    await order(
      [],
      [
        { at: 'sum', condition: 'nosuch > 1' },
        { at: 'print', condition: 'deep > 100' },
      ],
    );
    await s.exit();
    const said = (s.client.output['console'] ?? '').match(/Condition failed once: [^\n]*/g);
    assert.equal(said?.length, 1);
    assert.match(said[0], /nosuch.*The breakpoint did not stop\.$/);
  });

  it('a log message is not written where its condition cannot be evaluated, and that is said once', async () => {
    const { s, order } = native();
    await order([], [{ at: 'sum', condition: 'nosuch > 1', logMessage: 'at {i}' }]);
    await s.exit();
    const logs = rows<{ data: string }>(await s.recording(), "SELECT data FROM events WHERE name = 'log'");
    assert.equal(logs.length, 1);
    assert.match(logs[0]!.data, /Condition failed once: .*nosuch/);
  });

  it('a hit count of every second hit counts on over calls', async () => {
    const { s, order, stop, go } = native();
    await order([], [{ at: 'sum', hitCondition: '%2' }]);
    const seen: string[] = [];
    for (let n = 0; n < 3; n++) {
      const at = await stop();
      seen.push(await s.evaluate(at, 'i'));
      await go(at);
    }
    assert.deepEqual(seen, ['1', '0', '2']);
    await s.exit();
  });

  it('functions, lines without code, files of nobody', async () => {
    const { s, delegate, compiled, stop, go } = native();
    const program = compiled.program('order.c');
    await s.client.launch({ program, cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
      await s.client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'depth' }, { name: 'nobody' }] });
      await s.client.request('setBreakpoints', {
        source: { path: ORDER },
        breakpoints: [{ line: lineOf('order.c', 'bottom') - 3 }],
      });
      await s.client.request('setBreakpoints', { source: { path: '/nowhere/other.c' }, breakpoints: [{ line: 3 }] });
    });
    const other = await s.client.waitFor(
      'breakpoint',
      ({ breakpoint: { source, message } }) => source?.name === 'other.c' && !message?.startsWith('Waiting'),
    );
    assert.match(other.breakpoint.message!, /No machine code of this line of other\.c is loaded/);
    const nobody = await s.client.waitFor('breakpoint', ({ breakpoint }) => /nobody/.test(breakpoint.message ?? ''));
    assert.match(nobody.breakpoint.message!, /No function nobody is loaded yet/);
    let at = await stop();
    assert.equal(at.name, 'depth');
    await s.client.request('setFunctionBreakpoints', { breakpoints: [] });
    await s.client.request('setBreakpoints', {
      source: { path: ORDER },
      breakpoints: [{ line: lineOf('order.c', 'end') }],
    });
    await go(at);
    at = await stop();
    assert.deepEqual([at.name, at.top.line], ['main', lineOf('order.c', 'end')]);
    await go(at);
    await s.exit();
  });

  it('stops on entry at main, and can be told where while it runs', async () => {
    const { s, order, stop, go } = native();
    await order(['loop'], [], { stopOnEntry: true });
    const entry = await stop();
    assert.deepEqual([entry.body.reason, entry.name], ['entry', 'main']);
    await go(entry);
    await s.client.waitForOutput('stdout', '11.0');
    const answer = await s.client.request('setBreakpoints', {
      source: { path: ORDER },
      breakpoints: [{ line: lineOf('order.c', 'loop') }],
    });
    assert.equal(answer.breakpoints[0]?.verified, true);
    const at = await stop();
    assert.equal(at.body.reason, 'breakpoint');
    await s.client.request('disconnect', {});
    await s.client.closed;
  });

  it('a program without debug information says so, and runs', async () => {
    const { s, delegate, compiled } = native();
    const program = compiled.program('order.c', ['-g0', '-s'], 'stripped');
    await s.client.launch({ program, cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
      await s.client.request('setBreakpoints', {
        source: { path: ORDER },
        breakpoints: [{ line: lineOf('order.c', 'sum') }],
      });
    });
    const told = await s.client.waitFor('breakpoint', ({ breakpoint }) => /-g/.test(breakpoint.message ?? ''));
    assert.match(told.breakpoint.message!, /^stripped was compiled without debug information\. Compile it with -g/);
    await s.exit();
  });

  it('optimised code stops, too', async () => {
    const { s, delegate, compiled, stop, go } = native();
    const program = compiled.program('order.c', ['-O2'], 'optimised');
    await s.client.launch({ program, cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
      await s.client.request('setBreakpoints', {
        source: { path: ORDER },
        breakpoints: [{ line: lineOf('order.c', 'sum') }],
      });
    });
    const at = await stop();
    assert.equal(at.top.source?.path, ORDER);
    await s.client.scope(at.top.id, 'Locals');
    await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [] });
    await go(at);
    await s.exit();
  });
});
