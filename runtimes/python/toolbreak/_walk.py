"""The careful walk: budgets of size, time and depth, cycles, and every kind of object. See `_values`."""

from __future__ import annotations

import marshal
import sys
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from . import _arrays, _standard, _static
from ._errors import encode_error
from ._kinds import base_text, is_text_like, opaque_reason, opaque_text
from ._masking import ALL_ROW_VALUES, BEYOND, is_login, is_login_name, is_no_secret, is_word, masked_by, within_edge

if TYPE_CHECKING:
    from ._values import Settings

TAG = ...
_BUILTINS = (dict, list, tuple, set, frozenset, str, int, float, bytes, bytearray, complex)
_ARRAY_HEAD = 100
#: What is kept of bytes that do not fit: no program takes half a file, a person looks at its beginning, and what lies beside it has room then.
_BYTES_HEAD = 16384


#: So many items of a long list, or keys of a long dict, are looked at together.
_CHUNK = 1024
_STRS = {id(str)}
_INTS = {id(int)}
_FLAGS = {id(bool), id(type(None))}
_PLAIN = _INTS | _FLAGS | {id(float)}

#: So many times as long as it may take a value may be recorded where others are given the processor meanwhile.
_PATIENCE = 8
#: Of so many keys each is looked at, also where there is no room for more.
_FEW_KEYS = 64
#: A longer name is not told behind a spent budget.
_SHORT_NAME = 64
#: Of so many small items a container is small itself.
_FEW_ITEMS = 8
#: Bytes that small containers take behind a spent budget, all together: as much more as the last one takes that begins within them.
_RESERVE = 8192
#: In as many each of them fits.
_ROOM = 16384


