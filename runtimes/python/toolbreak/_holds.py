"""Holds: one task stopped at a boundary, and what the debugger asks of it meanwhile.

A synchronous call parks its own thread, which also runs evaluations, so that thread-locals are right. An asynchronous call awaits, and
evaluations run in a thread of their own with the held context.
"""

from __future__ import annotations

import contextvars
import functools
import itertools
import sys
import threading
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Any

from . import _calls, _lines, _loops, _report, _standard, _steps, _stops, _uncaught
from ._call_types import Call, Stop, Task
from ._calls import Quiet
from ._own_thread import OwnThread
from ._real import Real, thread_name

#: Sends an event to the adapter; None: nobody there, nothing holds.
send: Callable[[dict[str, Any]], None] | None = None
#: The same for what may wait for the next event.
put: Callable[[dict[str, Any]], None] | None = None
evaluation_seconds = 10.0

_ids = itertools.count(1)
holds: dict[int, Hold] = {}


class Release:
    """How a hold ends. `value` is the result given to a skip."""

    __slots__ = ("action", "client", "native", "step", "target", "value", "why")

    def __init__(
        self,
        action: str = "continue",
        step: str | None = None,
        target: int | None = None,
        client: str = "",
        why: str = "release",
        native: dict[str, Any] | None = None,
    ) -> None:
        self.action = action
        self.step = step
        self.target = target
        self.client = client
        self.why = why
        self.native = native
        self.value: Any = None


#: Seconds after which a held thread looks up: a signal that came just before it began to wait, or to another thread, would wait with it.
_LOOK_UP = 1.0


class TooLong(BaseException):
    """Ends an evaluation that was cancelled or took too long."""


class Job:
    """One evaluation: `run()` gives the body of the answer, `done` gets (body, error)."""

    def __init__(
        self, run: Callable[[], Any], done: Callable[[Any, BaseException | None], None], seconds: float
    ) -> None:
        self._run = run
        self._done = done
        self.seconds = seconds
        self._lock = threading.Lock()
        self._thread = 0
        self._finished = False
        self.cancelled = False
        self.body: Any = None
        self.failure: BaseException | None = None
        self._ready = threading.Event()

    def wait(self, seconds: float) -> bool:
        return self._ready.wait(seconds)

    def run(self) -> None:
        with self._lock:
            if self._finished:
                return
            self._thread = threading.get_ident()
        body: Any = None
        failure: BaseException | None = None
        try:
            try:
                body = self._run()
            finally:
                with self._lock:
                    self._thread = 0
        except KeyboardInterrupt:
            self._finish(None, TooLong())
            raise
        except BaseException as error:
            failure = error
        self._finish(body, failure)

    def _finish(self, body: Any, failure: BaseException | None) -> None:
        with self._lock:
            if self._finished:
                return
            self._finished = True
            self.body, self.failure = body, failure
        self._ready.set()
        try:
            self._done(body, failure)
        except Exception as error:
            _report.failure(error)

    def stop(self) -> None:
        """Ends it from outside: raises in its thread where that can be done, and answers at once."""
        with self._lock:
            thread = self._thread
            self.cancelled = True
            if thread:
                ctypes = _standard.module("ctypes")

                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLong))
                self._thread = 0
        self._finish(None, TooLong())


