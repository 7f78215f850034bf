"""A thread that the app does not see: `threading` neither lists nor counts it, and what takes `threading` over, as gevent does, has no part in it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from . import _report, _standard
from ._real import Real, is_main_thread

#: Those that run.
idents: set[int] = set()
#: What `start_after_fork` has yet to call, each with the frame that called `os.fork`, and where it did; how the interpreter calls us back.
_due: list[tuple[Callable[[], None], FrameType, int]] = []
_callback: Any = None
_FOLDER = os.path.dirname(__file__) + os.sep


class OwnThread:
    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._runs = Real.lock()
        self.ident: int | None = None
        self._of_system: int | None = None

    def start(self) -> None:
        """Raises RuntimeError where the system has no room for one more."""
        self._runs.acquire()
        try:
            self.ident = Real.start_thread(self._run, ())
        except BaseException:
            self._runs.release()
            raise

    def _run(self) -> None:
        ident = self.ident = Real.thread_id()
        self._of_system = Real.native_thread_id()
        idents.add(ident)
        try:
            _report.guard(self._work)
        finally:
            # Code of the app that was looked at here may have asked which thread it runs in: `threading` knows it from then on.
            getattr(threading, "_active", {}).pop(ident, None)
            idents.discard(ident)
            self._runs.release()

    def is_alive(self) -> bool:
        return self._runs.locked()

    def join(self, seconds: float) -> None:
        """Until the system has no such thread any more, where it says so (Linux): `os.fork` counts those of the system."""
        until = Real.monotonic() + seconds
        if self._runs.acquire(timeout=seconds):
            self._runs.release()
            while self._is_in_system() and Real.monotonic() < until:
                Real.sleep(0.000_05)

    def _is_in_system(self) -> bool:
        try:
            Real.stat(f"/proc/self/task/{self._of_system}")
        except OSError:
            return False
        return True


def start_after_fork(start: Callable[[], None]) -> None:
    """
    Calls it in a process that has just forked: at once, or when `os.fork` has returned where that still counts the threads (3.13, and the first of
    3.14: https://github.com/python/cpython/issues/137109). A thread of the app that forks makes two without ours.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    if sys.version_info < (3, 13) or not is_main_thread() or frame is None:
        start()
        return
    _due.append((start, frame, frame.f_lasti))
    if not _call_back_soon():
        _start_all()


def _call_back_soon() -> bool:
    """Whether the main thread will call us when it goes on with Python code."""
    global _callback
    try:
        ctypes = _standard.module("ctypes")
        if _callback is None:
            _callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_called_back)
        return bool(ctypes.pythonapi.Py_AddPendingCall(_callback, None) == 0)
    except (ImportError, OSError, MemoryError) as error:  # No ctypes, or no memory for code that is made.
        _report.let_through(error)
        return False


def _called_back(_: object) -> int:
    _report.guard(_start_those_due, sys._getframe().f_back)
    return 0


def _start_those_due(running: FrameType | None) -> None:
    if not any(_is_forking(frame, place, running) for _, frame, place in _due) or not _call_back_soon():
        _start_all()


def _start_all() -> None:
    while _due:
        _report.guard(_due.pop()[0])


def _is_forking(frame: FrameType, place: int, running: FrameType | None) -> bool:
    """Whether what runs is a function that `os.fork` calls in its turn, ours or one of the app."""
    below = running
    while below is not None and below is not frame:
        below = below.f_back
    return below is not None and running is not frame and frame.f_lasti == place
