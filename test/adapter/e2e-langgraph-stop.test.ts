import assert from 'node:assert/strict';
import { marker, refusal, scenarios, VERDICT } from './e2e-langgraph-support';

scenarios('A tool of a LangGraph agent, held', (scenario) => {
  it('stops on the def, shows the calls around it, takes an edit and refuses a wrong one', async () => {
    const s = scenario();
    await s.start({ dots: ['lookup_order decorator'] });
    assert.equal(s.answers[0]!.line, marker('lookup_order'), 'moved to the def line before the app runs');
    await s.client.waitFor('breakpoint', (one) => one.breakpoint.verified);
    const held = await s.stop();
    assert.deepEqual(
      held.frames.map(({ name, line }) => [name, line]),
      [
        ["lookup_order(order_id=7, region='eu') · tool, before", marker('lookup_order')],
        ['tools · node, step 2', marker('add tools')],
        ['support_agent · workflow, call 1', marker('compile support_agent')],
      ],
    );
    assert.deepEqual(
      held.frames.map(({ canRestart }) => canRestart),
      [true, false, false],
    );
    assert.equal(held.body.description, 'Paused before tool');
    assert.deepEqual(held.body.hitBreakpointIds, [s.answers[0]!.id]);
    const { scopes } = await s.client.request('scopes', { frameId: held.top.id });
    assert.deepEqual(
      scopes.map(({ name }) => name),
      ['Arguments', 'State', 'Messages', 'Call'],
    );
    const args = await s.client.scope(held.top.id, 'Arguments');
    assert.deepEqual(
      [...args].map(([name, { value, type }]) => [name, value, type]),
      [
        ['order_id', '7', 'int'],
        ['region', "'eu'", 'str, default'],
      ],
    );
    const state = await s.client.scope(held.top.id, 'State');
    assert.deepEqual([...state.keys()], ['messages', 'visits', 'verdict']);
    const messages = await s.client.request('variables', {
      variablesReference: state.get('messages')!.variablesReference,
    });
    assert.deepEqual(
      messages.variables.map(({ value }) => value),
      ['human: please refund order 7', 'ai: → lookup_order, check_stock'],
    );

    const refused = await refusal(s.set(held, 'Arguments', 'order_id', '"abc"'));
    assert.match(
      refused.message,
      /^order_id must be an integer \(the tool's own schema said: Input should be a valid integer/,
    );
    assert.equal((await s.client.frames(held.threadId))[0]!.name, held.name, 'still held, unchanged');
    assert.match((await refusal(s.set(held, 'Arguments', 'order_id', '7 +'))).message, /syntax|parse|read/i);

    assert.equal(await s.set(held, 'Arguments', 'order_id', '70'), '70');
    assert.equal(
      (await s.client.frames(held.threadId))[0]!.name,
      "lookup_order(order_id=70, region='eu') · tool, before",
    );
    await s.go(held);
    assert.equal(await s.exit(), 'visits: agent, agent, agent, score, grade\nverdict: approved, refunded 90\n');
    assert.deepEqual(s.console().match(/^.*edited.*$/gm), ['lookup_order: order_id 7 → 70 (edited)']);

    const recorded = await s.recording();
    const counts = [
      ['tool', 'lookup_order'],
      ['tool', 'check_stock'],
      ['llm', 'scripted-1'],
      ['node', 'agent'],
      ['workflow', 'review'],
      ['workflow', 'support_agent'],
    ].map(([kind, name]) => recorded.named(kind!, name!).length);
    assert.deepEqual(counts, [1, 1, 3, 3, 1, 1]);
    const call = recorded.first('tool', 'lookup_order');
    assert.equal(call.edited, true);
    assert.equal(call.holds.length, 1);
    assert.equal(call.detail.source?.line, marker('lookup_order'));
    assert.deepEqual(
      call.detail.events.map(({ text }) => text),
      ['Held: Paused before tool', 'Edited: lookup_order: order_id 7 → 70', 'Released in the editor'],
    );
    const { changes } = recorded.first('node', 'agent').detail;
    assert.deepEqual(
      changes?.map(({ change, path }) => [change, path]),
      [
        ['added', 'messages[1]'],
        ['added', 'visits[0]'],
      ],
    );
  });

  it('stops on a line inside a tool, with its locals, under the tool and the node', async () => {
    const s = scenario();
    const inside = marker('refund fails');
    await s.start({ dots: ['refund fails'] });
    assert.equal(s.answers[0]!.line, inside);
    assert.equal(s.answers[0]!.message, 'Waiting for the app to start.');
    const held = await s.stop();
    assert.equal(held.body.reason, 'breakpoint');
    assert.equal(held.body.description, 'Paused on breakpoint');
    assert.deepEqual(held.body.hitBreakpointIds, [s.answers[0]!.id]);
    assert.equal(held.name, 'refund');
    assert.equal(held.top.line, inside);
    const names = held.frames.map((frame) => frame.name);
    assert.ok(names.indexOf('refund(amount=700) · tool') === 1, names.join('\n'));
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
    const told = s.client.pending('breakpoint').filter((one) => one.breakpoint.id === s.answers[0]!.id);
    assert.equal(told.at(-1)?.breakpoint.verified, true);
  });
});
