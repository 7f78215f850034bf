"""Names in scope of a frame, and what they stand for when nothing may run."""

from __future__ import annotations

import ast
import sys
import types
from typing import TYPE_CHECKING, Any

from .. import _static
from . import _nodes
from ._nodes import Gone
from ._trouble import UserError

if TYPE_CHECKING:
    from ._inspector import Inspector


class Names:
    """The names of one frame, in the order in which they are looked up."""

    def __init__(self, inspector: Inspector, frame: int | None) -> None:
        self.frame = frame
        self.call: Any = None
        self.source: Any = None
        if frame is not None:
            self.call, self.source = inspector.frame_of(frame)
        else:
            self.call = inspector.hold.call
        self.own: dict[str, Any] = {}
        self.locals: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}
        call = self.call
        owner: Any = None
        if call is not None:
            if call.frame is not None:
                self.locals.update(call.frame.f_locals)
                self.globals = call.frame.f_globals
            else:
                module = sys.modules.get(call.function.module)
                self.globals = module.__dict__ if type(module) is types.ModuleType else {}
            self.own.update((name, value) for name, value in list(call.args.items()) if type(name) is str)
            owner = inspector.state_owner(call)
        #: Without a hold (call number 0) the names are the main module's, and new ones become its own.
        self.outside = call is not None and call.number == 0
        if call is not None and not self.outside:
            self.own.update(
                args=call.args,
                state=owner.state if owner is not None else None,
                result=call.result,
                error=call.error,
                call=call,
            )
        if self.source is not None:
            self.locals.update(self.source.f_locals)
            self.globals = self.source.f_globals
        self.scratch = inspector.scratch
        #: What the call has that a line runs in; the line's own names come before.
        self.around: dict[str, Any] = {}
        running = inspector.hold.call
        if call is None and running.number and getattr(inspector.hold, "boundary", "") == "line":
            owner = inspector.state_owner(running)
            self.around.update((name, value) for name, value in list(running.args.items()) if type(name) is str)
            self.around.update(args=running.args, state=owner.state if owner is not None else None, call=running)

    def find(self, name: str) -> Any:
        for names in (self.own, self.locals, self.scratch, self.globals, self.around):
            if name in names:
                return names[name]
        import builtins

        return vars(builtins).get(name, _static.MISSING)

    def merged(self) -> dict[str, Any]:
        """One namespace: functions and comprehensions inside an expression see globals only."""
        return {**self.around, **self.globals, **self.scratch, **self.locals, **self.own}

    def all(self) -> dict[str, str]:
        """Names with what they are, nearest first."""
        found: dict[str, str] = {}
        for names in (self.own, self.locals, self.scratch):
            for name in names:
                found.setdefault(name, "variable")
        for name in self.around:
            found.setdefault(name, "variable")
        for name, value in list(self.globals.items()):
            if type(name) is str and not name.startswith("__"):
                found.setdefault(name, _sort(value))
        return found


_module_fields: Any = vars(types.ModuleType)["__dict__"].__get__


def _sort(value: Any) -> str:
    kind = type(value)
    if kind is types.ModuleType:
        return "module"
    if kind is types.FunctionType or kind is types.BuiltinFunctionType:
        return "function"
    return "class" if type in _static.bases_of(kind) else "variable"


class NotStatic(UserError):
    """The expression would have to run code."""


def read_static(names: Names, expression: str) -> Any:
    """The value of names, attributes and subscripts with constant keys, without running anything. Raises NotStatic."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotStatic("Hover shows names, attributes and items only.") from None
    return _read(names, tree)


def _read(names: Names, tree: ast.expr) -> Any:
    if isinstance(tree, ast.Name):
        value = names.find(tree.id)
        if value is _static.MISSING:
            raise NotStatic(f"{tree.id} is not known here.")
        return value
    if isinstance(tree, ast.Attribute):
        return attribute(_read(names, tree.value), tree.attr)
    if isinstance(tree, ast.Subscript):
        key = constant(tree.slice)
        owner = _read(names, tree.value)
        kind: Any = type(owner)
        bases = _static.bases_of(kind)
        try:
            if dict in bases:
                return _nodes.child(owner, _nodes.KEY, key)
            if type(key) is int and (list in bases or tuple in bases):
                return _nodes.child(owner, _nodes.INDEX, key)
            if type(key) is int and kind is str:
                return owner[key]
        except (Gone, IndexError):
            raise NotStatic("There is no such item.") from None
    raise NotStatic("Hover shows names, attributes and items only.")


def constant(tree: ast.expr) -> Any:
    if isinstance(tree, ast.Constant):
        return tree.value
    if (
        isinstance(tree, ast.UnaryOp)
        and isinstance(tree.op, ast.USub)
        and isinstance(tree.operand, ast.Constant)
        and type(tree.operand.value) is int
    ):
        return -tree.operand.value
    raise NotStatic("Hover shows items with constant keys only.")


def attribute(owner: Any, name: str) -> Any:
    """An attribute that is stored, not computed."""
    kind: Any = type(owner)
    if kind is types.ModuleType:
        own = _module_fields(owner)
        if name in own:
            return own[name]
        raise NotStatic(f"{name} is not known here.")
    if type in _static.bases_of(kind):
        value = _static.find_in_class(owner, name)
    else:
        raw = _static.find_in_class(kind, name)
        # A data descriptor, such as a property, comes before the instance's own field, and would have to run.
        if (
            raw is _static.MISSING
            or type(raw) is types.MemberDescriptorType
            or _static.find_in_class(type(raw), "__set__") is _static.MISSING
        ):
            value = _static.read_field(owner, name)
            if value is _static.MISSING:
                value = raw
        else:
            value = _static.MISSING
    if value is _static.MISSING or (
        value is not None
        and _static.find_in_class(type(value), "__get__") is not _static.MISSING
        and not _is_function(value)
    ):
        raise NotStatic(f"{name} would have to run code.")
    return value


def _is_function(value: Any) -> bool:
    return type(value) is types.FunctionType or type(value) is types.BuiltinFunctionType
