import assert from 'node:assert/strict';
import { comes, reading, type Ask } from './timeline-support';
import { lineOf, nativeScenes, ORDER } from './native-support';

const everything = (ask: Ask) =>
  ask('bars', { from: 0, to: ask('overview', { buckets: 10 }).end, minimum: 0, limit: 100 }).events;

nativeScenes('the timeline of a native program', (native) => {
  it('has its stops, log messages, output, watched values and crash in a lane of their own', async () => {
    const { s, order, stop, go, step } = native();
    await order(['segv'], ['sum']);
    const first = await stop();
    const { dataId } = await s.client.request('dataBreakpointInfo', { name: 'served', frameId: first.top.id });
    await s.client.request('setDataBreakpoints', { breakpoints: [{ dataId: dataId!, accessType: 'write' }] });
    const line = lineOf('order.c', 'segv');
    const breakpoints = [{ line, logMessage: 'into <b>{seed}</b>' }];
    await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
    await go(first);
    const watched = await stop();
    assert.match(watched.body.reason, /data breakpoint/);
    await s.client.request('setDataBreakpoints', { breakpoints: [] });
    await go(await step('next', watched));
    const crash = await stop();
    const { runFile } = await s.client.waitFor('toolbreak/run');
    await go(crash);
    await s.client.waitFor('terminated');
    await s.client.request('disconnect', {});
    await s.client.closed;

    reading(runFile, (ask) => {
      const { end, lanes, run, buckets } = ask('overview', { buckets: 10 });
      assert.deepEqual([run.calls, run.duration > 0, end >= run.duration], [0, true, true]);
      assert.deepEqual(
        lanes.map(({ name, depth, events }) => [name, depth, events]),
        [['order', 2, true]],
      );
      assert.ok(buckets.some(({ held }) => held) && buckets.some(({ errors }) => errors > 0));
      const events = everything(ask);
      const said = events.map(({ name }) => name);
      // The program's streams have no order between them.
      assert.deepEqual(said.filter((name) => name.startsWith('std')).sort(), [
        'stderr: to stderr',
        'stdout: 11.0 6 3',
        'stdout: orders',
      ]);
      const fault = 'Segmentation fault: address not mapped to object, at 0x10 (SIGSEGV)';
      const others = said.filter((name) => !name.startsWith('std'));
      assert.match(others.splice(1, 1)[0]!, /^Watched value: .*served.*: total @ order\.c:3\d$/);
      assert.match(others.splice(1, 1)[0]!, /^Step: total @ order\.c:3\d$/);
      assert.match(others.pop()!, /^Process \d+ \(order\) crashed$/);
      assert.deepEqual(others, [
        `Breakpoint: total @ order.c:${lineOf('order.c', 'sum')}`,
        'Log: into <b>42</b>',
        `${fault}: fail @ order.c:${line}`,
        `Crash: ${fault}: fail @ order.c:${line}`,
      ]);
      // A stop lasts as long as the program stood still.
      const stops = events.filter(({ holds }) => holds.length > 0);
      assert.equal(stops.length, 4);
      for (const { start, end, holds } of stops) assert.ok(end! > start && holds[0]!.end === end);
      assert.equal(ask('calls', { from: 0, to: end, minimum: 0, limit: 100 }).calls.length, events.length);

      const lastOf = (text: string) => ask('call', { id: events.findLast(({ name }) => name.startsWith(text))!.id });
      const log = lastOf('Log');
      assert.deepEqual([log.source, log.event?.text], [{ path: ORDER, line }, 'into <b>42</b>']);
      assert.equal(lastOf('stdout').event?.text, '11.0 6 3\n');
      const died = lastOf('Crash');
      assert.equal(died.call.state, 'error');
      assert.deepEqual(died.source, { path: ORDER, line });
      assert.deepEqual(
        died.event?.stack.slice(0, 2).map((frame) => frame.function),
        ['fail', 'main'],
      );
      const near = (time: number, direction: string) => ask('errorNear', { time, direction }).call;
      assert.equal(near(0, 'next')?.id, died.call.id);
      assert.match(near(died.call.start, 'next')!.name, /^Process/);
      assert.equal(near(died.call.start, 'previous'), undefined);
      const facts = new Map(died.attributes.map(({ name, value }) => [name, value]));
      assert.deepEqual([facts.get('signal'), facts.get('address')], ['SIGSEGV', '0x10']);
      assert.ok([...facts.keys()].some((name) => name.startsWith('registers.')));
      assert.throws(() => ask('call', { id: 'e999' }), /There is no event 999 in this run\./);
    });
  });

  it('shows a stop that goes on as one that has not ended', async () => {
    const { s, order, stop, go } = native();
    await order([], ['main']);
    const at = await stop();
    const { runFile } = await s.client.waitFor('toolbreak/run');
    const standing = await comes(runFile, (ask) => everything(ask).find(({ holds }) => holds.length > 0));
    assert.deepEqual(
      [standing.name, standing.state, standing.end],
      [`Breakpoint: main @ order.c:${lineOf('order.c', 'main')}`, 'running', undefined],
    );
    await go(at);
    await s.exit();
    await s.client.request('disconnect', {});
    await s.client.closed;
    const after = reading(runFile, everything).find(({ id }) => id === standing.id);
    assert.ok(after?.state === 'returned' && after.end! > after.start);
  });
});
