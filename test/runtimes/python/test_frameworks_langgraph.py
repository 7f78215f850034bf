"""Workflows and nodes of LangGraph."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from frameworks_support import ROOT, TRIAGE, bare, line_of, on, run

WAYS = [
    [],
    ["--async"],
    ["--stream"],
    ["--async", "--stream"],
    ["--fanout"],
    ["--prebuilt"],
    ["--prebuilt", "--async"],
    ["--interrupt"],
]


@pytest.mark.frameworks
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_outcome_is_the_same(way: list[str]) -> None:
    with_us, without = run(TRIAGE, *way), bare(TRIAGE, *way)
    assert (with_us.out, with_us.code) == (without.out, without.code)
    assert "Toolbreak" not in with_us.err
    assert with_us.of("start", kind="workflow")


@pytest.mark.frameworks
@pytest.mark.parametrize("way", [[], ["--async"]], ids=["sync", "async"])
def test_calls_of_the_support_agent(way: list[str]) -> None:
    done = run(TRIAGE, *way)
    assert done.names("workflow") == ["support_agent", "review"]
    assert done.names("node") == ["agent", "tools", "agent", "tools", "agent", "tools", "agent", "score", "grade"]
    assert sorted(done.names("tool")) == ["check_stock", "lookup_order", "refund", "refund"]
    assert done.names("llm") == ["scripted-1"] * 4
    lookup = done.one("start", name="lookup_order")
    assert done.chain(lookup) == [("tool", "lookup_order"), ("node", "tools"), ("workflow", "support_agent")]
    score = done.one("start", name="score")
    assert done.chain(score) == [("node", "score"), ("workflow", "review"), ("workflow", "support_agent")]
    assert done.one("start", name="tools")["detail"] == "node, step 2"
    assert done.one("start", name="support_agent")["detail"] == "workflow, call 1"


def test_places_of_functions() -> None:
    done = run(TRIAGE)
    lines = {(entry["kind"], entry["name"]): entry["line"] for entry in done.of("function")}
    assert lines["tool", "lookup_order"] == line_of(TRIAGE, "lookup_order")
    assert lines["node", "agent"] == line_of(TRIAGE, "agent")
    assert lines["node", "tools"] == line_of(TRIAGE, "add tools")
    assert lines["workflow", "support_agent"] == line_of(TRIAGE, "compile support_agent")
    assert lines["workflow", "review"] == line_of(TRIAGE, "compile review")
    assert lines["node", "score"] == line_of(TRIAGE, "score")


def test_names_are_known_before_anything_runs() -> None:
    done = run(TRIAGE)
    first = next(index for index, entry in enumerate(done.report) if entry["what"] == "start")
    early = {(entry["kind"], entry["name"]) for entry in done.report[:first] if entry["what"] == "function"}
    assert {("tool", "refund"), ("node", "grade"), ("workflow", "review"), ("workflow", "support_agent")} <= early


def test_state_before_and_after() -> None:
    done = run(TRIAGE)
    number = done.one("start", name="grade")["call"]
    before, after = done.of("state", call=number)
    assert (before["state"]["verdict"], after["state"]["verdict"]) == ("scored", "approved, refunded 500")
    assert (before["state"]["visits"], after["state"]["visits"]) == (["score"], ["score", "grade"])
    assert done.one("end", call=number)["changes"] == ["verdict", "visits"]


def test_routes_are_noted() -> None:
    done = run(TRIAGE)
    agents = [entry["call"] for entry in done.of("start", name="agent")]
    routes = done.of("event", name="route")
    assert [route["call"] for route in routes] == agents
    assert [route["data"]["to"] for route in routes] == [["tools"], ["tools"], ["tools"], ["review"]]


GOTO = """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send

class State(TypedDict):
    n: int

def plan(state):
    return Command(goto=["work", Send("work", {"n": 5})], update={"n": 1})

def work(state):
    return Command(goto=END, update=None) if state["n"] == 5 else {"n": 2}

