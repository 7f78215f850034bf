"""Tools and model calls of LangChain."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from frameworks_support import TRIAGE, bare, on, run

WAYS = [[], ["--async"]]
WAY_IDS = ["sync", "async"]


def write(folder: Path, source: str) -> Path:
    app = folder / "app.py"
    app.write_text(textwrap.dedent(source), encoding="utf-8")
    return app


@pytest.mark.frameworks
@pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
def test_edited_argument_reaches_the_tool(way: list[str]) -> None:
    edit = "{'edit': lambda c: c.args.update(order_id=c.adapter.check_args(c, 'order_id', '70'))}"
    done = run(TRIAGE, *way, scenario=on("lookup_order", "before", edit))
    assert "verdict: approved, refunded 90" in done.out
    assert done.one("start", name="lookup_order")["args"] == {"order_id": 7, "region": "eu"}


def test_the_tools_schema_refuses_with_a_sentence() -> None:
    edit = "{'edit': lambda c: c.adapter.check_args(c, 'order_id', 'abc')}"
    done = run(TRIAGE, scenario=on("lookup_order", "before", edit))
    assert done.one("refused")["text"].startswith("order_id must be an integer (the tool's own schema said: ")
    assert "verdict: approved, refunded 500" in done.out


@pytest.mark.frameworks
@pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
def test_cancelled_tool_ends_the_run_though_errors_are_handled(way: list[str]) -> None:
    done = run(TRIAGE, *way, scenario=on("lookup_order", "before", "{'action': 'cancel'}"))
    assert done.code == 1
    assert "lookup_order was cancelled in the debugger" in done.err
    assert "verdict" not in done.out


@pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
def test_skipped_tool_gives_the_result(way: list[str]) -> None:
    done = run(TRIAGE, *way, scenario=on("refund", "before", "{'action': 'skip', 'value': 'refunded by hand'}"))
    assert "verdict: approved, refunded by hand" in done.out


def test_a_failed_tool_run_again_with_another_argument() -> None:
    scenario = """
def stop(call, boundary):
    if call.name == "refund" and boundary == "error":
        return {"edit": lambda c: c.args.update(amount=1), "action": "again"}
"""
    done = run(TRIAGE, scenario=scenario)
    assert "verdict: approved, refunded 1" in done.out
    assert sorted(done.names("tool")) == ["check_stock", "lookup_order", "refund"]


ASYNC_ONLY = """
    import asyncio
    from typing import Annotated, TypedDict
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages
    from langgraph.prebuilt import ToolNode

    async def fetch(url: str, retries: int = 2) -> str:
        "Get a page."
        await asyncio.sleep(0)
        return f"page of {url} after {retries}"

    class State(TypedDict):
        messages: Annotated[list, add_messages]

    def ask(state):
        calls = [{"name": "fetch", "args": {"url": url}, "id": url} for url in ("a", "b")]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode([StructuredTool.from_function(coroutine=fetch)], handle_tool_errors=True))
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "tools")
    graph.add_edge("tools", END)
    done = asyncio.run(graph.compile(name="fetcher").ainvoke({"messages": []}))
    print([message.content for message in done["messages"][1:]])
"""


@pytest.mark.frameworks
def test_tools_that_exist_only_as_async(tmp_path: Path) -> None:
    app = write(tmp_path, ASYNC_ONLY)
    plain = run(app)
    assert plain.out == bare(app).out
    assert [entry["args"] for entry in plain.of("start", kind="tool")] == [
        {"url": "a", "retries": 2},
        {"url": "b", "retries": 2},
    ]
    skipped = run(
        app,
        scenario=on("fetch", "before", "{'action': 'skip', 'value': 'none'}", "call.args['url'] == 'a'"),
    )
    assert skipped.out == "['none', 'page of b after 2']\n"
    cancelled = run(app, scenario=on("fetch", "before", "{'action': 'cancel'}", "call.args['url'] == 'a'"))
    assert cancelled.code == 1 and cancelled.out == ""


TOOLS = """
    import asyncio
    from langchain_core.tools import BaseTool, Tool, tool
    from pydantic import BaseModel

    @tool
    def outer(n: int) -> int:
        "Calls another tool."
        return inner.invoke({"n": n}) + 1

    @tool
    def inner(n: int) -> int:
        "Called by a tool."
        return n * 2

    class Own(BaseTool):
        name: str = "own"
        description: str = "A tool that is a class."
        calls: int = 0

        def _run(self, text: str, times: int = 2) -> str:
            self.calls += 1
            return text * times

    @tool
    async def later(n: int) -> int:
        "An async tool."
        return n + 1

    own = Own()
    shout = Tool(name="shout", description="One text in.", func=lambda text: text.upper())
    print(outer.invoke({"n": 3}))
    print(own.invoke({"text": "ab"}), own.calls)
    print(asyncio.run(own.ainvoke({"text": "cd", "times": 1})), own.calls)
    print(shout.run("hey"))
    print(asyncio.run(later.ainvoke({"n": 1})))
    print(inner.func(1), outer.name, type(own).__name__)
    try:
        inner.invoke({"n": "many"})
    except ValueError as error:
        print(type(error).__name__)
    try:
        later.invoke({"n": 1})
    except NotImplementedError as error:
        print(error)
