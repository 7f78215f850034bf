"""Lines of single code objects, as Python 3.12 and later report them (`sys.monitoring`). All other code runs as if we were not there."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from . import _calls, _guards, _line_pauses, _line_places, _line_steps, _lines, _report, _sources
from ._calls import real_path

#: Free ones first: a debugger, coverage, a profiler and an optimizer have their own by custom.
_IDS = (4, 3, 0, 5, 2, 1)
_NAME = "toolbreak"

_tool = -1
#: Watched code objects by id, with their file.
_watched: dict[int, tuple[CodeType, str]] = {}
#: Instructions of watched code where a statement of several lines comes back to its first line, by the code's id.
_again: dict[int, frozenset[int]] = {}
_lines_now: dict[str, frozenset[int]] = {}
_changing = threading.RLock()
#: Events that a step needs on a code object, by its id.
_step_events: dict[int, tuple[CodeType, int]] = {}
#: Somebody is to stop at the next line; and the code whose lines are told for that, by its id.
_pausing = False
_paused: dict[int, CodeType] = {}


def _monitoring() -> Any:
    return sys.monitoring  # type: ignore[attr-defined]


def _take_tool() -> bool:
    global _tool
    if _tool >= 0:
        return True
    m = _monitoring()
    for each in _IDS:
        if m.get_tool(each) is None:
            try:
                m.use_tool_id(each, _NAME)
            except ValueError:
                continue
            _tool = each
            for event, callback in _callbacks().items():
                m.register_callback(each, getattr(m.events, event), callback)
            _lines.impossible = ""
            return True
    _lines.impossible = "Every monitoring slot of this Python is taken by other tools, so no line can be stopped."
    return False


def _callbacks() -> dict[str, Any]:
    return {
        "LINE": _line,
        "INSTRUCTION": _instruction,
        "JUMP": _jump,
        "PY_START": _start,
        "PY_RESUME": _start,
        "PY_THROW": _throw,
        "PY_RETURN": _return,
        "PY_YIELD": _yield,
        "PY_UNWIND": _unwind,
    }


def release_tool() -> None:
    global _tool
    if _tool >= 0:
        m = _monitoring()
        m.set_events(_tool, 0)
        for event in _callbacks():
            m.register_callback(_tool, getattr(m.events, event), None)
        m.free_tool_id(_tool)
        _tool = -1


# ---------------------------------------------------------------- which code


def install(wanted: dict[str, frozenset[int]]) -> None:
    """Watches these lines in all code there is, and no others."""
    global _lines_now
    with _changing:
        before, _lines_now = _lines_now, wanted
        if not wanted:
            for code, _ in list(_watched.values()):
                _set(code, 0)
            _watched.clear()
            _again.clear()
            if _is_idle():
                release_tool()
            return
        if not _take_tool():
            return
        for code, path in list(_watched.values()):
            lines = wanted.get(path, frozenset())
            if lines != before.get(path):
                # A line that was passed over is asked about again once the events were off.
                _set(code, 0)
                if lines.isdisjoint(_line_places.lines_of(code)):
                    _watched.pop(id(code), None)
                    _again.pop(id(code), None)
                else:
                    _set(code, _events_for(code))
        for code in _existing(set(wanted)):
            _look(code)


def seen(code: CodeType) -> None:
    with _changing:
        if _tool >= 0:
            _look(code)


def _look(code: CodeType) -> None:
    path = real_path(code.co_filename)
    lines = _lines_now.get(path)
    if not lines:
        return
    todo = [code]
    while todo:
        each = todo.pop()
        todo.extend(_line_places.inner(each))
        if (
            id(each) not in _watched
            and not lines.isdisjoint(_line_places.lines_of(each))
            and _lines.is_current(_guards.original(each), path)
        ):
            again = _report.guard(lambda: _line_places.again(_sources.file(path), each))  # noqa: B023
            if again:
                _again[id(each)] = again
            _watched[id(each)] = (each, path)
            _set(each, _events_for(each))


def _existing(paths: set[str]) -> Iterator[CodeType]:
    """Code of these files that functions have, that frames run, and that functions had before they were guarded."""
    names = {os.path.basename(path) for path in paths}

    def mine(code: CodeType) -> bool:
        return code.co_filename.rpartition(os.sep)[2] in names or real_path(code.co_filename) in paths

    for item in _guards.all_functions():
        if mine(item.__code__):
            yield item.__code__
    for pair in list(_guards.known_codes()):
        for code in pair:
            if mine(code):
                yield code
    for frame in list(sys._current_frames().values()):
        each: FrameType | None = frame
        while each is not None:
            if mine(each.f_code):
                yield each.f_code
            each = each.f_back


def is_watched(path: str) -> bool:
    return any(own == path for _, own in list(_watched.values()))


def _events_for(code: CodeType) -> int:
    """Python 3.13 tells no line that the function itself stands on, as a lambda's, unless its start is reported as well."""
    events = _monitoring().events
    own = code.co_firstlineno in _lines_now.get(real_path(code.co_filename), ())
    return int(events.LINE | events.PY_START if own else events.LINE)


