"""Objects are read, not asked."""

from __future__ import annotations

import argparse
import array
import builtins
import collections
import configparser
import dataclasses
import datetime
import decimal
import email.message
import enum
import fractions
import functools
import ipaddress
import marshal
import pathlib
import random
import socket
import subprocess
import sys
import threading
import types
import urllib.error
import uuid
from typing import Any, NamedTuple

import pytest
from spool_reader import is_plain
from toolbreak import _static
from toolbreak._values import Settings

pytestmark = pytest.mark.essential

settings = Settings()


def encode(value: Any) -> Any:
    encoded = settings.encode(value)
    assert is_plain(encoded), encoded
    return encoded


@dataclasses.dataclass
class Order:
    id: int
    total: float
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Slotted:
    __slots__ = ("left", "right")
    left: int
    right: Any


class Point(NamedTuple):
    x: int
    y: int


class Header(NamedTuple):
    header: str
    content: str


class Command(NamedTuple):
    first: str
    second: str
    third: str


class Login(NamedTuple):
    user: str
    password: str


class Colour(enum.Enum):
    RED = "r"


class Number(enum.IntEnum):
    ONE = 1


class Bag(dict):  # type: ignore[type-arg]
    pass


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def test_objects_are_type_and_fields() -> None:
    assert encode(Order(7, 2.5, ["a"])) == (..., "object", name_of(Order), {"id": 7, "total": 2.5, "tags": ["a"]}, None)
    assert encode(Slotted(1, Slotted(2, None)))[3]["right"][3] == {"left": 2, "right": None}
    assert encode(types.SimpleNamespace(a=1))[1:4] == ("object", "types.SimpleNamespace", {"a": 1})


def test_objects_in_cycles() -> None:
    first, second = types.SimpleNamespace(), types.SimpleNamespace()
    first.other, second.other = second, first
    assert "cycle" in repr(encode(first))
    assert "cycle" in repr(encode({"a": [first]}))


