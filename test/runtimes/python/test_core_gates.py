"""What the app does for breakpoints in native code: nothing without them; loads and programs wait for the adapter with them."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from fake_adapter import configuration

pytestmark = [
    pytest.mark.essential,
    pytest.mark.skipif(sys.platform != "linux", reason="native code under Python is debugged on Linux only"),
]

LOOK = """
import subprocess, sys

original = subprocess.Popen._execute_child

def look():
    return "toolbreak._gates" in sys.modules, subprocess.Popen._execute_child.__module__
"""


def gates(**more: Any) -> dict[str, Any]:
    return {"tracer": os.getpid(), "loads": True, **more}


def test_without_breakpoints_in_native_code_nothing_is_there(scene: Any) -> None:
    scene.write("look.py", LOOK)
    scene.write("main.py", "import ctypes\nfrom look import look\nctypes.CDLL('libm.so.6')\nprint(look())\n")
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    assert app.finish()[1] == "(False, 'subprocess')\n"
    assert not [event for _, event in adapter.events if event["event"] == "native"]


def test_a_load_waits_until_it_may_pass(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import ctypes
        print("before", flush=True)
        print(ctypes.CDLL("libm.so.6").abs(-3), flush=True)
        """,
    )
    adapter = scene.adapter(native=gates())
    app = scene.run(adapter, "main.py")
    process, ready = adapter.event("native", lambda event: event["kind"] == "ready")
    assert ready["version"][:2] == list(sys.version_info[:2])
    assert ready["runtime"] > 0 and ready["context"] > 0 and ready["own"].endswith("toolbreak")
    assert app.popen.stdout.readline() == "before\n"
    _, load = adapter.event("native", lambda event: event["kind"] == "load" and event["path"] == "libm.so.6")
    # It still waits: whatever is asked now is answered before.
    process.request("tasks")
    process.request("nativePass", id=load["id"])
    assert app.popen.stdout.readline() == "3\n"
    assert app.finish() == (0, "", "")


