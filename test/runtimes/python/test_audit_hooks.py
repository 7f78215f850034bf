"""What an audit hook of the app hears: the same as without us."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from fake_adapter import RECORD_FUNCTIONS, RUNTIME
from spool_reader import calls_of

pytestmark = [pytest.mark.essential, pytest.mark.skipif(sys.platform == "win32", reason="fork")]


@pytest.mark.parametrize("compiled", ["1", "0"])
def test_an_audit_hook_is_told_of_what_the_app_does(scene: Any, compiled: str) -> None:
    scene.write(
        "main.py",
        """
        import sys

        heard = []

        def note(event):
            heard.append(event)

        def hook(event, args):
            if listens:
                note(event)
            if event == "open" and args[0] == "refused":
                raise PermissionError("no")

        def work(x):
            return x

        def fails(x):
            raise ValueError(x)

        def gives():
            yield 1

        listens = False
        sys.addaudithook(hook)
        listens = True
        work(1)
        work([1, {2: (3,)}])
        for size in range(10):
            work("x" * 100_000)  # Files of ours end, and others begin.
        list(gives())
        try:
            fails(1)
        except ValueError:
            pass
        open("/dev/null").close()
        id(work)
        sys._getframe()
        try:
            open("refused")
        except PermissionError as error:
            print(error)
        listens = False
        print(heard)
        """,
    )
    bare = scene.run(None, "main.py").finish()
    assert "'open', 'builtins.id', 'sys._getframe', 'open'" in bare[1]
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py", env={"TOOLBREAK_COMPILED": compiled}).finish() == bare
    assert calls_of(adapter.connect["spool"], "work") == [12]


#: Says what a hook hears of a thread of ours, where it works and runs code of the app, then of the app's own.
WORK = """
import os, sys
from toolbreak import _audit, _imports, _own_thread

heard = []

def hook(event, args):
    if listens:
        heard.append(f"import {args[0]}" if event == "import" else event)

def app():
    open(os.devnull).close()
    _audit.addaudithook(lambda event, args: None)
    if imports:
        sys.path_importer_cache.clear()
        try:
            import the_app_has_none
        except ImportError:
            pass

ours = {"app": app}
source = '''
import sys

def work():
    work.__code__ = work.__code__.replace(co_name="other")
    sys.path_importer_cache.clear()
    try:
        import we_have_none
    except ImportError:
        pass
    app()
'''
exec(compile(source, os.path.join(os.path.dirname(_audit.__file__), "_work.py"), "exec"), ours)
_imports.install()
listens = False
_audit.addaudithook(hook)

def listen():
    global listens
    listens = True
    ours["work"]()
    listens = False

for imports in (False, True):
    thread = _own_thread.OwnThread(listen)
    thread.start()
    thread.join(20)
    print(sorted(set(heard)))
    heard.clear()
listen()
print(sorted(set(heard) & {"code.__new__", "import we_have_none", "open"}))
"""


def printed_by(code: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(RUNTIME)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_an_audit_hook_is_told_of_a_thread_of_ours_only_where_that_runs_code_of_the_app() -> None:
    assert printed_by(WORK) == [
        "['open', 'sys.addaudithook']",
        "['import the_app_has_none', 'open', 'os.listdir', 'sys.addaudithook']",
        "['code.__new__', 'import we_have_none', 'open']",
    ]


def test_a_forked_process_takes_no_thread_of_the_app_for_one_of_ours() -> None:
    code = """
import os, threading
from toolbreak import _own_thread

begun, ends = threading.Event(), threading.Event()

def work():
    begun.set()
    ends.wait()

thread = _own_thread.OwnThread(work)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    os._exit(len(_own_thread.idents))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(_own_thread.idents))
ends.set()
thread.join(20)
"""
    assert printed_by(f"import warnings\nwarnings.simplefilter('ignore')\n{code}") == ["0 1"]
