"""Arrays of numpy: their shape, type and beginning."""

from __future__ import annotations

import datetime
from typing import Any

import numpy
from toolbreak import _arrays
from toolbreak._values import Settings

settings = Settings()


class Order:
    pass


def encode(value: Any) -> Any:
    return settings.encode(value)


def test_numpy_times_keep_their_unit() -> None:
    assert encode(numpy.datetime64("2026-01-02T03:04:05.000000006"))[2:4] == (
        "numpy.datetime64",
        "2026-01-02T03:04:05.000000006",
    )
    assert encode(numpy.timedelta64(5, "M"))[3] == "5 months"
    times = encode(numpy.array(["2026-01-02", "NaT"], dtype="datetime64[ns]"))
    assert times[4:] == ("datetime64[ns]", ["2026-01-02T00:00:00.000000000", "NaT"])


def test_what_a_mask_hides_is_no_value() -> None:
    hidden = (..., "opaque", "numpy.ma.masked", "--", "the array's mask hides it")
    assert encode(numpy.ma.masked_array([1, 2, 3], mask=[False, True, False]))[5] == [1, hidden, 3]
    assert encode(numpy.ma.masked_array([1, 2]))[5] == [1, 2]
    assert encode(numpy.ma.masked_all((2,), dtype=[("a", "i4")]))[5] == [hidden, hidden]


def test_numpy() -> None:
    tag = encode({"a": numpy.arange(6).reshape(2, 3)})["a"]
    assert tag == (..., "array", "numpy.ndarray", (2, 3), "int64", [0, 1, 2, 3, 4, 5])
    assert encode(numpy.zeros(10**6))[3:5] == ((10**6,), "float64") and len(encode(numpy.zeros(10**6))[5]) == 100
    assert encode(numpy.float64(1.5)) == (..., "subclass", "numpy.float64", 1.5)
    assert encode([numpy.int32(3)]) == [(..., "subclass", "numpy.int32", 3)]
    assert encode(numpy.str_("sk-abcdefghijkl1234567890"))[3] == "***"
    assert encode(numpy.array([Order()], dtype=object))[5][0][1] == "object"
    assert encode(numpy.array(5))[3] == ()


class Index:
    """As much of an index of pandas as is read of it."""

    def __init__(self, items: list[Any], *names: Any) -> None:
        self._items = items
        self.names = names

    def tolist(self) -> list[Any]:
        return list(self._items)


class RangeIndex(Index):
    def __init__(self, start: int, stop: int) -> None:
        super().__init__(list(range(start, stop)), None)
        self.start, self.step = start, 1


def series(items: list[Any], index: Index) -> Any:
    words = {"__module__": "pandas.core.series", "head": lambda self, most: self, "tolist": lambda self: list(items)}
    words |= {"__len__": lambda self: len(items), "dtype": "int64", "index": index}
    return type("Series", (), words)()


def frame(columns: dict[Any, list[Any]], index: Index) -> Any:
    class Places:
        def __getitem__(self, place: Any) -> Any:
            return series(list(columns.values())[place[1]], index)

    words: dict[str, Any] = {"__module__": "pandas.core.frame", "head": lambda self, most: self, "iloc": Places()}
    rows = len(index.tolist())
    words |= {"shape": (rows, len(columns)), "dtypes": ["int64"], "columns": list(columns), "index": index}
    return type("DataFrame", (), words)()


def test_columns_are_called_as_they_are() -> None:
    class Zone(datetime.tzinfo):
        def utcoffset(self, when: datetime.datetime | None) -> datetime.timedelta:
            raise AssertionError("code of the app")

    day = datetime.date(2026, 1, 2)
    hour = datetime.datetime(2026, 1, 2, 3, tzinfo=Zone())
    keys = [object(), object()]
    columns: list[tuple[Any, list[int]]] = [(name, [3]) for name in ("n", 5, ("eu", 1), day, ("x", keys[0]), keys[1])]
    made = frame(dict(columns), RangeIndex(0, 1))
    assert list(encode(made)[5]) == ["n", 5, "('eu', 1)", "2026-01-02", 4, "5 (5)"]
    assert _arrays._title(hour, 7).startswith("2026-01-02T03:00:00 [")


def test_what_names_the_rows_of_a_table_is_a_column_in_front_of_the_others() -> None:
    named = frame({"n": [3, 3]}, Index(["a", "b"], "k"))
    assert encode(named) == (..., "array", "pandas.DataFrame", (2, 1), "int64", {"(index k)": ["a", "b"], "n": [3, 3]})
    several = frame({"n": [3]}, Index([("a", 1)], "k", "year"))
    assert encode(several)[5] == {"(index k, year)": [("a", 1)], "n": [3]}
    assert encode(frame({"n": [3]}, Index(["a"], "f(x)")))[5] == {"(index)": ["a"], "n": [3]}
    assert encode(frame({"n": [3, 4]}, RangeIndex(5, 7)))[5] == {"(index)": [5, 6], "n": [3, 4]}
    assert encode(frame({"(index)": [3, 4]}, RangeIndex(0, 2)))[5] == {"(index) (0)": [3, 4]}
    assert encode(series([3, 4], RangeIndex(0, 2)))[5] == [3, 4]
    assert encode(series([3, 4], Index(["x", "y"], None)))[5] == {"(index)": ["x", "y"], "(values)": [3, 4]}
