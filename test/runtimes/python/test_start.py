"""What a process of the app loads because of us before its own first line: most of them only start and end."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_adapter import BOOT, RECORD_FUNCTIONS, RUNTIME, dot

LOADED = """
import json, sys
print(json.dumps(sorted(sys.modules)))
"""

#: Each takes longer to import than all that we need of it.
LONG = {
    "asyncio",
    "concurrent.futures",
    "dataclasses",
    "email",
    "importlib.metadata",
    "inspect",
    "logging",
    "ssl",
    "subprocess",
}


@pytest.mark.essential
def test_an_app_that_is_recorded_loads_no_more_than_it_has_to(scene: Any) -> None:
    scene.write("main.py", LOADED)
    code, out, err = scene.run(scene.adapter(record=RECORD_FUNCTIONS), "main.py").finish()
    assert (code, err) == (0, "")
    loaded = set(json.loads(out))
    assert "toolbreak._spool" in loaded and not loaded & LONG


@pytest.mark.essential
def test_where_only_the_first_process_is_debugged_the_others_load_nothing_of_us(scene: Any) -> None:
    scene.write("child.py", LOADED)
    scene.write(
        "main.py",
        """
        import os, subprocess, sys

        with open(os.path.join(os.path.dirname(os.environ["TOOLBREAK_CONNECT"]), "first"), "w", encoding="ascii") as file:
            file.write(sys.argv[1] or str(os.getpid()))
        if sys.argv[2] == "exec":
            os.execv(sys.executable, [sys.executable, "child.py"])
        subprocess.run([sys.executable, "child.py"])
        """,
    )

    def loaded(first: str, how: str) -> bool:
        adapter = scene.adapter(record=RECORD_FUNCTIONS)
        code, out, err = scene.run(adapter, "main.py", first, how).finish()
        os.remove(adapter.connect_file.parent / "first")
        assert (code, err) == (0, "")
        return any(name.partition(".")[0] == "toolbreak" for name in json.loads(out))

    def loads_on_demand(import_it: str) -> tuple[int, str, str]:
        scene.write("child.py", f"import sys\n{import_it}\nprint('toolbreak' in sys.modules)\n")
        adapter = scene.adapter(record=RECORD_FUNCTIONS)
        found = scene.run(adapter, "-W", "error", "-X", "warn_default_encoding", "main.py", "1", "start").finish()
        os.remove(adapter.connect_file.parent / "first")
        return found

    assert not loaded("", "start")
    assert not loaded("1", "start")
    # A program in the place of the first one is the same process.
    assert loaded("", "exec")
    # Whoever says `import toolbreak` has it there, too, and does not find himself debugged.
    declared = (
        "import toolbreak\nassert toolbreak.tool(len)([1]) == 1\nassert not sys.modules['toolbreak._calls'].attached"
    )
    assert loads_on_demand(declared) == (0, "True\n", "")
    assert loads_on_demand("") == (0, "False\n", "")
    scene.write("toolbreak.py", "OWN = True\n")
    assert loads_on_demand("import toolbreak; assert toolbreak.OWN") == (0, "True\n", "")


@pytest.mark.essential
def test_what_is_compiled_of_us_is_kept_and_nothing_of_the_app(scene: Any) -> None:
    package = scene.folder.parent / "runtime" / "toolbreak"
    shutil.copytree(RUNTIME / "toolbreak", package, ignore=shutil.ignore_patterns("__pycache__"))
    scene.write("beside.py", "import sys\nASKED = sys.dont_write_bytecode\n")
    scene.write("main.py", "import beside, toolbreak\nprint(beside.ASKED, toolbreak.__file__)\n")
    app = scene.run(
        scene.adapter(record=RECORD_FUNCTIONS),
        "main.py",
        env={"PYTHONPATH": str(package / "boot"), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert app.finish() == (0, f"True {package / '__init__.py'}\n", "")
    tag = sys.implementation.cache_tag
    kept = {path.name for path in package.rglob("*.pyc")}
    assert {f"_spool.{tag}.pyc", f"__init__.{tag}.pyc"} <= kept
    assert not list(scene.folder.rglob("__pycache__"))


@pytest.mark.essential
def test_frameworks_are_known_by_their_metadata_alone(scene: Any) -> None:
    for name in ("langgraph-0.5.1", "LangChain_Core-1.2.3", "langgraph_sdk-1.0.0", "langgraph"):
        scene.write(f"site/{name}.dist-info/METADATA", "")
    (scene.folder / "site" / "langgraph-0.4.0.dist-info").mkdir()
    scene.write("later/langgraph-2.0.0.dist-info/METADATA", "")
    scene.write("main.py", "print('ran')\n")
    adapter = scene.adapter()
    folders = [BOOT, scene.folder / "not there", scene.folder / "site", scene.folder / "later"]
    app = scene.run(adapter, "main.py", env={"PYTHONPATH": os.pathsep.join(map(str, folders))})
    assert app.finish() == (0, "ran\n", "")
    known = {each["name"]: (each["version"], each["supported"]) for each in adapter.processes[0].hello["frameworks"]}
    assert known == {"LangGraph": ("0.5.1", False), "LangChain": ("1.2.3", True)}


def test_the_first_secret_is_masked_where_the_stack_has_no_room(scene: Any) -> None:
    """What looks for secrets is made when the first one may be there."""
    scene.write(
        "main.py",
        """
        import sys

        def tell(text):
            return len(text)

        def deep(rest, text):
            return deep(rest - 1, text) if rest else tell(text)

        def room():
            frame, used = sys._getframe(), 0
            while frame is not None:
                frame, used = frame.f_back, used + 1
            return sys.getrecursionlimit() - used

        for left in range(60):
            try:
                deep(room() - 3 - left, "password=hunter-swordfish-" + str(left))
            except RecursionError:
                pass
        print("done")
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    app = scene.run(adapter, "main.py")
    assert app.finish()[:2] == (0, "done\n")
    spools = [path.read_bytes() for path in Path(adapter.connect["spool"]).iterdir() if path.is_file()]
    assert spools and not any(b"swordfish" in spool for spool in spools)
    assert any(b"deep" in spool for spool in spools)


