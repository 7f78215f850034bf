"""Reading objects without running any of their code.

Everything here goes through the descriptors of `object`, `type` and the builtin types, never through an attribute of the object itself:
a property, `__getattr__`, `__dict__` or `__class__` of the app is not asked, and neither is a metaclass. What cannot be read that way is not read.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from gc import get_referents
from typing import Any

_get_qualname: Any = type.__dict__["__qualname__"].__get__  # type: ignore[attr-defined]
_get_module: Any = type.__dict__["__module__"].__get__  # type: ignore[attr-defined]
_get_mro: Any = type.__dict__["__mro__"].__get__  # type: ignore[attr-defined]
_get_namespace: Any = type.__dict__["__dict__"].__get__  # type: ignore[attr-defined]
_get_flags: Any = type.__dict__["__flags__"].__get__  # type: ignore[attr-defined]
_get_base: Any = type.__dict__["__base__"].__get__  # type: ignore[attr-defined]
_get_size: Any = type.__dict__["__basicsize__"].__get__  # type: ignore[attr-defined]
_get_function_name: Any = types.FunctionType.__dict__["__qualname__"].__get__  # type: ignore[attr-defined]
_get_function_module: Any = types.FunctionType.__dict__["__module__"].__get__  # type: ignore[attr-defined]
get_args: Any = BaseException.__dict__["args"].__get__  # type: ignore[attr-defined]
get_traceback: Any = BaseException.__dict__["__traceback__"].__get__  # type: ignore[attr-defined]
get_cause: Any = BaseException.__dict__["__cause__"].__get__  # type: ignore[attr-defined]
get_context: Any = BaseException.__dict__["__context__"].__get__  # type: ignore[attr-defined]
get_suppress: Any = BaseException.__dict__["__suppress_context__"].__get__  # type: ignore[attr-defined]

_HEAP_TYPE = 1 << 9
_DICT_READERS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_SKIPPED_SLOTS = frozenset(("__dict__", "__weakref__"))
MISSING: Any = object()


def mro(cls: type) -> tuple[type, ...]:
    """The method resolution order, also where a metaclass lies about it."""
    return _get_mro(cls)


def namespace(cls: type) -> Any:
    """The class's own `__dict__` (a mapping proxy)."""
    return _get_namespace(cls)


def is_python_class(cls: type) -> bool:
    """Whether the class was made by a `class` statement or its like, not compiled into the interpreter."""
    return bool(_get_flags(cls) & _HEAP_TYPE)


def module_name(cls: type) -> str:
    try:
        name = _get_module(cls)
    except AttributeError:
        return ""
    return name if type(name) is str else ""


def short_name(cls: type) -> str:
    return _get_qualname(cls)


def type_name(cls: type) -> str:
    """`dict`, `orders.Order`: qualified, without `builtins` and without the inside of functions."""
    name: str = _get_qualname(cls)
    if "<locals>." in name:
        name = name.rpartition("<locals>.")[2]
    module = module_name(cls)
    return name if not module or module == "builtins" else f"{module}.{name}"


def function_name(function: Any) -> str:
    """`orders.lookup` of a plain function."""
    name = _get_function_name(function)
    try:
        module = _get_function_module(function)
    except AttributeError:
        module = None
    return f"{module}.{name}" if type(module) is str else str(name)


class Bases:
    """A method resolution order whose `in` compares by identity: a metaclass may have an `__eq__` of its own. Keeps none of the classes alive."""

    __slots__ = ("_ids", "_types")

    def __init__(self, types: tuple[type, ...]) -> None:
        self._types = tuple(map(weakref.ref, types))
        self._ids = frozenset(map(id, types))

    def __contains__(self, cls: type) -> bool:
        return id(cls) in self._ids

    def __iter__(self) -> Iterator[type]:
        for known in self._types:
            cls = known()
            if cls is not None:
                yield cls


#: The program ends: from here on nothing is kept alive.
_ended = False
_vars: Any = types.ModuleType.__dict__["__dict__"].__get__  # type: ignore[attr-defined]


def _is_lasting(cls: type) -> bool:
    """Whether its module has it, so that it does not go before the program ends."""
    if _ended:
        return False
    if not is_python_class(cls):
        return True
    module = sys.modules.get(module_name(cls))
    found: Any = _vars(module) if type(module) is types.ModuleType else {}
    for part in _get_qualname(cls).split("."):
        found = found.get(part)
        if found is cls:
            return True
        if not any(base is type for base in _get_mro(type(found))):
            return False
        found = _get_namespace(found)
    return False


def _reader(order: tuple[type, ...], base: type, name: str, is_lasting: bool) -> Any:
    """`read(value)` of a member. A descriptor keeps its class alive: that of one that may go is found anew each time."""
    if is_lasting:
        return _get_namespace(base)[name].__get__
    place = list(map(id, order)).index(id(base))

    def read(value: Any) -> Any:
        now = _get_mro(type(value))
        # Where it was; elsewhere where the class was given other bases since.
        for owner in (*now[place : place + 1], *now):
            member = _get_namespace(owner).get(name)
            # What else stands there by now would run code.
            if type(member) in _DICT_READERS:
                try:
                    return member.__get__(value)
                except TypeError:
                    pass
        raise AttributeError(name)

    return read


