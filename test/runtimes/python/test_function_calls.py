"""The short way of a guarded function's call, which compiled code goes: as exact as the one of Python code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from recorded_calls import recorded
from spool_reader import END, FUNCTION, START, all_frames, read_folder
from toolbreak import _optional

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtimes/python"
pytestmark = pytest.mark.essential
compiled_only = pytest.mark.skipif(_optional.Way is None, reason="the compiled part is not built")


def run(folder: Path, compiled: str, *args: str, app: Path = HERE / "function_calls_app.py") -> tuple[list[str], Path]:
    """What the app printed, and where its spool files are."""
    folder.mkdir()
    environment = {
        **os.environ,
        "PYTHONWARNINGS": "ignore",  # Of a fork beside threads.
        "TOOLBREAK_COMPILED": compiled,
        "TOOLBREAK_RECORD": str(folder),
        "TOOLBREAK_RECORD_FUNCTIONS": "@usercode",
        "PYTHONPATH": os.pathsep.join([str(RUNTIME / "toolbreak/boot"), str(RUNTIME)]),
    }
    command = [sys.executable, str(app), *args]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr[-3000:]
    (spools,) = {path.parent for path in folder.rglob("*.spool")}
    return done.stdout.splitlines(), spools


@compiled_only
def test_what_is_recorded_is_what_python_code_records(tmp_path: Path) -> None:
    printed, long = run(tmp_path / "long", "0")
    assert json.loads(printed[0]) == [0, 0]
    printed, short = run(tmp_path / "short", "")
    begun, ended = json.loads(printed[0])
    # Without those of the child, which counts for itself.
    assert begun > 3000 and ended > 2500, (begun, ended)
    expected, found = recorded(long), recorded(short)
    assert len(expected) > 7500
    known = set(expected)
    assert [line for line in found if line not in known] == []
    assert Counter(found) == Counter(expected)


@pytest.mark.parametrize("compiled", ["", "0"])
@pytest.mark.parametrize("what", ["free", "deep"])
def test_each_call_begins_and_ends_once(tmp_path: Path, what: str, compiled: str) -> None:
    """Where the garbage collector runs guarded functions amid our own steps, and where the stack ends there."""
    printed, spools = run(tmp_path / "spools", compiled, what)
    assert what != "deep" or printed[-1] == "True True"
    files = read_folder(spools)
    for file, frames in files.items():
        assert file
        started = Counter(frame[1] for frame in frames if frame[0] == START)
        assert set(started.values()) <= {1}
    started = [
        (file.rpartition("-")[0], frame[1]) for file, frames in files.items() for frame in frames if frame[0] == START
    ]
    ended = [
        (file.rpartition("-")[0], frame[1]) for file, frames in files.items() for frame in frames if frame[0] == END
    ]
    assert len(started) == len(set(started))
    lost = Counter(started) - Counter(ended)
    assert len(ended) == len(set(ended))
    # What raised at the stack's end has not returned.
    spoken = {frame[1]: frame[3] for frames in files.values() for frame in frames if frame[0] == FUNCTION}
    assert "falls" in spoken.values() or what != "deep"
    at_the_end: set[int] = set()
    for frames in files.values():
        falls = {frame[1] for frame in frames if frame[0] == START and spoken.get(frame[3]) == "falls"}
        assert not any(frame[0] == END and frame[1] in falls and frame[3] == 0 for frame in frames)
        at_the_end |= falls
    # Nor is what is called afterwards inside of it.
    begun = {
        (file.rpartition("-")[0], frame[1]): (frame[2], spoken.get(frame[3]))
        for file, frames in files.items()
        for frame in frames
        if frame[0] == START
    }
    inside = [
        name for (process, _), (above, name) in begun.items() if begun.get((process, above), (0, ""))[1] == "falls"
    ]
    assert set(inside) <= {"falls"} and bool(inside) is (what == "deep")
    # In a forked child its parent's calls do not end, nor do those for whose end the stack has no room.
    lost = Counter({key: count for key, count in lost.items() if key[1] not in at_the_end})
    assert sum(lost.values()) <= (0 if what == "free" else 2), lost


LOOKED_AT = """
import contextvars, json
from toolbreak import _calls

seen, kept = [], []

class Shop:
    def sell(self, order_id, *rest, region="eu"):
        return look(order_id)

    @classmethod
    def open(cls, day):
        return look(day)

def look(number):
    call = _calls.current()
    kept.append(call)
    kept.append(call.parent)
    seen.append([dict(call.args), dict(call.parent.args)])
    assert call.args is call.args
    return number

def plain(one, two):
    one = None
    return look(two)

def elsewhere(one):
    return contextvars.copy_context().run(look, one)

def fails(one):
    try:
        look(one)
        raise ValueError(one)
    finally:
        kept.append(_calls.current())

def main():
    Shop().sell(7, 8, region="us")
    Shop.open("monday")
    plain(1, 2)
    elsewhere(3)
    try:
        fails(4)
    except ValueError:
        pass
    return _calls.current().function.name

print(json.dumps([main(), seen]))
left = [name for call in kept for name in ("args", "given", "token", "frame", "back") if getattr(call, name, None)]
running = {call.function.name for call in kept if not call.ended}
print(json.dumps([left, sorted(running), _calls.current() is None]))
"""


@pytest.mark.parametrize("compiled", ["", "0"])
def test_arguments_are_there_while_a_call_runs_and_nothing_of_it_behind_its_end(tmp_path: Path, compiled: str) -> None:
    app = tmp_path / "app.py"
    app.write_text(LOOKED_AT)
    printed, _ = run(tmp_path / "spools", compiled, app=app)
    assert json.loads(printed[0]) == [
        "main",
        [
            [{"number": 7}, {"order_id": 7, "rest": [8], "region": "us"}],
            [{"number": "monday"}, {"day": "monday"}],
            [{"number": 2}, {"one": 1, "two": 2}],
            [{"number": 3}, {"one": 3}],
            [{"number": 4}, {"one": 4}],
        ],
    ]
    assert json.loads(printed[1]) == [[], [], True]


FINALISERS = """
import gc
gc.set_threshold(1, 3, 3)

class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        leaf()

def leaf():
    return 1

def pieces(depth):
    if depth:
        yield from pieces(depth - 1)
    Cycle()
    yield leaf()

for _ in range(500):
    list(pieces(5))
gc.collect()
print("done")
"""


@compiled_only
def test_finalisers_may_run_recorded_functions_amid_our_own_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to Python 3.11 the process crashed where one ran while a context variable was set."""
    monkeypatch.setenv("PYTHONMALLOC", "debug")
    app = tmp_path / "app.py"
    app.write_text(FINALISERS)
    printed, spools = run(tmp_path / "spools", "", app=app)
    frames = all_frames(spools)
    assert printed == ["done"]
    assert [sum(frame[0] == kind for frame in frames) for kind in (START, END)] == [15_000] * 2
