"""The one way of a call: enter, run, leave or fail, with a stop at each boundary where one is wanted.

Frameworks and guards come here; what a call costs is decided here and in `_calls`. Whatever goes wrong on our side is reported once
and the app's own code runs as if we were not there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from types import FunctionType, MethodType
from typing import Any

from . import _calls, _errors, _loops, _report, _static, _steps
from ._call_types import (
    AGAIN,
    CANCELLED,
    ERROR,
    INTERRUPTED,
    RAISE,
    RETURN,
    RETURNED,
    RUN,
    SKIP,
    SKIPPED,
    Args,
    Call,
    CallAdapter,
    Function,
    Stop,
)

Negotiation = Generator[Any, Any, int]


class Cancelled(BaseException):
    """Raised in a call that a person cancelled. Not an Exception, so that no handler takes it for a failure."""

    #: As people read it in a traceback, and where a parent process finds it again that gets it from a pool's worker.
    __module__ = "toolbreak"
    __toolbreak_cancelled__ = True


def cancelled(call: Call) -> BaseException:
    """What a cancelled call raises: CancelledError in async code, unless a task group would take that for a child that may well end so."""
    _calls.event("cancelled", call, {})
    text = f"{call.function.shown} was cancelled in the debugger"
    loop = _loops.running()
    if loop is None or _report.guard(_has_group, loop):
        return Cancelled(text)
    import asyncio

    error = asyncio.CancelledError(text)
    error.__toolbreak_cancelled__ = True  # type: ignore[attr-defined]  # Told from the app's own cancels by this.
    return error


def _has_group(loop: Any) -> bool:
    """Whether a task group has children now. The cancelled task may be one, or may be awaited by one: its end is seen by all of them."""
    import asyncio

    for task in asyncio.all_tasks(loop):
        for callback in getattr(task, "_callbacks", None) or ():
            found = callback[0]
            if type(found) is MethodType:
                found = found.__func__
            # Nothing else is a task group's; to ask an object of the app for its module may run code of the app.
            module = found.__module__ or "" if type(found) is FunctionType else ""
            if module == "asyncio.taskgroups" or module.startswith("anyio."):
                return True
    return False


def is_cancel(error: BaseException) -> bool:
    """Whether a person's cancel raised this."""
    return getattr(error, "__toolbreak_cancelled__", False) is True


def _before(call: Call, stop: Any) -> Negotiation:
    while True:
        call.boundary = stop.boundary
        release = yield stop
        action = release.action
        if action == "cancel":
            raise cancelled(call)
        if stop.boundary == "after":  # Skipped: the result stands, the call did not run.
            if action in ("again", "restart"):
                call.skipped = False
                call.result = None
                if action == "again":
                    break
                stop = Stop("before", "restart")
                continue
            _steps.released(call, release)
            call.boundary = ""
            return SKIP
        if action == "skip":
            call.result = release.value
            call.skipped = True
            _calls.event("skipped", call, {"client": release.client})
            stop = Stop("after", "goto")
            continue
        if action == "restart":
            stop = Stop("before", "restart")
            continue
        break
    _steps.released(call, release)
    call.boundary = ""
    return RUN


def _after(call: Call, stop: Any) -> Negotiation:
    while True:
        call.boundary = stop.boundary
        release = yield stop
        action = release.action
        if action == "cancel":
            raise cancelled(call)
        if action in ("again", "restart"):
            call.forced = "go" if action == "again" else "restart"
            call.result = None
            call.error = None
            call.skipped = False
            call.boundary = ""
            _calls.event("again", call, {"client": release.client})
            _steps.released(call, release)
            return AGAIN
        if action == "skip":
            was_error = stop.boundary == "error"
            call.result = release.value
            call.error = None
            call.skipped = True
            _calls.event("skipped", call, {"client": release.client})
            if was_error:
                stop = Stop("after", "goto")
                continue
        _steps.released(call, release)
        call.boundary = ""
        return RAISE if call.error is not None else RETURN


def _drive(call: Call, negotiation: Negotiation) -> int:
    """Holds this thread at each stop of a negotiation."""
    assert _calls.hold is not None
    try:
        stop = next(negotiation)
        while True:
            stop = negotiation.send(_calls.hold(call, stop))
    except StopIteration as done:
        return int(done.value)


async def _adrive(call: Call, negotiation: Negotiation) -> int:
    assert _calls.ahold is not None
    try:
        stop = next(negotiation)
        while True:
            stop = negotiation.send(await _calls.ahold(call, stop))
    except StopIteration as done:
        return int(done.value)


def _decide(call: Call, boundary: str) -> Any:
    if _calls.decide is None:
        return None
    try:
        return _calls.decide(call, boundary)
    except Exception as error:
        _report.failure(error)
        return None


