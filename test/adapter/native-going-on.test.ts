import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runtimeFeedback } from '../../adapter/targets/native/feedback';
import { refusingDelegate, tardyDelegate } from '../support/delegateBetween';
import { nativeFixtures } from '../support/native';
import { lineOf, nativeScenes } from './native-support';

const SOURCE = join(nativeFixtures, 'flow.c');

nativeScenes('A debugger that says that the program goes on, and does not let it', (native) => {
  it('is asked again: at the start, at each stop, and where nobody is to hear of it', async () => {
    const { s, delegate, compiled, stop, go } = native();
    const lldbDap = refusingDelegate(compiled.folder, delegate);
    const program = compiled.program('flow.c');
    await s.client.launch({ program, args: ['loop'], cwd: nativeFixtures, lldbDap }, async () => {
      const breakpoints = [{ line: lineOf('flow.c', 'loop'), condition: 'i != 3' }];
      await s.client.request('setBreakpoints', { source: { path: SOURCE }, breakpoints });
    });
    for (const i of ['0', '1', '2', '4', '5']) {
      const at = await stop();
      const seen = await s.client.request('evaluate', { expression: 'i', frameId: at.top.id, context: 'watch' });
      assert.equal(seen.result, i);
      await go(at);
    }
    assert.equal((await s.client.waitFor('exited')).exitCode, 0);
  });

  it('is asked to pause when it has said so', async () => {
    const { s, delegate, compiled, stop } = native();
    const lldbDap = tardyDelegate(compiled.folder, delegate);
    await s.client.launch({ program: compiled.program('flow.c'), args: ['wander'], cwd: nativeFixtures, lldbDap }, () =>
      s.client.request('setBreakpoints', {
        source: { path: SOURCE },
        breakpoints: [{ line: lineOf('flow.c', 'begin') }],
      }),
    );
    const { threadId } = await stop();
    await s.client.request('continue', { threadId });
    await s.client.request('pause', { threadId });
    assert.equal((await stop()).body.reason, 'pause');
  });

  it('is asked again where places are collected', async () => {
    const { delegate, compiled } = native();
    const place = `${SOURCE}:${lineOf('flow.c', 'loop')}`;
    const feedback = await runtimeFeedback({
      command: [compiled.program('flow.c'), 'loop'],
      project: nativeFixtures,
      debugger: refusingDelegate(compiled.folder, delegate),
      watches: [{ location: place, expression: 'i' }],
    });
    assert.equal(feedback.partial, undefined);
    assert.deepEqual(
      feedback.watchpoints[place]?.map(({ value }) => value),
      ['0', '1', '2', '3', '4', '5'],
    );
  });
});
