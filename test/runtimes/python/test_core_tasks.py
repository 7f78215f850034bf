"""Async code, pools, generators and child processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

import pytest
from fake_adapter import RECORD, RECORD_FUNCTIONS, dot
from toolbreak import _calls

pytestmark = pytest.mark.essential


def test_one_async_call_is_held_while_its_sibling_goes_on(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import asyncio

        async def tool(name):
            await asyncio.sleep(0)
            print("ran", name, flush=True)
            return name

        async def agent():
            return await asyncio.gather(tool("a"), tool("b"))

        print(asyncio.run(agent()))
        """,
    )
    adapter = scene.adapter(
        breakpoints=[dot(1, path, "async def tool", condition="name == 'a'"), dot(2, path, "async def agent")],
        record=RECORD_FUNCTIONS,  # So that the sibling is a call, too.
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["breakpoints"] == [2]
    process.release(hold)
    process, hold = adapter.held()
    assert hold["taskName"] == "main.py" and [f["name"] for f in hold["frames"][:2]] == ["tool(name='a')", "agent()"]
    assert app.popen.stdout.readline() == "ran b\n"
    _, event = adapter.event("task", lambda e: "tool" in e["name"])
    assert event["name"] == "main.py › tool"
    answer = process.request(
        "evaluate", hold=hold["id"], frame=hold["frames"][0]["id"], expression="name.upper()", context="repl"
    )
    assert answer["value"] == "'A'"
    process.release(hold)
    assert app.finish() == (0, "ran a\n['a', 'b']\n", "")


def test_a_lane_has_the_name_that_the_app_gave_to_its_asyncio_task(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import asyncio

        class Own(asyncio.Task):
            def get_name(self):
                raise RuntimeError("asked")

        async def tool(go):
            await go.wait()

        async def agent():
            go = asyncio.Event()
            names = ["first", "billing", "Task-77", "a › b", "agent.<locals>.inner", "x" * 200]
            tasks = [asyncio.create_task(tool(go), name=name) for name in names]
            tasks.append(Own(tool(go), loop=asyncio.get_running_loop()))
            await asyncio.sleep(0)
            go.set()
            await asyncio.gather(*tasks)
            again = asyncio.Event()
            tasks = [asyncio.create_task(tool(again), name=name) for name in ("first", "billing")]
            await asyncio.sleep(0)
            again.set()
            await asyncio.gather(*tasks)

        async def many():
            go = asyncio.Event()
            tasks = [asyncio.create_task(tool(go), name=f"request {n}") for n in range(400)]
            await asyncio.sleep(0)
            go.set()
            await asyncio.gather(*tasks)

        asyncio.run(agent())
        asyncio.run(many())
        """,
    )
    adapter = scene.adapter(
        record={**RECORD, "enabled": True, "functions": ["__main__.agent", "__main__.many", "__main__.tool"]},
    )
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "", "")
    told = [event for _, event in adapter.events if event["event"] == "task"]
    names = [event["name"] for event in told if " › " in event["name"] and event["change"] == "started"]
    # The first call stands below the one that waits for it; what was named once is used again.
    assert names[:6] == ["main.py › billing", *["main.py › tool"] * 5]
    assert names[6] == "main.py › billing"
    requests = {name for name in names[7:] if "request" in name}
    # A server may give each request a name: beside "billing" so many.
    assert len(requests) == 255 and set(names[7:]) - requests == {"main.py › tool"}


def test_a_cancelled_hold_ends_and_cancel_raises_cancelled_error(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import asyncio

        async def tool(n):
            return n

        async def main():
            try:
                await asyncio.wait_for(tool(1), 0.3)
            except asyncio.TimeoutError:
                print("timeout")
            try:
                await tool(2)
            except asyncio.CancelledError as error:
                print("cancelled", error)

        asyncio.run(main())
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "async def tool")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert adapter.event("resumed")[1]["why"] == "cancelled"
    process, hold = adapter.held()
    process.release(hold, "cancel")
    assert app.finish() == (0, "timeout\ncancelled tool was cancelled in the debugger\n", "")


GROUPS = {
    "asyncio": ("async with asyncio.TaskGroup() as group:", "group.create_task({0}())"),
    "anyio": ("async with anyio.create_task_group() as group:", "group.start_soon({0})"),
}


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("child", ["tool", "around", "retrying"])
@pytest.mark.parametrize("mode", ["before", "after"])
def test_a_cancel_inside_a_task_group_ends_the_run(scene: Any, kind: str, child: str, mode: str) -> None:
    if kind == "asyncio" and not hasattr(asyncio, "TaskGroup"):
        kind = "anyio"
    if kind == "anyio":
        pytest.importorskip("anyio")
    group, start = GROUPS[kind]
    path = scene.write(
        "main.py",
        f"""
        import asyncio
        {"import anyio" if kind == "anyio" else ""}

        async def tool():
            return 1

        async def around():
            return await asyncio.gather(asyncio.wait_for(tool(), 60), other())

        async def retrying():
            for attempt in range(3):
                try:
                    return await asyncio.create_task(tool())
                except Exception:
                    pass

        async def other():
            await asyncio.sleep(0)

        async def main():
            {group}
                {start.format(child)}
                {start.format("other")}
            print("after the group")

        asyncio.run(main())
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "async def tool", boundaries=[mode])])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    process.release(hold, "cancel")
    code, out, err = app.finish()
    assert (code, out) == (1, "") and "tool was cancelled in the debugger" in err
    assert len([event for _, event in adapter.events if event["event"] == "held"]) == 1


