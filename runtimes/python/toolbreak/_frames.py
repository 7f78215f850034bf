"""The call stack of a held task: its calls, with the person's own source frames between them."""

from __future__ import annotations

import itertools
from types import CodeType
from typing import Any

from . import _call_types, _report, _sources, _static, _stops, _uncaught
from ._call_types import Call
from ._calls import real_path
from ._real import Real

_ids = itertools.count(1)
_WIDTH = 60
_PLAIN = (str, int, float, bool, bytes, type(None), complex)


class StackFrame:
    """One entry of the stack. `call` for workflow-level calls, `frame` where a Python frame stands behind it."""

    __slots__ = ("call", "frame", "id", "line", "subtle")

    def __init__(self, call: Call | None, frame: Any, line: int, subtle: bool = False) -> None:
        self.id = next(_ids)
        self.call = call
        self.frame = frame
        self.line = line
        self.subtle = subtle


def build(hold: Any, start: Any) -> list[StackFrame]:
    """Innermost first. `start` is a Python frame from which the held task's frames are walked outwards."""
    held: Call = hold.call
    chain: list[Call] = []
    call: Call | None = held
    while call is not None:
        chain.append(call)
        call = call.parent
    if hold.stop.uncaught:
        return _of_uncaught(held, chain)
    if hold.boundary == "line":
        if not held.function.id:
            chain.pop(0)  # It only stands for the thread.
        return _outwards(hold, start, chain, [], 0, set())
    made: list[StackFrame] = []
    inner = _traceback_frames(held) if hold.boundary == "error" else []
    own = held.frame
    # The function of a framework's call is that call, not one more frame.
    implementation = None if own is not None else _implementation(held, inner)
    inner = [entry for entry in inner if entry[0] is not own and entry is not implementation]
    made.extend(StackFrame(None, frame, line) for frame, line in inner)
    done = 0
    seen = {id(frame) for frame, _ in inner} | ({id(implementation[0])} if implementation else set())
    if own is None:
        made.append(StackFrame(held, *(implementation or (None, 0))))
        done = 1
    return _outwards(hold, start, chain, made, done, seen)


#: Functions of ours in which a call runs that is their local `call`.
_RUNNERS = frozenset(("execute", "aexecute", "iterate", "aiterate"))


def _outwards(
    hold: Any, frame: Any, chain: list[Call], made: list[StackFrame], done: int, seen: set[int]
) -> list[StackFrame]:
    """Adds what lies outwards from a frame: frames of the person's own, and the calls that they run in."""
    held: Call = hold.call
    at_line: Any = hold.stop.frame
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        if code.co_name == "_run" and filename.endswith("events.py"):
            # Below lies the event loop: what made this asyncio task is not on the stack.
            below = _frames_below(frame)
            while done < len(chain) and not (chain[done].frame is not None and id(chain[done].frame) in below):
                made.append(StackFrame(chain[done], chain[done].frame, _line_now(chain[done])))
                done += 1
        place = _place(chain, done, frame)
        if at_line is not None and (
            place == 0 or (place is None and done == 0 and _implements(chain[:1], 0, frame) == 0)
        ):
            # The lines of the innermost call's own function, then the call.
            made.append(StackFrame(None, frame, frame.f_lineno))
            made.append(StackFrame(chain[0], None, 0))
            done = 1
        elif place is not None:
            for missing in chain[done:place]:
                made.append(StackFrame(missing, None, 0))
            shown = chain[place]
            made.append(StackFrame(shown, frame, 0 if shown is held else frame.f_lineno))
            done = place + 1
        elif id(frame) not in seen and (_sources.is_user(filename) or frame is at_line):
            marker = _implements(chain, done, frame)
            if marker is not None:
                for missing in chain[done:marker]:
                    made.append(StackFrame(missing, None, 0))
                made.append(StackFrame(chain[marker], frame, frame.f_lineno))
                done = marker + 1
            else:
                made.append(StackFrame(None, frame, frame.f_lineno))
        elif not _stops.just_my_code and not _sources.is_ours(filename) and not filename.startswith("<"):
            made.append(StackFrame(None, frame, frame.f_lineno, True))
        elif code.co_name in _RUNNERS and _sources.is_ours(filename):
            inside = frame.f_locals.get("call")
            if inside in chain[done:]:
                place = chain.index(inside)
                made.extend(StackFrame(missing, None, 0) for missing in chain[done : place + 1])
                done = place + 1
        frame = frame.f_back
    made.extend(StackFrame(missing, None, 0) for missing in chain[done:])
    return made


