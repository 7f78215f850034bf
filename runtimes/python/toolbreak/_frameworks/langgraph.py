"""Workflows of LangGraph: when a graph is built, compiled and run. Its nodes are in `_nodes`."""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import Any

from .. import _boundaries, _call_types, _calls, _optional, _report, _uncaught
from . import _nodes, _texts, release
from ._origin import caller, code_of, function_for
from ._patch import need, prune, replace
from ._streams import Inner, Last, aiterate, iterate

OLDEST = (0, 6)

#: The graph whose call is made already: the node that it is, or `invoke`, which streams.
handed: ContextVar[Any] = ContextVar("toolbreak_graph", default=None)

#: Builder to the line that compiled it.
_compiled: weakref.WeakKeyDictionary[Any, tuple[str, int]] = weakref.WeakKeyDictionary()
#: By the graph's id; with the name that it had.
_functions: dict[int, tuple[Any, _call_types.Function, Any]] = {}
#: The function of an @entrypoint, by its workflow.
_entries: dict[_call_types.Function, Any] = {}
_runs: dict[str, int] = {}


class WorkflowAdapter(_call_types.CallAdapter):
    """One run of one graph."""

    def __init__(self, number: int) -> None:
        self.number = number

    def detail(self, call: _call_types.Call) -> str:
        return f"workflow, call {self.number}"


def function_of(graph: Any) -> _call_types.Function:
    """The workflow, at the line that compiled it."""
    known = _functions.get(id(graph))
    # It may be given a name when it is compiled already.
    if known is not None and known[0]() is graph and known[2] == graph.name:
        return known[1]
    name = str(graph.name or _nodes.UNNAMED)
    path, line = compiled_at(graph)
    if getattr(graph, "builder", None) is None:  # Made by @entrypoint: its one node is the function.
        names = [each for each in graph.nodes if not _nodes.is_internal(each)]
        node = graph.nodes[names[0]] if len(names) == 1 else None
        name = names[0] if node is not None and name == _nodes.UNNAMED else name
        target = _nodes.target_of(node.bound) if node is not None else None
        if target is not None:
            made = function_for("workflow", target, name)
            _entries[made] = code_of(target)
            _functions[id(graph)] = (weakref.ref(graph), made, graph.name)
            return made
    made = _calls.function("workflow", name, path=path or None, line=line)
    if len(_functions) > 1000:
        _functions.clear()
    _functions[id(graph)] = (weakref.ref(graph), made, graph.name)
    return made


def compiled_at(graph: Any) -> tuple[str, int]:
    builder = getattr(graph, "builder", None)
    return _compiled.get(builder, ("", 0)) if builder is not None else ("", 0)


def _prepare(
    graph: Any, input: Any, config: Any
) -> tuple[_call_types.Function, dict[str, Any], WorkflowAdapter, dict[str, Any]] | None:
    try:
        function = function_of(graph)
        number = _runs[function.name] = _runs.get(function.name, 0) + 1
        attributes: dict[str, Any] = {"gen_ai.workflow.name": function.name, "run": number}
        if _is_agent(graph):
            attributes["gen_ai.agent.name"] = function.name
        configurable = config.get("configurable") if isinstance(config, dict) else None
        thread = configurable.get("thread_id") if isinstance(configurable, dict) else None
        if thread is not None:
            attributes["gen_ai.conversation.id"] = str(thread)
        return function, {"input": input}, WorkflowAdapter(number), attributes
    except Exception as error:
        _report.failure(error)
        return None


def _is_agent(graph: Any) -> bool:
    """Whether LangChain's `create_agent` made it, which says so."""
    config = getattr(graph, "config", None)
    metadata = config.get("metadata") if isinstance(config, dict) else None
    return isinstance(metadata, dict) and metadata.get("ls_integration") == "langchain_create_agent"


def _came_out(error: BaseException) -> None:
    """Our lines are taken out of its traceback, and the one that is running when it is printed."""
    prune(error)
    if not isinstance(error, (SystemExit, GeneratorExit)):
        _report.guard(_uncaught.watch)


def _taken(graph: Any) -> bool:
    """Whether somebody made the call of this run already; he says so once."""
    if handed.get() is graph:
        handed.set(None)
        return True
    return False


def _wrap_invoke(original: Any) -> Any:
    def invoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        if not _calls.attached or handed.get() is self or (prepared := _prepare(self, input, config)) is None:
            return original(self, input, config, **kwargs)
        function, args, adapter, attributes = prepared

        def run(edited: dict[str, Any]) -> Any:
            token = handed.set(self)
            try:
                return original(self, edited.get("input"), config, **kwargs)
            finally:
                handed.reset(token)

        try:
            return _boundaries.execute(
                function, args, run, adapter=adapter, attributes=attributes, pending=_entries.get(function)
            )
        except BaseException as error:
            _came_out(error)
            raise

    return invoke


