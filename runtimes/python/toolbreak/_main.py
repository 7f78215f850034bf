"""Waits for the first line of the main module, so that breakpoints in it hold from its first call on."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import Any

from . import _guards, _lines, _report, _runners, _standard, _stops

#: Set in the environment of every process that is debugged, so that the processes it starts know themselves as children: a child may be
#: asked about its parent's breakpoints, and "stop on entry" means the first process alone.
_CHILD = "TOOLBREAK_CHILD"


def is_child() -> bool:
    """Whether a process that is debugged started this one. Marks the environment for our own children."""
    child = os.environ.get(_CHILD) is not None
    os.environ[_CHILD] = "1"
    return child


def forget_environment() -> None:
    """The debugger is gone: processes that start from now on are no children of a debugged one."""
    boot = os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot")
    os.environ.pop(_CHILD, None)
    os.environ.pop("TOOLBREAK_CONNECT", None)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in paths if not path or os.path.abspath(path) != boot]
    if others != paths:
        if others:
            os.environ["PYTHONPATH"] = os.pathsep.join(others)
        else:
            del os.environ["PYTHONPATH"]


#: Modules of the standard library that only we needed so far, by name.
_brought: list[str] = []


def note_brought(before: set[str]) -> None:
    """What was imported since `before` was imported for us. Our other threads import, too, meanwhile."""
    _brought[:] = [name for name in list(sys.modules) if name not in before and not name.startswith("toolbreak")]


def _make_way() -> None:
    """
    A file beside the program may have the name of a module that we brought: `import email` has to find the program's own then, as it would
    without us. We keep ours; the name is free again.
    """
    from importlib.machinery import PathFinder

    folder = sys.path[0] if sys.path else None
    try:
        beside = {entry.partition(".")[0] for entry in os.listdir(folder or ".")} if folder is not None else set()
    except (OSError, TypeError):
        return
    if beside & sys.stdlib_module_names:
        _report.guard(_bring_the_rest)
    for name in beside.intersection(_brought):
        known = getattr(sys.modules.get(name), "__spec__", None)
        if known is None or not known.has_location:  # Built in or frozen: it comes first in any case.
            continue
        own = PathFinder.find_spec(name, [folder or ""])
        if own is not None and own.loader is not None and own.origin != known.origin:
            for each in _brought:
                if each == name or each.startswith(f"{name}."):
                    sys.modules.pop(each, None)
    _brought.clear()


def _bring_the_rest() -> None:
    """What we import only where it is needed, while the names of what it imports are still the standard library's."""
    kept = sys.path[:1]
    before = set(sys.modules)
    del sys.path[:1]
    try:
        _standard.keep()
    finally:
        sys.path[:0] = kept
        _brought.extend(name for name in list(sys.modules) if name not in before)


#: The main module's frame, once it has begun.
_frame: FrameType | None = None


def exit_code() -> int | None:
    """
    What this process is about to end with, asked when its exit handlers run. The frame of the main module tells by its last instruction whether
    it came to its end. An exception that left it is kept by the interpreter; but for `SystemExit`, whose code no one can see: None.
    """
    frame = _frame
    if frame is None or frame.f_lasti < 0:
        return None if last_error() is None else 1
    opcode = _standard.module("opcode")

    code = frame.f_code.co_code
    at = frame.f_lasti
    if opcode.opname[code[at]] in ("RETURN_VALUE", "RETURN_CONST"):
        return 0
    error = last_error()
    if error is None:
        return None
    if not isinstance(error, KeyboardInterrupt):
        return 1
    # The interpreter ends itself by the signal, as shells expect.
    return 130 if os.name == "posix" else None


def last_error() -> BaseException | None:
    """The exception that left the main module, which the interpreter keeps; of `SystemExit` it keeps none."""
    error = getattr(sys, "last_value", None)
    # Behind `-i` the interpreter goes on after it.
    if not isinstance(error, BaseException) or sys.flags.inspect or os.environ.get("PYTHONINSPECT"):
        return None
    if _frame is None:
        return error if _is_of_program(error) else None
    return error if _came_through(error, _frame) else None


