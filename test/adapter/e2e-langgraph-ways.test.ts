import assert from 'node:assert/strict';
import { marker, preparedPython, scenarios, VERDICT } from './e2e-langgraph-support';

scenarios('Ways to run a LangGraph agent', (scenario) => {
  for (const args of [['--interrupt'], ['--interrupt', '--async']]) {
    it(`takes an interrupt for no error (${args.join(' ')})`, async () => {
      const s = scenario();
      await s.start({
        args,
        exceptions: ['tool', 'model', 'validation', 'uncaught'],
        functions: ['node:approve@error', 'workflow:support_agent@error', 'node:approve@after'],
      });
      const failed = await s.stop();
      assert.equal(failed.name, 'refund(amount=700) · tool, error');
      await s.go(failed);
      const approved = await s.stop();
      assert.match(approved.name, /^approve · node, step \d+, after$/);
      await s.go(approved);
      assert.match(await s.exit(), /waiting: approve[\s\S]*signed by ada/);
      assert.deepEqual(
        (await s.recording()).calls.filter(({ state }) => state === 'error').map(({ name }) => name),
        ['refund'],
      );
    });
  }

  for (const args of [['--stream'], ['--stream', '--async']]) {
    it(`stops and steps while the run is streamed (${args.join(' ')})`, async () => {
      const s = scenario();
      await s.start({ args, dots: ['check_stock'] });
      let held = await s.stop();
      assert.equal(held.frames[2]!.name, 'support_agent · workflow, call 1');
      // The tool may have had a thread of its own; its node has the workflow's.
      await s.client.request('stepOut', { threadId: held.threadId });
      held = await s.stop();
      assert.equal(held.name, 'tools · node, step 2, after');
      await s.go(held);
      const text = await s.exit();
      assert.match(text, /^update: agent\nupdate: tools\n/);
      assert.ok(text.endsWith(VERDICT));
    });
  }

  for (const args of [['--prebuilt'], ['--prebuilt', '--async']]) {
    it(`stops in the prebuilt agent (${args.join(' ')})`, async () => {
      const s = scenario();
      await s.start({ args, dots: ['lookup_order'], functions: [{ name: 'llm:*', hitCondition: '1' }] });
      const model = await s.stop();
      assert.match(model.name, /^scripted-1 · model, before$/);
      await s.go(model);
      const held = await s.stop();
      assert.deepEqual(
        held.frames.map(({ name }) => name.replace(/step \d+/, 'step')),
        [
          "lookup_order(order_id=8, region='eu') · tool, before",
          'tools · node, step',
          'prebuilt_agent · workflow, call 1',
        ],
      );
      await s.go(held);
      assert.equal(await s.exit(), 'last: refunded 120\n');
    });
  }

  it('holds tools that exist only as async, and takes a Command to a parent graph for no error', async () => {
    const s = scenario();
    const file = s.place.file('handoff.py', HANDOFF);
    await s.start({
      program: file,
      dots: ['slow_lookup'],
      functions: ['node:hand_over@after', 'node:hand_over@error', 'workflow:**@error', 'node:inner_step'],
      exceptions: ['tool', 'uncaught'],
    });
    const inner = await s.stop();
    assert.match(inner.name, /^inner_step · node, step 1, before$/);
    assert.deepEqual(
      inner.frames.filter((frame) => frame.name.includes('workflow')).map(({ name }) => name.split(' · ')[0]),
      ['helper', 'parent'],
    );
    await s.go(inner);
    const held = await s.stop();
    assert.equal(held.name, 'slow_lookup(key=3) · tool, before');
    assert.equal(held.top.line, marker('slow_lookup', file));
    await s.set(held, 'Arguments', 'key', '5');
    await s.go(held);
    const over = await s.stop();
    assert.equal(over.name, 'hand_over · node, step 2, after');
    assert.match(await s.evaluate(over, 'result'), /Command/);
    await s.go(over);
    assert.equal(await s.exit(), 'found 5\n');
  });

  it('does nothing but run with noDebug', async () => {
    const s = scenario();
    await s.start({ dots: ['lookup_order'], functions: ['tool:*'], attributes: { noDebug: true } });
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('shows the frames of the framework, subdued, when asked', async () => {
    const s = scenario();
    await s.start({ dots: ['lookup_order'], attributes: { justMyCode: false } });
    const held = await s.stop();
    const inside = held.frames.filter((frame) => /site-packages/.test(frame.source?.path ?? ''));
    assert.ok(inside.length > 0, held.frames.map(({ name }) => name).join('\n'));
    assert.ok(inside.every((frame) => frame.presentationHint === 'subtle'));
    assert.equal(held.top.presentationHint, 'normal');
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
  });

  it('stops in LangGraph 0.6 as in 1.x', async () => {
    const s = scenario();
    await s.start({
      python: preparedPython('langgraph-0.6'),
      dots: [{ at: 'lookup_order', mode: 'before' }],
      functions: ['node:score@after'],
    });
    const held = await s.stop();
    assert.deepEqual(
      held.frames.map(({ name, line }) => [name, line]),
      [
        ["lookup_order(order_id=7, region='eu') · tool, before", marker('lookup_order')],
        ['tools · node, step 2', marker('add tools')],
        ['support_agent · workflow, call 1', marker('compile support_agent')],
      ],
    );
    await s.set(held, 'Arguments', 'order_id', '70');
    await s.go(held);
    let score = await s.stop();
    assert.equal(score.name, 'score · node, step 1, after');
    score = await s.step('next', score);
    assert.equal(score.name, 'grade · node, step 2, before');
    await s.go(score);
    assert.match(await s.exit(), /^verdict: approved, refunded 90$/m);
  });
});

const HANDOFF = `import asyncio
from typing import TypedDict
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command


@tool
async def slow_lookup(key: int) -> str:  # BP: slow_lookup
    """Only async."""
    await asyncio.sleep(0)
    return f"found {key}"


class State(TypedDict):
    answer: str


async def inner_step(state):
    return {"answer": await slow_lookup.ainvoke({"key": 3})}


def hand_over(state):
    return Command(goto="done", graph=Command.PARENT, update={"answer": state["answer"]})


def done(state):
    return {}


inner = StateGraph(State)
inner.add_node("inner_step", inner_step)
inner.add_node("hand_over", hand_over, destinations=())
inner.add_edge(START, "inner_step")
inner.add_edge("inner_step", "hand_over")
outer = StateGraph(State)
outer.add_node("helper", inner.compile(name="helper"), destinations=("done",))
outer.add_node("done", done)
outer.add_edge(START, "helper")
outer.add_edge("done", END)
print(asyncio.run(outer.compile(name="parent").ainvoke({"answer": ""}))["answer"])
`;
