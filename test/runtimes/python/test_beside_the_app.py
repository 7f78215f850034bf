"""What we have in the app's process, a thread, files and a clock of our own, changes nothing of what the app sees there, whatever it does with its own."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from fake_adapter import RECORD_FUNCTIONS, RUNTIME, dot
from spool_reader import calls_of
from toolbreak import _optional

pytestmark = [pytest.mark.essential, pytest.mark.skipif(sys.platform == "win32", reason="fork")]


def test_what_a_thread_forks_ends_with_that_thread(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, sys, threading, warnings

        warnings.simplefilter("ignore")  # That it forks beside threads.

        def work(end):
            pid = os.fork()
            if pid == 0:
                return end()
            print(os.waitpid(pid, 0)[1])

        def below():
            pid = os.fork()
            if pid == 0:
                sys.exit(0)
            os.waitpid(pid, 0)

        for end in (lambda: None, sys.exit, below):
            thread = threading.Thread(target=work, args=(end,))
            thread.start()
            thread.join()
        print("end")
        """,
    )
    assert scene.run(scene.adapter(record=RECORD_FUNCTIONS), "main.py").finish() == (0, "0\n0\n0\nend\n", "")


def test_an_app_that_closes_all_files_keeps_those_that_it_opens_then(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, sys

        def keep(text):
            return len(text)

        session = sys.modules["toolbreak._session"].session
        keep("first")
        os.closerange(3, 200)
        files = [open(f"own-{index}", "w+b", buffering=0) for index in range(20)]
        for each in files:
            each.truncate(256 * 1024)  # As large as one of ours.
        session.thread.join(20)
        assert not session.thread.is_alive()
        for _ in range(10):
            keep("x" * 100_000)  # A file of our own ends, and another one begins.
        for index, each in enumerate(files):
            os.fstat(each.fileno())
            each.truncate(0)
            each.seek(0)
            each.write(b"own")
        pid = os.fork()
        if pid == 0:
            keep("in the child")
            for each in files:
                os.fstat(each.fileno())
            os._exit(0)
        print(os.waitpid(pid, 0)[1], {os.path.getsize(f"own-{index}") for index in range(20)})
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py").finish() == (0, "0 {3}\n", "")
    # Also what it forks then is recorded.
    assert calls_of(adapter.connect["spool"], "keep") == [1, 11]


_COUNTS_THREADS = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads there")


@_COUNTS_THREADS
@pytest.mark.skipif(sys.version_info >= (3, 13) and _optional.call_soon is None, reason="needs the compiled part")
@pytest.mark.parametrize("by", ["recording", "door"])
def test_a_fork_warns_of_no_thread_of_ours(scene: Any, by: str) -> None:
    scene.write(
        "main.py",
        """
        import os, sys

        if "door" in sys.argv:
            import toolbreak
            toolbreak.listen()
        forks = []

        def before():
            forks.append(1)
            if len(forks) == 81:
                fork()

        def fork():
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            print(os.waitpid(pid, 0)[1])

        def until_it_is_back():
            while len(os.listdir("/proc/self/task")) != 2:
                os.sched_yield()

        until_it_is_back()
        for _ in range(40):
            fork()
            until_it_is_back()
        for _ in range(40):  # Without time for it to come back.
            fork()
        until_it_is_back()
        os.register_at_fork(before=before)
        forks.extend([1] * 80)
        fork()
        until_it_is_back()
        print(len(forks))
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS) if by == "recording" else None
    environment = {"PYTHONPATH": str(RUNTIME)} if by == "door" else None
    app = scene.run(adapter, "-W", "always", "main.py", by, env=environment)
    code, out, err = app.finish()
    assert (code, out.split(), "Warning" in err) == (0, ["0"] * 82 + ["82"], False), err


@_COUNTS_THREADS
@pytest.mark.parametrize("handler", [False, True])
def test_our_thread_is_back_behind_a_fork_whatever_the_app_does_then(scene: Any, handler: bool) -> None:
    scene.write(
        "main.py",
        f"""
        import os, signal

        back = []
        signal.signal(signal.SIGUSR1, lambda *_: back.append(True))
        parent = os.getpid()

        def goes_on():
            while not back:  # Waits for nothing, and calls nothing.
                pass

        if {handler}:
            os.register_at_fork(after_in_parent=goes_on)
        pid = os.fork()
        if pid == 0:
            while len(os.listdir(f"/proc/{{parent}}/task")) != 2:
                os.sched_yield()
            os.kill(parent, signal.SIGUSR1)
            os._exit(0)
        goes_on()
        print(os.waitpid(pid, 0)[1])
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "-W", "ignore", "main.py").finish() == (0, "0\n", "")


def test_a_stop_in_what_a_fork_calls_is_released(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import os

        def reopen():
            return 1

        os.register_at_fork(after_in_parent=reopen)
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "def reopen")])
    app = scene.run(adapter, "-W", "ignore", "main.py")
    process, hold = adapter.held()
    assert hold["description"] == "Paused before function"
    process.release(hold)
    assert app.finish() == (0, "0\n", "")


