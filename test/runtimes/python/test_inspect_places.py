"""From a value to where it is defined."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from typing import Any

import pytest
from test_inspect_looking import make, scope
from toolbreak._inspect import UserError

pytestmark = pytest.mark.essential

HERE = os.path.realpath(__file__)


def shout(function: Any) -> Any:
    @functools.wraps(function)
    def louder(*args: Any) -> Any:
        return function(*args)

    return louder


@shout
@shout
def wrapped() -> None: ...


@dataclasses.dataclass
class Order:
    id: int

    class Line:
        def total(self) -> int:
            return 1

    def pay(self) -> None: ...


def inner_class() -> type:
    class Inside(Order):
        pass

    return Inside


if not HERE:

    class Twice:
        def old(self) -> None: ...

else:

    class Twice:
        def new(self) -> None: ...


if not HERE:

    class Twice:  # type: ignore[no-redef]
        def third(self) -> None: ...


class Sly(type):
    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError(f"code of the app ran for {name}")


class Watched(metaclass=Sly):
    pass


def line_of(start: str, after: int = 0) -> int:
    with open(HERE) as handle:
        lines = handle.read().split("\n")
    return next(index + 1 for index, text in enumerate(lines) if index >= after and text.strip().startswith(start))


def shown_and_asked(value: Any) -> Any:
    inspector, _, _ = make({"value": value})
    [variable] = inspector.variables(scope(inspector, "Arguments"))
    return inspector.location(variable["location"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (shout, "def shout"),
        (wrapped, "def wrapped"),
        (Order, "class Order"),
        (Order(1).pay, "def pay"),
        (Order.Line, "class Line"),
        (Order.Line().total, "def total"),
        (inner_class(), "class Inside"),
        (Watched, "class Watched"),
    ],
    ids=["function", "decorated", "class", "method", "nested", "nested method", "local", "metaclass"],
)
def test_a_value_leads_to_its_definition(value: Any, text: str) -> None:
    assert shown_and_asked(value) == {"path": HERE, "line": line_of(text)}


def test_of_several_classes_with_one_name_the_living_one() -> None:
    assert shown_and_asked(Twice)["line"] == line_of("class Twice", line_of("else:"))


def test_what_is_shown_elsewhere_leads_there_too() -> None:
    inspector, _, _ = make({}, None, "after", result=Order)
    [result] = inspector.variables(scope(inspector, "Result"))
    assert inspector.location(result["location"])["line"] == line_of("class Order")
    answer = inspector.evaluate("dataclasses.dataclass", "watch", 3)
    assert inspector.location(answer["location"])["path"] == os.path.realpath(dataclasses.__file__)
    changes, _, _ = make({}, None, "after", changes={"tool": Order})
    [row] = changes.variables(scope(changes, "Changes"))
    assert row["ref"] == 0
    assert changes.location(row["location"])["line"] == line_of("class Order")


@pytest.mark.parametrize("value", [1, "text", [], Order(1), len, dict, int.bit_length, eval("lambda: 1"), sys])
def test_what_has_no_definition_offers_none(value: Any) -> None:
    inspector, _, _ = make({"value": value})
    [variable] = inspector.variables(scope(inspector, "Arguments"))
    assert "location" not in variable


def test_what_cannot_be_found_is_a_sentence() -> None:
    made = dataclasses.make_dataclass("Made", [])
    made.__module__ = __name__
    with pytest.raises(UserError, match="not defined by a class statement"):
        shown_and_asked(made)

    namespace: dict[str, Any] = {}
    exec(compile("def gone(): ...", os.path.join(os.sep, "no", "such.py"), "exec"), namespace)
    with pytest.raises(UserError, match="is not there: .*such.py"):
        shown_and_asked(namespace["gone"])

    inspector, _, _ = make({"value": 1})
    with pytest.raises(UserError, match="earlier stop"):
        inspector.location(12345)
    with pytest.raises(UserError, match="Only functions"):
        inspector.location(
            inspector.variables(scope(inspector, "Arguments"))[0]["ref"] or scope(inspector, "Arguments")
        )