"""


@pytest.mark.frameworks
def test_one_call_for_one_tool_call(tmp_path: Path) -> None:
    app = write(tmp_path, TOOLS)
    done = run(app)
    assert (done.out, done.code) == (bare(app).out, 0)
    assert done.names("tool") == ["outer", "inner", "own", "own", "shout", "later", "inner", "later"]
    assert done.chain(done.one("start", name="inner")) == [("tool", "inner"), ("tool", "outer")]
    assert done.one("start", name="own")["args"] == {"text": "ab", "times": 2}
    assert done.one("start", name="shout")["args"] == {"text": "hey"}
    assert [entry["error"] for entry in done.of("end", name="inner")] == [None, "ValidationError"]
    assert done.of("start", name="inner")[-1]["args"] == {"n": "many"}


def test_refused_input_can_be_mended_and_run_again(tmp_path: Path) -> None:
    scenario = on("inner", "error", "{'edit': lambda c: c.args.update(n=4), 'action': 'again'}")
    done = run(write(tmp_path, TOOLS), scenario=scenario)
    assert "ValidationError" not in done.out
    assert done.code == 0


MODELS = """
    import asyncio
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.prompts import ChatPromptTemplate

    def model(*texts):
        return GenericFakeChatModel(messages=iter([AIMessage(text) for text in texts]))

    print([piece.content for piece in model("one two").stream("go") if piece.content])
    print(model("three").invoke([HumanMessage("go")]).content)

    async def main():
        print([piece.content async for piece in model("four five").astream("go") if piece.content])
        print((await model("six").ainvoke("go")).content)
        events = [event["event"] async for event in model("seven").astream_events("go", version="v2")]
        print(events[0], events[-1])

    asyncio.run(main())
    chain = ChatPromptTemplate.from_messages([("human", "say {what}")]) | model("eight")
    print("".join(piece.content for piece in chain.stream({"what": "it"})))
    for piece in model("nine ten").stream("go"):
        break
    print("end")
"""


@pytest.mark.frameworks
def test_model_calls(tmp_path: Path) -> None:
    app = write(tmp_path, MODELS)
    done = run(app)
    assert (done.out, done.code) == (bare(app).out, 0)
    calls = done.of("start", kind="llm")
    assert len(calls) == 7
    assert {len(call["args"]["messages"]) for call in calls} == {1}
    assert [entry["status"] for entry in done.of("end", kind="llm")] == [0] * 6 + [2]


LEFT_STREAMS = """
    import asyncio, contextlib
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk
    from langgraph.graph import START, MessagesState, StateGraph

    class Slow(BaseChatModel):
        _llm_type = "slow"

        def _generate(self, messages, **more):
            raise NotImplementedError

        def _stream(self, messages, stop=None, run_manager=None, **more):
            try:
                for word in "a b c".split():
                    yield ChatGenerationChunk(message=AIMessageChunk(content=word))
            finally:
                print("closed at once")

        async def _astream(self, messages, stop=None, run_manager=None, **more):
            try:
                for word in "a b c".split():
                    yield ChatGenerationChunk(message=AIMessageChunk(content=word))
                    await asyncio.sleep(0)
            finally:
                print("closed")

    model = Slow()

    async def answer(state):
        async with contextlib.aclosing(model.astream(state["messages"])) as pieces:
            async for piece in pieces:
                break
        print("the node goes on")
        return {"messages": [piece]}

    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()

    async def left():
        async with contextlib.aclosing(model.astream("hi")) as pieces:
            async for piece in pieces:
                break
        print("after the block")
        print((await graph.ainvoke({"messages": ["hi"]}))["messages"][-1].content)

    async def thrown():
        pieces = model.astream("hi")
        await anext(pieces)
        try:
            await pieces.athrow(ValueError("enough"))
        except ValueError as error:
            print(error)

    def thrown_at_once():
        pieces = model.stream("hi")
        next(pieces)
        try:
            pieces.throw(ValueError("enough"))
        except ValueError as error:
            print("thrown", error)

    async def held(source):
        async for piece in source:
            break
        globals()["kept"] = source  # Its loop ends before it does.

    asyncio.run(left())
    asyncio.run(thrown())
    thrown_at_once()
    asyncio.run(held(model.astream("hi")))
    asyncio.run(held(graph.astream({"messages": ["hi"]}, stream_mode="messages")))
    print("end")