graph = StateGraph(State)
graph.add_node("plan", plan, destinations=("work",))
graph.add_node("work", work)
graph.add_edge(START, "plan")
graph.compile().invoke({"n": 0})
"""


def test_where_a_command_goes_is_noted(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(GOTO)
    done = run(tmp_path / "app.py")
    routes = done.of("event", name="route")
    names = {entry["call"]: entry["name"] for entry in done.of("start")}
    assert [(names[route["call"]], route["data"]["to"]) for route in routes] == [
        ("plan", ["work", "work"]),
        ("work", ["__end__"]),
    ]


@pytest.mark.parametrize("way", [[], ["--async"]], ids=["sync", "async"])
def test_state_edited_before_a_node_reaches_it(way: list[str]) -> None:
    edit = "{'edit': lambda c: c.adapter.applied_state(c, {**c.state, 'visits': ['edited']})}"
    done = run(TRIAGE, *way, scenario=on("grade", "before", edit))
    assert "visits: agent, agent, agent, agent, score, grade" in done.out
    number = done.one("start", name="grade")["call"]
    assert done.of("state", call=number)[-1]["state"]["visits"] == ["edited", "grade"]


@pytest.mark.parametrize("way", [[], ["--async"], ["--stream"]], ids=["sync", "async", "stream"])
def test_state_edited_after_a_node_is_what_is_written(way: list[str]) -> None:
    edit = "{'edit': lambda c: c.adapter.applied_state(c, {**c.state, 'verdict': 'by hand'})}"
    done = run(TRIAGE, *way, scenario=on("grade", "after", edit))
    assert "verdict: by hand" in done.out


@pytest.mark.parametrize("way", [[], ["--async"]], ids=["sync", "async"])
def test_an_edit_after_a_node_changes_the_route(way: list[str]) -> None:
    scenario = """
from copy import copy
def stop(call, boundary):
    if call.name == "agent" and boundary == "after" and call.result["messages"][0].tool_calls:
        def edit(c):
            message = copy(c.result["messages"][0])
            message.tool_calls = []
            c.result = {**c.result, "messages": [message]}
        return {"edit": edit}
"""
    done = run(TRIAGE, *way, scenario=scenario)
    assert done.names("tool") == []
    assert "visits: agent, score, grade" in done.out


@pytest.mark.frameworks
def test_a_reduced_key_can_be_overwritten_or_says_why_not() -> None:
    edit = "{'edit': lambda c: c.adapter.applied_state(c, {**c.state, 'visits': ['only']})}"
    done = run(TRIAGE, scenario=on("agent", "after", edit, "call.state['visits'] == ['agent']"))
    refused = done.of("refused")
    if refused:
        assert "merges visits with its reducer" in refused[0]["text"]
    else:
        assert "visits: only, agent, agent, agent, score, grade" in done.out


@pytest.mark.parametrize("way", [[], ["--async"], ["--stream"]], ids=["sync", "async", "stream"])
def test_skipped_node(way: list[str]) -> None:
    done = run(TRIAGE, *way, scenario=on("grade", "before", "{'action': 'skip', 'value': {'verdict': 'skipped'}}"))
    assert "verdict: skipped" in done.out
    assert done.one("end", name="grade")["status"] == 3


@pytest.mark.frameworks
@pytest.mark.parametrize("way", [[], ["--async"], ["--fanout"], ["--fanout", "--async"]], ids=" ".join)
def test_cancelled_node_ends_the_run(way: list[str]) -> None:
    name = "check" if "--fanout" in way else "agent"
    done = run(TRIAGE, *way, scenario=on(name, "before", "{'action': 'cancel'}"))
    assert done.code == 1
    assert "cancelled in the debugger" in done.err
    assert "verdict" not in done.out and "found" not in done.out


def test_run_again_starts_from_the_state_before() -> None:
    scenario = """
runs = []
def stop(call, boundary):
    if call.name == "score" and boundary == "after":
        runs.append(call.state["visits"])
        return {"action": "again"} if len(runs) == 1 else {"edit": lambda c: report.say(what="runs", runs=runs)}
"""
    done = run(TRIAGE, scenario=scenario)
    assert done.one("runs")["runs"] == [["score"], ["score"]]
    assert "visits: agent, agent, agent, agent, score, grade" in done.out


@pytest.mark.frameworks
def test_interrupt_is_not_an_error() -> None:
    done = run(TRIAGE, "--interrupt")
    first, second = done.of("end", name="approve")
    assert (first["status"], second["status"]) == (5, 0)
    assert first["error"] is None and first["result"]["question"] == "approve?"
    assert [entry["detail"] for entry in done.of("start", name="support_agent")] == [
        "workflow, call 1",
        "workflow, call 2",
    ]
    assert not done.of("end", kind="workflow", status=1)


HANDED_OVER = """
    from typing import TypedDict
    from langgraph.graph import START, StateGraph
    from langgraph.types import Command, interrupt

    class State(TypedDict):
        n: int

    def leave(state: State):
        return Command(goto="bob", graph=Command.PARENT, update={"n": 1})

    def both(state: State):
        return {"n": state["n"] + 1}

    alice = StateGraph(State).add_node("leave", leave).add_edge(START, "leave").compile(name="alice")
    graph = StateGraph(State).add_node("alice", alice).add_node("bob", both).add_edge(START, "alice").compile()
    print(graph.invoke({"n": 0}))
