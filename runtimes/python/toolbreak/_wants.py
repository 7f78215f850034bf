"""Breakpoints that most runs of a function go past, decided from the arguments alone, before anything is made of the run.

For one breakpoint before a function, with a plain condition or a hit count. What is said here is only "surely not": the full way of a call decides
the rest, also what becomes of an expression that raises.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import _calls, _report, _sources
from ._conditions import NAMES, first_hit

if TYPE_CHECKING:
    from ._guard_state import Guard

_PLAIN = (
    *(
        ast.Expression,
        ast.BoolOp,
        ast.UnaryOp,
        ast.BinOp,
        ast.Compare,
        ast.IfExp,
        ast.Name,
        ast.Constant,
        ast.Attribute,
    ),
    *(ast.Subscript, ast.Slice, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.expr_context),
    *(ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
# The names of ours begin with a dot, so that no name of an expression is one of them.
_TEMPLATE = """
def make(_stops, _dot, _first, _hit, _get, _set, _quiet, _apps):
    def wants():
        if _stops.special or _stops.stop_byte[0]:
            return True
        _current = _get()
        try:
            _set(_quiet)
            if not _expression:
                return False
        except BaseException as _error:
            if _apps(_error):
                raise
            return True
        finally:
            _set(_current)
        if _current is not None and _current.frame is None:
            return True
        _hits = _dot.hits + 1
        if _hits < _first or (_hit is not None and not _hit(_hits)):
            _dot.hits = _hits
            return False
        return True
    return wants
"""


def make(guard: Guard, dot: Any) -> Callable[..., bool] | None:
    """Answers whether a run with these arguments may stop; None where that cannot be said from them."""
    tree: ast.expr | None = None
    if dot.condition is not None:
        tree = parsed = ast.parse(dot.condition.text.strip(), "<condition>", "eval").body
        hidden = guard.names[:1] if guard.is_method() else []
        for node in _sources.walk(parsed):
            if not isinstance(node, _PLAIN):
                return None
            if isinstance(node, ast.Name) and (node.id in hidden or (node.id in NAMES and node.id not in guard.names)):
                return None
    counts = dot.hit is not None or dot.ignore > 0
    if tree is None and not counts:
        return None
    module = _Fill(guard.names, tree, counts).visit(ast.parse(_TEMPLATE))
    scope: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(module), "<condition>", "exec", dont_inherit=True), scope)
    first = max(dot.ignore + 1, first_hit(dot.raw["hitCondition"]) if dot.hit is not None else 1)
    made = scope["make"](
        *(_calls.stopping, dot, first, dot.hit, _calls._current.get, _calls.set_current),
        *(_calls.quiet_call(), _is_the_apps),
    )
    names: Any = getattr(sys.modules.get(guard.module), "__dict__", None)
    if names is None:
        return None
    return FunctionType(made.__code__, names, "wants", None, made.__closure__)


def _is_the_apps(error: BaseException) -> bool:
    """A condition that ends the program is one that failed; Ctrl-C in the middle of it is Ctrl-C."""
    return not isinstance(error, SystemExit) and _report.is_the_apps(error)


class _Fill(ast.NodeTransformer):
    def __init__(self, names: list[str], expression: ast.expr | None, counts: bool) -> None:
        self._names = names
        self._expression = expression
        self._counts = counts

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        if node.name != "wants":
            return node
        node.args.args = [ast.arg(name) for name in self._names]
        if not self._counts:
            node.body[3:] = [ast.Return(ast.Constant(True))]
        if self._expression is None:
            del node.body[2]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        node.name = node.name and node.name.replace("_", ".", 1)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = node.arg.replace("_", ".", 1)
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id == "_expression":
            return self._expression
        if node.id.startswith("_"):
            node.id = node.id.replace("_", ".", 1)
        return node
