"""Which functions, tasks and calls there are now, and what the session hangs in: the writer, the decision where to stop, the holds.

`_boundaries` takes a call along its way; here it begins and ends.

A signal handler of the app may raise in the middle of it: where Python enters a function, behind every call, and where it jumps, never
between plain stores. So what belongs together is stored without any of these in between, each later step may be done twice, and `lose`
ends a call wherever it was cut short.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from . import _optional, _report
from ._call_types import (
    CANCELLED,
    ERROR,
    RETURNED,
    Args,
    Call,
    CallAdapter,
    Function,
    OuterCall,
    PlainCall,
    Stopping,
    Task,
    code_of,
    nowhere,
)
from ._real import Real, is_main_thread, thread_name

#: False while no session is attached: `execute` then only invokes.
attached = False
#: Set by `_spool` users of this module; None while nothing is recorded.
writer: Any = None
#: The decision where to stop, set by `_stops`; None while nothing can stop.
decide: Callable[[Call, str], Any] | None = None


#: Arguments are let go of once they are recorded: nobody is there, or comes later, who could look at them.
lets_go = False

stopping = Stopping()
#: Blocks one task: `_holds.hold` and `_holds.ahold`.
hold: Callable[[Call, Any], Any] | None = None
ahold: Callable[[Call, Any], Awaitable[Any]] | None = None
#: Tells the session that a task appeared, changed its name or ended.
task_changed: Callable[[Task, str], None] | None = None

_current: ContextVar[Call | None] = ContextVar("toolbreak_call", default=None)
#: Up to 3.11 a collection in the middle of `set` may run recorded functions, which set it, too: that ends the process.
set_current: Callable[[Call | None], object] = (
    _current.set
    if sys.version_info >= (3, 12) or _optional.set_variable is None
    else partial(_optional.set_variable, _current)
)
_numbers = itertools.count(1)


# ---------------------------------------------------------------- functions

_functions: dict[tuple[Any, ...], Function] = {}
_real_paths: dict[str, str] = {}


def real_path(path: str) -> str:
    known = _real_paths.get(path)
    if known is None:
        known = _real_paths[path] = os.path.realpath(path)
    return known


def function(
    kind: str,
    name: str,
    *,
    qualname: str = "",
    module: str = "",
    path: str | None = None,
    line: int = 0,
    end_line: int = 0,
) -> Function:
    """The function of this key. `line` is that of its `def`; lines count from 1, 0 where there is none."""
    key = (kind, name, qualname, module, path, line)
    found = _functions.get(key)
    if found is None:
        made = Function(
            len(_functions) + 1,
            kind,
            name,
            qualname or name,
            module,
            real_path(path) if path else None,
            line,
            end_line or line,
        )
        found = _functions.setdefault(key, made)
        if found is made:
            made.id = next(_function_ids)
            if writer is not None:
                _report.guard(writer.function, made)
            if function_known is not None:
                _report.guard(function_known, made)
    return found


_function_ids = itertools.count(1)
#: Tells `_stops` that a name appeared: a breakpoint may bind to it.
function_known: Callable[[Function], None] | None = None


def function_of(kind: str, target: Any, *, name: str = "") -> Function:
    """The function behind a callable, with its source lines where it has any."""
    code = code_of(target)
    label = name or getattr(target, "__name__", "") or type(target).__name__
    qualname = getattr(target, "__qualname__", "") or label
    module = getattr(target, "__module__", "") or ""
    if code is None:
        return function(kind, label, qualname=qualname, module=module)
    last = code.co_firstlineno
    for entry in code.co_lines():
        if entry[2] is not None and entry[2] > last:
            last = entry[2]
    from . import _sources

    return function(
        kind,
        label,
        qualname=qualname,
        module=module,
        path=code.co_filename,
        line=_sources.def_line(code),
        end_line=last,
    )


def functions() -> list[Function]:
    return list(_functions.values())


# ---------------------------------------------------------------- tasks


class _Root:
    """Stands above the root calls of one thread."""

    __slots__ = ("busy", "segment", "task")

    def __init__(self, task: Task) -> None:
        self.task = task
        self.busy: list[Call] | None = None
        #: The spool file that this thread wrote to last, as `_quick` knows it: it may be another recording's by now.
        self.segment: Any = nowhere

    def __del__(self) -> None:
        """Its thread is gone."""
        # It has none where compiled code looked where the slots of this class are.
        task = getattr(self, "task", None)
        if task is not None and not sys.is_finalizing() and _tasks.get(task.id) is task:
            del _tasks[task.id]
            if task_changed is not None:
                _report.guard(task_changed, task, "exited")


_task_ids = itertools.count(1)
_tasks: dict[int, Task] = {}
_idle: dict[tuple[int, str], list[Task]] = {}
_roots = threading.local()


def process_name() -> str:
    """What a person calls this process: the script's name, or the child process's own name."""
    mp = sys.modules.get("multiprocessing.process")
    if mp is not None and getattr(mp, "parent_process", lambda: None)() is not None:
        return str(mp.current_process().name)
    argv = getattr(sys, "orig_argv", None) or sys.argv or ["python"]
    first = sys.argv[0] if getattr(sys, "argv", None) and sys.argv[0] not in ("", "-c", "-m") else ""
    if first:
        base = os.path.basename(first)
        return os.path.basename(os.path.dirname(first)) if base == "__main__.py" else base
    return str(argv[argv.index("-m") + 1]) if "-m" in argv[:-1] else "python"


def new_task(name: str, parent: Task | None) -> Task:
    task = Task(next(_task_ids), name, parent)
    _announce(task)
    return task


def _announce(task: Task) -> None:
    _tasks[task.id] = task
    if writer is not None:
        _report.guard(writer.task, task)
    if task_changed is not None:
        _report.guard(task_changed, task, "started")


def root_of_thread() -> _Root:
    root = getattr(_roots, "root", None)
    if root is None:
        task = Task(next(_task_ids), process_name() if is_main_thread() else thread_name(), None)
        root = _roots.root = _Root(task)
        try:
            _announce(task)
        except BaseException:
            _announce(task)
            raise
    return root


def _rename(task: Task, name: str) -> None:
    task.name = name
    task.named = True
    if writer is not None and hasattr(writer, "rename"):
        _report.guard(writer.rename, task)
    if task_changed is not None:
        _report.guard(task_changed, task, "started")


def side_task(parent: Task, name: str) -> Task:
    """A task for a call whose sibling is in flight; one that ended is used again under the same name."""
    idle = _idle.get((parent.id, name))
    if idle:
        try:
            task = idle.pop()
        except IndexError:
            return new_task(f"{parent.name} › {name}", parent)
        task.gone = False
        _tasks[task.id] = task
        if task_changed is not None:
            _report.guard(task_changed, task, "started")
        return task
    return new_task(f"{parent.name} › {name}", parent)


#: Names of asyncio tasks that lanes have.
_given: set[str] = set()
#: A server may name one task for each request: lanes beyond so many have the names of functions, which come again.
_GIVEN_NAMES = 256
_GIVEN_LENGTH = 80


def _task_name() -> str | None:
    """
    The name that the app gave to the asyncio task that runs this. Nothing where asyncio numbered it, where a library named it for a function inside a
    function, and where its class is the app's own, whose code is not asked.
    """
    tasks = sys.modules.get("asyncio.tasks")
    try:
        now = tasks.current_task() if tasks is not None else None
    except (RuntimeError, AttributeError):
        # No loop runs here, or the module is being imported still.
        return None
    if now is None or type(now) is not tasks.Task:  # type: ignore[union-attr]
        return None
    name = str(now.get_name())
    if name in _given:
        return name
    numbered = name.startswith("Task-") and name[5:].isdecimal()
    odd = len(name) > _GIVEN_LENGTH or "<locals>" in name or " › " in name or not name.isprintable() or not name.strip()
    if numbered or odd or len(_given) >= _GIVEN_NAMES:
        return None
    _given.add(name)
    return name


def leave_side_task(task: Task) -> None:
    """The counterpart of `side_task` for a task that no call was counted on."""
    _retire(task)


def tasks() -> list[Task]:
    """Without those whose end is being told: in a list that is made now and read after it, they would come back for good."""
    return [task for task in list(_tasks.values()) if not task.gone]


def current() -> Call | None:
    """The call this code runs in."""
    return _current.get()


# ---------------------------------------------------------------- the way of a call


def begin(
    function: Function,
    args: Args,
    *,
    adapter: CallAdapter | None = None,
    state: Any = None,
    state_before: Any = None,
    attributes: dict[str, Any] | None = None,
    parent: Call | None = None,
) -> Call:
    """Makes a call and makes it the current one. `parent` only where the context does not know it."""
    back = _current.get()
    above = parent if parent is not None else back
    while above is not None and above.ended:
        above = above.parent
    call = (OuterCall if function.kind == "workflow" else Call)(function, args, above, next(_numbers))
    if adapter is not None:
        call.adapter = adapter
    if state is not None:
        call.state = state
    if state_before is not None:
        call.state_before = state_before
    if attributes:
        call.attributes = attributes
    owner: Any = above if above is not None else root_of_thread()
    try:
        call.back = back
        task: Task = owner.task
        if not owner.busy:
            owner.busy = [call]
        else:
            task = side_task(task, _task_name() or function.name)
        call.task = task
        task.calls += 1
        task.innermost = call
        call.owner = owner
        if above is None and function.kind == "workflow" and not task.named:
            _rename(task, function.name)
        set_current(call)
        call.started_ns = Real.monotonic_ns()
        if writer is not None:
            try:
                if state is None:
                    writer.start(call)
                else:
                    writer.started_in(call, state)
            except Exception as error:
                _report.failure(error)
    except BaseException:
        lose(call)
        _retire_idle(owner.task)
        raise
    return call


def end(call: Call, status: int) -> None:
    """Ends a call once: its task is free again, its parent is current again."""
    if not call.ended:
        # `_leave`, in one frame less.
        task = call.task
        above = call.parent
        innermost = above if above is not None and above.task is task else None
        call.ended = True
        call.boundary = ""
        task.calls -= 1
        task.innermost = innermost
        # Compiled code writes the end and notes it before whatever a signal handler raises is seen.
        _close(call, status, writer is not None and call.recorded != 2)


def _leave(call: Call) -> None:
    task = call.task
    above = call.parent
    innermost = above if above is not None and above.task is task else None
    call.ended = True
    call.boundary = ""
    task.calls -= 1
    task.innermost = innermost


def _close(call: Call, status: int, told: bool) -> None:
    _release_slot(call)
    if told:
        try:
            if status == RETURNED and call.state is not None:
                writer.ended_in(call, call.state)
            else:
                writer.end(call, status)
        except Exception as error:
            _report.failure(error)
    call.frame = None
    if call.task.parent is not None:
        _retire(call.task)


def lose(call: Call) -> None:
    """Ends a call that something of the app's cut short in the middle of our steps, and whatever of its end was done already."""
    if call.owner is None:
        return
    try:
        _lose(call)
    except BaseException:
        _lose(call)
        raise


