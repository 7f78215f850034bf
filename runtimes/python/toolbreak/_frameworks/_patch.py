"""Replaces a framework's function by ours, once, with its name and signature."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import _report

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MARK = "__toolbreak_original__"
#: What cannot be marked: compiled functions.
_made: list[Any] = []


def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> bool:
    """Sets `owner.name` to `make(original)`. False when there is nothing of that name; a second time does nothing."""
    original = owner.__dict__.get(name)
    if original is None:
        return False
    if hasattr(original, _MARK) or any(original is each for each in _made):
        return True
    if isinstance(original, (staticmethod, classmethod)):
        return False
    made = make(original)
    if isinstance(made, FunctionType):
        functools.update_wrapper(made, original)
        setattr(made, _MARK, original)
    else:
        _made.append(made)
    setattr(owner, name, made)
    return True


def need(found: bool, sentence: str) -> None:
    """Tells the person what does not work when a symbol is missing."""
    if not found:
        _report.say(sentence)


def prune(error: BaseException, and_last: bool = False) -> None:
    """
    Takes our own lines out of a traceback, below the one that is running, so that it reads as it would without us. `and_last`: also those where it was
    raised.
    """
    entry = error.__traceback__
    while entry is not None:
        below = entry.tb_next
        while below is not None and below.tb_frame.f_code.co_filename.startswith(_OURS):
            below = below.tb_next
        if below is None:
            if and_last and entry.tb_next is not None:
                entry.tb_next = None
            return
        if below is not entry.tb_next:
            entry.tb_next = below
        entry = below
