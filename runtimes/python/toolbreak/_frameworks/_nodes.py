"""Nodes of LangGraph: one call for each attempt of a task, with the state before, and after in time to change the route.

A task's `proc` is the node followed by its writers. It is copied with a step of ours in the node's place, so that a stop after the node
comes before anything is written.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import weakref
from collections.abc import AsyncIterator
from typing import Any

from .. import _boundaries, _call_types, _calls, _report, _stops
from . import _state
from ._origin import code_of, function_for
from ._patch import prune
from ._tools import adapter_of

#: What LangGraph calls a graph that was given no name.
UNNAMED = "LangGraph"
#: Builder to the line that added each node.
_added: weakref.WeakKeyDictionary[Any, dict[str, tuple[str, int]]] = weakref.WeakKeyDictionary()
#: By the runnable's id: the runnable, weakly, and what is known of it.
_known: dict[tuple[int, str], tuple[Any, NodeInfo]] = {}
#: The newest call of each LangGraph task that is running, by the task's id.
_newest: dict[str, _call_types.Call] = {}


def _weak(thing: Any) -> Any:
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


class NodeInfo:
    """What stays the same of a node: its function, and what it runs."""

    __slots__ = ("_bound", "_is_call", "code", "function")

    def __init__(self, function: _call_types.Function, code: Any, bound: Any, is_call: bool) -> None:
        self.function = function
        self.code = code
        self._is_call = is_call
        # Weakly, since it may hold its whole app: apps make graphs for one request each.
        self._bound = _weak(bound)

    @property
    def graph(self) -> Any:
        """The graph, where the node is one of the same name or of none: it is this call, not one more."""
        return self._bound() if self._is_call else None

    @property
    def tools(self) -> dict[str, Any] | None:
        tools = getattr(self._bound(), "tools_by_name", None)
        return tools if isinstance(tools, dict) else None


def is_internal(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def added(builder: Any, line: tuple[str, int]) -> None:
    """Notes the line of the node that `add_node` just added."""
    lines = _added.setdefault(builder, {})
    for name in builder.nodes:
        lines.setdefault(name, line)


def target_of(runnable: Any) -> Any:
    """The person's callable behind a node."""
    for name in ("func", "afunc"):
        try:
            found = getattr(runnable, name, None)
        except Exception:
            continue
        if found is not None:
            return found
    return None


def declare(builder: Any, workflow: str, name: str, bound: Any) -> NodeInfo:
    """Makes a node known when its graph is compiled, or when it first runs."""
    first = _first_step(bound)
    key = (id(first), name)
    known = _known.get(key)
    if known is not None and known[0]() is first:
        return known[1]
    line = _added.get(builder, {}).get(name, ("", 0)) if builder is not None else ("", 0)
    qualname = f"{workflow}.{name}" if workflow else name
    graph = bound if _is_graph(bound) and str(bound.name) in (name, UNNAMED) else None
    target = None
    if graph is not None:
        from .langgraph import compiled_at, function_of

        unnamed = str(graph.name) != name
        function = (
            function_for("workflow", None, name, qualname=qualname, added=compiled_at(graph))
            if unnamed
            else function_of(graph)
        )
    else:
        target = target_of(bound)
        function = function_for("node", target, name, qualname=qualname, added=line)
    info = NodeInfo(function, code_of(target), bound, graph is not None)
    if len(_known) > 2000:
        _known.clear()
    try:
        _known[key] = (weakref.ref(first), info)
    except TypeError:
        pass
    return info


def _first_step(bound: Any) -> Any:
    """A task has the steps of a sequence one by one; the first stands for the whole."""
    if type(bound).__name__ in ("RunnableSequence", "RunnableSeq"):
        return bound.steps[0]
    return bound


def _is_graph(bound: Any) -> bool:
    from langgraph.pregel.main import Pregel

    return isinstance(bound, Pregel)


