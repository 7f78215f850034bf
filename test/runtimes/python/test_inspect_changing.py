"""Expressions, completion and edits of a held call."""

from __future__ import annotations

import dataclasses
import sys
import types
from typing import Any

import pytest
import spool_reader  # noqa: F401  makes the runtime importable
from test_inspect_looking import FakeHold, Order, Point, make, scope
from toolbreak import _call_types
from toolbreak._inspect import Inspector, UserError

pytestmark = pytest.mark.essential

COUNTER = 1


def value(inspector: Any, expression: str, context: str = "watch", frame: int = 1) -> str:
    return inspector.evaluate(expression, context, frame)["value"]


class Schema(_call_types.CallAdapter):
    """Takes an integer for order_id, as a tool's own schema would."""

    def check_args(self, call: Any, name: str, value: Any) -> Any:
        if name == "order_id":
            try:
                return int(value)
            except (TypeError, ValueError):
                raise ValueError("order_id must be an integer (the tool's own schema said: not a number)") from None
        if name == "order" and value.id < 0:
            raise ValueError("order.id must not be negative")
        return value

    def check_state(self, call: Any, value: Any) -> Any:
        if value["verdict"] == "bad":
            raise ValueError("verdict must not be bad")
        return value

    def applied_state(self, call: Any, value: Any) -> None:
        call.applied = value


def test_evaluation() -> None:
    inspector, call, _ = make({"order_id": 7, "rows": [1, 2]}, {"messages": ["a"]}, result=5)
    assert value(inspector, 'args["order_id"] * 2') == "14"
    assert value(inspector, "[order_id + row for row in rows]") == "[8, 9]"
    assert value(inspector, 'state["messages"][-1]') == "'a'"
    assert value(inspector, "call.name") == "'lookup_order'"
    assert value(inspector, "COUNTER", frame=1) == "1" if call.function.module == __name__ else True
    made = inspector.evaluate("rows", "watch", 1)
    assert made["ref"] and made["evaluateName"] == "rows"


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("args['x']", "KeyError: 'x'"),
        ("1 +", "SyntaxError: "),
        ("1/0", "ZeroDivisionError: division by zero"),
        ("exit()", "SystemExit"),
        ("", "nothing to evaluate"),
        ("while_", "NameError"),
    ],
)
def test_failing_evaluation(expression: str, sentence: str) -> None:
    inspector, _, _ = make({"order_id": 7})
    with pytest.raises(UserError) as caught:
        inspector.evaluate(expression, "repl" if expression != "" else "watch", 1)
    assert sentence in str(caught.value)


def test_evaluation_has_a_time_limit() -> None:
    inspector, _, _ = make({"order_id": 7})
    with pytest.raises(UserError, match="took longer than 0.3 s"):
        inspector.evaluate("[0 for _ in iter(int, 1)]", "watch", 1)
    assert value(inspector, "order_id") == "7"


def test_statements_in_the_console() -> None:
    inspector, _, _ = make({"order_id": 7})
    assert value(inspector, "answer = order_id + 1", "repl") == ""
    assert value(inspector, "import json\njson.dumps([answer])", "repl") == "'[8]'"
    assert value(inspector, "answer") == "8"
    assert value(inspector, "def double(x):\n  return x * 2", "repl") == ""
    assert value(inspector, "double(answer)") == "16"


def test_assigning_an_argument_in_the_console_is_an_edit() -> None:
    inspector, call, hold = make({"order_id": 7}, adapter=Schema())
    inspector.evaluate("order_id = '70'", "repl", 1)
    assert call.args == {"order_id": 70} and call.edited
    inspector.evaluate('args["order_id"] = 71', "repl", 1)
    assert call.args == {"order_id": 71}
    with pytest.raises(UserError, match="must be an integer"):
        inspector.evaluate('args["order_id"] = "abc"', "repl", 1)
    assert call.args == {"order_id": 71}
    assert hold.lines == ["lookup_order: order_id 7 → 70 (edited)", "lookup_order: order_id 70 → 71 (edited)"]


class Costly:
    plain = 5

    def __init__(self) -> None:
        self.field = {"a": [1, 2]}

    @property
    def computed(self) -> Any:
        raise AssertionError("ran")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("ran")

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("ran")

    def __repr__(self) -> str:
        raise AssertionError("ran")


def test_hover_runs_nothing() -> None:
    inspector, _, _ = make({"o": Costly(), "order_id": 7}, {"list": [1, 2, 3]})
    assert value(inspector, "order_id", "hover") == "7"
    assert value(inspector, "o.field['a'][-1]", "hover") == "2"
    assert value(inspector, "o.plain", "hover") == "5"
    assert value(inspector, 'state["list"][0]', "hover") == "1"
    assert value(inspector, "o", "hover").startswith("Costly(")
    for expression in (
        "o.computed",
        "o.missing",
        "o['a']",
        "order_id + 1",
        "len(o)",
        "o.field[order_id]",
        "unknown",
        "x[",
        "o.field['zzz']",
    ):
        with pytest.raises(UserError):
            inspector.evaluate(expression, "hover", 1)


def labels(inspector: Any, text: str) -> list[str]:
    return [each["label"] for each in inspector.completions(text, len(text) + 1, 1)]


def test_completion() -> None:
    inspector, _, _ = make({"o": Costly(), "order_id": 7}, {"messages": [Order(1)], "verdict": ""})
    assert labels(inspector, "ord")[0] == "order_id"
    assert labels(inspector, 'state["') == ["messages", "verdict"]
    assert labels(inspector, "x = state['ver") == ["verdict"]
    assert labels(inspector, 'state["messages"][0].to') == ["total"]
    assert set(labels(inspector, "print(o.")) == {"field", "plain", "computed"}
    assert labels(inspector, "o.computed.x") == []
    assert inspector.completions("sta", 4, 1)[0] == {"label": "state", "type": "variable", "start": 0, "length": 3}


