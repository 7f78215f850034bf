import assert from 'node:assert/strict';
import type { Frame } from '../../protocol/control';
import { isHandled, RepeatedFault } from '../../adapter/targets/native/repeated';

const frames = (...instructions: string[]): Frame[] =>
  instructions.map((instruction, id) => ({
    id,
    kind: 'source',
    name: 'f',
    detail: '',
    line: 1,
    instruction,
    subtle: false,
    canRestart: false,
  }));

describe('A fault that a handler in the process lets happen again', () => {
  const fault = { name: 'SIGSEGV' };

  it('is known by its thread, its signal and its place, below what the handler called, once', () => {
    const repeated = new RepeatedFault(() => true);
    assert.equal(repeated.isAgain(1, fault, frames('0x10', '0x20')), false);
    assert.equal(repeated.isAgain(1, fault, frames('0x90', '0x80', '0x10', '0x20')), true);
    assert.equal(repeated.isAgain(1, fault, frames('0x10', '0x20')), false);
  });

  it('is another one in another thread, of another signal, elsewhere, and after another stop', () => {
    const repeated = new RepeatedFault(() => false);
    const others: Parameters<RepeatedFault['isAgain']>[] = [
      [2, fault, frames('0x10')],
      [1, { name: 'SIGBUS' }, frames('0x10')],
      [1, fault, frames('0x11')],
      [1, undefined, frames('0x10')],
    ];
    for (const other of others) {
      assert.equal(repeated.isAgain(1, fault, frames('0x10')), false);
      assert.equal(repeated.isAgain(...other), false);
      repeated.isAgain(1, undefined, []);
    }
    repeated.isAgain(1, fault, frames('0x10'));
    repeated.isAgain(1, undefined, frames('0x30'));
    assert.equal(repeated.isAgain(1, fault, frames('0x10')), false);
  });

  it('is the same one at its own place when the handler took itself away, and another one when it stays', () => {
    for (const stays of [true, false]) {
      const repeated = new RepeatedFault(() => stays);
      assert.equal(repeated.isAgain(1, fault, frames('0x10', '0x20')), false);
      assert.equal(repeated.isAgain(1, fault, frames('0x10', '0x20')), !stays);
    }
  });

  it('knows whether a process handles a signal', () => {
    const listener = (): void => undefined;
    assert.equal(isHandled(process.pid, 'SIGUSR2'), false);
    process.on('SIGUSR2', listener);
    assert.equal(isHandled(process.pid, 'SIGUSR2'), process.platform === 'linux');
    process.off('SIGUSR2', listener);
  });
});
