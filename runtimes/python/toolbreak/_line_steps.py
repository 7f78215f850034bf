"""Steps from line to line: where one goes is decided here; how lines are seen is the business of `_line_events` and `_line_traces`.

A step waits for several things at once: the next line of a frame, the end of that frame, the start of a function, and boundaries of calls
(`matches`, which `_steps` asks). Whatever comes first ends it, and takes everything back.
"""

from __future__ import annotations

import threading
from types import CodeType, FrameType
from typing import Any

from . import _calls, _line_places, _lines, _report, _sources, _steps, _stops
from ._call_types import Call, Task

_GENERATOR = 0x20
_FUNCTION = 0x2
#: What a frame is watched for: its next line, its next instruction, its end.
LINE, HERE, END = "line", "here", "end"
#: What stands inside a function and is no function to a person.
INLINE = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")

#: The steps under way.
active: tuple[LineStep, ...] = ()
_changing = threading.RLock()


class LineStep:
    """One step of one task."""

    step = None

    def __init__(self, kind: str, call: Call | None, task: Task, enters: bool = False) -> None:
        self.kind = kind
        #: It goes from a held call to the first line of its function; the step of that call waits for boundaries.
        self.enters = enters
        self.call = call
        self.task = task
        #: Watched frames, with what they are watched for.
        self.frames: dict[FrameType, str] = {}
        #: The frame whose calls `in` goes into.
        self.origin: FrameType | None = None
        #: A function that is about to be called, by file, first line and name: the first line of its body is waited for, in `call`.
        self.entry: _sources.Spot | None = None
        self.thread = threading.get_ident()
        #: Its number, where it may end in native code.
        self.native = 0

    # ------------------------------------------------------------ boundaries

    def matches(self, call: Call, boundary: str) -> bool:
        if self.enters or self.is_over():
            return False
        if boundary == "before":
            return self.kind == "in" and call.parent is self.call and (self.call is not None or call.task is self.task)
        return call is self.call

    # ------------------------------------------------------------ events

    def is_over(self) -> bool:
        """Whether it came into native code, and ended there."""
        return bool(self.native) and _gates().is_overtaken(self.native)

    def line(self, frame: FrameType, line: int) -> bool:
        """Whether the step ends before this line."""
        if self.frames.get(frame) == LINE:
            return line > _head(frame.f_code)
        entry = self.entry
        return (
            entry is not None
            and line > entry.head
            and is_code_of(frame.f_code, entry)
            and _lines.running(_calls.current()) is self.call
        )

    def here(self, frame: FrameType) -> bool:
        return self.frames.get(frame) == HERE

    def started(self, frame: FrameType) -> None:
        """A function begins: `in` goes to its first line."""
        if (
            self.kind != "in"
            or self.origin is None
            or self.is_over()
            or frame.f_code.co_name in INLINE
            or not is_mine(frame.f_code)
        ):
            return
        outer = frame.f_back
        while outer is not None and outer is not self.origin:
            outer = outer.f_back
        if outer is not None:
            self.watch(frame, LINE)

    def left(self, frame: FrameType, raised: bool) -> None:
        """A watched frame ends: the step goes on in the one outside of it."""
        if self.frames.pop(frame, None) is None:
            return
        if self.is_over():
            end(self)
            return
        outer = _outside(frame, self.call)
        if frame is self.origin:
            self.origin = outer
        if outer is not None:
            self.watch(outer, HERE if self.kind == "out" and not raised else LINE)
        elif not self.frames:
            if self.call is None or self.call.ended:
                end(self)
            else:
                _backend().unwatch(self)  # Only a boundary of the call is waited for.

    def yielded(self, frame: FrameType) -> None:
        """A watched frame waits. Its next line comes later; whoever took what a generator gave may come to a line before."""
        if frame in self.frames and frame.f_code.co_flags & _GENERATOR:
            if self.kind == "out":
                self.left(frame, False)
            else:
                outer = _outside(frame, self.call)
                if outer is not None:
                    self.watch(outer, LINE)

    def watch(self, frame: FrameType, what: str) -> None:
        self.frames[frame] = what
        _backend().watch(self, frame, what)

    def end(self) -> None:
        """Called by whoever takes it from the steps under way."""
        global active
        with _changing:
            if self not in active:
                return
            active = tuple([step for step in active if step is not self])
            self.frames.clear()
            self.origin = None
            entry, self.entry = self.entry, None
            _backend().unwatch(self)
            if entry is not None:
                _backend().expect(None)
            if self.native and not self.is_over():
                _gates().announce()


def _backend() -> Any:
    return _lines.backend


