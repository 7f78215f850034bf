"""Whose code a line is: a person's, a framework's, or the interpreter's."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any

from .. import _call_types, _calls, _sources

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_library: tuple[str, ...] | None = None


def _library_roots() -> tuple[str, ...]:
    """Folders of installed code, as whole path prefixes: a person's folder may have any name."""
    global _library
    if _library is None:
        roots = {_OURS}
        for name in ("stdlib", "platstdlib", "purelib", "platlib"):
            path = sysconfig.get_paths().get(name)
            if path:
                roots |= {os.path.abspath(path) + os.sep, os.path.realpath(path) + os.sep}
        site = sys.modules.get("site")
        user = getattr(site, "USER_SITE", None)
        if user:
            roots |= {os.path.abspath(user) + os.sep, os.path.realpath(user) + os.sep}
        _library = tuple(roots)
    return _library


def is_user_file(path: str) -> bool:
    return not path.startswith("<") and not path.startswith(_library_roots())


def caller() -> tuple[str, int]:
    """The innermost line of a person's own code on this stack; ('', 0) where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if is_user_file(path):
            return path, frame.f_lineno
        frame = frame.f_back
    return "", 0


def code_of(target: Any) -> CodeType | None:
    """The code a person wrote behind a callable: through decorators, methods, partials and callable objects."""
    for _ in range(20):
        if target is None or isinstance(target, CodeType):
            return target
        own = getattr(target, "__dict__", None)
        inner = own.get("__wrapped__") if isinstance(own, dict) else None
        inner = (
            inner
            or getattr(target, "__func__", None)
            or getattr(target, "func", None)
            or getattr(target, "__code__", None)
        )
        if inner is None and not isinstance(target, type):
            inner = getattr(type(target), "__call__", None)
            if not hasattr(inner, "__code__"):
                return None
        target = inner
    return None


def last_line(code: CodeType) -> int:
    """The last line of a function, nested ones included."""
    last = code.co_firstlineno
    for _, _, line in code.co_lines():
        if line is not None and line > last:
            last = line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            last = max(last, last_line(constant))
    return last


def function_for(
    kind: str, target: Any, name: str, *, qualname: str = "", added: tuple[str, int] = ("", 0)
) -> _call_types.Function:
    """The function of a tool or node: the person's own code behind `target`, else the line where it was added, else what there is."""
    code = code_of(target)
    if code is not None and (is_user_file(code.co_filename) or not added[0]):
        path, line, end = code.co_filename, _sources.def_line(code), last_line(code)
    else:
        path, line = added
        end = line
    own = getattr(target, "__qualname__", "")
    return _calls.function(
        kind,
        name,
        qualname=qualname or (own if isinstance(own, str) and own else name),
        module=str(getattr(target, "__module__", "") or ""),
        path=path if path and not path.startswith("<") else None,
        line=line,
        end_line=end,
    )