def _lose(call: Call) -> None:
    if not call.ended:
        _leave(call)
    if writer is not None and call.recorded == 0 and call.started_ns:
        _report.guard(writer.start_lost, call)
    _close(call, CANCELLED, writer is not None and call.recorded == 1)


def _retire(task: Task) -> None:
    """A side task without calls waits under its name for the next of its kind."""
    if task.calls > 0 or task.parent is None or _tasks.get(task.id) is not task:
        return
    task.gone = True
    # Told before it is gone from here, since whoever was cut short comes again as long as it is not.
    if task_changed is not None:
        _report.guard(task_changed, task, "exited")
    if _tasks.pop(task.id, None) is None:
        return
    # Last: whoever takes it from there tells that it started.
    name = task.name.rpartition(" › ")[2]
    _idle.setdefault((task.parent.id, name), []).append(task)


def _retire_idle(parent: Task) -> None:
    """Side tasks of this one that a call was about to get."""
    for task in list(_tasks.values()):
        if task.parent is parent:
            _retire(task)


def undo(back: Call | None) -> None:
    """Takes back a call that had just begun when something of the app's was raised; `back` was current before."""
    made = _current.get()
    if made is not None and made is not back and not made.quiet:
        lose(made)
    set_current(back)


def _release_slot(call: Call) -> None:
    busy = call.owner.busy
    if busy is not None:
        try:
            busy.remove(call)
        except ValueError:
            pass
    now = _current.get()
    if now is not None and now is not call and now.frame is not None:
        _end_inside(call, now)
        now = _current.get()
    # An expression that ran for it, and was left by a signal handler's exception, may still stand in for it.
    if now is call or (now is not None and now.quiet and now.parent is call):
        # Not `reset`: a generator may end in another context than it began in.
        back = call.back
        while back is not None and back.ended:
            back = back.parent
        set_current(back)
    call.back = None
    if type(call) is PlainCall:
        call.token = None


