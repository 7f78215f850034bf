"""Faults below Python: where the process was when one ended it, written by Python's own `faulthandler` into a file beside the spools.

Nothing of ours runs when it happens. Who reads it: `adapter/common/faults.ts`.
"""

from __future__ import annotations

import json
import os
from typing import Any

from . import _report, _standard
from ._real import Real, file_of

#: An app that closes all its files, as a daemon does, opens others under the lowest numbers: what is written must not land in one of them.
_HIGH = 900

#: The file that Python writes to: its descriptor, and which file that is.
_file: tuple[int, Any] | None = None
#: How long its first line is.
_head = 0


def watch(folder: str, process: str) -> None:
    """From now on a fault of this process is told in `<folder>/<process>.fault`. A fault handler that the app has already stays."""
    # On Windows it would tell of errors that are handled, too.
    if os.name != "posix":
        return
    faulthandler = _standard.module("faulthandler")

    if faulthandler.is_enabled() and _file is None:
        return
    try:
        _follow(os.path.join(folder, process + ".fault"))
    except OSError as error:
        # The recording goes on without. The spools tell of a full disk.
        _report.let_through(error)


def forked(folder: str, process: str) -> None:
    """In a forked child, which has a file of its own."""
    if _file is not None:
        watch(folder, process)


def survived() -> None:
    """The process comes to its end by itself: what is told so far was a signal that a handler of the app took, and ended nothing."""
    if _file is not None and file_of(_file[0]) == _file[1]:
        Real.ftruncate(_file[0], _head)


def _follow(path: str) -> None:
    global _file, _head
    faulthandler = _standard.module("faulthandler")
    fcntl = _standard.module("fcntl")

    made = Real.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        folders = {"own": os.path.dirname(__file__), "library": os.path.dirname(os.__file__)}
        _head = Real.write(made, json.dumps(folders).encode() + b"\n")
        if _file is not None and file_of(_file[0]) == _file[1]:
            # An app that has put its own handler there since keeps that.
            Real.dup2(made, _file[0], inheritable=False)
            high = _file[0]
        else:
            high = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, _lowest())
            faulthandler.enable(high, all_threads=False)
        _file = (high, file_of(high))
    finally:
        Real.close(made)


def _lowest() -> int:
    """A process that may open few files has no such high numbers."""
    most = os.sysconf("SC_OPEN_MAX")
    return _HIGH if most < 0 else min(_HIGH, most * 3 // 4)
