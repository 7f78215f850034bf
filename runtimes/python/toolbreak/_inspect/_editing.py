"""Changes a person makes to a held call, checked by whoever owns the value: the tool's schema, a model, the framework."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _standard, _static
from .._call_types import Call
from . import _display, _nodes
from ._differences import path_text
from ._evaluating import run
from ._names import Names, NotStatic, constant
from ._nodes import Gone, Node
from ._trouble import UserError, error_sentence, refusal

if TYPE_CHECKING:
    from ._inspector import Inspector


def set_variable(inspector: Inspector, ref: int, name: str, text: str, client: str) -> dict[str, Any]:
    node = inspector.node(ref)
    if node.children is not None:
        for row in node.children():
            if isinstance(row, Node) and row.name == name:
                return edit(inspector, row, text, _frame_of(row, inspector), client)
        raise UserError(f"{name} cannot be changed.")
    try:
        children = _nodes.list_children(node.value(), None, 0, 0)
    except Gone:
        raise UserError(f"{name} is no longer there.") from None
    for own, how, key, _ in children:
        if own == name:
            return edit(inspector, inspector.child_node(node, own, how, key), text, _frame_of(node, inspector), client)
    raise UserError(f"{name} is no longer there.")


def _frame_of(node: Node, inspector: Inspector) -> int | None:
    """The frame whose scope the node lies in, from the place its root was made for."""
    root = node.root()
    for (parent, _, _), place in list(inspector._refs.items()):
        if place is root:
            return -parent - 1 if parent < -1 or parent == -1 else None
    return None


def set_expression(inspector: Inspector, frame: int, expression: str, text: str, client: str) -> dict[str, Any]:
    """`state["messages"][0].content`, `order_id`, `result`: a place named by an expression."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        node = _resolve(inspector, frame, tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError, NotStatic):
        raise UserError(f"{expression} names no place that can be changed.") from None
    except Gone:
        raise UserError(f"{expression} is not there.") from None
    return edit(inspector, node, text, frame, client)


def _resolve(inspector: Inspector, frame: int, tree: ast.expr) -> Node:
    call, source = inspector.frame_of(frame)
    if isinstance(tree, ast.Name):
        name = tree.id
        if call is not None:
            if name == "args":
                return inspector.arguments_node(frame, call)
            if name == "state":
                state = inspector.state_node(frame, call)
                if state is None:
                    raise UserError("There is no state here.")
                return state
            if name == "result":
                return inspector.result_node(frame, call)
            if name in call.args:
                return inspector.child_node(inspector.arguments_node(frame, call), name, _nodes.KEY, name)
        if source is not None and name in source.f_locals:
            return inspector.child_node(inspector.locals_node(frame, source), name, _nodes.KEY, name)
        value = Names(inspector, frame).find(name)
        if value is _static.MISSING:
            raise UserError(f"{name} is not known here.")
        return inspector.root(frame, f"name {name}", lambda: value, name)
    if isinstance(tree, ast.Attribute):
        parent = _resolve(inspector, frame, tree.value)
        return inspector.child_node(parent, tree.attr, _nodes.FIELD, tree.attr)
    if isinstance(tree, ast.Subscript):
        parent = _resolve(inspector, frame, tree.value)
        key = constant(tree.slice)
        owner = parent.value()
        if dict in _static.bases_of(type(owner)):
            return inspector.child_node(parent, _nodes.key_text(key), _nodes.KEY, key)
        if type(key) is int and key < 0:
            key += _nodes.counts(owner)[1]
        return inspector.child_node(parent, f"[{key}]", _nodes.INDEX, key)
    raise NotStatic("")


def edit(inspector: Inspector, node: Node, text: str, frame: int | None, client: str) -> dict[str, Any]:
    """Evaluates the text, writes it, lets the owner check it, and says what was done. A refusal leaves everything as it was."""
    if node.fixed:
        raise UserError(f"{node.name} cannot be changed.")
    names = Names(inspector, frame)
    root = node.root()
    label, kind = _label(node, root)
    try:
        new = run(inspector, names, text)
    except UserError as error:
        raise UserError(f"{label} was not changed: {str(error).rstrip('.')}.") from None
    try:
        old: Any = node.value()
        old_text = _display.one_line(old, 60)
    except Gone:
        old_text = "(nothing)"
    call = names.call if names.call is not None else inspector.hold.call

    def work() -> None:
        _apply(inspector, node, root, kind, call, new)

    try:
        inspector.run(work)
    except UserError:
        raise
    except TimeoutError:
        raise UserError(f"Changing {label} took longer than {inspector.seconds:g} s and was given up.") from None
    except Exception as error:
        raise UserError(refusal(label, error, call.kind)) from None
    value = node.value()
    inspector.edited(call, _said(call, label, old_text, _display.one_line(value, 60)), client)
    return inspector.variable(node, value, inspector.text(value))


def _label(node: Node, root: Node) -> tuple[str, str]:
    """(what a person calls the place, what owns it)."""
    path = path_text(node.steps())
    if root.how == "root":
        if root.name == "Arguments":
            return path or "args", "arguments"
        if root.name == "State":
            return f"state.{path}" if path and path[0] != "[" else f"state{path}", "state"
        if root.name == "result":
            return f"result.{path}" if path and path[0] != "[" else f"result{path}", "result"
        if root.name == "Locals":
            return path, "locals"
    return node.evaluate_name or node.name, "other"