#: Flags of the code of generators, coroutines and asynchronous generators.
_WAITS = 0x20 | 0x80 | 0x200


def _end_inside(call: Call, now: Call) -> None:
    """Functions inside a call that ends, for whose own end the stack had no room: the newest of them is current still."""
    inside: list[Call] = []
    each: Call | None = now
    while each is not call:
        # What waits for something may go on later, in whichever order.
        if each is None or each.frame is None or each.frame.f_code.co_flags & _WAITS:
            return
        inside.append(each)
        each = each.parent
    for each in inside:
        error, each.raised = each.raised, None
        if error is None:
            lose(each)
        elif not each.ended:
            each.error = error
            end(each, ERROR)
        each.let_go()


def suspend(call: Call) -> None:
    """A generator or stream gave a value and waits: its call is not in flight, and what follows is not inside it."""
    if not call.suspended and not call.ended:
        _release_slot(call)
        task, above = call.task, call.parent
        if task.innermost is call:
            task.innermost = above if above is not None and above.task is task else None
        call.suspended = True


def resume(call: Call) -> None:
    """The counterpart of `suspend`."""
    if call.suspended and not call.ended:
        back = _current.get()
        owner = call.owner
        owner.busy = [*(owner.busy or ()), call]
        call.suspended = False
        call.back = back
        call.task.innermost = call
        set_current(call)


