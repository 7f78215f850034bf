"""Workflows of many kinds, recorded into a folder: node_steps_app.py <folder>. Prints how often compiled code began, ended and routed a node's call."""

from __future__ import annotations

import asyncio
import json
import operator
import os
import sys
import threading
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:1] = [os.path.abspath(os.path.join(HERE, "..", "..", "..", "runtimes", "python"))]

import toolbreak  # noqa: E402
from toolbreak import _calls, _optional  # noqa: E402
from toolbreak._values import Settings  # noqa: E402

toolbreak.record(sys.argv[1])
_calls.writer.configure(Settings(references=True))

from langchain_core.messages import AIMessage, HumanMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langgraph.graph import END, START, StateGraph, add_messages  # noqa: E402
from langgraph.types import Command, RetryPolicy, Send  # noqa: E402


class State(TypedDict, total=False):
    count: int
    data: Any
    text: Any
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]


def build(name: str, nodes: dict[str, Any], schema: Any = State, retry: Any = None, **edges: Any) -> Any:
    builder = StateGraph(schema)
    for each, node in nodes.items():
        builder.add_node(each, node, **({"retry_policy": retry} if retry is not None else {}))
    last = START
    for each in nodes:
        if each not in edges.get("apart", ()):
            builder.add_edge(last, each)
            last = each
    for each, route in edges.get("routes", {}).items():
        builder.add_conditional_edges(each, *route)
    return builder.compile(name=name)


def documents() -> Any:
    return {f"doc{i}": {"id": i, "text": "words " * 40, "score": i / 7, "tags": ["a", "b"]} for i in range(20)}


def loop(name: str, data: Any, change: Any, steps: int = 80) -> None:
    """A node that goes round and round, and changes what it was given."""

    def node(state: Any) -> Any:
        if state["count"] % 7 == 6:
            change(state["data"], state["count"])
        return {"count": state["count"] + 1}

    def again(state: Any) -> str:
        return END if state["count"] >= steps else "node"

    graph = build(name, {"node": node}, routes={"node": (again,)})
    graph.invoke({"count": 0, "data": data}, {"recursion_limit": steps + 10})


def change_documents(data: Any, count: int) -> None:
    each = data[f"doc{count % 20}"]
    way = count // 7 % 6
    if way == 0:
        each["score"] += 1
    elif way == 1:
        each["tags"].append("more")
    elif way == 2:
        each |= {"text": "other words " * 10}
    elif way == 3:
        each.setdefault("new", []).append(count)
    elif way == 4:
        data[f"doc{count % 20}"] = dict(each)
    else:
        each.pop("new", None)
        each.update(token="abcdef1234567890")


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x


def change_points(data: Any, count: int) -> None:
    data[count % 5].x = [count, "text " * 20]
    if count % 2:
        vars(data[count % 5])["y"] = count


def change_messages(data: Any, count: int) -> None:
    data[count % 10].content += "!"


loop("documents", documents(), change_documents)
loop(
    "numbers",
    {f"key{i}": {"values": list(range(20))} for i in range(50)},
    lambda data, n: data["key3"]["values"].sort(key=lambda x: x * n % 11),
)
loop("points", [Point("text " * 30) for _ in range(5)], change_points)
loop("messages", [HumanMessage("question " * 30, id=str(i)) for i in range(10)], change_messages)
loop("same", documents(), lambda data, count: None)
loop("nothing", None, lambda data, count: None, 5)
loop("fields", vars(Point("text " * 200)), lambda data, n: data.update(x=f"{n} " * 200))

# What nodes answer.
answers: list[Any] = [
    None, {}, {"count": 1 << 70}, {"count": -(1 << 63)}, {"text": "x" * 500}, {"text": "a \ud800 surrogate"}, {"text": "sk-abcdefghij0123456789klmn"},
    {"text": "my password = hunter22"}, {"data": [1, 2, {"a": 1}]}, {"data": (1, 2)}, {"data": b"bytes"}, {"data": {1, 2}}, {"data": float("nan")},
    {"data": {"password": "hunter22", "value": 1}}, {"log": ["one"]}, {"log": []}, {"messages": [AIMessage("hello", id="1")]}, {"count": True, "text": None},
    {"messages": HumanMessage("hi", id="2"), "count": 5}, Command(update={"count": 3}), {"data": object}, {"text": "Ann: see https://example.org/?key=abcdefgh12345678"},
]  # fmt: skip
for number, answer in enumerate(answers):
    build(
        f"answer{number}",
        {"first": lambda state: {"count": 1}, "second": lambda state, a=answer: a, "third": lambda state: {"count": 2}},
    ).invoke({"count": 0, "data": {"name": "n", "items": [1, 2]}, "text": "given", "log": ["zero"], "messages": []})
