"""A thread that the app does not see: `threading` neither lists nor counts it, and what takes `threading` over, as gevent does, has no part in it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from . import _report
from ._real import Real

#: Those that run.
idents: set[int] = set()


class OwnThread:
    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._runs = Real.lock()
        self.ident: int | None = None

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
        if self._runs.acquire(timeout=seconds):
            self._runs.release()