def test_no_load_waits_for_what_is_there_for_steps_alone(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import ctypes
        import sys
        sys.stdin.readline()
        print(ctypes.CDLL("libm.so.6").abs(-3), flush=True)
        sys.stdin.readline()
        import _bisect
        print(_bisect.__name__, flush=True)
        """,
    )
    adapter = scene.adapter(native=gates())
    app = scene.run(adapter, "main.py")
    process, _ = adapter.event("native", lambda event: event["kind"] == "ready")
    process.request("configure", configuration=configuration(generation=2, native=gates(loads=False)))
    app.popen.stdin.write("\n")
    app.popen.stdin.flush()
    assert app.popen.stdout.readline() == "3\n"
    assert app.say_last("\n") == (0, "_bisect\n", "")
    assert not [event for _, event in adapter.events if event.get("path") == "libm.so.6"]


def test_steps_of_an_earlier_debugger_are_forgotten(scene: Any) -> None:
    scene.write("main.py", "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\n")
    adapter = scene.adapter(native=gates())
    app = scene.run(adapter, "main.py")
    process, ready = adapter.event("native", lambda event: event["kind"] == "ready")
    assert app.popen.stdout.readline() == "ready\n"
    place = ready["overtaken"] + 8
    with open(f"/proc/{app.popen.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(place)
        memory.write((1).to_bytes(8, sys.byteorder))
        process.request("configure", configuration=configuration(generation=2))
        process.request("configure", configuration=configuration(generation=3, native=gates()))
        memory.seek(place)
        assert int.from_bytes(memory.read(8), sys.byteorder) == 0
    assert app.say_last("\n") == (0, "", "")


def test_gates_go_when_the_last_breakpoint_goes(scene: Any) -> None:
    scene.write("look.py", LOOK)
    scene.write(
        "main.py",
        """
        import sys
        from look import look
        print(look(), flush=True)
        sys.stdin.readline()
        import ctypes
        print(look(), ctypes.CDLL("libm.so.6").abs(-3), flush=True)
        """,
    )
    adapter = scene.adapter(native=gates(gate={"library": "libm.so.6", "address": "/nowhere"}))
    app = scene.run(adapter, "main.py")
    process, _ = adapter.event("native", lambda event: event["kind"] == "ready")
    assert app.popen.stdout.readline() == "(True, 'toolbreak._gates')\n"
    process.request("configure", configuration=configuration(generation=2))
    code, out, err = app.say_last("\n")
    assert (code, out, err) == (0, "(True, 'subprocess') 3\n", "")


def test_a_program_is_told_where_to_ask_and_who_started_it(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, subprocess, sys, threading, toolbreak

        SHOW = "printf '%s\\\\n' \\"$TOOLBREAK_GATE\\" \\"$LD_PRELOAD\\" \\"$ASAN_OPTIONS\\" \\"$OWN\\""

        @toolbreak.tool
        def start(env):
            return subprocess.run(["sh", "-c", SHOW], env=env, capture_output=True, text=True, check=True).stdout

        print(start(None).splitlines(), os.environ.get("LD_PRELOAD"), flush=True)
        given = {"OWN": "mine", "LD_PRELOAD": "libdl.so.2", "ASAN_OPTIONS": "detect_leaks=0"}
        print(start(given).splitlines(), given)
        print(os.getpid(), threading.get_ident())
        """,
    )
    adapter = scene.adapter(native=gates(gate={"library": "libm.so.6", "address": "/no where"}))
    app = scene.run(adapter, "main.py")
    first, second, ids = app.finish()[1].splitlines()
    pid, thread = ids.split()
    tracer = os.getpid()
    assert first == f"['{pid}.1.{thread} {tracer} /no where', 'libm.so.6', 'verify_asan_link_order=0', ''] None"
    assert second == (
        f"['{pid}.2.{thread} {tracer} /no where', 'libm.so.6:libdl.so.2', 'verify_asan_link_order=0:detect_leaks=0', 'mine'] "
        "{'OWN': 'mine', 'LD_PRELOAD': 'libdl.so.2', 'ASAN_OPTIONS': 'detect_leaks=0'}"
    )


def test_a_call_that_goes_on_can_be_looked_into(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, sys, threading, toolbreak

        @toolbreak.tool
        def outer(order):
            return inner(order)

        def inner(order):
            text = f"order {order}"
            print(threading.get_ident(), flush=True)
            return sys.stdin.readline() + text

        print(outer(7), end="")
        """,
    )
    adapter = scene.adapter(native=gates())
    app = scene.run(adapter, "main.py")
    thread = int(app.popen.stdout.readline())
    process, _ = adapter.event("native", lambda event: event["kind"] == "ready")
    look = process.request("nativeLook", call=1, thread=thread)
    names = [(frame["name"], frame["kind"]) for frame in look["frames"]]
    assert names[:3] == [("inner", "source"), ("outer", "source"), ("outer(order=7)", "tool")]
    scopes = process.request("scopes", hold=look["hold"], frame=look["frames"][0]["id"])["scopes"]
    values = process.request("variables", hold=look["hold"], ref=scopes[0]["ref"])["variables"]
    assert {each["name"]: each["value"] for each in values} == {"order": "7", "text": "'order 7'"}
    assert (
        process.request(
            "evaluate", hold=look["hold"], frame=look["frames"][0]["id"], expression="order + 1", context="watch"
        )["value"]
        == "8"
    )
    process.request("nativeEndLook", hold=look["hold"])
    assert not process.ask("scopes", hold=look["hold"], frame=look["frames"][0]["id"])["ok"]
    assert process.request("nativeLook", call=99, thread=thread) == {"hold": 0, "frames": []}
    code, out, _ = app.say_last("x\n")
    assert (code, out) == (0, "x\norder 7")
