import assert from 'node:assert/strict';
import type { Frame } from '../../protocol/control';
import { RepeatedFault } from '../../adapter/targets/native/repeated';

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
    const repeated = new RepeatedFault();
    assert.equal(repeated.isAgain(1, fault, frames('0x10', '0x20')), false);
    assert.equal(repeated.isAgain(1, fault, frames('0x90', '0x80', '0x10', '0x20')), true);
    assert.equal(repeated.isAgain(1, fault, frames('0x10', '0x20')), false);
  });

  it('is another one in another thread, of another signal, elsewhere, and after another stop', () => {
    const repeated = new RepeatedFault();
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
});
