"""A pause before Python 3.12: the main thread traces itself until it stands at a line. Other threads stop at their next call.

The interpreter runs what is asked of it between two instructions of the main thread, and of no other one (`Py_AddPendingCall`).
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from . import _line_steps, _report, _standard
from ._real import is_main_thread

on = False
#: The frames that are traced for it.
frames: set[FrameType] = set()
#: What the interpreter calls, by its name: kept for good, since it may be run long after.
_callbacks: dict[str, Any] = {}
#: The instruction that the innermost frame ran last: `while True: pass` is one that jumps to itself, and no line of its own.
_last: tuple[FrameType, int] | None = None


def begin() -> None:
    global on
    if not on:
        on = True
        _ask(_trace)


def end() -> None:
    """In whatever thread."""
    global on, _last
    on = False
    _last = None
    for frame in list(frames):
        frame.f_trace_opcodes = any(_line_steps.HERE == step.frames.get(frame) for step in _line_steps.active)
    frames.clear()
    if not is_main_thread():
        _ask(_traces()._rest)


def is_here() -> bool:
    """Whether this thread traces for a pause."""
    return on and is_main_thread()


def begins(frame: FrameType) -> bool:
    """A function begins, or goes on: whether its lines are looked at."""
    if not is_here() or not _line_steps.is_mine(frame.f_code):
        return False
    frames.add(frame)
    return True


def is_stuck(frame: FrameType) -> bool:
    """An instruction is about to run: whether it is the one that ran last."""
    global _last
    before, _last = _last, (frame, frame.f_lasti)
    return frame in frames and before is not None and before[0] is frame and before[1] == frame.f_lasti


def _ask(work: Any) -> None:
    known = _callbacks.get(work.__name__)
    if known is None:
        try:
            ctypes = _standard.module("ctypes")
        except ImportError as error:  # A Python without it: the pause comes with the next call.
            _report.let_through(error)
            return

        def run(_: Any) -> int:
            _report.guard(work)
            return 0

        known = _callbacks[work.__name__] = (
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(run),
            ctypes.pythonapi.Py_AddPendingCall,
        )
    callback, add = known
    add(callback, None)


def _trace() -> None:
    """Runs in the main thread, wherever that is."""
    traces = _traces()
    if not on or not traces.is_free():
        return
    frame: FrameType | None = sys._getframe(1)
    innermost = True
    while frame is not None:
        if _line_steps.is_mine(frame.f_code):
            frames.add(frame)
            traces.look_from(frame)
            if innermost:
                frame.f_trace_opcodes = True
            innermost = False
        frame = frame.f_back
    sys.settrace(traces._call)


def _traces() -> Any:
    from . import _line_traces

    return _line_traces
