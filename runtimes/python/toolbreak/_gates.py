"""Native code under the app, for breakpoints in C sources: the adapter is to be attached before a library's code can run, and a program that
a call starts is to wait until it is looked at.

Without such breakpoints this module is not even imported. Whatever fails here lets the app go on.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from typing import Any

from . import _calls, _frames, _holds, _own_thread, _report, _sources, _standard
from ._call_types import Call, Stop
from ._real import Real

#: How long a load waits for the adapter.
PATIENCE = 10.0
_PR_SET_PTRACER = 0x59616D61
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"

_session: Any = None
_settings: dict[str, Any] | None = None
_numbers = itertools.count(1)
_waiting: dict[int, threading.Event] = {}
_hooked = False
#: The method that starts a program, as it was before ours; and ours.
_execute_child: Any = None
_own_execute_child: Any = None

#: Numbers of steps that ended in native code: the adapter writes them, each at its number modulo their count.
_overtaken: Any = None
#: A function of the interpreter that nobody else calls, and that does nothing: the debugger of native code waits in it.
_GATE = "Py_GetCopyright"
_gate: Any = None


def configure(session: Any, settings: dict[str, Any] | None) -> None:
    """Puts the gates up, or lets everything pass. An audit hook stays until the process ends, and then does nothing."""
    global _session, _settings
    before, _session, _settings = _settings, session, settings
    if settings is None:
        _let_all_pass()
        _unhook_children()
        return
    if before is None or before.get("tracer") != settings.get("tracer"):
        _allow(settings.get("tracer"))
        session.send({"event": "native", "kind": "ready", **_places()})
    if settings.get("gate"):
        _hook_children()
    else:
        _unhook_children()
    # Last: what is imported above may load libraries.
    if settings.get("loads"):
        _hook_loads()


def gone() -> None:
    """The session is over."""
    configure(None, None)


def _allow(tracer: Any) -> None:
    """Where only a parent may look into a process, the adapter gets leave."""
    try:
        with open(_YAMA, encoding="ascii") as file:
            scope = file.read().strip()
    except OSError:
        return
    if scope == "1" and isinstance(tracer, int):
        ctypes = _standard.module("ctypes")

        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(tracer), 0, 0, 0)


def _places() -> dict[str, Any]:
    """Where the adapter finds the Python side of a process that stands still: nothing in it can answer then."""
    found: dict[str, Any] = {
        "version": [*sys.version_info[:3]],
        "context": id(_calls._current),
        "threads": id(threading._active),  # type: ignore[attr-defined]
        "library": os.path.realpath(os.path.dirname(os.__file__)),
        "own": os.path.dirname(os.path.realpath(__file__)),
        "runtime": 0,
        "gate": 0,
        "overtaken": 0,
    }
    try:
        ctypes = _standard.module("ctypes")

        global _gate, _overtaken
        if _overtaken is None:
            _overtaken = (ctypes.c_uint64 * 64)()
            _gate = ctypes.pythonapi[_GATE]
            _gate.restype = None
        # Each adapter counts its steps from 1: what is noted of an earlier one's would end them.
        ctypes.memset(_overtaken, 0, ctypes.sizeof(_overtaken))
        found["overtaken"] = ctypes.addressof(_overtaken)
        found["gate"] = ctypes.cast(_gate, ctypes.c_void_p).value or 0
        found["runtime"] = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    except (ImportError, ValueError, AttributeError) as error:
        found["problem"] = str(error)
    return found


# ---------------------------------------------------------------- libraries


def _hook_loads() -> None:
    global _hooked
    if not _hooked:
        _hooked = True
        sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _settings is None or not _settings.get("loads"):
        return
    if event == "ctypes.dlopen":
        path = args[0]
    elif event == "import":
        path = args[1]
    else:
        return
    if path:
        _report.guard(_hold_load, path)


def _hold_load(path: Any) -> None:
    """Waits until the adapter has seen what is about to be loaded, and is attached where that matters."""
    session = _session
    if session is None or session.closing or Real.getpid() != session.pid or Real.thread_id() in _own_thread.idents:
        return
    number = next(_numbers)
    event = _waiting[number] = threading.Event()
    try:
        if _settings is None:  # Everything was let pass just before it stood among those who wait.
            return
        session.send({"event": "native", "kind": "load", "id": number, "path": os.fsdecode(path)})
        event.wait(PATIENCE)
    finally:
        _waiting.pop(number, None)


def let_pass(number: int) -> None:
    event = _waiting.get(number)
    if event is not None:
        event.set()


def _let_all_pass() -> None:
    for event in list(_waiting.values()):
        event.set()


# ---------------------------------------------------------------- steps


def announce() -> None:
    """A step begins that may come into native code, or has ended elsewhere: the debugger of native code, which waits for it, stops here for a moment."""
    if _gate is not None:
        _gate()


def is_overtaken(step: int) -> bool:
    return _overtaken is not None and _overtaken[step % 64] == step


def returned() -> None:
    """Run by the native debugger in a thread that has just come back from native code: it stops before its next line."""
    _report.guard(_step_on, sys._getframe(1).f_back)


def _step_on(frame: Any) -> None:
    from . import _line_steps, _lines

    while frame is not None and not _line_steps.is_mine(frame.f_code):
        frame = frame.f_back
    call = _lines.running(_calls.current())
    task = call.task if call is not None else _calls.root_of_thread().task
    if frame is not None:
        _line_steps.begin("over", frame, call, task)


# ---------------------------------------------------------------- programs


def _hook_children() -> None:
    global _execute_child, _own_execute_child
    import subprocess

    popen: Any = subprocess.Popen
    if _execute_child is None and hasattr(popen, "_execute_child"):
        _execute_child = popen._execute_child

        def execute_child(self: Any, *args: Any, **named: Any) -> Any:
            # The environment is the seventh in every version that there is.
            if len(args) > 6:
                args = (*args[:6], _with_gate(args[6]), *args[7:])
            return original(self, *args, **named)

        original = _execute_child
        popen._execute_child = _own_execute_child = execute_child


def _unhook_children() -> None:
    global _execute_child
    if _execute_child is not None:
        import subprocess

        popen: Any = subprocess.Popen
        # Somebody may have put a method around ours meanwhile: then it stays, and lets everything pass.
        if popen._execute_child is _own_execute_child:
            popen._execute_child, _execute_child = _execute_child, None


def _with_gate(env: Any) -> Any:
    settings = _settings
    if settings is None or not settings.get("gate"):
        return env
    try:
        made: dict[Any, Any] = _environment() if env is None else dict(env)
        gate = settings["gate"]
        _put_first(made, "LD_PRELOAD", gate["library"])
        # A program with the address sanitizer ends at once where another library comes before it.
        _put_first(made, "ASAN_OPTIONS", "verify_asan_link_order=0")
        call = _calls.current()
        number = call.number if call is not None else 0
        made["TOOLBREAK_GATE"] = (
            f"{os.getpid()}.{number}.{threading.get_ident()} {settings['tracer']} {gate['address']}"
        )
        return made
    except Exception as error:
        _report.failure(error)
        return env


def _environment() -> dict[Any, Any]:
    """What a program gets that is given no environment: also what was set past `os.environ`, by `os.putenv` or in C."""
    try:
        ctypes = _standard.module("ctypes")

        entries = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
        found: dict[Any, Any] = {}
        for index in itertools.count():
            entry = entries[index]
            if entry is None:
                return found
            name, equals, value = entry.partition(b"=")
            if equals:
                found.setdefault(os.fsdecode(name), os.fsdecode(value))
    except (ImportError, ValueError, AttributeError, OSError) as error:
        _report.let_through(error)
    return dict(os.environ)


def _put_first(env: dict[Any, Any], name: str, value: str) -> None:
    older = env.pop(name.encode(), None) or env.get(name)
    env[name] = f"{value}:{os.fsdecode(older)}" if older else value


# ---------------------------------------------------------------- who started a program


def look(number: int, thread: int) -> dict[str, Any]:
    """The frames of a call that goes on, for the stack of the program that it started; they can be looked into as those of a hold."""
    call = _find(number)
    if call is None:
        return {"hold": 0, "frames": []}
    frame = sys._current_frames().get(thread)
    if not _is_of(frame, call):
        frame = None
    while frame is not None and not _sources.is_user(frame.f_code.co_filename):
        frame = frame.f_back
    made = _Look(call, frame)
    made.frames = _frames.build(made, frame)
    _holds.holds[made.id] = made
    return {"hold": made.id, "task": call.task.id, "call": call.number, "frames": _frames.describe(made)}


def end_look(hold: int) -> None:
    made = _holds.holds.get(hold)
    if isinstance(made, _Look):
        del _holds.holds[hold]
        inspector, made.inspector = made.inspector, None
        if inspector is not None and hasattr(inspector, "close"):
            inspector.close()
        made.frames = []


class _Look(_holds.Hold):
    """A call that goes on, at the line where it is now. What is asked of it runs beside it."""

    def __init__(self, call: Call, frame: Any) -> None:
        super().__init__(call, Stop("line", "", frame=frame))
        self.is_async = True


def _find(number: int) -> Call | None:
    for task in _calls.tasks():
        call = task.innermost
        while call is not None:
            if call.number == number and not call.ended:
                return call
            call = call.parent
    return None


def _is_of(frame: Any, call: Call) -> bool:
    """Whether this thread still works for that call."""
    while frame is not None:
        if frame is call.frame or (
            frame.f_code.co_name in ("execute", "aexecute") and frame.f_locals.get("call") is call
        ):
            return True
        frame = frame.f_back
    return False
