"""Functions that run already when their lines get breakpoints, before Python 3.12: the code they began with has no calls of ours there.

A thread that goes on after a hold traces such frames, until they end or have no such line to come.
"""

from __future__ import annotations

import ast
import sys
import threading
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any

from . import _guards, _line_places, _line_steps, _lines, _loops, _report, _sources
from ._calls import real_path

#: The lines of each file that breakpoints are on, and the class of the calls that are compiled in: `_line_hooks` keeps them.
lines_of_dots: dict[str, frozenset[int]] = {}
hook: Any = ()

#: The frames that are traced, with their threads.
frames: dict[FrameType, int] = {}
#: What is missing in a code object, by its id, and for which lines that was asked.
_missing: dict[int, tuple[CodeType, frozenset[int], frozenset[int]]] = {}
_NONE: frozenset[int] = frozenset()


def missing(code: CodeType) -> frozenset[int]:
    """The lines with breakpoints in front of which this code has no call of ours."""
    path = real_path(code.co_filename)
    wanted = lines_of_dots.get(path)
    if not wanted:
        return _NONE
    known = _missing.get(id(code))
    if known is None or known[1] is not wanted:
        found = wanted & _line_places.lines_of(code)
        found -= {const.line for const in code.co_consts if isinstance(const, hook)}
        if found and code.co_name in _line_steps.INLINE:
            # A comprehension on the line of its statement stops with the statement.
            found -= _of(path).statements.keys()
        if found and not _lines.is_current(_guards.original(code), path):
            found = _NONE
        known = _missing[id(code)] = (code, wanted, found)
    return known[2]


def forget() -> None:
    """The lines changed."""
    _missing.clear()


def is_to_come(code: CodeType, line: int) -> bool:
    """Whether code that is at this line, and is done with it, comes to a missing one."""
    last = max((max(missing(each), default=0) for each in _with_inner(code)), default=0)
    return bool(last) and comes_to(real_path(code.co_filename), line, last)


def _with_inner(code: CodeType) -> list[CodeType]:
    """With the code of the functions and comprehensions that it makes, which is as old."""
    if real_path(code.co_filename) not in lines_of_dots:
        return []
    found = [code]
    for each in found:
        found.extend(_line_places.inner(each))
    return found


def comes_to(path: str, line: int, last: int) -> bool:
    return line < last or any(first <= line <= end and first <= last for first, end in _of(path).back)


class _Text:
    """What the order of a file's lines depends on."""

    def __init__(self, source: _sources.File | None) -> None:
        self.source = source
        #: First and last line of what goes back to its own lines: loops, and expressions on several lines.
        self.back: set[tuple[int, int]] = set()
        #: The last line of each statement, by its first; of one that has others in it, the first.
        self.statements: dict[int, int] = {}
        for node in _sources.walk(source.tree) if source is not None else ():
            if isinstance(node, (ast.stmt, ast.expr)):
                first, end = node.lineno, node.end_lineno or node.lineno
                if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) or (isinstance(node, ast.expr) and first < end):
                    self.back.add((first, end))
                if isinstance(node, ast.stmt):
                    self.statements[first] = first if hasattr(node, "body") else end


_texts: dict[str, _Text] = {}


def _of(path: str) -> _Text:
    try:
        source = _sources.file(path)
    except (OSError, SyntaxError, ValueError) as error:
        _report.let_through(error)
        return _Text(None)
    known = _texts.get(path)
    if known is None or known.source is not source:
        known = _texts[path] = _Text(source)
    return known


#: Where a frame was stopped: the instruction, and the lines of its statement.
_statements: dict[FrameType, tuple[int, int, int]] = {}


def is_again(frame: FrameType, line: int) -> bool:
    """Whether a statement on several lines only comes back to its first one, which was looked at."""
    known = _statements.get(frame)
    if known is not None:
        at, first, end = known
        if line == first and frame.f_lasti > at:
            return True
        if not first <= line <= end or line == first:
            del _statements[frame]
    return False


def looked(frame: FrameType, path: str, line: int) -> None:
    end = _of(path).statements.get(line, line)
    if line < end and frame in frames:
        _statements[frame] = (frame.f_lasti, line, end)


def drop(frame: FrameType) -> bool:
    _statements.pop(frame, None)
    return frames.pop(frame, None) is not None


def of_thread(thread: int) -> bool:
    return bool(frames) and thread in list(frames.values())


def to_trace(frame: FrameType | None) -> list[FrameType]:
    """Of this frame, those it was called from, and those that wait in this thread's event loop: the ones with a missing line to come."""
    found: list[FrameType] = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    found.extend(_waiting())
    return [each for each in found if is_to_come(each.f_code, each.f_lineno or 0)]


def _waiting() -> list[FrameType]:
    """Frames of the coroutines that wait in the event loop of this thread."""
    loop = _loops.running()
    if loop is None:
        return []
    import asyncio

    found: list[FrameType] = []
    for task in asyncio.all_tasks(loop):
        one: Any = asyncio.Task.get_coro(task) if isinstance(task, asyncio.Task) else None
        while True:
            if type(one) is CoroutineType:
                frame, one = one.cr_frame, one.cr_await
            elif type(one) is GeneratorType:
                frame, one = one.gi_frame, one.gi_yieldfrom
            elif type(one) is AsyncGeneratorType:
                frame, one = one.ag_frame, one.ag_await
            else:
                break
            if frame is not None and frame not in found:
                found.append(frame)
    return found


def is_held_in(frame: FrameType, thread: int, waits: dict[int, bool]) -> bool:
    """Whether a frame that a thread runs is looked at again when a hold ends. A loop goes on while its tasks are held; what it was called from waits."""
    if thread not in waits:
        return False
    inner: FrameType | None = sys._current_frames().get(thread) if waits[thread] else None
    while inner is not None and inner is not frame:
        if inner.f_code.co_name == "run_forever":
            return True
        inner = inner.f_back
    return not waits[thread]


_told: set[tuple[str, int]] = set()


def say(code: CodeType) -> None:
    """No breakpoint is to do nothing without a word."""
    for line in sorted(missing(code)):
        key = (real_path(code.co_filename), line)
        if key not in _told and _lines.log is not None:
            _told.add(key)
            sentence = f"{code.co_name} runs already; before Python 3.12 line {line} stops from its next call on."
            _lines.log("important", sentence, *key)


def forked() -> None:
    """In a forked child: the frames of other threads are the parent's."""
    mine = threading.get_ident()
    for frame, thread in list(frames.items()):
        if thread != mine:
            drop(frame)
