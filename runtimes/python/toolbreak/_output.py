"""Keeps the app's output writable when the debugger that reads it dies: a broken pipe would be an error the app never had."""

from __future__ import annotations

import os
from typing import Any

from . import _standard
from ._real import Real, file_of

#: Read ends of the named pipes that are the app's stdout and stderr, and which files they are. While one is open, writing cannot fail.
_kept: list[tuple[int, Any]] = []


def keep(paths: Any) -> None:
    """Opens the read ends of these pipes. They are never read while the debugger lives."""
    if _kept or not isinstance(paths, list):
        return
    for path in paths:
        file = Real.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        _kept.append((file, file_of(file)))


def let_go(*, only_full: bool = False) -> None:
    """Nobody reads any more: what is written goes nowhere. `only_full`: the reader may come back, so only where a writer would wait."""
    select = _standard.module("select")

    moved = False
    # Of an app that has closed all files these numbers are its own.
    _kept[:] = [(file, known) for file, known in _kept if file_of(file) == known]
    for kept, _ in _kept:
        for stream in (1, 2):
            try:
                is_ours = os.path.sameopenfile(kept, stream)
                if is_ours and only_full and select.select([], [stream], [], 0)[1]:
                    continue
                if is_ours:
                    nowhere = Real.open(os.devnull, os.O_WRONLY)
                    Real.dup2(nowhere, stream)
                    Real.close(nowhere)
                    moved = True
            except OSError:
                continue
    if only_full and not moved:
        return
    # A thread may wait in a write that began before.
    quiet = 0
    while _kept and quiet < 3:
        quiet += 1
        for kept, _ in _kept:
            try:
                while Real.read(kept, 1 << 16):
                    quiet = 0
            except OSError:
                pass
        Real.sleep(0.02)
    while _kept:
        Real.close(_kept.pop()[0])