def test_editing_an_argument() -> None:
    inspector, call, hold = make({"order_id": 7}, adapter=Schema())
    ref = scope(inspector, "Arguments")
    changed = inspector.set_variable(ref, "order_id", "70", "c1")
    assert changed["value"] == "70" and call.args["order_id"] == 70 and call.edited
    assert hold.lines == ["lookup_order: order_id 7 → 70 (edited)"]
    for text, sentence in (
        ('"abc"', r"order_id must be an integer \(the tool's own schema said: "),
        ("7 +", "SyntaxError"),
        ("nope", "NameError"),
    ):
        with pytest.raises(UserError, match=sentence):
            inspector.set_variable(ref, "order_id", text, "c1")
        assert call.args["order_id"] == 70
    with pytest.raises(UserError, match="no longer there"):
        inspector.set_variable(ref, "other", "1", "c1")


def test_nested_edits_are_checked_and_taken_back() -> None:
    inspector, call, _ = make({"order": Order(7), "t": (1, [2], Point(1, 2))}, adapter=Schema())
    inspector.set_expression(1, "order.id", "8")
    assert call.args["order"].id == 8
    with pytest.raises(UserError, match="negative"):
        inspector.set_expression(1, "order.id", "-8")
    assert call.args["order"].id == 8
    inspector.set_expression(1, "t[1][0]", "5")
    inspector.set_expression(1, "args['t'][0]", "order.id")
    inspector.set_expression(1, "t[2].y", "9")
    assert call.args["t"] == (8, [5], Point(1, 9)) and type(call.args["t"][2]) is Point
    frozen = dataclasses.make_dataclass("Frozen", ["a"], frozen=True)
    call.args["f"] = frozen(1)
    with pytest.raises(UserError, match="FrozenInstanceError"):
        inspector.set_expression(1, "f.a", "2")
    for expression in ("order_id + 1", "f()", "missing", "order.nothing.x", "state"):
        with pytest.raises(UserError):
            inspector.set_expression(1, expression, "1")


def test_editing_state_and_result() -> None:
    inspector, call, hold = make({}, {"verdict": "", "n": [1]}, "after", result={"a": 1})
    outer = call.parent
    outer.adapter = Schema()
    inspector.set_expression(1, 'state["verdict"]', "'good'")
    assert outer.state["verdict"] == "good" and outer.applied is outer.state
    with pytest.raises(UserError, match="must not be bad"):
        inspector.set_expression(1, 'state["verdict"]', "'bad'")
    assert outer.state["verdict"] == "good"
    inspector.set_expression(1, "result['a']", "2")
    assert call.result == {"a": 2}
    result = inspector.set_variable(scope(inspector, "Result"), "result", "[1, 2]")
    assert call.result == [1, 2] and result["indexed"] == 2
    assert hold.lines[0] == "lookup_order: state.verdict '' → 'good' (edited)"
    assert hold.lines[-1] == "lookup_order: result {'a': 2} → [1, 2] (edited)"


def test_models_check_their_fields() -> None:
    import pydantic

    class Args(pydantic.BaseModel):
        count: int

    inspector, call, _ = make({"m": Args(count=1)})
    inspector.set_expression(1, "m.count", "'5'")
    assert call.args["m"].count == 5
    with pytest.raises(
        UserError, match=r"m.count must be an integer \(the tool's own schema said: Input should be a valid integer"
    ):
        inspector.set_expression(1, "m.count", "'abc'")
    assert call.args["m"].count == 5


def test_messages_in_the_state() -> None:
    from langchain_core import messages

    inspector, call, hold = make({}, {"messages": [messages.HumanMessage("a")]})
    inspector.set_expression(1, 'state["messages"][0].content', '"b"')
    assert call.parent.state["messages"][0].content == "b"
    assert hold.lines == ["lookup_order: state.messages[0].content 'a' → 'b' (edited)"]


def test_local_variables_of_a_source_frame() -> None:
    inspector, call, hold = make({})

    def function() -> int:
        import sys

        amount = 1
        hold.source = sys._getframe()
        inspector.set_expression(3, "amount", "5")
        return amount

    assert function() == 5
    assert value(inspector, "__name__", frame=3) == repr(__name__)


def test_rows_cannot_be_changed() -> None:
    inspector, _, _ = make({"s": {1}})
    with pytest.raises(UserError, match="cannot be changed"):
        inspector.set_variable(scope(inspector, "Call"), "kind", "1", "")
    members = inspector.variables(scope(inspector, "Arguments"))[0]["ref"]
    with pytest.raises(UserError, match="cannot be changed"):
        inspector.set_variable(members, "0", "1", "")


def test_without_a_hold_the_names_are_the_main_modules() -> None:
    module = types.ModuleType("some_main")
    module.state = "own"  # type: ignore[attr-defined]
    sys.modules["some_main"] = module
    try:
        call = _call_types.Call(
            _call_types.Function(3, "function", "app.py", "app.py", "some_main", None, 0, 0), {}, None, 0
        )
        inspector = Inspector(FakeHold(call, ""))
        assert inspector.evaluate("state", "repl")["value"] == "'own'"
        inspector.evaluate("count = 5", "repl")
        assert Inspector(FakeHold(call, "")).evaluate("count + 1", "repl")["value"] == "6"
    finally:
        del sys.modules["some_main"]
