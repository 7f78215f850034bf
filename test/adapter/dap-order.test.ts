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

  it('lets tasks go on only after what a person changed before, and after statements, refused or not', async () => {
    const order = new Order();
    const done: string[] = [];
    const [value, statement] = [gate(), gate()];
    const typed = { expression: 'done.append(1)', context: 'repl', frameId: 1 };
    const all = [
      order.run('setVariable', async () => {
        await value.passed;
        done.push('value');
        throw new Error('no');
      }),
      order.run('evaluate', () => statement.passed.then(() => done.push('statement')), typed),
      // What the editor asks by itself, and what is evaluated beside the running app, keeps nobody waiting.
      order.run('evaluate', () => new Promise(() => undefined), { ...typed, context: 'watch' }),
      order.run('evaluate', () => new Promise(() => undefined), { expression: '1', context: 'repl' }),
      order.run('continue', () => done.push('continue')),
      order.run('stackTrace', () => done.push('stack')),
    ];
    assert.deepEqual(done, ['stack']);
    value.open();
    await assert.rejects(Promise.resolve(all[0]));
    assert.deepEqual(done, ['stack', 'value']);
    statement.open();
    await all[4];
    assert.deepEqual(done, ['stack', 'value', 'statement', 'continue']);
    assert.equal(await order.run('continue', () => 'went'), 'went');
  });

  it('goes on after a refused one', async () => {
    const order = new Order();
    const refused = order.run('setBreakpoints', () => Promise.reject(new Error('no')));
    await assert.rejects(Promise.resolve(refused));
    assert.equal(await order.run('continue', () => 'went'), 'went');
  });
});
