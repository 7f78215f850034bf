"""Says whether what was encoded is what was there, by walking both side by side: for tests only, and without any code of the runtime's."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import uuid
from collections.abc import Iterator, Sized
from typing import Any

PLAIN = (type(None), bool, int, float, complex, str, bytes)


def disagreement(encoded: Any, value: Any) -> str | None:
    """None where it is equal or marked everywhere; else where it is not, and how. A cycle may be unrolled for a turn before its mark."""
    try:
        _agree(encoded, value, [], "value")
    except AssertionError as error:
        return str(error)
    return None


def _agree(encoded: Any, value: Any, above: list[Any], where: str) -> None:
    kind = type(value)
    if type(encoded) is tuple and encoded[:1] == (...,):
        return _agree_tag(encoded, value, above, where)
    if kind in PLAIN:
        assert type(encoded) is kind and repr(encoded) == repr(value), f"{where}: {encoded!r:.80} for {value!r:.80}"
        return
    assert type(encoded) is kind, f"{where}: a {type(encoded).__name__} for a {kind.__name__}"
    below = [*above, value]
    if kind in (list, tuple):
        assert len(encoded) == len(value), f"{where}: {len(encoded)} of {len(value)}"
        for index, (one, other) in enumerate(zip(encoded, value)):
            _agree(one, other, below, f"{where}[{index}]")
    elif kind is dict:
        assert len(encoded) == len(value), f"{where}: {len(encoded)} of {len(value)}"
        # Both keep the order.
        for (key, one), (own, other) in zip(encoded.items(), value.items()):
            _agree(key, own, below, f"a key of {where}")
            _agree(one, other, below, f"{where}[{own!r:.40}]")
    elif kind in (set, frozenset):
        assert len(encoded) == len(value), f"{where}: {len(encoded)} of {len(value)}"
        _same_members(list(encoded), list(value), below, where)
    else:
        raise AssertionError(f"{where}: {kind.__name__} without a tag")


def _same_members(encoded: list[Any], members: list[Any], above: list[Any], where: str) -> None:
    """Each is one of the members, and no two are the same one: what is only a mark may be any of several."""
    taken: dict[int, int] = {}

    def find(one: int, tried: set[int]) -> bool:
        for other in range(len(members)):
            if other in tried or not _agrees(encoded[one], members[other], above, where):
                continue
            tried.add(other)
            if other not in taken or find(taken[other], tried):
                taken[other] = one
                return True
        return False

    for one in range(len(encoded)):
        assert find(one, set()), f"{where}: {encoded[one]!r:.80} is no member"


def _agrees(encoded: Any, value: Any, above: list[Any], where: str) -> bool:
    try:
        _agree(encoded, value, above, where)
    except AssertionError:
        return False
    return True


def _agree_tag(tag: tuple[Any, ...], value: Any, above: list[Any], where: str) -> None:
    what, kind = tag[1], type(value)
    below = [*above, value]
    if what == "cycle":
        assert above[-tag[2]] is value, f"{where} is not what is {tag[2]} levels above"
    elif what == "masked":
        assert type(tag[2]) is str and tag[2] != "", f"{where}: masked without a reason"
    elif what == "cut":
        assert type(tag[5]) is str and tag[5] != "", f"{where}: cut without a reason"
        _agree_head(tag, value, below, where)
    elif what == "opaque":
        if tag[4] is None:
            assert tag[3] == _text(value), f"{where}: {tag[3]!r} for {value!r:.80}"
        else:
            assert type(tag[4]) is str and tag[4] != "", f"{where}: not looked into, without a reason"
    elif what == "ellipsis":
        assert value is ..., f"{where}: an ellipsis for {value!r:.80}"
    elif what == "bytearray":
        assert kind is bytearray and tag[2] == bytes(value), f"{where}: another bytearray"
    elif what == "time":
        assert tag[3] == _text(value), f"{where}: {tag[3]} for {value!r}"
    elif what == "enum":
        assert isinstance(value, enum.Enum) and tag[3] == value.name, f"{where}: {tag[3]} for {value!r}"
        _agree(tag[4], value.value, below, f"{where}.value")
    elif what == "subclass":
        _agree_subclass(tag, value, below, where)
    elif what == "object":
        assert tag[2].rpartition(".")[2] == kind.__name__, f"{where}: {tag[2]} for a {kind.__name__}"
        _agree_fields(tag[3], _fields(value), below, where)
    elif what == "error":
        assert tag[2].rpartition(".")[2] == kind.__name__, f"{where}: {tag[2]} for a {kind.__name__}"
        cause = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        if cause is None:
            assert tag[5] is None, f"{where}: a cause out of nothing"
        else:
            _agree(tag[5], cause, below, f"the cause of {where}")
        is_context = cause is not None and value.__cause__ is None
        assert tag[7:] == ((True,) if is_context else ()), f"{where}: raised from it, or while it was handled?"
    else:
        raise AssertionError(f"{where}: unknown tag {what}")


def _agree_head(tag: tuple[Any, ...], value: Any, above: list[Any], where: str) -> None:
    head, length = tag[3], tag[4]
    if head is None:
        return
    there = len(value) if isinstance(value, Sized) else -1
    assert length == there, f"{where}: cut of {length}, where {there} were"
    if isinstance(value, (str, bytes)):
        assert value[: len(head)] == head, f"{where}: another beginning"
    elif isinstance(value, (list, tuple, collections.deque)):
        for index, (one, other) in enumerate(zip(head, value)):
            _agree(one, other, above, f"{where}[{index}]")
    elif type(head) is dict and isinstance(value, dict):
        # Small ones behind a large one are kept, too: in their order, but not each.
        rest = iter(value.items())
        for key, one in head.items():
            _agree_next(key, one, rest, above, where)


def _agree_next(key: Any, one: Any, rest: Iterator[tuple[Any, Any]], above: list[Any], where: str) -> None:
    for own, other in rest:
        if _agrees(key, own, above, f"a key of {where}"):
            return _agree(one, other, above, f"{where}[{own!r:.40}]")
    raise AssertionError(f"a key of {where}: {key!r:.80} is none of its own")


def _agree_subclass(tag: tuple[Any, ...], value: Any, above: list[Any], where: str) -> None:
    inside = tag[3]
    if type(inside) is tuple and inside[:2] == (..., "cut"):
        return _agree_tag(inside, value, above[:-1], where)
    if isinstance(value, dict):
        pairs = inside if type(inside) is list else list(inside.items())
        assert len(pairs) == len(value), f"{where}: {len(pairs)} of {len(value)}"
        for (key, one), (own, other) in zip(pairs, value.items()):
            _agree(key, own, above, f"a key of {where}")
            _agree(one, other, above, f"{where}[{own!r:.40}]")
    elif isinstance(value, (set, frozenset)):
        _same_members(list(inside), list(value), above, where)
    elif isinstance(value, (list, tuple, collections.deque)):
        assert len(inside) == len(value), f"{where}: {len(inside)} of {len(value)}"
        for index, (one, other) in enumerate(zip(inside, value)):
            _agree(one, other, above, f"{where}[{index}]")
    else:
        base = next(base for base in (int, float, complex, str, bytes) if isinstance(value, base))
        _agree(inside, base(value), above, where)


def _fields(value: Any) -> dict[str, Any]:
    slots = [name for base in reversed(type(value).__mro__) for name in getattr(base, "__slots__", ())]
    fields = {name: getattr(value, name) for name in slots if not name.startswith("__") and hasattr(value, name)}
    if isinstance(value, tuple):
        fields.update(zip(getattr(value, "_fields", ()), value))
    fields.update(getattr(value, "__dict__", {}))
    fields.update(getattr(value, "__pydantic_extra__", None) or {})
    return fields


def _agree_fields(encoded: dict[str, Any], fields: dict[str, Any], above: list[Any], where: str) -> None:
    rest = encoded.get("…")
    if rest is None:
        assert list(encoded) == list(fields), f"{where}: fields {list(encoded)} for {list(fields)}"
    else:
        assert rest[1] == "cut" and len(encoded) - 1 + rest[4] == len(fields), f"{where}: fields are missing"
    for name, one in encoded.items():
        if name != "…":
            _agree(one, fields[name], above, f"{where}.{name}")


def _text(value: Any) -> str:
    if isinstance(value, datetime.timedelta):
        micros = value // datetime.timedelta(microseconds=1)
        exact = decimal.Decimal(micros).scaleb(-6)
        text = f"{exact:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    assert isinstance(value, (decimal.Decimal, uuid.UUID, range)), f"nothing is said about {type(value).__name__}"
    return str(value)
