"""Expressions of watches, hovers and the console, and their completion."""

from __future__ import annotations

import ast
import keyword
import re
import sys
from typing import TYPE_CHECKING, Any

from .. import _static
from . import _display, _nodes
from ._names import Names, NotStatic, read_static
from ._trouble import UserError, error_sentence

if TYPE_CHECKING:
    from ._inspector import Inspector

_FILE = "<expression>"
NOTHING: Any = object()
_PATH = re.compile(r"(?:[A-Za-z_]\w*|\[(?:-?\d+|\"[^\"\\]*\"|'[^'\\]*')\]|\.)*\Z")
_OPEN_KEY = re.compile(r"(.*)\[(\"|')([^\"']*)\Z", re.DOTALL)


def evaluate(inspector: Inspector, expression: str, context: str, frame: int | None, client: str) -> dict[str, Any]:
    names = Names(inspector, frame)
    if context == "hover":
        return answer(inspector, expression, read_static(names, expression), frame, quiet=True)
    value = run(inspector, names, expression, statements=context == "repl", client=client)
    if value is NOTHING:
        return {"name": expression, "value": "", "ref": 0, "editable": False}
    if context == "clipboard":
        try:
            text = inspector.run(lambda: _display.full_text(value))
        except TimeoutError:
            raise UserError(f"The value's own text took longer than {inspector.seconds:g} s.") from None
        except Exception as error:
            text = f"{_display.one_line(value)} (its __repr__ raised {error_sentence(error)})"
        return {"name": expression, "value": text, "type": _display.type_text(value), "ref": 0, "editable": False}
    return answer(inspector, expression, value, frame)


def answer(inspector: Inspector, expression: str, value: Any, frame: int | None, quiet: bool = False) -> dict[str, Any]:
    """The variable of an evaluated value. Its children come from the value, whatever becomes of the expression."""
    node = inspector.place(-(frame or 0) - 1, "evaluated", expression)
    node.read = lambda: value
    node.evaluate_name = expression if is_place(expression) else None
    node.fixed = node.evaluate_name is None
    own = (
        _display.one_line(value, _display.TEXT if type(value) is str else _display.LINE)
        if quiet
        else inspector.text(value)
    )
    return inspector.variable(node, value, own)


def is_place(expression: str) -> bool:
    """Whether the text names a place that can be written: a name, an attribute or an item."""
    try:
        return isinstance(ast.parse(expression.strip(), mode="eval").body, (ast.Name, ast.Attribute, ast.Subscript))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def run(inspector: Inspector, names: Names, text: str, statements: bool = False, client: str = "") -> Any:
    """Runs what the person typed, within the time limit. Raises UserError with `Type: message`. NOTHING: statements without a value."""
    text = text.strip()
    if not text:
        raise UserError("There is nothing to evaluate.")
    try:
        body, last = _compiled(text, statements)
    except SyntaxError as error:
        raise UserError(f"SyntaxError: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise UserError(error_sentence(error)) from None
    namespace = names.merged()
    before = dict(namespace)
    args = dict(names.call.args) if names.call is not None else {}

    def work() -> Any:
        if body is not None:
            exec(body, namespace)
        return NOTHING if last is None else eval(last, namespace)

    try:
        value = inspector.run(work)
    except TimeoutError:
        raise UserError(f"This took longer than {inspector.seconds:g} s and was stopped.") from None
    except Exception as error:
        raise UserError(error_sentence(error)) from None
    except SystemExit as error:
        # `exit()` in the console is no end of the app. Ctrl-C and the end of a job pass.
        raise UserError(error_sentence(error)) from None
    if statements:
        from ._editing import take_over

        take_over(inspector, names, before, namespace, args, client)
    return value


def _compiled(text: str, statements: bool) -> tuple[Any, Any]:
    if not statements:
        return None, compile(text, _FILE, "eval", dont_inherit=True)
    tree = ast.parse(text, _FILE, "exec")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = compile(ast.Expression(tree.body.pop().value), _FILE, "eval", dont_inherit=True)  # type: ignore[attr-defined]
    return (compile(tree, _FILE, "exec", dont_inherit=True) if tree.body else None), last


# ---------------------------------------------------------------- completion


def completions(inspector: Inspector, text: str, column: int, frame: int | None) -> list[dict[str, Any]]:
    """Names, attributes and keys that continue the text before `column` (counted from 1). `start` counts from 0 in `text`."""
    names = Names(inspector, frame)
    before = text[: max(0, column - 1)]
    opened = _OPEN_KEY.match(before)
    if opened is not None:
        owner = _owner(names, opened.group(1))
        if owner is not _static.MISSING and dict in _static.bases_of(type(owner)):
            typed = opened.group(3)
            start = len(before) - len(typed)
            keys = [key for key in dict.keys(owner) if type(key) is str and key.startswith(typed)]
            return [{"label": key, "type": "property", "start": start, "length": len(typed)} for key in keys[:500]]
        return []
    match = re.search(r"[A-Za-z_]\w*\Z", before)
    typed = match.group() if match else ""
    start = len(before) - len(typed)
    lead = before[:start]
    if lead.endswith("."):
        owner = _owner(names, lead[:-1])
        if owner is _static.MISSING:
            return []
        found = attributes_of(owner)
    elif lead.endswith(("'", '"')):
        return []
    else:
        import builtins

        found = {**names.all()}
        for name in vars(builtins):
            if not name.startswith("_"):
                found.setdefault(name, "function")
        for name in keyword.kwlist:
            found.setdefault(name, "keyword")
    wanted = [
        (name, sort)
        for name, sort in found.items()
        if name.startswith(typed) and (typed.startswith("_") or not name.startswith("_"))
    ]
    return [{"label": name, "type": sort, "start": start, "length": len(typed)} for name, sort in wanted[:500]]


def _owner(names: Names, text: str) -> Any:
    """The value of the path that ends the text; MISSING when it would have to run."""
    place = len(text)
    # The longest end of the text that is a path and a whole expression.
    while place > 0 and _PATH.match(text, place - 1) is not None:
        place -= 1
    for begin in range(_path_begin(text), len(text)):
        try:
            return read_static(names, text[begin:])
        except NotStatic:
            continue
    return _static.MISSING


def _path_begin(text: str) -> int:
    """Where the path that ends the text may begin: after the last character that cannot stand in one outside of quotes."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        character = text[place]
        if character == "]":
            depth += 1
        elif character == "[":
            if depth == 0:
                return place + 1
            depth -= 1
        elif depth == 0 and not (character.isalnum() or character in "_."):
            return place + 1
    return 0


def attributes_of(owner: Any) -> dict[str, str]:
    """Attribute names without `dir()`, which may be the app's: instance fields, then the classes'."""
    kind = type(owner)
    found: dict[str, str] = {}
    if kind is type(sys):
        return {name: "variable" for name in type(sys).__dict__["__dict__"].__get__(owner) if type(name) is str}
    if type in _static.bases_of(kind):
        classes = _static.mro(owner)
    else:
        classes = _static.mro(kind)
        for name in _nodes.fields_of(owner):
            found.setdefault(name, "field")
    for base in classes:
        for name, value in _static.namespace(base).items():
            if type(name) is str:
                found.setdefault(name, "method" if callable(value) else "property")
    return found
