"""Looking for functions from another thread leaves no mark on what the app is making at that moment."""

from __future__ import annotations

import gc
import sys
import threading
import types
import weakref

import pytest
from toolbreak import _guards

pytestmark = pytest.mark.essential


class Loop:
    """Garbage with a finaliser: collecting it runs Python code, and lets other threads run."""

    def __init__(self) -> None:
        self.own = self
        self.note = weakref.ref(self, print)

    def __del__(self) -> None:
        sum(n for n in range(200))


@pytest.mark.essential
def test_tuples_that_grow_meanwhile() -> None:
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            assert test_tuples_that_grow_meanwhile in _guards.all_functions()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(200):
            # A tuple made of a generator is resized at its end, which fails when anyone else knows it.
            assert len(tuple(Loop() is not None and n for n in range(15))) == 15
    finally:
        over.set()
        looking.join()
        sys.setswitchinterval(interval)


@pytest.mark.essential
@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_stays_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        found = _guards.all_functions()
        assert gc.isenabled() is enabled
        assert found and all(type(each) is types.FunctionType for each in found)
    finally:
        gc.enable()
