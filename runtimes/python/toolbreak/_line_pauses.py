"""A pause of code that comes to no call: it stops at the next line that a person wrote.

Lines are looked at from the moment of the pause (`_line_events`, `_line_pause_traces`) until something goes on again. Without a pause nothing is.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from . import _calls, _line_steps, _lines, _own_thread, _steps
from ._call_types import Task
from ._real import Real

_stopping = _calls.stopping
#: Somebody is to stop at the next line.
on = False
#: Tasks that are to stop alone. A pause of all of them is told by the stop byte.
_tasks: set[Task] = set()


def begin(task: int | None) -> None:
    """One task, or every one, is to stop at its next line."""
    global on
    if task is not None:
        _tasks.update(each for each in _calls.tasks() if each.id == task)
    if _lines.backend is not None and _is_wanted():
        on = True
        _lines.backend.pause(True)


def _is_wanted() -> bool:
    return bool(_stopping.stop_byte[0] or _tasks)


def look() -> None:
    """Something went on, or a line came: the pause may be over."""
    if on and not _is_wanted():
        end()


def stands(task: Task) -> None:
    """It stopped, at a line or elsewhere."""
    _tasks.discard(task)


def end() -> None:
    """Nobody stops at a line for a pause any more."""
    global on
    _tasks.clear()
    if on:
        on = False
        _lines.backend.pause(False)


def stop_at(frame: FrameType, line: int) -> bool:
    """Holds this thread in front of a line where it is to stop. Answers whether it did."""
    if not on or not _calls.attached or _calls.hold is None or _calls.is_quiet():
        return False
    if not _is_wanted():
        end()
        return False
    if not _line_steps.is_body(frame.f_code, line) or _is_aside(frame):
        return False
    call = _lines.running(_calls.current())
    if not _is_to_stop(call):
        return False
    above = call
    while above is not None:  # They wait for what stands here.
        above.task.pause = False
        above = above.parent
    _lines.hold(call, frame, line, "pause", [])
    return True


def _is_to_stop(call: Any) -> bool:
    if not _stopping.stop_byte[0]:
        return call is not None and call.task in _tasks or call is None and _calls.root_of_thread().task in _tasks
    return not _steps.went_on_early(call.task if call is not None else _calls.root_of_thread().task)


def _is_aside(frame: FrameType | None) -> bool:
    """Whether the interpreter runs this in between, such as in one of our threads: what it came between would wait with it."""
    if Real.thread_id() in _own_thread.idents:
        return True
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def forked() -> None:
    """In a forked child: the pause is the parent's."""
    global on
    on = False
    _tasks.clear()
