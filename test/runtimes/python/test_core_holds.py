"""A call is held, looked at, changed and released."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RECORD_FUNCTIONS, dot, named

pytestmark = pytest.mark.essential

LEVEL0 = """
    def search(query, limit=3):
        return [query] * limit


    def rank(items):
        return len(items)


    TABLE = {"search": search}


    def main():
        found = TABLE["search"]("red", limit=2)
        return rank(found)


    if __name__ == "__main__":
        print(main())
"""


def test_a_tool_in_a_dispatch_table_is_held_edited_and_released(scene: Any) -> None:
    path = scene.write("main.py", LEVEL0)
    adapter = scene.adapter(breakpoints=[dot(1, path, "def search")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["boundary"] == "before" and hold["reason"] == "breakpoint" and hold["breakpoints"] == [1]
    assert hold["description"] == "Paused before function"
    names = [(frame["name"], frame["kind"], frame["line"]) for frame in hold["frames"]]
    assert names == [
        ("search(query='red', limit=2)", "function", 1),
        ("main", "source", 13),
        ("<module>", "source", 18),
    ]
    arguments = next(
        s
        for s in process.request("scopes", hold=hold["id"], frame=hold["frames"][0]["id"])["scopes"]
        if s["name"] == "Arguments"
    )
    process.request("setVariable", hold=hold["id"], ref=arguments["ref"], name="limit", value="5", client="test")
    assert process.request("frames", hold=hold["id"])["frames"][0]["name"] == "search(query='red', limit=5)"
    answer = process.request(
        "evaluate", hold=hold["id"], frame=hold["frames"][0]["id"], expression="limit * 2", context="repl"
    )
    assert answer["value"] == "10"
    process.release(hold)
    assert app.finish() == (0, "5\n", "")


def test_after_and_error_stops_skip_again_and_cancel(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def once(x):
            return x + 1

        def bad(x):
            raise ValueError("no " + x)

        print(once(1))
        try:
            print(bad("way"))
        except ValueError as error:
            print("caught", error)
        print(bad("skip"))
        print(once(10))
        try:
            print(once(20))
        except Exception:
            print("never")
        """,
    )
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def once", boundaries=["before", "after"]),
            dot(2, path, "def bad", boundaries=["error"]),
        ]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    process.release(hold)
    process, hold = adapter.held()
    assert hold["boundary"] == "after"
    process.release(hold, "again")
    process, hold = adapter.held()
    assert hold["boundary"] == "after"
    process.release(hold)
    process, hold = adapter.held()
    assert hold["boundary"] == "error" and hold["frames"][0]["line"] == 5
    assert process.request("exception", hold=hold["id"])["message"] == "no way"
    process.release(hold)
    process, hold = adapter.held()
    process.release(hold, "skip", result="'skipped ' + x")
    process, hold = adapter.held()
    assert (hold["boundary"], hold["reason"]) == ("after", "goto")
    process.release(hold)
    process, hold = adapter.held()
    assert hold["boundary"] == "before"
    process.release(hold, "skip", result="x * 7")
    process, hold = adapter.held()
    assert (hold["boundary"], hold["reason"]) == ("after", "goto")
    process.release(hold)
    process, hold = adapter.held()
    process.release(hold, "restart")
    process, hold = adapter.held()
    assert (hold["boundary"], hold["reason"]) == ("before", "restart")
    process.release(hold, "cancel")
    code, out, err = app.finish()
    assert out == "2\ncaught no way\nskipped skip\n70\n"
    assert code == 1 and "\ntoolbreak.Cancelled: " in err


