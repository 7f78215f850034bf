"""Breakpoints on lines of functions that run already."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from fake_adapter import dot

pytestmark = pytest.mark.essential

#: Says at the end whether something of ours still traces.
WORK = """
    import sys


    def add(a, b):
        c = a + b
        return c


    def work(n):
        first = n + 1
        second = add(first, 1)
        third = [
            each
            + second
            for each in range(2)
        ]
        for turn in range(3):
            second += turn
        last = add(second, len(third))
        return last


    def main():
        one = work(1)
        two = work(one)
        print(sys.gettrace(), two)


    main()
"""
SAYS = "None 15\n"


def at(hold: Any) -> tuple[str, list[int]]:
    return hold["frames"][0]["name"], hold["breakpoints"]


def begin(scene: Any, path: Path, *texts: str) -> tuple[Any, Any]:
    adapter = scene.adapter(breakpoints=[dot(1, path, *texts)])
    return adapter, scene.run(adapter, path.name)


def test_a_line_below_the_one_that_is_held(scene: Any) -> None:
    path = scene.write("main.py", WORK)
    adapter, app = begin(scene, path, "first = n")
    first, last = dot(1, path, "first = n"), dot(2, path, "last = add")
    process, hold = adapter.held()
    adapter.configure(breakpoints=[first, last])
    process.release(hold)
    process, hold = adapter.held()
    assert at(hold) == ("work", [2])
    process.release(hold)
    for expected in (1, 2):  # The next call has it in its code.
        process, hold = adapter.held()
        assert at(hold) == ("work", [expected])
        process.release(hold)
    assert app.finish() == (0, SAYS, "")
    assert not [said for _, said in adapter.events if said["event"] == "log"]


def test_a_line_below_a_held_call_in_the_frames_that_called_it(scene: Any) -> None:
    path = scene.write("main.py", WORK)
    adapter, app = begin(scene, path, "def add")
    process, hold = adapter.held()
    adapter.configure(breakpoints=[dot(2, path, "c = a + b"), dot(3, path, "last = add"), dot(4, path, "two = work")])
    process.release(hold)
    for expected in (("add", [2]), ("work", [3]), ("add", [2]), ("main", [4])):
        process, hold = adapter.held()
        assert at(hold) == expected
        process.release(hold)
    process, hold = adapter.held()
    assert at(hold) == ("add", [2])
    adapter.configure(breakpoints=[])
    process.release(hold)
    assert app.finish() == (0, SAYS, "")


def test_a_line_that_is_taken_away_again(scene: Any) -> None:
    path = scene.write("main.py", WORK)
    adapter, app = begin(scene, path, "first = n")
    process, hold = adapter.held()
    adapter.configure(breakpoints=[dot(2, path, "second = add"), dot(3, path, "return last")])
    process.release(hold)
    process, hold = adapter.held()
    assert at(hold) == ("work", [2])
    adapter.configure(breakpoints=[])
    process.release(hold)
    assert app.finish() == (0, SAYS, "")


def test_a_loop_that_runs_and_a_list_inside_stop_each_time(scene: Any) -> None:
    path = scene.write("main.py", WORK)
    adapter, app = begin(scene, path, "first = n")
    process, hold = adapter.held()
    adapter.configure(breakpoints=[dot(2, path, "+ second"), dot(3, path, "second += turn", hitCondition="2")])
    process.release(hold)
    names = []
    for expected in ([2], [2], [3]):
        process, hold = adapter.held()
        assert hold["breakpoints"] == expected
        names.append(hold["frames"][0]["line"])
        if expected == [3]:
            adapter.configure(breakpoints=[])
        process.release(hold)
    assert app.finish() == (0, SAYS, "")


def test_steps_and_late_lines_stop_once(scene: Any) -> None:
    path = scene.write("main.py", WORK)
    adapter, app = begin(scene, path, "first = n")
    process, hold = adapter.held()
    adapter.configure(breakpoints=[dot(2, path, "second = add"), dot(3, path, "return last")])
    process.release(hold, step="over")
    process, hold = adapter.held()
    assert (hold["reason"], at(hold)) == ("breakpoint", ("work", [2]))
    process.release(hold, step="over")
    process, hold = adapter.held()
    assert (hold["reason"], at(hold)) == ("step", ("work", []))
    process.release(hold)
    process, hold = adapter.held()
    assert (hold["reason"], at(hold)) == ("breakpoint", ("work", [3]))
    process.release(hold, step="over")
    process, hold = adapter.held()
    assert (hold["reason"], hold["frames"][0]["name"]) == ("step", "main")
    adapter.configure(breakpoints=[])
    process.release(hold)
    assert app.finish() == (0, SAYS, "")


def test_a_line_stops_once_each_time_it_is_reached(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def add(a, b):
            return a + b


        def work(n):
            first = n + 1
            for turn in range(2):
                second = add(
                    first,
                    add(n, turn),
                )
            third = [add(x, 1) for x in range(3)]
            return second + sum(third)


        print(work(1))
        """,
    )
    adapter, app = begin(scene, path, "first = n")
    process, hold = adapter.held()
    adapter.configure(
        breakpoints=[dot(2, path, "second = add"), dot(3, path, "third ="), dot(4, path, "return second")]
    )
    process.release(hold)
    met = []
    while met[-1:] != [4]:
        process, hold = adapter.held()
        met.extend(hold["breakpoints"])
        process.release(hold)
    if sys.version_info < (3, 12):
        assert met == [2, 2, 3, 4]
    else:  # The interpreter tells the first line of a statement on several lines again before its last instruction.
        assert list(dict.fromkeys(met)) == [2, 3, 4]
    assert app.finish() == (0, "10\n", "")


