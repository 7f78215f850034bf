"""Large parts of a workflow's state that did not change since they were last written: told without a walk.

Whether anything inside changed, in place too, is decided by identity: everything the part's containers hold is put into one flat list by C
code, and that list's pointers are compared with those of last time. No code of the app runs, and equal things of different types are
different things. What the list holds stays alive as long as it is remembered, so an address cannot stand for two objects.

That is bounded: a part that was in none of the last 64 states is forgotten, so is everything when the outermost workflow ends, and all parts
together hold at most 200,000 pointers.
"""

from __future__ import annotations

from collections import deque
from gc import get_referents as _contents
from itertools import chain, count
from marshal import dumps
from typing import Any

from . import _optional, _report, _standard, _static

#: Smaller encodings are not worth it.
SMALLEST = 400
_MOST_CONTAINERS = 5000
_MOST_LEVELS = 20
_MOST_POINTERS = 200_000
_MOST_NOTED = 8000
#: So often more an object that changed has to come before it is remembered anew.
_UNCHANGED = 3
#: States between two looks for parts that are not in the state any more.
SWEEP = 32
#: From this length on a list is copied as a whole, which costs less for each item and more for each list.
_LONG = 16
_flatten = chain.from_iterable
_values = dict.values
#: Immutable, and read without a look inside. By the type's id: a metaclass may have a hash of its own.
_ATOMS = frozenset(map(id, (str, int, float, bool, type(None), bytes, complex)))
_serials = count(1)


class _Mark:
    """Something with an address of its own."""


#: Stands behind the contents of each container, so that what moves from one into the next is seen.
_MARK = (_Mark(),)


def _make_pointers() -> Any:
    """Answers the addresses of a list's items, as bytes; None where lists are laid out in another way."""
    try:
        ctypes = _standard.module("ctypes")
        import sys

        size = ctypes.sizeof(ctypes.c_void_p)
        place = list.__basicsize__ - 2 * size
        address = ctypes.c_void_p.from_address
        copy = ctypes.string_at

        def pointers(items: list[Any]) -> bytes:
            return copy(address(id(items) + place).value or 0, len(items) * size)

        sample: list[Any] = [None, 5, "text", {}, _Mark]
        expected = b"".join(id(item).to_bytes(size, sys.byteorder) for item in sample)
        return pointers if pointers(sample) == expected else None
    except Exception as error:
        _report.let_through(error)
        return None


def _shows(fields: dict[Any, Any], held: int) -> bool:
    """Whether `gc.get_referents` answers all values that a dict holds. It does, except for the `__dict__` of an object that keeps its values itself."""
    found = len(_contents(fields))
    return found == held or found == 2 * held  # Keys that are not all text are among them.


_sample: Any = _Mark()
_sample.field = 1
#: Whether there are dicts here, from Python 3.13 on, that do not show what they hold.
_HIDES = not _shows(vars(_sample), 1)


