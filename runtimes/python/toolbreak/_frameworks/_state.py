"""What a node's answer does to the state, worked out before LangGraph writes it and without running a person's reducer.

LangGraph itself merges after the node's writers ran, when the route is taken already; a stop after a node needs it earlier.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from .. import _static

_SEQUENCES = (list, tuple, str, int, float)
#: Wraps a value that replaces what a reducer would have merged; LangGraph 1.0 and later has it.
_ADD = (operator.add, operator.concat, operator.iadd)
#: The same as JSON has it.
_OVERWRITES = {"__overwrite__"}


def _overwrites() -> bool:
    return hasattr(sys.modules.get("langgraph.types"), "Overwrite")


class NotMerged(ValueError):
    """A person's own reducer decides; it is not run for the recording."""


def fields_of(state: Any) -> dict[str, Any] | None:
    """The state's keys, read without its code: a dict, or a dataclass or model. None: it has no keys."""
    if type(state) is dict:
        return state
    if isinstance(state, dict):
        return dict(_static.pairs_of(state))
    if isinstance(state, (list, tuple, str, bytes, int, float)) or state is None:
        return None
    return _static.shape_of(type(state)).fields(state)


def copy_of(state: Any) -> Any:
    """A copy for the difference: lists and dicts of the first level are copied, what is in them is not."""
    fields = state.copy() if type(state) is dict else fields_of(state)
    if fields is None:
        return state[:] if type(state) is list else state
    for key, value in fields.items():
        kind = type(value)
        if kind is list or kind is dict or kind is set:
            fields[key] = value.copy()
    return fields


def updates_of(answer: Any) -> list[tuple[str, Any]]:
    """(key, value) pairs that a node's answer writes: a dict, a Command, a list of them, or a state object."""
    if answer is None:
        return []
    if isinstance(answer, dict):
        return _static.pairs_of(answer)
    if type(answer).__name__ == "Command":
        if answer.graph == "__parent__":
            return []
        update = answer.update
        if isinstance(update, (list, tuple)) and all(isinstance(item, tuple) and len(item) == 2 for item in update):
            return list(update)  # type: ignore[arg-type]
        return updates_of(update)
    if isinstance(answer, (list, tuple)):
        found: list[tuple[str, Any]] = []
        for item in answer:
            if isinstance(item, dict) or type(item).__name__ == "Command":
                found.extend(updates_of(item))
        return found
    fields = fields_of(answer)
    return [(key, value) for key, value in fields.items() if _writes(answer, key, value)] if fields else []


def _writes(answer: Any, key: str, value: Any) -> bool:
    """Of a Pydantic model LangGraph takes no None that was not set, where None is what the field has by itself."""
    if value is not None:
        return True
    try:
        fields = type.__getattribute__(type(answer), "__pydantic_fields__")
        return key in object.__getattribute__(answer, "__pydantic_fields_set__") or fields[key].default is not None
    except (AttributeError, KeyError):
        return True


def goto_of(answer: Any) -> list[str]:
    """Where a node's Command sends the run."""
    found: list[str] = []
    for item in answer if isinstance(answer, (list, tuple)) else [answer]:
        if type(item).__name__ == "Command":
            targets = item.goto if isinstance(item.goto, (list, tuple)) else [item.goto]
            found.extend(str(getattr(target, "node", target)) for target in targets if target)
    return found


def merge(before: dict[str, Any], updates: list[tuple[str, Any]], channels: Any) -> tuple[dict[str, Any], list[str]]:
    """The state after the updates, and the keys that only a person's own reducer could merge (left as they were)."""
    after = dict(before)
    unmerged: list[str] = []
    for key, value in updates:
        channel = channels.get(key) if channels is not None else None
        if channel is None and key not in before:
            continue
        try:
            after[key] = _merged(channel, after.get(key), value)
        except NotMerged:
            if key not in unmerged:
                unmerged.append(key)
    return after, unmerged


#: Types whose values no channel takes for anything but a value. By the type's id: a metaclass may have a hash of its own.
_PLAIN = frozenset(map(id, (str, int, float, bool, type(None), bytes, list, dict, tuple, set)))