def _apply(inspector: Inspector, node: Node, root: Node, kind: str, call: Any, new: Any) -> None:
    """Writes, then asks the owner; takes it back when the owner refuses."""
    adapter = call.adapter
    if kind == "arguments":
        if getattr(inspector.hold, "boundary", "") == "line" and call is inspector.hold.call:
            raise UserError(
                "The call has begun with these arguments; change the variables among the Locals of its lines."
            )
        steps = node.steps()
        if not steps:
            raise UserError("Change the arguments one by one.")
        name = steps[0][1]
        if len(steps) == 1:
            call.args[name] = adapter.check_args(call, name, new) if adapter is not None else new
            return
        undo = _nodes.write_child(node, new)
        _check(undo, lambda: adapter.check_args(call, name, call.args[name]) if adapter is not None else None)
        return
    if kind == "state":
        owner = inspector.state_owner(call)
        if node is root:
            checked = owner.adapter.check_state(owner, new) if owner.adapter is not None else new
            owner.state = checked
        else:
            undo = _nodes.write_child(node, new)
            checked = _check(
                undo,
                lambda: owner.adapter.check_state(owner, owner.state) if owner.adapter is not None else owner.state,
            )
            if checked is not None:
                owner.state = checked
        if owner.adapter is not None:
            owner.adapter.applied_state(owner, owner.state)
        return
    if kind == "result":
        if node is root:
            call.result = adapter.check_result(call, new) if adapter is not None else new
            return
        undo = _nodes.write_child(node, new)
        checked = _check(undo, lambda: adapter.check_result(call, call.result) if adapter is not None else call.result)
        call.result = checked
        return
    if kind == "locals":
        _, source = inspector.frame_of(_frame_of(node, inspector) or 0)
        if len(node.steps()) == 1:
            write_local(source, node.key, new)
            return
    _nodes.write_child(node, new)


def _check(undo: Callable[[], None], check: Callable[[], Any]) -> Any:
    try:
        return check()
    except BaseException:
        undo()
        raise


def write_local(source: Any, name: str, new: Any) -> None:
    """A local variable of a function that is on the stack."""
    if source is None:
        raise UserError(f"{name} cannot be changed.")
    code = source.f_code
    if code.co_flags & 0x1 and name not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
        raise UserError(f"{name} is no variable of its own of {code.co_name}, so it cannot be changed here.")
    source.f_locals[name] = new
    if sys.version_info < (3, 13):
        # Before 3.13 `f_locals` is a copy that has to be written back.
        try:
            ctypes = _standard.module("ctypes")

            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(source), ctypes.c_int(0))
        except (ImportError, AttributeError):
            raise UserError("Local variables cannot be changed in this Python.") from None


def take_over(
    inspector: Inspector, names: Names, before: dict[str, Any], after: dict[str, Any], args: dict[str, Any], client: str
) -> None:
    """After statements in the console: assigned arguments, state and results are edits, names of the module are the module's, others stay here."""
    call = names.call
    problems: list[str] = []
    if call is not None:
        # Items set directly, `args["order_id"] = 70`, have to pass the same check.
        for name, value in list(call.args.items()):
            if name not in args or args[name] is not value:
                if name in args:
                    call.args[name] = args[name]
                else:
                    del call.args[name]
                _take_argument(inspector, call, name, value, problems, client)
    for name, value in after.items():
        if name == "__builtins__" or (name in before and before[name] is value):
            continue
        if call is not None and name in names.own:
            if name in call.args:
                _take_argument(inspector, call, name, value, problems, client)
            elif name in ("state", "result") and names.frame is not None:
                node = (
                    inspector.result_node(names.frame, call)
                    if name == "result"
                    else inspector.state_node(names.frame, call)
                )
                if node is not None:
                    _guarded(inspector, call, node, name, value, problems, client)
        elif name in names.locals and names.source is not None:
            write_local(names.source, name, value)
        elif name in names.globals or names.outside:
            names.globals[name] = value
        else:
            inspector.scratch[name] = value
    if problems:
        raise UserError(" ".join(problems))


def _guarded(
    inspector: Inspector, call: Any, node: Node, name: str, value: Any, problems: list[str], client: str
) -> None:
    old = _display.one_line(node.value(), 60)
    try:
        inspector.run(lambda: _apply(inspector, node, node, name, call, value))
    except UserError as error:
        problems.append(str(error))
    except Exception as error:
        problems.append(refusal(name, error, call.kind))
    else:
        inspector.edited(call, _said(call, name, old, _display.one_line(node.value(), 60)), client)


def _take_argument(inspector: Inspector, call: Any, name: str, value: Any, problems: list[str], client: str) -> None:
    old = _display.one_line(call.args[name], 60) if name in call.args else "(nothing)"

    def work() -> None:
        call.args[name] = call.adapter.check_args(call, name, value) if call.adapter is not None else value

    try:
        inspector.run(work)
    except TimeoutError:
        problems.append(f"Checking {name} took too long.")
    except Exception as error:
        problems.append(refusal(name, error, call.kind))
    else:
        inspector.edited(call, _said(call, name, old, _display.one_line(call.args[name], 60)), client)


__all__ = ["edit", "error_sentence", "set_expression", "set_variable", "take_over", "write_local"]


def _said(call: Call, label: str, old: str, new: str) -> str:
    """The line about an edit. It is recorded, so the value of a secret is not in it."""
    from .._masking import MASK, is_secret_name

    if any(is_secret_name(part) for part in re.findall(r"\w+", label)):
        old = new = MASK
    # What stands for code outside of calls has a name that says nothing.
    about = f"{call.name}: " if call.number else ""
    return f"{about}{label} {old} → {new} (edited)"