class Shape:
    """
    What is known of one type: how its fields are read. Kept by the type's id, with a weak reference that proves the id is still its own. Through a
    class all of its module can be reached, down to an object that is to be finalised when the program ends.
    """

    __slots__ = (
        "name",
        "bases",
        "base_names",
        "read_dict",
        "read_extra",
        "slots",
        "is_pydantic",
        "is_record",
        "__weakref__",
    )

    def __init__(self, cls: type) -> None:
        order = _get_mro(cls)
        lasts = _is_lasting(cls)
        self.name = type_name(cls)
        self.bases = Bases(order)
        self.base_names = frozenset(f"{module_name(base)}.{_get_qualname(base)}" for base in self.bases)
        self.read_dict: Any = None
        slots: list[tuple[str, Any]] = []
        for base in reversed(order):
            own = _get_namespace(base)
            reader = own.get("__dict__")
            if self.read_dict is None and type(reader) in _DICT_READERS and base is not type:
                self.read_dict = _reader(order, base, "__dict__", lasts)
            if "__slots__" not in own or not is_python_class(base):
                continue
            for name, member in own.items():
                if type(member) is types.MemberDescriptorType and type(name) is str and name not in _SKIPPED_SLOTS:
                    slots.append((name, _reader(order, base, name, lasts)))
        self.is_pydantic = any(name.endswith(".BaseModel") and name.startswith("pydantic") for name in self.base_names)
        if self.is_pydantic:
            slots = [slot for slot in slots if not slot[0].startswith("__pydantic_")]
        self.read_extra: Any = _extra_reader(order, lasts) if self.is_pydantic else None
        #: Whether it is recorded as type and fields; decided by the walk at the first such object.
        self.is_record: bool | None = None
        self.slots = tuple(slots)

    def fields(self, value: Any) -> dict[str, Any] | None:
        """The fields the object has now, or None when its type keeps nothing that can be read. Keys are exact strings."""
        read = self.read_dict
        if read is None and not self.slots:
            return None
        found: dict[str, Any] = {}
        for name, get in self.slots:
            try:
                found[name] = get(value)
            except AttributeError:
                pass
        if read is not None:
            try:
                own = read(value)
            except AttributeError:
                own = None
            if type(own) is dict:
                if not found:
                    found = own.copy()
                    if not all_strings(found):
                        found = {key: item for key, item in found.items() if type(key) is str}
                else:
                    for key, item in list(own.items()):
                        if type(key) is str:
                            found[key] = item
            elif own is not None and isinstance_static(own, dict):
                for key, item in list(dict.items(own)):
                    if type(key) is str:
                        found[key] = item
        if self.read_extra is not None:
            # Fields beyond the declared ones, which Pydantic keeps in a slot of its own.
            try:
                extra = self.read_extra(value)
            except AttributeError:
                extra = None
            if type(extra) is dict and extra:
                found.update((key, item) for key, item in list(extra.items()) if type(key) is str)
        return found


def all_strings(items: dict[Any, Any]) -> bool:
    for key in items:
        if type(key) is not str:
            return False
    return True


def _extra_reader(order: tuple[type, ...], is_lasting: bool) -> Any:
    for base in order:
        if type(_get_namespace(base).get("__pydantic_extra__")) is types.MemberDescriptorType:
            return _reader(order, base, "__pydantic_extra__", is_lasting)
    return None


def isinstance_static(value: Any, cls: type) -> bool:
    """`isinstance` that asks neither `__class__` nor `__instancecheck__`."""
    for base in _get_mro(type(value)):
        if base is cls:
            return True
    return False


def pairs_of(value: Any) -> list[tuple[Any, Any]]:
    """
    The keys and values of a dict of whatever class, in its order. An OrderedDict keeps that beside the table, as it is passed to the collector, and
    answers it by asking keys for their hash, which may be code of the app.
    """
    pairs = list(dict.items(value))
    if type(value) is dict or not pairs or not isinstance_static(value, OrderedDict):
        return pairs
    by_key = {id(pair[0]): pair for pair in pairs}
    seen, count = get_referents(value), len(pairs)
    # Last come the values of the table, each behind its key where one was no text.
    ways = (2, 3) if all(type(key) is str for key, _ in pairs) else (3, 2)
    for at in (len(seen) - way * count for way in ways):
        keys = seen[at : at + count] if at >= 0 else []
        if len(keys) == count and set(map(id, keys)) == by_key.keys():
            return [by_key[id(key)] for key in keys]
    return pairs


_shapes: dict[int, tuple[Any, Shape]] = {}


def shape_of(cls: type) -> Shape:
    known = _shapes.get(id(cls))
    if known is not None and known[0]() is cls:
        return known[1]
    shape = Shape(cls)
    if len(_shapes) > 4000:
        _shapes.clear()
    _shapes[id(cls)] = (weakref.ref(cls), shape)
    return shape


def let_go() -> None:
    """The program ends: no class is kept, so that what its module holds is finalised as without us. What comes yet is still read."""
    global _ended
    _ended = True
    _shapes.clear()


def bases_of(cls: type) -> Bases:
    return shape_of(cls).bases


def keeps_more(shape: Shape) -> bool:
    """Whether a compiled base keeps something beside the fields, such as the digits of a `Decimal`."""
    for base in shape.bases:
        own = _get_namespace(base)
        above = _get_base(base)
        if above is None or "__slots__" in own or "__dict__" in own or "__weakref__" in own:
            continue
        if _get_size(base) > _get_size(above) and not module_name(base).startswith("pydantic"):
            return True
    return False


def int_text(value: int) -> str:
    """The digits, or how many bits there are: Python itself refuses to write more than 4,300 digits."""
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= 4000 else f"an integer of {bits} bits"


def find_in_class(cls: type, name: str) -> Any:
    """The class attribute as stored, without binding it; MISSING when there is none."""
    for base in _get_mro(cls):
        own = _get_namespace(base)
        if name in own:
            return own[name]
    return MISSING


def read_field(value: Any, name: str) -> Any:
    """An instance field by its name, read without running code; MISSING when it would need code or does not exist."""
    shape = shape_of(type(value))
    fields = shape.fields(value)
    if fields is not None and name in fields:
        return fields[name]
    return MISSING