@pytest.mark.essential
def test_a_process_of_old_python_says_so_once(scene: Any) -> None:
    """Nothing of such a one has to be there: what the interpreter tells of itself is all that is asked."""
    scene.write(
        "main.py",
        """
        import os, sys

        boot, how = sys.argv[1:]
        os.environ["TOOLBREAK_CONNECT"] = "connect.json"
        if how == "child":
            os.environ["TOOLBREAK_CHILD"] = "1"
        sys.version_info = (3, 6, 15)
        if how == "early":  # Before 3.8 and 3.10, while `sitecustomize` runs.
            del sys.argv, sys.orig_argv
        exec(compile(open(boot).read(), boot, "exec"), {"__file__": boot})
        """,
    )
    for how in ("early", "late"):
        app = scene.run(None, "main.py", BOOT / "sitecustomize.py", how)
        said = "Toolbreak: Python 3.6 is too old (needs 3.10); the program runs without a debugger.\n"
        assert app.finish() == (0, "", said)
    # What a child says is read by who started it: the adapter tells of it.
    assert scene.run(None, "main.py", BOOT / "sitecustomize.py", "child").finish() == (0, "", "")
    assert (scene.folder / "old-3.6").exists()


@pytest.mark.essential
def test_what_finds_secrets_is_made_before_the_app_runs_and_in_others_when_it_is_needed(scene: Any) -> None:
    """A text of the first process need not wait for it."""
    made = "from toolbreak import _masking\nprint(_masking._secret.cache_info().currsize, flush=True)\n"
    scene.write("child.py", made)
    scene.write("main.py", f"{made}import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\n")
    assert scene.run(scene.adapter(record=RECORD_FUNCTIONS), "main.py").finish() == (0, "1\n0\n", "")
    env = {"PYTHONPATH": str(BOOT), "TOOLBREAK_RECORD": "kept"}
    assert scene.run(None, "main.py", env=env).finish() == (0, "1\n0\n", "")


def test_a_tool_is_declared_beside_a_file_named_inspect(scene: Any) -> None:
    scene.write("inspect.py", "OWN = True\n")
    scene.write(
        "main.py",
        """
        import inspect, toolbreak

        @toolbreak.tool
        def own():
            return inspect.OWN

        print(own(), toolbreak.tool(len)([1]))
        """,
    )
    app = scene.run(None, "main.py", env={"PYTHONPATH": str(RUNTIME)})
    assert app.finish() == (0, "True 1\n", "")


@pytest.mark.essential
@pytest.mark.parametrize(
    "name", ["collections", "types", "struct", "inspect", "token", "functools", "email", "ctypes", "opcode"]
)
def test_a_file_named_like_a_module_that_we_need_is_left_to_the_app(scene: Any, name: str) -> None:
    scene.write(f"{name}.py", "print('loaded')\n")
    scene.write(
        "main.py",
        """
        import sys

        def work(x):
            return x + 1

        def fails(x):
            return work(x) / 0

        print(work(3))
        try:
            fails(1)
        except ZeroDivisionError:
            print("failed")
        """,
    )
    adapter = scene.adapter(
        record=RECORD_FUNCTIONS, breakpoints=[dot(1, scene.folder / "main.py", "return x + 1", condition="x < 0")]
    )
    assert scene.run(adapter, "main.py").finish() == (0, "4\nfailed\n", "")
    spools = [path.read_bytes() for path in Path(adapter.connect["spool"]).iterdir() if path.is_file()]
    assert any(b"fails" in spool for spool in spools)


@pytest.mark.essential
def test_an_app_that_closes_all_files_as_daemons_do_says_nothing(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import os, sys

        session = sys.modules["toolbreak._session"].session
        os.closerange(3, 200)
        session.thread.join(20)
        print("done")
        """,
    )
    assert scene.run(scene.adapter(record=RECORD_FUNCTIONS), "main.py").finish() == (0, "done\n", "")


@pytest.mark.essential
def test_a_folder_named_from_where_the_app_starts_is_that_of_all_its_processes(scene: Any) -> None:
    scene.write("sub/child.py", "def job():\n    return 2\n\njob()\n")
    scene.write(
        "main.py",
        """
        import os, subprocess, sys

        subprocess.run([sys.executable, "child.py"], cwd="sub", check=True)
        os.chdir("sub")
        subprocess.run([sys.executable, "child.py"], check=True)
        """,
    )
    env = {"PYTHONPATH": str(BOOT), "TOOLBREAK_RECORD": "kept", "TOOLBREAK_RECORD_FUNCTIONS": "@usercode"}
    assert scene.run(None, "main.py", env=env).finish() == (0, "", "")
    (run,) = (scene.folder / "kept").iterdir()
    assert not (scene.folder / "sub" / "kept").exists()
    assert sum(b"job" in path.read_bytes() for path in run.iterdir()) == 2