_NOT_COMPILED = (SyntaxError, IndentationError, TabError)


def _is_of_program(error: BaseException) -> bool:
    """Whether the program never began for it: it, or the package of `-m`, could not be read or compiled. What is typed into an interpreter is none."""
    if error.__traceback__ is not None:
        code = error.__traceback__.tb_frame.f_code
        return code.co_name == "_run_module_as_main" and "runpy" in code.co_filename
    if type(error) not in _NOT_COMPILED or not sys.argv:
        return False
    path, _ = syntax_place(error)
    if path is None:  # Not even its characters could be read.
        return True
    if path in ("<string>", "<stdin>"):
        return sys.argv[0] in ("-c", "-", "") and not (path == "<stdin>" and os.isatty(0))
    return os.path.abspath(path) == os.path.abspath(sys.argv[0])


def syntax_place(error: BaseException) -> tuple[str | None, int]:
    """File and line that could not be compiled, where the error is of that kind."""
    if not isinstance(error, SyntaxError):
        return (None, 0)
    own = SyntaxError.__dict__
    path, line = own["filename"].__get__(error), own["lineno"].__get__(error)
    return (path if type(path) is str else None, line if type(line) is int else 0)


def is_of_import(error: BaseException) -> bool:
    """Whether a file that could not be compiled was to be run, and not a text that the app has read."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None:
        return True
    opcode = _standard.module("opcode")

    code = tb.tb_frame.f_code
    return (
        opcode.opname[code.co_code[tb.tb_lasti]] == "IMPORT_NAME"
        or "importlib" in code.co_filename
        or "runpy" in code.co_filename
    )


def adopt() -> None:
    """The main module runs already: an error that leaves it is told by its frame."""
    global _frame
    namespace = getattr(sys.modules.get("__main__"), "__dict__", None)
    frame = None if _frame is not None else sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is namespace:
            _frame = frame
        frame = frame.f_back


def forget_frame() -> None:
    """Through the main module's frame all that lies in it would be kept alive."""
    global _frame
    _frame = None
    _lines.main_ended()


def _came_through(error: BaseException, frame: FrameType) -> bool:
    tb = error.__traceback__
    while tb is not None:
        if tb.tb_frame is frame:
            return True
        tb = tb.tb_next
    return False


def watch() -> None:
    """Sees the main module begin. Its code cannot be exchanged any more then, but what it defines can."""
    if sys.getprofile() is not None:
        _guards.main_started = True
        return
    main = sys.modules.get("__main__")
    namespace = getattr(main, "__dict__", None)

    def profile(frame: Any, event: str, arg: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_name != "<module>":
            if code.co_name == "_bootstrap" and code.co_filename.endswith("process.py"):
                sys.setprofile(None)  # A child of multiprocessing without a main module.
                _report.guard(_begin, None)
            return
        name = frame.f_globals.get("__name__")
        if frame.f_globals is not namespace and name not in ("__main__", "__mp_main__"):
            return
        if code.co_filename == "<string>" and any("multiprocessing" in part for part in getattr(sys, "orig_argv", ())):
            return  # Its main module comes under another name.
        global _frame
        if _frame is None:
            _frame = frame
        if code.co_filename.startswith("<") and _frame is not frame:
            return
        if _report.guard(_runners.is_runner, code, frame.f_globals):
            return
        sys.setprofile(None)
        _report.guard(_begin, frame.f_code)
        _report.guard(_lines.main_begins, frame)

    sys.setprofile(profile)


def _begin(code: Any) -> None:
    from . import _session

    _guards.main_started = True
    _report.guard(_make_way)
    if code is not None and not code.co_filename.startswith("<"):
        _guards.prepare_main(code)
        _stops.arm()
    session = _session.session
    if session is not None:
        session.mark_dirty()
