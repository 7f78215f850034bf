"""What stops a task besides breakpoints: a step, a pause, stop on entry, and another task's hold under "hold": "all"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _calls, _report
from ._call_types import Call, Task


class Step:
    """Where one task stops next."""

    def __init__(self, kind: str, call: Call, boundary: str, target: int | None) -> None:
        self.kind = "over" if kind == "in" and boundary != "before" else kind
        self.call = call
        self.parent = call.parent
        self.task = call.task
        self.target = target

    def end(self) -> None:
        """It is over, or another one comes in its place."""

    def matches(self, call: Call, boundary: str) -> bool:
        if boundary == "before":
            if self.kind == "in" and call.parent is self.call:
                return self.target is None or call.step_id is None or call.step_id == self.target
            if self.kind == "out" and self.parent is not None:
                return False
            return call is not self.call and call.parent is self.parent and call.task is self.task
        if call is self.call:
            return self.kind == "in" or (self.kind == "over" and boundary == "error")
        return call is self.parent


_stopping = _calls.stopping
_waiting: list[Any] = []
_paused_tasks = False
#: Tasks that went on while the stop byte was still 1: this pause is over for them. Until the byte was seen as 0.
_released_early: set[Task] = set()
#: Tasks that stand for a pause, or are about to: one that comes meanwhile is the same one.
_standing: set[Task] = set()
#: Stop the first call there is; and whether that happened.
entry = False
entry_done = False
#: Whether one task's hold stops the others, and the number of such holds.
hold_all = False
held = 0


def update_special() -> None:
    _stopping.special = bool(
        _waiting or _paused_tasks or _released_early or (entry and not entry_done) or (hold_all and held)
    )


#: Goes on from a held call to the first line of its function: `_line_steps.enter`.
enter: Callable[[Call], None] | None = None


def released(call: Call, release: Any) -> None:
    """A hold ended: arms the step that was asked for."""
    if release.step:
        boundary = call.boundary or "before"
        step = Step(release.step, call, boundary, release.target)
        call.step_target = release.target
        _waiting.append(step)
        if release.step == "in" and boundary == "before" and release.target is None and enter is not None:
            _report.guard(enter, call)
    went_on(call.task)


def went_on(task: Task) -> None:
    """A hold of this task ended."""
    _standing.discard(task)
    if _stopping.stop_byte[0]:
        _released_early.add(task)
    update_special()
    pauses().look()


def is_released(task: Task) -> None:
    """Its hold is about to end: from here on a pause is for it, too."""
    _standing.discard(task)


def went_on_early(task: Task) -> bool:
    """Whether the pause that the stop byte tells is over for this task."""
    return task in _released_early and not task.pause


def add(step: Any) -> None:
    """A step of another sort (`_line_steps`), with `matches`, `task` and `end`."""
    _waiting.append(step)
    update_special()


def remove(step: Any) -> None:
    if step in _waiting:
        _waiting.remove(step)
    step.end()
    update_special()


def pause(task: int | None) -> None:
    """Stops one task, or every one, at its next boundary or line."""
    global _paused_tasks
    _released_early.clear()
    for each in _calls.tasks():
        if each.id == task or (task is None and each not in _standing):
            each.pause = True
            _paused_tasks = True
    update_special()
    _report.guard(pauses().begin, task)


def reason(call: Call, boundary: str) -> str:
    """Why this call stops here, other than for a breakpoint or an error; empty: it does not."""
    for step in list(_waiting):
        if step.matches(call, boundary):
            remove(step)  # It may have led to another task; its own goes on.
            return "step"
    if entry and not entry_done:
        return "entry"
    if call.task.pause or (hold_all and held):
        return "pause"
    if not _stopping.stop_byte[0]:
        if _released_early:
            _released_early.clear()
            update_special()
        return ""
    return "" if call.task in _released_early else "pause"


def stopped(task: Task, reason: str) -> None:
    """A task stops: what it was asked to stop for is over."""
    global entry_done
    entry_done = True
    if reason == "pause":
        _standing.add(task)
    task.pause = False
    pauses().stands(task)
    for step in [step for step in _waiting if step.task is task]:
        remove(step)
    update_special()


def hold_began(reason: str) -> bool:
    """With "hold": "all", the other tasks stop too. Answers whether this hold counts as one that stops others."""
    global held
    if not hold_all or reason == "pause":
        return False
    held += 1
    update_special()
    return True


def hold_ended() -> None:
    global held
    held = max(0, held - 1)
    update_special()


def drop() -> None:
    """Nothing stops any more."""
    global entry, hold_all, held
    for step in list(_waiting):
        remove(step)
    _released_early.clear()
    _standing.clear()
    _report.guard(pauses().end)
    entry = hold_all = False
    held = 0
    update_special()


def forked() -> None:
    """In a forked child: steps of the parent are the parent's."""
    global held
    _waiting.clear()
    _released_early.clear()
    _standing.clear()
    held = 0
    update_special()


def pauses() -> Any:
    from . import _line_pauses

    return _line_pauses
