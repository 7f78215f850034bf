"""Calls that give their result bit by bit: generators, sync and async.

A call is suspended while its consumer has the last piece, so that what the consumer does is not inside it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
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
            try:
                if isinstance(error, GeneratorExit) and hasattr(source, "close"):
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
        async for piece in invoke(args):
            yield piece
        return
    while await _boundaries.aenter(call):
        pieces: list[Any] = []
        source: Any = None
        if pending is not None:
            call.expect(pending)
        try:
            source = invoke(call.args)
            async for piece in source:
                pieces.append(piece)
                _calls.suspend(call)
                yield piece
                _calls.resume(call)
        except GeneratorExit as error:
            _calls.resume(call)
            try:
                await source.aclose()
            finally:
                _boundaries.fail(call, error)
            raise
        except BaseException as error:
            _calls.resume(call)
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
