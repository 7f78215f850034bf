"""Stands in the `proc` of a node's tasks where the node stood, and runs it as a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from .. import _boundaries, _call_types, _calls, _optional, _report
from .._boundaries import aenter, afail, aleave, enter, fail, handed_over, leave
from .._call_types import RAISE, RETURN
from . import _short, _state
from ._node_call import NodeCall, exploded, newest
from ._node_info import NodeInfo, declare, target_of
from ._origin import code_of
from ._short import begin, finish, write
from ._streams import Inner

_FIRST = "seq:step:1"


class NodeStep:
    """Stands in the `proc` of a node's tasks where the node stood, and runs it as a call."""

    # Compiled code finds `short` and `steps` at their places.
    __slots__ = ("explodes", "failed", "infos", "name", "rest", "short", "steps")

    def __init__(self, steps: list[Any], name: str) -> None:
        self.steps = steps
        self.rest = steps[1:]
        self.name = name
        self.explodes = getattr(steps[0], "explode_args", False) is True
        #: By the workflow's name.
        self.infos: dict[str, NodeInfo] = {}
        #: For the short way: the function, its workflow, what is known of it, and what it is about to run.
        self.short: Any = None
        #: The call, in a step that stands for one task alone: it failed, and the error may end the run.
        self.failed: _call_types.Call | None = None

    def _begin(self, given: Any, config: Any, made: list[_call_types.Call]) -> _call_types.Call | None:
        """The call of one attempt, as `_boundaries.execute` begins one; `made` gets it, too. None: it is no call of its own."""
        call: _call_types.Call | None = None
        begins = False
        back: _call_types.Call | None = None
        try:
            back = above = _calls.current()
            if above is not None and above.quiet:
                return None
            while above is not None and above.function.kind != "workflow":
                above = above.parent
            workflow = ""
            if above is not None:
                workflow = above.function.name
                if above.pending is not None and above.pending == _call_types.code_key(
                    code_of(target_of(self.steps[0]))
                ):
                    return None  # An @entrypoint: its workflow call is this call.
            info = self.infos.get(workflow)
            if info is None:
                info = self.infos[workflow] = declare(None, workflow, self.name, self.steps[0])
            adapter = NodeCall(info, given, config, self.explodes)
            state = None if adapter.args else given
            begins = True
            call = _calls.begin(
                info.function,
                adapter.args,
                adapter=adapter,
                state=state,
                state_before=_state.copy_of(state),
                attributes=adapter.attributes(),
            )
            made.append(call)
            newest[adapter.task] = call
            if self.short is None and above is not None and not adapter.exploded:
                self.short = _short.of(info, above.function, _hook)
            return call
        except BaseException as error:
            if call is not None:
                _calls.lose(call)
            elif begins:
                _calls.undo(back)
            if _report.is_the_apps(error):
                raise
            _report.failure(error)
            return None

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        made: list[_call_types.Call] = []
        call: _call_types.Call | None = None
        # As `_boundaries.execute` does it, in fewer frames.
        try:
            if _calls.attached:
                call = begin(self.short, input, config, made)
            entered = call is not None
            if call is None:
                call = self._begin(input, config, made) if _calls.attached else None
                if call is None:
                    return self._run(input, config, kwargs)
            elif not call.recorded:
                write(call)
            return self._attempts(call, config, kwargs, entered)
        except BaseException:
            # Most have ended. Not those in which a signal handler raised between our own steps.
            if call is not None or made:
                _calls.lose(call or made[0])
            raise

    def _attempts(self, call: _call_types.Call, config: Any, kwargs: dict[str, Any], entered: bool) -> Any:
        """From `enter` on, or from behind it where the call `entered`."""
        while entered or enter(call):
            token = None if entered else _given(call)
            entered = False
            adapter: Any = call.adapter
            try:
                result = self.steps[0].invoke(adapter.given, config, **kwargs)
                for number, step in enumerate(self.rest, 2):
                    result = step.invoke(result, _config_of(config, number))
            except BaseException as error:
                _take_back(token)
                verdict = fail(call, error)
                if verdict == RAISE:
                    raise
                if verdict == RETURN:
                    return _done(call)
                continue
            if token is not None:
                _take_back(token)
            if finish(call, result):
                return result
            if leave(call, result):
                del result
                return _done(call)
            del result
        return _done(call)

    def _run(self, input: Any, config: Any, kwargs: dict[str, Any]) -> Any:
        value = self.steps[0].invoke(input, config, **kwargs)
        for number, step in enumerate(self.rest, 2):
            value = step.invoke(value, _config_of(config, number))
        return value

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        made: list[_call_types.Call] = []
        try:
            call = (
                (begin(self.short, input, config, made) or self._begin(input, config, made))
                if _calls.attached
                else None
            )
            if call is not None:
                return await _awaited(call, lambda given: self._arun(given, config, kwargs))
        except BaseException:
            # Mostly it has ended. Not where a signal handler raised before `_awaited` had it.
            for each in made:
                _calls.lose(each)
            raise
        return await self._arun(input, config, kwargs)

    async def _arun(self, input: Any, config: Any, kwargs: dict[str, Any]) -> Any:
        value = await self.steps[0].ainvoke(input, config, **kwargs)
        for number, step in enumerate(self.rest, 2):
            value = await step.ainvoke(value, _config_of(config, number))
        return value

    async def astream(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """For runs whose events are streamed: the pieces are given on after the stop, joined as LangGraph joins them."""
        made: list[_call_types.Call] = []
        try:
            call = self._begin(input, config, made) if _calls.attached else None
            if call is None:
                passed = Inner(self._pieces(input, config, kwargs))
                try:
                    async for piece in passed:
                        yield piece
                finally:
                    await passed.aclose()
                return
            pieces: list[Any] = []
            joined: list[Any] = []

            async def run(given: Any) -> Any:
                pieces.clear()
                joined.clear()
                async for piece in self._pieces(given, config, kwargs):
                    pieces.append(piece)
                joined.append(_joined(pieces))
                return joined[0]

            result = await _awaited(call, run)
        except BaseException:
            for each in made:
                _calls.lose(each)
            raise
        if joined and result is joined[0]:
            for piece in pieces:
                yield piece
        else:
            yield result

    async def _pieces(self, input: Any, config: Any, kwargs: dict[str, Any]) -> AsyncIterator[Any]:
        source = self.steps[0].astream(input, config, **kwargs)
        for number, step in enumerate(self.rest, 2):
            source = step.atransform(source, _config_of(config, number))
        inner = Inner(source)
        try:
            async for piece in inner:
                yield piece
        finally:
            await inner.aclose()


class Passed:
    """Stands in a task's `proc` where a later step of a node stood, which `NodeStep` runs: those behind it keep their numbers."""

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        return input

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        return input

    def transform(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        yield from input

    async def atransform(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        async for piece in input:
            yield piece


def _config_of(config: Any, number: int) -> Any:
    """What LangGraph gives to this step of a sequence: what the first one has, but that callbacks are told of another number."""
    callbacks = config.get("callbacks") if type(config) is dict else None
    tags = getattr(callbacks, "tags", None)
    if type(tags) is not list or _FIRST not in tags:
        return config
    own = callbacks.copy()  # type: ignore[union-attr]
    own.tags = [f"seq:step:{number}" if tag == _FIRST else tag for tag in tags]
    return {**config, "callbacks": own}


def _done(call: _call_types.Call) -> Any:
    """Where a Command sends the run is noted as what an edge chose is."""
    goto = call.attributes.get("langgraph.goto")
    if goto and _calls.writer is not None:
        _report.guard(_calls.writer.route, call, tuple(goto))
    return handed_over(call)


def _failed(error: BaseException, call: _call_types.Call) -> Any:
    """What `invoke` does with the node's error, where compiled code began the call: None, it is raised on; a tuple with the answer instead; False, run it again."""
    verdict = fail(call, error)
    return None if verdict == RAISE else (_done(call),) if verdict == RETURN else False


def _left(step: NodeStep, call: _call_types.Call, config: Any, result: Any) -> Any:
    """What `invoke` does with an answer, where compiled code began the call and does not end it."""
    if leave(call, result):
        return _done(call)
    del result
    return step._attempts(call, config, {}, False)


def _lost(error: BaseException, call: _call_types.Call) -> None:
    _calls.lose(call)


async def _awaited(call: _call_types.Call, run: Callable[[Any], Awaitable[Any]]) -> Any:
    """`NodeStep.invoke` for async code: `await run(given)`."""
    try:
        if not call.recorded and type(call) is _call_types.StepCall:
            write(call)
        while await aenter(call):
            token = _given(call)
            adapter: Any = call.adapter
            try:
                result = await run(adapter.given)
            except BaseException as error:
                _take_back(token)
                verdict = await afail(call, error)
                if verdict == RAISE:
                    raise
                if verdict == RETURN:
                    return _done(call)
                continue
            _take_back(token)
            if finish(call, result):
                return result
            if await aleave(call, result):
                del result
                return _done(call)
            del result
        return _done(call)
    except asyncio.CancelledError as error:
        _calls.lose(call)
        raise _final(error) from None
    except BaseException:
        _calls.lose(call)
        raise


def _hook() -> None:
    """From now on compiled code runs the nodes, and calls Python code for whatever is special."""
    NodeStep.invoke = _optional.step_hook(NodeStep.invoke, _failed, _left, NodeStep._attempts, _lost, write)  # type: ignore[method-assign]


def _given(call: _call_types.Call) -> Any:
    """
    The call is about to run, maybe with edited arguments; once more, it starts from the state before. Hands a graph that is the node its call,
    and answers what `_take_back` needs.
    """
    adapter: Any = call.adapter
    if adapter.exploded:
        adapter.given = exploded(adapter.given, call.args)
    elif adapter.args:
        adapter.given = call.args.get("input")
    else:
        call.state = adapter.given
        call.changes = None
    info = adapter.info
    if info.key is not None:
        call.pending = info.key
    graph = info.graph if info.is_call else None
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
