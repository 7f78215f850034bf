"""Breakpoints on lines inside functions: they stop there, with the frame's names, and go on."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from fake_adapter import dot
from lines_support import SHOP, at, places, scope

pytestmark = pytest.mark.essential


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


def test_conditions_hits_and_logpoints(scene: Any) -> None:
    path = scene.write("main.py", SHOP)
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "sum += item", condition="item == RATE and sum > 0"),
            dot(2, path, "for item", hitCondition=">=4"),
            dot(3, path, "return sum", logMessage="comes to {sum} of {len(items)}"),
            dot(4, path, "sum = 0", condition="nowhere > 1"),
            dot(5, path, "# what", hitCondition=">100"),
        ]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    states = {state["id"]: state for state in adapter.configure()}
    assert (hold["breakpoints"], scope(process, hold, "Locals")["item"]) == ([1], "2")
    assert states[5]["line"] == 7 and "message" not in states[5]
    assert (
        states[4]["message"]
        == "Condition failed once: NameError name 'nowhere' is not defined. The breakpoint did not stop."
    )
    process.release(hold)
    process, hold = adapter.held()
    assert hold["breakpoints"] == [2] and states[2]["verified"]
    process.release(hold)
    _, logged = adapter.event("log", lambda event: event["text"].startswith("comes"))
    assert (logged["text"], logged["line"]) == ("comes to 12 of 3", 9)
    assert app.finish() == (0, "12\n", "")


def test_a_dot_in_a_loop_that_runs_already_and_one_taken_away(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import sys

        def turn(n):
            m = n + 1
            return m

        def main():
            print("ready", flush=True)
            for line in sys.stdin:
                print(turn(int(line)), flush=True)

        main()
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    assert app.popen.stdout.readline() == "ready\n"
    state = adapter.configure(breakpoints=[dot(1, path, "m = n + 1")])[0]
    assert state["verified"] and "message" not in state
    app.popen.stdin.write("1\n")
    app.popen.stdin.flush()
    process, hold = adapter.held()
    assert at(hold) == ("turn", 4)
    adapter.configure(breakpoints=[])
    process.release(hold)
    assert app.popen.stdout.readline() == "2\n"
    assert app.say_last("5\n") == (0, "6\n", "")


def test_a_changed_file_says_so(scene: Any) -> None:
    path = scene.write("late.py", "def f(n):\n    n += 1\n    return n\n")
    scene.write("main.py", "import sys, late\nprint('ready', flush=True)\nsys.stdin.readline()\nprint(late.f(1))\n")
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    assert app.popen.stdout.readline() == "ready\n"
    path.write_text("def f(n):\n    n += 2\n\n    return n - 1\n")
    state = adapter.configure(breakpoints=[dot(1, path, "n += 2")])[0]
    assert (state["verified"], state["message"]) == (
        False,
        "late.py changed since it was loaded; restart to stop on its lines.",
    )
    assert app.say_last("\n") == (0, "2\n", "")


def test_cancel_ends_the_call_at_the_line_and_others_are_refused(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def tool(n):
            m = n
            return m


        def plain():
            return 1


        try:
            tool(1)
        except BaseException as error:
            print(type(error).__name__)
        print(plain())
        """,
    )
    adapter = scene.adapter(
        breakpoints=[dot(1, path, "def tool", boundaries=["after"]), dot(2, path, "m = n"), dot(3, path, "return 1")]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert not any(frame["canRestart"] for frame in hold["frames"])
    for action in ("restart", "again", "skip"):
        answer = process.ask("release", hold=hold["id"], action=action, client="test")
        assert not answer["ok"] and "middle of its body" in answer["error"]["message"]
    process.release(hold, "cancel")
    process, hold = adapter.held()
    answer = process.ask("release", hold=hold["id"], action="cancel", client="test")
    assert (
        answer["error"]["message"] == "This line runs outside every call; there is nothing to skip, restart or cancel."
    )
    process.release(hold)
    assert app.finish() == (0, "Cancelled\n1\n", "")


def test_forked_and_spawned_children_stop_at_lines(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import multiprocessing, sys


        def work(n):
            m = n + 1
            return m


        if __name__ == "__main__":
            for way in ("fork", "spawn"):
                with multiprocessing.get_context(way).Pool(1) as pool:
                    print(pool.map(work, [1]))
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "m = n + 1")])
    app = scene.run(adapter, "main.py")
    for _ in range(2):
        process, hold = adapter.held()
        assert process.hello["parentPid"] == app.popen.pid and at(hold) == ("work", 5)
        process.release(hold)
    code, out, _ = app.finish()
    assert (code, out) == (0, "[2]\n[2]\n")


