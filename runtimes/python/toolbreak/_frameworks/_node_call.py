"""One attempt of a node: its input, its answer, the state in between."""

from __future__ import annotations

import dataclasses
from typing import Any

from .. import _call_types, _standard
from . import _state
from ._node_info import NodeInfo
from ._tools import adapter_of

#: The newest call of each LangGraph task that is running, by the task's id.
newest: dict[str, _call_types.Call] = {}


class NodeCall(_call_types.CallAdapter):
    """One attempt of a node: its input, its answer, the state in between."""

    __slots__ = ("args", "channels", "exploded", "given", "had", "info", "metadata", "task")

    def __init__(self, info: NodeInfo, given: Any, config: Any, exploded: bool) -> None:
        self.info = info
        self.given = given
        #: Its keys before the node ran: what that assigns to its own input is nobody else's.
        self.had = _had(given)
        #: A @task: what it is given is its arguments, not a state.
        self.exploded = exploded
        self.args: dict[str, Any] = (
            _task_arguments(info, given)
            if exploded
            else {}
            if type(given) is dict or _state.fields_of(given) is not None
            else {"input": given}
        )
        configurable = config.get("configurable") or {}
        self.channels = _channels(configurable)
        self.task: str = configurable.get("__pregel_task_id", "")
        self.metadata: dict[str, Any] = config.get("metadata") or {}

    def attributes(self) -> dict[str, Any]:
        told: dict[str, Any] = {"langgraph.task.id": self.task}
        metadata = self.metadata
        if "langgraph_step" in metadata:
            told["langgraph.step"] = metadata["langgraph_step"]
        if "langgraph_checkpoint_ns" in metadata:
            told["langgraph.checkpoint_ns"] = metadata["langgraph_checkpoint_ns"]
        return told

    def detail(self, call: _call_types.Call) -> str:
        step = self.metadata.get("langgraph_step")
        return f"{call.kind}, step {step}" if step is not None else call.kind

    def returned(self, call: _call_types.Call, result: Any) -> None:
        before = self.had
        if before is None:
            return
        if type(result) is dict and (after := _state.overwritten(before, result, self.channels)) is not None:
            call.state = after
            call.changes = result.copy()
            return
        updates = _state.updates_of(result)
        call.state, unmerged = _state.merge(self._merged_with(before, updates), updates, self.channels)
        call.changes = dict(updates)
        if unmerged:
            call.set(**{"langgraph.unmerged": unmerged})
        goto = _state.goto_of(result)
        if goto:
            call.set(**{"langgraph.goto": goto})

    def _merged_with(self, before: dict[str, Any], updates: list[tuple[str, Any]]) -> dict[str, Any]:
        """What an answer is merged with: an input of its own that `Send` gave a node, or a part of the state, is not what the graph has."""
        if "__pregel_push" not in self.metadata.get("langgraph_triggers", ()):
            updates = [update for update in updates if update[0] not in before]
        return {**before, **_state.graph_values(updates, self.channels)}

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
            self.had = _had(value)
            return
        updates = _state.updates_of(call.result)
        before = self._merged_with(self.had or {}, updates)
        merged, _ = _state.merge(before, updates, self.channels)
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


def _had(given: Any) -> dict[str, Any] | None:
    fields = given if type(given) is dict else _state.fields_of(given)
    return None if fields is None else fields.copy()


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


def _task_arguments(info: NodeInfo, given: Any) -> dict[str, Any]:
    """Arguments of a @task by name."""
    inspect = _standard.module("inspect")

    positional, keywords = given
    names = info.code.co_varnames[: info.code.co_argcount] if info.code is not None else ()
    if info.code is not None and info.code.co_flags & inspect.CO_VARARGS:
        names = ()
    found = {names[i] if i < len(names) else f"input{i or ''}": value for i, value in enumerate(positional)}
    return {**found, **keywords}


def exploded(given: Any, edited: dict[str, Any]) -> Any:
    """The way back: as many positional arguments as there were."""
    positional, keywords = given
    values = list(edited.values())
    rest = dict(list(edited.items())[len(positional) :])
    return tuple(values[: len(positional)]), {**keywords, **rest}
