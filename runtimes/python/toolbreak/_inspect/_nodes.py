"""A place in a tree of values: how it is read, which children it has, how it is written back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

from .. import _standard, _static
from .._kinds import is_text_like, opaque_reason
from ._trouble import UserError

KEY, INDEX, FIELD, MEMBER = "key", "index", "field", "member"
_LEAVES = frozenset(id(kind) for kind in (int, float, bool, complex, type(None), type(...), bytes, bytearray, str))


class Gone(Exception):
    """The place does not exist any more: the app or an edit changed what is around it."""


class Node:
    """`parent` and (`how`, `key`) say where it lies; roots have a `read` of their own. `ref` names it for the adapter."""

    __slots__ = ("children", "evaluate_name", "fixed", "how", "key", "name", "parent", "read", "ref", "write")

    def __init__(self, ref: int, name: str, parent: Node | None, how: str, key: Any, evaluate_name: str | None) -> None:
        self.ref = ref
        self.name = name
        self.parent = parent
        self.how = how
        self.key = key
        self.evaluate_name = evaluate_name
        self.read: Callable[[], Any] | None = None
        self.write: Callable[[Any], Any] | None = None
        #: Children that are not the value's own, such as a scope's rows: (name, node) made by the inspector.
        self.children: Callable[[], list[Any]] | None = None
        #: Shown only; nothing below it can be edited.
        self.fixed = False

    def value(self) -> Any:
        if self.read is not None:
            return self.read()
        assert self.parent is not None
        return child(self.parent.value(), self.how, self.key)

    def root(self) -> Node:
        node = self
        while node.parent is not None and node.read is None:
            node = node.parent
        return node

    def steps(self) -> list[tuple[str, Any]]:
        """How to get here from the root."""
        found: list[tuple[str, Any]] = []
        node: Node = self
        while node.read is None and node.parent is not None:
            found.append((node.how, node.key))
            node = node.parent
        return found[::-1]


def counts(value: Any) -> tuple[int, int]:
    """(named, indexed) children of a value."""
    kind = type(value)
    if id(kind) in _LEAVES:
        return (0, 0)
    bases = _static.bases_of(kind)
    for base in (list, tuple, set, frozenset):
        if base in bases:
            fields = _beside(value, kind)
            return (len(fields), base.__len__(value))
    if dict in bases:
        return (dict.__len__(value) + len(_beside(value, kind)), 0)
    names = _static.shape_of(kind).base_names
    if "collections.deque" in names:
        deque = _standard.module("collections").deque

        return (0, deque.__len__(value))
    if "numpy.ndarray" in names:
        shape = sys.modules["numpy"].ndarray.__dict__["shape"].__get__(value)
        return (0, int(shape[0])) if shape else (0, 0)
    fields = fields_of(value)
    return (len(fields), 0)


def _beside(value: Any, kind: type) -> dict[str, Any]:
    """Fields that a subclass of a builtin container has beside its contents."""
    if kind is list or kind is dict or kind is tuple or kind is set or kind is frozenset:
        return {}
    fields = _static.shape_of(kind).fields(value) or {}
    names = _static.find_in_class(kind, "_fields")
    if tuple in _static.bases_of(kind) and type(names) is tuple:
        items = tuple.__getitem__(value, slice(None))
        fields = {**{name: item for name, item in zip(names, items) if type(name) is str}, **fields}
    return fields


def fields_of(value: Any) -> dict[str, Any]:
    """Fields of an object, public ones first; empty for what has none to show."""
    kind = type(value)
    shape = _static.shape_of(kind)
    if type in shape.bases or is_text_like(kind) or "enum.Enum" in shape.base_names:
        return {}
    if BaseException in shape.bases:
        fields = dict(shape.fields(value) or {})
        fields["args"] = _static.get_args(value)
        from .._errors import cause_of

        way, cause = cause_of(value)
        if cause is not None:
            fields[f"__{way}__" if way in fields else way] = cause
        return fields
    if opaque_reason(value, kind, shape) is not None and not _static.is_python_class(kind):
        return {}
    fields = shape.fields(value) or {}
    return dict(sorted(fields.items(), key=lambda field: field[0].startswith("_")))


def list_children(value: Any, which: str | None, start: int, count: int) -> list[tuple[str, str, Any, Any]]:
    """(name, how, key, value) of the children `start`… of the wanted sort; `count` 0 means all."""
    kind = type(value)
    if id(kind) in _LEAVES:
        return []
    found: list[tuple[str, str, Any, Any]] = []
    bases = _static.bases_of(kind)
    end = None if count <= 0 else start + count
    if which != "named":
        items = _indexed(value, bases, start, end)
        if items is not None:
            how = MEMBER if set in bases or frozenset in bases else INDEX
            found.extend(
                (f"{index}" if how is MEMBER else f"[{index}]", how, index, item)
                for index, item in enumerate(items, start)
            )
            if which is None and end is None:
                found.extend((name, FIELD, name, item) for name, item in _beside(value, kind).items())
            return found
        if which == "indexed":
            return []
    if dict in bases:
        pairs: Any = islice(_static.pairs_of(value), start, end)
        found.extend((name, KEY, key, item) for name, key, item in _named(value, list(pairs)))
        if end is None or len(found) < count:
            found.extend((name, FIELD, name, item) for name, item in _beside(value, kind).items())
        return found
    fields = _beside(value, kind) if any(base in bases for base in (list, tuple, set, frozenset)) else fields_of(value)
    return [(name, FIELD, name, item) for name, item in islice(fields.items(), start, end)]


def _indexed(value: Any, bases: _static.Bases, start: int, end: int | None) -> list[Any] | None:
    if list in bases:
        return list.__getitem__(value, slice(start, end))
    if tuple in bases:
        return list(tuple.__getitem__(value, slice(start, end)))
    if set in bases:
        return list(islice(list(set.__iter__(value)), start, end))
    if frozenset in bases:
        return list(islice(list(frozenset.__iter__(value)), start, end))
    names = _static.shape_of(type(value)).base_names
    if "collections.deque" in names:
        deque = _standard.module("collections").deque

        return list(islice(list(deque.__iter__(value)), start, end))
    if "numpy.ndarray" in names:
        base = sys.modules["numpy"].ndarray
        try:
            if _static.module_name(type(value)).startswith("numpy.ma"):
                # The library's own: what its mask hides is not there.
                hiding = type(value)
                part = hiding.__getitem__(value, slice(start, end))
                return [hiding.__getitem__(part, index) for index in range(len(part))]
            return [item for item in base.__getitem__(base.view(value, base), slice(start, end))]
        except Exception:
            return []
    return None


def _named(value: Any, pairs: list[tuple[Any, Any]]) -> list[tuple[str, Any, Any]]:
    """The key `"1"` is written with its quotes where there is a key `1` beside it."""
    others: set[str] = set()
    if any(type(key) is str for key, _ in pairs):
        others = {key_text(key) for key in list(dict.keys(value)) if type(key) is not str}
    return [(repr(key) if type(key) is str and key in others else key_text(key), key, item) for key, item in pairs]


def key_text(key: Any) -> str:
    from ._display import one_line

    return key if type(key) is str else one_line(key, 60)


def child(value: Any, how: str, key: Any) -> Any:
    """One child, read without running code. Raises Gone."""
    bases = _static.bases_of(type(value))
    if how == KEY:
        if dict in bases:
            found = dict_item(value, key)
            if found is not _static.MISSING:
                return found
        raise Gone
    if how == INDEX or how == MEMBER:
        start = key
        if type(start) is int and start < 0:
            start += counts(value)[1]
        items = _indexed(value, bases, start, start + 1) if start >= 0 else None
        if not items:
            raise Gone
        return items[0]
    fields = (
        {**_beside(value, type(value))}
        if any(base in bases for base in (dict, list, tuple, set, frozenset))
        else fields_of(value)
    )
    if key not in fields:
        raise Gone
    return fields[key]


def dict_item(value: Any, key: Any) -> Any:
    """An item by identity, or by equality of exact plain keys, so that no `__eq__` or `__hash__` of the app runs."""
    plain = id(type(key)) in _LEAVES
    for own, item in list(dict.items(value)):
        if own is key or (plain and id(type(own)) in _LEAVES and own == key):
            return item
    return _static.MISSING


def evaluate_name(parent: str | None, how: str, key: Any) -> str | None:
    if parent is None:
        return None
    if how == KEY:
        # Digits of a huge number would be refused, when written as when read.
        if id(type(key)) not in _LEAVES or (type(key) is int and key.bit_length() > 4000):
            return None
        return f"{parent}[{quoted(key)}]"
    if how == INDEX:
        return f"{parent}[{key}]"
    if how == FIELD and key.isidentifier():
        return f"{parent}.{key}"
    return None


def quoted(key: Any) -> str:
    """`"order_id"`: keys in double quotes where that is simple."""
    if type(key) is str and '"' not in key and "\\" not in key and key.isprintable():
        return f'"{key}"'
    return repr(key)


def write_child(node: Node, new: Any) -> Callable[[], None]:
    """Writes a value into the place of `node`. Returns what takes it back. Raises UserError where the object refuses."""
    if node.write is not None:
        return node.write(new)
    parent = node.parent
    if parent is None or node.how == MEMBER:
        raise UserError(f"{node.name} cannot be changed.")
    container = parent.value()
    bases = _static.bases_of(type(container))
    key = node.key
    if node.how == KEY or (node.how == INDEX and tuple not in bases):
        old = container[key]
        container[key] = new

        def undo() -> None:
            container[key] = old

        return undo
    if tuple in bases:
        # A tuple cannot be changed: a new one takes its place.
        if node.how == FIELD:
            names = _static.find_in_class(type(container), "_fields")
            if type(names) is not tuple or key not in names:
                raise UserError(f"{node.name} cannot be changed.")
            key = names.index(key)
        items = list(tuple.__getitem__(container, slice(None)))
        items[key] = new
        kind = type(container)
        made = tuple(items) if kind is tuple else kind._make(items) if hasattr(kind, "_make") else kind(items)
        return write_child(parent, made)
    return write_field(container, key, new)


def write_field(owner: Any, name: str, new: Any) -> Callable[[], None]:
    """Sets a field; Pydantic models check it first."""
    old = _static.read_field(owner, name)
    kind = type(owner)
    if _static.shape_of(kind).is_pydantic:
        validator = getattr(kind, "__pydantic_validator__", None)
        fields = getattr(kind, "model_fields", {})
        if validator is not None and name in fields:
            before = dict(owner.__dict__)
            validator.validate_assignment(owner, name, new)

            def undo_model() -> None:
                owner.__dict__.clear()
                owner.__dict__.update(before)

            return undo_model
    setattr(owner, name, new)

    def undo() -> None:
        if old is _static.MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, old)

    return undo