class Hold:
    """A held task. The frames, the inspector and the answers to the adapter hang on it."""

    def __init__(self, call: Call, stop: Stop) -> None:
        self.id = next(_ids)
        self.call = call
        self.task = call.task
        self.stop = stop
        self.boundary = stop.boundary
        self.thread = threading.get_ident()
        self.native_thread = threading.get_native_id() if stop.boundary == "line" else 0
        self.context = contextvars.copy_context()
        #: Filled by `_frames`: the frame list, innermost first.
        self.frames: list[Any] = []
        self.inspector: Any = None
        self.is_async = False
        self.text = stop.text
        self._condition = threading.Condition(threading.Lock())
        self._jobs: deque[Job] = deque()
        self._release: Release | None = None
        self._loop: Any = None
        self._future: Any = None
        self.counts = False
        self.evaluation_seconds = evaluation_seconds
        self._requests: deque[Callable[[], None]] = deque()
        self._working = False
        self._running: Job | None = None

    # ------------------------------------------------------------ for the inspector

    def ask(self, work: Callable[[], None]) -> None:
        """Runs requests of this hold one after the other, beside the control thread, which must stay free."""
        with self._condition:
            self._requests.append(work)
            if self._working:
                return
            self._working = True
        OwnThread(self._answer).start()

    def _answer(self) -> None:
        while True:
            with self._condition:
                if not self._requests:
                    self._working = False
                    return
                work = self._requests.popleft()
            with Quiet(self.call):
                _report.guard(work)

    def run(self, work: Callable[[], Any], seconds: float) -> Any:
        """Runs it in the held task. Raises TimeoutError after `seconds`, TooLong when it was cancelled, else what `work` raises."""
        return self._wait_for(Job(work, lambda body, failure: None, seconds))

    def run_beside(self, work: Callable[[], Any], seconds: float) -> Any:
        """As `run`, but never in the held task's own thread, which must not be kept by what may not return."""
        return self._wait_for(Job(work, lambda body, failure: None, seconds), beside=True)

    def _wait_for(self, job: Job, beside: bool = False) -> Any:
        self._running = job
        try:
            self._submit_beside(job) if beside else self.submit(job)
            if not job.wait(job.seconds + 0.05):
                job.stop()
                raise TimeoutError()
            if job.failure is not None:
                if isinstance(job.failure, TooLong) and not job.cancelled:
                    raise TimeoutError()
                raise job.failure
            return job.body
        finally:
            self._running = None

    def cancel_running(self) -> None:
        job = self._running
        if job is not None:
            job.stop()

    def frame_of(self, frame: int) -> tuple[Any, Any]:
        for entry in self.frames:
            if entry.id == frame:
                return entry.call, entry.frame
        raise KeyError(frame)

    def edited(self, call: Call, text: str, client: str) -> None:
        call.edited = True
        said: dict[str, Any] = {"text": text, "client": client}
        if call is self.call:
            # What the call was given, and what it gave so far, is recorded already or not yet: here is what became of it.
            said["boundary"] = self.stop.boundary
            if self.stop.boundary == "after":
                said["result"] = call.result
            said["args"] = call.args
        _calls.event("edited", call, said)
        if _stops.log is not None:
            _stops.log("console", text, call.function.path, call.function.line)

    # ------------------------------------------------------------ from the control thread

    def release(self, release: Release) -> bool:
        """Ends the hold; the first one wins."""
        with self._condition:
            if self._release is not None:
                return False
            self._release = release
            self._condition.notify_all()
        _steps.is_released(self.task)
        # Now, not when its task wakes: another one that is released next may be quicker, and must not stop for this hold again.
        _causes.end(self)
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._wake)
            except RuntimeError:
                pass
        return True

    def _wake(self) -> None:
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    def submit(self, job: Job) -> None:
        """Runs a job in the held task's own thread, or beside it for asynchronous calls."""
        if self.is_async:
            self._submit_beside(job)
            return
        with self._condition:
            self._jobs.append(job)
            self._condition.notify_all()

    def _submit_beside(self, job: Job) -> None:
        context = self.context.copy()
        OwnThread(functools.partial(_run_beside, context, self.call, job)).start()

    # ------------------------------------------------------------ in the held task

    def wait(self) -> Release:
        deadline = Real.monotonic() + self.stop.seconds if self.stop.seconds is not None else None
        while True:
            job: Job | None = None
            with self._condition:
                if self._release is not None:
                    return self._release
                if self._jobs:
                    job = self._jobs.popleft()
                elif deadline is None:
                    self._condition.wait(_LOOK_UP)
                else:
                    left = deadline - Real.monotonic()
                    if left <= 0:
                        self._release = Release(why="deadline")
                        return self._release
                    self._condition.wait(left)
            if job is not None:
                with Quiet(self.call):
                    job.run()

    async def await_release(self) -> Release:
        self._loop = _loops.running()
        self._future = self._loop.create_future()
        with self._condition:
            if self._release is not None:
                # Released before it waits: it goes on behind those that were released earlier, not before them.
                self._loop.call_soon(self._wake)
        timer = (
            self._loop.call_later(self.stop.seconds, self.release, Release(why="deadline"))
            if self.stop.seconds is not None
            else None
        )
        try:
            await self._future
        finally:
            if timer is not None:
                timer.cancel()
        assert self._release is not None
        return self._release


