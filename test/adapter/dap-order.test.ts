import assert from 'node:assert/strict';
import { Order } from '../../adapter/dap/order';

/** A promise to settle by hand. */
function gate() {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
}

describe('order of requests', () => {
  it('lets tasks go on only after the breakpoints that came before, and other requests at once', async () => {
    const order = new Order();
    const done: string[] = [];
    const slow = gate();
    const all = [
      order.run('setBreakpoints', async () => {
        await slow.passed;
        done.push('first');
      }),
      order.run('setBreakpoints', () => done.push('second')),
      order.run('continue', () => done.push('continue')),
      order.run('variables', () => done.push('variables')),
    ];
    assert.deepEqual(done, ['variables']);
    slow.open();
    await Promise.all(all);
    assert.deepEqual(done, ['variables', 'first', 'second', 'continue']);
  });

  it('goes on after a refused one', async () => {
    const order = new Order();
    const refused = order.run('setBreakpoints', () => Promise.reject(new Error('no')));
    await assert.rejects(Promise.resolve(refused));
    assert.equal(await order.run('continue', () => 'went'), 'went');
  });
});
