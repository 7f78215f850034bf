"""One breakpoint, compiled: which functions it means, and what is told about it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _calls, _guards, _sources
from ._call_types import Function
from ._calls import real_path
from ._conditions import Expression, glob, hit_condition, path_parts
from ._log_text import LogText


class Dot:
    """One breakpoint as it was sent, compiled."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.id: int = raw["id"]
        self.target: dict[str, Any] = raw["target"]
        self.type: str = self.target["type"]
        self.boundaries: list[str] = raw.get("boundaries") or ["before"]
        self.enabled: bool = raw.get("enabled", True)
        self.ignore: int = raw.get("ignoreCount") or 0
        self.seconds: float | None = raw.get("holdSeconds")
        self.hits = 0
        #: Why it can never stop: a sentence.
        self.problem = ""
        self.failed = ""
        self.condition: Expression | None = None
        self.log: LogText | None = None
        self.hit: Callable[[int], bool] | None = None
        self.glob = None
        self.path: list[str | int] = []
        self.real = ""
        #: The function's head, once it is known: first line, last line, `def` line, end.
        self.spot: _sources.Spot | None = None
        #: On a line inside a function, a class body or the module: where it belongs.
        self.place: Any = None
        try:
            self._compile()
        except SyntaxError as error:
            self.problem = (
                f"The condition does not compile: {error.msg}."
                if not raw.get("logMessage") or raw.get("condition")
                else ""
            )
            self.problem = self.problem or f"The log message does not compile: {error.msg}."
        except ValueError as error:
            self.problem = str(error) if str(error).endswith(".") else f"The expression does not compile: {error}."

    def _compile(self) -> None:
        raw = self.raw
        if self.type == "function":
            self.glob = glob(self.target.get("glob") or "**")
        elif self.type == "data":
            self.path = path_parts(self.target.get("path") or "")
            if not self.path:
                raise ValueError("The path in the state is empty; write for example verdict or visits[1].")
        elif self.type == "source":
            self.real = real_path(self.target["path"])
        if raw.get("condition"):
            self.condition = Expression(raw["condition"])
        if raw.get("hitCondition"):
            self.hit = hit_condition(raw["hitCondition"])
        if raw.get("logMessage"):
            self.log = LogText(raw["logMessage"])

    def same(self, raw: dict[str, Any]) -> bool:
        keys = ("target", "condition", "hitCondition", "ignoreCount", "boundaries")
        return all(self.raw.get(key) == raw.get(key) for key in keys)

    def fits(self, fn: Function) -> bool:
        if self.type == "source":
            if fn.path != self.real:
                return False
            line = self.target["line"]
            spot = self.spot
            if self.place is not None:
                return False
            return spot.first <= fn.line <= spot.head if spot is not None else fn.line == line
        if self.type == "function":
            kind = self.target.get("kind")
            if kind and kind != fn.kind:
                return False
            match = self.glob.fullmatch  # type: ignore[union-attr]
            qualified = fn.qualname.replace("<locals>.", "")
            return bool(
                match(fn.name)
                or match(fn.shown)
                or match(qualified)
                or (fn.module and match(f"{fn.module}.{qualified}"))
            )
        return self.type == "data" and fn.kind in ("node", "workflow")


def state(dot: Dot) -> dict[str, Any]:
    verified, message, spot_line = _look(dot)
    found: dict[str, Any] = {"id": dot.id, "verified": verified, "hits": dot.hits}
    if message:
        found["message"] = message
    if dot.type == "source":
        found["path"] = dot.target["path"]
        if spot_line:
            found["line"] = spot_line[0]
            found["endLine"] = spot_line[1]
    return found


def _look(dot: Dot) -> tuple[bool, str, tuple[int, int] | None]:
    if dot.problem:
        return False, dot.problem, None
    message = dot.failed
    if dot.type == "data":
        return True, message, None
    if dot.type == "function":
        if any(dot.fits(fn) for fn in _calls.functions()) or any(
            guard is not None and dot.fits(guard.function())
            for guard in [_guards.guard_for(key) for key in list(_guards._wanted)]
        ):
            return True, message, None
        return False, message or _no_match(dot), None
    if dot.type != "source":
        return False, "Only native code has such a place.", None
    name = os.path.basename(dot.real)
    line = dot.target["line"]
    spot = dot.spot
    refusal = _guards.refused.get(spot.key) if spot is not None else None
    if spot is not None and refusal:
        return False, refusal, (spot.line, spot.line)
    if any(dot.fits(fn) for fn in _calls.functions()):
        return True, message, (spot.line, spot.line) if spot is not None else (line, line)
    try:
        _sources.file(dot.real)
    except FileNotFoundError:
        return False, f"{name} does not exist.", None
    except (OSError, ValueError) as error:
        return False, f"{name} cannot be read as Python ({type(error).__name__}).", None
    except SyntaxError as error:
        return False, f"{name} has a syntax error on line {error.lineno}.", None
    if spot is None:
        return _look_at_line(dot, name, message)
    where = (spot.line, spot.line)
    if dot.real not in _guards.loaded:
        return False, _waiting(name), where
    guard = _guards.guard_for(spot.key)
    if guard is None:
        return (
            False,
            f"{spot.name} is not defined yet in the running program, or its code was made in another way.",
            where,
        )
    return True, message, where


def _waiting(name: str) -> str:
    hidden = f" A program that {_guards.hidden_by} runs cannot be stopped; one that cProfile runs can."
    return f"Waiting for {name} to be imported.{hidden if _guards.hidden_by else ''}"


def _look_at_line(dot: Dot, name: str, message: str) -> tuple[bool, str, tuple[int, int] | None]:
    from . import _lines

    place = dot.place
    if place is None:
        return False, f"{name} does not compile, so its lines cannot be stopped.", None
    if not place.line:
        return False, place.problem, None
    where = (place.line, place.line)
    if dot.real not in _guards.loaded:
        return False, _waiting(name), where
    refusal = _lines.refusal(dot)
    if refusal:
        return False, refusal, where
    if dot.boundaries != ["before"] and not message:
        message = "A line stops before it runs; the other modes are for calls, set on a def line."
    return True, message, where


def _no_match(dot: Dot) -> str:
    kind = dot.target.get("kind")
    names = sorted({fn.shown for fn in _calls.functions() if kind is None or fn.kind == kind})
    noun = {"llm": "model"}.get(kind, kind) if kind else "call"
    if not names:
        return f"No {noun} matches yet."
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"No {noun} matches. Known {noun}s: {listed}"
