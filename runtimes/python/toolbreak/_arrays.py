"""Times, arrays and data frames. NumPy and pandas are only met, never imported: without them in `sys.modules` no value can be theirs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import _static

if TYPE_CHECKING:
    from ._walk import Walk

TAG = ...
_TABLE_ROWS = 20


def time_text(value: Any, shape: _static.Shape) -> str:
    """ISO text; seconds for a timedelta. The app's own time zones are named, not asked."""
    import datetime

    bases = shape.bases
    if datetime.timedelta in bases:
        get = datetime.timedelta.__dict__
        days, seconds, micros = (get[name].__get__(value) for name in ("days", "seconds", "microseconds"))
        total = days * 86400 + seconds
        return f"{total}.{micros:06d}".rstrip("0").rstrip(".") if total >= 0 else repr(total + micros / 1e6)
    if datetime.datetime in bases:
        read = datetime.datetime.__dict__
        zone = read["tzinfo"].__get__(value)
        names = ("year", "month", "day", "hour", "minute", "second", "microsecond")
        day = datetime.date.__dict__
        parts = [(read.get(name) or day[name]).__get__(value) for name in names]
        text = datetime.datetime.isoformat(datetime.datetime(*parts))
    elif datetime.time in bases:
        read = datetime.time.__dict__
        zone = read["tzinfo"].__get__(value)
        text = datetime.time.isoformat(
            datetime.time(*(read[name].__get__(value) for name in ("hour", "minute", "second", "microsecond")))
        )
    else:
        return datetime.date.isoformat(value)
    if zone is None:
        return text
    kind = type(zone)
    if kind is datetime.timezone or (
        _static.module_name(kind) == "zoneinfo" and _static.short_name(kind) == "ZoneInfo"
    ):
        try:
            method = datetime.datetime.isoformat if datetime.datetime in bases else datetime.time.isoformat
            return method(value)
        except Exception:
            return text
    return f"{text} [{_static.type_name(kind)}]"


def encode_array(walk: Walk, value: Any, shape: _static.Shape, head: int) -> Any:
    """The standard library's array.array."""
    import array

    length = array.array.__len__(value)
    code = array.array.__dict__["typecode"].__get__(value)
    items = array.array.tolist(array.array.__getitem__(value, slice(0, head)))
    return (TAG, "array", shape.name, (length,), code, walk.encode(items))


def encode_foreign(walk: Walk, value: Any, kind: type, shape: _static.Shape, head: int) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.ndarray" in shape.base_names:
        try:
            return _encode_ndarray(walk, value, shape, head, numpy)
        except Exception as error:
            return (TAG, "opaque", shape.name, "", f"the array could not be read ({type(error).__name__})")
    if numpy is not None and "numpy.generic" in shape.base_names:
        return _encode_scalar(walk, value, shape, numpy)
    if shape.name in ("pandas.core.frame.DataFrame", "pandas.DataFrame"):
        return _encode_frame(walk, value, "pandas.DataFrame")
    if shape.name in ("pandas.core.series.Series", "pandas.Series"):
        return _encode_series(walk, value)
    return None


def _encode_ndarray(walk: Walk, value: Any, shape: _static.Shape, head: int, numpy: Any) -> Any:
    own = numpy.ndarray.__dict__
    sizes = tuple(int(size) for size in own["shape"].__get__(value))
    dtype = own["dtype"].__get__(value)
    base = numpy.ndarray.view(value, numpy.ndarray)
    # `flat` reads the first elements only, also of an array that does not lie in one piece.
    items = base.flat[:head].tolist()
    return (TAG, "array", shape.name, sizes, str(dtype), walk.encode(items))


def _encode_scalar(walk: Walk, value: Any, shape: _static.Shape, numpy: Any) -> Any:
    try:
        item = numpy.generic.item(value)
    except Exception:
        item = None
    if type(item) is type(value):
        # Such as longdouble, which has no Python number: its text is exact.
        return (TAG, "opaque", shape.name, numpy.generic.__str__(value), None)
    return (TAG, "subclass", shape.name, walk.encode(item))


def _encode_frame(walk: Walk, value: Any, name: str) -> Any:
    """Only exact DataFrames come here; their methods are the library's."""
    try:
        rows, columns = value.shape
        first = value.head(_TABLE_ROWS)
        types = ", ".join(str(dtype) for dtype in list(value.dtypes)[:30])
        table = {
            column if type(column) is str else index: first.iloc[:, index].tolist()
            for index, column in enumerate(list(value.columns)[:50])
        }
        return (TAG, "array", name, (int(rows), int(columns)), types, walk.encode(table))
    except Exception as error:
        return (TAG, "opaque", name, "", f"the table could not be read ({type(error).__name__})")


def _encode_series(walk: Walk, value: Any) -> Any:
    try:
        return (
            TAG,
            "array",
            "pandas.Series",
            (len(value),),
            str(value.dtype),
            walk.encode(value.head(_TABLE_ROWS).tolist()),
        )
    except Exception as error:
        return (TAG, "opaque", "pandas.Series", "", f"the series could not be read ({type(error).__name__})")
