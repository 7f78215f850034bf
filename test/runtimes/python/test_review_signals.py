"""What the app's signal handlers raise reaches the app, also where it interrupts the debugger's own code."""

from __future__ import annotations

import dis
import os
import signal
import sys
import traceback
from collections import Counter
from typing import Any

import pytest
from fake_adapter import RECORD, RECORD_FUNCTIONS, dot
from spool_reader import END, START, all_frames
from toolbreak._exception_table import cover_jumps

pytestmark = [pytest.mark.essential, pytest.mark.skipif(sys.platform == "win32", reason="signals")]

APP = """
import signal, time

def on(*given):
    raise {error}("too slow")

signal.signal(signal.SIGALRM, on)

def f(x):
    return x

# A loop of its own: Python 3.13 does not cover the turn of a loop that stands in the `try` itself.
def work(end):
    while time.monotonic() < end:
        f({{"a": "b" * 20}})

lost = 0
for _ in range(25):
    try:
        end = time.monotonic() + 2
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        work(end)
        lost += 1
    except {error}:
        pass

def stop():
    return None

stop()
print("lost", lost)
"""


@pytest.mark.parametrize("error", ["TimeoutError", "KeyboardInterrupt"])
def test_a_handlers_exception_is_the_apps(scene: Any, error: str) -> None:
    path = scene.write("main.py", APP.format(error=error))
    adapter = scene.adapter(record=RECORD_FUNCTIONS, breakpoints=[dot(1, path, "def stop")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert [frame["name"] for frame in hold["frames"]] == ["stop()", "<module>"]
    assert hold["taskName"] == "main.py"
    process.release(hold)
    assert app.finish() == (0, "lost 0\n", "")


#: Looks each time at what is left behind.
PLACES = """
import sys

sys.path.append(sys.argv[1])
from strikes import Strikes
from toolbreak import _calls, _guards, _optional

def plain(x):
    return x

def around(x):
    return plain(x)

def failing(x):
    raise ValueError("no")

class Thing:
    def method(self, x):
        return self

def values(x):
    yield 1
    yield x

async def later(x):
    return x

def passed_by(x):
    return x

def run_failing():
    try:
        failing(1)
    except ValueError:
        pass

def run_later():
    try:
        later(1).send(None)
    except StopIteration:
        pass

RUNS = {
    "plain": lambda: plain({"a": "b" * 20}),
    "around": lambda: around([1, 2.5, None]),
    "failing": run_failing,
    "method": lambda: Thing().method([Thing()]),
    "values": lambda: list(values(3)),
    "later": run_later,
    "passed_by": lambda: passed_by(3),
}
GUARDED = set(RUNS)

def left_behind():
    root = _calls._roots.root
    yield "current", _calls._current.get()
    yield "busy", root.busy
    yield "calls", root.task.calls
    yield "innermost", root.task.innermost
    yield "tasks", len(_calls._tasks) - 1
    yield "appending", _calls.writer.local.segment.busy
    for guard in _guards._guards.values():
        yield "runs", guard.live
        yield "results", guard._results

def reach(run):
    strikes = Strikes(run, lambda code: code.co_filename == __file__ and code.co_name in GUARDED)
    place = 1
    while (came := strikes.strike(place)) is not None:
        bad = [f"{what} {value!r}" for what, value in left_behind() if value]
        if bad or not came:
            print(strikes.where, "came" if came else "LOST", *bad)
            sys.exit(1)
        place += 1
    return place - 1

for name, run in RUNS.items():
    run()
    # Compiled code, which does all of a plain call, has no places where a handler could raise.
    assert reach(run) >= (20 if _optional.Way is None else {"plain": 0, "around": 1}.get(name, 10))

def stop():
    return None

stop()
print("nothing is left behind")
"""


@pytest.mark.parametrize("compiled", ["1", "0"])
def test_wherever_a_handler_raises_nothing_is_left_behind(scene: Any, tmp_path: Any, compiled: str) -> None:
    path = scene.write("main.py", PLACES)
    names = ["plain", "around", "failing", "Thing.method", "values", "later", "passed_by", "stop"]
    adapter = scene.adapter(
        record={**RECORD, "enabled": True, "functions": [f"__main__.{name}" for name in names]},
        breakpoints=[dot(1, path, "def stop"), dot(2, path, "def passed_by", condition="x == 7")],
    )
    # It works for seconds on end before it comes there: hundreds of runs, every instruction traced.
    adapter.patience = 180.0
    here = os.path.dirname(__file__)
    app = scene.run(adapter, "-W", "ignore", "main.py", here, env={"TOOLBREAK_COMPILED": compiled})
    process, hold = adapter.held()
    assert [frame["name"] for frame in hold["frames"]] == ["stop()", "<module>"]
    process.release(hold)
    assert app.finish() == (0, "nothing is left behind\n", "")
    frames = all_frames(tmp_path / "state" / "spool")
    started = Counter(frame[1] for frame in frames if frame[0] == START)
    ended = Counter(frame[1] for frame in frames if frame[0] == END)
    assert started == ended and set(started.values()) == {1}


def test_ctrl_c_ends_a_hold_on_an_uncaught_exception(scene: Any) -> None:
    scene.write("main.py", "def f(x):\n    raise ValueError('boom')\n\nf(1)\n")
    adapter = scene.adapter(exceptions=[{"filter": "uncaught"}])
    app = scene.run(adapter, "main.py")
    adapter.held()
    os.kill(app.popen.pid, signal.SIGINT)
    code, _, err = app.finish()
    assert code == 1 and err.rstrip().endswith("ValueError: boom") and "toolbreak" not in err


def test_the_turn_of_a_loop_stands_in_the_try_around_it() -> None:
    def loops(found: Any) -> None:
        try:
            while found():
                try:
                    found(1)
                except ValueError:
                    continue
            for each in found:
                found(each)
            while True:
                if found(2):
                    break
        except KeyError:
            found(3)

    code = cover_jumps(loops.__code__)
    if sys.version_info < (3, 11):
        assert code is loops.__code__  # A `try` is part of the instructions there.
        return
    entries: Any = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    places = [each.offset for each in dis.get_instructions(code) if each.opname == "JUMP_BACKWARD"]
    handlers = [next((entry.target for entry in entries if entry.start <= place < entry.end), None) for place in places]
    # All in the outer one: the inner ends before its loop turns.
    assert len(places) >= 3 and len(set(handlers)) == 1 and handlers[0] is not None
    names = {each.offset: each.opname for each in dis.get_instructions(code)}
    assert all(names[entry.target] == "PUSH_EXC_INFO" or entry.lasti for entry in entries)


def test_ctrl_c_amid_our_own_lines_shows_none_of_them() -> None:
    from toolbreak import _boundaries, _uncaught

    assert _boundaries.__file__ is not None
    ours = compile("raise KeyboardInterrupt", _boundaries.__file__, "exec")
    with pytest.raises(KeyboardInterrupt) as caught:
        exec(ours)
    _uncaught._prune(caught.value)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files == [__file__]
