"""A breakpoint on a statement of several lines, two threads in one call, and a debugger that leaves while a line is held."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import dot

pytestmark = pytest.mark.essential

SEVERAL = """
    def work(n):
        total = sum(
            [
                n,
                abs(n),
            ]
        )
        found = dict(
            total=total,
            again=abs(total),
        )
        return found


    print(work(1)["again"])
    print(work(2)["again"])
"""


@pytest.mark.parametrize("text", ["total = sum(", "found = dict("])
def test_the_first_line_of_a_statement_stops_once_each_time_it_runs(scene: Any, text: str) -> None:
    path = scene.write("main.py", SEVERAL)
    adapter = scene.adapter(breakpoints=[dot(1, path, text)])
    app = scene.run(adapter, "main.py")
    for number in ("1", "2"):
        process, hold = adapter.held()
        frame = hold["frames"][0]["id"]
        asked = process.request("evaluate", hold=hold["id"], frame=frame, expression="n", context="repl")
        assert asked["value"] == number
        process.release(hold)
    assert app.finish() == (0, "2\n4\n", "")


FINALLY = """
    def work(n):
        for each in range(2):
            try:
                if each == n:
                    raise ValueError(each)
            finally:
                seen.append(
                    each,
                )


    seen = []
    try:
        work(1)
    except ValueError as error:
        print("raised", error)
    print(seen)
"""


def test_a_statement_that_ends_both_ways_of_a_try_stops_in_both(scene: Any) -> None:
    path = scene.write("main.py", FINALLY)
    adapter = scene.adapter(breakpoints=[dot(1, path, "seen.append(")])
    app = scene.run(adapter, "main.py")
    for number in ("0", "1"):
        process, hold = adapter.held()
        frame = hold["frames"][0]["id"]
        asked = process.request("evaluate", hold=hold["id"], frame=frame, expression="each", context="repl")
        assert asked["value"] == number
        process.release(hold)
    assert app.finish() == (0, "raised 1\n[0, 1]\n", "")


LEFT = """
    import sys


    def work(n):
        total = n * 2
        return total


    print(work(1), work(2), sys.gettrace())
"""


def test_a_debugger_that_leaves_while_a_line_is_held_lets_it_go_on(scene: Any) -> None:
    path = scene.write("main.py", LEFT)
    adapter = scene.adapter(breakpoints=[dot(1, path, "total = n")])
    app = scene.run(adapter, "main.py")
    process, _ = adapter.held()
    process.request("detach")
    assert app.finish() == (0, "2 4 None\n", "")


THREADS = """
    import threading


    def tool(n):
        def half(part):
            parts[part] = n

        threads = [threading.Thread(target=half, args=(part,), name=part) for part in ("left", "right")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(parts)


    parts = {}
    print(tool(3))
"""


def test_two_threads_of_one_call_are_held_beside_each_other(scene: Any) -> None:
    path = scene.write("main.py", THREADS)
    adapter = scene.adapter(breakpoints=[dot(1, path, "parts[part] = n")])
    app = scene.run(adapter, "main.py")
    held = [adapter.held() for _ in range(2)]
    assert len({hold["task"] for _, hold in held}) == 2
    found = set()
    for process, hold in held:
        frame = hold["frames"][0]["id"]
        asked = process.request("evaluate", hold=hold["id"], frame=frame, expression="part", context="repl")
        found.add(asked["value"])
    assert found == {"'left'", "'right'"}
    for process, hold in held:
        process.release(hold)
    assert app.finish() == (0, "['left', 'right']\n", "")


def test_with_hold_all_a_line_stops_the_other_threads_at_theirs(scene: Any) -> None:
    path = scene.write("main.py", THREADS)
    adapter = scene.adapter(breakpoints=[dot(1, path, "parts[part] = n")], hold="all")
    app = scene.run(adapter, "main.py")
    held = [adapter.held() for _ in range(2)]
    assert [hold["boundary"] for _, hold in held] == ["line", "line"]
    for process, hold in held:
        process.release(hold)
    assert app.finish() == (0, "['left', 'right']\n", "")
