"""What is told of a run is what LangGraph and LangChain made of it, whatever a node does with what it was given."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from frameworks_support import Outcome, bare, run

pytestmark = [pytest.mark.frameworks, pytest.mark.essential]


def write(tmp_path: Path, text: str) -> Path:
    app = tmp_path / "app.py"
    app.write_text(dedent(text), encoding="utf-8")
    return app


def as_without_us(app: Path) -> Outcome:
    done = run(app)
    assert (done.code, done.out) == (0, bare(app).out), done.err[-2000:]
    return done


def after(done: Outcome, name: str) -> Any:
    """The state after the only call of a node."""
    [start] = done.of("start", name=name)
    return done.one("state", call=start["call"], when="after")["state"]


ANSWERS = """
    import json, operator
    from dataclasses import dataclass
    from typing import Annotated, Optional, TypedDict
    from langgraph import types
    from langgraph.graph import START, StateGraph
    from pydantic import BaseModel

    class State(TypedDict):
        n: int
        m: int
        opt: Optional[int]
        log: Annotated[list, operator.add]
        tot: Annotated[int, operator.add]
        known: Annotated[dict, operator.or_]

    class OnlyN(TypedDict):
        n: int

    class Answer(BaseModel):
        n: int
        opt: Optional[int] = None

    def assigns(state):
        state["n"] = 99
        state["invented"] = 1
        state.pop("tot")
        state["log"].append("in place")
        return {"m": 1}

    def narrow(state: OnlyN):
        return {"log": ["narrow"], "tot": 7}

    def models(state):
        return Answer(n=9)

    def replaces(state):
        if hasattr(types, "Overwrite"):
            return {"known": {"__overwrite__": {"b": 2}}, "log": {"__overwrite__": ["only"]}}
        return {"known": {"__overwrite__": 1}}

    graph = StateGraph(State)
    last = START
    for node in (assigns, narrow, models, replaces):
        graph.add_node(node.__name__, node)
        graph.add_edge(last, node.__name__)
        last = node.__name__
    given = {"n": 1, "m": 0, "opt": 3, "log": ["start"], "tot": 5, "known": {"a": 1}}
    for state in graph.compile().stream(given, stream_mode="values"):
        print(json.dumps(state))
"""


def test_the_state_after_a_node_is_what_the_graph_has(tmp_path: Path) -> None:
    done = as_without_us(write(tmp_path, ANSWERS))
    _, *states = [json.loads(line) for line in done.out.splitlines()]
    for name, state in zip(("assigns", "narrow", "models", "replaces"), states):
        told = after(done, name)
        assert told == {key: state[key] for key in told}, name
        if name != "narrow":
            assert told.keys() == state.keys()
    assert {key: after(done, "narrow")[key] for key in ("log", "tot")} == {
        "log": ["start", "in place", "narrow"],
        "tot": 12,
    }


STREAMS = """
    import asyncio, operator
    from typing import Annotated, TypedDict
    from langgraph.graph import START, StateGraph
    from langgraph.types import StreamWriter

    class State(TypedDict):
        log: Annotated[list, operator.add]

    class Piece:
        def __init__(self, number):
            self.number = number
        def __del__(self):
            print("freed", self.number)

    hashed = []

    class Key:
        def __hash__(self):
            hashed.append(self)
            return 1
        number = "key"

    def first(state):
        return {"log": ["one"]}

    def second(state, writer: StreamWriter):
        for number in range(3):
            writer(Piece(number))
        nested = ()
        for _ in range(20_000):
            nested = (nested,)
        writer({Key(): nested})
        writer((nested, {"a": Key()}))
        return {"log": ["two"]}

    graph = StateGraph(State)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph = graph.compile()

    for piece in graph.stream({"log": []}):
        print(piece.popitem()[1].pop("log"))

    async def main():
        async for mode, piece in graph.astream({"log": []}, stream_mode=["updates"]):
            print(mode, piece.popitem()[1]["log"].pop())

    asyncio.run(main())
    for piece in graph.stream({"log": []}, stream_mode="custom"):
        print("got", getattr(piece, "number", type(piece)))
        del piece
    print(len(hashed))