"""


def test_a_handoff_is_what_the_inner_graph_gave(tmp_path: Path) -> None:
    app = write(tmp_path, HANDED_OVER)
    done = run(app)
    assert (done.out, done.err, done.code) == (bare(app).out, "", 0)
    assert {entry["status"] for entry in done.of("end")} == {0}
    assert done.one("end", name="alice", kind="workflow")["result"] == "Command"


def test_fan_out_makes_one_call_each_on_tasks_of_their_own() -> None:
    done = run(TRIAGE, "--fanout")
    assert len(done.of("start", name="check")) == 3
    assert {entry["kind"] for entry in done.of("start", name="lookup_order")} == {"tool"}


def test_step_targets_are_the_announced_tool_calls() -> None:
    show = "{'edit': lambda c: report.say(what='targets', targets=c.adapter.step_targets(c))}"
    done = run(TRIAGE, scenario=on("tools", "before", show))
    first = done.one("targets")["targets"]
    assert [(number, label) for number, label, _ in first] == [
        (1, "lookup_order(order_id=7)"),
        (2, "check_stock(item='lamp')"),
    ]
    assert first[0][2] == line_of(TRIAGE, "lookup_order")


def write(folder: Path, source: str) -> Path:
    app = folder / "app.py"
    app.write_text(textwrap.dedent(source), encoding="utf-8")
    return app


FUNCTIONAL = """
    from langgraph.func import entrypoint, task

    @task
    def double(x, *, by=2):
        return x * by

    @entrypoint()
    def flow(n):
        first = double(n, by=3)
        return first.result() + 1

    print(flow.invoke(3))
"""


@pytest.mark.frameworks
def test_functional_api(tmp_path: Path) -> None:
    done = run(write(tmp_path, FUNCTIONAL))
    assert done.out == "10\n"
    assert [(entry["kind"], entry["name"]) for entry in done.of("start")] == [("workflow", "flow"), ("node", "double")]
    assert done.one("start", name="double")["args"] == {"x": 3, "by": 3}
    edited = run(
        write(tmp_path, FUNCTIONAL),
        scenario=on("double", "before", "{'edit': lambda c: c.args.update(x=5, by=2)}"),
    )
    assert edited.out == "11\n"


RETRIES = """
    from typing import TypedDict
    from langgraph.graph import START, StateGraph
    from langgraph.types import RetryPolicy

    class State(TypedDict):
        n: int

    tries = []

    def flaky(state):
        tries.append(1)
        if len(tries) < 3:
            raise ValueError("not yet")
        return {"n": len(tries)}

    graph = StateGraph(State)
    graph.add_node("flaky", flaky, retry_policy=RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError))
    graph.add_edge(START, "flaky")
    print(graph.compile().invoke({"n": 0}))
"""


def test_each_attempt_is_a_call(tmp_path: Path) -> None:
    done = run(write(tmp_path, RETRIES))
    assert [entry["status"] for entry in done.of("end", name="flaky")] == [1, 1, 0]
    assert done.out == "{'n': 3}\n"


CAREFUL = """
    import threading
    from typing import Annotated, TypedDict
    from langgraph.graph import START, StateGraph

    reduced = []

    def reducer(old, new):
        reduced.append(new)
        return (old or []) + new

    class Touchy:
        def __getattr__(self, name):
            raise SystemExit(f"asked for {name}")
        def __repr__(self):
            raise SystemExit("asked for repr")
        def __eq__(self, other):
            raise SystemExit("asked whether equal")

    class State(TypedDict):
        lock: object
        touchy: object
        notes: Annotated[list, reducer]

    def node(state):
        return {"notes": ["one"], "touchy": state["touchy"]}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    done = graph.compile().invoke({"lock": threading.Lock(), "touchy": Touchy(), "notes": []})
    print(done["notes"], len(reduced))
"""


SENDING = """
    import operator
    from typing import Annotated, TypedDict
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    class State(TypedDict):
        found: Annotated[list, operator.add]

    def begin(state):
        return {"found": [1]}

    def look(state):
        return {"found": [state["found"][0] * 10]}

    graph = StateGraph(State)
    graph.add_node("begin", begin)
    graph.add_node("look", look)
    graph.add_edge(START, "begin")
    graph.add_conditional_edges("begin", lambda state: [Send("look", {"found": [n]}) for n in (5, 6)], ["look"])
    graph.add_edge("look", END)
    print(graph.compile().invoke({"found": []})["found"])
