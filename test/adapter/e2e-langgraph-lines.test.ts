import assert from 'node:assert/strict';
import { marker, scenarios, VERDICT } from './e2e-langgraph-support';

scenarios('Lines inside the tools of a LangGraph agent', (scenario) => {
  it('goes from a held tool into its body, changes a local, and out again up to the workflow', async () => {
    const s = scenario();
    await s.start({ dots: ['lookup_order'], functions: [] });
    let held = await s.stop();
    assert.equal(held.name, "lookup_order(order_id=7, region='eu') · tool, before");
    held = await s.step('stepIn', held);
    const first = marker('lookup_order') + 2;
    assert.deepEqual([held.name, held.top.line, held.body.reason], ['lookup_order', first, 'step']);
    assert.equal(held.body.description, 'Paused on step');
    assert.deepEqual(
      held.frames.map(({ name }) => name.replace(/, step \d+/, '')),
      [
        'lookup_order',
        "lookup_order(order_id=7, region='eu') · tool",
        'tools · node',
        'support_agent · workflow, call 1',
      ],
    );
    held = await s.step('next', held);
    assert.deepEqual([held.name, held.top.line], ['lookup_order', first + 1]);
    assert.equal(await s.evaluate(held, 'total * 2'), '1400');
    assert.equal(await s.set(held, 'Locals', 'total', '90'), '90');
    held = await s.step('next', held);
    assert.equal(held.name, "lookup_order(order_id=7, region='eu') · tool, after");
    assert.match(await s.evaluate(held, 'result'), /'total': 90/);
    // The tool may have had a thread of its own; its node has the workflow's.
    await s.client.request('stepOut', { threadId: held.threadId });
    held = await s.stop();
    assert.match(held.name, /^tools · node, step 2, after$/);
    held = await s.step('stepOut', held);
    assert.equal(held.name, 'support_agent · workflow, call 1, after');
    await s.go(held);
    assert.match(await s.exit(), /refunded 90/);
    const recorded = await s.recording();
    const call = recorded.first('tool', 'lookup_order');
    assert.ok(
      call.detail.events.some(({ text }) => text === `Held: Paused on step: lookup_order @ triage.py:${first + 1}`),
    );
  });

  it('holds one tool at a line while the one beside it goes on', async () => {
    const s = scenario();
    const line = marker('lookup_order') + 3;
    await s.start({ dots: [{ at: line, condition: 'total == 700' }, { at: 'check_stock' }] });
    const one = await s.stop();
    const other = await s.stop();
    const [atLine, atCall] = one.top.line === line ? [one, other] : [other, one];
    assert.deepEqual([atLine.name, atLine.body.hitBreakpointIds], ['lookup_order', [s.answers[0]!.id]]);
    assert.notEqual(atLine.threadId, atCall.threadId);
    let beside = await s.step('stepIn', atCall);
    assert.deepEqual([beside.name, beside.top.line], ['check_stock', marker('check_stock') + 2]);
    beside = await s.step('stepOut', beside);
    assert.match(beside.name, /^check_stock\(item='lamp'\) · tool, after$/);
    await s.go(beside);
    assert.equal(await s.evaluate(atLine, 'item'), "'lamp'");
    await s.go(atLine);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });
});
