"""A file that another program runs as its main module stops like any other."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import dot

pytestmark = pytest.mark.essential

WAYS = {
    "cProfile": ["-m", "cProfile", "-o", "out.prof", "app.py"],
    "trace": ["-m", "trace", "--count", "-C", "counts", "app.py"],
    "pdb": ["-m", "pdb", "-c", "continue", "-c", "quit", "app.py"],
    "run_path": ["-c", "import runpy; runpy.run_path('app.py', run_name='__main__')"],
    "run_path under another name": ["-c", "import runpy; runpy.run_path('app.py')['main']()"],
    "run_module": ["-c", "import runpy; runpy.run_module('app', run_name='__main__')"],
    "a program of its own": ["runner.py"],
}


@pytest.mark.parametrize("way", WAYS)
def test_functions_of_the_file_stop(scene: Any, way: str) -> None:
    path = scene.write(
        "app.py",
        """
        def work(n):
            return n * 2

        def main():
            print(work(3), __name__, work.__code__.co_filename.endswith("app.py"))

        if __name__ == "__main__":
            main()
        """,
    )
    scene.write("runner.py", "import runpy\nrunpy.run_path('app.py', run_name='__main__')\n")
    bare = scene.run(None, *WAYS[way]).finish()
    adapter = scene.adapter(breakpoints=[dot(1, path, "def work")])
    app = scene.run(adapter, *WAYS[way])
    process, hold = adapter.held()
    assert [frame["name"] for frame in hold["frames"][:2]] == ["work(n=3)", "main"]
    adapter.event("breakpoints", lambda event: event["breakpoints"][0]["verified"])
    process.release(hold)
    code, out, err = app.finish()
    assert (code, out, err) == bare, err


def test_what_cannot_be_joined_says_so(scene: Any) -> None:
    path = scene.write("app.py", "def work(n):\n    return n\n\nprint(work(1))\n")
    adapter = scene.adapter(breakpoints=[dot(1, path, "def work")])
    app = scene.run(adapter, "-m", "profile", "-o", "out.prof", "app.py")
    assert app.finish() == (0, "1\n", "")
    _, event = adapter.event("breakpoints", lambda event: "profile" in event["breakpoints"][0]["message"])
    assert event["breakpoints"][0]["message"] == (
        "Waiting for app.py to be imported. A program that profile runs cannot be stopped; one that cProfile runs can."
    )


def test_the_programs_errors_are_told_without_us(scene: Any) -> None:
    path = scene.write("app.py", "def work(n):\n    return n / 0\n\nwork(1)\n")
    for way in ("cProfile", "run_path"):
        bare = scene.run(None, *WAYS[way]).finish()
        adapter = scene.adapter(breakpoints=[dot(1, path, "def work", condition="False")])
        assert scene.run(adapter, *WAYS[way]).finish() == bare
        assert bare[0] == 1
