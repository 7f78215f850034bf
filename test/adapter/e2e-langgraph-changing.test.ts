import assert from 'node:assert/strict';
import { marker, program, refusal, scenarios, VERDICT } from './e2e-langgraph-support';

scenarios('Changing the run of a LangGraph agent', (scenario) => {
  for (const args of [[], ['--async']]) {
    const how = args[0] ?? 'sync';
    it(`skips a call with a result, and shows it after (${how})`, async () => {
      const s = scenario();
      await s.start({ args, dots: ['refund'] });
      const held = await s.stop();
      const wrong = await refusal(s.client.request('toolbreak/skip', { threadId: held.threadId, result: '1 +' }));
      assert.ok(wrong.message.length > 10);
      assert.equal((await s.client.frames(held.threadId))[0]!.name, held.name, 'still held');
      await s.client.request('toolbreak/skip', { threadId: held.threadId, result: 'f\'refunded {args["amount"]}\'' });
      const after = await s.stop(held.threadId);
      assert.equal(after.body.reason, 'goto');
      assert.equal(after.name, 'refund(amount=700) · tool, after');
      assert.equal((await s.client.scope(after.top.id, 'Result')).get('result')!.value, "'refunded 700'");
      await s.go(after);
      assert.equal(await s.exit(), 'visits: agent, agent, agent, score, grade\nverdict: approved, refunded 700\n');
      const recorded = await s.recording();
      assert.deepEqual(
        recorded.named('tool', 'refund').map(({ state }) => state),
        ['skipped'],
      );
    });

    it(`cancels a call: no error handler keeps the run alive (${how})`, async () => {
      const s = scenario();
      await s.start({ args, dots: ['refund'] });
      const held = await s.stop();
      await s.client.request('toolbreak/cancel', { threadId: held.threadId });
      const { exitCode } = await s.client.waitFor('exited');
      assert.notEqual(exitCode, 0);
      await s.client.waitFor('terminated');
      assert.equal(s.client.output['stdout'] ?? '', '', 'the run did not go on');
      assert.match(s.client.output['stderr']!, /refund was cancelled in the debugger/);
      assert.deepEqual(s.client.pending('stopped'), []);
      const recorded = await s.recording();
      assert.equal(recorded.first('tool', 'refund').state, 'cancelled');
      assert.equal(recorded.named('node', 'agent').length, 2);
    });

    it(`runs a failed call again with other arguments (${how})`, async () => {
      const s = scenario();
      await s.start({ args, functions: ['tool:refund@error'] });
      const held = await s.stop();
      assert.equal(held.name, 'refund(amount=700) · tool, error');
      await s.set(held, 'Arguments', 'amount', '300');
      await s.client.request('toolbreak/again', { threadId: held.threadId });
      assert.equal(await s.exit(), 'visits: agent, agent, agent, score, grade\nverdict: approved, refunded 300\n');
    });
  }

  it('cancels through terminateThreads as well', async () => {
    const s = scenario();
    await s.start({ functions: ['node:grade'] });
    const held = await s.stop();
    await s.client.request('terminateThreads', { threadIds: [held.threadId] });
    const { exitCode } = await s.client.waitFor('exited');
    assert.notEqual(exitCode, 0);
    assert.equal(s.client.output['stdout'] ?? '', '');
  });

  it('goes back to the start of a call, and past it', async () => {
    const s = scenario();
    await s.start({ dots: [{ at: 'refund', mode: 'after' }] });
    const after = await s.stop();
    assert.equal(after.name, 'refund(amount=500) · tool, after');
    assert.match((await refusal(s.client.request('restartFrame', { frameId: after.frames[1]!.id }))).message, /again/);
    await s.client.request('restartFrame', { frameId: after.top.id });
    const before = await s.stop(after.threadId);
    assert.equal(before.body.reason, 'restart');
    assert.equal(before.name, 'refund(amount=500) · tool, before');
    const source = { path: program };
    const { targets } = await s.client.request('gotoTargets', { source, line: marker('refund') + 2 });
    assert.equal(targets.length, 1);
    assert.deepEqual((await s.client.request('gotoTargets', { source, line: marker('grade') })).targets, []);
    await s.client.request('goto', { threadId: before.threadId, targetId: targets[0]!.id });
    const past = await s.stop(before.threadId);
    assert.equal(past.body.reason, 'goto');
    assert.equal(past.name, 'refund(amount=500) · tool, after');
    await s.set(past, 'Result', 'result', "'refunded by hand'");
    await s.go(past);
    assert.match(await s.exit(), /^verdict: approved, refunded by hand$/m);
  });

  it('edits arguments, nested state and results, by variable and by expression', async () => {
    const s = scenario();
    await s.start({ functions: ['node:score', 'node:grade@after'] });
    const score = await s.stop();
    const state = await s.scopeRef(score.top.id, 'State');
    const { variables } = await s.client.request('variables', { variablesReference: state });
    const messages = variables.find(({ name }) => name === 'messages')!;
    const again = await s.client.request('variables', { variablesReference: state });
    assert.equal(
      again.variables.find(({ name }) => name === 'messages')!.variablesReference,
      messages.variablesReference,
      'references stay while held',
    );
    const page = await s.client.request('variables', {
      variablesReference: messages.variablesReference,
      filter: 'indexed',
      start: 7,
      count: 2,
    });
    assert.deepEqual(
      page.variables.map(({ name }) => name),
      ['[7]', '[8]'],
    );
    const last = page.variables[1]!;
    const fields = await s.client.request('variables', { variablesReference: last.variablesReference });
    assert.ok(fields.variables.some(({ name, value }) => name === 'content' && value === "'refunded 500'"));
    const set = await s.client.request('setVariable', {
      variablesReference: last.variablesReference,
      name: 'content',
      value: "'refunded 499'",
    });
    assert.equal(set.value, "'refunded 499'");
    const more = await s.client.request('setExpression', {
      frameId: score.top.id,
      expression: 'state["messages"][0].content',
      value: "'hello'",
    });
    assert.equal(more.value, "'hello'");
    await refusal(s.client.request('setExpression', { frameId: score.top.id, expression: 'len(state)', value: '3' }));
    await s.go(score);
    const grade = await s.stop();
    assert.equal(await s.evaluate(grade, 'state["messages"][-1].content'), "'refunded 499'");
    assert.equal(await s.evaluate(grade, 'result["verdict"]'), "'approved, refunded 499'");
    await s.client.request('setExpression', {
      frameId: grade.top.id,
      expression: 'result["verdict"]',
      value: "'by expression'",
    });
    await s.go(grade);
    assert.match(await s.exit(), /^verdict: by expression$/m);
  });

  it('answers watch, hover, console, clipboard and completion', async () => {
    const s = scenario();
    await s.start({ dots: ['lookup_order'] });
    const held = await s.stop();
    assert.equal(await s.evaluate(held, 'state["messages"][-1].content'), "''");
    assert.equal(await s.evaluate(held, 'args["order_id"] * 2', 'repl'), '14');
    assert.equal(await s.evaluate(held, 'order_id', 'hover'), '7');
    assert.equal(await s.evaluate(held, 'state["visits"]', 'hover'), "['agent']");
    const ran = await refusal(s.evaluate(held, 'lookup_order.invoke({"order_id": 8})', 'hover'));
    assert.equal(ran.showUser, false);
    assert.match(await s.evaluate(held, 'lookup_order.invoke({"order_id": 8})', 'repl'), /desk/, 'and it did not stop');
    assert.match(await s.evaluate(held, 'state["messages"]', 'clipboard'), /please refund order 7/);
    await refusal(s.evaluate(held, 'nonsense + 1'));
    const complete = async (text: string) =>
      (await s.client.request('completions', { frameId: held.top.id, text, column: text.length + 1 })).targets.map(
        ({ label }) => label,
      );
    assert.ok((await complete('state["')).some((label) => label.includes('verdict')));
    assert.ok((await complete('args["')).some((label) => label.includes('order_id')));
    assert.ok((await complete('order')).includes('order_id'));
    assert.ok((await complete('state["messages"][0].cont')).includes('content'));
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('shows a model call: its name, messages and tokens, and what was sent', async () => {
    const s = scenario();
    await s.start({ functions: ['llm:scripted-1@after'] });
    const held = await s.stop();
    assert.equal(held.name, 'scripted-1 · model, after');
    const call = await s.client.scope(held.top.id, 'Call');
    assert.equal(call.get('model')!.value, 'scripted-1');
    assert.equal(call.get('tokens in')!.value, '4');
    assert.equal(call.get('tokens out')!.value, '8');
    const messages = await s.client.scope(held.top.id, 'Messages');
    assert.equal(messages.get('[0]')!.value, 'human: please refund order 7');
    const { sources } = await s.client.request('loadedSources', {});
    const text = async (part: string) => {
      const source = sources.find(({ name }) => name?.includes(part));
      assert.ok(source, `${part} among ${sources.map(({ name }) => name).join(', ')}`);
      const { content } = await s.client.request('source', { source, sourceReference: source.sourceReference! });
      return content;
    };
    assert.match(await text('lookup_order'), /"order_id"[\s\S]*"integer"/);
    assert.match(await text('rompt'), /please refund order 7/);
    await s.client.request('setFunctionBreakpoints', { breakpoints: [] });
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
    const model = (await s.recording()).first('llm', 'scripted-1');
    assert.ok(model.detail.attributes.some(({ name, value }) => name === 'gen_ai.usage.input_tokens' && value === '4'));
  });
});