class Part:
    """One remembered value: what it consists of, and how a state says that it is the same."""

    __slots__ = (
        "copy",
        "dicts",
        "flat",
        "hidden",
        "items",
        "lengths",
        "long",
        "mark",
        "objects",
        "pointers",
        "root",
        "same",
        "serial",
        "size",
        "sized",
        "snapshot",
        "tag",
        "used",
        "visited",
    )

    def __init__(self, root: Any) -> None:
        self.root = root
        self.dicts: list[dict[Any, Any]] = []
        #: Dicts and short lists, each followed by a mark.
        self.visited: Any = []
        self.long: list[list[Any]] = []
        #: Dicts that have to be asked for their values.
        self.hidden: list[dict[Any, Any]] = []
        #: By the function that reads their fields: objects whose fields are a dict.
        self.objects: Any = {}
        self.serial = next(_serials)
        #: What stands for it in a frame, once a frame with all of it was written; and the size of that.
        self.tag = (..., "same", self.serial)
        self.same = dumps(self.tag, 2)
        #: The same for compiled code.
        self.mark = None if _optional.Same is None else _optional.Same(self.same)
        self.size = 0
        #: Of its containers, as they count for a frame's budget; `_large` sets it.
        self.items = 0
        self.used = 0
        self.pointers = b""
        self.flat: list[Any] = []
        #: What has no mark behind it. None: nothing in it can change.
        self.sized: Any = None
        #: All that it consists of, where compiled code keeps and compares it.
        self.snapshot: Any = None
        #: Compiled code's copy of a container, for the difference that a node makes.
        self.copy: Any = None

    def take(self, most: int = _MOST_CONTAINERS, is_plain: bool = False) -> bool:
        """Goes through the value. False: something in it can change unseen, or it consists of too much; `is_plain`: or not of builtin types alone."""
        if id(type(self.root)) in _ATOMS:
            return True
        if _optional.Snapshot is not None:
            self.snapshot = _optional.Snapshot.of(self.root, _MOST_LEVELS, most)
            if self.snapshot is not None:
                self.sized = ()
                return True
            if is_plain:
                return False
        stack: list[tuple[Any, int]] = [(self.root, 0)]
        #: By id.
        walked: set[int] = set()
        left = most
        visited, long = self.visited, self.long
        while stack:
            item, level = stack.pop()
            kind = type(item)
            walked.add(id(item))
            left -= 1
            level += 1
            if left < 0 or level > _MOST_LEVELS:
                return False
            if kind is dict:
                inner: Any = self._take_dict(item)
            elif kind is list:
                inner = item.copy()
                if len(inner) < _LONG:
                    visited += (item, _MARK)
                else:
                    long.append(item)
                    if _ATOMS.issuperset(map(id, map(type, inner))):
                        continue
            elif kind is tuple:
                inner = item
            elif kind is set or kind is frozenset:
                # As for a dict's keys, their order is one of what was done to it.
                inner = list(item)
                visited += (item, _MARK)
            else:
                inner = None if is_plain else self._take_object(item, kind)
                if inner is None:
                    return False
            for value in inner:
                if id(type(value)) not in _ATOMS:
                    stack.append((value, level))
        self.visited = tuple(visited)
        self.objects = tuple(self.objects.items())
        self.sized = self.hidden + long
        if _optional.Snapshot is not None:
            seen = [item for item in self.visited if item is not _MARK]
            self.snapshot = _optional.Snapshot(seen + self.sized, list(self.objects))
        else:
            self.lengths = list(map(len, self.sized))
            self.flat = self.read()
        return self._is_whole(walked) and (self.snapshot is None or bool(self.snapshot.same()))

    def _is_whole(self, walked: set[int]) -> bool:
        """Whether another thread put nothing into a container that had been walked already: what is in that would be told by its identity alone."""
        for container in (*self.visited, *self.sized):
            kind = type(container)
            if kind is dict or kind is list or kind is set or kind is frozenset:
                for item in list(container.values() if kind is dict else container):
                    if id(type(item)) not in _ATOMS and id(item) not in walked:
                        return False
        return True

    def held(self) -> int:
        """How many pointers are kept of it."""
        return len(self.flat if self.snapshot is None else self.snapshot)

    def _take_dict(self, item: dict[Any, Any]) -> list[Any]:
        values = list(item.values())
        shown = _shows(item, len(values))
        if shown:
            self.visited += (item, _MARK)
        else:
            self.hidden.append(item)
        # A dict that is empty has no keys either, as long as it shows no values.
        if values or not shown or _HIDES:
            self.dicts.append(item)
        return values

    def _take_object(self, item: Any, kind: type) -> list[Any] | None:
        shape = _static.shape_of(kind)
        if not shape.is_record or shape.slots or shape.read_dict is None:
            return None
        readers = [shape.read_dict] if shape.read_extra is None else [shape.read_dict, shape.read_extra]
        inner: list[Any] = []
        kept: list[Any] = [kind]
        for read in readers:
            fields = read(item)
            kept.append(fields)
            if type(fields) is dict:
                inner += self._take_dict(fields)
            elif fields is not None:
                return None
        # Where its type and the dicts of its fields are among what it holds, it is read with all the rest. Nothing there is asked to compare.
        if {id(each) for each in kept} <= {id(each) for each in _contents(item)}:
            self.visited += (item, _MARK)
            return inner
        for read in readers:
            self.objects.setdefault(read, []).append(item)
        return inner

    def read(self) -> list[Any]:
        """All that it consists of, as it is now."""
        flat = _contents(*self.visited)
        if self.dicts:
            flat += _flatten(self.dicts)
        if self.hidden:
            flat += _flatten(map(_values, self.hidden))
        if self.long:
            deque(map(flat.extend, self.long), 0)
        for read, objects in self.objects:
            flat += map(type, objects)
            flat += map(read, objects)
        return flat