_last_value: Any = None


def _find_last_value() -> Any:
    global _last_value
    _last_value = getattr(sys.modules.get("langgraph.channels.last_value"), "LastValue", None)
    return _last_value


def overwritten(before: dict[str, Any], updates: dict[Any, Any], channels: Any) -> dict[str, Any] | None:
    """`merge` where every channel keeps its last value, as most do. None: it has to be asked."""
    if channels is None:
        return None
    last_value = _last_value or _find_last_value()
    after = before.copy()
    for key, value in updates.items():
        channel = channels.get(key)
        if type(channel) is last_value and id(type(value)) in _PLAIN:
            after[key] = value
        elif channel is not None or key in before:
            return None
    return after


def graph_values(updates: list[tuple[str, Any]], channels: Any) -> dict[str, Any]:
    """What the graph has of the keys that a reducer will merge these updates into, since the step began."""
    found = {key: getattr(channels.get(key), "value", None) for key, _ in updates if has_reducer(channels, key)}
    # A bare object stands for a channel that nothing was written to yet.
    return {key: None if type(value) is object else value for key, value in found.items()}


def has_reducer(channels: Any, key: str) -> bool:
    channel = channels.get(key) if channels is not None else None
    return channel is not None and getattr(channel, "operator", None) is not None


def _merged(channel: Any, old: Any, value: Any) -> Any:
    if type(value).__name__ == "Overwrite" and hasattr(value, "value"):
        return value.value
    reducer = getattr(channel, "operator", None)
    if reducer is not None and type(value) is dict and value.keys() == _OVERWRITES and _overwrites():
        return value["__overwrite__"]
    if reducer is None:
        if type(channel).__name__ in ("DeltaChannel", "Topic"):
            raise NotMerged
        return value
    name = getattr(reducer, "__name__", "")
    module = getattr(reducer, "__module__", "") or ""
    if reducer in _ADD or (module == "builtins" and name == "__add__"):
        if old is None:
            return value
        if type(old) is type(value) and type(old) in _SEQUENCES:
            return old + value
    elif name in ("add_messages", "_add_messages") and module.startswith("langgraph."):
        return add_messages(old, value)
    elif reducer in (operator.or_, operator.ior) and type(old) is type(value) and type(old) in (dict, set, frozenset):
        return old | value
    raise NotMerged


def add_messages(old: Any, new: Any) -> list[Any]:
    """As LangGraph's reducer of that name, without giving out ids: appended, replaced by id, or removed."""
    left = list(old) if isinstance(old, list) else []
    right = list(new) if isinstance(new, (list, tuple)) and not _is_pair(new) else [new]
    removed: set[int] = set()
    for given in right:
        message = _message(given)
        identity = _field(message, "id")
        removes = _field(message, "type") == "remove"
        if removes and identity == "__remove_all__":
            left = []
            removed.clear()
            continue
        place = next(
            (i for i, item in enumerate(left) if identity is not None and _field(item, "id") == identity), None
        )
        if removes:
            if place is not None:
                removed.add(place)
        elif place is None:
            left.append(message)
        else:
            # One that was removed just now comes back where it was.
            left[place] = message
            removed.discard(place)
    return [message for index, message in enumerate(left) if index not in removed]


def _message(given: Any) -> Any:
    """What LangGraph makes of a text, a pair, a dict, or a piece of a stream."""
    short = isinstance(given, (str, dict, tuple, list))
    if not short and not type(given).__name__.endswith("Chunk"):
        return given
    from langchain_core.messages import BaseMessageChunk, convert_to_messages, message_chunk_to_message

    try:
        if short:
            return convert_to_messages([given])[0]
        return message_chunk_to_message(given) if isinstance(given, BaseMessageChunk) else given
    except Exception:
        return given  # The graph itself says what is wrong with it.


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def _field(message: Any, name: str) -> Any:
    if isinstance(message, dict):
        return message.get(name)
    try:
        return object.__getattribute__(message, "__dict__").get(name)
    except AttributeError:
        return None