def enter(call: Call, guard: Any = None) -> bool:
    """The `before` boundary. False: the call was skipped and has ended, `call.result` stands. Raises when it was cancelled."""
    try:
        stop = _calls.decide(call, "before") if _calls.decide is not None else None
    except Exception as error:
        _report.failure(error)
        stop = None
    if stop is None:
        return True
    if guard is not None:
        guard.held = True
    try:
        verdict = _drive(call, _before(call, stop))
    except BaseException as error:
        _abandon(call, error)
        raise
    return _entered(call, verdict)


async def aenter(call: Call, guard: Any = None) -> bool:
    """`enter` for async code."""
    stop = _decide(call, "before")
    if stop is None:
        return True
    if guard is not None:
        guard.held = True
    try:
        verdict = await _adrive(call, _before(call, stop))
    except BaseException as error:
        _abandon(call, error)
        raise
    return _entered(call, verdict)


def _entered(call: Call, verdict: int) -> bool:
    if verdict == SKIP:
        _calls.end(call, SKIPPED)
        return False
    return True


def _abandon(call: Call, error: BaseException) -> None:
    call.error = error
    _calls.end(call, CANCELLED)


def _returned(call: Call, result: Any) -> None:
    call.result = result
    if call.adapter is not None:
        try:
            call.adapter.returned(call, result)
        except Exception as error:
            _report.failure(error)


def leave(call: Call, result: Any) -> bool:
    """The `after` boundary. True: the call ended with `call.result`. False: run it again, from `enter` on."""
    if call.suspended:
        _calls.resume(call)
    call.result = result
    try:
        if call.adapter is not None:
            call.adapter.returned(call, result)
    except Exception as error:
        _report.failure(error)
    try:
        stop = _calls.decide(call, "after") if _calls.decide is not None else None
    except Exception as error:
        _report.failure(error)
        stop = None
    if stop is None:
        _calls.end(call, RETURNED)
        return True
    try:
        verdict = _drive(call, _after(call, stop))
    except BaseException as error:
        _abandon(call, error)
        raise
    return _left(call, verdict)


async def aleave(call: Call, result: Any) -> bool:
    """`leave` for async code."""
    if call.suspended:
        _calls.resume(call)
    _returned(call, result)
    stop = _decide(call, "after")
    if stop is None:
        _calls.end(call, RETURNED)
        return True
    try:
        verdict = await _adrive(call, _after(call, stop))
    except BaseException as error:
        _abandon(call, error)
        raise
    return _left(call, verdict)


def _left(call: Call, verdict: int) -> bool:
    if verdict == AGAIN:
        return False
    _calls.end(call, SKIPPED if call.skipped else RETURNED)
    return True


def fail(call: Call, error: BaseException) -> int:
    """The `error` boundary. RAISE: raise the error; RETURN: return `call.result` instead; AGAIN: run it again, from `enter` on."""
    if call.suspended:
        _calls.resume(call)
    call.error = error
    if _is_end(call, error):
        _calls.end(call, _end_of(call, error))
        return RAISE
    stop = _decide(call, "error")
    if stop is None:
        _calls.end(call, ERROR)
        return RAISE
    try:
        verdict = _drive(call, _after(call, stop))
    except BaseException as other:
        _abandon(call, other)
        raise
    return _failed(call, verdict)


async def afail(call: Call, error: BaseException) -> int:
    """`fail` for async code."""
    if call.suspended:
        _calls.resume(call)
    call.error = error
    if _is_end(call, error):
        _calls.end(call, _end_of(call, error))
        return RAISE
    stop = _decide(call, "error")
    if stop is None:
        _calls.end(call, ERROR)
        return RAISE
    try:
        verdict = await _adrive(call, _after(call, stop))
    except BaseException as other:
        _abandon(call, other)
        raise
    return _failed(call, verdict)


def _failed(call: Call, verdict: int) -> int:
    if verdict == RETURN:
        _calls.end(call, SKIPPED if call.skipped else RETURNED)
    elif verdict == RAISE:
        _calls.end(call, ERROR)
    return verdict


def _is_end(call: Call, error: BaseException) -> bool:
    """Not a failure: a closed generator, a cancelled task, our own cancel, the end of the program."""
    if type(error) in (StopIteration, StopAsyncIteration):
        # Out of anything else it is what a `next` without a default leaves.
        return call.function.name in ("__next__", "__anext__")
    if isinstance(error, Exception):
        return (
            getattr(type(error), "__toolbreak_control_flow__", False) is True or type(error).__name__ in _control_flow
        )
    if isinstance(error, _ENDS) or is_cancel(error):
        return True
    shape = _static.shape_of(type(error))
    if any(_static.short_name(base) in _END_NAMES for base in shape.bases):
        return True
    members = _errors.group_members(error, shape)
    return type(members) is tuple and all(_is_end(call, member) for member in members)


