"""Breakpoints on paths of a state read fields, and run nothing of the app."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from toolbreak import _call_types, _stops
from toolbreak._breakpoints import Dot

pytestmark = pytest.mark.essential


class Evil:
    """Whatever runs code here is a failure of the test."""

    __slots__ = ("__dict__", "total")

    def __init__(self, total: Any, **fields: Any) -> None:
        self.total = total
        self.__dict__.update(fields)

    @property
    def computed(self) -> Any:
        raise SystemExit("a property was run")

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(f"__getattr__ was run for {name}")

    def __eq__(self, other: object) -> bool:
        raise SystemExit("__eq__ was run")

    __hash__ = None  # type: ignore[assignment]


class Table(dict):  # type: ignore[type-arg]
    def __getitem__(self, key: Any) -> Any:
        raise SystemExit("__getitem__ was run")

    def __missing__(self, key: Any) -> Any:
        raise SystemExit("__missing__ was run")


def written(path: str, before: Any, after: Any) -> Any:
    dot = Dot({"id": 1, "target": {"type": "data", "path": path}})
    assert not dot.problem
    call = _call_types.Call(_call_types.Function(1, "node", "n", "n", "", None, 0, 0), {}, None, 1)
    call.state_before, call.state, call.changes = before, after, dict(after)
    return _stops._written(dot, call)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("order.total", {"order": Evil(1)}, {"order": Evil(2)}),
        ("order.region", {"order": Evil(1, region="eu")}, {"order": Evil(1, region="us")}),
        ("order.inner.total", {"order": Evil(1, inner=Evil(1))}, {"order": Evil(1, inner=Evil(2))}),
        ("order.lines[1]", {"order": Evil(0, lines=[5, 1])}, {"order": Evil(0, lines=[5, 2])}),
        ("table.a", {"table": Table(a=1)}, {"table": Table(a=2)}),
    ],
)
def test_fields_are_read(path: str, before: Any, after: Any) -> None:
    assert operator.itemgetter("old", "value")(written(path, before, after)) in ((1, 2), ("eu", "us"))
    assert written(path, before, before) is None


def test_objects_are_compared_by_their_fields() -> None:
    before, after = {"order": Evil(0, inner=Evil(1))}, {"order": Evil(0, inner=Evil(1))}
    assert written("order.inner", before, after) is None
    after["order"].inner.total = 2
    assert written("order.inner", before, after) is not None


@pytest.mark.parametrize("path", ["order.computed", "order.nothing", "order.computed.deep", "table.gone", "order[0]"])
def test_what_only_code_could_answer_is_not_there(path: str) -> None:
    assert written(path, {"order": Evil(1), "table": Table(a=1)}, {"order": Evil(2), "table": Table(a=2)}) is None