def _frames_below(frame: Any) -> set[int]:
    found: set[int] = set()
    while frame is not None:
        found.add(id(frame))
        frame = frame.f_back
    return found


def _line_now(call: Call) -> int:
    return int(call.frame.f_lineno or 0) if call.frame is not None else 0


def _of_uncaught(held: Call, chain: list[Call]) -> list[StackFrame]:
    """The frames are gone from the thread; the traceback still has them."""
    outermost_first: list[StackFrame] = []
    left = chain[::-1]
    tb = held.error.__traceback__ if held.error is not None else None
    while tb is not None:
        frame = tb.tb_frame
        call = next((c for c in left if c.frame is frame), None)
        if call is None and frame.f_code.co_name in _RUNNERS and _sources.is_ours(frame.f_code.co_filename):
            inside = frame.f_locals.get("call")
            call = inside if inside in left else None
        elif call is None and (inside := _uncaught.failed_call(frame)) in left:
            call = inside
            while left[0] is not call:
                outermost_first.append(StackFrame(left.pop(0), None, 0))
        if call is not None:
            left.remove(call)
            outermost_first.append(StackFrame(call, call.frame, tb.tb_lineno if call.frame is frame else 0))
        elif _sources.is_user(frame.f_code.co_filename):
            above = outermost_first[-1] if outermost_first else None
            if above is not None and above.call is not None and above.frame is None and _runs(above.call, frame):
                above.frame, above.line = frame, tb.tb_lineno
            else:
                outermost_first.append(StackFrame(None, frame, tb.tb_lineno))
        tb = tb.tb_next
    if held in left and not held.function.id:
        # No call failed but the program itself: the person's lines come first.
        outermost_first.insert(0, StackFrame(held, None, 0))
        left.remove(held)
    outermost_first.extend(StackFrame(call, None, 0) for call in left)
    return outermost_first[::-1]


def _place(chain: list[Call], done: int, frame: Any) -> int | None:
    for index in range(done, len(chain)):
        if chain[index].frame is frame:
            return index
    return None


def _implements(chain: list[Call], done: int, frame: Any) -> int | None:
    """The framework call whose function this frame runs: one entry, not two."""
    for index in range(done, len(chain)):
        if chain[index].frame is None and _runs(chain[index], frame):
            return index
    return None


def _head(path: str, code: Any) -> int:
    try:
        spot = _sources.file(path).by_key.get((path, code.co_firstlineno, code.co_name))
    except (OSError, SyntaxError, ValueError):
        spot = None
    return spot.head if spot is not None else int(code.co_firstlineno)


def _implementation(call: Call, inner: list[tuple[Any, int]]) -> tuple[Any, int] | None:
    """The frame of the call's own function in the traceback of its error, with its line."""
    return next((entry for entry in inner[::-1] if _runs(call, entry[0])), None)


def _runs(call: Call, frame: Any) -> bool:
    """Whether this frame runs the function of a framework's call."""
    fn = call.function
    code = frame.f_code
    path = real_path(code.co_filename)
    return fn.kind != "workflow" and fn.path == path and code.co_firstlineno <= fn.line <= _head(path, code)


def _traceback_frames(call: Call) -> list[tuple[Any, int]]:
    """The person's frames inside the call from which its error came, innermost first."""
    error = call.error
    found: list[tuple[Any, int]] = []
    tb = error.__traceback__ if error is not None else None
    while tb is not None:
        if call.frame is not None and tb.tb_frame is call.frame:
            found = []
        elif _sources.is_user(tb.tb_frame.f_code.co_filename):
            found.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    return found[::-1]


def describe(hold: Any) -> list[dict[str, Any]]:
    """The frames as the adapter gets them; names are made anew, since arguments may have been edited."""
    return [_describe(hold, entry) for entry in hold.frames]


