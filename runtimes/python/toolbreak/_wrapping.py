"""`toolbreak.wrap`: by a guard in the function's own code where it has source, else by a wrapper with its signature."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from . import _boundaries, _calls, _guards, _report, _standard


def wrap(function: Any, name: str | None, kind: str) -> Any:
    target = _unwrapped(function)
    target = getattr(target, "__func__", target)
    if isinstance(target, FunctionType) and target.__name__ != "<lambda>":
        key = _guards.declare(target, kind, name)
        if key is not None and _guards.can_guard(key):
            if _calls.attached:
                _report.guard(_guards.guard_now, target)
            return function
    return _outside(function, name, kind)


def _unwrapped(function: Any) -> Any:
    """What decorators that say so stand around. Those that go round in a circle stand around nothing."""
    target = function
    for _ in range(1000):
        inner = getattr(target, "__wrapped__", None)
        if inner is None:
            return target
        target = inner
    return function


def _outside(function: Any, name: str | None, kind: str) -> Any:
    """For callables without source. One frame more; the price is named in the documentation."""
    if not callable(function):
        raise TypeError(f"{function!r} cannot be called")
    fn = _calls.function_of(kind, function, name=name or "")
    signature: Any = None
    is_async = False
    call: Any = function
    try:
        inspect = _standard.module("inspect")

        is_async = inspect.iscoroutinefunction(function)
        signature = inspect.signature(function)
    except (TypeError, ValueError, AttributeError, ImportError):  # A file of the app may have that module's name.
        pass

    def named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        if signature is None:
            return None
        try:
            return dict(signature.bind(*args, **kwargs).arguments)
        except TypeError:
            return None

    def again(given: dict[str, Any]) -> Any:
        assert signature is not None
        bound = signature.bind_partial()
        bound.arguments = given
        return function(*bound.args, **bound.kwargs)

    if is_async:

        @functools.wraps(function)
        async def awaiting(*args: Any, **kwargs: Any) -> Any:
            values = named(args, kwargs) if _calls.attached else None
            if values is None:
                return await call(*args, **kwargs)
            return await _boundaries.aexecute(fn, values, again)

        return awaiting

    @functools.wraps(function, [a for a in functools.WRAPPER_ASSIGNMENTS if hasattr(function, a)], [])
    def calling(*args: Any, **kwargs: Any) -> Any:
        if not _calls.attached:
            return function(*args, **kwargs)
        values = named(args, kwargs)
        if values is None:
            return _boundaries.execute(
                fn, {"args": args, "kwargs": kwargs}, lambda given: function(*given["args"], **given["kwargs"])
            )
        return _boundaries.execute(fn, values, again)

    return calling