for given in (
    {"count": "token=abcdefgh12345678"},
    {"data": {"api_key": "hunter22"}},
    {"text": "t" * 5000, "data": ["w " * 300] * 3},
    {"data": (1, [2])},
    {},
):
    graph = build("given", {"first": lambda state: {"count": 1}, "second": lambda state: {"count": 2}})
    for _ in range(3):
        graph.invoke({"log": [], **given})


def assigns(state: Any) -> Any:
    state["count"] = 99
    state["invented"] = 1
    state.pop("text")
    state["data"]["items"].append(3)
    return {"log": [state["count"]]} if state["log"] else {"count": 5}


for log in ([], ["zero"]):
    build(
        "assigns", {"first": lambda state: {"count": 1}, "assigns": assigns, "third": lambda state: {"count": 2}}
    ).invoke({"count": 0, "data": {"items": [1]}, "text": "given", "log": log})
wide = TypedDict("wide", {f"k{i}": Any for i in range(80)})  # type: ignore[misc]
build("wide", {"first": lambda state: {"k1": 5}, "second": lambda state: {"k2": 5}}, wide).invoke(
    {f"k{i}": i for i in range(80)}
)


@dataclass
class Fields:
    count: int = 0
    data: Any = None


build(
    "dataclass", {"first": lambda state: {"count": 1}, "second": lambda state: {"count": state.count + 1}}, Fields
).invoke(Fields(0, [1]))


# Ways.
def fan(state: Any) -> Any:
    return [Send("leaf", {"count": i}) for i in range(3)]


build(
    "fan",
    {"first": lambda state: {"count": 1}, "leaf": lambda state: {"log": [state["count"]]}},
    apart=("leaf",),
    routes={"first": (fan, ["leaf"])},
).invoke({"log": []})
build(
    "mapped", {"first": lambda state: {"count": 1}, "a": lambda state: {"log": [2]}, "b": lambda state: {"log": [3]}}, apart=("a", "b"),
    routes={"first": (lambda state: ["left", "right"], {"left": "a", "right": "b"}), "a": (lambda state: "end", {"end": END})},
).invoke({"count": 0})  # fmt: skip
build(
    "goto",
    {"first": lambda state: Command(goto="last", update={"count": 4}), "last": lambda state: {"text": "end"}},
    apart=("last",),
).invoke({"count": 0})
inner = build("inner", {"deep": lambda state: {"count": state["count"] + 1}, "deeper": lambda state: {"text": "deep"}})
build("outer", {"first": lambda state: {"count": 1}, "inner": inner, "last": lambda state: {"count": 9}}).invoke(
    {"count": 0}
)
build(
    "calls",
    {"first": lambda state: {"count": inner.invoke({"count": 5})["count"]}, "second": lambda state: {"count": 1}},
).invoke({"count": 0})

tries: list[int] = []


def fails(state: Any) -> Any:
    tries.append(1)
    if len(tries) % 3:
        raise ValueError("not yet")
    return {"count": len(tries)}


graph = build(
    "retries",
    {"first": lambda state: {"count": 1}, "fails": fails},
    retry=RetryPolicy(initial_interval=0.0, jitter=False, max_attempts=4, retry_on=ValueError),
)
graph.invoke({"count": 0})
graph.invoke({"count": 0})


def broken(state: Any) -> Any:
    raise KeyError("gone")


graph = build("breaks", {"first": lambda state: {"count": 1}, "broken": broken})
for _ in range(2):
    try:
        graph.invoke({"count": 0})
    except KeyError:
        pass


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


graph = build(
    "tools",
    {
        "first": lambda state: {"count": add.invoke({"a": state["count"], "b": 2})},
        "second": lambda state: {"count": add.invoke({"a": 1, "b": 2})},
    },
)
for _ in range(3):
    graph.invoke({"count": 0})
list(graph.stream({"count": 5}, stream_mode="values"))


async def slow(state: Any) -> Any:
    await asyncio.sleep(0)
    return {"count": state["count"] + 1}


async def asynchronous() -> None:
    graph = build("async", {"one": slow, "two": slow, "three": slow})
    for number in range(4):
        await graph.ainvoke({"count": number, "data": documents()})
    async for _ in graph.astream({"count": 3}):
        pass
    await asyncio.gather(*[graph.ainvoke({"count": number}) for number in range(3)])


asyncio.run(asynchronous())
threads = [
    threading.Thread(target=loop, args=(f"thread{n}", documents(), change_documents, 30), name=f"thread {n}")
    for n in range(3)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
_calls.writer.configure(Settings(references=True))
loop("again", documents(), change_documents, 20)
if hasattr(os, "fork"):
    child = os.fork()
    if not child:
        loop("child", documents(), change_documents, 20)
        os._exit(0)
    os.waitpid(child, 0)
loop("after", documents(), change_documents, 20)
print(json.dumps(_optional.nodes_taken() if _optional.nodes_taken is not None else [0, 0, 0]))
