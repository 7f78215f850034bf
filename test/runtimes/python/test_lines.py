"""Breakpoints on lines inside functions: they stop there, with the frame's names, and go on."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import dot

pytestmark = pytest.mark.essential

SHOP = """
    RATE = 2


    def total(items):
        # what it comes to
        sum = 0
        for item in items:
            sum += item * RATE
        return sum


    def main():
        print(total([1, 2, 3]))


    main()
"""


def scope(process: Any, hold: Any, name: str, frame: int = 0) -> dict[str, str]:
    found = process.request("scopes", hold=hold["id"], frame=hold["frames"][frame]["id"])["scopes"]
    ref = next(each["ref"] for each in found if each["name"] == name)
    return {v["name"]: v["value"] for v in process.request("variables", hold=hold["id"], ref=ref)["variables"]}


def places(hold: Any) -> list[tuple[str, str, int]]:
    return [(frame["name"], frame["kind"], frame["line"]) for frame in hold["frames"]]


def test_a_line_in_a_body_stops_with_its_locals(scene: Any) -> None:
    path = scene.write("main.py", SHOP)
    adapter = scene.adapter(breakpoints=[dot(1, path, "sum += item")])
    app = scene.run(adapter, "main.py")
    for sum, item in ((0, 1), (2, 2), (6, 3)):
        process, hold = adapter.held()
        assert (hold["boundary"], hold["reason"], hold["description"]) == ("line", "breakpoint", "Paused on breakpoint")
        assert hold["breakpoints"] == [1] and hold["taskName"] == "main.py"
        assert places(hold) == [("total", "source", 8), ("main", "source", 13), ("<module>", "source", 16)]
        found = scope(process, hold, "Locals")
        assert found["sum"] == str(sum) and found["item"] == str(item)
        process.release(hold)
    assert app.finish() == (0, "12\n", "")


def test_a_local_is_edited_and_the_frame_is_asked(scene: Any) -> None:
    path = scene.write("main.py", SHOP)
    adapter = scene.adapter(breakpoints=[dot(1, path, "return sum")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    frame = hold["frames"][0]["id"]
    asked = {"hold": hold["id"], "frame": frame}
    assert process.request("evaluate", **asked, expression="sum * RATE", context="repl")["value"] == "24"
    scopes = process.request("scopes", **asked)["scopes"]
    local = next(each["ref"] for each in scopes if each["name"] == "Locals")
    process.request("setVariable", hold=hold["id"], ref=local, name="sum", value="sum + 30", client="test")
    assert process.request("evaluate", **asked, expression="sum", context="watch")["value"] == "42"
    process.request("evaluate", **asked, expression="sum = sum + 1", context="repl")
    process.request("setExpression", **asked, expression="sum", value="sum + 1", client="test")
    process.release(hold)
    assert app.finish() == (0, "44\n", "")


STEPS = """
    def double(x):
        y = x * 2
        return y


    def work(n):
        a = double(n)
        b = double(a)
        return a + b


    def main():
        first = work(1)
        second = work(2)
        print(first, second)


    main()
"""


def at(hold: Any) -> tuple[str, int]:
    return hold["frames"][0]["name"].replace("main.<", "<"), hold["frames"][0]["line"]


def walk(adapter: Any, *kinds: str) -> list[tuple[str, int]]:
    """Where each of these steps ends."""
    found: list[tuple[str, int]] = []
    for kind in kinds:
        process, hold = adapter.held()
        found.append(at(hold))
        if kind == "go":
            process.release(hold)
        else:
            process.release(hold, step=kind)
    return found


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