def test_functions_that_a_test_replaces_are_not_called_by_us(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import threading
        from unittest import mock

        over = threading.Event()
        ready = threading.Semaphore(0)

        def work(x):
            return x

        def run():
            work(1)
            ready.release()
            over.wait()

        names = ["time.monotonic_ns", "time.time_ns", "time.monotonic", "time.sleep", "os.getpid", "os.getppid", "os.open",
                 "os.close", "os.write", "os.fstat", "os.ftruncate", "os.unlink", "mmap.mmap", "select.poll", "socket.socket"]
        for name in names:
            with mock.patch(name, side_effect=ValueError("replaced")) as replaced:
                thread = threading.Thread(target=run)
                thread.start()
                ready.acquire()
                print("line")
            assert replaced.call_count == 0, name
        over.set()
        print(len(names))
        """,
    )
    adapter = scene.adapter(record={**RECORD_FUNCTIONS, "output": True})
    assert scene.run(adapter, "main.py").finish() == (0, "line\n" * 15 + "15\n", "")
    assert calls_of(adapter.connect["spool"], "work") == [15]


def test_threads_are_as_many_as_without_us(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import _thread, threading

        def work(done):
            done.release()

        for _ in range(3):
            done = _thread.allocate_lock()
            done.acquire()
            _thread.start_new_thread(work, (done,))
            done.acquire()
        print(threading.active_count(), threading.enumerate() == [threading.main_thread()])
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py").finish() == (0, "1 True\n", "")
    assert calls_of(adapter.connect["spool"], "work") == [3]


def test_another_interpreter_of_the_process_is_left_alone(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters

        def work(x):
            return x

        work(1)
        made = interpreters.create()
        interpreters.run_string(made, "import sys, toolbreak; print([name for name in sys.modules if 'toolbreak._s' in name])")
        interpreters.destroy(made)
        work(2)
        print("end")
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    code, out, error = scene.run(adapter, "main.py").finish()
    assert (code, out, error) == (0, "[]\nend\n", "")
    assert calls_of(adapter.connect["spool"], "work") == [2]
    assert os.path.isdir(adapter.connect["spool"])


def test_a_signal_handler_that_forks_while_the_app_forks(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, signal, warnings

        warnings.simplefilter("ignore")
        forked = []

        def again(*_):
            if len(forked) < 30:
                fork()

        def fork():
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            forked.append(pid)

        signal.signal(signal.SIGCHLD, again)
        for _ in range(10):
            fork()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for pid in forked:
            os.waitpid(pid, 0)
        print(len(forked) >= 10)
        """,
    )
    assert scene.run(scene.adapter(record=RECORD_FUNCTIONS), "main.py").finish() == (0, "True\n", "")


