"""Errors that nothing catches: held before the process or thread dies of them, with the calls they came through in view."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _boundaries, _calls, _errors, _guards, _report, _sources, _static, _steps, _stops
from ._call_types import Call, Function, Stop
from ._calls import real_path
from ._conditions import describe


def uncaught(error: BaseException) -> None:
    """Holds before the process (or thread) dies of `error`, with the calls it came through in view."""
    if (
        "uncaught" not in _stops.filters
        or not isinstance(error, Exception)
        or not _calls.attached
        or _calls.hold is None
    ):
        return
    call = _innermost_failed(error)
    if not _stops.filter_passes("uncaught", call):
        return
    call.boundary = "error"
    stop = Stop("error", "exception", text=describe(error), uncaught=True)
    _calls.hold(call, stop)
    _steps.update_special()


def _hold(error: BaseException) -> None:
    try:
        _report.guard(uncaught, error)
    except BaseException:
        pass  # Ctrl-C, or what a signal handler raised: it ends the hold. What the app dies of is the error.


#: Frameworks whose frames know which call failed in them; our own frames are not in a traceback.
failed_in: list[Callable[[Any], Call | None]] = []


def failed_call(frame: Any) -> Call | None:
    for ask in failed_in:
        found = _report.guard(ask, frame)
        if found is not None:
            return found
    return None


def _innermost_failed(error: BaseException) -> Call:
    """The calls are over; what the traceback's frames still hold tells them."""
    root = _calls.root_of_thread()
    above: Call | None = None
    tb = error.__traceback__
    while tb is not None:
        frame = tb.tb_frame
        code = frame.f_code
        call: Call | None = None
        guard = _guards.guard_for((real_path(code.co_filename), code.co_firstlineno, code.co_name))
        if guard is not None and not (
            above is not None
            and above.frame is None
            and above.function.path == guard.spot.path
            and above.function.name == code.co_name
        ):
            args = {
                name: frame.f_locals[name]
                for name in guard.names
                if name in frame.f_locals and name not in ("self", "cls")
            }
            call = Call(guard.function(), args, above, 0)
            call.frame = frame
        elif code.co_name in ("execute", "aexecute") and code.co_filename == _boundaries.__file__:
            call = frame.f_locals.get("call")
        else:
            call = failed_call(frame)
        if isinstance(call, Call):
            if call.task is None:
                call.task = above.task if above is not None else root.task
            call.owner = root
            call.error = error
            above = call
        tb = tb.tb_next
    if above is not None:
        return above
    path, line = _place(error)
    call = Call(
        Function(0, "function", _calls.process_name(), _calls.process_name(), "__main__", path, line, line),
        {},
        None,
        0,
    )
    call.task = root.task
    call.owner = root
    call.error = error
    return call


def _place(error: BaseException) -> tuple[str | None, int]:
    place: tuple[str | None, int] = (None, 0)
    tb = error.__traceback__
    while tb is not None:
        if _sources.is_user(tb.tb_frame.f_code.co_filename):
            place = (tb.tb_frame.f_code.co_filename, tb.tb_lineno)
        tb = tb.tb_next
    return place


def _prune(error: BaseException) -> None:
    """What the person reads has no lines of ours."""
    from ._frameworks._patch import prune

    seen: set[int] = set()
    left = [error]
    while left:
        one = left.pop()
        if id(one) not in seen:
            seen.add(id(one))
            # Ctrl-C may come while a hold is told: it is raised in our own lines then.
            prune(one, and_last=isinstance(one, KeyboardInterrupt))
            left.extend(each for each in (one.__cause__, one.__context__) if each is not None)


def record_end() -> None:
    """The error that ends the app is an event of its run, of none of its calls. Nothing is hooked for it: the interpreter keeps it until the exit handlers."""
    from . import _main

    error = _main.last_error()
    if _calls.writer is None or error is None or isinstance(error, KeyboardInterrupt):
        return
    _calls.event("crash", None, _told(error))


def _record_thread(args: Any) -> None:
    """It ends a thread and not the app: an event, and no crash."""
    error = args.exc_value
    if _calls.writer is None or error is None or isinstance(error, SystemExit):
        return
    name = None if args.thread is None else _static.read_field(args.thread, "_name")
    _calls.event("uncaught", None, {**_told(error), "thread": name if type(name) is str else ""})


def _told(error: BaseException) -> dict[str, Any]:
    from . import _main

    kind = _static.type_name(type(error))
    message = _errors.message_of(error, None, _errors.PlainText(_calls.writer.settings.masking))
    stack = _errors.stack_of(error)[::-1]
    path, line = _main.syntax_place(error)
    if path is not None and _main.is_of_import(error):
        stack.insert(0, (path, line, "<module>"))
    elif path is not None:
        message = f"{message} ({path}, line {line})"
    own = next((entry for entry in stack if _sources.is_user(entry[0])), stack[0] if stack else None)
    data: dict[str, Any] = {
        "text": f"{kind}: {message}" if message else kind,
        "type": kind,
        "message": message,
        "backtrace": [f"{name} @ {path}:{line}" for path, line, name in stack],
    }
    if own is not None:
        data.update(path=own[0], line=own[1], function=own[2])
    return data


#: Our hooks with those they stand in front of: (ours, previous).
_hook: tuple[Any, Any] | None = None
_thread_hook: tuple[Any, Any] | None = None
#: Errors are held, and not only recorded.
_holding = False
#: What this thread's hooks were asked about: the app may have put one of its own between two of ours.
_asked = threading.local()


def _look_at(error: BaseException) -> None:
    if getattr(_asked, "about", None) is error:
        return
    _asked.about = error
    try:
        _hold(error)
        _report.guard(_prune, error)
    finally:
        _asked.about = None


def watch() -> None:
    """Puts ourselves in front of the hooks that see an exception last."""
    global _hook, _holding
    _holding = True
    if _hook is None or sys.excepthook is not _hook[0]:
        previous = sys.excepthook

        def excepthook(kind: Any, value: BaseException, tb: Any) -> None:
            _look_at(value)
            previous(kind, value, tb)

        sys.excepthook = excepthook
        _hook = (excepthook, previous)
    watch_threads()


def watch_threads() -> None:
    """The same for threads alone: what ends one is recorded. The interpreter keeps nothing of it."""
    global _thread_hook
    if _thread_hook is None or threading.excepthook is not _thread_hook[0]:
        previous_thread = threading.excepthook

        def thread_hook(args: Any) -> None:
            error = args.exc_value
            if error is not None and getattr(_asked, "recorded", None) is error:
                previous_thread(args)
                return
            _asked.recorded = error
            try:
                _report.guard(_record_thread, args)
                if _holding and error is not None:
                    _look_at(error)
                previous_thread(args)
            finally:
                _asked.recorded = None

        threading.excepthook = thread_hook
        _thread_hook = (thread_hook, previous_thread)


def unwatch() -> None:
    """Takes our hooks away where nobody built on them; what is left of them passes on."""
    global _hook, _thread_hook, _holding
    _holding = False
    if _hook is not None and sys.excepthook is _hook[0]:
        sys.excepthook = _hook[1]
        _hook = None
    if _thread_hook is not None and threading.excepthook is _thread_hook[0]:
        threading.excepthook = _thread_hook[1]
        _thread_hook = None
