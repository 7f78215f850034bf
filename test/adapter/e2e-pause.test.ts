import assert from 'node:assert/strict';
import { join } from 'node:path';
import { linesOf, scenes } from './e2e-support';

/** Runs no call that a debugger knows of. */
const SPIN = `
import sys

def spin(count):
    while not done:
        count += 1
        count -= 1
    return count

done = []
with open(sys.argv[1], "w") as file:
    file.write("begun\\n")
print("ended", spin(0))
`;

scenes('A pause of plain Python', (scene) => {
  it('stops at the next line, where it is looked at, stepped and let go', async () => {
    const s = scene();
    const program = s.app('spin.py', SPIN);
    const begun = join(s.place.folder, 'begun');
    await s.launch({ program, args: [begun] }, { dots: {} });
    await linesOf(begun, 1);
    const { threads } = await s.client.request('threads', {});
    await s.client.request('pause', { threadId: threads[0]!.id });
    const one = await s.stop();
    assert.equal(one.body.reason, 'pause');
    assert.equal(one.name, 'spin');
    const next = { 4: 5, 5: 6, 6: 4 }[one.top.line - 1];
    assert.ok(next, `stopped at ${one.top.line}`);
    const two = await s.step('next', one);
    assert.equal(two.body.reason, 'step');
    assert.equal(two.top.line, next + 1);
    await s.evaluate(two, 'done.append(1)', 'repl');
    await s.go(two);
    await s.client.waitFor('exited', ({ exitCode }) => exitCode === 0);
  });

  it('stops what begins after the pause, too: there is something to pause from the start', async () => {
    const s = scene();
    const program = s.app('spin.py', SPIN);
    await s.launch({ program, args: [join(s.place.folder, 'begun')] }, { dots: {} });
    const { threads } = await s.client.request('threads', {});
    assert.equal(threads.length, 1);
    await s.client.request('pause', { threadId: threads[0]!.id });
    const held = await s.stop();
    assert.equal(held.body.reason, 'pause');
    assert.match(held.top.source?.path ?? '', /spin\.py$/);
    await s.go(held);
    await linesOf(join(s.place.folder, 'begun'), 1);
    await s.client.request('disconnect', { terminateDebuggee: true });
  });
});
