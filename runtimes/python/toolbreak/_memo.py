"""Large parts of a workflow's state that did not change since they were last encoded: their bytes are written again, without a walk.

Whether anything inside changed, in place too, is decided by identity: the containers of the part are gone through once by C code that makes
one flat list of everything they hold, and that list's pointers are compared with those of last time. No code of the app runs, and equal
things of different types are different things. What the list holds stays alive as long as it is remembered, so an address cannot stand for two
objects; it is forgotten when its workflow ends, or when it is not part of the state any more.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from . import _report, _static

#: Smaller encodings are not worth it.
SMALLEST = 400
_MOST_CONTAINERS = 5000
_MOST_LEVELS = 20
_MOST_PARTS = 64
_flatten = chain.from_iterable
_values = dict.values
#: Immutable, and read without a look inside. By the type's id: a metaclass may have a hash of its own.
_ATOMS = frozenset(map(id, (str, int, float, bool, type(None), bytes, complex)))


def _make_pointers() -> Any:
    """Answers the addresses of a list's items, as bytes; None where lists are laid out in another way."""
    try:
        import ctypes
        import sys

        size = ctypes.sizeof(ctypes.c_void_p)
        place = list.__basicsize__ - 2 * size
        address = ctypes.c_void_p.from_address
        copy = ctypes.string_at

        def pointers(items: list[Any]) -> bytes:
            return copy(address(id(items) + place).value or 0, len(items) * size)

        sample: list[Any] = [None, 5, "text", {}, sample_type]
        expected = b"".join(id(item).to_bytes(size, sys.byteorder) for item in sample)
        return pointers if pointers(sample) == expected else None
    except Exception as error:
        _report.let_through(error)
        return None


class sample_type:
    """Something with an address of its own."""


class _Part:
    """One remembered value: what it consists of, and its bytes."""

    __slots__ = (
        "bytes",
        "containers",
        "dicts",
        "extras",
        "flat",
        "lengths",
        "lists",
        "objects",
        "pointers",
        "root",
        "used",
    )

    def __init__(self, root: Any) -> None:
        self.root = root
        self.dicts: list[dict[Any, Any]] = []
        self.lists: list[list[Any]] = []
        #: By the function that reads their fields: objects whose fields are a dict.
        self.objects: dict[Any, list[Any]] = {}
        self.bytes = b""
        self.used = 0

    def take(self) -> bool:
        """Goes through the value. False: something in it can change unseen."""
        stack: list[tuple[Any, int]] = [(self.root, 0)]
        left = _MOST_CONTAINERS
        dicts, lists = self.dicts, self.lists
        while stack:
            item, level = stack.pop()
            kind = type(item)
            left -= 1
            level += 1
            if left < 0 or level > _MOST_LEVELS:
                return False
            if kind is dict:
                dicts.append(item)
                inner: Any = item.values()
            elif kind is list:
                lists.append(item)
                inner = item
            elif kind is tuple:
                inner = item
            else:
                shape = _static.shape_of(kind)
                if not shape.is_record or shape.slots or shape.read_dict is None:
                    return False
                readers = [shape.read_dict] if shape.read_extra is None else [shape.read_dict, shape.read_extra]
                inner = []
                for read in readers:
                    fields = read(item)
                    if type(fields) is dict:
                        dicts.append(fields)
                        inner.extend(fields.values())
                    elif fields is not None:
                        return False
                    self.objects.setdefault(read, []).append(item)
            for value in inner:
                if id(type(value)) not in _ATOMS:
                    stack.append((value, level))
        self.containers = dicts + lists  # type: ignore[operator]
        self.lengths = list(map(len, self.containers))
        self.flat = self._flat()
        return True

    def _flat(self) -> list[Any]:
        dicts = self.dicts
        parts: list[Any] = [_flatten(dicts), _flatten(map(_values, dicts)), _flatten(self.lists)]
        for read, objects in self.objects.items():
            parts.append(map(type, objects))
            parts.append(map(read, objects))
        return list(_flatten(parts))

    def same(self, pointers: Any) -> bool:
        if list(map(len, self.containers)) != self.lengths:
            return False
        return pointers(self._flat()) == self.pointers


class Memo:
    """The parts of one process's states."""

    def __init__(self) -> None:
        self._pointers: Any = None
        self._ready = False
        self._parts: dict[int, _Part] = {}
        #: Ids of what was large to encode; an id of another value since is harmless.
        self._seen: dict[int, None] = {}
        self._clock = 0

    def forget(self) -> None:
        self._parts.clear()
        self._seen.clear()

    def find(self, value: Any) -> bytes | None:
        """The bytes of this very value, if nothing in it changed."""
        part = self._parts.get(id(value))
        if part is None:
            return None
        try:
            if part.root is value and part.same(self._pointers):
                self._clock = part.used = self._clock + 1
                return part.bytes
        except Exception as error:
            _report.let_through(error)
            pass  # Another thread changes it just now.
        self._parts.pop(id(value), None)
        return None

    def is_known(self, value: Any) -> bool:
        """Whether it was large to encode the last time: whoever comes a second time is remembered."""
        return id(value) in self._seen

    def note(self, value: Any) -> None:
        if len(self._seen) > 200:
            self._seen.clear()
        self._seen[id(value)] = None

    def look(self, value: Any) -> Any:
        """What `remember` needs, taken before the value is encoded. None: it cannot be remembered."""
        if not self._ready:
            self._pointers = _make_pointers()
            self._ready = True
        if self._pointers is None:
            return None
        try:
            part = _Part(value)
            if not part.take():
                return None
            part.pointers = self._pointers(part.flat)
            return part
        except Exception as error:
            _report.let_through(error)
            return None

    def remember(self, part: Any, encoded: bytes) -> None:
        """Keeps the bytes of a value that did not change since `look`."""
        try:
            if not part.same(self._pointers):
                return
        except Exception as error:
            _report.let_through(error)
            return
        part.bytes = encoded
        self._clock = part.used = self._clock + 1
        if len(self._parts) >= _MOST_PARTS:
            oldest = self._clock - _MOST_PARTS // 2
            for key, other in list(self._parts.items()):
                if other.used < oldest:
                    self._parts.pop(key, None)
        self._parts[id(part.root)] = part
