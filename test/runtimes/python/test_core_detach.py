"""A process that the debugger let go is what it was before."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RUNTIME, dot
from test_core_same import Door

pytestmark = pytest.mark.essential

LOOK = """
import os
import subprocess
import sys
import threading

def look():
    ours = [finder for finder in sys.meta_path if type(finder).__module__.startswith("toolbreak")]
    hooks = sys.excepthook is sys.__excepthook__, threading.excepthook is threading.__excepthook__
    names = sorted(name for name in os.environ if "TOOLBREAK" in name)
    child = subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True)
    return len(ours), hooks, names, os.environ.get("PYTHONPATH"), child.stdout + child.stderr
"""


def test_a_detach_takes_everything_away(scene: Any) -> None:
    scene.write("look.py", LOOK)
    path = scene.write(
        "main.py",
        """
        import sys
        from look import look

        def work(n):
            return n

        print(work(1), flush=True)
        sys.stdin.readline()
        print(look(), work.__code__.co_consts)
        raise ValueError("its own end")
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def work")], exceptions=[{"filter": "uncaught"}])
    app = scene.run(adapter, "main.py")
    process, _ = adapter.held()
    process.request("detach")
    assert app.popen.stdout.readline() == "1\n"
    adapter.wait(lambda process=process: process.closed, "the end of the connection")
    code, out, err = app.say_last("\n")
    assert out == "(0, (True, True), [], None, 'child\\n') (None,)\n"
    assert code == 1 and err.startswith("Traceback") and "toolbreak" not in err


def test_attached_again_after_a_detach_it_knows_what_came_meanwhile(scene: Any) -> None:
    scene.write("look.py", LOOK)
    late = scene.write("late.py", "def late(n):\n    return n\n")
    later = scene.write("later.py", "def later(n):\n    return n\n")
    scene.write(
        "main.py",
        """
        import sys
        import toolbreak
        from look import look

        before = look()
        print(toolbreak.listen(), flush=True)
        for line in sys.stdin:
            if line == "look\\n":
                print(look() == before, flush=True)
                continue
            module = __import__(line.strip())
            print(vars(module)[line.strip()](1), flush=True)
        """,
    )
    app = scene.run(None, "main.py", env={"PYTHONPATH": str(RUNTIME)})
    door = Door(app)
    for turn in range(2):
        adapter = scene.adapter(
            breakpoints=[dot(1, late, "def late"), dot(2, later, "def later")], exceptions=[{"filter": "uncaught"}]
        )
        assert door.ask({"token": door.token, "connect": adapter.connect}) == {"ok": True}
        process = adapter.process()
        if turn:
            for name in ("late", "later"):  # Imported while nobody was there, and imported now.
                door.say(name)
                process, hold = adapter.held()
                assert hold["frames"][0]["name"] == f"{name}(n=1)"
                process.release(hold)
                assert app.popen.stdout.readline() == "1\n"
        process.request("detach")
        adapter.wait(lambda process=process: process.closed, "the end of the connection")
        door.say("look")
        assert app.popen.stdout.readline() == "True\n"
        if not turn:
            door.say("late")
            assert app.popen.stdout.readline() == "1\n"
    assert app.say_last("")[0] == 0


def test_an_app_that_records_itself_goes_on_under_a_debugger(scene: Any) -> None:
    scene.write("main.py", 'import toolbreak\nprint(repr(toolbreak.record("recorded")))\n')
    assert scene.run(scene.adapter(), "main.py").finish() == (0, "''\n", "")
    assert not (scene.folder / "recorded").exists()