def test_calls_in_a_thread_pool_hold_one_by_one(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        from concurrent.futures import ThreadPoolExecutor

        def tool(n):
            return n * n

        with ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
            print(sum(pool.map(tool, [1, 2])))
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def tool")])
    app = scene.run(adapter, "main.py")
    process, first = adapter.held()
    process, second = adapter.held()
    assert {first["taskName"], second["taskName"]} == {"pool_0", "pool_1"}
    process.release(second)
    process.release(first)
    assert app.finish()[1] == "5\n"


def test_a_generator_is_one_call_and_not_in_flight_while_it_waits(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def numbers(n):
            for i in range(n):
                yield i
            return "end"

        def other(x):
            return x

        total = 0
        for i in numbers(3):
            total += other(i)
        print(total)
        """,
    )
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def numbers", boundaries=["before", "after"]),
            dot(2, path, "def other", condition="x == 1"),
        ]
    )
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["boundary"] == "before"
    process.release(hold)
    process, hold = adapter.held()
    assert hold["frames"][0]["name"] == "other(x=1)" and [f["name"] for f in hold["frames"]][1:] == ["<module>"]
    assert hold["taskName"] == "main.py"
    process.release(hold)
    process, hold = adapter.held()
    assert hold["boundary"] == "after" and hold["breakpoints"] == [1]
    process.release(hold)
    assert app.finish() == (0, "3\n", "")


CHILD = {
    "fork": "import os\nif os.fork() == 0:\n    tool(1)\n    os._exit(0)\nos.wait()\n",
    "spawn": "import multiprocessing as mp\nctx = mp.get_context('spawn')\np = ctx.Process(target=tool, args=(1,))\np.start()\np.join()\n",
    "pool": "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(1) as pool:\n    pool.submit(tool, 1).result()\n",
    "subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, __file__, 'child'], check=True)\n",
}


@pytest.mark.parametrize("way", list(CHILD))
def test_child_processes_hold_as_processes_of_their_own(scene: Any, way: str) -> None:
    body = "".join(f"    {line}\n" for line in CHILD[way].splitlines())
    text = (
        "import sys\n\ndef tool(n):\n    return n\n\nif __name__ == '__main__' and sys.argv[1:]:\n    tool(1)\nelif __name__ == '__main__':\n"
        + body
    )
    path = scene.write("main.py", text + "    print('done')\n")
    adapter = scene.adapter(breakpoints=[dot(1, path, "def tool")])
    app = scene.run(adapter, "-W", "error", "main.py")
    process, hold = adapter.held()
    assert process is not adapter.process() and process.hello["pid"] != app.popen.pid
    process.release(hold)
    assert app.finish() == (0, "done\n", "")


def test_evaluations_are_limited_and_can_be_cancelled(scene: Any) -> None:
    path = scene.write("main.py", "import time\n\ndef tool(n):\n    return n\n\nprint(tool(3))\n")
    adapter = scene.adapter(breakpoints=[dot(1, path, "def tool")], evaluationSeconds=0.5)
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    frame = hold["frames"][0]["id"]
    answer = process.ask(
        "evaluate", hold=hold["id"], frame=frame, expression="[0 for _ in iter(int, 1)]", context="repl"
    )
    assert not answer["ok"] and answer["error"]["user"]
    answer = process.request("evaluate", hold=hold["id"], frame=frame, expression="tool(4)", context="repl")
    assert answer["value"] == "4"  # It does not stop at our own breakpoints.
    process.release(hold)
    assert app.finish() == (0, "3\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("thread", ["any", "another"])
def test_ctrl_c_works_while_held(scene: Any, thread: str) -> None:
    """Where another thread gets it, or where it comes in the moment before the held one waits, the system wakes nobody."""
    path = scene.write(
        "main.py",
        """
        import pathlib, signal, sys, threading

        def press():
            while not pathlib.Path("pressed").exists():
                pass
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

        def tool(n):
            return n

        if sys.argv[1] == "another":
            threading.Thread(target=press).start()
        try:
            tool(3)
        except KeyboardInterrupt:
            print("stopped")
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def tool")])
    app = scene.run(adapter, "main.py", thread)
    adapter.held()
    if thread == "another":
        (scene.folder / "pressed").touch()
    else:
        os.kill(app.popen.pid, signal.SIGINT)
    assert app.finish() == (0, "stopped\n", "")


def test_ctrl_c_just_after_a_hold_was_told_ends_it(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import toolbreak._holds as holds

        tell = holds.send
        interrupted = []

        def tell_and_press(message):
            tell(message)
            if message["event"] == "held" and len(interrupted) < 2:
                interrupted.append(message)
                raise KeyboardInterrupt

        holds.send = tell_and_press

        def tool(n):
            return n

        try:
            tool(3)
        except KeyboardInterrupt:
            print("stopped")
        tool(4)
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def tool")])
    app = scene.run(adapter, "main.py")
    for _ in range(2):
        _, hold = adapter.held()
        _, over = adapter.event("resumed", lambda event, hold=hold: event["hold"] == hold["id"])
        assert over["why"] == "cancelled"
    code, out, err = app.finish()
    assert code != 0 and out == "stopped\n"
    assert err.rstrip().endswith("KeyboardInterrupt") and "_holds.py" not in err


def test_dots_set_disabled_and_removed_while_the_app_runs(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import sys

        def tool(n):
            return n

        def ask(n):
            return n

        for line in sys.stdin:
            ask(0)
            print(tool(int(line)), tool.__code__.co_consts, flush=True)
        """,
    )
    adapter = scene.adapter()
    app = scene.run(adapter, "main.py")
    process = adapter.process()
    app.popen.stdin.write("1\n")
    app.popen.stdin.flush()
    assert app.popen.stdout.readline().startswith("1 ")
    assert adapter.configure(breakpoints=[dot(1, path, "def tool")])[0]["verified"]
    app.popen.stdin.write("2\n")
    app.popen.stdin.flush()
    process, hold = adapter.held()
    process.release(hold)
    assert app.popen.stdout.readline().startswith("2 ")
    adapter.configure(breakpoints=[dot(1, path, "def ask"), dot(2, path, "def tool", enabled=False)])
    app.popen.stdin.write("3\n")
    app.popen.stdin.flush()
    process, hold = adapter.held()
    assert hold["frames"][0]["name"] == "ask(n=0)"
    adapter.configure(breakpoints=[])
    process.release(hold)
    assert app.popen.stdout.readline() == "3 (None,)\n"
    app.popen.stdin.close()
    app.popen.stdin = None
    assert app.finish()[0] == 0


def test_a_cancel_asks_no_callback_of_the_app_what_it_is(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import asyncio

        class Callback:
            def __call__(self, task):
                pass

            @property
            def __module__(self):
                raise SystemExit("code of the app ran")

        async def tool():
            return 1

        async def main():
            waiting = asyncio.get_running_loop().create_task(asyncio.sleep(60))
            waiting.add_done_callback(Callback())
            try:
                await tool()
            except asyncio.CancelledError:
                print("cancelled")
            waiting.cancel()

        asyncio.run(main())
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "async def tool")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    process.release(hold, action="cancel")
    assert app.finish() == (0, "cancelled\n", "")


def test_a_pause_is_over_for_a_task_that_was_released(scene: Any) -> None:
    scene.write("main.py", "def tool(n):\n    return n\n\nfor n in range(4):\n    tool(n)\nprint('done')\n")
    path = scene.folder / "main.py"
    adapter = scene.adapter(breakpoints=[dot(1, path, "def tool", condition="n == 3")], stopOnEntry=True)
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["reason"] == "entry"
    adapter.stop_all(True)
    process.release(hold)
    process, hold = adapter.held()
    assert hold["reason"] == "breakpoint"
    adapter.stop_all(False)
    process.request("pause")
    process.release(hold)
    process, hold = adapter.held()
    assert (hold["reason"], hold["boundary"]) == ("pause", "after")
    process.release(hold)
    assert app.finish() == (0, "done\n", "")


def test_a_dot_on_a_lambda_stops_where_it_is_made_and_in_it(scene: Any) -> None:
    path = scene.write("main.py", "double = lambda n: n * 2\nprint(double(2))\n")
    adapter = scene.adapter(breakpoints=[dot(1, path, "lambda")])
    app = scene.run(adapter, "main.py")
    for name in ("<module>", "<lambda>"):
        process, hold = adapter.held()
        assert (hold["frames"][0]["name"], hold["frames"][0]["line"]) == (name, 1)
        process.release(hold)
    assert app.finish() == (0, "4\n", "")


def test_a_task_whose_end_is_told_is_in_no_list_and_is_taken_again_only_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A list of tasks made between the telling and the end would keep the task in the debugger's window for good."""
    told: list[tuple[int, str, bool]] = []
    taken: list[int] = []

    def changed(task: Any, change: str) -> None:
        told.append((task.id, change, task in _calls.tasks()))
        if change == "exited" and not taken:
            taken.append(_calls.side_task(parent, "tool").id)

    parent = _calls.new_task("main.py", None)
    monkeypatch.setattr(_calls, "_tasks", {})
    monkeypatch.setattr(_calls, "_idle", {})
    parent = _calls.new_task("main.py", None)
    monkeypatch.setattr(_calls, "task_changed", changed)
    first = _calls.side_task(parent, "tool")
    _calls.leave_side_task(first)
    assert _calls.side_task(parent, "tool") is first
    assert taken != [first.id]
    assert [entry for entry in told if entry[0] == first.id] == [
        (first.id, "started", True),
        (first.id, "exited", False),
        (first.id, "started", True),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="what a thread's end needs is a library of Linux")
def test_an_app_without_files_left_ends_as_it_would(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import ctypes, resource, time

        class Slow:
            def __del__(self, sleep=time.sleep):
                sleep(1)  # The interpreter is going: a thread that wakes now is ended.

        def files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
            try:
                while True:
                    kept.append(open("/dev/null"))
            except OSError:
                print("full", flush=True)

        kept = []
        files()
        slow = Slow()
        ctypes.slow = slow
        """,
    )
    app = scene.run(scene.adapter(record={**RECORD, "enabled": True}), "main.py")
    assert app.finish() == (0, "full\n", "")
