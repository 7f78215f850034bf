"""Calls that give their result bit by bit: generators, sync and async.

A call is suspended while its consumer has the last piece, so that what the consumer does is not inside it.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from types import GeneratorType
from typing import Any

from .. import _boundaries, _calls, _report
from .._call_types import AGAIN, RETURN, Call, CallAdapter, Function


def _begin(
    function: Function, args: dict[str, Any], adapter: CallAdapter, attributes: dict[str, Any] | None
) -> Call | None:
    try:
        return _calls.begin(function, args, adapter=adapter, attributes=attributes)
    except Exception as error:
        _report.failure(error)
        return None


def _leave_alone(generator: Any) -> None:
    """What is done for a generator that nobody has any more: it goes with the one around it, which closes it where that is closed."""


class Inner:
    """
    What an asynchronous generator of ours gives on, and closes. The event loop is not told of it: at its end it closes all that it knows at
    once, and the one around it would close it in the same moment, which Python refuses.
    """

    __slots__ = ("_begun", "_source")

    def __init__(self, source: Any) -> None:
        self._source = source
        self._begun = False

    def __aiter__(self) -> Inner:
        return self

    def __anext__(self) -> Any:
        return self._source.__anext__() if self._begun else self._hidden("__anext__")

    def _hidden(self, step: str) -> Any:
        self._begun = True
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(None, _leave_alone)
        try:
            return getattr(self._source, step)()
        finally:
            sys.set_asyncgen_hooks(*hooks)

    async def aclose(self) -> None:
        # An iterator need not be a generator.
        if hasattr(self._source, "aclose"):
            await (self._source.aclose() if self._begun else self._hidden("aclose"))


async def _close(source: Inner | None) -> None:
    if source is not None:
        await source.aclose()


def iterate(
    function: Function,
    args: dict[str, Any],
    invoke: Callable[[dict[str, Any]], Iterator[Any]],
    join: Callable[[list[Any]], Any],
    *,
    adapter: CallAdapter,
    attributes: dict[str, Any] | None = None,
    pending: Any = None,
) -> Iterator[Any]:
    """Gives what `invoke(args)` gives, as one call whose result is `join(pieces)`."""
    call = _begin(function, args, adapter, attributes)
    if call is None:
        yield from invoke(args)
        return
    while _boundaries.enter(call):
        pieces: list[Any] = []
        source: Iterator[Any] | None = None
        if pending is not None:
            call.expect(pending)
        try:
            source = iter(invoke(call.args))
            while True:
                try:
                    piece = next(source)
                except StopIteration:
                    break
                pieces.append(piece)
                _calls.suspend(call)
                yield piece
                _calls.resume(call)
        except BaseException as error:
            _calls.resume(call)
            _report.guard(adapter.left, call, pieces)
            try:
                # A generator is open still where the error was thrown into us.
                if type(source) is GeneratorType or isinstance(error, GeneratorExit) and hasattr(source, "close"):
                    source.close()  # type: ignore[union-attr]
            finally:
                verdict = _boundaries.fail(call, error)
            if verdict == AGAIN:
                continue
            if verdict == RETURN:
                yield call.result
                return
            raise
        result = _joined(join, pieces)
        if _boundaries.leave(call, result):
            if call.result is not result:
                yield call.result
            return
    yield call.result


async def aiterate(
    function: Function,
    args: dict[str, Any],
    invoke: Callable[[dict[str, Any]], AsyncIterator[Any]],
    join: Callable[[list[Any]], Any],
    *,
    adapter: CallAdapter,
    attributes: dict[str, Any] | None = None,
    pending: Any = None,
) -> AsyncIterator[Any]:
    """`iterate` for async generators."""
    call = _begin(function, args, adapter, attributes)
    if call is None:
        source = Inner(invoke(args))
        try:
            async for piece in source:
                yield piece
        finally:
            await source.aclose()
        return
    while await _boundaries.aenter(call):
        pieces: list[Any] = []
        source = None
        if pending is not None:
            call.expect(pending)
        try:
            source = Inner(invoke(call.args))
            async for piece in source:
                pieces.append(piece)
                _calls.suspend(call)
                yield piece
                _calls.resume(call)
        except GeneratorExit as error:
            _calls.resume(call)
            _report.guard(adapter.left, call, pieces)
            try:
                await _close(source)
            finally:
                _boundaries.fail(call, error)
            raise
        except BaseException as error:
            _calls.resume(call)
            _report.guard(adapter.left, call, pieces)
            # It is open still where the error was thrown into us.
            await _close(source)
            verdict = await _boundaries.afail(call, error)
            if verdict == AGAIN:
                continue
            if verdict == RETURN:
                yield call.result
                return
            raise
        result = _joined(join, pieces)
        if await _boundaries.aleave(call, result):
            if call.result is not result:
                yield call.result
            return
    yield call.result


def _joined(join: Callable[[list[Any]], Any], pieces: list[Any]) -> Any:
    try:
        return join(pieces)
    except Exception as error:
        _report.failure(error)
        return pieces
