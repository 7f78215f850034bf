"""Where a task stops: the breakpoint table in force, its conditions and hit counts, and exception filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _calls, _guard_state, _guards, _lines, _report, _sources, _static, _steps, _wants
from ._breakpoints import Dot, state
from ._call_types import Call, Function, Stop
from ._calls import real_path
from ._conditions import Expression, describe

_stopping = _calls.stopping
#: Sends a log line to the person: (category, text, path, line).
log: Callable[..., None] | None = None
#: Tells that states of breakpoints changed.
states_changed: Callable[[], None] | None = None

_dots: dict[int, Dot] = {}
_active: list[Dot] = []
filters: dict[str, Expression | None] = {}
_filter_problems: list[str] = []
just_my_code = True


def _attach(fn: Function) -> None:
    now = _stopping.generation  # Read first: a table that comes meanwhile is looked at with the next call.
    for boundary in ("before", "after", "error"):
        found = [
            dot
            for dot in _active
            if (boundary in dot.boundaries if dot.type != "data" else boundary == "after") and dot.fits(fn)
        ]
        setattr(fn, boundary, tuple(found) or None)
    fn.generation = now


def decide(call: Call, boundary: str) -> Stop | None:
    """Whether this call stops here. A call that nothing concerns costs a few attribute reads."""
    fn = call.function
    if fn.generation != _stopping.generation:
        _attach(fn)
    dots = fn.before if boundary == "before" else fn.after if boundary == "after" else fn.error
    if (
        dots is None
        and not _stopping.special
        and not _stopping.stop_byte[0]
        and not call.forced
        and (boundary != "error" or not filters)
    ):
        return None
    return _decide(call, boundary, dots)


def _decide(call: Call, boundary: str, dots: tuple[Dot, ...] | None) -> Stop | None:
    if boundary == "before" and call.forced:
        forced, call.forced = call.forced, ""
        return Stop("before", "restart") if forced == "restart" else None
    stop: Stop | None = None
    if dots:
        ids: list[int] = []
        kind = ""
        seconds: float | None = None
        for dot in dots:
            if _hits(dot, call, boundary):
                ids.append(dot.id)
                kind = (
                    kind
                    or {"source": "breakpoint", "function": "function breakpoint", "data": "data breakpoint"}[dot.type]
                )
                if dot.seconds is not None:
                    seconds = dot.seconds if seconds is None else min(seconds, dot.seconds)
        if ids:
            stop = Stop(boundary, kind, ids, seconds=seconds)
    if stop is None and boundary == "error" and filters:
        stop = _exception_stop(call)
    if stop is None:
        reason = _steps.reason(call, boundary)
        stop = Stop(boundary, reason) if reason else None
    if stop is not None:
        _steps.stopped(call.task, stop.reason)
    return stop


def _hits(dot: Dot, call: Call, boundary: str) -> bool:
    extra: dict[str, Any] | None = None
    if dot.type == "data":
        extra = _written(dot, call)
        if extra is None:
            return False
    if dot.condition is not None:
        try:
            if not dot.condition.evaluate(call, extra):
                return False
        except (Exception, SystemExit) as error:
            _report.let_through(error)
            _condition_failed(dot, call, error)
            return False
    if dot.id in call.counted:
        return True  # `before and after` counts one hit a call.
    if -dot.id in call.counted:
        return False
    dot.hits += 1
    passes = dot.hits > dot.ignore and (dot.hit is None or dot.hit(dot.hits))
    call.counted += (dot.id if passes else -dot.id,)
    if passes and dot.log is not None:
        text, recorded = dot.log.render(call, extra)
        _calls.event("log", call, {"text": recorded})
        if log is not None:
            log("console", text, call.function.path, call.function.line)
        call.counted = tuple(n for n in call.counted if n != dot.id) + (-dot.id,)
        return False
    return passes


def _written(dot: Dot, call: Call) -> dict[str, Any] | None:
    """`value` and `old` of the state path this node wrote; None when it did not. Fields are read and compared without code of the app."""
    from ._inspect._differences import diff, follow

    root = dot.path[0]
    if call.changes is not None:
        if root not in call.changes:
            return None
    elif call.state_before is None:
        return None
    new = follow(call.state, dot.path)
    if new is _static.MISSING and call.changes is not None:
        new = follow(call.changes, dot.path)
    old = follow(call.state_before, dot.path)
    if (len(dot.path) > 1 or call.changes is None) and not diff(old, new):
        return None
    return {"value": None if new is _static.MISSING else new, "old": None if old is _static.MISSING else old}


def _condition_failed(dot: Dot, call: Call, error: BaseException) -> None:
    if dot.failed:
        return
    dot.failed = f"Condition failed once: {describe(error)}. The breakpoint did not stop."
    if log is not None:
        log("important", dot.failed, call.function.path, call.function.line)
    if states_changed is not None:
        states_changed()


# ---------------------------------------------------------------- exceptions


def _exception_stop(call: Call) -> Stop | None:
    error = call.error
    if (
        error is None
        or call.seen_error is error
        or (error.__cause__ is not None and call.seen_error is error.__cause__)
    ):
        return None
    kinds: list[str] = []
    if call.kind == "tool":
        kinds.append("tool")
    if call.kind in ("llm", "http"):
        kinds.append("model")
    if type(error).__name__.endswith("ValidationError"):
        kinds.append("validation")
    for kind in kinds:
        if kind in filters and filter_passes(kind, call):
            _seen(call, error)
            return Stop("error", "exception", text=describe(error))
    return None


def filter_passes(kind: str, call: Call) -> bool:
    expression = filters[kind]
    if expression is None:
        return True
    try:
        return bool(expression.evaluate(call))
    except (Exception, SystemExit) as error:
        _report.let_through(error)
        sentence = f"The condition of the {kind} exception filter failed: {describe(error)}. It did not stop."
        if log is not None and sentence not in _filter_problems:
            _filter_problems.append(sentence)
            log("important", sentence, None, 0)
        return False


def _seen(call: Call | None, error: BaseException) -> None:
    while call is not None:
        call.seen_error = error
        call = call.parent


# ---------------------------------------------------------------- configuration


def configure(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    """Puts a new table in force and answers what became of each breakpoint. The app goes on meanwhile: no thread may see half a table."""
    global _dots, filters, just_my_code
    table: dict[int, Dot] = {}
    for raw in configuration.get("breakpoints", []):
        known = _dots.get(raw["id"])
        if known is not None and known.raw == raw:
            table[known.id] = known  # Other threads go on counting its hits meanwhile.
            continue
        dot = Dot(raw)
        if known is not None and known.same(raw):
            dot.hits = known.hits
            dot.failed = known.failed
        table[dot.id] = dot
    _locate(table)
    passing: dict[str, Expression | None] = {}
    for entry in configuration.get("exceptions", []):
        try:
            passing[entry["filter"]] = Expression(entry["condition"]) if entry.get("condition") else None
        except (SyntaxError, ValueError) as error:
            if log is not None:
                log(
                    "important",
                    f"The condition of the {entry['filter']} exception filter does not compile: {error}.",
                    None,
                    0,
                )
    filters = passing
    _steps.entry = bool(configuration.get("stopOnEntry"))
    _steps.hold_all = configuration.get("hold") == "all"
    just_my_code = configuration.get("justMyCode", True)
    _dots = table
    patterns = (
        configuration.get("record", {}).get("functions", []) if configuration.get("record", {}).get("enabled") else []
    )
    globs = [
        dot.glob
        for dot in table.values()
        if dot.type == "function" and dot.target.get("kind") in (None, "function") and dot.glob is not None
    ]
    _guards.compile_patterns(patterns, globs)
    bind()
    _activate()
    return states()


def bind() -> None:
    """Finds the functions that breakpoints on lines mean, and puts guards where they are wanted."""
    keys = _locate(_dots)
    if any(dot.type == "source" for dot in _dots.values()):
        _guards.modules_loaded()
    _guards.reconcile(keys)
    _lines.configure(_dots.values())


def _locate(table: dict[int, Dot]) -> set[Any]:
    """The functions whose lines the breakpoints stand on."""
    keys: set[Any] = set()
    for dot in table.values():
        if dot.type == "source" and not dot.problem:
            try:
                dot.spot = _sources.file(dot.real).at(dot.target["line"])
            except (OSError, SyntaxError, ValueError):
                dot.spot = None
            if dot.spot is not None:
                keys.add(dot.spot.key)
    _lines.locate(table.values())
    return keys


def _activate() -> None:
    global _active
    _active = [dot for dot in _dots.values() if dot.enabled and not dot.problem]
    _stopping.generation += 1
    arm()
    _steps.update_special()


def arm() -> None:
    """Guards of functions that nothing can stop and nothing records stay quiet."""
    recording = _calls.writer is not None

    def armed(guard: Any) -> bool:
        if not _calls.attached:
            return False
        fn = guard.function()
        _attach(fn)
        wants = _report.guard(_wants.make, guard, fn.before[0]) if _is_single(fn) else None
        guard.wants = wants or _guard_state._ever
        guard.always = recording or _special_steps() or wants is None
        return recording or _special_steps() or any(dot.fits(fn) for dot in _active)

    _guards.arm(armed)


def _is_single(fn: Function) -> bool:
    return fn.before is not None and len(fn.before) == 1 and fn.after is None and fn.error is None


def _special_steps() -> bool:
    return _steps.entry or bool(filters)


def drop() -> None:
    """Nothing stops any more."""
    _dots.clear()
    _active.clear()
    filters.clear()
    _stopping.generation += 1
    _steps.drop()
    _lines.drop()


def states() -> list[dict[str, Any]]:
    return [state(dot) for dot in list(_dots.values())]


def imported(path: str | None) -> bool:
    """After a module ran: binds what waited for it. Answers whether a breakpoint's state may have changed."""
    waiting = [
        dot for dot in _dots.values() if dot.type == "source" and (dot.spot is not None or dot.place is not None)
    ]
    if not waiting or path is None:
        return False
    real = real_path(path)
    mine = [dot for dot in waiting if dot.real == real]
    if not mine:
        return False
    _guards.loaded.add(real)
    if any(_guards.guard_for(dot.spot.key) is None for dot in mine if dot.spot is not None) or _lines.misses(real):
        bind()
    arm()
    return True
