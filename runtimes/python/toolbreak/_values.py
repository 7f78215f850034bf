"""One walk from the app's values to plain data that `marshal` may write, as `protocol/spool.ts` says.

Two walks in truth, with one outcome. The quick one takes exact builtin types and copies only containers; it gives up a part (to `_walk`) at
the first value that is not plain, and gives up the whole (by `_TooMuch`) when a value is deep or wide enough to need budgets.
Neither runs code of the app: dispatch is by identity of the type, contents are read as `_static` does.
"""

# Types are told by `type(x) is`, which is fast and runs nothing of the app; the checker loses sight of it after a comparison with None or True.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

from . import _optional, _report, _static
from ._masking import ALL_ROW_VALUES, LOGIN, Masking, is_login, is_login_name, is_no_secret, is_word, masked_by

TAG = ...
MARSHAL_VERSION = 2
MAX_VALUE_BYTES = 1 << 20
MAX_DEPTH = 100
# marshal itself ends near 2,000 levels on every platform but Windows, where it is 1,000; a tag is worth up to three.
_DEPTH_LIMIT = 250
# The quick walk has no protection against cycles but these three.
_QUICK_DEPTH = 24
_QUICK_ITEMS = 60_000
#: Texts from this length on are neither remembered nor looked up, which takes their hash; all of a value together have to fit into a frame.
_LONG_TEXT = 1 << 16
_LARGE = 1 << 62
#: What a frame may have beside its value.
HEADS = 1000
#: Bytes from which on a value is worth to be remembered, and told by its identity the next time: see `_large`.
LARGE = 4096


_NUMBERS = frozenset((id(int), id(float)))
_FLOATS = frozenset((id(float),))
_INTS = frozenset((id(int),))
_STRS = {id(str)}
#: From so many keys on a dict is looked at as a whole; so many are remembered as harmless.
_MANY_KEYS = 200
_MOST_KEYS = 50_000


