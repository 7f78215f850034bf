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


def test_numpy() -> None:
    tag = encode({"a": numpy.arange(6).reshape(2, 3)})["a"]
    assert tag == (..., "array", "numpy.ndarray", (2, 3), "int64", [0, 1, 2, 3, 4, 5])
    assert encode(numpy.zeros(10**6))[3:5] == ((10**6,), "float64") and len(encode(numpy.zeros(10**6))[5]) == 100
    assert encode(numpy.float64(1.5)) == (..., "subclass", "numpy.float64", 1.5)
    assert encode([numpy.int32(3)]) == [(..., "subclass", "numpy.int32", 3)]
    assert encode(numpy.str_("sk-abcdefghijkl1234567890"))[3] == "•••"
    assert encode(numpy.array([Order()], dtype=object))[5][0][1] == "object"
    assert encode(numpy.array(5))[3] == ()