def test_named_tuples_have_their_names() -> None:
    assert encode(Point(1, 2)) == (..., "object", name_of(Point), {"x": 1, "y": 2}, None)
    assert encode(Login("ann", "x"))[3] == {"user": "ann", "password": (..., "masked", "password holds a secret")}

    class More(Point):
        pass

    more = More(1, 2)
    more.unit = "cm"  # pyright: ignore[reportAttributeAccessIssue]
    assert encode(more)[3] == {"x": 1, "y": 2, "unit": "cm"}

    assert encode(Header("Authorization", "hunter2hunter2"))[3]["content"][1] == "masked"
    assert encode(Command("app", "--password", "hunter2hunter2"))[3]["third"][1] == "masked"

    class Double(Point):
        @functools.cached_property
        def x(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
            return 100

    # What has the name of an item beside it keeps the items apart.
    double = Double(1, 2)
    assert double.x == 100
    assert encode(double)[3] == {"(value)": (1, 2), "x": 100}

    class Named(tuple[int, ...]):
        _fields = ("…", "b")

    assert encode(Named((1, 2)))[1::2] == ("subclass", (1, 2))

    class Odd(tuple[int, ...]):
        _fields = ("a", "b")

    # It says of itself what is not so.
    assert encode(Odd((1, 2, 3)))[1::2] == ("subclass", (1, 2, 3))
    assert encode({Point(1, 2): "here"})[3] == [[(..., "object", name_of(Point), {"x": 1, "y": 2}, None), "here"]]


def test_equal_sets_of_objects_have_equal_bytes() -> None:
    encoded = encode({Point(index, index * index) for index in range(-10, 10)})[3]
    assert encoded == sorted(encoded, key=lambda one: marshal.dumps(one, 2)) and len(encoded) == 20


def test_subclasses_of_builtins() -> None:
    assert encode(collections.OrderedDict(a=1)) == (..., "subclass", "collections.OrderedDict", {"a": 1})
    assert encode(collections.Counter("aab")) == (..., "subclass", "collections.Counter", {"a": 2, "b": 1})
    assert encode(collections.defaultdict(list, a=[1]))[3] == {"a": [1]}
    assert encode(collections.deque([1, 2])) == (..., "subclass", "collections.deque", [1, 2])
    for base, value in (
        (int, 7),
        (str, "text"),
        (float, 1.5),
        (bytes, b"b"),
        (list, [1]),
        (tuple, (1, 2)),
        (set, {1}),
        (frozenset, frozenset((1,))),
    ):
        made = type("Mine", (base,), {"__slots__": ()} if base not in (int, bytes, tuple) else {})(value)
        assert encode(made)[1] == "subclass" and encode(made)[3] == value, base
        assert type(encode(made)[3]) is base
    bag = Bag(a=1)
    bag.note = "n"
    assert encode(bag)[1:4] == ("object", name_of(Bag), {"(value)": {"a": 1}, "note": "n"})


def test_enums_and_times() -> None:
    assert encode(Colour.RED) == (..., "enum", name_of(Colour), "RED", "r")
    assert encode(Number.ONE) == (..., "enum", name_of(Number), "ONE", 1)
    utc = datetime.timezone.utc
    assert encode(datetime.datetime(2026, 1, 2, 3, 4, 5, 6, utc)) == (
        ...,
        "time",
        "datetime.datetime",
        "2026-01-02T03:04:05.000006+00:00",
    )
    assert encode(datetime.date(2026, 1, 2))[3] == "2026-01-02"
    assert encode(datetime.time(3, 4))[3] == "03:04:00"
    assert encode(datetime.timedelta(days=1, seconds=2, microseconds=500))[3] == "86402.0005"
    assert float(encode(datetime.timedelta(seconds=-1.5))[3]) == -1.5


def test_durations_are_exact() -> None:
    one = datetime.timedelta(microseconds=1)
    assert encode(-one)[3] == "-0.000001"
    assert encode(datetime.timedelta.min + one)[3] == "-86399999913599.999999"
    assert encode(datetime.timedelta.max)[3] == "86399999999999.999999"


def test_what_a_compiled_base_keeps_is_not_forgotten() -> None:
    price = type("Price", (decimal.Decimal,), {})("1.50")
    price.note = "n"
    assert encode(price)[3:] == ({"(value)": "1.50", "note": "n"}, None)
    dice = type("Dice", (random.Random,), {})(7)
    assert encode(dice)[1] == "object" and "keeps more" in encode(dice)[4]
    moment = type("Moment", (datetime.datetime,), {})(2026, 1, 2)
    moment.note = "n"
    assert encode(moment)[3] == {"(value)": "2026-01-02T00:00:00", "note": "n"}


def test_times_of_pandas_are_in_its_own_words() -> None:
    words = {"__module__": "pandas._libs.tslibs", "__str__": lambda self: "in nanoseconds"}
    assert encode(type("Timestamp", (datetime.datetime,), words)(2026, 1, 2))[1:] == (
        "time",
        "pandas._libs.tslibs.Timestamp",
        "in nanoseconds",
    )
    assert encode(type("Timedelta", (datetime.timedelta,), words)(1))[3] == "in nanoseconds"


def test_errors_about_huge_numbers_and_groups() -> None:
    assert encode(ValueError(1 << 100_000))[3] == "an integer of 100001 bits"
    group = getattr(builtins, "ExceptionGroup", None)
    if group is not None:
        assert encode(group("two", [ValueError("a"), KeyError("b")]))[3] == "two (2 sub-exceptions)"
        error = ValueError("innermost")
        for _ in range(30):
            error = group("around", [error, KeyError("beside")])
        # Members stand in it once, so that it does not double at each level.
        assert len(repr(encode(error))) < 20_000
        odd = group("odd", [ValueError("a")])
        odd.args = ("odd", [1])
        assert encode(odd)[6]["args"] == ("odd", [1])


def test_what_an_encoding_does_not_know_is_told_as_python_tells_it() -> None:
    class Sly(str):
        def __str__(self) -> str:
            raise AssertionError("asked")

    for work in (
        lambda: b"abc\xff".decode(),
        lambda: b"ab\xe4\xf6".decode("ascii", "strict"),
        lambda: "é\ud800".encode(),
    ):
        with pytest.raises(UnicodeError) as raised:
            work()
        assert encode(raised.value)[3] == str(raised.value)
    sly = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")
    sly.reason = Sly("no")
    assert encode(sly)[3] == "('utf-8', b'\\xff', 0, 1, 'no')"
    assert encode(UnicodeDecodeError.__new__(UnicodeDecodeError))[3] == ""


def test_time_zones_of_the_app_are_named_not_asked() -> None:
    class Zone(datetime.tzinfo):
        def utcoffset(self, when: Any) -> Any:
            raise AssertionError("asked")

        tzname = dst = utcoffset  # type: ignore[assignment]

    assert encode(datetime.datetime(2026, 1, 2, tzinfo=Zone()))[3] == f"2026-01-02T00:00:00 [{__name__}.Zone]"


def test_what_has_no_fields_says_what_it_is() -> None:
    def generator() -> Any:
        yield 1

    with socket.socket() as connection:
        cases = [
            (len, "function"),
            (encode, "function"),
            (encode.__get__(1), "method"),
            (threading.Lock(), "lock"),
            (threading.Thread(), "thread"),
            (connection, "socket"),
            (generator(), "generator"),
            (sys, "module"),
            (Order, "class"),
            (sys.stdout.buffer if hasattr(sys.stdout, "buffer") else open(__file__), "file"),
            (iter(zip([1])), "fields"),
            (memoryview(b"x"), "memory"),
            (object(), "fields"),
        ]
        for value, word in cases:
            tag = encode(value)
            assert tag[:2] == (..., "opaque"), value
            assert word in tag[4], tag
    assert encode(encode)[3] == f"{__name__}.encode"
    assert encode(uuid.UUID(int=7))[3] == "00000000-0000-0000-0000-000000000007"
    assert "1.50" in repr(encode(decimal.Decimal("1.50")))
    assert "a" in repr(encode(pathlib.PurePosixPath("/a/b")))
    texts = {
        "1/3": fractions.Fraction(1, 3),
        "10.0.0.7": ipaddress.ip_address("10.0.0.7"),
        "2001:db8::/32": ipaddress.ip_network("2001:db8::/32"),
        "fe80::1%eth0": ipaddress.ip_address("fe80::1%eth0"),
        "UTC+05:30": datetime.timezone(datetime.timedelta(hours=5, minutes=30)),
        "slice(1, None, -2)": slice(1, None, -2),
    }
    for text, value in texts.items():
        assert encode(value)[3:] == (text, None), value
    # Not in words of the app's own.
    assert encode(slice("a", Order))[:3] == (..., "object", "slice")
    assert encode(type("Half", (fractions.Fraction,), {"__str__": lambda self: "half"})(1, 2))[1] == "object"


def test_a_generator_is_not_moved() -> None:
    generator = (number for number in range(3))
    encode(generator)
    assert list(generator) == [0, 1, 2]


def test_errors_with_their_chain() -> None:
    def fail() -> None:
        try:
            {}["total"]  # noqa: B018
        except KeyError as cause:
            problem = ValueError("no total")
            problem.code = 7  # type: ignore[attr-defined]
            raise problem from cause

    with pytest.raises(ValueError) as caught:
        fail()
    tag = encode(caught.value)
    assert tag[:4] == (..., "error", "ValueError", "no total")
    assert tag[4][-1][0] == __file__ and tag[4][-1][2].endswith("fail")
    assert tag[5][:4] == (..., "error", "KeyError", "'total'")
    assert tag[6]["code"] == 7
    assert encode(FileNotFoundError(2, "No such file", "x"))[3] == "[Errno 2] No such file: 'x'"
    assert encode(Exception(1, "a"))[3] == "(1, 'a')"
    loop = ValueError("a")
    loop.__context__ = RuntimeError("b")
    loop.__context__.__context__ = loop
    assert "cycle" in repr(encode(loop))


def test_errors_that_keep_what_they_say_in_fields() -> None:
    class Word(str):
        def __str__(self) -> str:
            raise AssertionError("code of the app ran")

    refused = ConnectionRefusedError(111, "Connection refused")
    same: list[Any] = [
        urllib.error.HTTPError("http://x", 404, "Not Found", email.message.Message(), None),
        urllib.error.URLError("no host given"),
        urllib.error.URLError(refused),
        subprocess.CalledProcessError(3, "exit 3"),
        subprocess.CalledProcessError(-99, "odd"),
        subprocess.TimeoutExpired("sleep 2", 0.5),
        configparser.NoSectionError("a"),
        configparser.NoOptionError("b", "a"),
        argparse.ArgumentError(None, "msg"),
    ]
    for error in same:
        assert encode(error)[3] == str(error)
    # Options are for the arguments, where secrets among them are masked.
    assert (
        encode(subprocess.CalledProcessError(1, ["git", "push"]))[3]
        == "Command 'git …' returned non-zero exit status 1."
    )
    assert encode(subprocess.CalledProcessError(-9, ["true"]))[3] == "Command 'true' died with SIGKILL."
    for odd in (subprocess.CalledProcessError(1, Word("ls")), urllib.error.URLError(Word("x"))):
        assert "<" in encode(odd)[3]


def test_arrays_of_the_standard_library() -> None:
    assert encode(array.array("i", [1, 2])) == (..., "array", "array.array", (2,), "i", [1, 2])
    assert len(encode(array.array("b", bytes(100_000)))[5]) <= 100


def test_pydantic_models_and_messages() -> None:
    import pydantic

    class Args(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow")
        order_id: int
        key: pydantic.SecretStr = pydantic.SecretStr("hunter2")

    tag = encode(Args(order_id=7, more=8))
    assert tag[1] == "object" and tag[3]["order_id"] == 7 and tag[3]["more"] == 8
    assert "hunter2" not in repr(tag)
    with pytest.raises(pydantic.ValidationError) as caught:
        Args(order_id="abc")
    assert "order_id: Input should be a valid integer" in encode(caught.value)[3]

    from langchain_core import messages

    tag = encode(
        [
            messages.HumanMessage("please"),
            messages.AIMessage("", tool_calls=[{"name": "lookup", "args": {"id": 7}, "id": "1"}]),
        ]
    )
    assert tag[0][1:3] == ("object", "langchain_core.messages.human.HumanMessage") and tag[0][3]["content"] == "please"
    assert tag[1][3]["tool_calls"][0]["args"] == {"id": 7}


class Key:
    """A key whose hash is code of the app, which must not run."""

    asked = False

    def __hash__(self) -> int:
        if Key.asked:
            raise AssertionError("code of the app ran")
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other


class Ranked(collections.OrderedDict):  # type: ignore[type-arg]
    __slots__ = ("first", "second")


def moved(value: Any) -> Any:
    value.move_to_end(next(iter(value)))
    return value


@pytest.mark.parametrize("kind", [collections.OrderedDict, Ranked])
def test_an_ordered_dict_has_its_own_order(kind: Any) -> None:
    one = moved(kind(a=1, b=2, c=3))
    if kind is Ranked:
        one.first, one.second, one.more = "a", "b", ["b", "c", "a"]
    assert list(_static.pairs_of(one)) == [("b", 2), ("c", 3), ("a", 1)]
    plain = encode(one)[3]
    assert list(plain.get("(value)", plain)) == ["b", "c", "a"]
    keys = [Key(), Key(), Key()]
    other = moved(kind((key, place) for place, key in enumerate(keys)))
    Key.asked = True
    try:
        assert [item for _, item in _static.pairs_of(other)] == [1, 2, 0]
    finally:
        Key.asked = False
    assert _static.pairs_of(kind()) == []
    if kind is Ranked:
        two = kind(a=1, b=2)
        two.first, two.second = "b", "a"  # Where its keys could be.
        assert _static.pairs_of(two) == [("a", 1), ("b", 2)]
        two[5] = 3
        two.move_to_end("a")
        assert _static.pairs_of(two) == [("b", 2), (5, 3), ("a", 1)]
