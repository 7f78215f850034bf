"""Where a function, a method or a class is defined."""

from __future__ import annotations

import ast
import os
import sys
import types
from typing import Any

from .. import _static
from ._trouble import UserError

_get_code: Any = types.FunctionType.__dict__["__code__"].__get__
_get_function: Any = types.MethodType.__dict__["__func__"].__get__
_module_fields: Any = vars(types.ModuleType)["__dict__"].__get__

#: Decorators around one function that are looked through.
_WRAPPERS = 20


def is_located(value: Any) -> bool:
    """Whether `place_of` may know a place. Asked for every value that is shown, so no file is looked at."""
    kind: Any = type(value)
    if kind is types.FunctionType or kind is types.MethodType:
        function = _function(value)
        return function is not None and not _get_code(function).co_filename.startswith("<")
    return type in _static.bases_of(kind) and _static.is_python_class(value) and _file_of(value) is not None


def place_of(value: Any) -> dict[str, Any]:
    """Path and line, counted from 1. Raises UserError."""
    kind: Any = type(value)
    if kind is types.FunctionType or kind is types.MethodType:
        function = _function(value)
        if function is not None:
            from .. import _sources

            code = _get_code(function)
            return {"path": _existing(code.co_filename), "line": _sources.def_line(code)}
    elif type in _static.bases_of(kind):
        return _class_place(value)
    raise UserError("Only functions, methods and classes have a definition to go to.")


def _existing(path: str) -> str:
    from .._calls import real_path

    path = real_path(path)
    if not os.path.isfile(path):
        raise UserError(f"The file of the definition is not there: {path}.")
    return path


def _function(value: Any) -> Any:
    """The function that a person wrote: below a method, and below decorators that say what they wrap."""
    if type(value) is types.MethodType:
        value = _get_function(value)
    for _ in range(_WRAPPERS):
        if type(value) is not types.FunctionType:
            return None
        inner = _static.read_field(value, "__wrapped__")
        if type(inner) is not types.FunctionType:
            break
        value = inner
    return value


def _file_of(cls: type) -> str | None:
    module = sys.modules.get(_static.module_name(cls))
    if type(module) is not types.ModuleType:
        return None
    path = _module_fields(module).get("__file__")
    return path if type(path) is str and path.endswith((".py", ".pyw")) else None


def _class_place(cls: type) -> dict[str, Any]:
    from .. import _sources
    from .._calls import real_path

    name = _static.type_name(cls)
    path = _file_of(cls)
    if path is None:
        raise UserError(f"{name} is not defined in a Python file.")
    path = _existing(path)
    try:
        classes = _sources.file(path).classes
    except (OSError, SyntaxError, ValueError, RecursionError):
        raise UserError(f"The file of {name} cannot be read: {path}.") from None
    qualname = _static.short_name(cls)
    found = [node for known, node in classes if known == qualname]
    if not found:
        raise UserError(f"{name} is not defined by a class statement in {path}.")
    # Of several under one name it is the one that holds a line of the class, else the last, which hides the others.
    own = _static.namespace(cls)
    lines = [
        _get_code(member).co_firstlineno
        for member in list(own.values())
        if type(member) is types.FunctionType and real_path(_get_code(member).co_filename) == path
    ]
    first = own.get("__firstlineno__")
    if type(first) is int:
        lines.insert(0, first)
    return {"path": path, "line": next((node for node in found if _holds_any(node, lines)), found[-1]).lineno}


def _holds_any(node: ast.ClassDef, lines: list[int]) -> bool:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return any(first <= line <= (node.end_lineno or first) for line in lines)
