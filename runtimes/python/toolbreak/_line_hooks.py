"""Lines of functions before Python 3.12: a call of ours is compiled in front of each watched line. The other lines stay as they were."""

from __future__ import annotations

import ast
import sys
from types import CodeType
from typing import Any

from . import (
    _guard_code,
    _guards,
    _holds,
    _line_late,
    _line_places,
    _line_steps,
    _line_traces,
    _lines,
    _report,
    _sources,
)
from ._calls import real_path

_MARK = "\0toolbreak line "
_LOOP = "\0toolbreak loop "
_FUNCTION = 0x2


class Hook:
    """A constant of the code that calls it. Answers False, so that `hook() or value` is the value."""

    def __init__(self, path: str, line: int) -> None:
        self._path = path
        self.line = line

    def __call__(self) -> bool:
        frame = sys._getframe(1)
        if not _line_traces.was_passed(frame, self.line) and not _lines.reached(frame, self._path, self.line):
            _line_steps.stop_at(frame, self.line)
        return False

    def __reduce__(self) -> Any:
        """Code that is sent to another process needs nothing of ours there: `bool()` is False."""
        return type, (False,)


class LoopHook(Hook):
    """At the end of a loop's body, on the line of the loop, which is looked at again then. Tracing sees that by itself."""

    def __call__(self) -> bool:
        frame = sys._getframe(1)
        if not _line_traces.is_traced(frame):
            _lines.reached(frame, self._path, self.line)
            _line_traces.told(frame, self.line)
        return False


#: The lines of breakpoints, and with them those that steps wait for.
_of_dots: dict[str, frozenset[int]] = {}
_wanted: dict[str, frozenset[int]] = {}


def install(wanted: dict[str, frozenset[int]]) -> None:
    global _of_dots
    _of_dots = _line_traces.lines_of_dots = _line_late.lines_of_dots = wanted
    _compile()
    _line_traces.look_at_main()
    _line_traces.look_at_late()
    _say_what_runs()


def _say_what_runs() -> None:
    """A function that runs already goes on with the code it began with. Where its task is held, it is traced when it goes on."""
    waits = {hold.thread: hold.is_async for hold in list(_holds.holds.values())}
    for thread, frame in list(sys._current_frames().items()):
        each: Any = frame
        while each is not None:
            if each.f_code.co_flags & _FUNCTION and each not in _line_late.frames and _line_late.missing(each.f_code):
                if not _line_late.is_held_in(each, thread, waits):
                    _line_late.say(each.f_code)
            each = each.f_back


def expect(spot: Any) -> None:
    """The first line of a function that is about to be called; None: of none any more."""
    _compile()


def _compile() -> None:
    global _wanted
    wanted = dict(_of_dots)
    for step in _line_steps.active:
        line = _line_steps.first_line(step.entry) if step.entry is not None else 0
        if line:
            wanted[step.entry.path] = wanted.get(step.entry.path, frozenset()) | {line}  # type: ignore[union-attr]
    before, _wanted = _wanted, wanted
    _guards.hooked, _guards.hooked_code = (hooked, code_for) if wanted else (None, None)
    different = {path for path in {*before, *wanted} if before.get(path) != wanted.get(path)}
    if different:
        _watched.clear()
        _guards.recompile(different)


def seen(code: CodeType) -> None:
    """Code comes with its lines compiled in."""


#: Files that have code with lines compiled in.
_watched: set[str] = set()


def is_watched(path: str) -> bool:
    return path in _watched


def forked() -> None:
    """What is compiled in is there in the child, too."""
    _line_traces.forked()


can_step = _line_traces.can_step
watch = _line_traces.watch
unwatch = _line_traces.unwatch
pause = _line_traces.pause
went_on = _line_traces.went_on
main_begins = _line_traces.main_begins
main_ended = _line_traces.main_ended
_line_traces.loop_hook = LoopHook
_line_late.hook = Hook


# ---------------------------------------------------------------- code


def hooked(source: _sources.File) -> tuple[ast.Module, dict[str, Any]]:
    """The tree of a file with calls in front of its watched lines, and what their marks stand for."""
    lines = _wanted.get(source.path)
    tree = _guard_code.copied(source.tree)
    if not lines:
        return tree, {}
    marks = {f"{_MARK}{line}\0": Hook(source.path, line) for line in lines}
    marks.update({f"{_LOOP}{line}\0": LoopHook(source.path, line) for line in lines})
    _Hooker(lines, tree).visit(tree)
    return ast.fix_missing_locations(tree), marks


class _Pairs:
    """Every code object of a file beside the one with its lines compiled in."""

    def __init__(self, source: _sources.File, filename: str) -> None:
        tree, marks = hooked(source)
        plain = _line_places.of(source).code
        made = _guard_code.substitute(_guard_code.compile_quietly(tree, filename), marks, {})
        self.found: dict[tuple[int, str], list[tuple[CodeType, CodeType]]] = {}
        stack = [(plain, made)]
        while stack:
            one, other = stack.pop()
            self.found.setdefault((one.co_firstlineno, one.co_name), []).append((one, other))
            stack.extend(zip(_line_places.inner(one), _line_places.inner(other)))


_pairs: dict[tuple[str, str], tuple[Any, frozenset[int], _Pairs]] = {}


