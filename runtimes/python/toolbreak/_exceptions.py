"""What `exceptionInfo` shows of a held error."""

from __future__ import annotations

import traceback
from typing import Any

from . import _sources
from ._calls import Quiet


def describe(error: BaseException, uncaught: bool, depth: int = 0) -> dict[str, Any]:
    kind = type(error)
    module = kind.__module__
    with Quiet():
        try:
            message = str(error)
        except Exception as problem:
            message = f"<its text cannot be read: {type(problem).__name__}>"
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not _sources.is_ours(f.filename)]
        stack = "".join(traceback.format_list(frames))
    made: dict[str, Any] = {
        "type": kind.__name__,
        "fullType": kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}",
        "message": message,
        "stackTrace": stack,
        "uncaught": uncaught,
    }
    inner = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if inner is not None and depth < 10:
        made["inner"] = describe(inner, False, depth + 1)
    return made
