"""Frames of workflow states. A state is mostly the same from step to step: what is large and did not change is neither walked nor written again.

A large value that is expected to come again is written as `(..., "keep", number, value)`, and from then on, in the same spool file and as long as
nothing in it changed, as `(..., "same", number)`. A number stands for one content for ever. So are the items of a list, however small, where the list is
made anew around them.
"""

from __future__ import annotations

from marshal import dumps
from typing import Any

from . import _optional, _report, _static
from ._masking import ALL_ROW_VALUES, is_login_name
from ._memo import SMALLEST, SWEEP, Memo, Part
from ._values import MARSHAL_VERSION, TAG, Settings

_SCALARS = frozenset(map(id, (bool, float, type(None))))
_TEXTS = frozenset(map(id, (str, bytes)))
#: A longer list is one part; of a shorter one of messages or dicts each may be a part, too, since such lists are made anew to grow.
_MOST_ITEMS = 2000
#: Of dicts, which are looked at one by one when the list is made anew for the first time.
_MOST_DICTS = 500
#: Of a workflow's input; one with more is small parts mostly.
_MOST_KEEPS = 500
#: Parts are encoded as if they stood alone; where nesting is cut early, the whole walk decides.
_DEPTH = 24
#: What an id is made of, with a dash in four places. An expression would cost ten times as much where the processor has forgotten it.
_ID_TEXT = "0123456789abcdef-"
_PLAIN = 1 << 62
#: Dicts in a list that are smaller are written again and again with it.
_SMALLEST_ITEM = 64
#: So often what holds messages was written before all of it gets a number, for which each of them is looked at.
_MOST_LISTS = 8
#: And so often a list of other items, and a message in a list: `add_messages` gives it an id behind the state that we see first, and the messages of a
#: workflow that goes on from what was saved are other ones each time.
_MOST_ITEMS_ANEW = 3
_SAMPLE_ID = "00000000-0000-0000-0000-000000000000"


def has_parts(value: Any) -> bool:
    """Whether a node's answer holds what may be a part of the state."""
    if type(value) is dict:
        return any(map(_takes_a_look, list(value.values())))
    return False


def _takes_a_look(value: Any) -> bool:
    """Whether it may be a part."""
    kind = type(value)
    if kind is int or value is None or id(kind) in _SCALARS:
        return False
    if kind is dict or kind is list or kind is tuple:
        return len(value) > 0
    return kind is not str or len(value) >= SMALLEST


def _fields_of(state: Any) -> tuple[str | None, dict[Any, Any] | None]:
    """A state's fields, and the name of its type where it is an object that is recorded as that and these."""
    if type(state) is dict:
        return None, state
    if id(type(state)) in _SCALARS or state is None:
        return None, None
    shape = _static.shape_of(type(state))
    return shape.name, shape.fields(state) if shape.is_record else None


def _holds_records(value: Any) -> bool:
    """Whether it is a list of messages or the like, or a dict with one."""
    if type(value) is dict:
        return any(type(item) is list and _holds_records(item) for item in list(value.values()))
    return type(value) is list and len(value) > 0 and _static.shape_of(type(value[0])).is_record is True


class _Frame:
    """A frame being put together."""

    __slots__ = ("fresh", "given", "inside", "is_handed_on", "kept", "more", "returns", "same", "size")

    def __init__(self, kept: set[int], fresh: list[int], returns: bool) -> None:
        #: Parts that were found to be the same for this very frame, by their value's id.
        self.same: dict[int, Part] = {}
        #: Numbers of what stands earlier in the file.
        self.kept = kept
        #: Numbers that this frame gives out, in order and to be looked up.
        self.fresh = fresh
        self.given = set(fresh)
        #: Bytes that references stand for, and those of items.
        self.more = 0
        self.size = 0
        #: Whether its values will come again for certain.
        self.returns = returns
        #: Whether the state may be one level further down, as the input among a workflow's arguments.
        self.inside = returns
        #: Within a state that was handed on: what is in that stands by itself.
        self.is_handed_on = False

    def give(self, number: int) -> None:
        self.fresh.append(number)
        self.given.add(number)

    def take_back(self, known: int) -> None:
        """All numbers but so many: what has them is not written."""
        self.given.difference_update(self.fresh[known:])
        del self.fresh[known:]


class _TooLarge(Exception):
    """The frame is larger than a value may be."""


