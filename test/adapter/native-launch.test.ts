import assert from 'node:assert/strict';
import { debuggers } from '../support/native';
import { rows } from './e2e-support';
import { lineOf, nativeScenes, ORDER } from './native-support';

nativeScenes(
  'A native program',
  (native) => {
    it('stops at a dot with its variables, steps, goes on and ends with its code', async () => {
      const { s, order, stop, step, go } = native();
      await order(['seven'], ['sum']);
      let at = await stop();
      assert.equal(at.body.reason, 'breakpoint');
      assert.equal(at.body.allThreadsStopped, true);
      assert.deepEqual([at.name, at.top.line, at.top.source?.path], ['total', lineOf('order.c', 'sum'), ORDER]);
      assert.equal(at.frames[1]?.name, 'main');
      const locals = await s.values(at, 'Locals');
      assert.deepEqual([locals['i'], locals['sum']], ['0', '0']);
      assert.equal(await s.set(at, 'Locals', 'sum', '100'), '100');
      at = await step('next', at);
      assert.deepEqual([at.body.reason, at.top.line], ['step', lineOf('order.c', 'sum') + 1]);
      assert.equal((await s.values(at, 'Locals'))['sum'], '103');
      at = await step('stepOut', at);
      // The dot in the loop comes before the end of the function.
      assert.equal(at.body.reason, 'breakpoint');
      await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [] });
      at = await step('stepOut', at);
      assert.deepEqual([at.body.reason, at.name], ['step', 'main']);
      await go(at);
      assert.equal(await s.exit(7), 'orders\n111.0 6 3\n');
      assert.equal(s.client.output['stderr'], 'to stderr\n');
    });

    it('stops at a crash with its signal and address, which is recorded, and ends with its code', async () => {
      const { s, order, stop, go } = native();
      await order(['segv'], []);
      const at = await stop();
      assert.deepEqual([at.body.reason, at.body.description], ['exception', 'Paused on SIGSEGV']);
      assert.match(at.body.text!, /^Segmentation fault.* at 0x10 \(SIGSEGV\)$/);
      await go(at);
      await s.exit(139);
      const [crash] = rows<{ data: string }>(await s.recording(), "SELECT data FROM events WHERE name = 'crash'");
      const { signal, address, backtrace } = JSON.parse(crash!.data) as Record<string, string | string[]>;
      assert.deepEqual([signal, address], ['SIGSEGV', '0x10']);
      assert.match(String(backtrace), /fail @ .*order\.c:\d+,main @/);
    });
  },
  debuggers(),
);