def code_for(original: CodeType) -> CodeType | None:
    """The code with its watched lines, where it has any."""
    path = real_path(original.co_filename)
    lines = _wanted.get(path)
    if not lines or lines.isdisjoint(_line_places.all_lines(original)):
        return None
    try:
        source = _sources.file(path)
        known = _pairs.get((path, original.co_filename))
        if known is None or known[0] is not source or known[1] != lines:
            known = _pairs[path, original.co_filename] = (source, lines, _Pairs(source, original.co_filename))
        there = known[2].found.get((original.co_firstlineno, original.co_name), [])
        for plain, made in there:
            if _guards.same_code(plain, original) or (len(there) == 1 and source.modified < _guards.process_started()):
                _watched.add(path)
                return made
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        _report.let_through(error)
    _lines.changed.add(path)
    return None


class _Hooker(ast.NodeTransformer):
    """Puts a call in front of each statement, or before the value of each expression, with which a watched line begins."""

    def __init__(self, lines: frozenset[int], tree: ast.Module) -> None:
        self._lines = lines
        self._starts = {node.lineno for node in _sources.walk(tree) if isinstance(node, ast.stmt)}
        self._left = set(lines)
        for node in _sources.walk(tree):
            if isinstance(node, (ast.expr, ast.ExceptHandler)) and node.lineno in lines:
                self._left.discard(node.lineno)
        self._left -= self._starts
        #: Expressions that a call stands before already: one for each line and scope.
        self._done: set[int] = set()
        self._loops: list[int] = []

    def _hook(self, line: int, mark: str = _MARK) -> ast.Call:
        made = ast.Call(ast.Constant(f"{mark}{line}\0"), [], [])
        for node in (made, made.func):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
        return made

    def _statement(self, line: int, mark: str = _MARK) -> ast.stmt:
        call = self._hook(line, mark)
        return ast.copy_location(ast.Expr(call), call)

    def _before(self, value: ast.expr, line: int) -> ast.expr:
        call = self._hook(line)
        return ast.copy_location(ast.BoolOp(ast.Or(), [call, value]), call)

    # ------------------------------------------------------------ statements

    def _block(self, body: list[ast.stmt], docstring: bool = False) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for index, node in enumerate(body):
            line = node.lineno
            quiet = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            quiet = quiet or (docstring and index == 0 and _is_text(node))
            within = [each for each in self._left if line < each <= (node.end_lineno or line)]
            if not _has_blocks(node):
                # A line on which no expression begins counts with its statement.
                for each in within:
                    self._left.discard(each)
                    made.append(self._statement(each))
            wanted = line in self._lines and not quiet
            if wanted and isinstance(node, ast.While):
                node.test = self._before(node.test, line)
            elif wanted and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                made.append(self._statement(line))
                if isinstance(node, ast.Continue) and self._loops and self._loops[-1]:
                    made.append(self._statement(self._loops[-1], _LOOP))
            elif isinstance(node, ast.Continue) and self._loops and self._loops[-1]:
                made.append(self._statement(self._loops[-1], _LOOP))
            made.append(self.visit(node))
        return made

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    setattr(node, name, self._block(value, name == "body" and _can_have_text(node)))
                else:
                    value[:] = [self._expression(each) for each in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self._expression(value))
        return node

    def _loop(self, node: Any) -> Any:
        line = node.lineno if node.lineno in self._lines else 0
        for name in ("target", "iter"):
            setattr(node, name, self._expression(getattr(node, name)))
        self._loops.append(line)
        node.body = self._block(node.body)
        self._loops.pop()
        if line:
            node.body.append(self._statement(line, _LOOP))
        node.orelse = self._block(node.orelse)
        return node

    visit_For = visit_AsyncFor = _loop

    def visit_While(self, node: ast.While) -> Any:
        node.test = self._expression(node.test)
        self._loops.append(0)
        node.body = self._block(node.body)
        self._loops.pop()
        node.orelse = self._block(node.orelse)
        return node

    def _function(self, node: Any) -> Any:
        before, self._loops = self._loops, []
        done, self._done = self._done, set()
        node.body = self._block(node.body, True)
        self._loops, self._done = before, done
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        if node.lineno in self._lines:
            if node.type is not None:
                node.type = self._before(node.type, node.lineno)
                node.body = self._block(node.body)
            else:
                node.body = [self._statement(node.lineno), *self._block(node.body)]
            return node
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is not None:
            node.value = self._expression(node.value)
        return node

    # ------------------------------------------------------------ expressions

    def _expression(self, node: Any) -> Any:
        if not isinstance(node, ast.expr):
            return (
                node
                if isinstance(node, (ast.expr_context, ast.pattern))
                else self.visit(node)
                if isinstance(node, ast.AST)
                else node
            )
        line = node.lineno
        own = (
            line in self._lines
            and line not in self._starts
            and line not in self._done
            and isinstance(getattr(node, "ctx", _LOAD), ast.Load)
            and not isinstance(node, (ast.Starred, ast.Slice, ast.FormattedValue))
        )
        if own:
            self._done.add(line)
        made = self.visit(node)
        return self._before(made, line) if own else made

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        line = node.body.lineno
        done, self._done = self._done, {line}
        node.body = self.visit(node.body)
        self._done = done
        if line in self._lines:
            node.body = self._before(node.body, line)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        node.value = self._expression(node.value)
        return node

    def visit_MatchValue(self, node: Any) -> Any:
        return node


_LOAD = ast.Load()


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _can_have_text(node: ast.AST) -> bool:
    return isinstance(node, (ast.Module, ast.ClassDef))


def _has_blocks(node: ast.stmt) -> bool:
    return any(isinstance(getattr(node, name, None), list) for name in ("body", "cases", "handlers"))


# ---------------------------------------------------------------- the main module