def _run_beside(context: contextvars.Context, call: Call, job: Job) -> None:
    def inside() -> None:
        with Quiet(call):
            job.run()

    try:
        context.run(inside)
    except BaseException:
        pass  # The evaluation was ended; its answer is given.


class Outside(Hold):
    """Stands in for a hold where none is: evaluations see the main module, beside the running app."""

    def __init__(self) -> None:
        fn = _calls.function("function", _calls.process_name(), module="__main__")
        call = Call(fn, {}, None, 0)
        call.task = Task(0, fn.name, None)
        super().__init__(call, Stop("", ""))
        self.context = contextvars.Context()
        self.is_async = True


# ---------------------------------------------------------------- holding

_WORDS = {"before": "before {kind}", "after": "after {kind}", "error": "on error in {kind}"}


def describe(hold: Hold) -> str:
    """`Paused before tool`."""
    stop = hold.stop
    if stop.uncaught:
        return "Paused on uncaught exception"
    if stop.boundary == "line":
        return "Paused" if stop.reason == "pause" else f"Paused on {stop.reason}"
    kind = {"llm": "model call"}.get(hold.call.kind, hold.call.kind)
    words = _WORDS[stop.boundary].format(kind=kind)
    if stop.reason == "exception":
        return f"Paused on exception in {kind}"
    return f"Paused {words}"


def _start(call: Call, stop: Stop, is_async: bool) -> Hold:
    hold = Hold(call, stop)
    # First of all: with "hold": "all" no other task may slip past while this one's frames are read.
    _causes.begin(hold)
    try:
        _tell(hold, is_async, sys._getframe(2))
    except BaseException as error:
        # Ctrl-C, or another handler of the app: it may have been told already.
        if hold.id in holds:
            _report.guard(_end, hold, "cancelled")
        else:
            _causes.end(hold)
        _interrupted(error)
        raise
    finally:
        _causes.told(hold)
    return hold


def _interrupted(error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt):
        _uncaught.watch()  # What is printed of it has no lines of ours.


class _Causes:
    """With "hold": "all", the hold that stops the others is told before them, also when theirs are ready first."""

    def __init__(self) -> None:
        # A signal handler may hold a call while this thread is inside.
        self._lock = threading.RLock()
        self._untold: set[int] = set()
        self._waiting: list[Hold] = []

    def begin(self, hold: Hold) -> None:
        with self._lock:
            hold.counts = _steps.hold_began(hold.stop.reason)
            if hold.counts:
                self._untold.add(hold.id)

    def end(self, hold: Hold) -> None:
        """The hold stops the others no more."""
        with self._lock:
            if hold.counts:
                hold.counts = False
                _steps.hold_ended()

    def told(self, hold: Hold) -> None:
        with self._lock:
            self._untold.discard(hold.id)
            if not self._untold:
                waiting, self._waiting = self._waiting, []
                for each in waiting:
                    if each.id in holds:
                        _send_held(each)

    def tell(self, hold: Hold) -> None:
        with self._lock:
            if self._untold and hold.id not in self._untold:
                self._waiting.append(hold)
            else:
                _send_held(hold)


_causes = _Causes()


def _tell(hold: Hold, is_async: bool, frame: FrameType) -> None:
    from . import _frames

    call, stop = hold.call, hold.stop
    hold.is_async = is_async
    if not is_async:
        blocked = _report.guard(_blocked_loop)
        if blocked:
            hold.text = f"{hold.text}\n{blocked}".strip()
    hold.frames = _report.guard(_frames.build, hold, frame) or []
    call.task.hold = hold
    holds[hold.id] = hold
    said: dict[str, Any] = {"boundary": stop.boundary, "reason": stop.reason, "description": describe(hold)}
    if stop.boundary == "after":
        # The end of the call is recorded when it is released; who looks before wants to see what it gave.
        said["result"] = call.result
    if stop.boundary == "line":
        said.update(path=stop.path, line=stop.line, function=_frames.function_name(stop.frame.f_code))
    _calls.event("held", call, said)
    _causes.tell(hold)