class Memo:
    """The parts of one process's states."""

    # Compiled code finds these at their places.
    __slots__ = ("__dict__", "_held", "clock", "parts")

    def __init__(self, most_containers: int = _MOST_CONTAINERS, is_plain: bool = False) -> None:
        self._most_containers = most_containers
        self._is_plain = is_plain
        self._pointers: Any = None
        self._ready = False
        self.parts: dict[int, Part] = {}
        #: Ids of what was large to encode; an id of another value since is harmless.
        self._noted: dict[int, int] = {}
        #: The same of earlier ones, so that what is noted is not forgotten all at once.
        self._noted_before: dict[int, int] = {}
        #: How many states there were.
        self.clock = 0
        self._held = 0

    def forget(self) -> None:
        self.parts = {}
        self._noted = {}
        self._noted_before = {}
        self._held = 0

    def let_go(self) -> None:
        """Forgets, and remembers nothing any more."""
        self.forget()
        self._ready = True
        self._pointers = None

    def sweep(self) -> None:
        """Forgets parts that are not in the state any more. To be called with every `SWEEP`th state."""
        for key, part in list(self.parts.items()):
            if part.used < self.clock - SWEEP:
                self._drop(key)

    def _drop(self, key: int) -> None:
        part = self.parts.pop(key, None)
        if part is not None:
            self._held -= part.held()

    def find(self, value: Any) -> Part | None:
        """What is remembered of this very value, if nothing in it changed."""
        part = self.parts.get(id(value))
        if part is None:
            return None
        if part.root is value and self.is_same(part):
            part.used = self.clock
            return part
        self._drop(id(value))
        if type(value) is not dict and type(value) is not list:
            # It costs more to be looked at than to be written: not again for what changes at each step.
            self._noted[id(value)] = -_UNCHANGED
        return None

    def is_same(self, part: Part) -> bool:
        if part.sized is None:
            return True
        if part.snapshot is not None:
            return bool(part.snapshot.same())
        try:
            sized = part.sized
            if sized and list(map(len, sized)) != part.lengths:
                return False
            return self._pointers(part.read()) == part.pointers
        except Exception as error:
            _report.let_through(error)
            return False  # Another thread changes it just now.

    def is_known(self, value: Any) -> bool:
        """Whether it was large to encode the last time: whoever comes a second time is remembered."""
        return self.times(value) > 0

    def times(self, value: Any) -> int:
        """How often it was large to encode."""
        found = self._noted.get(id(value))
        return self._noted_before.get(id(value), 0) if found is None else found

    def forget_times(self, value: Any) -> None:
        self._noted.pop(id(value), None)
        self._noted_before.pop(id(value), None)

    def note(self, value: Any) -> None:
        times = self.times(value)
        if len(self._noted) > _MOST_NOTED:
            self._noted_before, self._noted = self._noted, {}
        self._noted[id(value)] = times + 1

    def glance(self, value: Any) -> Part | None:
        """`look`, where compiled code alone can do it: that is so little that a value need not come a second time."""
        return None if _optional.Snapshot is None else self.look(value, True)

    def look(self, value: Any, is_plain: bool = False) -> Part | None:
        """What `remember` needs, taken before the value is encoded. None: it cannot be remembered."""
        if not self._ready:
            self._pointers = _make_pointers()
            self._ready = True
        if self._pointers is None:
            return None
        try:
            part = Part(value)
            if not part.take(self._most_containers, self._is_plain or is_plain):
                return None
            if part.snapshot is None:
                part.pointers = self._pointers(part.flat)
            return part
        except Exception as error:
            _report.let_through(error)
            return None

    def remember(self, part: Part, size: int) -> bool:
        """Keeps a value whose encoding has this size. False: it changed since `look`."""
        if not self.is_same(part):
            return False
        part.size = size
        part.used = self.clock
        self._drop(id(part.root))
        self._held += part.held()
        if self._held > _MOST_POINTERS:
            self.forget()
            return True
        self.parts[id(part.root)] = part
        return True