def is_quiet() -> bool:
    """Whether this code runs for the debugger itself: a condition, an evaluation, a value's `repr`."""
    call = _current.get()
    return call is not None and call.quiet


class Quiet:
    """`with Quiet(call):` nothing inside is a call, nothing stops. `call` is what the code sees as its own."""

    def __init__(self, call: Call | None = None) -> None:
        self._call = call

    def __enter__(self) -> None:
        self._back = _current.get()
        stand_in = Call(_QUIET, {}, self._call, 0)
        stand_in.quiet = True
        try:
            set_current(stand_in)
        except BaseException:
            set_current(self._back)
            raise

    def __exit__(self, *exc: object) -> None:
        set_current(self._back)


def quiet_call() -> Call:
    """A stand-in under which nothing is a call, for code that sets it by itself."""
    made = Call(_QUIET, {}, None, 0)
    made.quiet = True
    return made


_QUIET = Function(0, "function", "evaluation", "evaluation", "", None, 0, 0)


def event(name: str, call: Call | None, data: dict[str, Any]) -> None:
    if writer is not None:
        _report.guard(writer.event, name, call, data)


def forked() -> None:
    """In a forked child: no call of the parent is in flight here, numbers start anew with the child's own recording."""
    global _numbers, _task_ids
    _numbers = itertools.count(1)
    _task_ids = itertools.count(1)
    call = _current.get()
    while call is not None:
        call.ended = True  # It goes on in the parent process; here its end is not ours to tell.
        if type(call) is PlainCall:
            call.token = None
        call = call.parent
    _tasks.clear()
    _idle.clear()
    _given.clear()
    if hasattr(_roots, "root"):
        del _roots.root
    set_current(None)


def forget_recording() -> None:
    """A new session records into files of its own, with every name anew."""
    global writer
    writer = None