def message(hold: Hold) -> dict[str, Any]:
    from . import _frames

    body: dict[str, Any] = {
        "id": hold.id,
        "task": hold.task.id,
        "taskName": hold.task.name,
        "call": hold.call.number,
        "boundary": hold.boundary,
        "reason": hold.stop.reason,
        "description": describe(hold),
        "breakpoints": hold.stop.breakpoints,
        "frames": _frames.describe(hold),
    }
    if hold.text:
        body["text"] = hold.text
    if hold.native_thread:
        body["thread"] = hold.native_thread
    return body


def _send_held(hold: Hold) -> None:
    if send is not None:
        send({"event": "held", "hold": message(hold)})


def _end(hold: Hold, why: str, client: str = "") -> None:
    holds.pop(hold.id, None)
    _steps.is_released(hold.task)
    if hold.task.hold is hold:
        hold.task.hold = None
    _causes.end(hold)
    inspector, hold.inspector = hold.inspector, None
    if inspector is not None and hasattr(inspector, "close"):
        _report.guard(inspector.close)
    hold.frames = []
    for job in list(hold._jobs):
        job.stop()
    _calls.event("resumed", hold.call, {"why": why, "client": client})
    # Who released it has an answer, and needs no word of its own for this.
    tell = put if why == "release" else send
    if send is not None and tell is not None:
        tell({"event": "resumed", "hold": hold.id, "task": hold.task.id, "why": why})


def hold(call: Call, stop: Stop) -> Release:
    """Parks this thread until the hold is released. Raises KeyboardInterrupt when Ctrl-C ends it."""
    if send is None:
        return Release()
    try:
        made = _start(call, stop, False)
    except Exception as error:
        _report.failure(error)
        return Release()
    pool: Any = None
    release: Release | None = None
    try:
        pool = _report.guard(_widen_pool)
        release = made.wait()
    except BaseException as error:
        _interrupted(error)
        raise
    finally:
        if pool is not None:
            _report.guard(_narrow_pool, pool)
        _report.guard(
            _end,
            made,
            release.why if release is not None else "cancelled",
            release.client if release is not None else "",
        )
    # Now that it counts as held no more: a table that comes from here on finds it running.
    _lines.went_on(sys._getframe())
    assert release is not None
    return release


async def ahold(call: Call, stop: Stop) -> Release:
    """Awaits the release; other tasks of the loop go on."""
    if send is None:
        return Release()
    if _loops.running() is None:
        return hold(call, stop)  # Another event loop than asyncio's.
    try:
        made = _start(call, stop, True)
    except Exception as error:
        _report.failure(error)
        return Release()
    release: Release | None = None
    try:
        release = await made.await_release()
    finally:
        _report.guard(
            _end,
            made,
            release.why if release is not None else "cancelled",
            release.client if release is not None else "",
        )
    # Now that it counts as held no more: a table that comes from here on finds it running.
    _lines.went_on(sys._getframe())
    assert release is not None
    return release


def release_all() -> None:
    """The debugger is gone: everything goes on, with its values as they are."""
    for each in list(holds.values()):
        each.release(Release())


def forked() -> None:
    """In a forked child: holds of the parent are the parent's."""
    global _causes
    holds.clear()
    _causes = _Causes()


# ---------------------------------------------------------------- what a hold blocks


def _blocked_loop() -> str:
    """Says what waits when a synchronous call is held on the event loop's own thread."""
    loop = _loops.running()
    if loop is None:
        return ""
    import asyncio

    try:
        mine = asyncio.current_task(loop)
    except RuntimeError:
        mine = None
    names = sorted(t.get_name() for t in asyncio.all_tasks(loop) if t is not mine)
    if not names:
        return "This call runs on the event loop's own thread: the loop waits while it is held."
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (
        f"This call runs on the event loop's own thread: the loop and its other tasks wait while it is held ({listed})."
    )


def _widen_pool() -> Any:
    """A held thread of asyncio's default pool must not starve the others: one more may start meanwhile."""
    if not thread_name().startswith("asyncio_"):
        return None
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_worker" and code.co_filename.endswith("thread.py"):
            reference = frame.f_locals.get("executor_reference")
            executor = reference() if reference is not None else None
            if executor is None or not hasattr(executor, "_max_workers"):
                return None
            executor._max_workers += 1
            if executor._work_queue.qsize():
                executor._adjust_thread_count()
            return executor
        frame = frame.f_back
    return None


def _narrow_pool(executor: Any) -> None:
    executor._max_workers -= 1
