"""What another thread of the app raises in one that is in the debugger's own code reaches the app."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RECORD, dot

APP = """
import ctypes, threading, time

class TooSlow(Exception):
    pass

def f(x):
    return x

def stop():
    return None

def limited(ident):
    time.sleep(0.01)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object({error}))

def work():
    end = time.monotonic() + 2
    while time.monotonic() < end:
        f({{"a": "b" * 20, "c": [{{"n": 1.5}}] * 20}})

lost = 0
for _ in range(25):
    clock = threading.Thread(target=limited, args=(threading.get_ident(),))
    try:
        clock.start()
        work()
        lost += 1
    except {error}:
        pass
    clock.join()

stop()
print("lost", lost)
"""


@pytest.mark.parametrize("error", ["TooSlow", "TimeoutError", "KeyboardInterrupt"])
def test_an_exception_put_into_our_code_is_the_apps(scene: Any, error: str) -> None:
    path = scene.write("main.py", APP.format(error=error))
    adapter = scene.adapter(
        record={**RECORD, "enabled": True, "functions": ["*.f", "*.stop"]}, breakpoints=[dot(1, path, "def stop")]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert [frame["name"] for frame in hold["frames"]] == ["stop()", "<module>"]
    process.release(hold)
    assert app.finish() == (0, "lost 0\n", "")


AWAITED = """
import asyncio

class Refused(Exception):
    pass

def f(answer):
    return 1

async def main():
    answer = asyncio.get_running_loop().create_future()
    answer.set_exception(Refused("no"))
    print(f(answer), isinstance(answer.exception(), Refused))

asyncio.run(main())
"""


@pytest.mark.parametrize("options", [{"condition": "answer.result() > 1"}, {"logMessage": "{answer.result()}"}])
def test_what_an_expression_raises_is_not_the_apps(scene: Any, options: dict[str, str]) -> None:
    """Raised by C code it stands on no line of the app's, as what another thread puts in."""
    path = scene.write("main.py", AWAITED)
    adapter = scene.adapter(breakpoints=[dot(1, path, "def f", **options)])
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "1 True\n", "")
    assert any("Refused" in event["text"] for _, event in adapter.events if event["event"] == "log")
