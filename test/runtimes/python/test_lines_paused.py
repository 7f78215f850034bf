"""A pause stops code that runs no calls, too: at its next line."""

from __future__ import annotations

import errno
import os
import sys
import textwrap
from typing import Any

import pytest
from fake_adapter import dot

pytestmark = pytest.mark.essential

LOOP = """
    import pathlib
    import sys


    def spin():
        count = 0
        pathlib.Path("begun").touch()
        while not done:
            count += 1
            count -= 1
        return count


    done = []
    slots = getattr(sys, "monitoring", None)
    print(spin(), sys.gettrace(), {slots.get_tool(each) for each in range(6)} if slots else {None})
"""


def pause(scene: Any, adapter: Any, **task: Any) -> Any:
    """Once the app is where it says that it begun."""
    process = adapter.process()
    adapter.wait((scene.folder / "begun").exists, "the loop")
    if not task:
        adapter.stop_all(True)
    process.request("pause", **task)
    return process


def waiting(scene: Any, adapter: Any) -> Any:
    """The other end of the pipe `late`: the app opens it and reads until this one is closed. A pause comes within that line."""

    def opened() -> int | None:
        try:
            return os.open(scene.folder / "late", os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return None

    return open(adapter.wait(opened, "who reads the pipe"), "w")


def paused(scene: Any, adapter: Any, **task: Any) -> tuple[Any, Any]:
    pause(scene, adapter, **task)
    return adapter.held()  # type: ignore[no-any-return]


def go_on(adapter: Any, process: Any, hold: Any, **how: Any) -> None:
    """As the adapter does it."""
    adapter.stop_all(False)
    process.release(hold, **how)


def evaluate_done(process: Any, hold: Any) -> None:
    frame = hold["frames"][0]["id"]
    process.request("evaluate", hold=hold["id"], frame=frame, expression="done.append(1)", context="repl")


def finish(adapter: Any, process: Any, hold: Any) -> None:
    evaluate_done(process, hold)
    go_on(adapter, process, hold)


def place(hold: Any) -> tuple[str, str, str, int]:
    return hold["boundary"], hold["reason"], hold["frames"][0]["name"], hold["frames"][0]["line"]


def test_a_loop_without_calls_stops_at_its_next_line(scene: Any) -> None:
    scene.write("main.py", LOOP)
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert place(hold)[:3] == ("line", "pause", "spin") and place(hold)[3] in (8, 9, 10)
    assert hold["description"] == "Paused"
    assert [frame["name"] for frame in hold["frames"]] == ["spin", "<module>"]
    finish(adapter, process, hold)
    assert app.finish() == (0, "0 None {None}\n", "")


def test_a_loop_of_one_line_at_the_top_of_the_main_module_stops(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import pathlib

        done = []
        x = 0
        pathlib.Path("begun").touch()
        while not done: x += 1
        print("done")
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert place(hold) == ("line", "pause", "<module>", 6)
    finish(adapter, process, hold)
    assert app.finish() == (0, "done\n", "")


def test_it_is_stepped_from_there_and_paused_again(scene: Any) -> None:
    scene.write("main.py", LOOP)
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    for _ in range(3):
        line = hold["frames"][0]["line"]
        go_on(adapter, process, hold, step="over")
        process, hold = adapter.held()
        assert (hold["reason"], hold["boundary"]) == ("step", "line")
        assert hold["frames"][0]["line"] == {8: 9, 9: 10, 10: 8}[line]
    go_on(adapter, process, hold)
    process, hold = paused(scene, adapter)
    assert hold["reason"] == "pause"
    go_on(adapter, process, hold)
    # One task alone.
    process, hold = paused(scene, adapter, task=hold["task"])
    assert hold["reason"] == "pause"
    finish(adapter, process, hold)
    assert app.finish() == (0, "0 None {None}\n", "")


CALLS = """
    import pathlib


    def work(n):
        return n


    def spin():
        while not done:
            for n in range(1000):
                pass
            work(n)


    done = []
    pathlib.Path("begun").touch()
    spin()
    print("done")
"""


def test_a_call_may_come_before_the_next_line_and_nothing_stops_twice(scene: Any) -> None:
    path = scene.write("main.py", CALLS)
    adapter = scene.adapter(breakpoints=[dot(1, path, "def work", condition="done is None")])
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert hold["reason"] == "pause"
    evaluate_done(process, hold)
    go_on(adapter, process, hold)
    assert app.finish() == (0, "done\n", "")


TASKS = """
    import asyncio
    import pathlib


    async def busy(name):
        pathlib.Path("begun").touch()
        while not done:
            for n in range(3):
                counts[name] = n
            await asyncio.sleep(0)
        return name


    async def main():
        print(await asyncio.gather(busy("a"), busy("b")))


    counts = {}
    done = []
    asyncio.run(main())
"""


def test_a_coroutine_stops_at_its_next_line_and_not_in_the_event_loop(scene: Any) -> None:
    scene.write("main.py", TASKS)
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert place(hold)[:3] == ("line", "pause", "busy") and place(hold)[3] in range(6, 12)
    finish(adapter, process, hold)
    assert app.finish() == (0, "['a', 'b']\n", "")


WORKERS = """
    import pathlib
    import threading


    def spin(name):
        count = 0
        if name == last:
            pathlib.Path("begun").touch()
        while not done:
            count += 1


    done = []
    workers = [threading.Thread(target=spin, args=(name,), name=name) for name in ("one", "two")]
    for worker in workers:
        worker.start()
    if last == "main":
        spin("main")
    else:
        open("late").read()
    for worker in workers:
        worker.join()
    print("done")
"""


# Before, only the main thread stops at lines.
if sys.version_info >= (3, 12):

    def test_every_thread_that_runs_stops_and_one_that_waits_does_not_when_the_others_go_on(scene: Any) -> None:
        scene.write("main.py", "last = 'two'\n" + textwrap.dedent(WORKERS).lstrip("\n"))
        os.mkfifo(scene.folder / "late")
        adapter = scene.adapter()
        app = scene.run(adapter, "main.py")
        adapter.process()
        late = waiting(scene, adapter)
        pause(scene, adapter)
        holds = dict((hold["taskName"], (process, hold)) for process, hold in (adapter.held(), adapter.held()))
        assert sorted(holds) == ["one", "two"]
        process, hold = holds["one"]
        assert place(hold)[:3] == ("line", "pause", "spin")
        finish(adapter, process, hold)
        process.release(holds["two"][1])
        late.close()
        assert app.finish() == (0, "done\n", "")


def test_the_main_thread_stops_beside_others(scene: Any) -> None:
    scene.write("main.py", "last = 'main'\n" + textwrap.dedent(WORKERS).lstrip("\n"))
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    pause(scene, adapter)
    process, hold = adapter.held(lambda hold: hold["taskName"] == "main.py")
    assert place(hold)[:3] == ("line", "pause", "spin")
    evaluate_done(process, hold)
    adapter.stop_all(False)
    # The others stopped too, as far as this Python can. All go on, and the app may end before it answers.
    process.write({"seq": 1000, "request": "detach"})
    assert app.finish() == (0, "done\n", "")


def test_a_pause_in_the_standard_library_stops_where_a_person_wrote_the_line(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import json
        import pathlib

        done = []
        text = json.dumps(list(range(3000)))
        encoder = json.JSONEncoder(indent=1)
        pathlib.Path("begun").touch()
        while not done:
            encoder.encode(json.loads(text))
        print("done")
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert place(hold)[:3] == ("line", "pause", "<module>") and place(hold)[3] in (8, 9)
    finish(adapter, process, hold)
    assert app.finish() == (0, "done\n", "")


def test_a_pause_that_saw_a_thread_between_two_calls_finds_its_callers(scene: Any) -> None:
    """A thread goes on while its frames are looked at: of one that has returned meanwhile nobody learns who called it."""
    scene.write(
        "main.py",
        """
        import json
        import pathlib
        import sys

        sys._current_frames = lambda: {}
        done = []
        pathlib.Path("begun").touch()
        while not done:
            json.loads("[1]")
        print("done")
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert place(hold)[:3] == ("line", "pause", "<module>") and place(hold)[3] in (8, 9, 10)
    finish(adapter, process, hold)
    assert app.finish() == (0, "done\n", "")


def test_who_waits_stops_at_the_line_behind(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import pathlib

        pathlib.Path("begun").touch()
        text = open("late").read()
        print(text)
        """,
    )
    os.mkfifo(scene.folder / "late")
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    adapter.process()
    with waiting(scene, adapter) as late:
        pause(scene, adapter)
        late.write("late")
    process, hold = adapter.held()
    assert place(hold) == ("line", "pause", "<module>", 5)
    go_on(adapter, process, hold)
    assert app.finish() == (0, "late\n", "")


def test_a_pause_that_nothing_ran_into_is_gone_with_the_debugger(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import pathlib
        import sys

        pathlib.Path("begun").touch()
        text = open("late").read()
        slots = getattr(sys, "monitoring", None)
        print(text, sys.gettrace(), {slots.get_tool(each) for each in range(6)} if slots else {None})
        """,
    )
    os.mkfifo(scene.folder / "late")
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    adapter.process()
    with waiting(scene, adapter) as late:
        process = pause(scene, adapter)
        process.request("detach")
        adapter.wait(lambda: process.closed, "the end of the session")
        late.write("late")
    assert app.finish() == (0, "late None {None}\n", "")


LOOPS = {
    "while True: pass": "while True: pass",
    "an empty body": "while True:\n    pass",
    "for in one line": "for each in itertools.count(): pass",
    "a comprehension": "[None for each in itertools.count() if each < 0]",
    "a generator expression": "sum(0 for each in itertools.count())",
    "a function called by C": "any(map(lambda each: None, itertools.count()))",
    "what is caught": "while True:\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        continue",
    "a class body": "class Body:\n    count = 0\n    while True:\n        count += 1",
    "a generator": "def numbers():\n    while True:\n        yield 1\nfor each in numbers():\n    pass",
    "a coroutine": "async def work():\n    while True:\n        await asyncio.sleep(0)\nasyncio.run(work())",
    "callbacks": "def again():\n    loop.call_soon(again)\nloop = asyncio.new_event_loop()\nloop.call_soon(again)\nloop.run_forever()",
}


@pytest.mark.parametrize("name", LOOPS)
def test_every_kind_of_loop_stops(scene: Any, name: str) -> None:
    head = "import asyncio, itertools, pathlib\npathlib.Path('begun').touch()\n"
    scene.write("main.py", head + LOOPS[name] + "\n")
    adapter = scene.adapter()
    scene.run(adapter, "main.py")
    process, hold = paused(scene, adapter)
    assert (hold["boundary"], hold["reason"]) == ("line", "pause")
    assert hold["frames"][0]["path"].endswith("main.py") and hold["frames"][0]["line"] > 2
    # It goes on, and a second pause finds it again.
    go_on(adapter, process, hold)
    _, hold = paused(scene, adapter)
    assert hold["reason"] == "pause"