"""


def test_streams_that_are_left_are_closed_as_without_a_debugger(tmp_path: Path) -> None:
    app = write(tmp_path, LEFT_STREAMS)
    done = run(app)
    plain = bare(app)
    assert "closed at once\nthrown enough" in plain.out
    assert "closed\nafter the block" in plain.out and "closed\nthe node goes on" in plain.out
    assert (done.out, done.err, done.code) == (plain.out, plain.err, 0)


BROKEN_STREAMS = """
    import asyncio
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk

    class Base(BaseChatModel):
        _llm_type = "broken"
        works: bool = False

        def _generate(self, messages, **more):
            raise NotImplementedError

    class Broken(Base):
        def _stream(self, messages, stop=None, run_manager=None, **more):
            usage = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4, "input_token_details": {"cache_read": 2}}
            first = AIMessageChunk(content="one ", usage_metadata=usage)
            yield ChatGenerationChunk(message=first)
            yield ChatGenerationChunk(message=AIMessageChunk(content="two"))
            if not self.works:
                self.works = True
                raise ConnectionError("gone")

    def read(model):
        try:
            print([piece.content for piece in model.stream("go")])
        except ConnectionError as error:
            print(error)

    async def aread(model):
        try:
            print([piece.content async for piece in model.astream("go")])
        except ConnectionError as error:
            print(error)

    read(Broken())
    asyncio.run(aread(Broken()))
    for piece in Broken().stream("go"):
        break
"""


def test_what_was_streamed_before_the_end_is_kept(tmp_path: Path) -> None:
    app = write(tmp_path, BROKEN_STREAMS)
    done = run(app)
    assert (done.out, done.err, done.code) == (bare(app).out, "", 0)
    ends = [entry["attributes"] for entry in done.of("end", kind="llm")]
    assert [end["toolbreak.partial"] for end in ends] == ["AIMessageChunk"] * 3
    for end in ends:
        assert end["gen_ai.usage.input_tokens"] == 3 and end["gen_ai.usage.cache_read.input_tokens"] == 2
    # The model's own lines, also where they only stream.
    assert done.one("function", kind="llm")["path"] == str(app.resolve())


def test_an_answer_after_another_attempt_is_whole(tmp_path: Path) -> None:
    scenario = """
def stop(call, boundary):
    if call.kind == "llm" and boundary == "error":
        return {"action": "again"}
"""
    done = run(write(tmp_path, BROKEN_STREAMS), scenario=scenario)
    ends = [entry["attributes"] for entry in done.of("end", kind="llm")]
    assert ["toolbreak.partial" in end for end in ends] == [False, False, True]


def test_what_an_attempt_streamed_is_not_the_next_ones(tmp_path: Path) -> None:
    app = (
        BROKEN_STREAMS
        + """
    class Refused(Broken):
        def _stream(self, messages, **more):
            if self.works:
                self.works = False
                raise ConnectionError("refused")
            yield from super()._stream(messages, **more)

    read(Refused())
"""
    )
    scenario = """
def stop(call, boundary):
    if call.kind == "llm" and boundary == "error" and "gone" in str(call.error):
        return {"action": "again"}
"""
    done = run(write(tmp_path, app), scenario=scenario)
    assert done.out.endswith("refused\n")
    last = done.of("end", kind="llm")[-1]
    assert "toolbreak.partial" not in last["attributes"]


def test_model_name_tokens_and_edited_answer() -> None:
    scenario = """
from copy import copy
def stop(call, boundary):
    if call.kind == "llm" and boundary == "after" and not call.result.tool_calls:
        def edit(c):
            message = copy(c.result)
            message.content = "refunded, as edited"
            c.result = c.adapter.check_result(c, message)
        return {"edit": edit}
"""
    for way in WAYS:
        done = run(TRIAGE, *way, scenario=scenario)
        assert "verdict: approved, refunded, as edited" in done.out
        attributes = done.one("end", kind="llm")["attributes"]
        assert attributes["gen_ai.request.model"] == "scripted-1"
        assert attributes["gen_ai.usage.input_tokens"] == 4 and attributes["gen_ai.usage.output_tokens"] == 8
        assert attributes["gen_ai.response.model"] == "scripted-1"
