"""No code of the app runs while recording: objects whose every method counts its calls."""

from __future__ import annotations

import datetime
import enum
from typing import Any

import pytest
from spool_reader import is_plain
from toolbreak._values import Settings

pytestmark = pytest.mark.essential

calls: list[str] = []
NAMES = (
    "__repr__ __str__ __bytes__ __format__ __eq__ __ne__ __lt__ __hash__ __bool__ __len__ __iter__ __next__ __contains__ __getitem__ __setitem__ __delitem__"
    " __reversed__ __length_hint__ __missing__ __call__ __index__ __int__ __float__ __complex__ __add__ __sizeof__ __reduce__ __reduce_ex__ __getstate__"
    " __dir__ __copy__ __deepcopy__ __buffer__ __fspath__ __array__ __getattribute__ __getattr__ __instancecheck__ __subclasscheck__ to_dict dict keys items"
    " values get copy model_dump isoformat tolist head utcoffset"
).split()


def evil(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        raise RuntimeError(f"{name} ran")

    return method


def members(*without: str) -> dict[str, Any]:
    found: dict[str, Any] = {name: evil(name) for name in NAMES if name not in without}
    found["__dict__"] = property(evil("__dict__"))
    found["__class__"] = property(evil("__class__"))
    found["value"] = property(evil("value"))
    return found


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        calls.append(f"metaclass {name}")
        return super().__getattribute__(name)

    def __hash__(cls) -> int:
        calls.append("metaclass hash")
        return 1

    def __eq__(cls, other: object) -> bool:
        calls.append("metaclass eq")
        return cls is other

    def __instancecheck__(cls, value: Any) -> bool:
        calls.append("metaclass instancecheck")
        return False


class _Fields:
    """Gives the evil subclass an instance dict that can be filled."""

    hidden: Any


def make_objects() -> list[Any]:
    found: list[Any] = []
    kind = type("Evil", (_Fields,), members())
    value = object.__new__(kind)
    _Fields.__dict__["__dict__"].__get__(value)["field"] = 7
    found.append(value)
    for base, content in (
        (dict, {"a": 1}),
        (list, [1]),
        (tuple, (1, 2)),
        (set, {1}),
        (frozenset, {1}),
        (str, "abc"),
        (int, 5),
        (float, 1.5),
        (bytes, b"x"),
        (bytearray, b"y"),
    ):
        sub = type(f"Evil_{base.__name__}", (base,), members())
        made = base.__new__(sub, content) if base in (tuple, frozenset, str, int, float, bytes) else base.__new__(sub)
        if base in (dict, list, set, bytearray):
            base.__init__(made, content)
        found.append(made)
    error_kind = type("EvilError", (ValueError,), members())
    error = ValueError.__new__(error_kind, "message")
    found.append(error)
    found.append(datetime.datetime.__new__(type("EvilTime", (datetime.datetime,), members()), 2026, 1, 2))
    meta = Meta("EvilMeta", (), {"__slots__": ("left",)})
    found.append(object.__new__(meta))
    return found


@pytest.mark.parametrize("index", range(14))
def test_no_code_runs(index: int) -> None:
    value = make_objects()[index]
    for wrapped in (value, [value], {"a": value}, (value, value), {"state": {"messages": [value]}}):
        calls.clear()
        encoded = Settings().encode(wrapped)
        assert calls == []
        assert is_plain(encoded)


def test_no_code_runs_for_keys_and_members() -> None:
    class Key:
        def __init__(self) -> None:
            self.name = "k"

        def __hash__(self) -> int:
            calls.append("hash")
            return 1

        def __eq__(self, other: object) -> bool:
            calls.append("eq")
            return self is other

    for value in (
        {Key(): 1, "b": 2, Key(): 3},
        {Key(), 1},
        frozenset([Key()]),
        {(1, Key()): 2},
        {Key(): {Key(): Key()}},
    ):
        calls.clear()
        encoded = Settings().encode(value)
        assert calls == []
        assert is_plain(encoded)


def test_what_is_read_is_there_nevertheless() -> None:
    found = make_objects()
    encode = Settings().encode
    assert encode(found[0])[3] == {"field": 7}
    assert encode(found[1])[3] == {"a": 1}
    assert encode(found[2])[3] == [1]
    assert encode(found[6])[3] == "abc"
    assert encode(found[10])[:3] == (..., "bytearray", b"y")
    assert encode(found[11])[3] == "message"


def test_enum_with_code() -> None:
    class Evil(enum.Enum):
        A = 1

        def __repr__(self) -> str:
            raise AssertionError

        __str__ = __hash__ = __repr__  # type: ignore[assignment]

        @property
        def extra(self) -> int:
            raise AssertionError

    assert Settings().encode(Evil.A)[3:] == ("A", 1)


def test_descriptors_and_lazy_attributes() -> None:
    class Lazy:
        def __init__(self) -> None:
            self.ready = 1

        @property
        def costly(self) -> Any:
            raise AssertionError

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    assert Settings().encode(Lazy())[3] == {"ready": 1}
