import assert from 'node:assert/strict';
import { assertGolden } from '../support/golden';
import { transcript } from '../support/transcript';
import { folder, Scenario, scenarios, VERDICT, type Stopped } from './e2e-langgraph-support';
import { python, until } from './target-support';

/** Both parallel tool calls, held, by what they call; whichever came second does not steal the focus. */
async function both(s: Scenario): Promise<{ lookup: Stopped; stock: Stopped }> {
  const one = await s.stop();
  const two = await s.stop();
  assert.notEqual(one.threadId, two.threadId);
  assert.equal(one.body.preserveFocusHint, undefined);
  assert.equal(two.body.preserveFocusHint, true);
  const [lookup, stock] = one.name.startsWith('lookup_order') ? [one, two] : [two, one];
  assert.match(lookup.name, /^lookup_order\(/);
  assert.match(stock.name, /^check_stock\(/);
  return { lookup, stock };
}

scenarios('Parallel calls of a LangGraph agent', (scenario) => {
  for (const args of [[], ['--async']]) {
    const how = args[0] ?? 'sync';
    it(`holds one while the other finishes (${how})`, async () => {
      const s = scenario();
      await s.start({ args, dots: ['check_stock'], functions: ['tool:lookup_order@after'] });
      const one = await s.stop();
      const two = await s.stop();
      const [stock, lookup] = one.name.startsWith('check_stock') ? [one, two] : [two, one];
      assert.equal(lookup.name, "lookup_order(order_id=7, region='eu') · tool, after");
      const names = await s.threadNames();
      // Whichever began first stays on the workflow's thread; the other has one of its own.
      const [name, other] = [stock, lookup].map(({ threadId }) => names.get(threadId));
      assert.ok(
        (name === 'support_agent › check_stock' && other === 'support_agent') ||
          (name === 'support_agent' && other === 'support_agent › lookup_order'),
        `${name ?? ''} and ${other ?? ''}`,
      );
      await s.go(lookup);
      await until(async () => !(await s.evaluateLive(stock)).includes('lookup_order'), 'lookup_order to end');
      assert.equal((await s.client.frames(stock.threadId))[0]!.name, stock.name, 'the other is still held');
      await s.go(stock);
      assert.ok((await s.exit()).endsWith(VERDICT));
    });

    for (const order of ['lookup first', 'stock first']) {
      it(`holds both and lets them go, ${order} (${how})`, async () => {
        const s = scenario();
        await s.start({ args, dots: ['lookup_order', 'check_stock'] });
        const { lookup, stock } = await both(s);
        // Each answers for itself, and an edit reaches its own call only.
        assert.equal(await s.evaluate(lookup, 'args["order_id"]'), '7');
        assert.equal(await s.evaluate(stock, 'args["item"]'), "'lamp'");
        await s.set(lookup, 'Arguments', 'order_id', '70');
        await s.set(stock, 'Arguments', 'item', "'sofa'");
        const [first, last] = order === 'lookup first' ? [lookup, stock] : [stock, lookup];
        await s.client.request('continue', { threadId: first.threadId, singleThread: true });
        assert.equal((await s.client.frames(last.threadId)).length >= 2, true);
        await s.go(last);
        assert.equal(await s.exit(), 'visits: agent, agent, agent, score, grade\nverdict: approved, refunded 90\n');
      });
    }
  }

  for (const args of [['--fanout'], ['--fanout', '--async']]) {
    it(`holds every call that was sent to a node (${args.join(' ')})`, async () => {
      const s = scenario();
      await s.start({ args, dots: ['lookup_order'] });
      const held = [await s.stop(), await s.stop(), await s.stop()];
      const names = await s.threadNames();
      assert.equal(new Set(held.map((one) => one.threadId)).size, 3);
      assert.deepEqual(held.map((one) => one.name).sort(), [
        "lookup_order(order_id=7, region='eu') · tool, before",
        "lookup_order(order_id=70, region='eu') · tool, before",
        "lookup_order(order_id=8, region='eu') · tool, before",
      ]);
      assert.deepEqual(
        held[0]!.frames.filter((f) => f.name.includes(' · ')).map((f) => f.name.replace(/^.* · /, '')),
        ['tool, before', 'node, step 2', 'workflow, call 1'],
      );
      assert.equal(
        [...names.values()].filter((name) => name === 'order_sweep › check').length,
        2,
        String([...names.values()]),
      );
      await s.set(held[1]!, 'Arguments', 'order_id', '7');
      const edited = /order_id=(\d+)/.exec(held[1]!.name)![1]!;
      for (const one of [held[2]!, held[0]!, held[1]!]) {
        await s.go(one);
      }
      const items: Record<string, string> = { '7': 'lamp', '8': 'desk', '70': 'chair', [edited]: 'lamp' };
      const found = Object.entries(items).map(([id, item]) => `${id}: ${item}`);
      assert.equal(await s.exit(), `found: ${['3 orders', ...found].sort().join('; ')}\n`);
    });
  }

  it('holds all tasks when the launch asks for it', async () => {
    const s = scenario();
    await s.start({
      args: ['--fanout'],
      dots: [{ at: 'lookup_order', hitCondition: '1' }],
      attributes: { hold: 'all' },
    });
    const first = await s.stop();
    assert.equal(first.body.reason, 'breakpoint');
    const others = [await s.stop(), await s.stop()];
    assert.deepEqual(
      others.map((one) => one.body.reason),
      ['pause', 'pause'],
    );
    assert.equal(new Set([first, ...others].map((one) => one.threadId)).size, 3);
    await s.go(first);
    assert.match(await s.exit(), /3 orders/);
  });

  it('stops every task at its next call on pause, and not once more because of it', async () => {
    const s = scenario();
    await s.start({ args: ['--fanout'], dots: ['check'] });
    const held = [await s.stop(), await s.stop(), await s.stop()];
    await s.client.request('pause', { threadId: held[0]!.threadId });
    for (const one of held) {
      await s.client.request('continue', { threadId: one.threadId, singleThread: true });
    }
    const paused = [await s.stop(), await s.stop(), await s.stop()];
    assert.deepEqual(
      paused.map((one) => one.body.reason),
      ['pause', 'pause', 'pause'],
    );
    assert.ok(
      paused.every((one) => one.name.startsWith('lookup_order(')),
      paused.map((one) => one.name).join(),
    );
    for (const one of paused) {
      await s.go(one);
    }
    assert.match(await s.exit(), /3 orders/);
  });

  it('has one conversation', async () => {
    let s = scenario();
    try {
      // The one that is written down: which of the two begins first, and so is on the workflow's thread, is open.
      while (!(await holdsLookupFirst(s))) {
        await s.end();
        s = new Scenario();
      }
      await converses(s);
    } finally {
      await s.end();
    }
  });
});

/** Starts it until both calls are held; whether `lookup_order` is on the workflow's thread. */
async function holdsLookupFirst(s: Scenario): Promise<boolean> {
  await s.start({ args: ['--async'], dots: ['lookup_order', 'check_stock'] });
  // Which of the two is told first is open, too, so the conversation that is compared begins once both are held.
  await s.client.waitFor('stopped', ({ threadId }) => threadId === 1);
  await s.client.waitFor('stopped', ({ threadId }) => threadId === 2);
  const names = [...(await s.threadNames()).values()];
  assert.equal(names[0], 'support_agent');
  return names[1] === 'support_agent › check_stock';
}

async function converses(s: Scenario): Promise<void> {
  const { client } = s;
  await client.frames(1);
  const [stock] = await client.frames(2);
  const args = await s.scopeRef(stock!.id, 'Arguments');
  await client.request('variables', { variablesReference: args });
  await client.request('setVariable', { variablesReference: args, name: 'item', value: "'chair'" });
  await client.request('continue', { threadId: 2 });
  await client.waitFor('thread', (body) => body.reason === 'exited' && body.threadId === 2);
  await client.frames(1);
  await client.request('next', { threadId: 1 });
  const after = await s.stop(1);
  assert.equal(after.name, 'tools · node, step 2, after');
  await client.request('variables', { variablesReference: await s.scopeRef(after.top.id, 'Changes') });
  await s.go(after);
  assert.ok((await s.exit()).endsWith(VERDICT));
  await s.recording();
  const replace: [string | RegExp, string][] = [
    [folder, '<langgraph>'],
    [s.place.folder, '<temp>'],
    [python, '<python>'],
    [/ — in .*$/, ''],
  ];
  // What comes in no fixed order with the answers, and is asserted elsewhere.
  const without = [
    'progressStart',
    'progressEnd',
    'output',
    'invalidated',
    'thread',
    'breakpoint',
    'process',
    'toolbreak/run',
  ];
  const text = transcript(client, { replace, without }).replace('<-- launch answer\n', '');
  assertGolden('langgraph-parallel', text.slice(text.indexOf('--> threads')));
}
