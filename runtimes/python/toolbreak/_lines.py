"""Breakpoints on lines inside functions, class bodies and modules: which lines are watched, and what happens when one is reached.

Python 3.12 and later report the lines of single code objects (`_line_events`); before, a call of ours is compiled in front of the line
(`_line_hooks`). Both come to `reached`, in the thread that is about to run the line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

from . import _boundaries, _calls, _guards, _line_places, _report, _sources, _steps
from ._breakpoints import Dot
from ._call_types import Call, Function, Stop
from ._calls import real_path
from ._conditions import describe
from ._real import thread_name

#: `_line_events` or `_line_hooks`; the session sets it.
backend: Any = None

#: The breakpoints in force: file, line, breakpoints there.
table: dict[str, dict[int, tuple[Dot, ...]]] = {}
#: Sends a log line to the person, and tells that states of breakpoints changed; as in `_stops`.
log: Callable[..., None] | None = None
states_changed: Callable[[], None] | None = None
#: Why lines of a file cannot be stopped: a sentence.
problems: dict[str, str] = {}
#: Files some of whose code was made from another text.
changed: set[str] = set()
#: Why no line can be stopped in this process: a sentence.
impossible = ""


# ---------------------------------------------------------------- which lines


def locate(dots: Iterable[Dot]) -> None:
    """Finds where the breakpoints belong that stand on no `def`."""
    for dot in dots:
        dot.place = None
        if dot.type == "source" and not dot.problem and dot.spot is None:
            try:
                dot.place = _line_places.place(_sources.file(dot.real), dot.target["line"])
            except (OSError, SyntaxError, ValueError, RecursionError) as error:
                _report.let_through(error)


def configure(dots: Iterable[Dot]) -> None:
    """Puts the table in force. Threads of the app go on meanwhile: none may see half of it."""
    global table
    made: dict[str, dict[int, tuple[Dot, ...]]] = {}
    for dot in dots:
        if dot.enabled and not dot.problem and dot.place is not None and dot.place.line:
            lines = made.setdefault(dot.real, {})
            lines[dot.place.line] = (*lines.get(dot.place.line, ()), dot)
    table = made
    install()


def wanted() -> dict[str, frozenset[int]]:
    """The watched lines of each file."""
    found = {path: set(lines) for path, lines in table.items()}
    return {path: frozenset(lines) for path, lines in found.items()}


def install() -> None:
    """Makes the interpreter report the watched lines, and no others."""
    if backend is not None:  # Without a session, where only calls are recorded, there are no lines to watch.
        backend.install(wanted())


def seen(code: CodeType) -> None:
    """Module code that is about to run, or that is about to be the code of a function."""
    if table:
        backend.seen(code)


def main_begins(frame: FrameType) -> None:
    if backend is not None:
        backend.main_begins(frame)


def main_ended() -> None:
    if backend is not None:
        backend.main_ended()


def went_on(frame: FrameType) -> None:
    """In this frame, or one that it called, a hold ended; the table may have changed meanwhile."""
    if backend is not None:
        _report.guard(backend.went_on, frame)


def drop() -> None:
    """Nothing stops any more."""
    global table
    table = {}
    if backend is not None:
        _report.guard(install)


def forked() -> None:
    """In a forked child: what the parent steps is the parent's."""
    _line_steps().forked()
    _steps.pauses().forked()
    if backend is not None:
        backend.forked()


def misses(path: str) -> bool:
    """Whether a file that has watched lines was loaded in a way that we did not see."""
    return path in table and not backend.is_watched(path)


def is_current(original: CodeType, path: str) -> bool:
    """Whether the file still says what this code was made from; else its lines are no lines of the code."""
    try:
        file = _sources.file(path)
        same = _line_places.of(file).codes.get((original.co_firstlineno, original.co_name), [])
        if any(_guards.same_code(one, original) for one in same) or file.modified < _guards.process_started():
            return True
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        _report.let_through(error)
    changed.add(path)
    return False