def _set(code: CodeType, events: int) -> None:
    step = _step_events.get(id(code))
    _monitoring().set_local_events(_tool, code, events | (step[1] if step is not None else 0))


# ---------------------------------------------------------------- what is reported


def _line(code: CodeType, line: int) -> Any:
    watched = _watched.get(id(code))
    wanted = watched is not None and line in _lines_now.get(watched[1], ())
    if wanted and _again and sys._getframe(1).f_lasti in _again.get(id(code), ()):
        wanted = False
    if wanted and _lines.reached(sys._getframe(1), watched[1], line):  # type: ignore[index]
        return None
    if id(code) in _step_events:
        if not _line_steps.stop_at(sys._getframe(1), line) and id(code) in _paused:
            _line_pauses.stop_at(sys._getframe(1), line)
        return None
    return None if wanted else _monitoring().DISABLE


def _start(code: CodeType, offset: int) -> Any:
    if _line_steps.active or _pausing:
        if _pausing:
            _report.guard(_watch_callers, sys._getframe(1))
        if not _line_steps.is_mine(code):
            return _monitoring().DISABLE
        if not _calls.is_quiet():
            frame = sys._getframe(1)
            for step in _line_steps.active:
                step.started(frame)
    return None


def _throw(code: CodeType, offset: int, error: BaseException) -> None:
    """Into a generator or coroutine that waited. This event cannot be switched off for single code."""
    if _pausing and _line_steps.is_mine(code):
        _report.guard(_watch_for_pause, code)


def _return(code: CodeType, offset: int, value: Any) -> None:
    frame = sys._getframe(1)
    for step in _line_steps.active:
        step.left(frame, False)


def _yield(code: CodeType, offset: int, value: Any) -> None:
    frame = sys._getframe(1)
    for step in _line_steps.active:
        step.yielded(frame)


def _unwind(code: CodeType, offset: int, error: BaseException) -> None:
    frame = sys._getframe(1)
    for step in _line_steps.active:
        step.left(frame, True)


def _instruction(code: CodeType, offset: int) -> None:
    _line_steps.stop_here(sys._getframe(1))


# ---------------------------------------------------------------- steps


#: The function that a step waits for, and its code objects.
_expected: list[CodeType] = []


def can_step() -> bool:
    with _changing:
        return _take_tool()


def watch(step: Any, frame: FrameType, what: str) -> None:
    events = _monitoring().events
    wanted = {
        _line_steps.LINE: events.LINE | events.PY_START | events.PY_RETURN | events.PY_YIELD,
        _line_steps.HERE: events.INSTRUCTION | events.PY_RETURN | events.PY_YIELD,
        _line_steps.END: events.PY_RETURN | events.PY_YIELD,
    }[what]
    with _changing:
        _watch_code(frame.f_code, wanted)
        _set_global()


