import assert from 'node:assert/strict';
import { callDetail } from '../../adapter/store/reader/detail';
import { askedBy, releaseText } from '../../adapter/store/reader/releaseWords';
import { eventDetail, eventId, eventsBetween } from '../../adapter/store/reader/runEvents';
import { RunFile } from '../../adapter/store/reader/runFile';
import type { Dict } from '../../adapter/store/values/model';
import { rows } from './e2e-support';
import { dict } from '../support/spool';
import { agentSpool, RecordedProject } from './recorded';

describe('Words of events', () => {
  let project: RecordedProject;
  beforeEach(() => (project = new RecordedProject()));
  afterEach(() => project.remove());

  it('name who asked for it as a person would', () => {
    assert.equal(askedBy('editor-1'), 'in the editor');
    assert.equal(askedBy('client-2'), 'by client 2');
    assert.equal(askedBy('client-2 (Neovim)'), 'by Neovim');
    assert.equal(askedBy('vscode'), 'by vscode');
    assert.equal(askedBy(''), undefined);
    assert.equal(releaseText({ why: 'release', client: 'editor-1' }), 'Released in the editor');
    assert.equal(releaseText({ action: 'continue', step: 'in', client: 'client-3' }), 'Step into by client 3');
    assert.equal(releaseText({ why: 'deadline', client: '' }), 'Released: its time was up');
    assert.equal(releaseText({ action: 'cancelled' }), 'Released: the call was cancelled');
    assert.equal(releaseText({}), 'Released');
  });

  it('say once what the session and the app both saw of a call, and what the session alone saw of native code', () => {
    const { recording, file } = project.begin('twice', [agentSpool()]);
    const now = 1_700_000_060_000_000_000n;
    recording.write((writer) => {
      const stop = { reason: 'breakpoint', description: 'Paused before tool', boundary: 'before', thread: 1 };
      writer.sessionEvent('stop', '1.3', stop, now);
      writer.sessionEvent('edit', '1.3', { name: 'order_id', client: 'editor-1' }, now + 1n);
      writer.sessionEvent(
        'release',
        '1.3',
        { action: 'continue', step: null, client: 'editor-1', thread: 1 },
        now + 2n,
      );
      const backtrace = ['fail @ /shop/order.c:40', 'main @ /shop/order.c:50'];
      writer.sessionEvent('stop', '1.4', { ...stop, native: true, text: 'SIGSEGV', backtrace }, now + 3n);
      writer.sessionEvent('edit', '1.4', { name: 'count', client: 'editor-1' }, now + 4n);
      const out = { action: 'continue', step: 'out', client: 'client-2 (Neovim)', thread: 1, native: true };
      writer.sessionEvent('release', '1.4', out, now + 5n);
    });
    recording.close();
    const run = new RunFile(file);
    const said = (call: string): string[] => callDetail(run, call).events.map(({ text }) => text);
    assert.deepEqual(said('1.3'), [
      'Held: Paused before tool',
      'Edited: lookup_order: order_id 7 → 70',
      'Released by vscode',
    ]);
    assert.deepEqual(said('1.4'), ['Held: SIGSEGV: fail @ order.c:40', 'Edited: count', 'Step out by Neovim']);
    run.db.close();
  });

  it('show a stop outside of calls also where an older session named call 0', () => {
    const { recording, file } = project.begin('older', [agentSpool()]);
    const now = 1_700_000_060_000_000_000n;
    recording.write((writer) => {
      const backtrace = ['work @ /shop/app.py:12', '<module> @ /shop/app.py:30'];
      const stop = {
        reason: 'breakpoint',
        description: 'Paused on breakpoint',
        boundary: 'line',
        thread: 1,
        backtrace,
      };
      writer.sessionEvent('stop', '1.0', stop, now);
      writer.sessionEvent('edit', '1.0', { name: 'amount', client: 'editor-1' }, now + 1_000_000n);
      writer.sessionEvent('release', '1.0', { action: 'continue', client: 'editor-1', thread: 1 }, now + 5_000_000n);
    });
    recording.close();
    const run = new RunFile(file);
    const { events } = eventsBetween(run, { from: 0, to: 1e15 });
    assert.deepEqual(
      events.map(({ name, start, end }) => [name, end! - start]),
      [['Breakpoint: work @ app.py:12', 5_000_000]],
    );
    const detail = eventDetail(run, eventId(events[0]!.id)!);
    assert.deepEqual(detail.source, { path: '/shop/app.py', line: 12 });
    assert.deepEqual(detail.attributes, [{ name: 'went on', value: 'Released in the editor' }]);
    run.db.close();
  });

  it('tell how long a stop before the first call was, which is only a mark on the timeline', () => {
    const { recording, file } = project.begin('before', [agentSpool()]);
    const [run] = rows<{ first: string }>(file, 'SELECT CAST(started + first AS TEXT) AS first FROM runs');
    const at = (milliseconds: number): bigint => BigInt(run!.first) + BigInt(milliseconds) * 1_000_000n;
    recording.write((writer) => {
      const stop = { reason: 'pause', description: 'Paused', boundary: 'line', thread: 1 };
      writer.sessionEvent('stop', undefined, stop, at(-3000));
      writer.sessionEvent('release', undefined, { action: 'continue', client: 'editor-1', thread: 1 }, at(-500));
    });
    recording.close();
    const reader = new RunFile(file);
    const [stop] = eventsBetween(reader, { from: 0, to: 1e15 }).events;
    assert.deepEqual([stop!.name, stop!.start, stop!.end, stop!.holds], ['Pause', 0, 0, []]);
    assert.deepEqual(eventDetail(reader, eventId(stop!.id)!).attributes, [
      { name: 'went on', value: 'Released in the editor' },
      { name: 'held', value: '2500 ms' },
      { name: 'before the first call', value: '3000 ms' },
    ]);
    reader.db.close();
  });

  it('show what the app told of an error only where the title has not all of it', () => {
    const told = (message: string): Dict =>
      dict({ text: `ValueError: ${message}`, type: 'ValueError', message, backtrace: [], thread: 'worker-1' });
    const spool = agentSpool();
    ['no order', 'no order,\nno refund', 'x'.repeat(1000)].forEach((message, index) =>
      spool.add(6, 21e9 + index, 'uncaught', 0, told(message)),
    );
    const run = new RunFile(project.record('errors', [spool]));
    const details = eventsBetween(run, { from: 0, to: 1e15 }).events.map(({ id }) => eventDetail(run, eventId(id)!));
    assert.deepEqual(
      details.map(({ input }) => input?.root.children),
      [undefined, 5, 5],
    );
    run.db.close();
  });
});
