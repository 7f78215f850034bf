"""Answers the adapter's requests, as `protocol/control.ts` lists them. Runs on the control thread; what runs code of the app is handed on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _calls, _exceptions, _frames, _holds, _report, _steps
from ._holds import Hold, Release, TooLong

_LINE = "The call is in the middle of its body and cannot be {}; step out to its end first."
_LAST = "The program ends with this exception; it can only go on to its end."


class UserError(Exception):
    """A sentence for the person."""


def handle(session: Any, seq: int, message: dict[str, Any]) -> None:
    """Answers one request, now or when its job is done; never raises."""
    name = message.get("request")
    try:
        if name == "release" and message.get("action") == "skip" and message.get("result"):
            _start_job(session, seq, message, _skip_with_result)
            return
        if name in _JOBS:
            _start_job(session, seq, message, _JOBS[name])
            return
        handler = _HANDLERS.get(name)  # type: ignore[arg-type]
        if handler is None:
            raise UserError(f"This Toolbreak runtime does not know the request {name!r}.")
        body = handler(session, message)
    except Exception as error:
        _fail(session, seq, error)
        return
    if body is not None:
        session.send({"re": seq, "ok": True, "body": body})
    if name == "detach":
        session.leave()


def _fail(session: Any, seq: int, error: BaseException) -> None:
    user = (
        isinstance(error, UserError)
        or getattr(type(error), "user", False) is True
        or type(error).__name__ in ("Trouble", "UserError")
    )
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if isinstance(error, TooLong):
        user, text = True, f"The evaluation was ended: cancelled, or longer than {_holds.evaluation_seconds:g} s."
    elif not user:
        _report.failure(error) if not isinstance(error, (KeyError, ValueError, LookupError)) else None
        text = text or type(error).__name__
    session.send(
        {"re": seq, "ok": False, "error": {"message": text, "user": user or isinstance(error, (KeyError, ValueError))}}
    )


def _hold(message: dict[str, Any]) -> Hold:
    hold = _holds.holds.get(message.get("hold", -1))
    if hold is None:
        raise UserError("This task is not held any more.")
    return hold


def _inspector(hold: Hold) -> Any:
    if hold.inspector is None:
        from ._inspect import Inspector

        hold.inspector = Inspector(hold)
    return hold.inspector


# ---------------------------------------------------------------- jobs: what may run code of the app


def _start_job(session: Any, seq: int, message: dict[str, Any], work: Callable[[Any, dict[str, Any]], Any]) -> None:
    hold = _hold(message) if message.get("hold") is not None else _holds.Outside()

    def run() -> None:
        try:
            body = work(_inspector(hold), message)
        except BaseException as error:
            session.jobs.pop(seq, None)
            _fail(session, seq, error)
            return
        session.jobs.pop(seq, None)
        if callable(body):
            session.answer_before(seq)
            body()
        else:
            session.send({"re": seq, "ok": True, "body": body})

    session.jobs[seq] = hold
    hold.ask(run)


_JOBS: dict[Any, Callable[[Any, dict[str, Any]], Any]] = {
    "scopes": lambda i, m: {"scopes": i.scopes(m["frame"])},
    "variables": lambda i, m: {"variables": i.variables(m["ref"], m.get("filter"), m.get("start"), m.get("count"))},
    "setVariable": lambda i, m: i.set_variable(m["ref"], m["name"], m["value"], m.get("client", "")),
    "setExpression": lambda i, m: i.set_expression(m["frame"], m["expression"], m["value"], m.get("client", "")),
    "evaluate": lambda i, m: i.evaluate(m["expression"], m.get("context", "repl"), m.get("frame"), m.get("client", "")),
    "completions": lambda i, m: {"targets": i.completions(m["text"], m["column"], m.get("frame"))},
    "location": lambda i, m: i.location(m["location"]),
    "dataInfo": lambda i, m: i.data_info(m["ref"], m["name"]),
}


# ---------------------------------------------------------------- the rest


def _configure(session: Any, m: dict[str, Any]) -> Any:
    return {"breakpoints": session.configure(m["configuration"])}


def _pause(session: Any, m: dict[str, Any]) -> Any:
    _steps.pause(m.get("task"))
    return {}


def _release(session: Any, m: dict[str, Any]) -> Any:
    hold = _hold(m)
    release = Release(
        m.get("action", "continue"), m.get("step"), m.get("target"), m.get("client", ""), native=m.get("native")
    )
    if release.action != "continue" and hold.stop.uncaught:
        raise UserError(_LAST)
    _check_line(hold, release.action)
    session.answer_before(m["seq"])
    hold.release(release)
    return None


def _check_line(hold: Hold, action: str) -> None:
    """What a call in the middle of its body cannot take."""
    if hold.boundary != "line" or action == "continue":
        return
    if not hold.call.function.id:
        raise UserError("This line runs outside every call; there is nothing to skip, restart or cancel.")
    if action != "cancel":
        raise UserError(_LINE.format("skipped" if action == "skip" else "run again"))


def _set_result(hold: Hold, release: Release, text: str) -> None:
    """The result is an expression of the held call; it is evaluated where the call is, then the hold ends."""
    from ._conditions import Expression, describe

    try:
        expression = Expression(text)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"The result does not compile: {error.args[0]}.") from None
    try:
        value = hold.run(lambda: expression.evaluate(hold.call), _holds.evaluation_seconds)
        if hold.call.adapter is not None:
            value = hold.call.adapter.check_result(hold.call, value)
    except TimeoutError:
        raise UserError(f"The result took longer than {_holds.evaluation_seconds:g} s.") from None
    except Exception as error:
        raise UserError(f"The result could not be made: {describe(error)}.") from None
    release.value = value


def _skip_with_result(inspector: Any, m: dict[str, Any]) -> Any:
    hold = _hold(m)
    if hold.stop.uncaught:
        raise UserError(_LAST)
    _check_line(hold, "skip")
    release = Release("skip", m.get("step"), m.get("target"), m.get("client", ""))
    _set_result(hold, release, m["result"])
    return lambda: hold.release(release)


def _frames_of(session: Any, m: dict[str, Any]) -> Any:
    return {"frames": _frames.describe(_hold(m))}


def _cancel(session: Any, m: dict[str, Any]) -> Any:
    hold = session.jobs.pop(m.get("target"), None)
    if hold is not None:
        hold.cancel_running()
    return {}


def _exception(session: Any, m: dict[str, Any]) -> Any:
    hold = _hold(m)
    if hold.call.error is None:
        raise UserError("This task is not held on an exception.")
    return _exceptions.describe(hold.call.error, hold.stop.uncaught)


def _step_targets(session: Any, m: dict[str, Any]) -> Any:
    hold = _hold(m)
    call = hold.call
    targets: list[dict[str, Any]] = []
    if call.adapter is not None and hold.boundary == "before":
        for id, label, line in _report.guard(call.adapter.step_targets, call) or []:
            target: dict[str, Any] = {"id": id, "label": label}
            if line:
                target["line"] = line
            targets.append(target)
    return {"targets": targets}


def _tasks(session: Any, m: dict[str, Any]) -> Any:
    found: list[dict[str, Any]] = []
    for task in _calls.tasks():
        entry: dict[str, Any] = {"id": task.id, "name": task.name, "where": _frames.where(task)}
        hold = task.hold
        if hold is not None:
            entry["hold"] = hold.id
        found.append(entry)
    return {"tasks": found}


def _names(session: Any, m: dict[str, Any]) -> Any:
    found: list[dict[str, Any]] = []
    for fn in _calls.functions():
        entry: dict[str, Any] = {"kind": fn.kind, "name": fn.name}
        if fn.path:
            entry.update(path=fn.path, line=fn.line)
        found.append(entry)
    return {"names": found}


def _sources(session: Any, m: dict[str, Any]) -> Any:
    from ._session import sources

    return {"sources": sources.list()}


def _source(session: Any, m: dict[str, Any]) -> Any:
    from ._session import sources

    return sources.read(m["id"])


def _native_pass(session: Any, m: dict[str, Any]) -> Any:
    from . import _gates

    _gates.let_pass(m["id"])
    return {}


def _native_look(session: Any, m: dict[str, Any]) -> Any:
    from . import _gates

    return _gates.look(m["call"], m["thread"])


def _native_end_look(session: Any, m: dict[str, Any]) -> Any:
    from . import _gates

    _gates.end_look(m["hold"])
    return {}


_HANDLERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "configure": _configure,
    "pause": _pause,
    "release": _release,
    "frames": _frames_of,
    "cancel": _cancel,
    "exception": _exception,
    "stepTargets": _step_targets,
    "tasks": _tasks,
    "names": _names,
    "sources": _sources,
    "source": _source,
    "detach": lambda session, m: {},
    "nativePass": _native_pass,
    "nativeLook": _native_look,
    "nativeEndLook": _native_end_look,
    "ping": lambda session, m: {},
}