def _is_small(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return len(value) <= 200
    return value is None or kind is bool or kind is float or (kind is int and -(2**63) <= value < 2**63)


def _is_small_container(value: Any) -> bool:
    kind = type(value)
    if (kind is not dict and kind is not list and kind is not tuple) or len(value) > _FEW_ITEMS:
        return False
    if kind is not dict:
        return all(map(_is_small, value[:]))
    return all(
        type(key) is str and len(key) <= _SHORT_NAME and _is_small(item) for key, item in list(value.copy().items())
    )


def _size(text: str) -> int:
    """Bytes of a text as it is written: UTF-8, lone surrogates too."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _fitting(text: str, size: int) -> int:
    """The most characters of a text's beginning that fit in so many bytes."""
    head = text[: max(0, size)]
    if head.isascii():
        return len(head)
    encoded = head.encode("utf-8", "surrogatepass")[: size + 1]
    if len(encoded) <= size:
        return len(head)
    end = size
    while encoded[end] & 0xC0 == 0x80:
        end -= 1
    return len(encoded[:end].decode("utf-8", "surrogatepass"))


def _int_size(value: int) -> int:
    """Bytes of a whole number as marshal writes it: of a large one by 15 bits."""
    return 5 if -(2**31) <= value < 2**31 else 5 + 2 * -(-value.bit_length() // 15)


def _bytes_of(encoded: Any) -> bytes:
    """Without references, which depend on who else holds a part."""
    return marshal.dumps(encoded, 2)


def _cut(kind: str, head: Any, length: int, reason: str) -> tuple[Any, ...]:
    return (TAG, "cut", kind, head, length, reason)


def is_record(value: Any, kind: type, shape: _static.Shape) -> bool:
    """Whether objects of this type are recorded as type and fields, and nothing else has to be asked of them."""
    bases = shape.bases
    if BaseException in bases or bytearray in bases or any(base in bases for base in _BUILTINS):
        return False
    if shape.is_pydantic:
        return True
    names = shape.base_names
    if "enum.Enum" in names or any(
        name.startswith(("datetime.", "collections.", "array.", "numpy.", "pandas.")) for name in names
    ):
        return False
    return (
        not is_text_like(kind)
        and opaque_reason(value, kind, shape) is None
        and (shape.read_dict is not None or bool(shape.slots))
        and not _static.keeps_more(shape)
    )


def _field_names(kind: type, count: int) -> tuple[str, ...] | None:
    """Those of a named tuple, whose items they tell apart."""
    names = _static.find_in_class(kind, "_fields")
    if type(names) is not tuple or len(names) != count or count == 0:
        return None
    return (
        names if all(type(name) is str and name.isidentifier() for name in names) and len(set(names)) == count else None
    )


class Walk:
    """One value's walk. `left` counts bytes as marshal writes them, somewhat too many rather than too few."""

    def __init__(self, settings: Settings, depth: int = 1) -> None:
        self.settings = settings
        self.masking = settings.masking
        self.left = settings.max_value_bytes
        self.depth = depth
        self.max_depth = settings.max_depth
        self.stack: list[int] = []
        self.steps = 0
        #: Of how many items that are not small the type and the size may still be told once a budget is spent.
        self.behind = _FEW_KEYS
        #: What small containers among them may take.
        self.reserve = min(_RESERVE, self.left)
        self.late = False
        #: Of what this thread itself takes: one that waits for others, or for a processor, would lose what it had time for.
        self.deadline = thread_time() + settings.seconds
        #: It holds up the app meanwhile, which has others to answer.
        self.patience = perf_counter() + _PATIENCE * settings.seconds

    # ------------------------------------------------------------ budgets

    def _spent(self) -> str | None:
        """Why no more can be taken, or None."""
        if self.left <= 0:
            return self._too_large()
        self.steps += 1
        if not self.steps & 63 and not self.late:
            self.late = thread_time() >= self.deadline or perf_counter() >= self.patience
        return f"took longer than {self.settings.seconds} s to record" if self.late else None

    def _too_large(self) -> str:
        return f"larger than the limit of {self.settings.max_value_bytes} bytes"

    # ------------------------------------------------------------ one value

    def encode(self, value: Any) -> Any:
        self.left -= 5
        kind = type(value)
        if value is None or kind is bool or kind is float or kind is complex:
            self.left -= 12 if kind is complex else 4
            return value
        if kind is str:
            return self._text(value)
        if kind is int:
            return self._int(value)
        if kind is bytes:
            return self._bytes(value)
        if value is ...:
            return (TAG, "ellipsis")
        identity = id(value)
        if identity in self.stack:
            return (TAG, "cycle", len(self.stack) - self.stack.index(identity))
        reason = self._spent()
        if reason is None and len(self.stack) + self.depth > self.max_depth:
            reason = f"deeper than {self.max_depth} levels"
        if reason is not None:
            return self._skipped(value, kind, reason)
        self.stack.append(identity)
        try:
            if kind is dict:
                return self._dict(list(value.copy().items()), "dict")
            if kind is list:
                return self._items(value[:], "list")
            if kind is tuple:
                return self._tuple(value)
            if kind is set:
                return self._set(list(value), "set")
            if kind is frozenset:
                return self._set(list(value), "frozenset")
            self.left -= 40
            return self._object(value, kind)
        finally:
            self.stack.pop()

    def _skipped(self, value: Any, kind: type, reason: str) -> Any:
        """A container or an object that no longer fits: its type and size."""
        if kind is dict or kind is list or kind is tuple or kind is set or kind is frozenset:
            if not value:
                return kind()
            return _cut(kind.__name__, kind(), len(value), reason)
        return _cut(_static.type_name(kind), None, 0, reason)

    def _behind(self, value: Any, reason: str) -> Any:
        """What is behind a spent budget and not small: nothing of it is told, so that it takes no time and holds no part of a secret."""
        kind = type(value)
        if kind is str or kind is bytes:
            return _cut(kind.__name__, kind(), len(value), reason)
        found = self._skipped(value, kind, reason)
        return _cut(found[2][:200], *found[3:]) if type(found) is tuple and found[:2] == (TAG, "cut") else found

    def _text(self, value: str) -> Any:
        length = len(value)
        if length > 1024 and (length > self.left or (length * 4 > self.left and _size(value) > self.left)):
            return self._long_text(value, length)
        if self.left <= 0 and length > 64:
            return self._long_text(value, length)
        masked = self.masking.text(value)
        self.left -= _size(masked)
        return masked

    def _long_text(self, value: str, length: int) -> Any:
        # What stands beside it has room, too.
        keep = min(length, max(64, _fitting(value, self.left - self.left // 8)))
        # Masks beyond the cut, so that no half of a secret is left at its edge.
        head = within_edge(self.masking.text(value[: keep + BEYOND]), keep, length)
        self.left -= _size(head)
        return _cut("str", head, length, self._too_large())

    def _int(self, value: int) -> Any:
        bits = value.bit_length()
        if bits > 64:
            self.left -= bits // 7
            if self.left <= 0:
                return (TAG, "opaque", "int", f"an integer of {bits} bits", "larger than the size limit")
        else:
            self.left -= _int_size(value) - 5
        return value

    def _bytes(self, value: bytes) -> Any:
        length = len(value)
        if length > self.left and length > 64:
            return _cut("bytes", self._head(value), length, self._too_large())
        self.left -= length
        return self.masking.binary(value)

    def _head(self, value: bytes) -> bytes:
        keep = max(64, min(self.left, _BYTES_HEAD))
        self.left -= keep
        return self.masking.head(value, keep)

    # ------------------------------------------------------------ containers

    def _items(self, items: list[Any], kind: str) -> Any:
        out: list[Any] = []
        hidden: list[Any] = []
        count = len(items)
        index = single = 0
        while index < count:
            reason = self._spent()
            if reason is not None:
                return _cut(kind, self._hide(out, hidden), count, reason)
            if index >= single and count - index >= _CHUNK:
                alike = self._alike(items[index : index + _CHUNK])
                if alike:
                    out += alike
                    index += len(alike)
                    continue
                single = index + _CHUNK
            item = items[index]
            after: Any = items[index + 1] if index + 1 < count else None
            if (kind == "list" or kind == "tuple") and type(after) in (str, bytes):
                mask = self._mask_after(item, after, count)
                if mask is not None:
                    hidden.append((index + 1, mask))
            out.append(self.encode(item))
            index += 1
        return self._hide(out, hidden)

    def _alike(self, items: list[Any]) -> list[Any]:
        """Numbers or texts, encoded together, the first ones that have room. Nothing where they are to be looked at one by one."""
        self.steps |= 63  # Then it is time to look at the clock.
        kinds = set(map(id, map(type, items)))
        if kinds == _STRS:
            return self._texts(items)
        if not kinds <= _PLAIN:
            return []
        size = 5 if kinds <= _FLAGS | _INTS else 9
        if id(int) in kinds:
            whole = items if kinds == _INTS else [item for item in items if type(item) is int]
            low, high = min(whole), max(whole)
            if not -(2**62) < low <= high < 2**62:
                return []
            size = max(size, _int_size(low), _int_size(high))
        room = items[: -(-self.left // size)]
        self.left -= size * len(room)
        return room

    def _texts(self, items: list[str]) -> list[Any]:
        """Texts of which none announces the next one, and for which there is room."""
        if sum(map(len, items)) > self.left:
            return []
        lines = "\n".join(items)
        if lines[:1] == "-" or "\n-" in lines:
            return []
        masked = items if self.masking.holds_none(lines) else list(map(self.masking.text, items))
        size = sum(map(_size, masked)) + 5 * len(masked)
        if size > self.left:
            return []
        self.left -= size
        return masked

    def _mask_after(self, item: Any, after: str | bytes, count: int) -> Any:
        """Where an item says that the next one is a secret: a header's name, or an option."""
        name = self.masking.secret_after(item, count)
        return masked_by(name) if name and (type(after) is bytes or after[:1] != "-") else None

    def _hide(self, out: list[Any], hidden: list[Any]) -> list[Any]:
        for index, mask in hidden:
            if index < len(out):
                out[index] = mask
        return out

    def _tuple(self, items: tuple[Any, ...]) -> Any:
        found = self._items(list(items), "tuple")
        if type(found) is list:
            return tuple(found)
        return _cut("tuple", tuple(found[3]), found[4], found[5])

    def _set(self, items: list[Any], kind: str) -> Any:
        found = self._items(items, kind)
        cut = None
        if type(found) is not list:
            cut = found
            found = found[3]
        make = set if kind == "set" else frozenset
        try:
            plain: Any = make(found)
        except TypeError:
            plain = None
        if plain is None or len(plain) != len(found):
            # Members that are objects are dicts inside and cannot be members of a set of ours. Equal sets are to have equal bytes.
            plain = (TAG, "subclass", kind, sorted(found, key=_bytes_of))
        return plain if cut is None else _cut(kind, plain, cut[4], cut[5])

    def _dict(self, pairs: list[tuple[Any, Any]], kind: str) -> Any:
        out: list[tuple[Any, Any]] = []
        reason: str | None = None
        row: dict[str, Any] | None = None
        none_tells = False
        looked_at = 0
        for index, (key, item) in enumerate(pairs):
            spent: int | None = None
            reason = reason or self._spent()
            if reason is None and len(pairs) >= _CHUNK:
                if index >= looked_at:
                    looked_at = index + _CHUNK
                    none_tells = self._none_tells(pairs[index:looked_at])
                if none_tells:
                    self.left -= 5 + _size(key)
                    out.append((key, self.encode(item)))
                    continue
            if reason is not None:
                if len(pairs) > _FEW_KEYS:
                    break
                # Each argument behind a large one is still seen: a small one as it is, of others the type and the size.
                if type(key) is not str:
                    continue
                if not _is_small(item):
                    if self.behind == 0 or len(key) > _SHORT_NAME:
                        continue
                    self.behind -= 1
                    if self.reserve <= 0 or self.late or not _is_small_container(item):
                        plain_key = self.encode(key)
                        secret = self.masking.is_secret_key(key) and not is_no_secret(item)
                        out.append((plain_key, masked_by(plain_key) if secret else self._behind(item, reason)))
                        continue
                    spent, self.left = self.left, _ROOM
            plain_key = self.encode(key)
            name: Any = key
            if type(key) is not str:
                if type(key) is bytes and len(key) < 200:
                    name = key.decode("latin-1")
                elif _static.isinstance_static(key, str):
                    name = str.__str__(key)  # pyright: ignore[reportArgumentType]
                else:
                    name = ""
            of_row = ""
            if (
                type(key) is str
                and key in ALL_ROW_VALUES
                and item is not None
                and item is not True
                and item is not False
            ):
                # Asked of the app's own row: what of it is written may end before the name, or in it.
                row = row or {k: v for k, v in pairs if type(k) is str}
                of_row = self.masking.secret_of_row(row, key)
            if of_row:
                out.append((plain_key, masked_by(self.masking.text(of_row))))
            elif (
                name
                and self.masking.is_secret_key(name)
                and not is_no_secret(item)
                and not (
                    type(key) is str and key == "token" and is_word(key, {k: v for k, v in pairs if type(k) is str})
                )
            ):
                out.append((plain_key, masked_by(plain_key if type(plain_key) is str else self.masking.text(name))))
            elif name and is_login_name(name) and is_login(item):
                out.append((plain_key, (self.encode(item[0]), masked_by("password"))))
            else:
                out.append((plain_key, self.encode(item)))
            if spent is not None:
                self.reserve -= _ROOM - self.left
                self.left = spent
        try:
            plain: Any = dict(out)
        except TypeError:
            plain = None
        if plain is None or len(plain) != len(out):
            # Keys that are objects, or that look alike once masked: pairs keep all of them.
            plain = (TAG, "subclass", kind, [[key, item] for key, item in out])
        return plain if len(out) == len(pairs) else _cut(kind, plain, len(pairs), reason or "")

    def _none_tells(self, pairs: list[tuple[Any, Any]]) -> bool:
        names = [key for key, _ in pairs]
        return set(map(id, map(type, names))) == _STRS and self.masking.none_tells(names)

    # ------------------------------------------------------------ objects

    def _fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Encoded fields. A budget that ends in the middle leaves a mark in the last field's place."""
        found = self._dict(list(fields.items()), "fields")
        if type(found) is dict:
            return found
        if found[1] == "cut":
            head = found[3] if type(found[3]) is dict else {}
            head["…"] = _cut("fields", None, found[4] - len(head), found[5])
            return head
        return {"…": found}

    def _named(self, names: tuple[str, ...], items: tuple[Any, ...], beside: dict[str, Any]) -> dict[str, Any]:
        """Items of a named tuple by their names, and the fields that it has beside them."""
        encoded = self._fields({**dict(zip(names, items)), **beside})
        for item, after, name in zip(items, items[1:], names[1:]):
            if name in encoded and type(after) in (str, bytes):
                encoded[name] = self._mask_after(item, after, len(items)) or encoded[name]
        return encoded

    def _object(self, value: Any, kind: type) -> Any:
        shape = _static.shape_of(kind)
        bases = shape.bases
        names = shape.base_names
        if BaseException in bases:
            return encode_error(self, value, shape)
        if "enum.Enum" in names:
            return self._enum(shape.fields(value) or {}, shape)
        if shape.is_pydantic:
            fields = shape.fields(value) or {}
            return (TAG, "object", shape.name, self._fields(fields), None)
        special = self._special(value, kind, shape)
        if special is not None:
            return special
        for base in _BUILTINS:
            if base in bases:
                return self._subclass(value, base, shape)
        if is_text_like(kind):
            text = opaque_text(value, kind)
            if kind is slice and not text:
                parts = {"start": value.start, "stop": value.stop, "step": value.step}
                return (TAG, "object", shape.name, self._fields(parts), None)
            return (TAG, "opaque", shape.name, self.masking.text(text), None)
        reason = opaque_reason(value, kind, shape)
        if reason is not None:
            return (TAG, "opaque", shape.name, self.masking.text(opaque_text(value, kind)), reason)
        fields = shape.fields(value)
        if fields is None:
            return (
                TAG,
                "opaque",
                shape.name,
                self.masking.text(opaque_text(value, kind)),
                "it has no fields that can be read without running code",
            )
        inside = base_text(value, shape)
        if inside:
            return (TAG, "object", shape.name, self._fields({"(value)": inside, **fields}), None)
        more = "it keeps more than these fields, which cannot be read without running code"
        return (TAG, "object", shape.name, self._fields(fields), more if _static.keeps_more(shape) else None)

    def _enum(self, fields: dict[str, Any], shape: _static.Shape) -> Any:
        """A member. What one keeps under the name of a secret is one (`API_KEY = "..."`), unless it is a name itself (`API_KEY = "x-api-key"`)."""
        name = fields.get("_name_")
        inner = fields.get("_value_")
        name = name if type(name) is str else ""
        text = inner.decode("latin-1") if type(inner) is bytes else inner
        if type(text) is str and self.masking.is_secret_key(name) and not self.masking.is_secret_key(text):
            return (TAG, "enum", shape.name, name, masked_by(name))
        return (TAG, "enum", shape.name, name, self.encode(inner))

    def _special(self, value: Any, kind: type, shape: _static.Shape) -> Any:
        """Types of the standard library and of NumPy and pandas that have a form of their own."""
        if bytearray in shape.bases:
            most = max(64, self.left)
            fits = bytearray.__len__(value) <= most
            # At once, since another thread may make it longer.
            copy = bytes(bytearray.__getitem__(value, slice(0, most + 1 if fits else _BYTES_HEAD + BEYOND)))
            if fits and len(copy) <= most:
                return (TAG, "bytearray", self._bytes(copy))
            length = max(len(copy), bytearray.__len__(value))
            return _cut("bytearray", (TAG, "bytearray", self._head(copy)), length, self._too_large())
        names = shape.base_names
        if (
            "datetime.datetime" in names
            or "datetime.date" in names
            or "datetime.time" in names
            or "datetime.timedelta" in names
        ):
            text = _arrays.time_text(value, shape)
            fields = shape.fields(value)
            if fields and not shape.name.startswith("pandas."):
                return (TAG, "object", shape.name, self._fields({"(value)": text, **fields}), None)
            return (TAG, "time", shape.name, text)
        if "collections.deque" in names:
            deque = _standard.module("collections").deque

            plain = self._items(list(deque.__iter__(value)), "list")
            return (TAG, "subclass", shape.name, plain)
        if "array.array" in names:
            return _arrays.encode_array(self, value, shape, min(_ARRAY_HEAD, max(1, self.left // 32)))
        if "numpy" in sys.modules or "pandas" in sys.modules:
            return _arrays.encode_foreign(self, value, kind, shape, min(_ARRAY_HEAD, max(1, self.left // 32)))
        return None

    def _subclass(self, value: Any, base: type, shape: _static.Shape) -> Any:
        """A subclass of a builtin type: its contents through the builtin's own methods, and the fields it has beside."""
        plain: Any
        if base is dict:
            plain = self._dict(_static.pairs_of(value), "dict")
        elif base is list:
            plain = self._items(list.__getitem__(value, slice(None)), "list")
        elif base is tuple:
            items = tuple.__getitem__(value, slice(None))
            names = _field_names(type(value), len(items))
            beside = shape.fields(value) or {}
            if names is not None and not any(name in beside for name in names):
                return (TAG, "object", shape.name, self._named(names, items, beside), None)
            plain = self._tuple(items)
        elif base is set:
            plain = self._set(list(set.__iter__(value)), "set")
        elif base is frozenset:
            plain = self._set(list(frozenset.__iter__(value)), "frozenset")
        elif base is str:
            plain = self._text(str.__str__(value))
        elif base is int:
            plain = self._int(int.__int__(value))
        elif base is float:
            plain = float.__float__(value)
        elif base is complex:
            plain = complex.__pos__(value)
        else:
            plain = self._bytes(bytes.__getitem__(value, slice(None)))
        fields = shape.fields(value)
        if fields:
            return (TAG, "object", shape.name, {"(value)": plain, **self._fields(fields)}, None)
        return (TAG, "subclass", shape.name, plain)
