import assert from 'node:assert/strict';
import type { CallRow, ReaderMethods } from '../../protocol/timeline';
import type { Ask } from '../../webview/data/client';
import { Tiles, type Seen } from '../../webview/data/tiles';
import { answerFrom, sampleRun } from './sample';

type CallsParams = ReaderMethods['calls']['params'];

/** Tiles over a sample run, with what they asked for. */
function over(run = sampleRun(1)) {
  const answer = answerFrom([run]);
  const asked: CallsParams[] = [];
  let arrived: () => void = () => undefined;
  const ask = ((method: 'bars', params: CallsParams) => {
    asked.push(params);
    return Promise.resolve(answer(method, params));
  }) as unknown as Ask;
  const tiles = new Tiles(
    ask,
    run.summary.file,
    () => arrived(),
    (error) => assert.fail(error),
  );
  const settled = (from: number, to: number): Promise<Seen> =>
    new Promise((resolve) => {
      const look = (): void => {
        const seen = tiles.look({ from, to }, 1000);
        if (seen.complete) resolve(seen);
      };
      arrived = look;
      look();
    });
  return { tiles, asked, settled };
}

describe('timeline: tiles', () => {
  it('asks for calls of at least half a pixel, and not again for what it has', async () => {
    const { asked, settled } = over();
    const seen = await settled(0, 12.6e9);
    assert.equal(seen.calls.length, 40);
    assert.equal(seen.left, 1);
    assert.ok(asked.every(({ minimum, limit }) => minimum >= 6.3e6 && minimum <= 12.6e6 && limit === 5000));
    const before = asked.length;
    await settled(0, 12.6e9);
    assert.equal(asked.length, before);
  });

  it('gives every call once and in order, however many tiles hold it', async () => {
    const { settled } = over();
    const { calls } = await settled(7.4e9, 7.7e9);
    assert.equal(new Set(calls.map((call) => call.id)).size, calls.length);
    assert.deepEqual(
      calls.map((call) => call.start),
      calls.map((call) => call.start).sort((a, b) => a - b),
    );
    assert.ok(calls.some((call) => call.name === 'refund' && call.state === 'error'));
  });

  it('shows what it knows while the rest is on its way', async () => {
    const { tiles, settled } = over();
    await settled(0, 12.6e9);
    const seen = tiles.look({ from: 2e9, to: 3e9 }, 1000);
    assert.equal(seen.complete, false);
    assert.ok(seen.calls.some((call) => call.name === 'lookup_order'));
  });

  it('fetches the live end again after a change, and takes the newer row', async () => {
    const run = sampleRun(1, { live: true });
    const { tiles, asked, settled } = over(run);
    await settled(0, 12.6e9);
    const root = run.calls[0] as CallRow;
    run.calls[0] = { ...root, end: 12.4e9, state: 'returned' };
    tiles.outdate(12.4e9);
    const before = asked.length;
    tiles.look({ from: 0, to: 12.6e9 }, 1000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(asked.length > before);
    assert.equal(tiles.find(root.id)?.state, 'returned');
  });

  it('leaves no part of a crowded tile empty', async () => {
    const run = sampleRun(1, { busy: 20_000 });
    const short = run.calls.filter((call) => call.name === 'parse_line');
    for (let task = 10; task < 30; task++)
      run.calls.push(...short.map((call) => ({ ...call, id: `${task}.${call.id}`, task })));
    run.calls.sort((a, b) => a.start - b.start);
    const late: CallRow = { ...(short[0] as CallRow), id: 'late', name: 'late', start: 11.06e9, end: 11.065e9 };
    run.calls.push(late);
    run.calls.sort((a, b) => a.start - b.start);
    const { settled } = over(run);
    const seen = await settled(11.01e9, 11.065e9);
    assert.ok(seen.left > 0);
    assert.ok(seen.calls.some((call) => call.id === 'late'));
  });
});