class Settings:
    """What decides how values are recorded. Make one with `from_record` for each new configuration; `encode` is bound to it."""

    __slots__ = (
        "bounded",
        "careful",
        "clean",
        "encode",
        "harmless",
        "largest",
        "masking",
        "max_depth",
        "max_value_bytes",
        "noted",
        "part",
        "quick_items",
        "references",
        "rows",
        "rules",
        "seconds",
        "short",
    )

    def __init__(
        self,
        max_value_bytes: int = MAX_VALUE_BYTES,
        max_depth: int = MAX_DEPTH,
        masking: Masking | None = None,
        seconds: float = 0.25,
        references: bool = True,
    ) -> None:
        self.max_value_bytes = max(256, max_value_bytes)
        self.max_depth = max(1, min(max_depth, _DEPTH_LIMIT))
        self.masking = masking if masking is not None else Masking()
        self.seconds = seconds
        #: Whether a state may refer to a value that is earlier in its file.
        self.references = references
        #: `encode` bounds the number of items and each text, not yet the sum: who marshals sees the length, and takes `bounded` when it is too much.
        self.encode: Callable[[Any], Any]
        self.bounded: Callable[[Any], Any]
        #: Shorter texts cannot hold a secret, unless the person has patterns of their own.
        self.short = 0 if self.masking.patterns else 7
        #: Texts seen to be clean. A state repeats its messages step after step: a look-up costs 15 ns where reading 1 KB costs 2 us.
        self.clean: dict[str, None] = {}
        #: Keys that tell nothing about their values, nor about those of other keys: what stands under one may be written as it stands there.
        self.harmless: set[str] = set()
        #: `value` and `Value`, where nothing beside them names what they are.
        self.rows: set[str] = set()
        #: Bytes of a frame.
        self.largest = self.max_value_bytes + HEADS
        #: Ids of values that were large to write. The id of another value since is harmless. See `_large`.
        self.noted: set[int] = set()
        #: What the containers of a value may hold together, without the walk with budgets.
        self.quick_items = min(_QUICK_ITEMS, self.max_value_bytes // 8)
        #: Whether the walk with budgets took a part of the value that was encoded last.
        self.careful = False
        #: One value among a call's arguments, and how many items it took beside those that were taken. None: it takes the walk with budgets.
        self.part: Callable[[Any, int], tuple[bytes, int] | None]
        #: What compiled code has to know, for `Segment.put`; None where there is none, or where it does not know the person's own patterns.
        self.rules: Any = None
        self.encode, self.bounded, self.part = _make_encode(self)

    @classmethod
    def from_record(cls, record: Any) -> Settings:
        """From `RecordSettings` of the configuration, a dict; what is missing or of a wrong type gets its default."""
        if not isinstance(record, dict):
            return cls()

        def number(name: str, default: int) -> int:
            value = record.get(name)
            return value if isinstance(value, int) and value > 0 else default

        def strings(name: str) -> list[str]:
            value = record.get(name)
            return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []

        masking = Masking(strings("maskKeys"), strings("maskPatterns"))
        return cls(
            number("maxValueBytes", MAX_VALUE_BYTES),
            number("maxDepth", MAX_DEPTH),
            masking,
            references=record.get("references") is True,
        )


class _TooMuch(Exception):
    """The value needs the walk with budgets."""


def encode(value: Any, settings: Settings) -> Any:
    """The value as plain data. Never raises for the value's sake; what cannot be recorded is a mark with its reason."""
    encoded = settings.encode(value)
    try:
        if len(marshal.dumps(encoded, MARSHAL_VERSION)) <= settings.max_value_bytes:
            return encoded
    except ValueError:
        pass
    return settings.bounded(value)


def may_be_large(value: Any) -> bool:
    """Whether the value is of a type that is remembered where it is large."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) >= LARGE >> 2  # Characters of up to four bytes.
    return kind is dict or kind is list or kind is tuple


def _make_encode(
    settings: Settings,
) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any, int], tuple[bytes, int] | None]]:
    from ._walk import Walk, is_record

    shape_of = _static.shape_of
    masking = settings.masking
    mask_text = masking.text
    is_secret_key = masking.is_secret_key
    #: Keys seen: whether they name a secret. Keys that hold one themselves are never among them.
    secret_keys: dict[str, bool] = {}
    harmless = settings.harmless
    rows = settings.rows
    short = settings.short
    clean = settings.clean
    clean_size = 0
    quick_items = settings.quick_items
    #: A number takes five bytes or more.
    most_numbers = settings.max_value_bytes // 5
    left = quick_items
    quick_depth = min(_QUICK_DEPTH, settings.max_depth)
    max_text = settings.max_value_bytes // 4
    text_left = settings.largest
    # A person's names that are wildcards alone are no patterns for texts; compiled code does not know them either.
    if _optional.Rules is not None and not masking.patterns and not masking._globs:
        noted = settings.noted if settings.references else None
        settings.rules = _optional.Rules(
            *(harmless, rows, clean, noted, short, max_text, most_numbers, quick_items, quick_depth),
            *(settings.largest, LARGE),
        )

    def is_too_long(text: str) -> bool:
        """A character may take four bytes."""
        return len(text) > max_text and (len(text) > 4 * max_text or not text.isascii())

    def check_text(text: str) -> str:
        """Masks; remembers what was clean, up to about 4 MB."""
        nonlocal clean_size, text_left
        if len(text) >= _LONG_TEXT:
            text_left -= len(text)
            if text_left < 0 or is_too_long(text):
                raise _TooMuch
            return mask_text(text)
        if is_too_long(text):
            raise _TooMuch
        replaced = mask_text(text)
        if replaced is text:
            clean_size += len(text) + 100
            if clean_size > 4_000_000:
                clean.clear()
                clean_size = 0
            clean[text] = None
        return replaced

    def slow(value: Any, depth: int) -> Any:
        settings.careful = True
        return Walk(settings, depth).encode(value)

    def judged(key: str) -> Any:
        """Whether a key that holds no secret itself names one; remembered."""
        secret = is_secret_key(key) or (LOGIN if is_login_name(key) else False)
        if len(key) < 200:
            if len(secret_keys) > 10_000:
                forget_keys()
            secret_keys[key] = secret
            if secret is False:
                (rows if key in ALL_ROW_VALUES else harmless).add(key)
        return secret

    def forget_keys() -> None:
        secret_keys.clear()
        harmless.clear()
        rows.clear()

    def none_tells(out: dict[Any, Any]) -> bool:
        """Whether surely no key of a long dict tells something about what stands under it; such keys are remembered."""
        names = list(out)
        if set(map(id, map(type, names))) != _STRS:
            return False
        if harmless.issuperset(names):
            return True
        if not masking.none_tells(names):
            return False
        if len(names) <= _MOST_KEYS // 2:
            if len(harmless) + len(names) > _MOST_KEYS:
                forget_keys()
            harmless.update(names)
        return True

    def quick_dict(value: dict[Any, Any], depth: int) -> Any:
        nonlocal left
        left -= len(value)
        if left < 0 or depth > quick_depth:
            raise _TooMuch
        out = value.copy()
        is_row = False
        # The keys of a long dict are data themselves, and new.
        is_known = len(out) > _MANY_KEYS and none_tells(out)
        for key, item in out.items():
            if type(key) is not str:
                # From the beginning: what came before is encoded already, and would be twice.
                return quick_keys(value, value.copy(), depth)
            if not is_known and key not in harmless:
                secret = secret_keys.get(key)
                if secret is None:
                    if len(key) > short and mask_text(key) is not key:
                        return slow(value, depth)
                    secret = judged(key)
                is_row = is_row or key in ALL_ROW_VALUES
                if secret is LOGIN:
                    if is_login(item):
                        out[key] = (quick(item[0], depth), masked_by("password"))
                        continue
                elif secret and not is_no_secret(item) and not is_word(key, value):
                    out[key] = masked_by(key)
                    continue
            kind = type(item)
            if kind is str:
                if len(item) > short and item not in clean:
                    out[key] = check_text(item)
            elif kind is int:
                if not -_LARGE < item < _LARGE and item.bit_length() > 4096:
                    raise _TooMuch
            elif item is None or kind is bool or kind is float:
                pass
            elif kind is dict:
                if item:
                    out[key] = quick_dict(item, depth + 1)
                else:
                    out[key] = {}
            elif kind is list:
                out[key] = quick_list(item, depth + 1)
            elif kind is tuple:
                out[key] = quick_tuple(item, depth + 1)
            else:
                out[key] = other(item, depth + 1)
        if is_row:
            masking.row(out)
        return out

    def quick_keys(value: dict[Any, Any], out: dict[Any, Any], depth: int) -> Any:
        """A dict with keys beside strings: plain ones stay, any other goes to the careful walk."""
        for key, item in out.items():
            kind = type(key)
            if kind is str and is_login_name(key) and is_login(item):
                return slow(value, depth)
            if kind is not str and kind is not int and kind is not float and kind is not bool and key is not None:
                return slow(value, depth)
        for key, item in out.items():
            if type(key) is str:
                if len(key) > short and mask_text(key) is not key:
                    return slow(value, depth)
                if is_secret_key(key) and not is_no_secret(item) and not is_word(key, value):
                    out[key] = masked_by(key)
                    continue
            out[key] = quick(item, depth + 1)
        masking.row(out)
        return out

    def look(items: list[Any], index: int, hidden: list[Any]) -> None:
        """Notes the mask of the next item where this one says that it is a secret."""
        after = items[index + 1] if index + 1 < len(items) else None
        if type(after) is bytes or (type(after) is str and after[:1] != "-"):
            item = items[index]
            name = masking.secret_after(item, len(items))
            if name:
                hidden.append((index + 1, masked_by(name)))
            elif settings.rules is not None and type(item) is str and len(item) < 200 and item not in secret_keys:
                # Compiled code leaves to us what sounds like a name of a secret: not each time.
                if len(item) <= short or mask_text(item) is item:
                    judged(item)

    def quick_list(value: list[Any], depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > quick_depth or len(value) > most_numbers:
            raise _TooMuch
        out = value.copy()
        # Numbers alone, the usual long list: looked at by C code. Types are compared by identity.
        if len(out) > 12 and id(type(out[0])) in _NUMBERS:
            kinds = set(map(id, map(type, out)))
            if kinds <= _FLOATS or (kinds <= _INTS and -_LARGE < min(out) and max(out) < _LARGE):
                left -= len(out) >> 4
                return out
        left -= len(out)
        if left < 0:
            raise _TooMuch
        index = 0
        length = len(out)
        # What a header's name or a command line's option comes before.
        hidden: list[tuple[int, Any]] = []
        for item in out:
            kind = type(item)
            if kind is str:
                if item[:1] == "-" or (length == 2 and not index):
                    look(out, index, hidden)
                if len(item) > short and item not in clean:
                    out[index] = check_text(item)
            elif kind is dict:
                out[index] = quick_dict(item, depth + 1)
            elif kind is int:
                if not -_LARGE < item < _LARGE and item.bit_length() > 4096:
                    raise _TooMuch
            elif item is None or kind is bool or kind is float:
                pass
            elif kind is list:
                out[index] = quick_list(item, depth + 1)
            elif kind is tuple:
                out[index] = quick_tuple(item, depth + 1)
            else:
                if kind is bytes:
                    look(out, index, hidden)
                out[index] = other(item, depth + 1)
            index += 1
        for index, mask in hidden:
            out[index] = mask
        return out

    def quick_tuple(value: tuple[Any, ...], depth: int) -> Any:
        return tuple(quick_list(list(value), depth))

    def other(item: Any, depth: int) -> Any:
        """What is neither text, number, dict, list nor tuple."""
        nonlocal text_left
        kind = type(item)
        if kind is bytes:
            if len(item) >= _LONG_TEXT:
                text_left -= len(item)
            if len(item) > 4 * max_text or text_left < 0:
                raise _TooMuch
            return item if len(item) <= short else masking.binary(item)
        if kind is complex:
            return item
        shape = shape_of(kind)
        if shape.is_record is None:
            shape.is_record = is_record(item, kind, shape)
        if shape.is_record:
            fields = shape.fields(item)
            if fields is not None:
                plain = quick_dict(fields, depth + 1)
                if type(plain) is dict:
                    return (TAG, "object", shape.name, plain, None)
        return slow(item, depth)

    def quick(value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is dict:
            return quick_dict(value, depth)
        if kind is str:
            return value if len(value) <= short or value in clean else check_text(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is int:
            if value.bit_length() > 4096:
                raise _TooMuch
            return value
        if kind is list:
            return quick_list(value, depth)
        if kind is tuple:
            return quick_tuple(value, depth)
        return other(value, depth)

    def encode_value(value: Any) -> Any:
        nonlocal left, text_left
        left = quick_items
        text_left = settings.largest
        settings.careful = False
        try:
            return quick_dict(value, 1) if type(value) is dict else quick(value, 1)
        except _TooMuch:
            pass
        except RecursionError:
            return near_limit(value)
        except Exception as error:
            _report.let_through(error)
            # Only a change by another thread in the middle of the walk, or a fault of ours: the walk with budgets decides.
        return bounded(value)

    def bounded(value: Any) -> Any:
        try:
            return slow(value, 1)
        except RecursionError:
            return near_limit(value)
        except Exception as error:
            _report.let_through(error)
            return (TAG, "opaque", type(error).__name__, "", "it could not be read while recording")

    def part(value: Any, taken: int) -> tuple[bytes, int] | None:
        nonlocal left, text_left
        left = quick_items - taken
        text_left = settings.largest
        settings.careful = False
        try:
            encoded = marshal.dumps(quick(value, 2), MARSHAL_VERSION)
        except Exception as error:
            _report.let_through(error)
            return None
        return encoded, quick_items - taken - left

    return encode_value, bounded, part


_NO_ROOM = (TAG, "cut", "value", None, 0, "the app was too close to the recursion limit to record it")


def near_limit(value: Any) -> tuple[Any, ...]:
    """What is recorded where the stack has no room to look into a value. An error says its kind: mostly that of the limit, for which nothing is called."""
    kind = type(value)
    if kind is RecursionError:
        # Only the interpreter's own sentence is known to have no secret in it.
        args = value.args
        message = args[0] if args and type(args[0]) is str and args[0] in _SENTENCES else ""
        return (TAG, "error", "RecursionError", message, [], None, {"stack": _NO_ROOM})
    try:
        return (
            (TAG, "error", _static.type_name(kind), "", [], None, {"stack": _NO_ROOM})
            if issubclass(kind, BaseException)
            else _NO_ROOM
        )
    except RecursionError:
        return _NO_ROOM


_SENTENCES = tuple(
    f"maximum recursion depth exceeded{where}"
    for where in (
        "",
        " in comparison",
        " while calling a Python object",
        " in __instancecheck__",
        " in __subclasscheck__",
    )
)


def to_bytes(frame: tuple[Any, ...]) -> bytes:
    """Marshals a frame of encoded values. Raises ValueError when something in it is not plain, which would be a fault of ours."""
    return marshal.dumps(frame, MARSHAL_VERSION)
