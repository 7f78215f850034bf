"""Generators that are left early or have an error thrown in, with calls in their handlers. Prints whatever those see, and the tracebacks."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from typing import Any


def note(where: str) -> str:
    kind, error, _ = sys.exc_info()
    stack = traceback.extract_stack()[:-1]
    print(where, kind and kind.__name__, error, [f.name for f in stack], stack[-1].lineno)
    if error is not None:
        print([(f.name, f.lineno, f.line) for f in traceback.extract_tb(error.__traceback__)], repr(error.__context__))
    return where


class Lock:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        note(f"exit {self.name}")

    async def __aenter__(self) -> Lock:
        return self

    async def __aexit__(self, *error: object) -> None:
        note(f"aexit {self.name}")


def closed() -> Iterator[int]:
    try:
        yield 1
    finally:
        note("closed")


def ends_itself() -> Iterator[int]:
    try:
        yield 1
    except GeneratorExit:
        note("ends itself")
        return


def locked() -> Iterator[int]:
    with Lock("outer"), Lock("inner"):
        note("before")
        if (yield 1):
            return
        yield 2


def goes_on() -> Iterator[str]:
    for turn in range(3):
        try:
            got = yield f"turn {turn}"
            note(f"got {got}")
        except ValueError as error:
            note(f"handled {error}")
        note(f"after {turn}")


def chosen(error: type[BaseException]) -> type[BaseException]:
    note("chosen")
    return error


def chooses() -> Iterator[int]:
    try:
        yield 1
    except chosen(KeyError):
        note("wrong")
    except chosen(ValueError):
        note("right")
    yield 2


def inner() -> Iterator[int]:
    try:
        yield 1
    finally:
        note("inner")


def delegates() -> Iterator[int]:
    try:
        yield from inner()
    finally:
        note("delegates")


def loops() -> Iterator[int]:
    """The loop's iterator is closed before the `finally` runs."""
    try:
        for number in inner():
            while (yield number):
                note("again")
    finally:
        note("loops")


def fails() -> Iterator[int]:
    try:
        yield 1
    finally:
        note("fails")
        raise KeyError("in the end")


@contextlib.contextmanager
def session(name: str) -> Iterator[str]:
    try:
        yield name
        note("commit")
    except ValueError as error:
        note(f"rollback {error}")
        raise
    finally:
        note("release")


def work() -> None:
    with session("good"):
        note("in good")
    note("between")
    with session("outer"), session("inner"):
        raise ValueError("bad")


def leaves() -> None:
    for _ in closed():
        note("leaves")
        break
    note("left")


def dropped() -> None:
    cycle: list[Any] = [closed()]
    cycle.append(cycle)
    next(cycle[0])
    del cycle
    gc.collect()
    note("dropped")


def closes(generator: Iterator[int]) -> None:
    generator.close()  # type: ignore[attr-defined]
    note("closes")


async def stream() -> AsyncIterator[int]:
    async with Lock("stream"):
        for number in range(3):
            try:
                yield number
            except ValueError:
                note("stream goes on")
            finally:
                await asyncio.sleep(0)
                note(f"stream {number}")


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[str]:
    try:
        yield "connected"
    except ValueError:
        note("disconnected by an error")
        raise
    finally:
        await asyncio.sleep(0)
        note("disconnected")


async def leaves_stream() -> None:
    async for _ in stream():
        break
    note("left stream")
    for _ in range(5):
        await asyncio.sleep(0)
    note("later")


async def closes_stream() -> None:
    each = stream()
    await each.__anext__()
    await each.aclose()  # type: ignore[attr-defined]
    note("closed stream")


async def throws_into_stream() -> None:
    each = stream()
    await each.__anext__()
    print(await each.athrow(ValueError("thrown")))  # type: ignore[attr-defined]
    note("thrown")
    await each.aclose()  # type: ignore[attr-defined]


async def connects() -> None:
    async with connected():
        raise ValueError("bad")


unfinished: Any = None


async def main_async() -> None:
    await leaves_stream()
    await closes_stream()
    await throws_into_stream()
    try:
        await connects()
    except ValueError:
        traceback.print_exc(file=sys.stdout)
    # Closed by the event loop, at its end.
    global unfinished
    unfinished = stream()
    await unfinished.__anext__()
    note("end of async")


def throws(generator: Iterator[Any], error: BaseException) -> None:
    try:
        print(next(generator))
        print(generator.throw(error))  # type: ignore[attr-defined]
        note("went on")
        print(list(generator))
    except (Exception, GeneratorExit):
        traceback.print_exc(file=sys.stdout)
        note("raised")


def main() -> None:
    for make in (closed, ends_itself, locked, goes_on, chooses, delegates, loops, fails):
        for error in (ValueError("thrown"), GeneratorExit()):
            throws(make(), error)
        one = make()
        next(one)
        try:
            closes(one)
        except KeyError:
            traceback.print_exc(file=sys.stdout)
    try:
        work()
    except ValueError:
        traceback.print_exc(file=sys.stdout)
    leaves()
    dropped()
    other = closed()
    next(other)
    thread = threading.Thread(target=closes, args=(other,))
    thread.start()
    thread.join()
    asyncio.run(main_async())
    note("end")


main()
