import assert from 'node:assert/strict';
import { marker, program, scenarios, VERDICT } from './e2e-langgraph-support';

scenarios('Steps through a LangGraph agent', (scenario) => {
  it('goes over nodes, on one thread, and to the end of the workflow', async () => {
    const s = scenario();
    await s.start({ attributes: { stopOnEntry: true } });
    let held = await s.stop();
    assert.equal(held.body.reason, 'entry');
    assert.equal(held.name, 'support_agent · workflow, call 1, before');
    const names: string[] = [];
    held = await s.step('stepIn', held);
    for (; held.name.includes('node') && !held.name.endsWith('after'); held = await s.step('next', held)) {
      names.push(held.name);
      assert.equal(held.body.reason, 'step');
    }
    assert.deepEqual(names, [
      'agent · node, step 1, before',
      'tools · node, step 2, before',
      'agent · node, step 3, before',
      'tools · node, step 4, before',
      'agent · node, step 5, before',
      'tools · node, step 6, before',
      'agent · node, step 7, before',
    ]);
    assert.equal(held.name, 'review · workflow, step 8, before');
    held = await s.step('next', held);
    assert.equal(held.name, 'support_agent · workflow, call 1, after');
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('goes into a sub-workflow, over its nodes, and out of it', async () => {
    const s = scenario();
    await s.start({ functions: ['workflow:review'] });
    let held = await s.stop();
    assert.equal(held.name, 'review · workflow, step 8, before');
    held = await s.step('stepIn', held);
    assert.deepEqual(
      held.frames.slice(0, 3).map(({ name, line }) => [name, line]),
      [
        ['score · node, step 1, before', marker('score')],
        ['review · workflow, step 8', marker('compile review')],
        ['support_agent · workflow, call 1', marker('compile support_agent')],
      ],
    );
    held = await s.step('next', held);
    assert.equal(held.name, 'grade · node, step 2, before');
    const changes = await s.client.scope(held.frames[0]!.id, 'State');
    assert.equal(changes.get('verdict')!.value, "'scored'");
    held = await s.step('next', held);
    assert.equal(held.name, 'review · workflow, step 8, after');
    held = await s.step('next', held);
    assert.equal(held.name, 'support_agent · workflow, call 1, after');
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('a held workflow stands where it is called, and where no line calls it, at the one that compiled it', async () => {
    const s = scenario();
    await s.start({ functions: ['workflow:support_agent@after', 'workflow:review'] });
    let held = await s.stop();
    // No person's line calls a workflow that is a node.
    assert.deepEqual([held.name, held.top.line], ['review · workflow, step 8, before', marker('compile review')]);
    await s.go(held);
    held = await s.stop();
    assert.deepEqual([held.name, held.top.line], ['support_agent · workflow, call 1, after', marker('invoke')]);
    assert.equal(held.top.source?.path, program);
    assert.deepEqual([held.frames[1]!.name, held.frames[1]!.line], ['run', marker('invoke')]);
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  for (const [args, place] of [
    [['--async'], 'ainvoke'],
    [['--stream'], 'stream'],
    [['--async', '--stream'], 'astream'],
  ] as const)
    it(`a held workflow stands where it is called: ${args.join(' ')}`, async () => {
      const s = scenario();
      await s.start({ args: [...args], functions: ['workflow:support_agent', 'workflow:support_agent@after'] });
      for (const boundary of ['before', 'after']) {
        const held = await s.stop();
        assert.equal(held.name, `support_agent · workflow, call 1, ${boundary}`);
        assert.equal(held.top.line, marker(place));
        await s.go(held);
      }
      assert.ok((await s.exit()).endsWith(VERDICT));
    });

  it('goes out of a tool to the after of its node, and out of a node to the after of its workflow', async () => {
    const s = scenario();
    await s.start({ functions: ['tool:refund'] });
    let held = await s.stop();
    const { threadId } = held;
    held = await s.step('stepOut', held);
    assert.equal(held.name, 'tools · node, step 4, after');
    assert.equal(held.threadId, threadId);
    held = await s.step('stepOut', held);
    // The breakpoint comes first: the loop makes a second refund before the workflow ends.
    assert.equal(held.name, 'refund(amount=500) · tool, before');
    assert.equal(held.body.reason, 'function breakpoint');
    held = await s.step('stepOut', held);
    held = await s.step('stepOut', held);
    assert.equal(held.name, 'support_agent · workflow, call 1, after');
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('goes into a node, its lines and its model call, and into the parallel call of its choice', async () => {
    const s = scenario();
    await s.start({ dots: [{ at: 'agent', hitCondition: '1' }] });
    let held = await s.stop();
    assert.equal(held.name, 'agent · node, step 1, before');
    held = await s.step('stepIn', held);
    assert.deepEqual([held.name, held.top.line], ['agent', marker('agent') + 1]);
    held = await s.step('stepIn', held);
    assert.equal(held.name, 'ScriptedModel.bind_tools');
    held = await s.step('stepOut', held);
    assert.deepEqual([held.name, held.top.line], ['agent', marker('agent') + 1]);
    // The model is the person's own, too: what the framework asks of it before the call are lines as well.
    held = await s.step('stepIn', held);
    while (held.name.startsWith('ScriptedModel.')) {
      held = await s.step('stepIn', held);
    }
    assert.equal(held.name, 'scripted-1 · model, before');
    held = await s.step('next', held);
    assert.equal(held.name, 'agent · node, step 1, after');
    assert.deepEqual((await s.client.request('stepInTargets', { frameId: held.top.id })).targets, []);
    held = await s.step('next', held);
    assert.equal(held.name, 'tools · node, step 2, before');
    const { targets } = await s.client.request('stepInTargets', { frameId: held.top.id });
    assert.deepEqual(
      targets.map(({ label, line }) => [label, line]),
      [
        ['lookup_order(order_id=7)', marker('lookup_order')],
        ["check_stock(item='lamp')", marker('check_stock')],
      ],
    );
    const { threadId } = held;
    await s.client.request('stepIn', { threadId, targetId: targets[1]!.id });
    const inside = await s.stop();
    assert.equal(inside.name, "check_stock(item='lamp') · tool, before");
    assert.equal(inside.body.reason, 'step');
    await s.go(inside);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('goes into, over and out in an async agent', async () => {
    const s = scenario();
    await s.start({ args: ['--async'], functions: ['node:agent'].map((name) => ({ name, hitCondition: '1' })) });
    let held = await s.stop();
    assert.deepEqual(
      held.frames.slice(0, 2).map(({ name, line }) => [name, line]),
      [
        ['agent · node, step 1, before', marker('agent_async')],
        ['support_agent · workflow, call 1', marker('compile support_agent')],
      ],
    );
    const { threadId } = held;
    held = await s.step('stepIn', held);
    assert.deepEqual([held.name, held.top.line], ['agent_async', marker('agent_async') + 1]);
    held = await s.step('next', held);
    assert.deepEqual([held.name, held.top.line], ['agent_async', marker('agent_async') + 2]);
    held = await s.step('next', held);
    assert.equal(held.name, 'agent · node, step 1, after');
    held = await s.step('next', held);
    assert.equal(held.name, 'tools · node, step 2, before');
    held = await s.step('next', held);
    assert.equal(held.name, 'agent · node, step 3, before');
    assert.equal(held.threadId, threadId);
    held = await s.step('stepOut', held);
    assert.equal(held.name, 'support_agent · workflow, call 1, after');
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });
});
