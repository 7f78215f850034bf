"""What the compiled part has to know of our classes before it takes the short ways of calls."""

from __future__ import annotations

from typing import Any

from . import _calls, _optional, _report
from ._call_types import Call, Function, PlainCall, ShortCall, Stopping, Task, let_go_of_arguments, nowhere
from ._real import Real

_calls_ready: bool | None = None
_functions_ready: bool | None = None


def calls_ready() -> bool:
    """Whether it knows what all of its short ways need."""
    global _calls_ready
    if _calls_ready is None:
        _calls_ready = _optional.prepare_calls is not None and bool(_report.guard(_prepare_calls))
    return _calls_ready


def ready(guard: type[Any]) -> bool:
    """Whether there is one for guarded functions, whose class is this."""
    global _functions_ready
    if _functions_ready is None:
        _functions_ready = calls_ready() and bool(_report.guard(_prepare_functions, guard))
    return _functions_ready


def _prepare_calls() -> bool:
    from . import _segments, _values, _writer

    classes = {
        "Task": Task,
        "Function": Function,
        "Segment": _segments.Segment,
        "Stopping": Stopping,
        "Writer": _writer.Writer,
        "Settings": _values.Settings,
    }
    return bool(_optional.prepare_calls(classes, vars(_calls), _calls.stopping, _calls._current, Real.monotonic_ns))


def _prepare_functions(guard: type[Any]) -> bool:
    classes = {"Call": Call, "ShortCall": ShortCall, "PlainCall": PlainCall, "Root": _calls._Root, "Guard": guard}
    return bool(_optional.prepare_functions(classes, _calls._roots, nowhere, _write))


def _write(call: Any) -> None:
    """Records the start of a call that has none yet: its file was full, or something takes a closer look."""
    try:
        writer = _calls.writer
        if writer is None:
            return
        writer.start(call)
        segment = getattr(writer.local, "segment", nowhere)
        if call.recorded:
            call.segment = segment
            if _calls.lets_go:
                let_go_of_arguments(call)
    except RecursionError:
        pass
    except BaseException as error:
        if _report.is_the_apps(error):
            raise
        _report.failure(error)