def test_conditions_hits_and_log_messages(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def work(n):
            return n * 2

        for n in range(6):
            work(n)
        print("done")
        """,
    )
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def work", condition="n == 2 and args['n'] in [x for x in range(n + 1)]"),
            dot(2, path, "def work", hitCondition=">4", ignoreCount=0, condition="n < 5 or missing['total']"),
            dot(3, path, "def work", logMessage="n is {n} {{ok}}", hitCondition="%3"),
            dot(4, path, "def work", condition="n =="),
            dot(5, path, "def work", hitCondition="often"),
        ]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["breakpoints"] == [1] and hold["frames"][0]["name"] == "work(n=2)"
    states = {s["id"]: s for s in adapter.configure()}
    assert states[1]["verified"] and states[1]["line"] == 1
    assert not states[4]["verified"] and "does not compile" in states[4]["message"]
    assert not states[5]["verified"] and "often" in states[5]["message"]
    process.release(hold)
    process, hold = adapter.held()
    assert hold["breakpoints"] == [2] and hold["frames"][0]["name"] == "work(n=4)"
    process.release(hold)
    assert app.finish()[1] == "done\n"
    logs = [e["text"] for _, e in adapter.events if e["event"] == "log"]
    assert "n is 2 {ok}" in logs and "n is 5 {ok}" in logs
    assert "Condition failed once: NameError name 'missing' is not defined. The breakpoint did not stop." in logs


def test_steps_over_in_and_out(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def leaf(x):
            return x

        def mid(x):
            leaf(x)
            return leaf(x + 1)

        def top():
            mid(1)
            return mid(5)

        top()
        """,
    )
    record = {
        "enabled": True,
        "functions": ["@usercode"],
        "maxValueBytes": 1 << 20,
        "maxDepth": 100,
        "maskKeys": [],
        "maskPatterns": [],
    }
    adapter = scene.adapter(breakpoints=[dot(1, path, "def top")], record=record)
    app = scene.run(adapter, "main.py")
    seen = []
    process, hold = adapter.held()
    for step in ("in", "in", "in", "in", "over", "over", "over", "in", "in", "out", "over", None):
        seen.append((hold["frames"][0]["name"].split("(")[0], hold["boundary"]))
        if step is None:
            process.release(hold)
        else:
            process.release(hold, step=step)
            process, hold = adapter.held()
    assert seen == [
        ("top", "before"),
        ("top", "line"),
        ("mid", "before"),
        ("mid", "line"),
        ("leaf", "before"),
        ("leaf", "before"),
        ("mid", "after"),
        ("mid", "before"),
        ("mid", "line"),
        ("leaf", "before"),
        ("mid", "after"),
        ("top", "after"),
    ]
    assert app.finish()[0] == 0


def test_dots_wait_for_their_module(scene: Any) -> None:
    path = scene.write("pkg/late.py", "def tool():\n    x = 1\n    return x\n\n\nY = 3\n")
    scene.write("pkg/__init__.py", "")
    scene.write("main.py", "def first(): pass\nfirst()\nimport pkg.late\nprint(pkg.late.tool())\n")
    inside = {"type": "source", "path": str(path), "line": 2}
    nowhere = {"type": "source", "path": str(path), "line": 7}
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def tool"),
            {**dot(2, path, "x = 1"), "target": inside},
            {**dot(3, path, "Y"), "target": nowhere},
            dot(5, path, "Y = 3"),
            named(4, "first"),
        ]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["breakpoints"] == [4]
    states = {s["id"]: s for s in adapter.configure()}
    assert (states[1]["verified"], states[1]["message"]) == (False, "Waiting for late.py to be imported.")
    assert (states[2]["verified"], states[2]["message"]) == (False, "Waiting for late.py to be imported.")
    assert (states[3]["verified"], states[3]["message"]) == (
        False,
        "There is no code on line 7; set the breakpoint on a line with code, or on a def.",
    )
    process.release(hold)
    process, hold = adapter.held()
    assert (hold["breakpoints"], hold["boundary"], hold["frames"][0]["name"]) == ([5], "line", "<module>")
    process.release(hold)
    process, hold = adapter.held()
    assert hold["breakpoints"] == [1]
    adapter.event("breakpoints", lambda e: any(s["id"] == 1 and s["verified"] for s in e["breakpoints"]))
    process.release(hold)
    process, hold = adapter.held()
    assert (hold["breakpoints"], hold["boundary"], hold["frames"][0]["line"]) == ([2], "line", 2)
    process.release(hold)
    assert app.finish() == (0, "1\n", "")


def test_the_app_goes_on_when_the_debugger_dies(scene: Any) -> None:
    path = scene.write("main.py", LEVEL0)
    adapter = scene.adapter(breakpoints=[dot(1, path, "def search")])
    app = scene.run(adapter, "main.py")
    adapter.held()
    adapter.close()
    assert app.finish() == (0, "2\n", "Toolbreak: the debugger went away; the program goes on.\n")


def test_an_uncaught_exception_is_seen_before_the_end(scene: Any) -> None:
    path = scene.write("main.py", "def boom(x):\n    y = x + 1\n    raise KeyError(y)\n\n\nboom(4)\n")
    adapter = scene.adapter(exceptions=[{"filter": "uncaught"}], breakpoints=[dot(1, path, "def boom", enabled=False)])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["reason"] == "exception" and hold["description"] == "Paused on uncaught exception"
    frame = hold["frames"][0]
    assert (frame["name"], frame["line"]) == ("boom(x=4)", 3)
    answer = process.request("evaluate", hold=hold["id"], frame=frame["id"], expression="y", context="watch")
    assert answer["value"] == "5"
    process.release(hold)
    plain = scene.run(None, "main.py").finish()
    assert app.finish() == plain


