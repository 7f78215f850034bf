"""Graphs that an app makes for one request go when it lets go of them, and their tasks are left as they were."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from frameworks_support import bare, run

AGENTS = """
    import copy, gc, pickle, weakref
    from typing import TypedDict
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        n: int

    class Agent:
        def __init__(self, below=None):
            graph = StateGraph(State)
            graph.add_node("work", self.work)
            graph.add_edge(START, "work")
            if below is not None:
                graph.add_node("below", below.graph)
                graph.add_edge("work", "below")
            self.graph = graph.compile(name="below" if below is None else "above")

        def work(self, state):
            return {"n": state["n"] + 1}

    seen = []
    for _ in range(3):
        below = Agent()
        above = Agent(below)
        print(above.graph.invoke({"n": 0}), above.graph.invoke({"n": 5}))
        seen += [weakref.ref(above), weakref.ref(below), weakref.ref(below.graph)]
        del above, below
    gc.collect()
    print([each() is not None for each in seen])
"""

COPIES = """
    import copy, pickle
    from typing import TypedDict
    from langgraph.graph import START, StateGraph

    class State(TypedDict):
        n: int

    def work(state):
        return {"n": state["n"] + 1}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    graph = builder.compile()
    print(graph.invoke({"n": 0}))
    node = graph.nodes["work"].node
    for made in (copy.copy(node), copy.deepcopy(node)):
        print(type(made.steps[0]).__name__, [type(step).__module__ for step in made.steps])
    again = graph.copy()
    print(again.invoke({"n": 1}), graph.invoke({"n": 2}))
"""

AGAIN = """
    from typing import TypedDict
    from langgraph.graph import START, StateGraph
    from langgraph.pregel import _runner

    class State(TypedDict):
        n: int

    tries = []

    def work(state):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not yet")
        return {"n": 1}

    plain = _runner.run_with_retry

    def twice(task, *args, **kwargs):
        proc = task.proc
        try:
            return plain(task, *args, **kwargs)
        except ValueError:
            return plain(task, *args, **kwargs)
        finally:
            print(task.name, task.proc is proc or "changed")

    _runner.run_with_retry = twice
    graph = StateGraph(State)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    print(graph.compile().invoke({"n": 0}))
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "app.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


@pytest.mark.frameworks
@pytest.mark.parametrize("text", [AGENTS, COPIES], ids=["agents", "copies"])
def test_nothing_of_a_graph_is_kept(tmp_path: Path, text: str) -> None:
    app = write(tmp_path, text)
    assert run(app).out == bare(app).out


@pytest.mark.frameworks
def test_a_task_that_runs_twice_is_one_call_each_time(tmp_path: Path) -> None:
    app = write(tmp_path, AGAIN)
    done = run(app)
    assert done.out == bare(app).out
    assert [entry["status"] for entry in done.of("end", name="work")] == [1, 0]