def _wrap_ainvoke(original: Any) -> Any:
    async def ainvoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        if not _calls.attached or handed.get() is self or (prepared := _prepare(self, input, config)) is None:
            return await original(self, input, config, **kwargs)
        function, args, adapter, attributes = prepared

        async def run(edited: dict[str, Any]) -> Any:
            token = handed.set(self)
            try:
                return await original(self, edited.get("input"), config, **kwargs)
            finally:
                handed.reset(token)

        try:
            return await _boundaries.aexecute(
                function, args, run, adapter=adapter, attributes=attributes, pending=_entries.get(function)
            )
        except BaseException as error:
            _came_out(error)
            raise

    return ainvoke


def _wrap_stream(original: Any) -> Any:
    def stream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        if not _calls.attached or _taken(self) or (prepared := _prepare(self, input, config)) is None:
            yield from original(self, input, config, **kwargs)
            return
        function, args, adapter, attributes = prepared

        def run(edited: dict[str, Any]) -> Any:
            return original(self, edited.get("input"), config, **kwargs)

        try:
            yield from iterate(
                function, args, run, Last, adapter=adapter, attributes=attributes, pending=_entries.get(function)
            )
        except BaseException as error:
            _came_out(error)
            raise

    return stream


def _wrap_astream(original: Any) -> Any:
    async def astream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        if not _calls.attached or _taken(self) or (prepared := _prepare(self, input, config)) is None:
            source = Inner(original(self, input, config, **kwargs))
            try:
                async for piece in source:
                    yield piece
            finally:
                await source.aclose()
            return
        function, args, adapter, attributes = prepared

        def run(edited: dict[str, Any]) -> Any:
            return original(self, edited.get("input"), config, **kwargs)

        calls = Inner(
            aiterate(function, args, run, Last, adapter=adapter, attributes=attributes, pending=_entries.get(function))
        )
        try:
            async for piece in calls:
                yield piece
        except BaseException as error:
            _came_out(error)
            raise
        finally:
            await calls.aclose()

    return astream


# ---------------------------------------------------------------- what is declared


def _wrap_add_node(original: Any) -> Any:
    def add_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        _report.guard(_nodes.added, self, caller())
        return result

    return add_node


def _wrap_compile(original: Any) -> Any:
    def compile(self: Any, *args: Any, **kwargs: Any) -> Any:
        graph = original(self, *args, **kwargs)
        _report.guard(_declare, self, graph, caller())
        return graph

    return compile


def _declare(builder: Any, graph: Any, line: tuple[str, int]) -> None:
    _compiled[builder] = line
    function = function_of(graph)
    for name, node in graph.nodes.items():
        if not _nodes.is_internal(name):
            _nodes.declare(builder, function.name, name, node.bound)
    _texts.put_weak(f"workflow:{function.name}", f"Workflow {function.name}.mmd", "text/vnd.mermaid", graph, _mermaid)


def _mermaid(graph: Any) -> str:
    return str(graph.get_graph(xray=True).draw_mermaid())


def _wrap_finish(original: Any, owner: Any) -> Any:
    def _finish(self: Any, writer: Any, input: Any, result: Any, config: Any) -> Any:
        if _calls.attached:
            routed(self, result, config)
        return original(self, writer, input, result, config)

    def routed(branch: Any, result: Any, config: Any) -> None:
        _report.guard(_nodes.routed, branch, result, config)

    if _optional.branch_hook is not None:
        return _optional.branch_hook(owner, original, _finish, routed)
    return _finish


# ---------------------------------------------------------------- install


def version() -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version("langgraph")
    except Exception:
        return "of unknown version"


def check_version() -> None:
    found = version()
    if found[:1].isdigit() and release(found) < OLDEST:
        _report.say(f"LangGraph {found} is too old for node stops (needs 0.6); tools still stop")


def install_nodes() -> None:
    import langgraph.pregel._retry as module

    found = replace(module, "run_with_retry", _nodes.wrap_run)
    found = replace(module, "arun_with_retry", _nodes.wrap_arun) and found
    if _nodes.failed_in not in _uncaught.failed_in:
        _uncaught.failed_in.append(_nodes.failed_in)
    need(found, f"LangGraph {version()}: node stops are not supported; tools still stop.")


def install_runner() -> None:
    """The runner holds the two functions by name; it may have been imported before us."""
    import langgraph.pregel._runner as module

    replace(module, "run_with_retry", _nodes.wrap_run)
    replace(module, "arun_with_retry", _nodes.wrap_arun)


def install_workflows() -> None:
    from langgraph.pregel.main import Pregel

    found = replace(Pregel, "invoke", _wrap_invoke)
    found = replace(Pregel, "ainvoke", _wrap_ainvoke) and found
    found = replace(Pregel, "stream", _wrap_stream) and found
    found = replace(Pregel, "astream", _wrap_astream) and found
    need(found, f"LangGraph {version()}: workflow stops are not supported; tools still stop.")


def install_graphs() -> None:
    from langgraph.graph.state import StateGraph

    replace(StateGraph, "add_node", _wrap_add_node)
    replace(StateGraph, "compile", _wrap_compile)


def install_routes() -> None:
    from langgraph.graph._branch import BranchSpec

    replace(BranchSpec, "_finish", lambda original: _wrap_finish(original, BranchSpec))
