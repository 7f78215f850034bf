"""What a person sees of a held call."""

from __future__ import annotations

import dataclasses
import sys
import threading
from typing import Any, NamedTuple

import pytest
import spool_reader  # noqa: F401  makes the runtime importable
from toolbreak import _call_types
from toolbreak._inspect import Inspector, UserError, call_text, diff, one_line, read_path, short
from toolbreak._static import MISSING

pytestmark = pytest.mark.essential


@dataclasses.dataclass
class Order:
    id: int
    total: float = 0.0


class Point(NamedTuple):
    x: int
    y: int


class Loud:
    def __init__(self) -> None:
        self.x = 1

    def __repr__(self) -> str:
        return f"<loud {self.x}>"


class Raising(Loud):
    def __repr__(self) -> str:
        raise ValueError("no")


class Endless(Loud):
    def __repr__(self) -> str:
        while True:
            pass


class Recursive(Loud):
    def __repr__(self) -> str:
        return repr(self)


class FakeHold:
    """The part of a hold that the inspector needs."""

    def __init__(self, call: Any, boundary: str = "before") -> None:
        self.call = call
        self.boundary = boundary
        self.evaluation_seconds = 0.3
        self.lines: list[str] = []
        self.source = sys._getframe(1)

    def frame_of(self, frame: int) -> tuple[Any, Any]:
        calls = []
        call = self.call
        while call is not None:
            calls.append((call, None))
            call = call.parent
        calls.append((None, self.source))
        return dict(enumerate(calls, 1))[frame]

    def edited(self, call: Any, text: str, client: str) -> None:
        self.lines.append(text)


def make(
    args: dict[str, Any], state: Any = None, boundary: str = "before", **fields: Any
) -> tuple[Inspector, Any, FakeHold]:
    task = _call_types.Task(1, "main", None)
    outer = _call_types.Call(_call_types.Function(1, "node", "tools", "tools", __name__, __file__, 1, 2), {}, None, 41)
    outer.task = task
    outer.state = state
    call = _call_types.Call(
        _call_types.Function(2, "tool", "lookup_order", "lookup_order", __name__, __file__, 1, 2), args, outer, 42
    )
    call.task = task
    for name, value in fields.items():
        setattr(call, "state" if name == "own_state" else name, value)
    hold = FakeHold(call, boundary)
    return Inspector(hold), call, hold


def scope(inspector: Inspector, name: str, frame: int = 1) -> int:
    return {each["name"]: each["ref"] for each in inspector.scopes(frame)}[name]


def shown(inspector: Inspector, ref: int, **paging: Any) -> dict[str, str]:
    return {each["name"]: each["value"] for each in inspector.variables(ref, **paging)}


def test_scopes_of_a_tool_inside_a_node() -> None:
    inspector, _, _ = make({"order_id": 7}, {"verdict": ""})
    scopes = inspector.scopes(1)
    assert [each["name"] for each in scopes] == ["Arguments", "State", "Call"]
    assert scopes[0]["hint"] == "arguments" and not any(each["expensive"] for each in scopes)
    assert [each["name"] for each in inspector.scopes(2)] == ["State", "Call"]
    assert [each["name"] for each in inspector.scopes(3)] == ["Locals", "Globals"]
    inspector, _, _ = make({}, {"a": 1}, "after", state_before={"a": 0}, result=[1])
    assert [each["name"] for each in inspector.scopes(1)] == ["Arguments", "State", "Changes", "Result", "Call"]
    inspector, _, _ = make({}, None, "error", error=ValueError("no"))
    assert "Error" in [each["name"] for each in inspector.scopes(1)]


def test_scopes_of_a_module() -> None:
    """What a module defines are its locals and its globals: they are shown once, and can be changed."""
    inspector, _, hold = make({})
    names: dict[str, Any] = {"sys": sys, "K": 1}
    exec("frame = sys._getframe()", names)
    hold.source = names.pop("frame")
    (only,) = inspector.scopes(3)
    assert (only["name"], only["expensive"]) == ("Globals", False)
    assert shown(inspector, only["ref"])["K"] == "1"
    inspector.set_variable(only["ref"], "K", "2")
    assert names["K"] == 2