def test_what_is_forked_while_a_test_replaces_functions_is_recorded(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, warnings
        from unittest import mock

        warnings.simplefilter("ignore")

        def work(x):
            return x

        work(1)
        names = ["builtins.open", "os.open", "os.fstat", "os.close", "os.write", "json.loads", "time.time_ns"]
        for name in names:
            with mock.patch(name, side_effect=ValueError("replaced")) as replaced:
                pid = os.fork()
                if pid == 0:
                    work(2)
                    os._exit(replaced.call_count)
                assert os.waitpid(pid, 0)[1] == 0 == replaced.call_count, name
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py").finish() == (0, "", "")
    assert calls_of(adapter.connect["spool"], "work") == [1] * 8


def test_a_warning_that_python_shows_once_is_shown_once(scene: Any) -> None:
    for name in ("one", "two"):
        scene.write(f"{name}.py", "def work(x):\n    return x\n")
    scene.write("escape.py", 'def work(x):\n    return "\\d" if x is 1 else x\n')
    scene.write(
        "main.py",
        """
        import warnings

        def old():
            warnings.warn("old", UserWarning)

        old()
        import one
        old()
        one.work(1)
        old()
        import two
        old()
        import escape
        escape.work(2)
        print(len(warnings.filters))
        """,
    )

    def said(adapter: Any, *options: str) -> list[str]:
        code, out, err = scene.run(adapter, "-B", *options, "main.py").finish()
        lines = [line for line in err.splitlines() if "Warning:" in line]
        return [str(code), out, *(line.rpartition("/")[2] for line in lines)]

    bare = said(None)
    assert sum("UserWarning" in line for line in bare) == 1
    assert sum("escape" in line for line in bare) >= 1
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert said(adapter) == bare
    # It was compiled when nothing was strict, and is recorded still.
    scene.write("main.py", "import escape\nescape.work(2)\n")
    assert scene.run(None, "-c", "import escape").finish()[0] == 0
    assert calls_of(adapter.connect["spool"], "work") == [2]
    assert scene.run(scene.adapter(record=RECORD_FUNCTIONS), "-W", "error", "main.py").finish() == (0, "", "")
    assert calls_of(adapter.connect["spool"], "work") == [1, 2]


def test_an_import_hook_of_the_app_is_asked_once(scene: Any) -> None:
    scene.write("plain.py", "def work():\n    return 1\n")
    scene.write(
        "main.py",
        """
        import sys

        class Finder:
            def find_spec(self, name, path=None, target=None):
                print("asked for", name)

        sys.meta_path.insert(0, Finder())
        import plain
        print(plain.work())
        try:
            import nothere
        except ImportError:
            print("not there")
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    out = "asked for plain\n1\nasked for nothere\nnot there\n"
    assert scene.run(adapter, "main.py").finish() == (0, out, "")
    assert calls_of(adapter.connect["spool"], "work") == [1]


def test_a_finaliser_that_forks_says_nothing(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os

        class Last:
            def __del__(self, fork=os.fork, wait=os.waitpid, leave=os._exit):
                try:
                    pid = fork()
                    if pid == 0:
                        leave(0)
                    print(wait(pid, 0)[1])
                except RuntimeError as error:  # Python refuses it from 3.12 on.
                    print(error)

        last = Last()
        """,
    )
    bare = scene.run(None, "main.py").finish()
    assert (bare[0], bare[2]) == (0, "")
    assert scene.run(scene.adapter(record=RECORD_FUNCTIONS), "main.py").finish() == bare


@pytest.mark.parametrize("compiled", ["1", "0"])
def test_what_a_function_drops_is_gone_where_nobody_can_look(scene: Any, compiled: str) -> None:
    scene.write(
        "main.py",
        """
        import asyncio, sys

        class Value:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                print("gone:", self.name)

            def method(self, other):
                del other
                print("method")
                del self
                print("behind")

        def drops(value):
            del value
            print("dropped")

        def replaces(value, *more, key=None):
            value = more = key = None
            print("replaced")

        def gives(value):
            del value
            yield "given"

        async def awaits(value):
            del value
            await asyncio.sleep(0)
            print("awaited")

        def counts(value):
            return sys.getrefcount(value)

        def large(values, value):
            del values, value
            print("large")

        drops(Value("plain"))
        replaces(Value("first"), Value("more"), key=Value("key"))
        Value("self").method(Value("other"))
        for each in gives(Value("generator")):
            print(each)
        asyncio.run(awaits(Value("coroutine")))
        large(["x" * 1000] * 1000, Value("beside"))
        kept = Value("kept")
        print(counts(kept))
        """,
    )
    bare = scene.run(None, "main.py").finish()
    assert bare[0] == 0
    adapter = scene.adapter(record=RECORD_FUNCTIONS, unattended=True)
    app = scene.run(adapter, "main.py", env={"TOOLBREAK_COMPILED": compiled})
    assert app.finish() == bare
    for name in ("drops", "replaces", "gives", "awaits", "counts", "large"):
        assert calls_of(adapter.connect["spool"], name) == [1]
