"""Lines of single code objects, as Python 3.12 and later report them (`sys.monitoring`). All other code runs as if we were not there."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from . import _guards, _line_places, _lines, _report
from ._calls import real_path

#: Free ones first: a debugger, coverage, a profiler and an optimizer have their own by custom.
_IDS = (4, 3, 0, 5, 2, 1)
_NAME = "toolbreak"

_tool = -1
#: Watched code objects by id, with their file.
_watched: dict[int, tuple[CodeType, str]] = {}
_lines_now: dict[str, frozenset[int]] = {}
_changing = threading.RLock()
#: Asked first about every line and other event, while a step is under way: (event name, code, what the event gives).
stepping: Callable[[str, CodeType, Any], None] | None = None
#: Events that a step needs on a code object, by its id.
_step_events: dict[int, tuple[CodeType, int]] = {}


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
            m.register_callback(each, m.events.LINE, _line)
            m.register_callback(each, m.events.PY_START, _start)
            _lines.impossible = ""
            return True
    _lines.impossible = "Every monitoring slot of this Python is taken by other tools, so no line can be stopped."
    return False


def release_tool() -> None:
    global _tool
    if _tool >= 0:
        m = _monitoring()
        for event in ("LINE", "INSTRUCTION", "PY_START", "PY_RETURN", "PY_YIELD", "PY_UNWIND"):
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
            if not _step_events:
                _report.guard(release_tool) if _tool >= 0 else None
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
        if id(each) not in _watched and not lines.isdisjoint(_line_places.lines_of(each)):
            _watched[id(each)] = (each, path)
            _lines.check(_guards.original(each), path)
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
    return int(events.LINE | events.PY_START)


def _set(code: CodeType, events: int) -> None:
    step = _step_events.get(id(code))
    _monitoring().set_local_events(_tool, code, events | (step[1] if step is not None else 0))


# ---------------------------------------------------------------- what is reported


def _line(code: CodeType, line: int) -> Any:
    watched = _watched.get(id(code))
    if stepping is not None and id(code) in _step_events:
        stepping("line", code, line)
    elif watched is None or line not in _lines_now.get(watched[1], ()):
        return _monitoring().DISABLE
    if watched is not None and line in _lines_now.get(watched[1], ()):
        _lines.reached(sys._getframe(1), watched[1], line)
    return None


def _start(code: CodeType, offset: int) -> Any:
    watched = _watched.get(id(code))
    if watched is not None and code.co_firstlineno in _lines_now.get(watched[1], ()):
        return None
    return _monitoring().DISABLE


def main_begins(frame: FrameType) -> None:
    """Its code was seen already; that it runs makes no difference here."""


def main_ended() -> None:
    """Nothing of it is kept."""


def forked() -> None:
    global _changing, stepping
    _changing = threading.RLock()
    stepping = None
    _step_events.clear()