class Defaults(_call_types.CallAdapter):
    """A tool whose schema says what `region` is by itself."""

    def is_default(self, call: Any, name: str, value: Any) -> bool:
        return name == "region"


def test_arguments_with_types_and_names() -> None:
    inspector, _, _ = make({"order_id": 7, "region": "eu"}, adapter=Defaults())
    first, second = inspector.variables(scope(inspector, "Arguments"))
    assert (first["name"], first["value"], first["type"], first["evaluateName"]) == (
        "order_id",
        "7",
        "int",
        'args["order_id"]',
    )
    assert (second["value"], second["type"]) == ("'eu'", "str, default")
    assert first["editable"] and first["ref"] == 0


def test_references_are_stable() -> None:
    inspector, _, _ = make({"a": {"b": [1, 2]}})
    one = inspector.variables(scope(inspector, "Arguments"))[0]["ref"]
    assert one == inspector.variables(scope(inspector, "Arguments"))[0]["ref"]
    inside = inspector.variables(one)[0]["ref"]
    assert inside == inspector.variables(one)[0]["ref"] != one
    with pytest.raises(UserError, match="earlier stop"):
        inspector.variables(9999)


def test_children_and_paging() -> None:
    inspector, _, _ = make(
        {
            "rows": list(range(1000)),
            "named": {f"k{index}": index for index in range(300)},
            "o": Order(1),
            "p": Point(1, 2),
            "s": {5},
            "t": (1, [2]),
        }
    )
    found = {each["name"]: each for each in inspector.variables(scope(inspector, "Arguments"))}
    assert (found["rows"]["indexed"], found["rows"]["value"]) == (1000, "list (1000)")
    assert shown(inspector, found["rows"]["ref"], filter="indexed", start=500, count=2) == {
        "[500]": "500",
        "[501]": "501",
    }
    assert inspector.variables(found["rows"]["ref"], filter="named") == []
    assert found["named"]["named"] == 300
    assert shown(inspector, found["named"]["ref"], start=10, count=2) == {"k10": "10", "k11": "11"}
    assert found["o"]["value"] == "Order(id=1, total=0.0)"
    assert shown(inspector, found["o"]["ref"]) == {"id": "1", "total": "0.0"}
    assert shown(inspector, found["s"]["ref"]) == {"0": "5"}
    nested = inspector.variables(found["t"]["ref"])[1]
    assert nested["evaluateName"] == 'args["t"][1]'


def test_messages_on_one_line() -> None:
    from langchain_core import messages

    state = {
        "messages": [
            messages.HumanMessage("please refund order 7"),
            messages.AIMessage(
                "",
                tool_calls=[
                    {"name": "lookup_order", "args": {}, "id": "1"},
                    {"name": "check_stock", "args": {}, "id": "2"},
                ],
            ),
            messages.ToolMessage("found", tool_call_id="1"),
            {"role": "user", "content": "hi\nthere"},
            messages.ToolMessage("no", tool_call_id="1", name="refund", status="error", artifact=[1]),
            messages.HumanMessage(
                [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "file", "url": "http://x/y.pdf?z=/1"}]
            ),
            messages.AIMessage(
                [
                    {"type": "thinking", "thinking": "hmm"},
                    {"type": "text", "text": "foo"},
                    {"type": "text", "text": "bar"},
                    {"type": "tool_use", "id": "1", "name": "f", "input": {}},
                ],
                tool_calls=[{"name": "f", "args": {}, "id": "1"}],
                invalid_tool_calls=[{"name": "g", "args": "{bad", "id": "z", "error": "parse"}],
            ),
            messages.ChatMessage(role="developer", content="be brief"),
            messages.RemoveMessage(id="m1"),
            messages.RemoveMessage(id="__remove_all__"),
            messages.AIMessage("4", additional_kwargs={"reasoning_content": "2 + 2"}),
        ]
    }
    inspector, _, _ = make({}, state)
    listed = inspector.variables(scope(inspector, "State"))[0]
    assert listed["value"] == "list (11)"
    assert list(shown(inspector, listed["ref"]).values()) == [
        "human: please refund order 7",
        "ai: → lookup_order, check_stock",
        "tool: found",
        "user: hi there",
        "tool refund (error): no (with an artifact)",
        "human: [image] [file y.pdf]",
        "ai: [thinking] foobar → f, g (invalid)",
        "developer: be brief",
        "remove: message m1",
        "remove: all messages",
        "ai: [reasoning] 4",
    ]
    rows = inspector.variables(scope(inspector, "Messages"))
    assert rows[0]["evaluateName"] == 'state["messages"][0]' and rows[0]["ref"]


