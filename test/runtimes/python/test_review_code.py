"""The app runs its own code, whatever its files have become meanwhile."""

from __future__ import annotations

import os
from typing import Any

import pytest
from fake_adapter import RECORD_FUNCTIONS, dot


@pytest.mark.essential
def test_a_file_that_changed_while_the_app_runs_is_not_run(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import sys

        def price():
            return 10

        def other():
            return len("abc")

        print(price(), other(), flush=True)
        sys.stdin.readline()
        print(price(), other())
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    adapter.process()
    assert app.popen.stdout.readline() == "10 3\n"
    path.write_text(path.read_text().replace("return 10", "return 99").replace("len(", "str("))
    later = os.stat(path).st_mtime + 10
    os.utime(path, (later, later))
    for state in adapter.configure(breakpoints=[dot(1, path, "def price"), dot(2, path, "def other")]):
        assert not state["verified"] and "changed since it was loaded" in state["message"]
    app.popen.stdin.write("\n")
    app.popen.stdin.flush()
    app.popen.stdin.close()
    app.popen.stdin = None
    assert app.finish() == (0, "10 3\n", "")


def test_a_reloaded_module_runs_its_new_code(scene: Any) -> None:
    scene.write("mod.py", "def price():\n    return 'old'\n")
    scene.write(
        "main.py",
        """
        import importlib, os, pathlib, sys
        sys.dont_write_bytecode = True
        import mod

        print(mod.price())
        pathlib.Path("mod.py").write_text("def price():\\n    return 'new'\\n")
        later = os.stat("mod.py").st_mtime + 10
        os.utime("mod.py", (later, later))
        importlib.invalidate_caches()
        importlib.reload(mod)
        print(mod.price())
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "old\nnew\n", "")


def test_a_finaliser_with_a_dot_does_not_hold_at_the_end(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        class Store:
            def __del__(self):
                self.close()

            def close(self):
                print("closed")

        store = Store()
        print("end")
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def close")])
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "end\nclosed\n", "")


def test_an_exit_handler_from_before_the_session_does_not_hold(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import atexit, sys

        def cleanup():
            print("cleaned")

        atexit.register(cleanup)
        # Ours comes after those that were there when the session began.
        from toolbreak import _ends
        atexit.unregister(_ends._at_exit)
        atexit.register(_ends._at_exit)
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def cleanup")])
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "cleaned\n", "")