class NodeCall(_call_types.CallAdapter):
    """One attempt of a node: its input, its answer, the state in between."""

    __slots__ = ("args", "channels", "exploded", "given", "info", "step", "task")

    def __init__(self, info: NodeInfo, given: Any, config: Any, exploded: bool) -> None:
        self.info = info
        self.given = given
        #: A @task: what it is given is its arguments, not a state.
        self.exploded = exploded
        self.args = (
            _task_arguments(info, given)
            if exploded
            else {}
            if _state.fields_of(given) is not None
            else {"input": given}
        )
        configurable = config.get("configurable") or {}
        self.channels = _channels(configurable)
        self.task: str = configurable.get("__pregel_task_id", "")
        metadata = config.get("metadata") or {}
        self.step = metadata.get("langgraph_step")

    def started(self, call: _call_types.Call) -> None:
        _newest[self.task] = call

    def detail(self, call: _call_types.Call) -> str:
        return f"{call.kind}, step {self.step}" if self.step is not None else call.kind

    def returned(self, call: _call_types.Call, result: Any) -> None:
        before = _state.fields_of(self.given)
        if before is None:
            return
        updates = _state.updates_of(result)
        call.state, unmerged = _state.merge(before, updates, self.channels)
        call.changes = dict(updates)
        if unmerged:
            call.set(**{"langgraph.unmerged": unmerged})
        goto = _state.goto_of(result)
        if goto:
            call.set(**{"langgraph.goto": goto})

    def check_result(self, call: _call_types.Call, value: Any) -> Any:
        """A changed answer changes the state that is shown."""
        if value is not None and not isinstance(value, (dict, list, tuple)) and _state.fields_of(value) is None:
            raise ValueError("a node answers with a dict of state keys, a Command, or None")
        self.returned(call, value)
        return value

    def applied_state(self, call: _call_types.Call, value: Any) -> None:
        """Before: the node gets the edited state. After: its answer is changed so that the edited state comes out."""
        if call.boundary != "after":
            self.given = value
            return
        before = _state.fields_of(self.given) or {}
        merged, _ = _state.merge(before, _state.updates_of(call.result), self.channels)
        wanted = _state.fields_of(value) or {}
        patch: dict[str, Any] = {}
        for key, item in wanted.items():
            if key in merged and (item is merged[key] or _same(item, merged[key])):
                continue
            patch[key] = _overwrite(key, item) if _state.has_reducer(self.channels, key) else item
        if patch:
            call.result = _with(call.result, patch)
            call.changes = dict(_state.updates_of(call.result))

    def messages(self, call: _call_types.Call) -> list[Any] | None:
        state = call.state
        fields = _state.fields_of(state)
        found = fields.get("messages") if fields else state
        return found if isinstance(found, list) else None

    def step_targets(self, call: _call_types.Call) -> list[tuple[int, str, int]]:
        """The tool calls that the newest model message asks for, when this node runs tools."""
        tools = self.info.tools
        if tools is None:
            return []
        targets: list[tuple[int, str, int]] = []
        for number, wanted in enumerate(pending_tools(self.given), 1):
            tool = tools.get(wanted.get("name") or "")
            line = adapter_of(tool).function.line if tool is not None else 0
            arguments = ", ".join(f"{name}={value!r}" for name, value in (wanted.get("args") or {}).items())
            targets.append((number, f"{wanted.get('name')}({arguments})", line))
        return targets

    def tool_started(self, tool_call_id: str) -> int | None:
        """Which of `step_targets` a tool call is; None when it is none of them."""
        for number, wanted in enumerate(pending_tools(self.given), 1):
            if wanted.get("id") == tool_call_id:
                return number
        return None


def pending_tools(given: Any) -> list[dict[str, Any]]:
    """Tool calls of the newest AI message in a state, or those that were sent to the node one by one."""
    if isinstance(given, dict) and given.get("__type") == "tool_call_with_context":
        return [given["tool_call"]]
    if isinstance(given, list) and given and isinstance(given[-1], dict) and given[-1].get("type") == "tool_call":
        return list(given)
    fields = _state.fields_of(given)
    messages = fields.get("messages") if fields else given
    for message in reversed(messages if isinstance(messages, list) else []):
        own = getattr(message, "__dict__", {})
        if own.get("type") == "ai" or type(message).__name__ in ("AIMessage", "AIMessageChunk"):
            return list(own.get("tool_calls") or [])
    return []


