"""The stack of an error that leaves many calls: what a walk through its whole traceback finds, in each of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from spool_reader import END, read_folder
from toolbreak import _errors

RUNTIME = Path(__file__).resolve().parents[3] / "runtimes/python"
pytestmark = pytest.mark.essential

WALK = '''
def walked(error):
    """The plain walk."""
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(HERE):
            found.append((code.co_filename, traceback.tb_lineno or 0, getattr(code, "co_qualname", code.co_name)))
            if len(found) > 60:
                del found[1]
        traceback = traceback.tb_next
    return found
'''

# Compiled apart: no function of a source file, so that it is not recorded.
WATCH = """
def watched(error):
    found, expected = taken(error), walked(error)
    asked.append(len(expected))
    if found != expected:
        other.append((len(asked), found[:3], expected[:3]))
    return found


asked, other = [], []
taken = _errors.stack_of
_errors.stack_of = watched
HERE = _errors._HERE
"""

APP = '''
import asyncio, json, sys, types
from toolbreak import _errors

SCOPE = {"_errors": _errors}
exec(compile(WATCH, "<watch>", "exec"), SCOPE)
sys.setrecursionlimit(5000)


def deep(n, error=None):
    if n == 0:
        raise error or ValueError("deep")
    return even(n - 1, error) if n % 2 else deep(n - 1, error)


def even(n, error=None):
    return deep(n, error)


def again(n):
    """Raised again in each call: once more the same, another one, or with more or less of its traceback."""
    if n == 0:
        deep(90)
    try:
        again(n - 1)
    except ValueError as error:
        if n % 5 == 0:
            raise
        if n % 5 == 1:
            raise ValueError(n) from error
        if n % 5 == 2:
            raise ValueError(n) from None
        if n % 5 == 3:
            raise error.with_traceback(None)
        raise error


def torn(n):
    """The inner part of a traceback is put together anew, as template engines do it, below what was recorded already."""
    if n == 0:
        return deep(150)
    try:
        torn(n - 1)
    except ValueError as error:
        parts = [error.__traceback__]
        while parts[-1].tb_next is not None:
            parts.append(parts[-1].tb_next)
        if len(parts) > 20:
            parts[-9].tb_next = parts[-7]
            if n % 3 == 0:
                made = types.TracebackType(parts[-2], parts[-3].tb_frame, parts[-3].tb_lasti, 12345)
                parts[len(parts) // 2].tb_next = made
        raise


def caught(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return error


def twice(error):
    found = [caught(deep, n, error) for n in (70, 3, 120)]
    assert all(each is error for each in found)
    caught(later, error)
    caught(later, error.with_traceback(error.__traceback__.tb_next))
    caught(later, ValueError("later").with_traceback(error.__traceback__))


def later(error):
    raise error


def fresh(n, error):
    """Code that is gone by the next time, in whose place other code may come."""
    for number in range(n):
        scope = {"later": later, "error": error}
        text = "\\n" * number + f"def made{number}(n):\\n    return made{number}(n - 1) if n else later(error)"
        exec(compile(text, f"<made {number}>", "exec"), scope)
        caught(scope[f"made{number}"], 64)
        error.__traceback__ = None


def group(n):
    if n == 0:
        raise ExceptionGroup("some", [caught(deep, 65), caught(again, 7)])
    try:
        group(n - 1)
    except* TypeError:
        pass


async def waits(n):
    if n == 0:
        await asyncio.sleep(0)
        return deep(30)
    if n == 40:
        return await asyncio.gather(*[waits(n - 1) for _ in range(2)])
    return await waits(n - 1)


def numbers(n):
    if n == 0:
        yield 1
        deep(20)
    yield from numbers(n - 1)


def main():
    caught(deep, 1000)
    for n in (0, 1, 18, 19, 20, 21, 38, 39, 40, 41, 57, 58, 59, 60, 61, 62, 79, 80, 81):
        caught(deep, n)
    caught(again, 25)
    caught(torn, 30)
    twice(ValueError("twice"))
    fresh(30, ValueError("fresh"))
    caught(asyncio.run, waits(80))
    caught(list, numbers(70))
    if sys.version_info >= (3, 11):
        caught(group, 70)


main()
asked, other = SCOPE["asked"], SCOPE["other"]
print(json.dumps([len(asked), max(asked), other]))
'''


def run(folder: Path, compiled: str, text: str) -> tuple[str, Path]:
    app = folder / "app.py"
    app.write_text(text)
    environment = {
        **os.environ,
        "TOOLBREAK_COMPILED": compiled,
        "TOOLBREAK_RECORD": str(folder),
        "TOOLBREAK_RECORD_FUNCTIONS": "@usercode",
        "PYTHONPATH": os.pathsep.join([str(RUNTIME / "toolbreak/boot"), str(RUNTIME)]),
    }
    done = subprocess.run([sys.executable, str(app)], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr[-3000:]
    (spools,) = {path.parent for path in folder.rglob("*.spool")}
    return done.stdout, spools


@pytest.mark.parametrize("compiled", ["", "0"])
def test_in_each_call_that_an_error_leaves(tmp_path: Path, compiled: str) -> None:
    text = APP if sys.version_info >= (3, 11) else APP.replace("except* TypeError", "except TypeError")
    printed, _ = run(tmp_path, compiled, f"WATCH = {WALK + WATCH!r}\n{text}")
    asked, most, other = json.loads(printed)
    assert other == []
    assert asked > 3000 and most == 60


def test_what_is_in_the_file(tmp_path: Path) -> None:
    text = textwrap.dedent(
        """
        def down(n):
            if n == 0:
                raise ValueError("deep")  # raises
            return down(n - 1)  # calls

        try:
            down(149)
        except ValueError:
            pass
        """
    )
    _, spools = run(tmp_path, "", text)
    lines = text.splitlines()
    raises, calls = (next(at for at, line in enumerate(lines, 1) if word in line) for word in ("# raises", "# calls"))
    path = str(tmp_path / "app.py")
    # A call's number says how deep it is; its thread's files follow each other.
    ends = {frame[1]: frame[4] for frames in read_folder(spools).values() for frame in frames if frame[0] == END}
    stacks = [ends[number][4] for number in sorted(ends, reverse=True)]
    assert len(stacks) == 150
    for number, stack in enumerate(stacks):
        assert stack == [(path, calls, "down")] * min(number, 59) + [(path, raises, "down")]


def test_tracebacks_of_every_length_with_lines_of_ours() -> None:
    scope: dict[str, Any] = {"HERE": _errors._HERE, "sys": sys}
    exec(WALK, scope)
    frames = []
    for path in ("/app/one.py", "/app/two.py", _errors._HERE + "_calls.py"):
        exec(compile("def frame():\n    return sys._getframe()", path, "exec"), scope)
        frames.append(scope["frame"]())
    one, two, ours = frames
    patterns: list[Any] = [
        lambda at, size: one,
        lambda at, size: (one, two)[at % 2],
        lambda at, size: (one, ours)[at % 2],
        lambda at, size: (one, two, ours)[at * at % 3],
        lambda at, size: ours if at < 45 else two,
        lambda at, size: ours if at > size - 45 else two,
        lambda at, size: ours if 1 <= at < size - 60 else two,
        lambda at, size: one if at == size - 70 or at > size - 61 else ours,
        lambda at, size: ours,
    ]
    for frame_at in patterns:
        for size in (*range(130), 1000):
            made = None
            for at in reversed(range(size)):
                made = TracebackType(made, frame_at(at, size), 0, at + 1)
            error = ValueError().with_traceback(made)
            assert _errors.stack_of(error) == scope["walked"](error), size


def test_nothing_of_the_error_is_kept() -> None:
    class Held:
        pass

    def down(n: int) -> None:
        held = Held()
        refs.append(weakref.ref(held))
        if n == 0:
            raise ValueError
        down(n - 1)

    refs: list[Any] = []
    try:
        down(100)
    except ValueError as error:
        assert len(_errors.stack_of(error)) == 60
    assert [ref for ref in refs if ref() is not None] == []
