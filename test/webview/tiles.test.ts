import assert from 'node:assert/strict';
import type { CallRow, ReaderMethods } from '../../protocol/timeline';
import { Client, type Ask } from '../../webview/data/client';
import { Tiles, type Seen } from '../../webview/data/tiles';
import { firstQuestions } from '../../protocol/tiles';
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

describe('timeline: what is asked first', () => {
  const summary = sampleRun(1).summary;
  const overview = (change: Partial<typeof summary>, end = 12.6e9, lanes = 3) => ({
    run: { ...summary, live: false, ...change },
    lanes: Array.from({ length: lanes }, (_, task) => ({ task, name: `task ${task}`, depth: 1, first: 0, last: 1 })),
    end,
    buckets: [],
  });

  it('covers the whole run, once', () => {
    for (const end of [0, 1, 199, 1e3, 12.6e9, 9e15])
      for (const width of [1, 90, 1280, 2048, 7680]) {
        const asked = firstQuestions('run.db', overview({ calls: 10_000_000 }, end), width);
        const bars = asked.filter(({ method }) => method === 'bars').map(({ params }) => params);
        assert.equal(bars[0]!.from, 0);
        assert.ok(bars.at(-1)!.to > end, `${end} at ${width}`);
        bars.slice(1).forEach(({ from }, index) => assert.equal(from, bars[index]!.to));
        assert.equal(asked.length, 2 * bars.length);
      }
  });

  it('asks how busy lanes are only where calls are too many, and of so many lanes at once', () => {
    const methods = (calls: number) => firstQuestions('run.db', overview({ calls }), 1000).map(({ method }) => method);
    assert.ok(!methods(5000).includes('density'));
    assert.ok(methods(5001).includes('density'));
    const many = firstQuestions('run.db', overview({ calls: 10_000 }, 12.6e9, 3000), 1000);
    for (const question of many) if (question.method === 'density') assert.equal(question.params.tasks.length, 200);
  });

  it('is nothing for a run that grows, one that cannot be read, and widths that are none', () => {
    for (const change of [{ live: true }, { reading: true }, { problem: 'It is damaged.' }])
      assert.deepEqual(firstQuestions('run.db', overview(change), 1000), []);
    for (const width of [0, -1, NaN, 'wide' as never, undefined as never])
      assert.deepEqual(firstQuestions('run.db', overview({}), width), []);
    assert.ok(firstQuestions('run.db', overview({ calls: 10_000_000 }), 1e300).length < 200);
    assert.ok(firstQuestions('run.db', overview({ calls: 10_000_000 }), Infinity).length < 200);
  });
});

describe('timeline: answers that the host gave ahead', () => {
  it('are good for one such question each, until they are forgotten', async () => {
    const posted: unknown[] = [];
    const client = new Client({ post: (message) => void posted.push(message), listen: () => undefined });
    const params = { file: 'run.db', from: 0, to: 10, buckets: 4, tasks: [1] };
    const result = { lanes: [] };
    client.know({ method: 'density', params, result });
    void client.ask('density', { ...params, to: 11 });
    assert.equal(posted.length, 1);
    assert.equal(await client.ask('density', { ...params }), result);
    assert.equal(posted.length, 1);
    void client.ask('density', params);
    assert.equal(posted.length, 2);
    client.know({ method: 'density', params, result });
    client.forget();
    void client.ask('density', params);
    assert.equal(posted.length, 3);
  });
});