def test_the_call_that_stops_all_is_told_first_also_when_it_is_the_slowest_to_tell(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import threading

        stopped = threading.Event()

        def tick():
            return stopped.is_set()

        def cause():
            return None

        def deep(left):
            if left:
                return deep(left - 1)
            return cause()

        def others():
            while not tick():
                pass

        threads = [threading.Thread(target=others) for _ in range(3)]
        for thread in threads:
            thread.start()
        # Its frames take a while to be read.
        deep(900)
        stopped.set()
        for thread in threads:
            thread.join()
        print("done")
        """,
    )
    dots = [dot(1, path, "def cause"), dot(2, path, "def tick", condition="False")]
    adapter = scene.adapter(breakpoints=dots, hold="all")
    app = scene.run(adapter, "main.py")
    holds = [adapter.held()[1] for _ in range(4)]
    assert [hold["reason"] for hold in holds] == ["breakpoint", "pause", "pause", "pause"]
    process = adapter.process()
    for hold in holds:
        process.release(hold)
    assert app.finish() == (0, "done\n", "")


def test_with_hold_all_a_released_call_does_not_stop_again_for_a_call_released_before_it(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import threading

        gone_on = threading.Event()

        def tick():
            return gone_on.is_set()

        def cause():
            return None

        def other():
            while not cause_runs.is_set():
                tick()
            tick()
            gone_on.set()

        cause_runs = threading.Event()
        thread = threading.Thread(target=other)
        thread.start()
        cause()
        cause_runs.set()
        thread.join()
        print("done")
        """,
    )
    dots = [dot(1, path, "def cause"), dot(2, path, "def tick", condition="False")]
    adapter = scene.adapter(breakpoints=dots, hold="all", evaluationSeconds=20)
    app = scene.run(adapter, "main.py")
    process, cause = adapter.held()
    _, other = adapter.held()
    frame = cause["frames"][0]["id"]
    # Its own thread is busy with this when it is released, and goes on late: not before the other call has gone on.
    busy = "(cause_runs.set(), print('busy', flush=True), gone_on.wait())"
    process.write(
        {"seq": 1000, "request": "evaluate", "hold": cause["id"], "frame": frame, "expression": busy, "context": "repl"}
    )
    assert app.popen.stdout.readline() == "busy\n"
    process.release(cause)
    process.release(other)
    assert app.finish() == (0, "done\n", "")


SLOW = """
    import os, time

    print("beginning", flush=True)
    while not os.path.exists("go"):
        time.sleep(0.01)

    def find(number):
        return number
"""


@pytest.mark.parametrize(
    ("file", "main", "name"),
    [("tools.py", "import tools\n\nprint(tools.find(3))\n", "tools.find"), ("main.py", "", "__main__.find")],
)
def test_breakpoints_set_while_a_module_begins_stop_what_it_defines_later(
    scene: Any, file: str, main: str, name: str
) -> None:
    if main:
        scene.write("main.py", main)
    path = scene.write(file, SLOW)
    if not main:
        path.write_text(path.read_text() + "\n\nprint(find(3))\n")
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    assert app.popen.stdout.readline() == "beginning\n"
    adapter.configure(breakpoints=[dot(1, path, "def find", condition="False"), named(2, name)])
    path.with_name("go").touch()
    process, hold = adapter.held()
    assert hold["breakpoints"] == [2]
    process.release(hold)
    assert app.finish() == (0, "3\n", "")


def test_a_function_that_was_held_once_goes_on_without_a_hold_recorded(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def add(one, other):
            return one + other

        class Desk:
            def add(self, one, other):
                return one + other

        print([add(n, 1) for n in range(3)], [Desk().add(n, 2) for n in range(3)])
        """,
    )
    dots = [dot(1, path, "def add", hitCondition="1"), dot(2, path, "def add(self", hitCondition="1")]
    adapter = scene.adapter(breakpoints=dots, record=RECORD_FUNCTIONS)
    app = scene.run(adapter, "main.py")
    for _ in range(2):
        process, hold = adapter.held()
        process.release(hold)
    assert app.finish() == (0, "[1, 2, 3] [2, 3, 4]\n", "")
