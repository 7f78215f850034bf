"""Modules of the standard library that are loaded only where they are needed: never a file of that name beside the program."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import _report

_NAMES = (
    *("array", "collections", "ctypes", "datetime", "faulthandler", "fcntl", "glob", "inspect", "json", "mmap", "opcode", "platform"),
    *("select", "signal"),
)  # fmt: skip
_kept: dict[str, Any] = {}


def module(name: str) -> Any:
    """One of `_NAMES`; ImportError where this Python does not have it."""
    found = _kept.get(name)
    return import_module(name) if found is None else found


def keep() -> None:
    """Loads all of them, while their names, and those of what they import, are still the standard library's."""
    for name in _NAMES:
        try:
            _kept[name] = import_module(name)
        except ImportError as error:
            _report.let_through(error)
