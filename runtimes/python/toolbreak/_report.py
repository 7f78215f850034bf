"""One line on stderr for the person, each sentence once; never an exception into the app."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from opcode import opname
from typing import Any

_said: set[str] = set()
#: File that failures of our own are appended to with their stack, for the log folder; None: not kept.
log_path: str | None = os.environ.get("TOOLBREAK_LOG") or None


def say(sentence: str, *, once: bool = True) -> None:
    """Writes `Toolbreak: <sentence>` to stderr, past the app's own redirections."""
    if once:
        if sentence in _said:
            return
        _said.add(sentence)
    try:
        stream = sys.__stderr__
        if stream is not None:
            stream.write(f"Toolbreak: {sentence}\n")
            stream.flush()
    except Exception as error:
        let_through(error)


def failure(error: BaseException) -> None:
    """A failure of ours: the app goes on as if we were not there. Said once for each kind of failure.

    What one of the app's signal handlers or threads raised while our code ran is the app's, and is raised again.
    """
    let_through(error)
    try:
        if isinstance(error, RecursionError) or sys.is_finalizing():
            return
        say(f"a part of the debugger failed ({type(error).__name__}: {error}); the program goes on without it.")
        if log_path:
            with open(log_path, "a", encoding="utf-8") as log:
                log.write(_trace_of(error))
    except Exception as other:
        let_through(other)


def _trace_of(error: BaseException) -> str:
    """As `traceback` has it, without lines of source: importing that while we hold a lock could wait for a thread that imports and waits for us."""
    lines = ["Traceback (most recent call last):"]
    tb = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {tb.tb_lineno}, in {code.co_name}')
        tb = tb.tb_next
    return "\n".join([*lines, f"{type(error).__name__}: {error}", ""])


_FOLDER = os.path.dirname(__file__) + os.sep


def from_signal(error: BaseException) -> bool:
    """Whether a signal handler of the app raised it: its frame got the interrupted one, which stands above it in the traceback."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        interrupted, tb = tb.tb_frame, tb.tb_next
        if tb.tb_frame.f_code.co_filename.startswith(_FOLDER):
            continue
        for value in tb.tb_frame.f_locals.values():
            if value is interrupted or (type(value) is tuple and any(each is interrupted for each in value)):
                return True
    return False


def from_thread(error: BaseException) -> bool:
    """
    Whether another thread of the app put it here (`PyThreadState_SetAsyncExc`, as libraries for time limits do): it stands on a line of ours
    that raises nothing, and is of a class that nothing we call would raise, or is made without arguments as nothing we call does. A person's
    expression may raise anything, also in C code, which stands on no line: what comes through one is its failure.
    """
    tb = error.__traceback__
    files: list[str] = []
    last = tb
    while tb is not None:
        files.append(tb.tb_frame.f_code.co_filename)
        last, tb = tb, tb.tb_next
    if last is None or any(not (file.startswith(_FOLDER) or _is_standard(file)) for file in files):
        return False
    if _is_written_elsewhere(type(error)):
        return True
    code = last.tb_frame.f_code.co_code
    return (
        files[-1].startswith(_FOLDER)
        and type(error) not in _WITHOUT_ARGUMENTS
        and not error.args
        and not type(error).__module__.startswith("toolbreak")
        and not opname[code[last.tb_lasti]].startswith(("RAISE", "RERAISE"))
    )


_WITHOUT_ARGUMENTS = (StopIteration, StopAsyncIteration, MemoryError, RecursionError, AssertionError, EOFError)
_STANDARD = os.path.dirname(os.__file__) + os.sep


def _is_standard(file: str) -> bool:
    return file.startswith("<frozen ") or (file.startswith(_STANDARD) and "-packages" not in file)


def _is_written_elsewhere(kind: type) -> bool:
    """Whether the class comes from Python source that is neither ours nor the standard library's."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if kind.__module__ == "__main__":
        return True
    return isinstance(file, str) and file.endswith(".py") and not file.startswith(_FOLDER) and not _is_standard(file)


def _is_put_in(error: BaseException) -> bool:
    return from_signal(error) or from_thread(error)


def let_through(error: BaseException) -> None:
    """Where an exception of ours is otherwise of no matter: raises it again if a signal handler or another thread of the app raised it."""
    if _is_put_in(error):
        raise error


def is_the_apps(error: BaseException) -> bool:
    """What must reach the app although it was raised in our code: Ctrl-C, an exit, what a signal handler or another thread raised here."""
    return not isinstance(error, Exception) or _is_put_in(error)


def guard(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Calls it; a failure is reported, not raised."""
    try:
        return function(*args, **named)
    except Exception as error:
        failure(error)
        return None