def _same(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:
        return False


def _overwrite(key: str, value: Any) -> Any:
    try:
        from langgraph.types import Overwrite  # type: ignore[attr-defined]
    except ImportError:
        raise ValueError(
            f"this LangGraph merges {key} with its reducer and cannot overwrite it (1.0 can); edit {key} in the result instead"
        ) from None
    return Overwrite(value)


def _with(answer: Any, patch: dict[str, Any]) -> Any:
    if answer is None:
        return patch
    if isinstance(answer, dict):
        return {**answer, **patch}
    if type(answer).__name__ == "Command":
        return dataclasses.replace(answer, update={**dict(_state.updates_of(answer)), **patch})
    if isinstance(answer, (list, tuple)):
        return [*answer, patch]
    return {**(_state.fields_of(answer) or {}), **patch}


def _channels(configurable: dict[str, Any]) -> Any:
    """The graph's channels, from the reader that LangGraph puts into a task's config."""
    read = configurable.get("__pregel_read")
    arguments = getattr(read, "args", ())
    return arguments[1] if len(arguments) > 1 and hasattr(arguments[1], "get") else None


class NodeStep:
    """Stands in the `proc` of a node's tasks where the node stood, and runs it as a call."""

    def __init__(self, steps: list[Any], name: str) -> None:
        self.steps = steps
        self.name = name
        self.explodes = getattr(steps[0], "explode_args", False) is True
        #: By the workflow's name.
        self.infos: dict[str, NodeInfo] = {}
        #: The call, in a step that stands for one task alone: it failed, and the error may end the run.
        self.failed: _call_types.Call | None = None

    def _prepare(self, given: Any, config: Any) -> tuple[NodeCall, dict[str, Any]] | None:
        try:
            above = _calls.current()
            while above is not None and above.function.kind != "workflow":
                above = above.parent
            if (
                above is not None
                and above.pending is not None
                and above.pending == _call_types.code_key(code_of(target_of(self.steps[0])))
            ):
                return None  # An @entrypoint: its workflow call is this call.
            workflow = above.function.name if above is not None else ""
            info = self.infos.get(workflow)
            if info is None:
                info = self.infos[workflow] = declare(None, workflow, self.name, self.steps[0])
            adapter = NodeCall(info, given, config, self.explodes)
            attributes: dict[str, Any] = {"langgraph.task.id": adapter.task}
            metadata = config.get("metadata") or {}
            if "langgraph_step" in metadata:
                attributes["langgraph.step"] = metadata["langgraph_step"]
            if "langgraph_checkpoint_ns" in metadata:
                attributes["langgraph.checkpoint_ns"] = metadata["langgraph_checkpoint_ns"]
            return adapter, attributes
        except Exception as error:
            _report.failure(error)
            return None

    def _options(self, adapter: NodeCall, attributes: dict[str, Any]) -> dict[str, Any]:
        state = None if adapter.args else adapter.given
        return {
            "adapter": adapter,
            "state": state,
            "state_before": _report.guard(_state.copy_of, state),
            "attributes": attributes,
            "pending": adapter.info.code,
            "started": adapter.started,
        }

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        prepared = self._prepare(input, config) if _calls.attached else None
        if prepared is None:
            return self._run(input, config, kwargs)
        adapter, attributes = prepared

        def run(edited: dict[str, Any]) -> Any:
            _again(adapter, edited)
            token = _hand(adapter)
            try:
                return self._run(adapter.given, config, kwargs)
            finally:
                _take_back(token)

        return _boundaries.execute(adapter.info.function, adapter.args, run, **self._options(adapter, attributes))

    def _run(self, input: Any, config: Any, kwargs: dict[str, Any]) -> Any:
        value = self.steps[0].invoke(input, config, **kwargs)
        for step in self.steps[1:]:
            value = step.invoke(value, config)
        return value

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        prepared = self._prepare(input, config) if _calls.attached else None
        if prepared is None:
            return await self._arun(input, config, kwargs)
        adapter, attributes = prepared

        async def run(edited: dict[str, Any]) -> Any:
            _again(adapter, edited)
            token = _hand(adapter)
            try:
                return await self._arun(adapter.given, config, kwargs)
            finally:
                _take_back(token)

        try:
            return await _boundaries.aexecute(
                adapter.info.function, adapter.args, run, **self._options(adapter, attributes)
            )
        except asyncio.CancelledError as error:
            raise _final(error) from None

    async def _arun(self, input: Any, config: Any, kwargs: dict[str, Any]) -> Any:
        value = await self.steps[0].ainvoke(input, config, **kwargs)
        for step in self.steps[1:]:
            value = await step.ainvoke(value, config)
        return value

    async def astream(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """For runs whose events are streamed: the pieces are given on after the stop, joined as LangGraph joins them."""
        prepared = self._prepare(input, config) if _calls.attached else None
        if prepared is None:
            async for piece in self._pieces(input, config, kwargs):
                yield piece
            return
        adapter, attributes = prepared
        pieces: list[Any] = []
        joined: list[Any] = []

        async def run(edited: dict[str, Any]) -> Any:
            _again(adapter, edited)
            pieces.clear()
            joined.clear()
            token = _hand(adapter)
            try:
                async for piece in self._pieces(adapter.given, config, kwargs):
                    pieces.append(piece)
            finally:
                _take_back(token)
            joined.append(_joined(pieces))
            return joined[0]

        try:
            result = await _boundaries.aexecute(
                adapter.info.function, adapter.args, run, **self._options(adapter, attributes)
            )
        except asyncio.CancelledError as error:
            raise _final(error) from None
        if joined and result is joined[0]:
            for piece in pieces:
                yield piece
        else:
            yield result

    async def _pieces(self, input: Any, config: Any, kwargs: dict[str, Any]) -> AsyncIterator[Any]:
        source = self.steps[0].astream(input, config, **kwargs)
        for step in self.steps[1:]:
            source = step.atransform(source, config)
        async for piece in source:
            yield piece


def _task_arguments(info: NodeInfo, given: Any) -> dict[str, Any]:
    """Arguments of a @task by name."""
    import inspect

    positional, keywords = given
    names = info.code.co_varnames[: info.code.co_argcount] if info.code is not None else ()
    if info.code is not None and info.code.co_flags & inspect.CO_VARARGS:
        names = ()
    found = {names[i] if i < len(names) else f"input{i or ''}": value for i, value in enumerate(positional)}
    return {**found, **keywords}


def _exploded(given: Any, edited: dict[str, Any]) -> Any:
    """The way back: as many positional arguments as there were."""
    positional, keywords = given
    values = list(edited.values())
    rest = dict(list(edited.items())[len(positional) :])
    return tuple(values[: len(positional)]), {**keywords, **rest}


def _again(adapter: NodeCall, edited: dict[str, Any]) -> None:
    """What the node is given now; run once more, a call starts from the state before."""
    if adapter.exploded:
        adapter.given = _exploded(adapter.given, edited)
    elif adapter.args:
        adapter.given = edited.get("input")
    call = _calls.current()
    if call is not None and call.adapter is adapter and not adapter.args:
        call.state = adapter.given
        call.changes = None


def _hand(adapter: NodeCall) -> Any:
    graph = adapter.info.graph
    if graph is None:
        return None
    from .langgraph import handed

    return handed.set(graph)


def _take_back(token: Any) -> None:
    if token is not None:
        from .langgraph import handed

        handed.reset(token)


def _final(error: asyncio.CancelledError) -> BaseException:
    """A person's cancel, in a form that ends the run: LangGraph takes a CancelledError for its own tidying up, and calls the run a success."""
    each: BaseException | None = error
    while each is not None:  # Python 3.10 makes a new one for each task that it leaves.
        if _boundaries.is_cancel(each):
            return _boundaries.Cancelled(*each.args)
        each = each.__context__
    return error


def _joined(pieces: list[Any]) -> Any:
    whole: Any = None
    addable = False
    for piece in pieces:
        if addable:
            try:
                whole = whole + piece
                continue
            except TypeError:
                addable = False
        whole = piece
    return whole


class _Kept:
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
        own[_KEPT] = _Kept(proc, task.name, made)
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
    changed.steps = [NodeStep(body, name), *steps[len(body) :]]
    return changed


def _step_of(task: Any) -> NodeStep | None:
    proc = getattr(task, "proc", None)
    steps = getattr(proc, "steps", None)
    first = proc if isinstance(proc, NodeStep) else steps[0] if isinstance(steps, list) and steps else None
    return first if isinstance(first, NodeStep) else None


def _note_failed(task: Any, error: BaseException) -> bool:
    """The error may be on its way out of the program: its traceback keeps this task, and with it what the call saw. False: nothing was noted."""
    step = _step_of(task)
    call = _newest.get(task.id) if step is not None else None
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


def wrap_run(original: Any) -> Any:
    def run_with_retry(task: Any, *args: Any, **kwargs: Any) -> Any:
        if not _calls.attached:
            return original(task, *args, **kwargs)
        proc = task.proc
        changed = _report.guard(_with_step, task)
        if changed is None:
            return original(task, *args, **kwargs)
        _set_proc(task, changed)
        try:
            result = original(task, *args, **kwargs)
        except BaseException as error:
            prune(error)
            if not _report.guard(_note_failed, task, error):
                _set_proc(task, proc)
            raise
        else:
            _set_proc(task, proc)
            return result
        finally:
            _newest.pop(task.id, None)

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
            prune(error)
            if not _report.guard(_note_failed, task, error):
                _set_proc(task, proc)
            raise
        else:
            _set_proc(task, proc)
            return result
        finally:
            _newest.pop(task.id, None)

    return arun_with_retry


def routed(branch: Any, result: Any, config: Any) -> None:
    """A conditional edge chose: noted with the node it follows."""
    chosen = list(result) if isinstance(result, (list, tuple)) else [result]
    ends = branch.ends or {}
    names: list[str] = []
    for item in chosen:
        node = getattr(item, "node", None)
        names.append(node if isinstance(node, str) else str(ends.get(item, item)))
    call = _newest.get((config.get("configurable") or {}).get("__pregel_task_id", ""))
    if call is not None and _calls.writer is not None:
        _calls.writer.event("route", call, {"to": names})