def test_changes() -> None:
    before = {"visits": ["start"], "verdict": "", "old": 1}
    after = {"visits": ["start", "agent"], "verdict": "scored"}
    inspector, _, _ = make({}, None, "after", own_state=after, state_before=before)
    assert shown(inspector, scope(inspector, "Changes")) == {
        "+ visits[1]": "'agent'",
        "~ verdict": "'' → 'scored'",
        "- old": "1",
    }


def test_result_error_and_call() -> None:
    inspector, _, _ = make({}, None, "after", result={"total": 2})
    result = inspector.variables(scope(inspector, "Result"))[0]
    assert (result["name"], result["value"], result["evaluateName"]) == ("result", "{'total': 2}", "result")
    assert shown(inspector, result["ref"]) == {"total": "2"}
    inspector, _, _ = make({}, None, "error", error=KeyError("total"))
    rows = shown(inspector, scope(inspector, "Error"))
    assert rows["type"] == "KeyError" and rows["message"] == "'total'"
    attributes = {
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "step": 2,
        "other": "x",
    }
    inspector, _, _ = make({}, attributes=attributes)
    rows = shown(inspector, scope(inspector, "Call"))
    assert [
        rows[name] for name in ("kind", "step", "task", "model", "tokens in", "tokens out", "other", "call id")
    ] == ["tool", "2", "main", "m-1", "12", "3", "x", "42"]


def test_the_objects_own_text_with_a_limit() -> None:
    inspector, _, _ = make({"a": Loud(), "b": Raising(), "c": Endless(), "d": Recursive(), "e": Loud()})
    ref = scope(inspector, "Arguments")
    for _ in range(2):
        found = shown(inspector, ref)
        assert found["a"] == "<loud 1>"
        assert found["b"] == "Raising(x=1) (its __repr__ raised ValueError: no)"
        assert found["c"].startswith("Endless(x=1) (its __repr__ ")
        if "RecursionError" in found["d"]:
            break
    assert "Recursive(x=1)" in found["d"]
    assert shown(inspector, ref)["e"] == "<loud 1>"


class Money(int):
    def __repr__(self) -> str:
        return "8"


def test_what_has_no_parts_shows_what_it_is() -> None:
    inspector, _, _ = make(
        {"a": Money(7), "b": 1 << 20_000, "c": (each for each in ()), "d": {1: "a", "1": "b", 1 << 20_000: "c"}}
    )
    ref = scope(inspector, "Arguments")
    found = shown(inspector, ref)
    assert found["a"] == "7 (its __repr__ says 8)"
    assert found["b"] == "an integer of 20001 bits"
    assert found["c"] == "<generator> (a generator; reading it would change it)"
    assert call_text("tool", {"b": 1 << 20_000}) == "tool(b=an integer of 20001 bits)"
    inside = inspector.variables(next(each["ref"] for each in inspector.variables(ref) if each["name"] == "d"))
    assert [(each["name"], each["value"]) for each in inside] == [
        ("1", "'a'"),
        ("'1'", "'b'"),
        ("an integer of 20001 bits", "'c'"),
    ]
    assert "evaluateName" not in inside[2]


def test_long_texts_are_cut_and_copied_whole() -> None:
    text = "x" * 100_000
    inspector, _, _ = make({"text": text, "o": Loud()})
    value = inspector.variables(scope(inspector, "Arguments"))[0]["value"]
    assert len(value) < 3000 and value.endswith("… (100000 characters)")
    assert inspector.evaluate('args["text"]', "clipboard", 1)["value"] == text
    assert inspector.evaluate("o", "clipboard", 1)["value"] == "<loud 1>"