def refusal(dot: Dot) -> str:
    """Why a breakpoint on a line of a loaded file cannot stop; empty where it can."""
    if impossible:
        return impossible
    name = os.path.basename(dot.real)
    if dot.real in changed and not backend.is_watched(dot.real):
        return f"{name} changed since it was loaded; restart to stop on its lines."
    return ""


# ---------------------------------------------------------------- a line is reached


def reached(frame: FrameType, path: str, line: int) -> bool:
    """A watched line is about to run in this frame. Answers whether it was held; raises what ends a hold: Ctrl-C, and a cancel."""
    dots = table.get(path, {}).get(line)
    if not dots or not _calls.attached or _calls.hold is None:
        return False
    call = _calls.current()
    if call is not None and call.quiet:
        return False
    call = running(call)
    ids: list[int] = []
    seconds: float | None = None
    for dot in dots:
        if _hits(dot, call, frame, line):
            ids.append(dot.id)
            if dot.seconds is not None:
                seconds = dot.seconds if seconds is None else min(seconds, dot.seconds)
    if ids:
        hold(call, frame, line, "breakpoint", ids, seconds)
    return bool(ids)


def running(call: Call | None) -> Call | None:
    while call is not None and call.ended:
        call = call.parent
    return call


def _hits(dot: Dot, call: Call | None, frame: FrameType, line: int) -> bool:
    if dot.condition is not None:
        try:
            if not dot.condition.evaluate_in(frame, call):
                return False
        except (Exception, SystemExit) as error:
            _report.let_through(error)
            _condition_failed(dot, error, line)
            return False
    dot.hits += 1
    if dot.hits <= dot.ignore or (dot.hit is not None and not dot.hit(dot.hits)):
        return False
    if dot.log is None:
        return True
    text, recorded = dot.log.render_in(frame, call)
    _calls.event("log", call, {"text": recorded, "path": dot.real, "line": line})
    if log is not None:
        log("console", text, dot.real, line)
    return False


def _condition_failed(dot: Dot, error: BaseException, line: int) -> None:
    if dot.failed:
        return
    dot.failed = f"Condition failed once: {describe(error)}. The breakpoint did not stop."
    if log is not None:
        log("important", dot.failed, dot.real, line)
    if states_changed is not None:
        states_changed()


# ---------------------------------------------------------------- a hold


#: Stands for code that runs outside every call, or beside the one it was started in.
_BESIDE = Function(0, "function", "line", "line", "", None, 0, 0)


def hold(
    call: Call | None, frame: FrameType, line: int, reason: str, ids: list[int], seconds: float | None = None
) -> None:
    """Parks this thread in front of the line, until it is released."""
    assert _calls.hold is not None
    stop = Stop("line", reason, ids, seconds=seconds)
    stop.frame, stop.line, stop.path = frame, line, real_path(frame.f_code.co_filename)
    shown = _shown(call)
    _steps.stopped(shown.task, reason)
    _line_steps().ended_with(call, shown.task)
    if call is not None:
        # What other threads begin in this call meanwhile has a task of its own.
        call.busy = [*(call.busy or ()), shown]
    try:
        release = _calls.hold(shown, stop)
    finally:
        if call is not None and call.busy is not None:
            call.busy.remove(shown)
        if shown is not call and shown.task.parent is not None:
            _calls.leave_side_task(shown.task)
    if release.action == "cancel" and call is not None:
        raise _boundaries.cancelled(call)
    if release.step:
        _report.guard(_line_steps().begin, release.step, frame, call, shown.task, release.native)
    _steps.went_on(shown.task)


def _line_steps() -> Any:
    from . import _line_steps as steps

    return steps


def _shown(call: Call | None) -> Call:
    """The call that is held: the innermost one that runs here, where no other thread stands in it already."""
    if call is not None and call.task.hold is None and call.task.innermost is call:
        return call
    made = Call(_BESIDE, {}, call, 0)
    if call is None:
        root = _calls.root_of_thread()
        made.owner, made.task = root, root.task
    else:
        made.owner = call
        made.task = _calls.side_task(call.task, thread_name())
    return made
