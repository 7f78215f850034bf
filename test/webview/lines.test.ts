import assert from 'node:assert/strict';
import type { CallLine, CallRow } from '../../protocol/timeline';
import type { Ask } from '../../webview/data/client';
import { Lines } from '../../webview/data/lines';

const call = (id: string, more: Partial<CallRow> = {}): CallRow => ({
  ...{ id, task: 1, depth: 0, kind: 'tool', name: 'f', start: 0, end: 5, state: 'returned', holds: [], edited: false },
  ...more,
});

/** Questions that wait until a test answers them: with the ids as what was given. */
class Waiting {
  readonly asked: { file: string; ids: string[]; answer: () => void }[] = [];
  readonly lines = new Lines(
    ((_method: string, { file, ids }: { file: string; ids: string[] }) =>
      new Promise((resolve) => {
        const lines: CallLine[] = ids.map((id) => ({ arguments: `id=${id}`, result: file }));
        this.asked.push({ file, ids, answer: () => resolve({ lines }) });
      })) as unknown as Ask,
  );
}

describe('timeline: lines of calls', () => {
  it('are what calls are now: one that ended or was edited meanwhile is asked for again', async () => {
    const { asked, lines } = new Waiting();
    const running = call('1.1', { state: 'running', end: undefined });
    const fetched = lines.fetch('a.db', [running]);
    asked[0]!.answer();
    await fetched;
    assert.deepEqual(lines.textOf('a.db', running), { given: '(id=1.1)', outcome: ' → a.db' });
    for (const now of [call('1.1'), { ...running, edited: true }]) {
      assert.equal(lines.textOf('a.db', now), undefined);
      assert.deepEqual(lines.missing('a.db', [running, now]), [now]);
    }
    // What is no call has none.
    assert.deepEqual(lines.missing('a.db', [call('e1', { kind: 'event' })]), []);
  });

  it('of a run that is not shown any more are dropped, and those of the one that is stay', async () => {
    const { asked, lines } = new Waiting();
    const one = call('1.1');
    const late = lines.fetch('a.db', [one]);
    const next = lines.fetch('b.db', [one]);
    asked[1]!.answer();
    await next;
    asked[0]!.answer();
    await late;
    assert.equal(lines.textOf('b.db', one)!.outcome, ' → b.db');
    assert.deepEqual(lines.missing('a.db', [one]), [one]);
  });

  it('that were looked at last are kept', async () => {
    const { asked, lines } = new Waiting();
    const fetch = async (from: number): Promise<void> => {
      const calls = Array.from({ length: 500 }, (_, index) => call(`1.${from + index}`));
      const fetched = lines.fetch('a.db', calls);
      asked.at(-1)!.answer();
      await fetched;
    };
    for (let from = 0; from < 5000; from += 500) await fetch(from);
    assert.ok(lines.textOf('a.db', call('1.3')));
    await fetch(5000);
    assert.ok(lines.textOf('a.db', call('1.3')));
    assert.equal(lines.textOf('a.db', call('1.4')), undefined);
  });
});