"""


def test_an_answer_to_an_input_of_its_own_is_merged_with_the_graphs_state(tmp_path: Path) -> None:
    done = run(write(tmp_path, SENDING))
    assert done.out == "[1, 50, 60]\n"
    looked = [done.of("state", call=start["call"]) for start in done.of("start", name="look")]
    told = sorted([entry["state"]["found"] for entry in states] for states in looked)
    assert told == [[[5], [1, 50]], [[6], [1, 60]]]


def test_recording_runs_none_of_the_users_code(tmp_path: Path) -> None:
    app = write(tmp_path, CAREFUL)
    done, without = run(app), bare(app)
    assert (done.out, done.code) == (without.out, without.code)
    assert done.one("end", name="node")["attributes"]["langgraph.unmerged"] == ["notes"]


FAILING = """
    from typing import TypedDict
    from langgraph.graph import START, StateGraph

    class State(TypedDict):
        n: int

    def boom(state):
        raise KeyError("n")

    graph = StateGraph(State)
    graph.add_node("boom", boom)
    graph.add_edge(START, "boom")
    try:
        graph.compile().invoke({"n": 1})
    except KeyError as error:
        import traceback

        frames = traceback.extract_tb(error.__traceback__)
        print([frame.name for frame in frames if "toolbreak" in frame.filename.replace("\\\\", "/").split("/")])
"""


def test_tracebacks_keep_at_most_one_line_of_ours(tmp_path: Path) -> None:
    done = run(write(tmp_path, FAILING))
    assert done.out in ("[]\n", "['invoke']\n")
    assert done.one("end", name="boom")["status"] == 1


INTERRUPTED = """
    import asyncio, os, signal, sys
    from typing import TypedDict
    from langgraph.graph import START, StateGraph

    class State(TypedDict):
        n: int

    def node(state: State):
        os.kill(os.getpid(), signal.SIGINT)

    async def anode(state: State):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(5)

    way = anode if "--async" in sys.argv else node
    graph = StateGraph(State).add_node("node", way).add_edge(START, "node").compile()
    asyncio.run(graph.ainvoke({"n": 1})) if way is anode else graph.invoke({"n": 1})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("way", [[], ["--async"]], ids=["sync", "async"])
def test_ctrl_c_prints_no_line_of_ours(way: list[str], tmp_path: Path) -> None:
    app = write(tmp_path, INTERRUPTED)
    done, plain = run(app, *way), bare(app, *way)
    assert done.err.endswith("\nKeyboardInterrupt\n") and str(ROOT / "runtimes") not in done.err
    assert (done.out, done.code) == (plain.out, plain.code)


def test_a_failure_of_ours_calls_the_original(tmp_path: Path) -> None:
    scenario = """
from toolbreak._frameworks import _node_step, _nodes, _tools, langchain, langgraph
def broken(*args, **kwargs):
    raise RuntimeError("ours")
_nodes.declare = _node_step.declare = _nodes._with_step = _tools.adapter_of = langchain._function = langgraph.function_of = broken
"""
    done = run(TRIAGE, scenario=scenario)
    assert done.out == bare(TRIAGE).out
    assert done.code == 0
    assert "a part of the debugger failed" in done.err


def test_messages_in_short_forms_are_added_as_the_graph_adds_them() -> None:
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, RemoveMessage
    from langgraph.graph.message import add_messages
    from toolbreak._frameworks import _state

    def seen(messages: list[BaseMessage]) -> list[tuple[type, object]]:
        return [(type(message), message.content) for message in messages]

    old = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
    given: list[object] = [
        "plain",
        ("ai", "pair"),
        {"role": "user", "content": "dict"},
        AIMessageChunk("piece"),
        [AIMessage("c", id="2"), "text", RemoveMessage(id="1")],
        [RemoveMessage(id="1"), HumanMessage("again", id="1")],
        [HumanMessage("new", id="2"), RemoveMessage(id="2"), RemoveMessage(id="1")],
        HumanMessage("whole"),
    ]
    for new in given:
        assert seen(_state.add_messages(old, new)) == seen(add_messages(old, new)), new
    # What the graph refuses stands as it was given.
    assert _state.add_messages(old, {"none": 1})[-1] == {"none": 1}


def test_demo_files_are_those_of_the_fixtures() -> None:
    demo, apps = ROOT / "fixtures" / "workspaces" / "demo", ROOT / "fixtures" / "apps"
    same = {
        "triage.py": "langgraph/triage.py",
        "calculator.py": "level0/calculator.py",
        "plain_agent.py": "level5/agent.py",
        "model.py": "level5/model.py",
    }
    for name, original in same.items():
        assert (demo / name).read_text(encoding="utf-8") == (apps / original).read_text(encoding="utf-8"), name
