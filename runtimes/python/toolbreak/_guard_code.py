"""Rewrites functions of one file so that they begin with their guard, and compiles the file."""

from __future__ import annotations

import ast
import copy
from types import CodeType
from typing import Any

from ._exception_table import cover_jumps
from ._guard_state import Guard
from ._sources import File, FunctionNode, Quietly, walk

Key = tuple[str, int, str]
_MARK = "\0toolbreak guard "


def compile_quietly(tree: ast.Module, filename: str) -> CodeType:
    with Quietly(filename):
        return compile(tree, filename, "exec", dont_inherit=True)


def plain_codes(source: File, filename: str) -> dict[Key, CodeType]:
    """Every function of the file as the interpreter compiles it, by key."""
    found: dict[Key, CodeType] = {}
    stack = [compile_quietly(source.tree, filename)]
    while stack:
        code = stack.pop()
        found.setdefault((source.path, code.co_firstlineno, code.co_name), code)
        stack.extend(c for c in code.co_consts if isinstance(c, CodeType))
    return found


def guarded_codes(
    source: File, filename: str, guards: list[Guard], tree: ast.Module, hooks: dict[str, Any]
) -> dict[Key, CodeType]:
    """
    The code of each guard's function, with its guard in front, from a copy of the file's tree in which `hooks` say what more marks stand for.
    Raises SyntaxError where the function cannot carry one.
    """
    marks = {f"{_MARK}{index}\0": guard for index, guard in enumerate(guards)}
    by_place = {(g.spot.node.lineno, g.spot.node.col_offset): (mark, g) for mark, g in marks.items()}
    _Rewriter(by_place).visit(tree)
    made: dict[Key, CodeType] = {}
    substitute(compile_quietly(ast.fix_missing_locations(tree), filename), {**hooks, **marks}, made)
    return made


def copied(tree: ast.Module) -> ast.Module:
    return copy.deepcopy(tree)


def substitute(code: CodeType, marks: dict[str, Any], made: dict[Key, CodeType]) -> CodeType:
    """The code with what the marks stand for; fills `made` with the code of each guard's function."""
    own: Guard | None = None
    consts: list[Any] = []
    changed = False
    for const in code.co_consts:
        if isinstance(const, CodeType):
            new: Any = substitute(const, marks, made)
            changed = changed or new is not const
            const = new
        elif isinstance(const, str) and const in marks:
            const = marks[const]
            changed = True
            if isinstance(const, Guard):
                own = const
        consts.append(const)
    if changed:
        code = code.replace(co_consts=tuple(consts))
    if own is not None:
        code = cover_jumps(code)
        made.setdefault(own.spot.key, code)
    return code


class _Rewriter(ast.NodeTransformer):
    def __init__(self, by_place: dict[tuple[int, int], tuple[str, Guard]]) -> None:
        self._by_place = by_place

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self._function(node)

    def _function(self, node: FunctionNode) -> Any:
        self.generic_visit(node)
        found = self._by_place.get((node.lineno, node.col_offset))
        if found is not None:
            _rewrite(node, *found)
        return node


def parameters(node: FunctionNode) -> list[str]:
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    if a.vararg:
        names.append(a.vararg.arg)
    names += [p.arg for p in a.kwonlyargs]
    if a.kwarg:
        names.append(a.kwarg.arg)
    return names


def _rewrite(node: FunctionNode, mark: str, guard: Guard) -> None:
    body = node.body
    first = body[0]
    doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    head, body = (body[:1], body[1:]) if doc else ([], body)
    is_async = isinstance(node, ast.AsyncFunctionDef)
    scan = _Scan()
    for statement in body:
        scan.visit(statement)
    guard.is_async = is_async
    guard.is_generator = scan.yields
    guard.names = parameters(node)

    def call(name: str, *args: ast.expr, wait: bool = False) -> ast.expr:
        made: ast.expr = ast.Call(ast.Attribute(ast.Constant(mark), name, ast.Load()), list(args), [])
        return ast.Await(made) if wait and is_async else made

    def ask(name: str) -> ast.expr:
        return ast.Attribute(ast.Constant(mark), name, ast.Load())

    def both(one: ast.expr, other: ast.expr) -> ast.expr:
        return ast.BoolOp(ast.And(), [one, other])

    declarations: list[ast.stmt] = list(scan.declarations)
    plain = [s for s in (_Strip().visit(copy.deepcopy(s)) for s in body) if s is not None]
    inside = _Inside(mark, guard)
    copied: list[ast.stmt] = [s for s in (inside.visit(_strip(copy.deepcopy(s))) for s in body) if s is not None]
    async_generator = is_async and scan.yields

    def give(value: ast.expr) -> ast.stmt:
        return ast.Return(None) if async_generator else ast.Return(value)

    prefix = "a" if is_async else ""
    loads = [ast.Name(name, ast.Load()) for name in guard.names]
    rebind: list[ast.stmt] = []
    restore: list[ast.stmt] = []
    if guard.names:
        stores: list[ast.expr] = [ast.Name(name, ast.Store()) for name in guard.names]
        rebind = [
            ast.If(
                both(ask("held"), call("edited")), [ast.Assign([ast.Tuple(stores, ast.Store())], call("values"))], []
            )
        ]
        # The body may have given its arguments other values, or have deleted them.
        restore = [ast.Assign([ast.Tuple(copy.deepcopy(stores), ast.Store())], call("values"))]
    attempt = ast.Try(
        body=[
            ast.Try(
                body=[*copied, ast.Expr(call(inside.last, ast.Constant(None)))],
                handlers=[
                    ast.ExceptHandler(
                        ast.Name("BaseException", ast.Load()), None, [ast.Expr(call("failed")), ast.Raise(None, None)]
                    )
                ],
                orelse=[],
                finalbody=[],
            )
        ],
        handlers=[],
        orelse=[],
        finalbody=[
            ast.If(
                call("aexit", wait=True) if is_async else both(ask("live"), call("exit")),
                [ast.If(call("again"), [*restore, ast.Continue()], []), give(call("result"))],
                [],
            )
        ],
    )
    # A handler without a type: the name BaseException may be the app's own.
    attempt.body[0].handlers[0].type = None  # type: ignore[attr-defined]
    loop = ast.While(call(f"{prefix}enter", *loads, wait=True), [*rebind, attempt, give(call("result"))], [])
    # Where a signal handler's exception came between the guard's own steps.
    lost = ast.ExceptHandler(None, None, [ast.Expr(call("lost")), ast.Raise(None, None)])
    # At the recursion limit there is no room to tidy up, and trying would put our failure on top of the app's.
    deep = ast.ExceptHandler(ask("too_deep"), None, [ast.Raise(None, None)])
    attempted = ast.Try(body=[loop], handlers=[deep, lost], orelse=[], finalbody=[])
    armed: list[ast.stmt] = [attempted, give(call("result"))]
    wanted = ast.BoolOp(ast.Or(), [ask("always"), call("wants", *[ast.Name(name, ast.Load()) for name in guard.names])])
    choice = ast.If(both(ask("armed"), wanted), armed, plain or [ast.Pass()])
    for made in (choice, *declarations):
        _place(made, node)
    node.body = [*head, *declarations, choice]


