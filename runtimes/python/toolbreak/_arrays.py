"""Times, arrays and data frames. NumPy and pandas are only met, never imported: without them in `sys.modules` no value can be theirs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import _standard, _static

if TYPE_CHECKING:
    from ._walk import Walk

TAG = ...
_TABLE_ROWS = 20


def time_text(value: Any, shape: _static.Shape) -> str:
    """ISO text; seconds for a timedelta. The app's own time zones are named, not asked."""
    datetime = _standard.module("datetime")

    bases = shape.bases
    if shape.name.startswith("pandas."):
        # Nanoseconds, and "not a time", which looks like the year 1 from outside.
        return _pandas_time(value, shape, datetime)
    if datetime.timedelta in bases:
        get = datetime.timedelta.__dict__
        days, seconds, micros = (get[name].__get__(value) for name in ("days", "seconds", "microseconds"))
        # Whole numbers throughout: the longest ones have more digits than a float.
        total = (days * 86400 + seconds) * 1_000_000 + micros
        whole, rest = divmod(abs(total), 1_000_000)
        return f"{'-' if total < 0 else ''}{whole}" + (f".{rest:06d}".rstrip("0") if rest else "")
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
    if _is_standard_zone(kind, datetime):
        try:
            method = datetime.datetime.isoformat if datetime.datetime in bases else datetime.time.isoformat
            return method(value)
        except Exception:
            return text
    return f"{text} [{_static.type_name(kind)}]"


def _is_standard_zone(kind: type, datetime: Any) -> bool:
    return kind is datetime.timezone or (
        _static.module_name(kind) == "zoneinfo" and _static.short_name(kind) == "ZoneInfo"
    )


def _pandas_time(value: Any, shape: _static.Shape, datetime: Any) -> str:
    kind: Any = type(value)
    if datetime.datetime in shape.bases:
        zone = datetime.datetime.__dict__["tzinfo"].__get__(value)
        if zone is not None and not _is_standard_zone(type(zone), datetime):
            return f"[{_static.type_name(type(zone))}]"
    try:
        text = kind.__str__(value)
    except Exception:
        return ""
    return text if type(text) is str else ""


def encode_array(walk: Walk, value: Any, shape: _static.Shape, head: int) -> Any:
    """The standard library's array.array."""
    array = _standard.module("array")

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


def array_shape(value: Any, numpy: Any) -> tuple[tuple[int, ...], Any]:
    """Sizes and element type of an `ndarray`, read by the library's own code."""
    own = numpy.ndarray.__dict__
    return tuple(int(size) for size in own["shape"].__get__(value)), own["dtype"].__get__(value)


def _encode_ndarray(walk: Walk, value: Any, shape: _static.Shape, head: int, numpy: Any) -> Any:
    sizes, dtype = array_shape(value, numpy)
    base = numpy.ndarray.view(value, numpy.ndarray)
    # `flat` reads the first elements only, also of an array that does not lie in one piece.
    first = base.flat[:head]
    # Times have units that Python's own may not hold: their texts are exact.
    items = [str(item) for item in first] if dtype.kind in "mM" else first.tolist()
    encoded = walk.encode(items)
    hidden = _masked(value, shape, head, numpy)
    if hidden and type(encoded) is list:
        encoded = [
            (TAG, "opaque", "numpy.ma.masked", "--", "the array's mask hides it") if off else item
            for item, off in zip(encoded, hidden)
        ]
    return (TAG, "array", shape.name, sizes, str(dtype), encoded)


def _masked(value: Any, shape: _static.Shape, head: int, numpy: Any) -> list[bool]:
    """Which of the first elements a masked array says are not there; empty: none."""
    if "numpy.ma.core.MaskedArray" not in shape.base_names and "numpy.ma.MaskedArray" not in shape.base_names:
        return []
    mask = (shape.fields(value) or {}).get("_mask")
    if not _static.isinstance_static(mask, numpy.ndarray):
        return []
    # Of records each field has a mask of its own: one that is hidden hides the record.
    found = numpy.ndarray.view(mask, numpy.ndarray).flat[:head].tolist()
    return [any(each) if type(each) is tuple else bool(each) for each in found]


def scalar_item(value: Any, numpy: Any) -> Any:
    """A scalar of NumPy as Python's own value; MISSING where Python has none that says the same."""
    kind = numpy.generic
    if _static.isinstance_static(value, numpy.datetime64) or _static.isinstance_static(value, numpy.timedelta64):
        return _static.MISSING
    try:
        item = kind.item(value)
    except Exception:
        return _static.MISSING
    return _static.MISSING if type(item) is type(value) else item


def scalar_text(value: Any, numpy: Any) -> str:
    """`2026-01-02T03:04:05.000000006`, `5 nanoseconds`, or a longdouble's digits."""
    for base in (numpy.datetime64, numpy.timedelta64):
        if _static.isinstance_static(value, base):
            return base.__str__(value)
    return numpy.generic.__str__(value)


def _encode_scalar(walk: Walk, value: Any, shape: _static.Shape, numpy: Any) -> Any:
    item = scalar_item(value, numpy)
    if item is _static.MISSING:
        return (TAG, "opaque", shape.name, scalar_text(value, numpy), None)
    return (TAG, "subclass", shape.name, walk.encode(item))


def _index_of(first: Any) -> dict[str, Any]:
    """What names the rows, as a column in front of the others, `(index)` or `(index city, year)`; nothing where they are only counted from 0."""
    index = first.index
    names = [name for name in index.names if type(name) is str and not set("()") & set(name)]
    if type(index).__name__ == "RangeIndex" and (index.start, index.step, names) == (0, 1, []):
        return {}
    return {f"(index {', '.join(names)})" if names else "(index)": index.tolist()}


def _title(column: Any, index: int) -> Any:
    """What a column is called; its number where only code of the app could say."""
    kind = type(column)
    if kind is str or kind is int or kind is float:
        return column
    if kind is tuple and all(type(part) in (str, int, float) for part in column):
        return repr(column)
    shape = _static.shape_of(kind)
    is_time = {"datetime.date", "datetime.time", "datetime.timedelta"} & set(shape.base_names)
    return time_text(column, shape) if is_time else index


def _encode_frame(walk: Walk, value: Any, name: str) -> Any:
    """Only exact DataFrames come here; their methods are the library's."""
    try:
        rows, columns = value.shape
        first = value.head(_TABLE_ROWS)
        types = ", ".join(str(dtype) for dtype in list(value.dtypes)[:30])
        table: dict[Any, Any] = _index_of(first)
        for index, column in enumerate(list(value.columns)[:50]):
            title = _title(column, index)
            # Two columns may have one name, and none has that of the index.
            taken = title in table or (type(title) is str and title.startswith("(index"))
            table[f"{title} ({index})" if taken else title] = first.iloc[:, index].tolist()
        return (TAG, "array", name, (int(rows), int(columns)), types, walk.encode(table))
    except Exception as error:
        return (TAG, "opaque", name, "", f"the table could not be read ({type(error).__name__})")


def _encode_series(walk: Walk, value: Any) -> Any:
    try:
        first = value.head(_TABLE_ROWS)
        items = first.tolist()
        index = _index_of(first)
        shown = {**index, "(values)": items} if index else items
        return (TAG, "array", "pandas.Series", (len(value),), str(value.dtype), walk.encode(shown))
    except Exception as error:
        return (TAG, "opaque", "pandas.Series", "", f"the series could not be read ({type(error).__name__})")
