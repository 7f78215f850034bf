"""The short way of a guarded function's call: it is recorded, nothing stops it, and nothing about it is special.

`enter` is generated with the function's own parameters. Whatever is not plain goes the long way, `Guard.long_enter` and `Guard.long_exit`, which
does the same and more; what is done here has to be done there as well. What a signal handler raises in the middle of it leaves the call among those
that run, in `_live`, until `Guard.lost` has ended it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _calls, _report
from ._call_types import Call

if TYPE_CHECKING:
    from ._guard_state import Guard

_ENTER = """
def enter({parameters}):
    frame = get_frame(1)
    key = id(frame)
    back = get()
    if back is None:
        owner = getattr(roots, "root", None)
        if owner is None:
            return long(frame, ({values}))
    else:
        owner = back
        if back.frame is None and not is_plain(back, guard):
            return long(frame, ({values}))
    function = guard._function
    writer = calls.writer
    if (
        owner.busy or key in live or function is None
        or (function.before is not None and guard.wants({values})) or function.generation != stops.generation or stops.special or stops.stop_byte[0] or writer is None or not calls.attached
    ):
        return long(frame, ({values}))
    try:
        call = new(Call)
        call.number = number = next(calls._numbers)
        call.function = function
        call.args = args = {{{arguments}}}
        call.given = ({values})
        call.parent = call.back = back
        call.task = task = owner.task
        call.owner = owner
        call.frame = frame
        call.started_ns = now()
        owner.busy = [*(owner.busy or ()), call]
        task.calls += 1
        task.innermost = live[key] = call
        set(call)
        writer.start(call)
    except RecursionError:
        pass
    except BaseException as error:
        if is_the_apps(error):
            raise
        failure(error)
    return True
"""


def _is_plain(back: Call, guard: Guard) -> bool:
    """Whether a call inside `back`, which is a framework's call, is one of its own."""
    if back.quiet or back.ended:
        return False
    pending = back.pending
    if pending is None:
        return back.function.path != guard.spot.path
    return pending[1] != guard.spot.line and pending[1] != guard.spot.first


def make(guard: Guard) -> tuple[Callable[..., bool], Callable[[], bool]]:
    """`enter` and `exit` of one guard."""
    return _make_enter(guard), _make_exit(guard)


def _make_enter(guard: Guard) -> Callable[..., bool]:
    names = guard.names
    parameters = [f"_{index}" for index in range(len(names))]
    shown = list(zip(names, parameters))[1 if guard.is_method() else 0 :]
    scope: dict[str, Any] = {
        "Call": Call,
        "calls": _calls,
        "failure": _report.failure,
        "get": _calls._current.get,
        "get_frame": sys._getframe,
        "guard": guard,
        "is_plain": _is_plain,
        "is_the_apps": _report.is_the_apps,
        "live": guard._live,
        "long": guard.long_enter,
        "new": object.__new__,
        "now": time.monotonic_ns,
        "roots": _calls._roots,
        "set": _calls._current.set,
        "stops": _calls.stopping,
    }
    text = _ENTER.format(
        parameters=", ".join(parameters),
        values="".join(f"{name}, " for name in parameters),
        arguments=", ".join(f"{name!r}: {parameter}" for name, parameter in shown),
    )
    exec(compile(text, __file__, "exec"), scope)
    return scope["enter"]


def _make_exit(guard: Guard) -> Callable[[], bool]:
    live = guard._live
    find = live.get
    get = _calls._current.get
    set_current = _calls._current.set
    get_frame = sys._getframe
    calls, stops, long = _calls, _calls.stopping, guard.long_exit
    is_the_apps = _report.is_the_apps

    def exit() -> bool:
        try:
            frame = get_frame(1)
            key = id(frame)
            call = find(key)
            if call is None:
                return False
            function = call.function
            owner = call.owner
            task = call.task
            back = call.back
            writer = calls.writer
            if (
                call.raised is not None
                or get() is not call
                or function.after is not None
                or function.generation != stops.generation
                or stops.special
                or stops.stop_byte[0]
                or owner.busy != [call]
                or (task.calls == 1 and task.parent is not None)
                or (back is not None and back.ended)
                or call.adapter is not None
                or call.skipped
                or writer is None
            ):
                return long(frame)
        except RecursionError:
            # At the limit there is no room for us; the app's own error goes on alone.
            return False
        innermost = back if back is not None and back.task is task else None
        call.result = call.stashed
        call.ended = True
        owner.busy = None
        task.calls -= 1
        task.innermost = innermost
        try:
            set_current(back)
            writer.end(call, 0)
        except BaseException as error:
            if is_the_apps(error):
                raise  # `lost` does the rest.
            _report.failure(error)
        del live[key]
        call.stashed = call.frame = call.back = call.result = None
        call.given = ()
        call.args = {}
        return False

    return exit
