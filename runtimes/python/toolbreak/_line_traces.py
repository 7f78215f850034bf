"""Tracing of single frames before Python 3.12: for steps, for the top of the main module, and for functions that began before their lines had
breakpoints (`_line_late`). It is on in threads that have such frames, and only then.

Another tool's trace function is never disturbed: where one is set, steps go from call to call.
"""

from __future__ import annotations

import opcode
import sys
import threading
from types import FrameType
from typing import Any

from . import _line_late, _line_pause_traces, _line_pauses, _line_places, _line_steps, _lines, _report
from ._calls import real_path

#: The lines of each file that breakpoints are on: `_line_hooks` keeps them.
lines_of_dots: dict[str, frozenset[int]] = {}

#: The class of the calls that are compiled in at the ends of loops: `_line_hooks` knows it.
loop_hook: Any = ()

#: Generators, coroutines and asynchronous generators.
_SUSPENDS = 0x20 | 0x80 | 0x200
#: Frames that a step watches, with the instruction and line from which it does. Tracing that begins in the middle of a line may tell it again.
_since: dict[FrameType, tuple[int, int]] = {}
#: Frames that each step touched.
_touched: dict[Any, list[FrameType]] = {}
#: Frames that an exception is about to leave, unless a line comes.
_raising: set[FrameType] = set()
#: For each thread the line that was looked at by tracing: what is compiled in front of it has nothing more to do.
_passed: dict[int, tuple[int, int]] = {}
_told: set[str] = set()


def was_passed(frame: FrameType, line: int) -> bool:
    return bool(_passed) and _passed.pop(threading.get_ident(), None) == (id(frame), line)


def is_traced(frame: FrameType) -> bool:
    return frame.f_trace is not None and sys.gettrace() is _call


def told(frame: FrameType, line: int) -> None:
    """A loop's line was looked at before the loop goes back to it."""
    if frame in _since:
        _since[frame] = (-2, line)


def _is_loop_hook(frame: FrameType) -> bool:
    """Whether the instruction that is about to run is a call of ours at the end of a loop."""
    code = frame.f_code
    argument = 0
    for at in range(frame.f_lasti, min(frame.f_lasti + 10, len(code.co_code)), 2):
        name = opcode.opname[code.co_code[at]]
        argument = argument << 8 | code.co_code[at + 1]
        if name == "LOAD_CONST":
            return argument < len(code.co_consts) and isinstance(code.co_consts[argument], loop_hook)
        if name != "EXTENDED_ARG":
            argument = 0
            if name not in ("PUSH_NULL", "NOP"):
                return False
    return False


def is_free() -> bool:
    """Whether no other tool traces this thread."""
    return sys.gettrace() in (None, _call)


def can_step() -> bool:
    if is_free():
        return True
    other = sys.gettrace()
    module = str(getattr(other, "__module__", None) or type(other).__module__)
    sentence = f"Another tool ({module}) traces this thread, so steps go from call to call here."
    if _lines.log is not None and sentence not in _told:
        _told.add(sentence)
        _lines.log("console", sentence)
    return False


def watch(step: Any, frame: FrameType, what: str) -> None:
    _touched.setdefault(step, []).append(frame)
    _since[frame] = (frame.f_lasti, frame.f_lineno or 0)
    frame.f_trace = _local
    frame.f_trace_opcodes = what == _line_steps.HERE
    if step.thread == threading.get_ident() and sys.gettrace() is None:
        sys.settrace(_call)


def unwatch(step: Any) -> None:
    """After it was taken from the steps under way."""
    for frame in _touched.pop(step, ()):
        _since.pop(frame, None)
        _raising.discard(frame)
        if not any(frame in each.frames for each in _line_steps.active):
            frame.f_trace_opcodes = False
            _let_go(frame)
    _rest()


def _let_go(frame: FrameType) -> None:
    """Takes the trace function from a frame that nothing looks at any more."""
    by_main = _main is not None and frame is _main.frame and _main.tracing
    others = _line_late.frames.keys() | _line_pause_traces.frames
    if not by_main and frame not in others and not any(frame in step.frames for step in _line_steps.active):
        frame.f_trace = None


