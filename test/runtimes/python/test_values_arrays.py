"""Arrays of numpy: their shape, type and beginning."""

from __future__ import annotations

from typing import Any

import numpy
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
