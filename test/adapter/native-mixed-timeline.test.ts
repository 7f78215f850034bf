import assert from 'node:assert/strict';
import type { CallRow } from '../../protocol/timeline';
import { mixedScenes, prices } from './native-mixed-support';
import { comes, reading, type Ask } from './timeline-support';

mixedScenes('The timeline at a stop in C under a Python tool', (scene) => {
  const tool = (ask: Ask): CallRow | undefined =>
    ask('search', { text: 'tool:price', limit: 10 }).calls.find(({ name }) => name === 'price');

  /** Held while the C stands still, and no longer than that. */
  async function held(way: string, native: string): Promise<void> {
    const s = scene();
    await s.launch(way, native, { dots: { [prices]: ['add'] } });
    const stop = await s.scene.stop();
    const { runFile } = await s.client.waitFor('toolbreak/run');
    const standing = await comes(runFile, (ask) => {
      const call = tool(ask);
      return call && call.holds.length > 0 ? call : undefined;
    });
    assert.equal(standing.state, 'running');
    assert.deepEqual(
      standing.holds.map(({ description, end }) => [description, end]),
      [['Paused on breakpoint', undefined]],
    );
    assert.equal(reading(runFile, (ask) => ask('overview', { buckets: 10 })).run.holds, 1);
    await s.scene.setDots(prices, []);
    await s.go(stop);
    await comes(runFile, (ask) => tool(ask)?.holds[0]?.end);
    assert.equal(await s.scene.exit(), 'To pay: 30\n');
    await s.client.request('disconnect', {});
    await s.client.closed;
    const after = reading(runFile, tool)!;
    assert.equal(after.state, 'returned');
    const [hold] = after.holds;
    assert.ok(hold!.start >= after.start && hold!.end! > hold!.start && hold!.end! <= after.end!);
  }

  it('of a library: the call is held, not running', () => held('library', scene().library()));
  it('of a program that the tool started: the call is held, not running', () => held('program', scene().program()));
});