def _rest() -> None:
    """Takes the trace function back where this thread has no more use for it."""
    if sys.gettrace() is _call:
        mine = threading.get_ident()
        if (
            not any(step.thread == mine and step.frames for step in _line_steps.active)
            and (_main is None or not _main.tracing or _main.thread != mine)
            and not _line_late.of_thread(mine)
            and not _line_pause_traces.is_here()
        ):
            sys.settrace(None)


# ---------------------------------------------------------------- a pause


def pause(on: bool) -> None:
    if on:
        _line_pause_traces.begin()
        return
    traced = list(_line_pause_traces.frames)
    _line_pause_traces.end()
    for frame in traced:
        _let_go(frame)
    _rest()


def look_from(frame: FrameType) -> None:
    """Traces a frame from where it stands: the rest of its line is no new one."""
    if frame.f_trace is not _local:
        _since[frame] = (frame.f_lasti, frame.f_lineno or 0)
        frame.f_trace = _local


# ---------------------------------------------------------------- functions that run already


def went_on(frame: FrameType) -> None:
    """After a hold, in its thread: the table may have changed since these frames began, and they go on with the code that they have."""
    found = [each for each in _line_late.to_trace(frame) if each not in _line_late.frames] if lines_of_dots else []
    if not found:
        _rest()
        return
    if sys.gettrace() not in (None, _call):
        for each in found:
            _line_late.say(each.f_code)
        return
    for each in found:
        look_from(each)
        _line_late.frames[each] = threading.get_ident()
    sys.settrace(_call)


def look_at_late() -> None:
    """The lines changed: frames that have nothing to come any more are left alone. Their threads find out at their next call."""
    _line_late.forget()
    for frame in list(_line_late.frames):
        if not _line_late.is_to_come(frame.f_code, (frame.f_lineno or 0) - 1):
            _drop_late(frame)
    _rest()


def _drop_late(frame: FrameType) -> None:
    if _line_late.drop(frame):
        _let_go(frame)
        _rest()


def _is_late(frame: FrameType, thread: int) -> bool:
    """Whether a frame that begins, or goes on, has old code: it was made by a function that runs already, or waited meanwhile."""
    if frame in _line_late.frames:
        return True
    if not _line_late.of_thread(thread) or not _line_late.missing(frame.f_code):
        return False
    line = frame.f_lineno or 0
    begins = _begins(frame)
    if not _line_late.is_to_come(frame.f_code, line - 1 if begins else line):
        return False
    if not begins and frame.f_trace is not _local:
        _since[frame] = (frame.f_lasti, line)
    _line_late.frames[frame] = thread
    return True


# ---------------------------------------------------------------- events


def _call(frame: FrameType, event: str, arg: Any) -> Any:
    mine = threading.get_ident()
    found = None
    for step in _line_steps.active:
        if step.thread == mine:
            if frame not in step.frames and _begins(frame):
                step.started(frame)
                _since.pop(frame, None)
            if frame in step.frames:
                found = _local
    if _line_late.frames and _is_late(frame, mine):
        found = _local
    if _line_pause_traces.begins(frame):
        if not _begins(frame):
            look_from(frame)
        found = _local
    if found is None:
        _rest()
    return found


def _begins(frame: FrameType) -> bool:
    """Whether a function begins, and no generator goes on."""
    at = frame.f_lasti
    if sys.version_info < (3, 11):
        return at < 0
    code = frame.f_code.co_code
    return opcode.opname[code[at]] == "RESUME" and code[at + 1] == 0


def _waits(frame: FrameType) -> bool:
    """Whether a frame that is left goes on later. Python 3.10 then stands in front of the instruction that waits."""
    code = frame.f_code
    return bool(code.co_flags & _SUSPENDS) and opcode.opname[code.co_code[frame.f_lasti]] != "RETURN_VALUE"


