"""What the app's signal handlers raise reaches the app, also where it interrupts the debugger's own code."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import pytest
from fake_adapter import RECORD, dot

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

APP = """
import signal, time

def on(*given):
    raise {error}("too slow")

signal.signal(signal.SIGALRM, on)

def f(x):
    return x

lost = 0
for _ in range(25):
    try:
        end = time.monotonic() + 2
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while time.monotonic() < end:
            f({{"a": "b" * 20}})
        lost += 1
    except {error}:
        pass

def stop():
    return None

stop()
print("lost", lost)
"""


@pytest.mark.parametrize("error", ["TimeoutError", "KeyboardInterrupt"])
def test_a_handlers_exception_is_the_apps(scene: Any, error: str) -> None:
    path = scene.write("main.py", APP.format(error=error))
    adapter = scene.adapter(
        record={**RECORD, "enabled": True, "functions": ["@usercode"]}, breakpoints=[dot(1, path, "def stop")]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert [frame["name"] for frame in hold["frames"]] == ["stop()", "<module>"]
    assert hold["taskName"] == "main.py"
    process.release(hold)
    assert app.finish() == (0, "lost 0\n", "")


def test_ctrl_c_ends_a_hold_on_an_uncaught_exception(scene: Any) -> None:
    scene.write("main.py", "def f(x):\n    raise ValueError('boom')\n\nf(1)\n")
    adapter = scene.adapter(exceptions=[{"filter": "uncaught"}])
    app = scene.run(adapter, "main.py")
    adapter.held()
    os.kill(app.popen.pid, signal.SIGINT)
    code, _, err = app.finish()
    assert code == 1 and err.rstrip().endswith("ValueError: boom") and "toolbreak" not in err
