"""Calls of guarded functions of many kinds, recorded by whatever way the environment says. Prints how many went the compiled short way."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from toolbreak import _optional


def leaf(number: int, text: str) -> dict[str, Any]:
    return {"number": number, "text": text}


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else leaf(depth, "end")


def everything(*args: Any, key: Any = None, **more: Any) -> Any:
    return args, key, more


def nothing() -> None:
    pass


def fails(number: int) -> int:
    if number % 2:
        raise ValueError(f"odd {number}")
    return number


def handles(number: int) -> Any:
    try:
        return fails(number)
    except ValueError as error:
        return str(error)


def loops(numbers: list[int]) -> int:
    for number in numbers:
        if number > 2:
            return number
    return -1


@contextlib.contextmanager
def opened(name: str) -> Iterator[str]:
    yield name.upper()


def within(name: str) -> str:
    with opened(name) as text:
        return text


def stashes_and_fails(number: int) -> Any:
    try:
        return number
    finally:
        if number == 2:
            raise KeyError("late")


def stashes_twice(number: int) -> Any:
    try:
        return leaf(number, "first")
    finally:
        if number == 3:
            return "second"  # noqa: B012


def changes(items: list[Any], extra: dict[str, Any]) -> list[Any]:
    items.append(1)
    extra["new"] = items[:2]
    del extra
    return items


def secret(password: str, value: Any) -> Any:
    return {"api_key": password, "value": value}


def opaque(thing: Any) -> Any:
    return thing


def large(text: str) -> str:
    return text * 2


def gives(count: int) -> Iterator[int]:
    for number in range(count):
        leaf(number, "inside")
        yield number


async def later(number: int) -> int:
    return leaf(number, "later")["number"]


def collects() -> Any:
    cycle: Any = Trace()
    cycle.self = cycle
    del cycle
    return [[] for _ in range(2000)]


class Trace:
    """Calls a guarded function when it is set free, wherever that is."""

    def __init__(self) -> None:
        self.self: Any = None

    def __del__(self) -> None:
        leaf(0, "freed")


class Thing:
    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size

    def method(self, more: int) -> int:
        return self.size + more

    @classmethod
    def made(cls, size: int) -> Thing:
        return cls(size)

    @staticmethod
    def free(size: int) -> int:
        return size


def hashed(holder: Any) -> Any:
    return {holder: 1}


def swaps() -> Any:
    """The recording ends and begins again while calls run."""
    from toolbreak import _calls

    writer, _calls.writer = _calls.writer, None
    leaf(1, "not recorded")
    _calls.writer = writer
    return leaf(2, "recorded")


def detaches() -> Any:
    from toolbreak import _calls

    _calls.attached = False
    leaf(1, "not seen")
    _calls.attached = True
    return leaf(2, "seen")


def work(name: str) -> None:
    for number in range(40):
        leaf(number, name)
        nested(number % 5)
        handles(number)
        loops(list(range(number % 5)))
        within(name)
        with contextlib.suppress(KeyError):
            stashes_and_fails(number % 4)
        stashes_twice(number % 5)
        changes([number], {"a": None})
        everything(number, 2.5, None, True, key="k", more=[(), {}, [1, "x"]])
        everything()
        nothing()
        secret("hunter2", f"token={number}" if number % 2 else number)
        opaque(Thing(number))
        opaque(2**70 + number)
        opaque("\ud800 half" if number % 2 else "gr\u00fc\u00dfe \U0001f600")
        opaque({1: 2, (3,): {4}})
        Thing.made(number).method(1)
        Thing.free(3)
        list(gives(2))
        for _ in gives(3):
            break
        hashed(frozenset({number}))
    for size in (100, 5_000, 70_000, 300_000):
        large("word " * (size // 5))
    with contextlib.suppress(StopIteration):
        later(3).send(None)


def deep() -> int:
    """To the app's own limit, from which it comes back."""
    try:
        return deep() + 1
    except RecursionError:
        return 0


def falls(number: int) -> int:
    """To the same limit, and raises."""
    return falls(number + 1) + 1


def main() -> None:
    work("first")
    swaps()
    detaches()
    threads = [
        threading.Thread(target=work, args=(f"thread {number}",), name=f"thread {number}") for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if hasattr(os, "fork"):
        child = os.fork()
        if not child:
            work("child")
            os._exit(0)
        os.waitpid(child, 0)
    work("after")


if __name__ == "__main__":
    gc.disable()
    main()
    print(json.dumps(_optional.calls_taken() if _optional.calls_taken is not None else [0, 0]), flush=True)
    if "free" in sys.argv:
        gc.enable()
        gc.set_threshold(7, 2, 2)
        for _ in range(30):
            collects()
            leaf(1, "between")
    if "deep" in sys.argv:
        for _ in range(3):
            try:
                falls(0)
            except RecursionError as error:
                assert error.__context__ is None, error.__context__
        print(deep() > 50, deep() > 50)
