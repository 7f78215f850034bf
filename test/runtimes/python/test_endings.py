"""What the app made is finalised when it would be without us: nothing of it is kept alive by what is remembered of it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from fake_adapter import RECORD
from toolbreak import _static
from toolbreak._values import Settings

MODULE = """
    class Named:
        def __init__(self, name, beside=None):
            self.name = name
            self.beside = beside

        def __del__(self):
            print("end of", self.name)

    def take(value):
        return value
"""
FINALISED = """
    import helper
    from helper import Named, take

    class Slotted:
        __slots__ = ("name",)

        def __del__(self):
            print("end of", self.name)

    class Own(Named):
        pass

    def make():
        return Own("made here")

    def failing(value):
        raise ValueError(value)

    def rest(value):
        yield value
        yield value

    slotted = Slotted()
    slotted.name = "slotted"
    take(slotted)
    given = Own("given")
    take(given)
    outer = Own("outer", Named("inner"))
    take({"outer": outer, "more": list(range(1000))})
    made = make()
    helper.kept = take(Named("of the module"))
    begun = rest(Own("of a generator"))
    next(begun)
    try:
        failing(Own("of an error"))
    except ValueError as error:
        failure = error
"""
AGENT = """
    from typing import Any, TypedDict

    from helper import Named
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import BaseTool, tool
    from langgraph.graph import START, StateGraph

    class State(TypedDict):
        rows: Any
        held: Any

    class Search(BaseTool):
        name: str = "search"
        description: str = "d"
        held: Any = None

        def _run(self, query: str) -> str:
            return query

    class Model(GenericFakeChatModel):
        held: Any = None

    def node_with(held):
        def node(state):
            return {"held": state["held"]}

        node.held = held
        return node

    database = Named("database")

    @tool
    def read(count: int, start: int = 3) -> Any:
        "d"
        return database

    graph = StateGraph(State).add_node("node", node_with(Named("of a node"))).add_edge(START, "node").compile()
    for _ in range(3):
        last = graph.invoke({"rows": [{"id": each} for each in range(500)], "held": Named("of the state")})
    search = Search(held=Named("of a tool"))
    search.invoke({"query": "x"})
    model = Model(messages=iter([AIMessage("hi")]), held=Named("of a model"))
    model.invoke("x")
    read.invoke({"count": 1})
"""


def assert_ends_alike(scene: Any, program: str, **record: Any) -> None:
    scene.write("helper.py", MODULE)
    scene.write("main.py", program)
    # An older LangGraph warns.
    code, said, warned = scene.run(None, "main.py").finish()
    assert code == 0 and said.count("end of") >= 5
    adapter = scene.adapter(record={**RECORD, "enabled": True, **record})
    ended = scene.run(adapter, "main.py").finish()
    # In which order the collector takes what is garbage together, no Python says.
    assert (ended[0], sorted(ended[1].splitlines()), ended[2]) == (0, sorted(said.splitlines()), warned)


@pytest.mark.essential
def test_what_is_alive_at_the_end_is_finalised(scene: Any) -> None:
    assert_ends_alike(scene, FINALISED, functions=["@usercode"])


@pytest.mark.essential
@pytest.mark.frameworks
def test_what_an_agent_holds_is_finalised(scene: Any) -> None:
    assert_ends_alike(scene, AGENT)


@pytest.mark.essential
def test_a_class_that_was_recorded_goes() -> None:
    def make() -> tuple[Any, ...]:
        class Base:
            __slots__ = ("left",)

        class Local(Base):
            def __init__(self) -> None:
                self.left = 1
                self.right = 2

        value = Local()
        encoded = Settings().encode(value)
        assert encoded[3] == {"left": 1, "right": 2} and Settings().encode(value) == encoded
        assert Base in _static.bases_of(Local) and list(_static.bases_of(Local)) == [Local, Base, object]
        return weakref.ref(Local), weakref.ref(Base)

    classes = make()
    gc.collect()
    assert [each() for each in classes] == [None, None]


@pytest.mark.essential
def test_a_class_that_was_changed_is_read_as_it_is_now() -> None:
    class First:
        __slots__ = ("left",)

    class Second:
        pass

    class Local(First, Second):
        pass

    def fields(value: Any) -> Any:
        return Settings().encode(value)[3]

    value = Local()
    value.left, value.right = 1, 2
    assert fields(value) == {"left": 1, "right": 2}
    Local.__bases__ = (Second, First)
    assert fields(value) == {"left": 1, "right": 2}
    again = Local()
    again.right = 3
    assert fields(again) == {"right": 3}

    def asked(_: Any) -> Any:
        raise AssertionError("it was asked")

    First.left = property(asked)
    assert fields(value) == {"right": 2}


@pytest.mark.essential
def test_a_module_that_has_something_else_by_the_name_of_a_class_is_not_asked() -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            raise AssertionError("it was asked")

        __hash__ = type.__hash__

    class Other(metaclass=Meta):
        pass

    Lost = type("Lost", (), {"__module__": __name__})
    globals()["Lost"] = Other()
    try:
        assert Settings().encode(Lost())[1] == "object"
    finally:
        del globals()["Lost"]