def _place(made: ast.AST, node: FunctionNode) -> None:
    """Gives nodes of ours the `def`'s line, so that a hold is seen there."""
    for child in walk(made):
        if "lineno" in child._attributes and not hasattr(child, "lineno"):
            child.lineno = child.end_lineno = node.lineno  # type: ignore[attr-defined]
            child.col_offset = node.col_offset  # type: ignore[attr-defined]
            child.end_col_offset = node.col_offset + 1  # type: ignore[attr-defined]


class _Own(ast.NodeTransformer):
    """Visits one function's own statements, not those of functions and classes inside it."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


class _Scan(_Own):
    def __init__(self) -> None:
        self.yields = False
        self.declarations: list[ast.stmt] = []

    def visit_Yield(self, node: ast.Yield) -> Any:
        self.yields = True
        return self.generic_visit(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.yields = True
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> Any:
        self.declarations.append(copy.deepcopy(node))
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        self.declarations.append(copy.deepcopy(node))
        return node


def _waits(node: ast.AST) -> bool:
    """Whether a statement has a `yield` of its own: not in one inside it, nor in a function."""
    if isinstance(node, (ast.Yield, ast.YieldFrom)):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    return any(_waits(child) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


class _Strip(_Own):
    """Takes `global` and `nonlocal` out: they stand once, above both copies."""

    def visit_Global(self, node: ast.Global) -> Any:
        return ast.copy_location(ast.Pass(), node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        return ast.copy_location(ast.Pass(), node)


def _strip(node: ast.stmt) -> Any:
    return _Strip().visit(node)


class _Inside(_Own):
    """Tells the guard what is returned and when a generator waits.

    `leave` also ends the call, so it stands only where nothing of the function runs after it: not within a `try`, a `with`, or a `for`, whose
    iterator may be a generator that is closed then.

    Where a `yield` raises, no code behind it runs: the innermost statement around it, with a `try` of ours, tells that the generator goes on. Later
    would be too late, as the `finally`, the `with` and the iterator of the `for` that it stands in make calls of their own.
    """

    def __init__(self, mark: str, guard: Guard) -> None:
        self._mark = mark
        self._yields = guard.is_generator
        #: Whether a statement needs no `try` of its own: none of the app's code runs between what it raises and one of ours.
        self._is_told = True
        self._async_generator = guard.is_async and guard.is_generator
        #: What is told at the end of the body.
        self.last = "stash" if guard.is_async or guard.is_generator else "leave"
        self._now = self.last

    def visit(self, node: ast.AST) -> Any:
        if self._is_told or not isinstance(node, ast.stmt) or not _waits(node):
            return super().visit(node)
        self._is_told = True
        made = super().visit(node)
        self._is_told = False
        tells = ast.Expr(ast.Call(ast.Attribute(ast.Constant(self._mark), "thrown", ast.Load()), [], []))
        # The handler gets the line of the `def`, on which no line breakpoint stands and no step ends.
        handler = ast.ExceptHandler(None, None, [tells, ast.Raise(None, None)])
        return ast.copy_location(ast.Try([made], [handler], [], []), node)

    def _call(self, name: str, value: ast.expr, at: ast.AST) -> ast.expr:
        made = ast.Call(ast.Attribute(ast.Constant(self._mark), name, ast.Load()), [value], [])
        for child in (made, made.func, made.func.value):  # type: ignore[attr-defined]
            ast.copy_location(child, at)
        return made

    def _block(self, node: Any) -> Any:
        before = self._now, self._is_told
        self._now, self._is_told = "stash", not self._yields
        self.generic_visit(node)
        self._now, self._is_told = before
        return node

    visit_Try = visit_TryStar = visit_With = visit_AsyncWith = visit_For = visit_AsyncFor = _block

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if not self._async_generator:
            value = node.value or ast.copy_location(ast.Constant(None), node)
            node.value = self._call(self._now, value, value)
        return node

    def visit_Yield(self, node: ast.Yield) -> Any:
        self.generic_visit(node)
        value = node.value or ast.copy_location(ast.Constant(None), node)
        node.value = self._call("suspend", value, value)
        return self._call("resume", node, node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.generic_visit(node)
        node.value = self._call("suspend", node.value, node.value)
        return self._call("resume", node, node)
