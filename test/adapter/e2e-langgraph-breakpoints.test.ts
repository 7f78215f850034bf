import assert from 'node:assert/strict';
import { marker, program, scenarios, VERDICT } from './e2e-langgraph-support';

scenarios('Breakpoints on a LangGraph agent', (scenario) => {
  it('stops before, after, on both sides and on error, as the mode says', async () => {
    const s = scenario();
    await s.start({
      dots: [
        { at: 'lookup_order', mode: 'before and after', hitCondition: '1' },
        { at: 'check_stock', mode: 'after' },
        { at: 'refund', mode: 'error' },
      ],
    });
    const seen: string[] = [];
    for (let count = 0; count < 4; count++) {
      const held = await s.stop();
      seen.push(held.name.replace(/\(.*\)/, ''));
      if (held.name.includes('refund')) {
        assert.equal(held.top.line, marker('refund fails'), 'at the line that raised');
        const error = await s.client.scope(held.top.id, 'Error');
        assert.equal(error.get('message')!.value, 'amount 700 needs approval');
      }
      await s.go(held);
    }
    assert.ok((await s.exit()).endsWith(VERDICT));
    assert.deepEqual(seen.sort(), [
      'check_stock · tool, after',
      'lookup_order · tool, after',
      'lookup_order · tool, before',
      'refund · tool, error',
    ]);
  });

  it('stops where the condition holds, at the counted hits, and logs', async () => {
    const s = scenario();
    await s.start({
      dots: [
        { at: 'refund', condition: 'args["amount"] > 600 and state["visits"] == ["agent", "agent"]' },
        { at: 'agent', hitCondition: '%2' },
        { at: 'check_stock', logMessage: 'looking for {args["item"]} after {len(state["messages"])} messages' },
      ],
      functions: [
        { name: 'llm:*', hitCondition: '2' },
        { name: 'tool:*', hitCondition: '>3' },
      ],
    });
    const seen: string[] = [];
    for (let count = 0; count < 5; count++) {
      const held = await s.stop();
      seen.push(held.name);
      await s.go(held);
    }
    assert.ok((await s.exit()).endsWith(VERDICT));
    assert.deepEqual(
      seen,
      [
        'agent · node, step 3, before',
        'scripted-1 · model, before',
        'refund(amount=700) · tool, before',
        'agent · node, step 7, before',
        'refund(amount=500) · tool, before',
      ].sort((a, b) => seen.indexOf(a) - seen.indexOf(b)),
    );
    assert.equal(seen[2], 'refund(amount=700) · tool, before');
    assert.match(s.console(), /^looking for lamp after 2 messages$/m);
  });

  it('stops by name: node, model, workflow, at after and error', async () => {
    const s = scenario();
    await s.start({
      functions: [
        'node:score',
        'workflow:**',
        'tool:refund@error',
        'node:grade@after',
        { name: 'llm:scripted*', hitCondition: '4' },
      ],
    });
    const seen: string[] = [];
    for (let count = 0; count < 6; count++) {
      const held = await s.stop();
      seen.push(held.name);
      if (count === 5) {
        const changes = await s.client.scope(held.top.id, 'Changes');
        assert.equal(changes.get('~ verdict')!.value, "'scored' → 'approved, refunded 500'");
      }
      await s.go(held);
    }
    assert.ok((await s.exit()).endsWith(VERDICT));
    assert.deepEqual(seen, [
      'support_agent · workflow, call 1, before',
      'refund(amount=700) · tool, error',
      'scripted-1 · model, before',
      'review · workflow, step 8, before',
      'score · node, step 1, before',
      'grade · node, step 2, after',
    ]);
  });

  it('says that a name matches nothing, and which names there are', async () => {
    const s = scenario();
    await s.start({ functions: ['tool:serach', 'node:score', 'agent'], dots: ['route'] });
    const known = await s.client.waitFor(
      'breakpoint',
      ({ breakpoint }) =>
        breakpoint.id === s.answers.find((one) => !one.source)!.id && /refund/.test(breakpoint.message ?? ''),
    );
    assert.equal(known.breakpoint.message, 'No tool matches. Known tools: check_stock, lookup_order, refund');
    assert.equal(known.breakpoint.verified, false);
    const first = await s.stop();
    assert.equal(first.name, 'agent · node, step 1, before');
    const route = await (await s.go(first), s.stop());
    // A conditional route is a plain function of the person's.
    assert.match(route.name, /^route\(state=.*\) · function, before$/);
    assert.equal(route.frames.at(-1)!.name.split(' · ')[0], '<module>');
    await s.client.request('setFunctionBreakpoints', { breakpoints: [] });
    await s.client.request('setBreakpoints', { source: { path: program }, breakpoints: [] });
    await s.go(route);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('refuses a condition that does not compile, and reports one that raises once', async () => {
    const s = scenario();
    await s.start({
      dots: [
        { at: 'lookup_order', condition: 'args["order_id"' },
        { at: 'refund', condition: 'args["total"] > 3' },
        { at: 'check_stock', hitCondition: 'often' },
      ],
      functions: [{ name: 'node:agent', condition: 'state.nothing' }],
    });
    const [broken, raising, count] = s.answers;
    assert.equal(count!.verified, false);
    assert.match(count!.message!, /^The hit count "often" cannot be read/);
    assert.ok((await s.exit()).endsWith(VERDICT));
    const told = (id: number) => s.client.pending('breakpoint').filter((one) => one.breakpoint.id === id);
    const last = told(broken!.id!).at(-1)!.breakpoint;
    assert.equal(last.verified, false);
    assert.match(last.message!, /^The condition does not compile: .*\.$/);
    assert.equal(
      told(raising!.id!).at(-1)!.breakpoint.message,
      "Condition failed once: KeyError 'total'. The breakpoint did not stop.",
    );
    const lines = s.client.output['important']!.match(/^Condition failed once.*$/gm)!;
    assert.equal(lines.length, 2, lines.join('\n'));
  });

  it('stops when a state value is written, and when it becomes equal to a value', async () => {
    const s = scenario();
    await s.start({ functions: ['node:score', "state:verdict == 'scored'"] });
    const held = await s.stop();
    const state = await s.scopeRef(held.top.id, 'State');
    await s.client.request('variables', { variablesReference: state });
    const info = await s.client.request('dataBreakpointInfo', { variablesReference: state, name: 'verdict' });
    assert.equal(info.dataId, 'state:verdict');
    assert.deepEqual(info.accessTypes, ['write']);
    const args = await s.client.request('dataBreakpointInfo', {
      variablesReference: await s.scopeRef(held.top.id, 'Call'),
      name: 'kind',
    });
    assert.equal(args.dataId, null);
    const { breakpoints } = await s.client.request('setDataBreakpoints', {
      breakpoints: [{ dataId: info.dataId, condition: "value.startswith('approved') and old == 'scored'" }],
    });
    assert.equal(breakpoints[0]!.verified, true, breakpoints[0]!.message);
    await s.go(held);
    const typed = await s.stop();
    assert.equal(typed.name, 'score · node, step 1, after');
    assert.equal(typed.body.reason, 'data breakpoint');
    await s.go(typed);
    const written = await s.stop();
    assert.equal(written.name, 'grade · node, step 2, after');
    assert.equal(written.body.reason, 'data breakpoint');
    assert.deepEqual(written.body.hitBreakpointIds, [breakpoints[0]!.id]);
    await s.set(written, 'State', 'verdict', "'changed by hand'");
    await s.client.request('setDataBreakpoints', { breakpoints: [] });
    await s.go(written);
    assert.match(await s.exit(), /^verdict: changed by hand$/m);
  });

  it('stops once where node, tool and function all match, and moves while the app runs', async () => {
    const s = scenario();
    await s.start({ dots: ['refund', 'refund'], functions: ['refund', 'tool:refund', 'tool:*', 'node:tools'] });
    const seen: string[] = [];
    for (let held = await s.stop(); ; held = await s.stop()) {
      seen.push(held.name);
      if (held.name.startsWith('refund(amount=700)')) {
        assert.deepEqual(held.body.hitBreakpointIds?.length, 5);
        await s.client.request('setFunctionBreakpoints', { breakpoints: [] });
        const line = marker('grade');
        const moved = await s.client.request('setBreakpoints', { source: { path: program }, breakpoints: [{ line }] });
        assert.equal(moved.breakpoints[0]!.verified, true);
      }
      await s.go(held);
      if (held.name.startsWith('grade')) {
        break;
      }
    }
    assert.ok((await s.exit()).endsWith(VERDICT));
    assert.deepEqual(seen.map((name) => name.replace(/\(.*\)/, '')).sort(), [
      'check_stock · tool, before',
      'grade · node, step 2, before',
      'lookup_order · tool, before',
      'refund · tool, before',
      'tools · node, step 2, before',
      'tools · node, step 4, before',
    ]);
  });
});
