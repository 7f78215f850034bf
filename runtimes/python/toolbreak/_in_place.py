"""Other constants for code that runs already, such as a module's: what it defines from now on has its guards. They are written into its own tuple."""

from __future__ import annotations

import os
import threading
from typing import Any

from . import _report, _standard

#: Constants, and what is to stand in their place, in the order in which it was asked for.
_asked: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
_writing = threading.Lock()
#: What was replaced, and by what: both stay alive, so that the counts of references are not touched.
_kept: list[Any] = []


def _forked() -> None:
    """The thread that held it does not exist in the child."""
    global _writing
    _writing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def ask(target: tuple[Any, ...], source: tuple[Any, ...]) -> None:
    """Notes what is to be written; `write` does it."""
    # What is about to be something else is not what is seen there now.
    if any(a is not b for a, b in zip(source, target)) or any(each is target for each, _ in _asked):
        _asked.append((target, source))


def write() -> None:
    """Writes all that was asked for. Not for who holds a lock for which code waits that is being imported: this imports."""
    if _asked:
        _report.guard(_write_each)


def _write_each() -> None:
    try:
        ctypes = _standard.module("ctypes")
    except ImportError:  # A Python without it: what runs already stays as it is.
        _asked.clear()
        raise
    with _writing:
        while _asked:
            _report.guard(_put, ctypes, *_asked[0])
            # Until then others see that it is about to be replaced.
            del _asked[0]


def _put(ctypes: Any, target: tuple[Any, ...], source: tuple[Any, ...]) -> None:
    """Writes into a tuple that nobody but the code object owns. The layout is checked before anything is written."""
    start = id(target) + tuple.__basicsize__
    size = ctypes.sizeof(ctypes.c_void_p)
    slots = [ctypes.c_void_p.from_address(start + index * size) for index in range(len(target))]
    if any(slot.value != id(item) for slot, item in zip(slots, target)):
        raise RuntimeError("this Python lays out its constants in another way")
    _kept.append((tuple(target), source))
    for slot, old, new in zip(slots, target, source):
        if new is not old:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(new))
            slot.value = id(new)
