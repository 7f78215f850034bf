import assert from 'node:assert/strict';
import { BreakpointTable } from '../../adapter/engine/breakpoints';
import { mergeStates, type BreakpointSpec } from '../../adapter/model/breakpoint';

const dot = (line: number, more: Partial<BreakpointSpec> = {}): BreakpointSpec => ({
  enabled: true,
  target: { type: 'source', path: '/app/a.py', line },
  boundaries: ['before'],
  ...more,
});
const SET = 'source:/app/a.py';

describe('Breakpoint table', () => {
  it('keeps the numbers of what stays, so that hit counts go on', () => {
    const table = new BreakpointTable();
    const before = table.replace('one', SET, [dot(1), dot(2)]).map((view) => view.id);
    const wire = table.wire().map((b) => b.id);
    const after = table.replace('one', SET, [dot(2), dot(3)]).map((view) => view.id);
    assert.equal(after[0], before[1]);
    assert.ok(!before.includes(after[1]!));
    assert.equal(table.wire()[0]?.id, wire[1]);
  });

  it('sends equal breakpoints of two clients once, until both gave them up', () => {
    const table = new BreakpointTable();
    table.replace('one', SET, [dot(1)]);
    table.replace('two', SET, [dot(1), dot(1, { condition: 'x' })]);
    assert.equal(table.wire().length, 2);
    table.removeClient('one');
    assert.equal(table.wire().length, 2);
    table.replace('two', SET, []);
    assert.deepEqual(table.wire(), []);
  });

  it('carries everything a breakpoint can have', () => {
    const table = new BreakpointTable();
    const spec = dot(1, {
      enabled: false,
      hitCondition: '%3',
      logMessage: '{n}',
      ignoreCount: 2,
      group: 'g',
      holdSeconds: 9,
    });
    table.replace('one', SET, [spec]);
    assert.deepEqual(table.wire(), [{ id: 1, ...spec }]);
  });

  it('tells each client only what changed for it', () => {
    const table = new BreakpointTable();
    table.setRunning(true);
    table.replace('one', SET, [dot(1)]);
    assert.deepEqual(table.changed('one'), []);
    table.learn(1, [{ id: 1, verified: true, line: 2 }]);
    assert.deepEqual(
      table.changed('one').map((view) => [view.verified, view.line]),
      [[true, 2]],
    );
    assert.deepEqual(table.changed('one'), []);
    table.forgetProcess(1);
    assert.equal(table.changed('one')[0]?.message, 'Waiting for a.py to be imported.');
  });

  it('unites exception filters', () => {
    const table = new BreakpointTable();
    table.replaceExceptions('one', [{ filter: 'tool' }, { filter: 'uncaught' }]);
    table.replaceExceptions('two', [{ filter: 'tool' }, { filter: 'tool', condition: 'x' }]);
    assert.deepEqual(table.wireExceptions(), [
      { filter: 'tool' },
      { filter: 'uncaught' },
      { filter: 'tool', condition: 'x' },
    ]);
  });

  it('is verified where any process verified it', () => {
    const merged = mergeStates([
      { id: 1, verified: false, message: 'no', hits: 1 },
      { id: 1, verified: true, line: 3, hits: 2 },
    ]);
    assert.deepEqual([merged?.verified, merged?.message, merged?.line, merged?.hits], [true, undefined, 3, 3]);
    assert.equal(mergeStates([]), undefined);
  });
});
