"""Threads that end, threads that fork, and functions that are sent away."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from fake_adapter import RECORD_FUNCTIONS, RUNTIME, dot


def test_a_dead_threads_task_is_gone(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import pickle, threading

        def f(x):
            return x

        for i in range(20):
            t = threading.Thread(target=f, args=(i,))
            t.start()
            t.join()

        guards = [c for c in f.__code__.co_consts if type(c).__name__ == "Guard"]
        print([pickle.loads(pickle.dumps(g)).armed for g in guards])

        def stop():
            pass

        stop()
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS, breakpoints=[dot(1, path, "def stop")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert [task["name"] for task in process.request("tasks")["tasks"]] == ["main.py"]
    process.release(hold)
    assert app.finish()[:2] == (0, "[False]\n")


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_threads_that_fork_at_once_leave_one_control_thread(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, threading

        def work():
            for _ in range(5):
                pid = os.fork()
                if pid == 0:
                    os._exit(0)
                os.waitpid(pid, 0)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(sorted(t.name for t in threading.enumerate()))
        """,
    )
    app = scene.run(scene.adapter(), "main.py")
    code, out, _ = app.finish()
    assert (code, out) == (0, "['MainThread']\n")


def test_what_was_imported_for_us_is_noted_while_another_thread_imports() -> None:
    import threading

    from toolbreak import _main

    over = threading.Event()

    def importing() -> None:
        while not over.is_set():
            for n in range(1000):
                sys.modules[f"imported_{n}"] = sys
            for n in range(1000):
                del sys.modules[f"imported_{n}"]

    thread = threading.Thread(target=importing)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        for _ in range(300):
            _main.note_brought(set())
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)
        _main._brought.clear()


def test_whoever_changes_guards_waits_for_no_import() -> None:
    """One thread imports what another one needs to change code that is on its way, and waits for that change: both went on waiting."""
    program = """
        import sys, threading, types
        from toolbreak import _guards, _imports

        sys.modules.pop("ctypes", None)
        changing, importing = threading.Event(), threading.Event()

        def prepare(code, path, module):
            if module == "ctypes":
                importing.set()
                assert changing.wait(30)
            return _guards.prepare(code, path, module)

        _imports.prepare_code = prepare
        _imports.install()
        code = compile("def f(): return 1", "app.py", "exec")
        other = compile("def f(): return 2", "app.py", "exec").co_consts[0]

        def collect(*_):
            changing.set()
            assert importing.wait(30)

        _guards._collect, _guards.hooked_code = collect, True
        _guards._render = lambda old: other if old.co_filename == "app.py" else old

        def change():
            _guards.prepare_main(code)

        def load():
            import ctypes

        threads = [threading.Thread(target=work, daemon=True) for work in (load, change)]
        for thread in threads: thread.start()
        for thread in threads: thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
        names = {}
        exec(code, names)
        print(names["f"]())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_code_on_its_way_has_what_was_asked_for_last() -> None:
    """Guards are asked for and taken back before the first of both is written into the code that runs already."""
    from toolbreak import _guards, _in_place

    code = compile("def f(): return 1", "app.py", "exec")
    plain = code.co_consts[0]
    other = compile("def f(): return 2", "app.py", "exec").co_consts[0]
    before, version = _guards._render, {"now": other}
    _guards._render = lambda old: version["now"] if old is plain or old is other else old  # type: ignore[assignment]
    try:
        _guards._render_in_place(code)
        version["now"] = plain
        _guards._render_in_place(code)
        _in_place.write()
        assert code.co_consts[0] is plain and not _in_place._asked
    finally:
        _guards._render = before


def test_a_python_without_ctypes_leaves_code_that_runs_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from toolbreak import _guards, _in_place

    code = compile("def f(): return 1", "app.py", "exec")
    other = compile("def f(): return 2", "app.py", "exec").co_consts[0]
    monkeypatch.setattr(_guards, "_render", lambda old: other)
    monkeypatch.setitem(sys.modules, "ctypes", None)
    _guards._render_in_place(code)
    _in_place.write()
    assert code.co_consts[0] is not other and not _in_place._asked
    assert "the program goes on without it" in capfd.readouterr().err
