"""Which lines of a file have code, and where a breakpoint on a line that has none belongs."""

from __future__ import annotations

import ast
from types import CodeType

from . import _guard_code
from ._sources import File, Spot, walk

_FUNCTION = 0x2


class Place:
    """A line inside a function, a class body or the module. `line` 0: nothing can stop there, `problem` says why."""

    def __init__(self, line: int, spot: Spot | None, problem: str = "") -> None:
        self.line = line
        #: The function whose body it is in.
        self.spot = spot
        self.problem = problem


class Lines:
    """The code of one file as the interpreter compiles it."""

    def __init__(self, file: File) -> None:
        self.code = _guard_code.compile_quietly(file.tree, file.path)
        #: By first line and name. Several lambdas may share both.
        self.codes: dict[tuple[int, str], list[CodeType]] = {}
        stack = [self.code]
        while stack:
            code = stack.pop()
            self.codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
            stack.extend(inner(code))


def inner(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def lines_of(code: CodeType) -> set[int]:
    return {entry[2] for entry in code.co_lines() if entry[2]}


def all_lines(code: CodeType) -> set[int]:
    """Those of the code inside it, too."""
    found = lines_of(code)
    for each in inner(code):
        found |= all_lines(each)
    return found


def of(file: File) -> Lines:
    """Raises SyntaxError, ValueError or RecursionError where the file does not compile."""
    found = file.lines
    if found is None:
        found = file.lines = Lines(file)
    return found


def place(file: File, line: int) -> Place:
    """Where a breakpoint on this line belongs; the line is not part of a `def` or its decorators."""
    lines = of(file)
    spot = file.around(line)
    if spot is not None:
        own = lines.codes.get((spot.first, spot.name), [])
        codes = [code for code in own if code.co_flags & _FUNCTION]
        last = spot.end
        where = spot.name
    else:
        codes = [lines.code]
        # What follows the next function is too far away to be meant.
        last = min((each.first - 1 for each in file.spots if each.first > line), default=file.last)
        where = ""
    there: set[int] = set()
    while codes:
        code = codes.pop()
        there |= lines_of(code)
        codes.extend(each for each in inner(code) if not _is_def(file, each))
    there -= _texts(file)
    head = spot.head if spot is not None else 0
    inside = [each for each in file.spots if each is not spot and each.first > head and each.end <= last]
    for found in sorted(there):
        if line <= found <= last and found > head and not any(each.first <= found <= each.end for each in inside):
            return Place(found, spot)
    if spot is not None:
        return Place(0, spot, f"There is no code on line {line} of {where} or after it.")
    return Place(0, None, f"There is no code on line {line}; set the breakpoint on a line with code, or on a def.")


def again(file: File, code: CodeType) -> frozenset[int]:
    """Instructions where code comes back to the first line of a statement of several lines, such as to call what stands there."""
    ends: dict[int, int] = {}
    for node in walk(file.tree):
        if not isinstance(node, ast.stmt) or hasattr(node, "body") or hasattr(node, "cases"):
            continue
        if (node.end_lineno or 0) > node.lineno:
            ends[node.lineno] = node.end_lineno or 0
    found: set[int] = set()
    first = end = 0
    inside = False
    for start, _, line in code.co_lines():
        if line is not None and first < line <= end:
            inside = True
        elif line == first and inside:
            found.add(start)
        else:  # What has no line leads into another copy of the same statement, as in `finally`.
            first, end, inside = line or 0, ends.get(line or 0, 0), False
    return frozenset(found)


def _texts(file: File) -> set[int]:
    """Lines of the docstrings of the module and its classes, which nobody means to stop at."""
    found: set[int] = set()
    for owner in (file.tree, *(node for _, node in file.classes)):
        first = owner.body[0] if owner.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            found.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return found


def _is_def(file: File, code: CodeType) -> bool:
    return (file.path, code.co_firstlineno, code.co_name) in file.by_key and bool(code.co_flags & _FUNCTION)
