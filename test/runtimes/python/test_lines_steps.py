"""Steps from line to line: over, into and out of functions, tools and generators."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RECORD_FUNCTIONS, dot
from lines_support import STEPS, at, places, scope, walk

pytestmark = pytest.mark.essential


def test_steps_over_in_and_out(scene: Any) -> None:
    path = scene.write("main.py", STEPS)
    adapter = scene.adapter(breakpoints=[dot(1, path, "first = work")])
    app = scene.run(adapter, "main.py")
    found = walk(adapter, "in", "over", "in", "over", "over", "over", "in", "out", "over", "out", "go")
    assert found == [
        ("main", 13),
        ("work", 7),
        ("work", 8),
        ("double", 2),
        ("double", 3),
        ("work", 9),
        ("main", 14),
        ("work", 7),
        ("main", 14),
        ("main", 15),
        ("<module>", 18),
    ]
    assert app.finish() == (0, "6 12\n", "")


def test_steps_through_calls_of_tools_and_their_bodies(scene: Any) -> None:
    path = scene.write("main.py", STEPS)
    adapter = scene.adapter(breakpoints=[dot(1, path, "def work")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert (hold["boundary"], at(hold)) == ("before", ("work(n=1)", 6))
    process.release(hold, step="in")
    process, hold = adapter.held()
    assert (hold["boundary"], hold["reason"], at(hold)) == ("line", "step", ("work", 7))
    assert places(hold) == [
        ("work", "source", 7),
        ("work(n=1)", "function", 6),
        ("main", "source", 13),
        ("<module>", "source", 18),
    ]
    process.release(hold, step="in")
    assert walk(adapter, "over", "over", "over", "over", "over") == [
        ("double", 2),
        ("double", 3),
        ("work", 8),
        ("work", 9),
        ("work(n=1)", 6),
    ]
    # From the end of the call to the next one, as between calls.
    process, hold = adapter.held()
    assert (hold["boundary"], at(hold)) == ("before", ("work(n=2)", 6))
    process.release(hold, step="in")
    assert walk(adapter, "out") == [("work", 7)]
    process, hold = adapter.held()
    assert (hold["boundary"], at(hold)) == ("after", ("work(n=2)", 6))
    process.release(hold)
    assert app.finish() == (0, "6 12\n", "")


def test_errors_generators_and_recursion_are_stepped(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def fail(n):
            if n:
                fail(n - 1)
            else:
                raise KeyError(n)


        def numbers():
            yield 1
            yield 2


        def main():
            try:
                fail(2)
            except KeyError:
                print("caught")
            found = []
            for n in numbers():
                found.append(n)
            print(found, sorted([3, 1], key=lambda n: -n))


        main()
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "fail(2)"), dot(2, path, "in numbers")])
    app = scene.run(adapter, "main.py")
    assert walk(adapter, "in", "over", "over", "over", "over", "go") == [
        ("main", 15),
        ("fail", 2),
        ("fail", 3),
        ("main", 16),
        ("main", 17),
        ("main", 18),
    ]
    assert walk(adapter, "in", "over", "over", "over") == [("main", 19), ("numbers", 9), ("main", 20), ("main", 19)]
    adapter.configure(breakpoints=[])
    found = walk(adapter, "over", "over", "in", "out", "out", "go")
    assert found == [("main", 20), ("main", 19), ("main", 21), ("<lambda>", 21), ("main", 21), ("<module>", 24)]
    assert app.finish() == (0, "caught\n[1, 2] [3, 1]\n", "")


def test_the_line_of_a_yield_is_not_stopped_at_where_it_raises(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def numbers():
            try:
                for n in range(3):
                    yield n
            finally:
                print("closed")


        def main():
            each = numbers()
            next(each)
            each.close()
            print("end")


        main()
        """,
    )
    adapter = scene.adapter(
        breakpoints=[dot(1, path, "yield n"), dot(2, path, 'print("closed")')],
        record=RECORD_FUNCTIONS,
    )
    app = scene.run(adapter, "main.py")
    found = walk(adapter, "over", "over", "over", "go")
    assert found == [("numbers", 4), ("numbers", 6), ("main", 13), ("main()", 9)]
    assert app.finish() == (0, "closed\nend\n", "")


def test_a_step_is_one_tasks_own(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import asyncio, threading


        def work(n):
            a = n + 1
            b = a * 2
            return b


        async def job(n):
            await asyncio.sleep(0)
            m = work(n)
            await asyncio.sleep(0)
            return m


        async def main():
            return await asyncio.gather(*(job(n) for n in range(3)))


        stop = threading.Event()


        def beside():
            while not stop.is_set():
                work(7)


        thread = threading.Thread(target=beside, name="beside")
        thread.start()
        print(asyncio.run(main()))
        stop.set()
        thread.join()
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "await asyncio.sleep(0)", condition="n == 1")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert "event loop's own thread" in hold["text"]
    assert at(hold) == ("job", 11)
    adapter.configure(breakpoints=[])
    process.release(hold, step="over")
    found = []
    for kind in ("in", "over", "over", "over", "over", "go"):
        process, hold = adapter.held()
        assert scope(process, hold, "Locals")["n"] == "1" and hold["taskName"] == "main.py"
        found.append(at(hold))
        process.release(hold, **({} if kind == "go" else {"step": kind}))
    assert found == [("job", 12), ("work", 5), ("work", 6), ("work", 7), ("job", 13), ("job", 14)]
    assert app.finish() == (0, "[2, 4, 6]\n", "")