def _local(frame: FrameType, event: str, arg: Any) -> Any:
    if event == "line":
        _raising.discard(frame)
        _line(frame, frame.f_lineno or 0)
    elif event == "opcode":
        if not _line_steps.stop_here(frame) and _line_pause_traces.on and _line_pause_traces.is_stuck(frame):
            _line_pauses.stop_at(frame, frame.f_lineno or 0)
    elif event == "exception":
        # What a coroutine gives to the one that awaits it comes as an exception that leaves nothing.
        if arg[0] is not StopIteration or not frame.f_code.co_flags & _SUSPENDS:
            _raising.add(frame)
    elif event == "return":
        raised = frame in _raising
        _raising.discard(frame)
        waits = not raised and _waits(frame)
        for step in _line_steps.active:
            step.yielded(frame) if waits else step.left(frame, raised)
        if not waits:
            if _main is not None and frame is _main.frame:
                _main.stop()
            _since.pop(frame, None)
            _line_pause_traces.frames.discard(frame)
            _drop_late(frame)
        passed = _passed.get(threading.get_ident())
        if passed is not None and passed[0] == id(frame):
            del _passed[threading.get_ident()]
    return _local if frame.f_trace is not None else None


def _line(frame: FrameType, line: int) -> None:
    _look(frame, line)
    if frame in _line_late.frames and not _line_late.is_to_come(frame.f_code, line):
        _drop_late(frame)


def _look(frame: FrameType, line: int) -> None:
    path = real_path(frame.f_code.co_filename)
    if _is_loop_hook(frame):
        return
    since = _since.get(frame)
    if since is not None:
        if since[1] == line and frame.f_lasti > since[0]:
            return
        del _since[frame]
    if not _line_late.is_again(frame, line) and line in lines_of_dots.get(path, ()):
        _line_late.looked(frame, path, line)
        held = _lines.reached(frame, path, line)
        _passed[threading.get_ident()] = (id(frame), line)
        if held:
            return
    held = _line_steps.stop_at(frame, line) or (bool(_line_pause_traces.frames) and _line_pauses.stop_at(frame, line))
    if not held and _main is not None and frame is _main.frame:
        _main.passed(line)


# ---------------------------------------------------------------- the main module


class _MainLines:
    """
    Lines at the top of the main module. Code that runs already cannot be exchanged, so they are traced, by the thread that runs them, as long as
    one of them is still to come.
    """

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame
        self.path = real_path(frame.f_code.co_filename)
        self.thread = threading.get_ident()
        self.tracing = False
        self._lines = _line_places.lines_of(frame.f_code)
        self._last = 0

    def look(self) -> None:
        """Begins to trace where there is something to come. Another thread than the main module's only says what is wanted."""
        self._last = max(self._lines.intersection(lines_of_dots.get(self.path, ())), default=0)
        if not self.tracing and sys.gettrace() in (None, _call) and _is_below(sys._getframe(0), self.frame):
            if self._is_to_come((self.frame.f_lineno or 0) - 1):
                self.tracing = True
                self.frame.f_trace = _local
                sys.settrace(_call)

    def _is_to_come(self, line: int) -> bool:
        return _line_late.comes_to(self.path, line, self._last)

    def passed(self, line: int) -> None:
        if self.tracing and not _report.guard(self._is_to_come, line):
            self.stop()

    def stop(self) -> None:
        self.tracing = False
        _let_go(self.frame)
        _rest()


#: The main module, once it has begun.
_main: _MainLines | None = None


def look_at_main() -> None:
    if _main is not None:
        _main.look()


def main_begins(frame: FrameType) -> None:
    global _main
    if _main is None:
        _main = _MainLines(frame)
        _main.look()


def main_ended() -> None:
    """Nothing of the app is kept longer than it keeps it."""
    global _main
    _main = None


def _is_below(frame: FrameType | None, wanted: FrameType) -> bool:
    while frame is not None:
        if frame is wanted:
            return True
        frame = frame.f_back
    return False


def forked() -> None:
    """In a forked child: steps of the parent are the parent's."""
    if _line_pause_traces.on:
        pause(False)
    _line_late.forked()
    for frames in _touched.values():
        for frame in frames:
            frame.f_trace_opcodes = False
            if frame not in _line_late.frames and (_main is None or frame is not _main.frame):
                frame.f_trace = None
    for known in (_touched, _since, _raising, _passed):
        known.clear()
    if _main is not None:
        _main.thread = threading.get_ident()
    _rest()
