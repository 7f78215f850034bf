import assert from 'node:assert/strict';
import { join } from 'node:path';
import { folder, marker, scenarios, VERDICT } from './e2e-langgraph-support';
import { reading } from './timeline-support';

const uncaught = join(folder, '..', 'uncaught', 'uncaught.py');

scenarios('Errors in a LangGraph agent', (scenario) => {
  it('stops at a tool error, tells all about it, and the run recovers', async () => {
    const s = scenario();
    await s.start({ exceptions: ['tool'] });
    const held = await s.stop();
    assert.equal(held.body.reason, 'exception');
    assert.match(held.body.text!, /amount 700 needs approval/);
    assert.equal(held.name, 'refund(amount=700) · tool, error');
    assert.equal(held.top.line, marker('refund fails'));
    const info = await s.client.request('exceptionInfo', { threadId: held.threadId });
    assert.equal(info.exceptionId, 'ValueError');
    assert.equal(info.description, 'amount 700 needs approval');
    assert.equal(info.breakMode, 'always');
    assert.match(info.details!.stackTrace!, /in refund/);
    assert.doesNotMatch(info.details!.stackTrace!, /toolbreak/);
    assert.equal(await s.evaluate(held, 'error.args[0]'), "'amount 700 needs approval'");
    await s.go(held);
    assert.ok((await s.exit()).endsWith(VERDICT));
    const recorded = await s.recording();
    const [failed, repeated] = recorded.named('tool', 'refund');
    assert.equal(failed!.state, 'error');
    assert.equal(failed!.detail.error?.message, 'amount 700 needs approval');
    assert.deepEqual(failed!.detail.error?.stack.at(-1)?.line, marker('refund fails'));
    assert.equal(repeated!.state, 'returned');
  });

  it('stops at a tool error only where the condition holds', async () => {
    const s = scenario();
    await s.start({ exceptions: [{ filterId: 'tool', condition: 'args["amount"] < 100' }, 'model', 'validation'] });
    assert.ok((await s.exit()).endsWith(VERDICT), 'no stop');
  });

  it('stops at a model error', async () => {
    const s = scenario();
    const file = s.place.file('broken_model.py', MODEL);
    await s.start({ program: file, exceptions: ['model'] });
    const held = await s.stop();
    assert.equal(held.body.reason, 'exception');
    assert.match(held.name, /· model, error$/);
    assert.match(held.body.text!, /the service is down/);
    await s.go(held);
    await s.exit(1);
  });

  it("stops where arguments do not fit the tool's schema", async () => {
    const s = scenario();
    const file = s.place.file('bad_arguments.py', INVALID);
    await s.start({ program: file, exceptions: ['validation'] });
    const held = await s.stop();
    assert.equal(held.body.reason, 'exception');
    assert.match(held.name, /^double\(number='many'\) · tool, error$/);
    assert.match(held.body.text!, /ValidationError/);
    await s.set(held, 'Arguments', 'number', '21');
    await s.client.request('toolbreak/again', { threadId: held.threadId });
    assert.equal(await s.exit(), '42\n');
  });

  it('stops at an uncaught exception with the last state in view, before the process dies', async () => {
    const s = scenario();
    await s.start({ program: uncaught, exceptions: ['uncaught'], dots: [{ at: 'charge', condition: 'False' }] });
    const held = await s.stop();
    assert.equal(held.body.reason, 'exception');
    assert.equal(held.body.description, 'Paused on uncaught exception');
    assert.equal(held.top.line, marker('charge fails', uncaught));
    assert.equal((await s.client.request('exceptionInfo', { threadId: held.threadId })).breakMode, 'unhandled');
    assert.equal(await s.evaluate(held, 'state["charged"]'), '[40, 60]');
    await s.go(held);
    await s.exit(1);
    assert.match(s.client.output['stderr']!, /ValueError: amount 250 is over the limit of 100/);
    assert.doesNotMatch(s.client.output['stderr']!, /toolbreak/);
    const { runFile } = await s.client.waitFor('toolbreak/run');
    await s.client.request('disconnect', {});
    await s.client.closed;
    reading(runFile, (ask) => {
      const { end } = ask('overview', { buckets: 10 });
      const crashes = ask('bars', { from: 0, to: end, minimum: 0, limit: 100 }).events.filter(
        ({ state }) => state === 'error',
      );
      assert.equal(crashes.length, 1);
      assert.match(crashes[0]!.name, /^Crash: ValueError: amount 250 is over the limit of 100: charge @ .*\.py:\d+$/);
      const { source, event } = ask('call', { id: crashes[0]!.id });
      assert.deepEqual(source, { path: uncaught, line: marker('charge fails', uncaught) });
      assert.equal(event?.stack[0]?.function, 'charge');
    });
  });

  it('stops at an uncaught exception in a node, with the state of the workflow', async () => {
    const s = scenario();
    // Order 9 is unknown, and a KeyError is no error that the agent handles when the node itself raises.
    const file = s.place.file('failing_node.py', FAILING);
    await s.start({ program: file, exceptions: ['uncaught'] });
    const held = await s.stop();
    assert.equal(held.body.description, 'Paused on uncaught exception');
    const call = held.frames.find((frame) => frame.name.startsWith('second'))!;
    assert.ok(call, held.frames.map((frame) => frame.name).join('\n'));
    const state = await s.client.scope(call.id, 'State');
    assert.equal(state.get('steps')!.value.includes('first'), true, state.get('steps')!.value);
    await s.go(held);
    await s.exit(1);
    assert.match(s.client.output['stderr']!, /KeyError: 'missing'/);
    assert.doesNotMatch(s.client.output['stderr']!, /toolbreak/);
  });
});

const MODEL = `from langchain_core.language_models import BaseChatModel


class Broken(BaseChatModel):
    model_name: str = "broken-1"

    @property
    def _llm_type(self):
        return "broken"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        raise ConnectionError("the service is down")


Broken().invoke("hello")
`;

const INVALID = `from langchain_core.tools import tool


@tool
def double(number: int) -> int:
    """Twice a number."""
    return number * 2


print(double.invoke({"number": "many"}))
`;

const FAILING = `import operator
from typing import Annotated, TypedDict
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    steps: Annotated[list, operator.add]


def first(state):
    return {"steps": ["first"]}


def second(state):
    raise KeyError("missing")


graph = StateGraph(State)
graph.add_node("first", first)
graph.add_node("second", second)
graph.add_edge(START, "first")
graph.add_edge("first", "second")
graph.add_edge("second", END)
graph.compile(name="failing").invoke({"steps": []})
`;
