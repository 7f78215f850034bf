"""What the app writes through `sys.stdout` and `sys.stderr`, told while a command is recorded whose streams are nobody else's to read."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from . import _report

#: Who is told: the stream's name and the text. None: nobody.
tell: Callable[[str, str], None] | None = None


def watch(listener: Callable[[str, str], None]) -> None:
    """Streams that the app puts in place of these later are its own."""
    global tell
    tell = listener
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name, None)
        # In a forked child they are watched already.
        if type(stream) is io.TextIOWrapper and "write" not in vars(stream):
            stream.write = _told(stream.write, name)


def unwatch() -> None:
    global tell
    tell = None
    for name in ("__stdout__", "__stderr__", "stdout", "stderr"):
        stream = getattr(sys, name, None)
        if type(stream) is io.TextIOWrapper and getattr(vars(stream).get("write"), "__module__", "") == __name__:
            del stream.write


def _told(write: Callable[[str], int], name: str) -> Callable[[str], int]:
    def told(text: str, /) -> int:
        written = write(text)
        listener = tell
        if listener is not None and type(text) is str and text:
            _report.guard(listener, name, text)
        return written

    told.__name__ = told.__qualname__ = "write"
    return told