_ENDS = (GeneratorExit, KeyboardInterrupt, SystemExit)
#: Of asyncio, trio and gevent, and how pytest leaves a test; others that are no `Exception`, such as `pytest.fail`, are failures.
_END_NAMES = {"CancelledError", "Cancelled", "GreenletExit", "Skipped", "Exit"}


#: They wait for a person's answer.
_interrupts = ("GraphInterrupt", "NodeInterrupt")


def _end_of(call: Call, error: BaseException) -> int:
    """Status of a call that ends without a failure. What the framework brings on as an exception is what the call gave, where it gave something."""
    name = type(error).__name__
    args = _static.get_args(error)
    given = args[0] if type(args) is tuple and args else None
    if name in _interrupts:
        call.error, call.result = None, _asked(given)
        return INTERRUPTED
    if name == "ParentCommand" and call.function.kind in ("node", "workflow"):
        call.error, call.result = None, given
        return RETURNED
    return CANCELLED


def _asked(given: Any) -> Any:
    """What interrupts ask a person: of one its value, of several a list."""
    several = given if type(given) in (tuple, list) else ()
    values = [_static.read_field(interrupt, "value") for interrupt in several]
    values = [value for value in values if value is not _static.MISSING]
    return values[0] if len(values) == 1 else values or None


#: Names of exception classes that frameworks use as control flow.
_control_flow = {
    "GraphInterrupt",
    "GraphBubbleUp",
    "NodeInterrupt",
    "ParentCommand",
}


def handed_over(call: Call) -> Any:
    """The result of a call that is over. Contexts of tasks that began in it keep the call, and must not keep what it worked on."""
    result = call.result
    call.args = {}
    call.given = ()
    call.result = call.error = call.seen_error = None
    call.state = call.state_before = call.changes = None
    return result


def execute(
    function: Function,
    args: Args,
    invoke: Callable[[Args], Any],
    *,
    adapter: CallAdapter | None = None,
    state: Any = None,
    state_before: Any = None,
    attributes: dict[str, Any] | None = None,
    pending: Any = None,
    started: Callable[[Call], None] | None = None,
) -> Any:
    """Runs `invoke(args)` as a call. `pending` is the user function it ends in (see `Call.expect`); `started` sees the call first.

    Raises what `invoke` raises, and what a cancel raises. The args given to `invoke` are `call.args`, maybe edited.
    """
    if not _calls.attached or _calls.is_quiet():
        return invoke(args)
    call = None
    try:
        call = _calls.begin(
            function, args, adapter=adapter, state=state, state_before=state_before, attributes=attributes
        )
        if started is not None:
            started(call)
    except BaseException as error:
        if call is not None:
            _calls.lose(call)
        if _report.is_the_apps(error):
            raise
        _report.failure(error)
        return invoke(args)
    try:
        while enter(call):
            if pending is not None:
                call.expect(pending)
            try:
                result = invoke(call.args)
            except BaseException as error:
                verdict = fail(call, error)
                if verdict == RAISE:
                    raise
                if verdict == RETURN:
                    return handed_over(call)
                continue
            if leave(call, result):
                del result
                return handed_over(call)
            del result
        return handed_over(call)
    except BaseException:
        # Most have ended. Not those in which a signal handler raised between our own steps.
        _calls.lose(call)
        raise


async def aexecute(
    function: Function,
    args: Args,
    invoke: Callable[[Args], Awaitable[Any]],
    *,
    adapter: CallAdapter | None = None,
    state: Any = None,
    state_before: Any = None,
    attributes: dict[str, Any] | None = None,
    pending: Any = None,
    started: Callable[[Call], None] | None = None,
) -> Any:
    """`execute` for async code: `await invoke(args)`."""
    if not _calls.attached or _calls.is_quiet():
        return await invoke(args)
    call = None
    try:
        call = _calls.begin(
            function, args, adapter=adapter, state=state, state_before=state_before, attributes=attributes
        )
        if started is not None:
            started(call)
    except BaseException as error:
        if call is not None:
            _calls.lose(call)
        if _report.is_the_apps(error):
            raise
        _report.failure(error)
        return await invoke(args)
    try:
        while await aenter(call):
            if pending is not None:
                call.expect(pending)
            try:
                result = await invoke(call.args)
            except BaseException as error:
                verdict = await afail(call, error)
                if verdict == RAISE:
                    raise
                if verdict == RETURN:
                    return handed_over(call)
                continue
            if await aleave(call, result):
                del result
                return handed_over(call)
            del result
        return handed_over(call)
    except BaseException:
        # Most have ended. Not those in which a signal handler raised between our own steps.
        _calls.lose(call)
        raise
