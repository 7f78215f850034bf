"""A thread that the app does not see: `threading` neither lists nor counts it, and what takes `threading` over, as gevent does, has no part in it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _optional, _report
from ._real import Real, is_main_thread

#: Those that run.
idents: set[int] = set()
#: What is called before the process forks, and behind it in the parent.
_watchers: list[tuple[Callable[[], None], Callable[[], None]]] = []
#: What `start_after_fork` has yet to call.
_due: list[Callable[[], None]] = []
#: Has it called; None where nothing can.
_soon: Any = None


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


def _forget_others() -> None:
    """Behind a fork there is one thread: a later one of the app may get the number of one that we had."""
    idents.intersection_update({Real.thread_id()})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_others)


def watch_forks(before: Callable[[], None], after: Callable[[], None]) -> None:
    """Calls both at each fork, `after` in the parent."""
    global _soon
    _watchers.append((before, after))
    if len(_watchers) > 1 or not hasattr(os, "register_at_fork"):
        return
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork)
    if sys.version_info >= (3, 13) and _optional.call_soon is not None:
        _soon = _optional.call_soon(_start_those_due)
        if _soon is not None:
            # Compiled, and behind ours: what it asks for is not called before Python code of another one runs, mostly the app's own.
            os.register_at_fork(after_in_parent=_soon)


def start_after_fork(start: Callable[[], None]) -> None:
    """
    Called by an `after` of `watch_forks`: calls it at once, or when `os.fork` has returned where that still counts the threads (3.13, and the first
    of 3.14: https://github.com/python/cpython/issues/137109). A thread of the app that forks makes two without ours.
    """
    if _soon is None or not is_main_thread():
        start()
    else:
        _due.append(start)


def _before_fork() -> None:
    for before, _ in list(_watchers):
        _report.guard(before)


def _after_fork() -> None:
    for _, after in list(_watchers):
        _report.guard(after)


def _start_those_due() -> None:
    while _due:
        start = _due[-1]
        _report.guard(start)
        _due.pop()