def test_lines_and_frame_names() -> None:
    assert call_text("lookup_order", {"order_id": 7, "region": "eu"}) == "lookup_order(order_id=7, region='eu')"
    assert len(short("a" * 500)) <= 40 and "…" in short("a" * 500)
    assert one_line({"a": [1, {"b": None}]}) == "{'a': [1, {'b': None}]}"
    assert one_line([Order(1)]) == "[Order(id=1, total=0.0)]"
    assert one_line(threading.Lock()) == "<_thread.lock>"
    assert one_line(ValueError("x")) == "ValueError: x"


def test_where_a_variable_lies_in_the_state() -> None:
    inspector, _, _ = make({"order_id": 7}, {"messages": [{"role": "user", "content": "a"}], "verdict": ""})
    ref = scope(inspector, "State")
    messages = inspector.variables(ref)[0]["ref"]
    inspector.variables(messages)
    assert inspector.data_info(ref, "verdict")["path"] == "verdict"
    assert inspector.data_info(messages, "[0]")["path"] == "messages[0]"
    arguments = scope(inspector, "Arguments")
    inspector.variables(arguments)
    assert inspector.data_info(arguments, "order_id")["path"] == ""


def test_differences_and_paths() -> None:
    assert diff({"a": {"b": [1, 2, 3]}}, {"a": {"b": [1, 3]}}) == [("removed", "a.b[1]", 2, None)]
    assert diff({"o": Order(1)}, {"o": Order(2)}) == [("changed", "o.id", 1, 2)]
    assert diff([1], (1,)) == [("changed", "", [1], (1,))]
    assert diff({"x y": 1, 3: 2}, {"x y": 2, 3: 2}) == [("changed", "['x y']", 1, 2)]
    assert diff(float("nan"), float("nan")) == []
    loop: list[Any] = []
    loop.append(loop)
    other: list[Any] = []
    other.append(other)
    assert diff(loop, other) == []
    state = {"visits": [1, {"a b": Order(3)}]}
    assert read_path(state, 'visits[1]["a b"].id') == 3
    assert read_path(state, "visits[-2]") == 1
    assert read_path(state, "missing.deep") is MISSING
    with pytest.raises(ValueError):
        read_path(state, "visits[")


def test_exception_info() -> None:
    try:
        try:
            raise KeyError("a")
        except KeyError as cause:
            raise ValueError("b") from cause
    except ValueError as error:
        inspector, _, _ = make({}, None, "error", error=error)
    info = inspector.exception()
    assert (info["type"], info["message"], info["inner"]["type"]) == ("ValueError", "b", "KeyError")
    assert "test_inspect_looking.py" in info["stackTrace"]


def test_an_exception_says_what_it_was_raised_with() -> None:
    first = KeyError((1, "a"))
    error = ValueError("x <dict>", {"order": 7}, first)
    error.args = (*error.args, error)
    error.__context__ = first
    inspector, _, _ = make({}, None, "error", error=error)
    said = "('x <dict>', {'order': 7}, KeyError: <tuple>, ValueError: ('x <dict>', <dict>, <KeyError>, <ValueError>))"
    info = inspector.exception()
    assert (info["message"], info["inner"]["message"]) == (said, "(1, 'a')")
    rows = shown(inspector, scope(inspector, "Error"))
    assert rows["error"] == f"ValueError: {said}"
    error.context = 7  # type: ignore[attr-defined]
    parts = shown(inspector, inspector.variables(scope(inspector, "Error"))[2]["ref"])
    assert (parts["context"], parts["__context__"]) == ("7", "KeyError: (1, 'a')")
    syntax = SyntaxError("unexpected <tuple> here", ("f.py", 1, 2, "x"))
    inspector, _, _ = make({}, None, "error", error=syntax)
    assert inspector.exception()["message"] == "unexpected <tuple> here"
    inspector, _, _ = make({}, None, "error", error=error)
    rows = shown(inspector, scope(inspector, "Error"))
    assert rows["context"] == "KeyError: (1, 'a')" and "cause" not in rows


def test_a_namespace_of_a_frame() -> None:
    inspector, _, _ = make({})
    local = {each["name"] for each in inspector.variables(scope(inspector, "Locals", 3))}
    assert {"task", "outer"} <= local
    assert inspector.evaluate("pytest.__name__", "watch", 3)["value"] == "'pytest'"
