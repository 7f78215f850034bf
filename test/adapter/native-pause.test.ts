import assert from 'node:assert/strict';
import { debuggers } from '../support/native';
import { nativeScenes, type DotOf, type Native } from './native-support';

async function isPausedAgainAndAgain({ s, order, stop, go }: Native, dot: Omit<DotOf, 'at'>): Promise<void> {
  await order(['spin'], [{ at: 'spin', ...dot }]);
  // Said by main.
  await s.client.waitForOutput('stderr', 'to stderr');
  let passed = -1;
  for (let times = 0; times < 10; times++) {
    const { threads } = await s.client.request('threads', {});
    await s.client.request('pause', { threadId: threads[0]!.id });
    const at = await stop();
    assert.equal(at.body.reason, 'pause');
    const frameId = at.frames.find(({ name }) => name === 'main')!.id;
    const { result } = await s.client.request('evaluate', { expression: 'served', frameId, context: 'watch' });
    assert.ok(Number(result) >= passed, result);
    passed = Number(result);
    await go(at);
  }
  await s.client.request('disconnect', { terminateDebuggee: true });
}

nativeScenes(
  'A pause of a native program',
  (native) => {
    it('stops one that comes again and again to a breakpoint whose hit count is not reached', () =>
      isPausedAgainAndAgain(native(), { hitCondition: '>100000000' }));
  },
  debuggers(),
);

nativeScenes('A pause among conditions', (native) => {
  it('stops a program that comes again and again to a breakpoint whose condition is not met', () =>
    isPausedAgainAndAgain(native(), { condition: 'served < 0' }));

  it('is one stop, also where the breakpoint stops the program in the same moment', async () => {
    const { s, order, stop, go } = native();
    await order(['spin'], [{ at: 'spin', condition: 'served % 31 == 0' }]);
    const kinds = new Set<string>();
    let at = await stop();
    for (let times = 0; times < 60; times++) {
      await go(at);
      await s.client.request('pause', { threadId: at.threadId });
      at = await stop();
      kinds.add(at.body.description!);
    }
    assert.deepEqual(
      [...kinds].filter((kind) => !['Paused', 'Paused on breakpoint'].includes(kind)),
      [],
    );
    await s.client.request('disconnect', { terminateDebuggee: true });
  });
});