def _gates() -> Any:
    from . import _gates as gates

    return gates


def is_mine(code: CodeType) -> bool:
    """Whether a step may end in this code."""
    path = code.co_filename
    if _sources.is_user(path):
        return True
    return not _stops.just_my_code and not _sources.is_ours(path) and not path.startswith("<")


def is_body(code: CodeType, line: int) -> bool:
    """Whether a person wrote this line, behind the head of its function."""
    return is_mine(code) and line > _head(code)


def is_code_of(code: CodeType, spot: _sources.Spot) -> bool:
    return (
        code.co_firstlineno == spot.first
        and code.co_name == spot.name
        and _calls.real_path(code.co_filename) == spot.path
    )


def _head(code: CodeType) -> int:
    """The last line of a function's head: guards stand there."""
    if not code.co_flags & _FUNCTION:
        return 0
    try:
        file = _sources.file(_calls.real_path(code.co_filename))
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        _report.let_through(error)
        return 0
    spot = file.by_key.get((file.path, code.co_firstlineno, code.co_name))
    return spot.head if spot is not None and spot.end > spot.head else 0


def _outside(frame: FrameType, call: Call | None) -> FrameType | None:
    """The next frame outwards in which lines are stepped; None where a call's boundary or the event loop comes before."""
    if call is not None and call.frame is frame:
        return None
    outer = frame.f_back
    while outer is not None:
        code = outer.f_code
        if code.co_name in ("execute", "aexecute") and _sources.is_ours(code.co_filename):
            return None
        if code.co_name == "_run" and code.co_filename.endswith("events.py"):
            return None
        if is_mine(code):
            return outer
        outer = outer.f_back
    return None


# ---------------------------------------------------------------- the way of a step


def begin(kind: str, frame: FrameType, call: Call | None, task: Task, native: dict[str, Any] | None = None) -> None:
    """After a hold at a line of this frame, in its thread. `native`: it may come into native code, which the debugger of that waits for."""
    if not _backend().can_step():
        return
    step = LineStep(kind, call, task)
    step.native = native["step"] if native is not None else 0
    _begin(step)
    if kind == "in":
        step.origin = frame
    step.watch(frame, END if kind == "out" else LINE)
    if step.native:
        _gates().announce()


def enter(call: Call) -> None:
    """After a hold before this call: to the first line of its function, where a person wrote it."""
    fn = call.function
    if fn.kind not in ("tool", "node", "function") or not fn.path or not _sources.is_user(fn.path):
        return
    try:
        spot = _sources.file(fn.path).at(fn.line)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        _report.let_through(error)
        return
    if spot is None:
        return
    step = LineStep("in", call, call.task, True)
    if call.frame is not None:
        if _backend().can_step():
            _begin(step)
            step.watch(call.frame, LINE)
    else:
        step.entry = spot
        _begin(step)
        _backend().expect(spot)


def _begin(step: LineStep) -> None:
    global active
    with _changing:
        active = (*active, step)
        _steps.add(step)


def end(step: LineStep) -> None:
    """Nothing is left that it could stop at."""
    _steps.remove(step)


def stop_at(frame: FrameType, line: int) -> bool:
    """Holds this thread where a step ends before this line. Answers whether it did."""
    if _calls.is_quiet():
        return False
    for step in active:
        if step.is_over():
            end(step)
        elif step.line(frame, line):
            _hold(step, frame, line)
            return True
    return False


def stop_here(frame: FrameType) -> bool:
    """The same in the middle of a line."""
    if _calls.is_quiet():
        return False
    for step in active:
        if step.is_over():
            end(step)
        elif step.here(frame):
            _hold(step, frame, frame.f_lineno or 0)
            return True
    return False


def _hold(step: LineStep, frame: FrameType, line: int) -> None:
    end(step)
    _lines.hold(_lines.running(_calls.current()), frame, line, "step", [])


def first_line(spot: _sources.Spot) -> int:
    """The first line of a function's body that has code; 0 where it has none of its own."""
    file = _sources.file(spot.path)
    for code in _line_places.of(file).codes.get((spot.first, spot.name), []):
        lines = [line for line in _line_places.lines_of(code) if spot.head < line <= spot.end]
        if lines:
            return min(lines)
    return 0


def ended_with(call: Call | None, task: Task) -> None:
    """A task stops: what it was stepped for is over."""
    for step in active:
        if step.task is task or (call is not None and step.call is call):
            end(step)


def forked() -> None:
    """In a forked child: steps of the parent are the parent's."""
    global active, _changing
    _changing = threading.RLock()
    active = ()