def function_name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")


def _describe(hold: Any, entry: StackFrame) -> dict[str, Any]:
    call = entry.call
    if call is None:
        code = entry.frame.f_code
        return {
            "id": entry.id,
            "kind": "source",
            "name": function_name(code),
            "detail": "",
            "path": code.co_filename,
            "line": entry.line,
            "subtle": entry.subtle,
            "canRestart": False,
        }
    fn = call.function
    path, line = fn.path, entry.line or _own_line(hold, call) or fn.line
    if call.adapter is not None:
        location = _report.guard(call.adapter.location, call)
        if location and not entry.line:
            path, line = location
    if (called := _called_at(hold, entry)) is not None:
        path, line = called
    made: dict[str, Any] = {
        "id": entry.id,
        "call": call.number,
        "kind": call.kind,
        "name": title(call),
        "detail": _detail(hold, call),
        "line": line,
        "subtle": False,
        "canRestart": call is hold.call and not hold.stop.uncaught and hold.boundary != "line",
    }
    if path:
        made["path"] = path
        if path == fn.path and line >= fn.line and fn.end_line > line:
            made["endLine"] = fn.end_line
    else:
        made["line"] = 0
    return made


def _called_at(hold: Any, entry: StackFrame) -> tuple[str, int] | None:
    """A held workflow has no code of its own, only the line that compiled it, which runs no more: it stands where a person's code calls it."""
    call = entry.call
    if call is None or call is not hold.call or call.kind != "workflow":
        return None
    if call.function.end_line > call.function.line:  # Made from a function.
        return None
    place = hold.frames.index(entry) + 1
    outer = next((one for one in hold.frames[place:] if not one.subtle), None)
    if outer is None or outer.frame is None or not outer.line:
        return None
    return outer.frame.f_code.co_filename, outer.line


def _own_line(hold: Any, call: Call) -> int:
    """Where an error left the call's own function."""
    if call is not hold.call or hold.boundary != "error" or call.error is None or call.frame is None:
        return 0
    tb = call.error.__traceback__
    line = 0
    while tb is not None:
        if tb.tb_frame is call.frame:
            line = tb.tb_lineno
        tb = tb.tb_next
    return line


def _detail(hold: Any, call: Call) -> str:
    text = ""
    if call.adapter is not None:
        text = _report.guard(call.adapter.detail, call) or ""
    text = text or {"llm": "model"}.get(call.kind, call.kind)
    return f"{text}, {hold.boundary}" if call is hold.call and hold.boundary != "line" else text


def title(call: Call) -> str:
    """`lookup_order(order_id=7, region='eu')`, cut in the middle; nodes and workflows by name alone."""
    if call.kind not in ("tool", "function", "http", "native"):
        return call.name
    parts = [f"{name}={short(value)}" for name, value in list(call.args.items())]
    text = ", ".join(parts)
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH * 2 // 3]}…{text[-(_WIDTH // 3) :]}"
    return f"{call.function.shown}({text})"


def short(value: Any, width: int = 30) -> str:
    """A value in a few letters, without running code of the app."""
    kind = type(value)
    if kind in _PLAIN:
        text = (
            repr(value[: width * 4] + value[-width * 2 :])
            if kind in (str, bytes) and len(value) > width * 8
            else _static.int_text(value)
            if kind is int
            else repr(value)
        )
        return text if len(text) <= width else f"{text[: width * 2 // 3]}…{text[-(width // 3) :]}"
    if kind in (list, dict, tuple, set, frozenset):
        return f"{kind.__name__} ({len(value)})"
    return kind.__name__


def where(task: _call_types.Task) -> str:
    """`in llm:gpt-x, 12 s`; empty between calls."""
    call = task.innermost
    if call is None or call.ended:
        return ""
    seconds = (Real.monotonic_ns() - call.started_ns) / 1e9
    return (
        f"in {call.kind}:{call.function.shown}, {seconds:.1f} s"
        if seconds < 10
        else f"in {call.kind}:{call.function.shown}, {seconds:.0f} s"
    )
