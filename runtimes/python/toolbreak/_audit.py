"""Audit hooks of the app are told of what the app does, not of what is done to record it: one that is recorded itself would never come to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from . import _own_thread
from ._real import Real

_FOLDER = os.path.dirname(__file__) + os.sep
#: What we do all the time, and what only these do: they call nothing of the app.
_OF_OURS = (
    "sys._getframe",
    "sys._current_frames",
    "object.__getattr__",
    "builtins.id",
    "marshal.dumps",
    "marshal.loads",
)
#: What our thread does beside that, and beside what the import of a module does for it. Anything else that has no frame between may be the app's, as of a finalizer.
_OF_OUR_THREAD = ("import", "code.__new__", "object.__setattr__")
#: What asking raises itself. Nothing else is left out meanwhile, since a signal handler may run, and raise, in the middle of it.
_ASKED = ("sys._getframe", "object.__getattr__")
_IMPORTING = ("<frozen importlib", _FOLDER + "_imports.py")
_FILES = tuple(_FOLDER + name for name in ("_writer.py", "_spool.py", "_segments.py"))
#: Threads in which it is just asked whose an event is.
_asking: set[int] = set()
_get_frame = sys._getframe
_original: Any = sys.addaudithook


def install() -> None:
    """Those that are there already are told of all."""
    if sys.addaudithook is _original:
        sys.addaudithook = addaudithook


def addaudithook(hook: Callable[[str, tuple[Any, ...]], Any]) -> None:
    def told(event: str, args: tuple[Any, ...]) -> None:
        thread = Real.thread_id()
        if event in _ASKED and thread in _asking:
            return
        _asking.add(thread)
        is_own = thread in _own_thread.idents
        is_import = False
        try:
            frame = _get_frame(1)
            # What it imports, it does itself; code of the app that it looks at or evaluates is the app's.
            while is_own and frame.f_back is not None and frame.f_code.co_filename.startswith(_IMPORTING):
                frame = frame.f_back
                is_import = True
            file = frame.f_code.co_filename
        except ValueError:  # Nothing of Python's runs.
            file = ""
        finally:
            _asking.discard(thread)
        if file.startswith(_FOLDER):
            if event in _OF_OURS or file in _FILES:
                return
            if is_own and (is_import or event in _OF_OUR_THREAD):
                return
        hook(event, args)

    if hasattr(hook, "__cantrace__"):
        told.__cantrace__ = hook.__cantrace__  # type: ignore[attr-defined]
    _original(told)


addaudithook.__doc__, addaudithook.__module__ = _original.__doc__, _original.__module__