def unwatch(step: Any) -> None:
    """After it was taken from the steps under way."""
    with _changing:
        kept = {id(frame.f_code) for each in _line_steps.active for frame in each.frames}
        kept.update(id(code) for code in _expected)
        kept.update(_paused)
        for key, (code, _) in list(_step_events.items()):
            if key not in kept:
                del _step_events[key]
                _set(code, _events_for(code) if key in _watched else 0)
        _set_global()
        if _is_idle():
            release_tool()


def _is_idle() -> bool:
    return not _lines_now and not _step_events and not _line_steps.active and not _pausing


def expect(spot: Any) -> None:
    """Lines of a function that is about to be called; None: of none any more."""
    with _changing:
        spots = [step.entry for step in _line_steps.active if step.entry is not None]
        _expected.clear()
        if not spots:
            unwatch(None)
            return
        if not _take_tool():
            return
        for code in _existing({each.path for each in spots}):
            todo = [code]
            while todo:
                each = todo.pop()
                todo.extend(_line_places.inner(each))
                if any(_line_steps.is_code_of(each, one) for one in spots):
                    _expected.append(each)
                    _watch_code(each, _monitoring().events.LINE | _monitoring().events.PY_START)


def _watch_code(code: CodeType, events: int) -> None:
    known = _step_events.get(id(code))
    own = _events_for(code) if id(code) in _watched else 0
    if known is not None:
        events |= known[1]
    elif own:
        _set(code, 0)  # Lines that were passed over are told again.
    _step_events[id(code)] = (code, events)
    _set(code, own)


def _set_global() -> None:
    if _tool < 0:
        return
    events = _monitoring().events
    wanted = events.PY_START | events.PY_RESUME | events.PY_THROW if _pausing else 0
    for step in _line_steps.active:
        if step.frames:
            wanted |= events.PY_UNWIND
        if step.origin is not None:
            wanted |= events.PY_START
    _monitoring().set_events(_tool, wanted)


# ---------------------------------------------------------------- a pause


def pause(on: bool) -> None:
    """Lines are told of the code that a person wrote and that runs now, or begins to run or goes on; or no longer."""
    global _pausing
    with _changing:
        if not on:
            _pausing = False
            _paused.clear()
            unwatch(None)
            return
        if not _take_tool():
            return
        _pausing = True
        _set_global()
        # Their threads go on meanwhile, and a frame that has returned knows no caller: first all are taken, quickly, then looked at.
        running: list[FrameType] = []
        for frame in sys._current_frames().values():
            each: FrameType | None = frame
            while each is not None:
                running.append(each)
                each = each.f_back
        for each in running:
            if _line_steps.is_mine(each.f_code):
                _watch_for_pause(each.f_code)


def _watch_callers(frame: FrameType | None) -> None:
    """Code that begins to run in a pause, and its callers: one that was missed will not begin again."""
    while frame is not None:
        if _line_steps.is_mine(frame.f_code):
            _watch_for_pause(frame.f_code)
        frame = frame.f_back


def _watch_for_pause(code: CodeType) -> None:
    if id(code) not in _paused:
        with _changing:
            if _pausing:
                _paused[id(code)] = code
                _watch_code(code, _monitoring().events.LINE | _monitoring().events.JUMP)


def _jump(code: CodeType, offset: int, target: int) -> None:
    """A loop on one line comes to no other."""
    if id(code) in _paused and target <= offset:
        frame = sys._getframe(1)
        line = frame.f_lineno or 0
        if any(start <= target < end and each == line for start, end, each in code.co_lines()):
            _line_pauses.stop_at(frame, line)


def went_on(frame: FrameType) -> None:
    """Code that runs already is watched like any other."""


def main_begins(frame: FrameType) -> None:
    """Its code was seen already; that it runs makes no difference here."""


def main_ended() -> None:
    """Nothing of it is kept."""


def forked() -> None:
    global _changing, _pausing
    _changing = threading.RLock()
    _expected.clear()
    _pausing = False
    _paused.clear()
    for key, (code, _) in list(_step_events.items()):
        del _step_events[key]
        _set(code, _events_for(code) if key in _watched else 0)
    _set_global()
