"""Nodes of LangGraph: one call for each attempt of a task, with the state before, and after in time to change the route.

A task's `proc` is the node followed by its writers. It is copied with a step of ours in the node's place, so that a stop after the node
comes before anything is written.
"""

from __future__ import annotations

import copy
import weakref
from typing import Any

from .. import _call_types, _calls, _optional, _report, _stops
from ._node_call import newest
from ._node_info import UNNAMED, added, declare, is_internal, target_of
from ._node_step import NodeStep, Passed
from ._patch import prune

__all__ = ["UNNAMED", "added", "declare", "failed_in", "is_internal", "routed", "target_of", "wrap_arun", "wrap_run"]


class Kept:
    """Lies among a sequence's own attributes: the same with our step in it. What holds what the sequence holds must not outlive it."""

    __slots__ = ("changed", "name", "of")

    def __init__(self, of: Any, name: str, changed: Any) -> None:
        self.of = weakref.ref(of)
        self.name = name
        self.changed = changed

    def __reduce__(self) -> Any:
        # In a pickle or a deep copy of the app's, nothing.
        return type(None), ()


_KEPT = "__toolbreak_kept__"
_PASSED = Passed()


def _with_step(task: Any) -> Any:
    """What the task runs, with our step in it; None when there is nothing of a person's in it. Tasks of one node share it."""
    proc = task.proc
    own: dict[str, Any] = getattr(proc, "__dict__", {})
    kept = own.get(_KEPT)
    # A copy of the sequence has what was kept of the first.
    if kept is not None and kept.of() is proc and kept.name == task.name:
        return kept.changed
    if _step_of(task) is not None:
        return proc  # It failed, and runs once more.
    made = None if is_internal(task.name) else _make_proc(proc, task.name)
    if made is not None and not isinstance(made, NodeStep):  # That would keep what it lies in.
        own[_KEPT] = Kept(proc, task.name, made)
    return made


def _make_proc(proc: Any, name: str) -> Any:
    from langgraph.pregel._write import ChannelWrite

    steps = getattr(proc, "steps", None)
    if type(proc).__name__ != "RunnableSeq" or not isinstance(steps, list):
        return None if ChannelWrite.is_writer(proc) else NodeStep([proc], name)
    body = list(steps)
    while body and ChannelWrite.is_writer(body[-1]):
        body.pop()
    if not body:
        return None
    changed = copy.copy(proc)
    changed.__dict__.pop(_KEPT, None)
    changed.steps = [NodeStep(body, name), *[_PASSED] * (len(body) - 1), *steps[len(body) :]]
    return changed


def _step_of(task: Any) -> NodeStep | None:
    proc = getattr(task, "proc", None)
    steps = getattr(proc, "steps", None)
    first = proc if isinstance(proc, NodeStep) else steps[0] if isinstance(steps, list) and steps else None
    return first if isinstance(first, NodeStep) else None


def _note_failed(task: Any, error: BaseException) -> bool:
    """The error may be on its way out of the program: its traceback keeps this task, and with it what the call saw. False: nothing was noted."""
    step = _step_of(task)
    call = newest.get(task.id) if step is not None else None
    if step is None or call is None or call.error is not error or "uncaught" not in _stops.filters:
        return False
    own = NodeStep(step.steps, step.name)
    own.failed = _epitaph(call)
    proc: Any = own
    if task.proc is not step:
        proc = copy.copy(task.proc)
        proc.steps = [own, *proc.steps[1:]]
    _set_proc(task, proc)
    return True


def _epitaph(call: _call_types.Call) -> _call_types.Call:
    """A copy of a call that failed, and of those around it, that keeps neither its error nor frames alive."""
    made = copy.copy(call)
    made.error = made.seen_error = made.raised = made.stashed = made.frame = made.back = made.owner = made.busy = None
    if call.parent is not None:
        made.parent = _epitaph(call.parent)
    return made


def failed_in(frame: Any) -> _call_types.Call | None:
    """The call of the node that this frame of LangGraph ran."""
    if frame.f_code.co_name not in ("run_with_retry", "arun_with_retry"):
        return None
    step = _step_of(frame.f_locals.get("task"))
    return step.failed if step is not None else None


def _set_proc(task: Any, proc: Any) -> None:
    """A task is frozen; it is changed in place, since LangGraph knows its tasks by identity."""
    object.__setattr__(task, "proc", proc)


def _came_out(error: BaseException, task: Any, proc: Any) -> None:
    try:
        prune(error)
        if not _report.guard(_note_failed, task, error):
            _set_proc(task, proc)
    finally:
        newest.pop(task.id, None)


def wrap_run(original: Any) -> Any:
    def run_with_retry(task: Any, *args: Any, **kwargs: Any) -> Any:
        if not _calls.attached:
            return original(task, *args, **kwargs)
        proc = task.proc
        try:
            # Mostly, as `_with_step` says.
            kept = proc.__dict__[_KEPT]
            changed = kept.changed if kept.of() is proc and kept.name == task.name else _report.guard(_with_step, task)
        except (AttributeError, KeyError) as error:
            if _report.is_the_apps(error):
                raise
            changed = _report.guard(_with_step, task)
        if changed is None:
            return original(task, *args, **kwargs)
        _set_proc(task, changed)
        try:
            result = original(task, *args, **kwargs)
        except BaseException as error:
            _came_out(error, task, proc)
            raise
        else:
            _set_proc(task, proc)
            return result
        finally:
            newest.pop(task.id, None)

    if _optional.run_hook is not None:
        return _optional.run_hook(original, run_with_retry, _came_out)
    return run_with_retry


def wrap_arun(original: Any) -> Any:
    async def arun_with_retry(task: Any, *args: Any, **kwargs: Any) -> Any:
        if not _calls.attached:
            return await original(task, *args, **kwargs)
        proc = task.proc
        changed = _report.guard(_with_step, task)
        if changed is None:
            return await original(task, *args, **kwargs)
        _set_proc(task, changed)
        try:
            result = await original(task, *args, **kwargs)
        except BaseException as error:
            _came_out(error, task, proc)
            raise
        else:
            _set_proc(task, proc)
            return result
        finally:
            newest.pop(task.id, None)

    return arun_with_retry


def routed(branch: Any, result: Any, config: Any) -> None:
    """A conditional edge chose: noted with the node it follows."""
    ends = branch.ends
    if type(result) is str:
        names = (result if ends is None else str(ends.get(result, result)),)
    else:
        names = tuple([_name(item, ends or {}) for item in (result if isinstance(result, (list, tuple)) else [result])])
    call = newest.get((config.get("configurable") or {}).get("__pregel_task_id", ""))
    if call is not None and _calls.writer is not None:
        _calls.writer.route(call, names)


def _name(item: Any, ends: Any) -> str:
    node = getattr(item, "node", None)
    return node if isinstance(node, str) else str(ends.get(item, item))