class StateEncoder:
    """Makes the payload of frames that hold a state. One for each configuration."""

    # Compiled code finds it at its place.
    __slots__ = ("__dict__", "_memo")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._memo = Memo()
        #: Keys that are plain names, as bytes. A key that names a secret, or holds one, is never among them.
        self._keys: dict[str, bytes] = {}
        #: Attributes and what their texts begin with, before an id: whether that says that the id is a secret.
        self._heads: dict[tuple[str, str], bool] = {}

    def forget(self) -> None:
        self._memo.forget()

    def let_go(self) -> None:
        self._memo.let_go()

    def attributes(self, attributes: dict[str, Any]) -> Any:
        """A node's attributes, encoded. LangGraph's ids are random: of texts that end in one, each beginning is looked at once."""
        settings = self._settings
        heads = self._heads
        last: str | None = None
        for name, value in attributes.items():
            if type(value) is int and -_PLAIN < value < _PLAIN:
                continue
            if type(value) is not str:
                return settings.encode(attributes)
            head, id = value[:-36], value[-36:]
            # A namespace ends in the id of its task.
            if id != last and (len(id) != 36 or id.strip(_ID_TEXT) or id[8:24:5] != "----"):
                return settings.encode(attributes)
            last = id
            harmless = heads.get((name, head))
            if harmless is None:
                sample = {name: head + _SAMPLE_ID}
                settings.encode(dict.fromkeys(attributes))  # Makes their names known to the compiled way.
                harmless = not settings.masking.patterns and settings.encode(sample) == sample
                if len(heads) < 1000 and len(head) < 200:
                    heads[name, head] = harmless
            if not harmless:
                return settings.encode(attributes)
        return attributes

    def plain(self, state: Any, kept: set[int]) -> tuple[dict[Any, Any], int] | None:
        """
        For `Segment.put`: the state, with a mark for each part that is in the file and did not change, and how many bytes the marks stand for.
        None: it takes `payload`.
        """
        if type(state) is not dict:
            return None
        if not self._settings.references:
            return state, 0
        memo = self._memo
        parts = memo.parts
        clock = memo.clock + 1
        size = 0
        out: dict[Any, Any] = state.copy()
        for key, value in out.items():
            kind = type(value)
            if kind is int or value is None or id(kind) in _SCALARS:
                continue
            part = parts.get(id(value))
            if part is not None and part.root is value:
                if part.serial not in kept or not memo.is_same(part):
                    return None
                part.used = clock
                out[key] = part.mark
                size += part.size
            elif _takes_a_look(value):
                return None
        return out, size

    def first(self, args: dict[str, Any], kept: set[int]) -> tuple[dict[str, Any], int, list[tuple[Part, Any]]] | None:
        """`plain` for the arguments of a workflow, whose input holds what will come again: that is kept as it is written. The last ones are for `keep`."""
        if not self._settings.references:
            return None
        keeps: list[tuple[Part, Any]] = []
        size = 0
        out = args.copy()
        for name, given in args.items():
            if type(given) is not dict:
                if _takes_a_look(given):
                    return None
                continue
            out[name] = fields = given.copy()
            for key, value in given.items():
                if not _takes_a_look(value):
                    continue
                if len(keeps) == _MOST_KEEPS:
                    return None
                part = self._memo.find(value)
                if part is not None and part.serial in kept:
                    fields[key] = part.mark
                    size += part.size
                    continue
                # The items of such a list are parts, too.
                if (
                    type(value) is list
                    and value
                    and (type(value[0]) is dict or _static.shape_of(type(value[0])).is_record)
                ):
                    return None
                part = part or self._memo.look(value)
                if part is None:
                    return None
                begin = dumps((..., "keep", part.serial, None), MARSHAL_VERSION)[:-1]
                fields[key] = keep = _optional.Keep(begin, value)
                keeps.append((part, keep))
                size -= len(begin)
        return out, size, keeps

    def keep(self, keeps: list[tuple[Part, Any]], kept: set[int]) -> None:
        """What `first` answered is in the file whose numbers are `kept`."""
        self.written()
        for part, keep in keeps:
            if keep.size >= SMALLEST and self._memo.remember(part, keep.size):
                kept.add(part.serial)

    def written(self) -> None:
        """What `plain` answered is in the file."""
        memo = self._memo
        memo.clock += 1
        if memo.clock % SWEEP == 0:
            memo.sweep()

    def payload(
        self,
        head: tuple[Any, ...],
        state: Any,
        kept: set[int] | None = None,
        fresh: list[int] | None = None,
        tail: tuple[Any, ...] = (),
        returns: bool = False,
    ) -> bytes:
        """The frame `(*head, state, *tail)`, within the budgets of the settings.

        `kept`: numbers of the parts that stand earlier in the file; `fresh` gets those that are new in this frame. Without these two
        everything is written. `returns`: large values are not waited for to come a second time.
        """
        settings = self._settings
        name, fields = _fields_of(state)
        if kept is not None and fresh is not None and settings.references and fields:
            memo = self._memo
            parts = memo.parts
            memo.clock = clock = memo.clock + 1
            if clock % SWEEP == 0:
                memo.sweep()
            # Mostly, all is plain or known and did not change: then marshal does the rest.
            out: dict[Any, Any] = {}
            try:
                out = fields.copy()
                size = 0
                harmless = settings.harmless
                for key, value in out.items():
                    if type(key) is not str or key not in harmless:
                        break
                    kind = type(value)
                    if kind is int:
                        if not -_PLAIN < value < _PLAIN:
                            break
                    elif value is None or kind is bool or kind is float:
                        pass
                    elif (part := parts.get(id(value))) is not None and part.root is value:
                        if part.serial not in kept or not memo.is_same(part):
                            break
                        part.used = clock
                        out[key] = part.tag
                        size += part.size
                    elif (
                        kind is not str
                        or len(value) >= SMALLEST
                        or (len(value) > settings.short and value not in settings.clean)
                    ):
                        break
                else:
                    plain = out if name is None else (TAG, "object", name, out, None)
                    made = dumps((*head, plain, *tail), MARSHAL_VERSION)
                    if len(made) + size <= settings.max_value_bytes:
                        return made
            except Exception as error:
                _report.let_through(error)
            known = len(fresh)
            try:
                frame = _Frame(kept, fresh, returns)
                for value, plain in zip(fields.values(), out.values()):
                    if plain is not value:
                        frame.same[id(value)] = parts[id(value)]
                made = self._in_parts(head, name, fields, frame, tail)
            except Exception as error:
                _report.let_through(error)
                made = None  # A key that is not text, or a change by another thread: the whole walk decides.
            if made is not None:
                return made
            del fresh[known:]
        payload = dumps((*head, settings.encode(state), *tail), MARSHAL_VERSION)
        if len(payload) > settings.max_value_bytes + 1000:
            return dumps((*head, settings.bounded(state), *tail), MARSHAL_VERSION)
        return payload

    def _in_parts(
        self, head: tuple[Any, ...], name: str | None, state: dict[Any, Any], frame: _Frame, tail: tuple[Any, ...]
    ) -> bytes | None:
        # The frame with None for a state; None is one byte, which the dict takes the place of.
        if tail:
            begin = dumps((*head, None, *tail), MARSHAL_VERSION)
            end = b"0" + b"".join([dumps(item, MARSHAL_VERSION) for item in tail])
            begin = begin[: len(begin) - len(end)]
        else:
            begin, end = dumps((*head, None), MARSHAL_VERSION)[:-1], b"0"
        pieces = [begin]
        if name is not None:
            pieces.append(dumps((TAG, "object", name, None, None), MARSHAL_VERSION)[:-2])
            end = end[:1] + b"N" + end[1:]
        self._fields(state, frame, pieces)
        pieces[-1] = end
        payload = b"".join(pieces)
        return payload if len(payload) + frame.more <= self._settings.max_value_bytes else None

    def _fields(self, fields: dict[Any, Any], frame: _Frame, pieces: list[bytes]) -> None:
        keys = self._keys
        pieces.append(b"{")
        for key, value in fields.items():
            if type(key) is not str:
                raise ValueError
            pieces.append(keys.get(key) or self._key(key))
            if frame.inside and type(value) is dict:
                frame.inside = False
                self._fields(value, frame, pieces)
            else:
                pieces.append(self._value(value, frame))
        pieces.append(b"0")
        if not fields.keys().isdisjoint(ALL_ROW_VALUES):
            row = fields.copy()
            self._settings.masking.row(row)
            if any(row[key] is not value for key, value in fields.items()):
                raise ValueError

    def _key(self, key: str) -> bytes:
        masking = self._settings.masking
        if masking.is_secret_key(key) or is_login_name(key) or masking.text(key) is not key:
            raise ValueError(key)
        encoded = dumps(key, MARSHAL_VERSION)
        if len(key) < 200 and len(self._keys) < 1000:
            self._keys[key] = encoded
            # As the walk has it: such a key says nothing by itself, and something beside a name.
            (self._settings.rows if key in ALL_ROW_VALUES else self._settings.harmless).add(key)
        return encoded

    def _value(self, value: Any, frame: _Frame, is_item: bool = False) -> bytes:
        kind = type(value)
        if id(kind) in _SCALARS:
            return dumps(value, MARSHAL_VERSION)
        if kind is int or ((kind is str or kind is bytes) and len(value) < SMALLEST):
            return dumps(self._settings.encode(value), MARSHAL_VERSION)
        if (kind is list or kind is dict) and not value:
            return b"[\0\0\0\0" if kind is list else b"{0"
        part = frame.same.get(id(value)) or self._memo.find(value)
        if part is None:
            return self._new(value, frame, is_item)
        if part.serial in frame.kept or part.serial in frame.given:
            frame.more += part.size
            return part.same
        return self._define(part, frame, self._has_items(value), is_item)

    def _new(self, value: Any, frame: _Frame, is_item: bool) -> bytes:
        memo = self._memo
        has_items = self._has_items(value)
        most = 1
        if _holds_records(value):
            most = _MOST_LISTS
        elif has_items or (is_item and _static.shape_of(type(value)).is_record):
            most = _MOST_ITEMS_ANEW
        part = None
        if frame.returns or memo.times(value) >= most:
            part = memo.look(value)
        elif most == 1:
            part = memo.glance(value)
        if part is not None:
            return self._define(part, frame, has_items, is_item)
        before = frame.more
        encoded = self._encoded(value, frame, has_items)
        if is_item or len(encoded) + frame.more - before >= SMALLEST:
            memo.note(value)
        return encoded

    def _define(self, part: Part, frame: _Frame, has_items: bool, is_item: bool) -> bytes:
        """All of the part, with its number if nothing changed meanwhile."""
        before = frame.more
        encoded = self._encoded(part.root, frame, has_items)
        size = len(encoded) + frame.more - before
        if (size < SMALLEST and not is_item) or not self._memo.remember(part, size):
            return encoded
        frame.give(part.serial)
        return dumps((..., "keep", part.serial, None), MARSHAL_VERSION)[:-1] + encoded

    def _encoded(self, value: Any, frame: _Frame, has_items: bool) -> bytes:
        if has_items:
            # Behind the look: what another thread adds before it is in both, and what it adds later changes the part.
            items = value[:]
            # A text may name the next one a secret.
            if items and _TEXTS.isdisjoint(map(id, map(type, items))):
                return b"".join([b"[", len(items).to_bytes(4, "little"), *self._items(items, frame)])
        elif (
            type(value) is dict
            and not frame.is_handed_on
            and self._settings.max_depth >= _DEPTH
            and _holds_records(value)
        ):
            # A state that was handed on, by `Send` or to another graph.
            known, more, size = len(frame.fresh), frame.more, frame.size
            pieces: list[bytes] = []
            frame.is_handed_on = True
            try:
                self._fields(value, frame, pieces)
                return b"".join(pieces)
            except ValueError:  # A key that the whole walk has to look at.
                frame.take_back(known)
                frame.more, frame.size = more, size
            finally:
                frame.is_handed_on = False
        return self._plain(value)

    def _has_items(self, value: Any) -> bool:
        """
        Whether each item of a list is a part: messages, dicts that are large, and others in a list that was made anew around them; as far as the
        first and the last one tell.
        """
        if type(value) is not list or not 0 < len(value) <= _MOST_ITEMS or self._settings.max_depth < _DEPTH:
            return False
        first, last = value[0], value[-1]
        kind = type(first)
        if kind is not dict:
            return _static.shape_of(kind).is_record is True
        if len(value) > _MOST_DICTS:
            return False
        memo = self._memo
        if id(first) in memo.parts:
            return True
        size = len(self._plain(first))
        if size < SMALLEST and last is not first:
            size = max(size, len(self._plain(last)))
        if size >= SMALLEST:
            return True
        came = memo.is_known(first)
        memo.note(first)
        # A list that is the same one is known as a whole.
        return came and size >= _SMALLEST_ITEM and not memo.is_known(value)

    def _items(self, items: list[Any], frame: _Frame) -> list[bytes]:
        memo = self._memo
        parts, clock, kept = memo.parts, memo.clock, frame.kept
        told = _optional.told_items
        pieces: list[bytes] = []
        while len(pieces) < len(items):
            if told is not None:
                frame.more += told(items, len(pieces), pieces, parts, kept, clock)
                if len(pieces) == len(items):
                    break
            more = frame.more
            piece = self._value(items[len(pieces)], frame, True)
            frame.size += len(piece) + frame.more - more
            if frame.size > self._settings.max_value_bytes:
                raise _TooLarge
            pieces.append(piece)
        return pieces

    def _plain(self, value: Any) -> bytes:
        settings = self._settings
        encoded: bytes | None = settings.rules.encode(value) if settings.rules is not None else None
        return dumps(settings.encode(value), MARSHAL_VERSION) if encoded is None else encoded