def test_names_of_a_line_and_of_its_call(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        K = 5


        def tool(n, text):
            seen = []

            def add(by):
                nonlocal n
                n += by
                seen.append(by)

            add(1)
            return n + len(seen)


        print(tool(1, "a"))
        """,
    )
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def tool", boundaries=["after"]),
            dot(2, path, "seen.append", condition="args['n'] == 1"),
        ]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["frames"][0]["name"] in ("tool.add", "add") and hold["frames"][2]["name"] == "tool(n=1, text='a')"
    asked = {"hold": hold["id"], "frame": hold["frames"][0]["id"]}
    for expression, value in (
        ("n", "2"),
        ("by + K", "6"),
        ("args['text']", "'a'"),
        ("text", "'a'"),
        ("call.name", "'tool'"),
    ):
        assert process.request("evaluate", **asked, expression=expression, context="watch")["value"] == value
    assert process.request("evaluate", **asked, expression="by", context="hover")["value"] == "1"
    labels = [t["label"] for t in process.request("completions", **asked, text="se", column=3)["targets"]]
    assert "seen" in labels
    # A variable of the function around it is a cell.
    process.request("setExpression", **asked, expression="n", value="40", client="test")
    call = {"hold": hold["id"], "frame": hold["frames"][2]["id"]}
    refused = process.ask("setExpression", **call, expression="n", value="7", client="test")
    assert "change the variables among the Locals" in refused["error"]["message"]
    scopes = [each["name"] for each in process.request("scopes", **call)["scopes"]]
    assert scopes == ["Arguments", "Call"]
    globals_of = process.request("scopes", **asked)["scopes"][1]
    assert globals_of["name"] == "Globals"
    process.request("setVariable", hold=hold["id"], ref=globals_of["ref"], name="K", value="6", client="test")
    assert process.request("evaluate", **asked, expression="K", context="watch")["value"] == "6"
    process.release(hold, step="out")
    process, hold = adapter.held()
    assert hold["boundary"] == "line" and hold["frames"][0]["name"] == "tool"
    process.release(hold, step="out")
    process, hold = adapter.held()
    assert hold["boundary"] == "after"
    process.release(hold)
    assert app.finish() == (0, "41\n", "")


def test_another_tool_that_traces_or_has_the_slots(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import sys


        def take():
            if sys.version_info >= (3, 12):
                for each in range(6):
                    if sys.monitoring.get_tool(each) is None:
                        sys.monitoring.use_tool_id(each, "other")
            else:
                sys.settrace(lambda frame, event, arg: None)


        def work(n):
            m = n + 1
            return m


        take()
        print("ready", flush=True)
        sys.stdin.readline()
        print(work(1))
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    assert app.popen.stdout.readline() == "ready\n"
    (state,) = adapter.configure(breakpoints=[dot(1, path, "m = n + 1")])
    if sys.version_info >= (3, 12):
        assert (state["verified"], state["message"]) == (
            False,
            "Every monitoring slot of this Python is taken by other tools, so no line can be stopped.",
        )
    else:
        assert state["verified"]
    app.popen.stdin.write("\n")
    app.popen.stdin.flush()
    if sys.version_info < (3, 12):
        process, hold = adapter.held()
        process.release(hold, step="over")
        _, said = adapter.event("log", lambda event: "traces this thread" in event["text"])
        assert "steps go from call to call here" in said["text"]
    assert app.finish() == (0, "2\n", "")
