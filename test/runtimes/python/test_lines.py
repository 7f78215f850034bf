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
