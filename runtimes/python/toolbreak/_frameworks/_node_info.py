"""What stays the same of a node of LangGraph: its function, and what it runs."""

from __future__ import annotations

import weakref
from typing import Any

from .. import _call_types
from ._origin import code_of, function_for

#: What LangGraph calls a graph that was given no name.
UNNAMED = "LangGraph"
#: Builder to the line that added each node.
_added: weakref.WeakKeyDictionary[Any, dict[str, tuple[str, int]]] = weakref.WeakKeyDictionary()
#: By the runnable's id: the runnable, weakly, and what is known of it.
_known: dict[tuple[int, str], tuple[Any, NodeInfo]] = {}


def _weak(thing: Any) -> Any:
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


class NodeInfo:
    """What stays the same of a node: its function, and what it runs."""

    __slots__ = ("_bound", "code", "function", "is_call", "key")

    def __init__(self, function: _call_types.Function, code: Any, bound: Any, is_call: bool) -> None:
        self.function = function
        self.code = code
        #: What the call is about to run.
        self.key = _call_types.code_key(code)
        #: Whether the node is a graph of the same name or of none.
        self.is_call = is_call
        # Weakly, since it may hold its whole app: apps make graphs for one request each.
        self._bound = _weak(bound)

    @property
    def graph(self) -> Any:
        """The graph, where the node is one of the same name or of none: it is this call, not one more."""
        return self._bound() if self.is_call else None

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