def test_coroutines_that_wait_and_those_that_are_held(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import asyncio
        import sys


        async def inner(n):
            m = n + 1
            await asyncio.sleep(0)
            return m


        async def outer():
            one, other = await asyncio.gather(inner(1), asyncio.sleep(0, 5))
            both = one + await inner(other)
            return both


        def main():
            found = asyncio.run(outer())
            print(sys.gettrace(), found)


        main()
        """,
    )
    adapter, app = begin(scene, path, "async def inner")
    process, hold = adapter.held()
    lines = ("m = n + 1", "return m", "return both", "print(")
    adapter.configure(breakpoints=[dot(index, path, text) for index, text in enumerate(lines, 2)])
    process.release(hold)
    for expected in (("inner", [2]), ("inner", [3]), ("inner", [2]), ("inner", [3]), ("outer", [4]), ("main", [5])):
        process, hold = adapter.held()
        assert at(hold) == expected
        if expected[0] == "main":
            adapter.configure(breakpoints=[])
        process.release(hold)
    assert app.finish() == (0, "None 8\n", "")
    assert not [said for _, said in adapter.events if said["event"] == "log"]


def test_where_it_cannot_be_it_says_from_when_on(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import sys


        def trace(frame, event, arg):
            return None


        def work(n):
            first = n + 1
            return first


        def ask():
            print("ready", flush=True)
            line = sys.stdin.readline()
            return line


        ask()
        ask()
        sys.settrace(trace)
        work(1)
        print(sys.gettrace() is trace)
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    late = sys.version_info < (3, 12)
    assert app.popen.stdout.readline() == "ready\n"
    adapter.configure(breakpoints=[dot(1, path, "return line"), dot(2, path, "first = n")])
    if late:
        _, said = adapter.event("log")
        assert said["text"] == "ask runs already; before Python 3.12 line 16 stops from its next call on."
        assert (said["path"], said["line"]) == (str(path), 16)
    app.popen.stdin.write("\n\n")
    app.popen.stdin.flush()
    for _ in range(1 if late else 2):
        process, hold = adapter.held()
        assert at(hold) == ("ask", [1])
        process.release(hold)
    process, hold = adapter.held()
    assert at(hold) == ("work", [2])
    adapter.configure(breakpoints=[dot(3, path, "return first")])
    process.release(hold)
    if late:
        _, said = adapter.event("log", lambda event: event["line"] == 10)
        assert said["text"] == "work runs already; before Python 3.12 line 10 stops from its next call on."
    else:
        process, hold = adapter.held()
        assert at(hold) == ("work", [3])
        process.release(hold)
    assert app.finish() == (0, "ready\nTrue\n", "")
