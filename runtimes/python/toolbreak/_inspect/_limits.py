"""A time limit for code of the app that runs because a person looked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _standard
from .._own_thread import OwnThread
from .._real import Real


class _Late(BaseException):
    """Raised in the thread that is late; no `except Exception` of the app catches it."""


def run_limited(work: Callable[[], Any], seconds: float) -> Any:
    """Runs it in this thread. Raises TimeoutError after `seconds`, as soon as the interpreter runs Python code again; code that waits
    inside the operating system is not reached."""
    try:
        ctypes = _standard.module("ctypes")

        raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    except (ImportError, AttributeError):
        return work()
    thread = ctypes.c_ulong(Real.thread_id())
    lock, runs = Real.lock(), Real.lock()
    done = raised = False

    def watch() -> None:
        nonlocal raised
        if not runs.acquire(timeout=seconds):
            with lock:
                if not done:
                    raised = True
                    raise_in(thread, ctypes.py_object(_Late))

    runs.acquire()
    OwnThread(watch).start()
    try:
        try:
            return work()
        finally:
            with lock:
                done = True
                runs.release()
                if raised:
                    # Not delivered yet, perhaps: then it must not strike later.
                    raise_in(thread, None)
    except _Late:
        raise TimeoutError(f"took longer than {seconds:g} s") from None
