"""Stands in the `proc` of a node's tasks where the node stood, and runs it as a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from .. import _boundaries, _call_types, _calls, _report
from . import _state
from ._node_call import NodeCall, exploded
from ._node_info import NodeInfo, declare, target_of
from ._origin import code_of


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


def _again(adapter: NodeCall, edited: dict[str, Any]) -> None:
    """What the node is given now; run once more, a call starts from the state before."""
    if adapter.exploded:
        adapter.given = exploded(adapter.given, edited)
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
