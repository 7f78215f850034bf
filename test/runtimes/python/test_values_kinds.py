"""Whatever is made of whatever kinds, with cycles and shared parts and under any budget: what comes out is what was there, or says why it is not."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import marshal
from typing import Any, NamedTuple

import numpy
import pydantic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from langchain_core import messages
from spool_reader import is_plain
from toolbreak._values import Settings
from toolbreak._values import encode as encode_with
from value_oracle import disagreement

quiet = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@dataclasses.dataclass
class Order:
    id: Any
    lines: Any


@dataclasses.dataclass
class Slotted:
    __slots__ = ("left", "right")
    left: Any
    right: Any


class Point(NamedTuple):
    x: Any
    y: Any


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)
    id: Any
    more: Any = None


class Bag(dict):  # type: ignore[type-arg]
    pass


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Colour(enum.Enum):
    RED = "r"
    BLUE = (1, 2)


class Level(enum.IntEnum):
    LOW = 1


def failed(text: Any, cause: Any) -> BaseException:
    error = ValueError(text)
    if isinstance(cause, BaseException):
        error.__cause__ = cause
    return error


zones = st.none() | st.builds(
    lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes)), st.integers(-1439, 1439)
)
letters = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Cc", "Cs"]), max_size=20)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**300), max_value=2**300)
    | st.floats(allow_nan=True)
    | st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 5e-324])
    | st.complex_numbers(allow_nan=True)
    | letters
    | st.binary(max_size=30)
    | st.builds(bytearray, st.binary(max_size=10))
    | st.datetimes(timezones=zones)
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.uuids()
    | st.builds(range, st.integers(-5, 5), st.integers(-5, 50))
    | st.just(...)
    | st.sampled_from([Colour.RED, Colour.BLUE, Level.LOW])
    | st.builds(Text, letters)
    | st.builds(Number, st.integers())
    | st.sampled_from([len, print, object, Order, marshal, failed])
)
keys = st.none() | st.booleans() | st.integers() | letters | st.binary(max_size=5) | st.tuples(st.integers(), letters)


def made_of(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(part, max_size=5)
        | st.dictionaries(keys | st.sampled_from([Colour.RED, Level.LOW, Point(1, 2)]), part, max_size=5)
        | st.builds(tuple, st.lists(part, max_size=4))
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
        | st.builds(Order, part, part)
        | st.builds(Slotted, part, part)
        | st.builds(Point, part, part)
        | st.builds(lambda id, more, note: Model(id=id, more=more, note=note), part, part, part)
        | st.builds(Bag, st.dictionaries(letters, part, max_size=4))
        | st.builds(collections.deque, st.lists(part, max_size=4))
        | st.builds(collections.OrderedDict, st.dictionaries(letters, part, max_size=4))
        | st.builds(failed, letters, part)
        | st.builds(lambda text: messages.HumanMessage(text), letters)
    )


values = st.recursive(leaves, made_of, max_leaves=30)


def assert_agrees(encoded: Any, value: Any) -> None:
    assert is_plain(encoded)
    again = marshal.loads(marshal.dumps(encoded, 2))
    assert disagreement(again, value) is None, disagreement(again, value)


@quiet
@given(values)
def test_every_kind(value: Any) -> None:
    assert_agrees(Settings().encode(value), value)


@quiet
@given(values, st.integers(min_value=256, max_value=2000), st.integers(min_value=1, max_value=8))
def test_every_kind_in_little_room(value: Any, most: int, depth: int) -> None:
    assert_agrees(encode_with(value, Settings(max_value_bytes=most, max_depth=depth)), value)


@quiet
@given(st.data())
def test_cycles_and_shared_parts(data: st.DataObject) -> None:
    parts: list[Any] = data.draw(
        st.lists(
            st.sampled_from([list, dict, collections.deque, Bag]).map(lambda kind: kind())
            | st.builds(Order, st.none(), st.none()),
            min_size=1,
            max_size=6,
        )
    )
    links = st.tuples(st.integers(0, len(parts) - 1), st.integers(0, len(parts) - 1))
    for number, (of, to) in enumerate(data.draw(st.lists(links, max_size=12))):
        whole, part = parts[of], parts[to]
        if isinstance(whole, (list, collections.deque)):
            whole.append(part)
        elif isinstance(whole, dict):
            whole[f"k{number}"] = part
        else:
            whole.lines = part
    for value in (parts[0], parts):
        # Every level may lead to every part again: only a budget ends that.
        assert_agrees(encode_with(value, Settings(max_value_bytes=5000)), value)


@quiet
@given(st.integers(1, 400), st.integers(1, 300), st.sampled_from([list, tuple, dict, Order]))
def test_very_deep_and_very_wide(levels: int, width: int, kind: Any) -> None:
    value: Any = "end"
    for _ in range(levels):
        value = {"k": value} if kind is dict else Order(value, None) if kind is Order else kind((value,))
    for whole in (value, [value] * 3, {f"k{index}": index for index in range(width * 100)}, list(range(width * 100))):
        assert_agrees(encode_with(whole, Settings(max_value_bytes=20_000)), whole)


@quiet
@given(
    arrays.arrays(
        arrays.boolean_dtypes()
        | arrays.integer_dtypes()
        | arrays.floating_dtypes(sizes=(16, 32, 64))
        | arrays.complex_number_dtypes(sizes=(64, 128))
        | arrays.datetime64_dtypes()
        | arrays.timedelta64_dtypes()
        | arrays.unicode_string_dtypes(max_len=4)
        | arrays.byte_string_dtypes(max_len=4),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=8),
    )
)
def test_arrays(array: Any) -> None:
    tag = Settings().encode([array])[0]
    assert tag[:5] == (..., "array", "numpy.ndarray", array.shape, str(array.dtype))
    head = array.reshape(-1)[:100]
    expected = [str(item) for item in head] if array.dtype.kind in "mM" else head.tolist()
    assert repr(tag[5]) == repr(expected)
    for item in head[:3]:
        one = Settings().encode(item)
        text = one[3] if one[1] == "opaque" else repr(one[3])
        assert text == (str(item) if array.dtype.kind in "mM" else repr(numpy.generic.item(item)))
