"""Objects that have nothing to show but their type and a name: functions, locks, sockets, generators, live resources."""

from __future__ import annotations

import types
from typing import Any

from . import _report, _static

_EXACT: dict[int, str] = {
    id(kind): reason
    for kind, reason in (
        (types.FunctionType, "a function"),
        (types.BuiltinFunctionType, "a function"),
        (types.MethodType, "a method"),
        (types.MethodDescriptorType, "a method"),
        (types.WrapperDescriptorType, "a method"),
        (types.MethodWrapperType, "a method"),
        (types.GetSetDescriptorType, "a descriptor"),
        (types.MemberDescriptorType, "a descriptor"),
        (types.ModuleType, "a module"),
        (types.GeneratorType, "a generator; reading it would change it"),
        (types.AsyncGeneratorType, "an async generator; reading it would change it"),
        (types.CoroutineType, "a coroutine"),
        (types.CodeType, "compiled code"),
        (types.FrameType, "a stack frame"),
        (types.TracebackType, "a traceback"),
        (types.MappingProxyType, "a view of a mapping; reading it could run code"),
        (memoryview, "a view of memory"),
        (property, "a property"),
        (staticmethod, "a static method"),
        (classmethod, "a class method"),
    )
}
# Whatever these modules define stands for something live; its fields would lead to half of the process.
_LIVE = frozenset(
    "threading _thread asyncio _asyncio socket _socket ssl _ssl select selectors subprocess multiprocessing concurrent queue _queue logging sqlite3 _sqlite3"
    " io _io tempfile http urllib weakref _weakref contextvars _contextvars ctypes _ctypes mmap itertools tokenize inspect functools operator"
    " importlib zipimport httpx httpx2 httpcore requests aiohttp urllib3 anyio".split()
)
_WORDS = {
    "_thread": "a lock or thread",
    "threading": "a lock or thread",
    "_io": "a file or stream",
    "io": "a file or stream",
    "socket": "a socket",
    "_socket": "a socket",
    "ssl": "a socket",
    "itertools": "an iterator; reading it would change it",
    "weakref": "a weak reference",
    "_weakref": "a weak reference",
}


_module_fields: Any = vars(types.ModuleType)["__dict__"].__get__


def opaque_reason(value: Any, kind: type, shape: _static.Shape) -> str | None:
    """Why the object is not looked into, or None when its fields are worth reading."""
    reason = _EXACT.get(id(kind))
    if reason is not None:
        return reason
    if type in shape.bases:
        return "a class"
    for base in shape.bases:
        module = _static.module_name(base)
        if not module or module == "builtins":
            continue
        root = module.partition(".")[0]
        if root in _LIVE:
            return _WORDS.get(root, f"a live object of {root}")
    return None


def opaque_text(value: Any, kind: Any) -> str:
    """A name, where there is one that costs no code."""
    if kind is types.FunctionType:
        return _static.function_name(value)
    if kind is types.MethodType:
        function = types.MethodType.__dict__["__func__"].__get__(value)
        return _static.function_name(function) if type(function) is types.FunctionType else ""
    if kind is types.BuiltinFunctionType:
        return repr_of_builtin(value)
    if kind is types.GeneratorType or kind is types.CoroutineType or kind is types.AsyncGeneratorType:
        name = kind.__dict__["__qualname__"].__get__(value)
        return name if type(name) is str else ""
    if kind is types.ModuleType:
        name = _module_fields(value).get("__name__")
        return name if type(name) is str else ""
    if type in _static.bases_of(kind):
        return _static.type_name(value)
    if kind is range:
        return range.__repr__(value)
    module = _static.module_name(kind)
    name = _static.short_name(kind)
    # Types of the standard library whose text is made by the standard library alone. Only exact ones: a subclass may have its own.
    if kind is slice:
        return _slice_text(value)
    if module == "fractions" and name == "Fraction":
        top, bottom = _static.read_field(value, "_numerator"), _static.read_field(value, "_denominator")
        return f"{_static.int_text(top)}/{_static.int_text(bottom)}" if type(top) is type(bottom) is int else ""
    if module == "uuid" and name == "UUID":
        number = _static.read_field(value, "int")
        if type(number) is int:
            digits = f"{number:032x}"
            return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    if is_text_like(kind):
        try:
            return kind.__str__(value)
        except Exception as error:
            _report.let_through(error)
            return ""
    return ""


def base_text(value: Any, shape: _static.Shape) -> str:
    """What a subclass of `Decimal` has inside, in the words of `Decimal` itself; empty for everything else."""
    base: Any
    for base in shape.bases:
        if _static.module_name(base) == "decimal" and _static.short_name(base) == "Decimal":
            return base.__str__(value)
    return ""


def repr_of_builtin(value: Any) -> str:
    name = types.BuiltinFunctionType.__dict__["__qualname__"].__get__(value)
    return name if type(name) is str else ""


def _slice_text(value: slice) -> str:
    """`slice(0, 10, None)`; empty for one of anything else but numbers."""
    parts = (value.start, value.stop, value.step)
    if any(part is not None and type(part) is not int for part in parts):
        return ""
    return f"slice({', '.join('None' if part is None else _static.int_text(part) for part in parts)})"


_TEXT_MODULES = frozenset(("pathlib", "pathlib._local", "zoneinfo", "ipaddress"))
_TEXT_TYPES = frozenset(
    (
        ("uuid", "UUID"),
        ("decimal", "Decimal"),
        ("fractions", "Fraction"),
        ("re", "Pattern"),
        ("datetime", "timezone"),
        ("builtins", "range"),
        ("builtins", "slice"),
        ("builtins", "NotImplementedType"),
    )
)


def is_text_like(kind: type) -> bool:
    """Types of the standard library that are best shown as their text."""
    module = _static.module_name(kind)
    return module in _TEXT_MODULES or (module, _static.short_name(kind)) in _TEXT_TYPES
