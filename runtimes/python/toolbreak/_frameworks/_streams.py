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


class All:
    """The pieces of a stream, for a result that is all of them together."""

    def __init__(self, join: Callable[[list[Any]], Any]) -> None:
        self.pieces: list[Any] = []
        self._join = join

    def add(self, piece: Any) -> None:
        self.pieces.append(piece)

    def result(self) -> Any:
        try:
            return self._join(self.pieces)
        except Exception as error:
            _report.failure(error)
            return self.pieces


class Last:
    """The last one, as it was before the consumer had it; those before it are the consumer's alone."""

    def __init__(self) -> None:
        self.pieces: list[Any] = []

    def add(self, piece: Any) -> None:
        self.pieces = [piece]
        copied = _report.guard(_copied, piece, 3 if type(piece) is tuple else 2)
        if copied is not None:
            self.pieces = [copied]

    def result(self) -> Any:
        return self.pieces[0] if self.pieces else None


def _copied(piece: Any, levels: int) -> Any:
    """With its outer containers anew, of which a consumer takes things out. No code of the app runs, and another thread may be changing it."""
    kind = type(piece)
    if levels and kind is tuple:
        return tuple([_copied(value, levels - 1) for value in piece])
    if kind is not dict and kind is not list:
        return piece
    made = piece.copy()
    if levels and kind is dict:
        for key, value in made.items():
            # A key of another type may have a hash of its own.
            if type(key) is str and type(value) in (dict, list):
                made[key] = _copied(value, levels - 1)
    return made


def iterate(
    function: Function,
    args: dict[str, Any],
    invoke: Callable[[dict[str, Any]], Iterator[Any]],
    gather: Callable[[], All | Last],
    *,
    adapter: CallAdapter,
    attributes: dict[str, Any] | None = None,
    pending: Any = None,
) -> Iterator[Any]:
    """Gives what `invoke(args)` gives, as one call whose result is what was gathered of it."""
    call = _begin(function, args, adapter, attributes)
    if call is None:
        yield from invoke(args)
        return
    while _boundaries.enter(call):
        gathered = gather()
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
                gathered.add(piece)
                _calls.suspend(call)
                yield piece
                _calls.resume(call)
        except BaseException as error:
            _calls.resume(call)
            _report.guard(adapter.left, call, gathered.pieces)
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
        result = gathered.result()
        if _boundaries.leave(call, result):
            if call.result is not result:
                yield call.result
            return
    yield call.result


async def aiterate(
    function: Function,
    args: dict[str, Any],
    invoke: Callable[[dict[str, Any]], AsyncIterator[Any]],
    gather: Callable[[], All | Last],
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
        gathered = gather()
        source = None
        if pending is not None:
            call.expect(pending)
        try:
            source = Inner(invoke(call.args))
            async for piece in source:
                gathered.add(piece)
                _calls.suspend(call)
                yield piece
                _calls.resume(call)
        except GeneratorExit as error:
            _calls.resume(call)
            _report.guard(adapter.left, call, gathered.pieces)
            try:
                await _close(source)
            finally:
                _boundaries.fail(call, error)
            raise
        except BaseException as error:
            _calls.resume(call)
            _report.guard(adapter.left, call, gathered.pieces)
            # It is open still where the error was thrown into us.
            await _close(source)
            verdict = await _boundaries.afail(call, error)
            if verdict == AGAIN:
                continue
            if verdict == RETURN:
                yield call.result
                return
            raise
        result = gathered.result()
        if await _boundaries.aleave(call, result):
            if call.result is not result:
                yield call.result
            return
    yield call.result
