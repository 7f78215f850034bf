"""A time limit for code of the app that runs because a person looked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .. import _standard


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
    thread = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    done = threading.Event()
    raised = False

    def watch() -> None:
        nonlocal raised
        if not done.wait(seconds):
            with lock:
                if not done.is_set():
                    raised = True
                    raise_in(thread, ctypes.py_object(_Late))

    threading.Thread(target=watch, name="toolbreak-limit", daemon=True).start()
    try:
        try:
            return work()
        finally:
            with lock:
                done.set()
                if raised:
                    # Not delivered yet, perhaps: then it must not strike later.
                    raise_in(thread, None)
    except _Late:
        raise TimeoutError(f"took longer than {seconds:g} s") from None
