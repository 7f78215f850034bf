"""Whatever goes in: what comes out is plain, fits the budget, and equals what was there unless it carries a mark."""

from __future__ import annotations

import marshal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spool_reader import has_mark, is_plain
from toolbreak import _walk
from toolbreak._inspect import diff
from toolbreak._values import Settings

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary()
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda part: st.tuples(part, part) | st.frozensets(part, max_size=3),
    max_leaves=5,
)


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


values = st.recursive(
    leaves | st.sets(hashable, max_size=4),
    lambda part: (
        st.lists(part, max_size=6)
        | st.dictionaries(hashable, part, max_size=6)
        | st.tuples(part, part)
        | st.builds(tuple, st.lists(part, max_size=4))
    ),
    max_leaves=40,
)
with_objects = st.recursive(
    leaves | st.just(...) | st.builds(bytearray, st.binary()),
    lambda part: st.lists(part, max_size=5) | st.builds(Box, part) | st.dictionaries(st.text(), part, max_size=5),
    max_leaves=30,
)
quiet = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if type(one) is float or type(one) is complex:
        return repr(one) == repr(other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other))
    if type(one) is dict:
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one.items(), other.items()))
    return bool(one == other)


def unmarked(value: Any) -> bool:
    return not has_mark(value) and "***" not in repr(value)


@quiet
@given(values)
def test_plain_values_come_back(value: Any) -> None:
    encoded = Settings(seconds=60.0).encode(value)
    assert is_plain(encoded)
    back = marshal.loads(marshal.dumps(encoded, 2))
    if unmarked(encoded):
        assert same(back, value)


def restore(value: Any) -> Any:
    """Undoes the tags of `with_objects`."""
    if type(value) is tuple and value and value[0] is ...:
        if value[1] == "ellipsis":
            return ...
        if value[1] == "bytearray":
            return bytearray(value[2])
        assert value[1] == "object"
        return Box(restore(value[3]["value"]))
    if type(value) is list:
        return [restore(item) for item in value]
    if type(value) is dict:
        return {key: restore(item) for key, item in value.items()}
    return value


@quiet
@given(with_objects)
def test_objects_come_back(value: Any) -> None:
    encoded = Settings(seconds=60.0).encode(value)
    assert is_plain(encoded)
    if unmarked(encoded):
        assert same(flat(restore(marshal.loads(marshal.dumps(encoded, 2)))), flat(value))


def flat(value: Any) -> Any:
    if type(value) is Box:
        return ["box", flat(value.value)]
    if type(value) is list:
        return [flat(item) for item in value]
    if type(value) is dict:
        return {key: flat(item) for key, item in value.items()}
    return value


@quiet
@given(with_objects, st.integers(min_value=256, max_value=3000), st.integers(min_value=1, max_value=8))
def test_small_budgets_cut_with_marks(value: Any, most: int, depth: int) -> None:
    encoded = Settings(max_value_bytes=most, max_depth=depth, seconds=60.0).encode(value)
    assert is_plain(encoded)
    marshal.dumps(encoded, 2)
    if unmarked(encoded):
        assert same(flat(restore(encoded)), flat(value))


@quiet
@given(values)
def test_no_difference_between_a_value_and_itself(value: Any) -> None:
    copied = marshal.loads(marshal.dumps(Settings(seconds=60.0).encode(value), 2))
    if unmarked(copied):
        assert diff(value, copied) == []


announcing = st.sampled_from(
    ["--password", "-p", "x-api-key", "sk-abcdefghijklmnopqrstuvwx", "key", "api_key", "password: hunter2"]
)
alike = (
    st.lists(st.integers(), max_size=30)
    | st.lists(st.floats() | st.booleans() | st.none() | st.integers(-(2**40), 2**40), max_size=30)
    | st.lists(st.text() | announcing, max_size=30)
    | st.lists(st.text() | announcing | st.binary() | st.integers(), max_size=30)
    | st.dictionaries(st.text() | announcing, st.text() | st.integers() | announcing, max_size=30)
    | st.dictionaries(st.text() | st.integers(), leaves, max_size=30)
)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(alike, max_size=3))
def test_many_looked_at_together_are_as_one_by_one(value: Any) -> None:
    found: list[Any] = []
    chunk = _walk._CHUNK
    try:
        for _walk._CHUNK in (3, 5, 1 << 30):
            found.append(Settings(seconds=60.0).bounded(value))
    finally:
        _walk._CHUNK = chunk
    assert same(found[0], found[2]) and same(found[1], found[2])
