"""Expressions of breakpoints: conditions, hit conditions and globs, compiled once."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from ._call_types import Call
from ._calls import Quiet

NAMES = frozenset({"args", "state", "result", "error", "call", "value", "old"})


class CallView:
    """What `call` means in an expression."""

    def __init__(self, call: Call) -> None:
        self.id = call.number
        self.kind = call.kind
        self.name = call.name
        self.qualname = call.function.qualname
        self.task = call.task.name
        self.attributes = call.attributes
        self.edited = call.edited
        self.parent = CallView(call.parent) if call.parent is not None else None


class Expression:
    """Raises SyntaxError or ValueError where the text does not compile."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._code = compile(text.strip(), "<condition>", "eval", dont_inherit=True)
        names: set[str] = set()
        stack: list[CodeType] = [self._code]
        while stack:
            code = stack.pop()
            names.update(code.co_names)
            stack.extend(c for c in code.co_consts if isinstance(c, CodeType))
        self._names = tuple(names)

    def evaluate(self, call: Call, extra: dict[str, Any] | None = None) -> Any:
        """Raises what the expression raises. Calls inside are not recorded and do not stop."""
        scope: dict[str, Any] = {"__builtins__": __builtins__}
        args = call.args
        also = extra or {}
        module: Any = None
        for name in self._names:
            if name in args:
                scope[name] = args[name]
            elif name in also:
                scope[name] = also[name]
            elif name in NAMES:
                scope[name] = (
                    CallView(call) if name == "call" else _state(call) if name == "state" else getattr(call, name, None)
                )
            else:
                if module is None:
                    module = getattr(sys.modules.get(call.function.module), "__dict__", {})
                if name in module:
                    scope[name] = module[name]
        with Quiet(call):
            return eval(self._code, scope)

    def evaluate_in(self, frame: Any, call: Call | None) -> Any:
        """The same at a line: the frame's names come first, then those of the call it runs in."""
        return eval_quiet(self._code, frame_names(self._names, frame, call), call)


def eval_quiet(code: CodeType, scope: dict[str, Any], call: Call | None) -> Any:
    with Quiet(call):
        return eval(code, scope)


def frame_names(names: Iterable[str], frame: Any, call: Call | None) -> dict[str, Any]:
    """Those of the names that are known in a frame: its locals, its globals, and what the call has that it runs in."""
    scope: dict[str, Any] = {"__builtins__": __builtins__}
    own, module = frame.f_locals, frame.f_globals
    for name in names:
        if name in own:
            scope[name] = own[name]
        elif name in module:
            scope[name] = module[name]
        elif call is None:
            continue
        elif name in NAMES:
            scope[name] = (
                CallView(call) if name == "call" else _state(call) if name == "state" else getattr(call, name, None)
            )
        elif name in call.args:
            scope[name] = call.args[name]
    return scope


def _state(call: Call) -> Any:
    """The state this call works on: its own, or that of the nearest call around it that has one."""
    above: Call | None = call
    while above is not None and above.state is None:
        above = above.parent
    return above.state if above is not None else None


def describe(error: BaseException) -> str:
    """`KeyError 'total'`."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__} {text}".strip()


_HIT = re.compile(r"\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*\Z")


def hit_condition(text: str) -> Callable[[int], bool]:
    """`5`, `==5`, `>5`, `>=5`, `<5`, `%3`. Raises ValueError with a sentence."""
    found = _HIT.match(text)
    if found is None:
        raise ValueError(f'The hit condition "{text}" is not understood; write 5, >5, >=5, <5, ==5 or %3.')
    operator, number = found[1] or "==", int(found[2])
    if operator == "%":
        if number == 0:
            raise ValueError("The hit condition %0 never stops; write %1 or more.")
        return lambda hits: hits % number == 0
    return {
        "==": lambda hits: hits == number,
        ">=": lambda hits: hits >= number,
        "<=": lambda hits: hits <= number,
        ">": lambda hits: hits > number,
        "<": lambda hits: hits < number,
    }[operator]


def first_hit(text: str) -> int:
    """The smallest number of hits that a hit condition passes."""
    found = _HIT.match(text)
    assert found is not None
    operator, number = found[1] or "==", int(found[2])
    return {">": number + 1, "<": 1}.get(operator, number)


def glob(pattern: str) -> re.Pattern[str]:
    """`*` stops at a dot, `**` does not, `?` is one character."""
    out = ""
    for part in re.split(r"(\*\*|\*|\?)", pattern):
        out += {"**": ".*", "*": "[^.]*", "?": "[^.]"}.get(part, re.escape(part))
    return re.compile(out, re.DOTALL)


_PATH = re.compile(r"([^.\[\]]+)|\[\s*(?:'([^']*)'|\"([^\"]*)\"|(-?\d+))\s*\]")


def path_parts(path: str) -> list[str | int]:
    """`visits[1].name` as ['visits', 1, 'name']."""
    text = path[5:] if path.startswith("state") and path[5:6] in (".", "[") else path
    parts: list[str | int] = []
    for name, single, double, number in _PATH.findall(text):
        parts.append(int(number) if number else name or single or double)
    return parts