"""


def test_a_stream_is_its_consumers_and_its_result_what_came_last(tmp_path: Path) -> None:
    done = as_without_us(write(tmp_path, STREAMS))
    results = [entry["result"] for entry in done.of("end", kind="workflow")]
    assert results[:2] == [{"second": {"log": ["two"]}}, ["updates", {"second": {"log": ["two"]}}]]


NAMES = """
    from typing import TypedDict
    from langchain_core.tools import tool
    from langgraph.graph import START, StateGraph

    @tool
    def search(text: str) -> str:
        "Searches."
        return text

    class State(TypedDict):
        n: int

    graph = StateGraph(State)
    graph.add_node("one", lambda state: {"n": 1})
    graph.add_edge(START, "one")
    graph = graph.compile()
    graph.name = "ReAct Agent"
    print(graph.invoke({"n": 0}), search.invoke({"text": "a"}))
    search.name = "server1_search"
    print(search.invoke({"text": "b"}))
"""


def test_names_are_those_that_they_have_when_they_run(tmp_path: Path) -> None:
    done = as_without_us(write(tmp_path, NAMES))
    assert (done.names("workflow"), done.names("tool")) == (["ReAct Agent"], ["search", "server1_search"])


STEPS = """
    import asyncio
    from typing import TypedDict
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.runnables import RunnableLambda
    from langgraph.graph import END, START, StateGraph

    class Told(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, *, tags=None, name=None, **more):
            print(name, tags)

    class State(TypedDict):
        n: int

    def one(state):
        return state

    def two(state):
        return {"n": state["n"] + 1}

    def three(state):
        return {"n": state["n"] + 1}

    graph = StateGraph(State)
    graph.add_node("several", RunnableLambda(one) | two | three)
    graph.add_edge(START, "several")
    graph.add_conditional_edges("several", lambda state: END)
    graph = graph.compile()
    config = {"callbacks": [Told()]}
    print(graph.invoke({"n": 1}, config))
    print(asyncio.run(graph.ainvoke({"n": 1}, config)))

    async def main():
        async for event in graph.astream_events({"n": 1}, version="v2"):
            print(event["event"], event["name"], event["tags"])

    asyncio.run(main())
"""


def test_steps_of_a_node_have_their_numbers(tmp_path: Path) -> None:
    done = as_without_us(write(tmp_path, STEPS))
    assert "three ['seq:step:3']" in done.out
    assert done.names("node") == ["several"] * 3


NESTED = """
    import asyncio
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

    later = []

    class Model(BaseChatModel):
        _llm_type = "own"
        temperature: float = 0.9
        max_tokens: int = 100

        def _generate(self, messages, stop=None, run_manager=None, **options):
            text = messages[-1].content
            if text == "deep":
                text += " " + self.invoke("shallow").content
            return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

        async def _agenerate(self, messages, stop=None, run_manager=None, **options):
            if messages[-1].content == "starts":
                later.append(asyncio.create_task(self.after()))
            return self._generate(messages)

        async def after(self):
            await asyncio.sleep(0)
            return await self.ainvoke("after")

    class Router(Model):
        def _stream(self, messages, stop=None, run_manager=None, **options):
            for text in ("first", "second"):
                yield ChatGenerationChunk(message=AIMessageChunk(self.invoke(text).content))

    model = Model()
    print(model.invoke("deep").content)
    print([piece.content for piece in Router().stream("routed")])

    async def main():
        print((await model.ainvoke("starts")).content)
        print((await later[0]).content)
        print([piece.content async for piece in model.astream("streamed")])

    asyncio.run(main())
    print([piece.content for piece in model.stream("streamed")])
    print(model.bind(temperature=0.1, model="other").invoke("bound").content)
"""


def test_a_model_that_is_asked_while_it_answers(tmp_path: Path) -> None:
    done = as_without_us(write(tmp_path, NESTED))
    calls = done.of("start", kind="llm")
    parents = {entry["call"]: entry["args"]["messages"] for entry in calls}
    assert len(calls) == 10
    assert [entry["parent"] for entry in calls[:2]] == [0, calls[0]["call"]], parents
    asked = calls[-1]["attributes"]
    assert [asked[f"gen_ai.request.{name}"] for name in ("model", "temperature", "max_tokens")] == ["other", 0.1, 100]
