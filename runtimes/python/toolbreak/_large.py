"""Large values given to calls, or returned by them: what was written to this file before and did not change since is referred to.

As with states (`_memo`), but with the third time, what comes again is written as `(..., "keep", number, value)`, and from then on as
`(..., "same", number)`. Most come twice, returned by one function and given to the next, and remembering costs half as much as writing. The frame says what it would say if all of it were written: where a budget would be touched, or a key tells something about a value, it is.

Only values of builtin types are kept alive for that, in which no finaliser and no weak reference can tell, and only so much of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from marshal import dumps
from typing import Any

from . import _optional, _report
from ._masking import names_beside
from ._memo import Memo, Part
from ._values import LARGE, MARSHAL_VERSION, Settings, may_be_large

_MOST_CONTAINERS = 20_000
_MOST_POINTERS = 200_000
#: Of all that is remembered, as it is written.
_MOST_BYTES = 4 << 20
_MOST_NOTED = 4000
#: Frames with a large value after which one that was in none of them is forgotten.
_UNUSED = 256


class _LargeMemo(Memo):
    """Forgets what was not used for the longest time."""

    def __init__(self) -> None:
        super().__init__(_MOST_CONTAINERS, is_plain=True)

    def find(self, value: Any) -> Part | None:
        is_there = id(value) in self.parts
        part = super().find(value)
        if is_there and part is None:
            self.forget_times(value)  # It changes: it has to come again before it is remembered anew.
        return part

    def remember(self, part: Part, size: int) -> bool:
        if not self.is_same(part):
            return False
        part.size = size
        part.used = self.clock
        self._drop(id(part.root))
        pointers, left = _MOST_POINTERS - part.held(), _MOST_BYTES - size
        for key, other in sorted(self.parts.items(), key=lambda item: -item[1].used):
            pointers -= other.held()
            left -= other.size
            if pointers < 0 or left < 0 or other.used < self.clock - _UNUSED:
                self._drop(key)
        self.parts[id(part.root)] = part
        return True


class Frame:
    """A frame being put together."""

    __slots__ = ("again", "fresh", "kept", "large", "more", "taken")

    def __init__(self, kept: set[int]) -> None:
        #: Numbers of what stands earlier in the file.
        self.kept = kept
        #: Numbers that this frame gives out.
        self.fresh: list[int] = []
        #: The first value that is large and was not noted.
        self.large: Any = None
        #: Values that come a second time.
        self.again: list[Any] = []
        #: Bytes that it would have more if all of it were written.
        self.more = 0
        #: Items of its containers.
        self.taken = 0


class LargeValues:
    """Makes the payload of frames with large values. One for each configuration."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._memo = _LargeMemo()

    def forget(self) -> None:
        self._memo.forget()

    def let_go(self) -> None:
        self._memo.let_go()

    def note(self, value: Any, encoded: Any, is_fields: bool) -> None:
        """Of a frame that was written and is large: which value is, so that its next time is not missed. `is_fields`: of these, the first that is."""
        settings = self._settings
        if settings.references and not settings.careful:
            if not is_fields:
                if may_be_large(value) and len(dumps(encoded, MARSHAL_VERSION)) >= LARGE:
                    self._note(value)
            elif type(encoded) is dict:
                for item, plain in zip(value.values(), encoded.values()):
                    if may_be_large(item) and len(dumps(plain, MARSHAL_VERSION)) >= LARGE:
                        return self._note(item)

    def _note(self, value: Any) -> None:
        noted = self._settings.noted
        if len(noted) > _MOST_NOTED:
            noted.clear()
        noted.add(id(value))

    def put(
        self,
        segment: Any,
        head: tuple[Any, ...],
        value: Any,
        is_fields: bool,
        attributes: Any,
        call: Any,
        recorded: int,
    ) -> int:
        """Appends the frame `(*head, value, attributes)` by compiled code; answers what `Segment.put` does."""
        settings = self._settings
        memo = self._memo
        keeps: list[tuple[Part, Any]] = []
        again: list[Any] = []
        looked_at: list[int] = []
        more = 0
        out: Any = value.copy() if is_fields else {"": value}
        for key, item in out.items():
            if not may_be_large(item) or id(item) not in settings.noted:
                continue
            part = memo.find(item)
            if part is not None and part.serial in segment.kept:
                more += part.size - len(part.same)
                out[key] = part.mark
                continue
            looked_at.append(id(item))
            settings.noted.discard(id(item))
            if part is None and not memo.is_known(item):
                again.append(item)
                continue
            part = part or memo.look(item)
            if part is not None:
                begin = dumps((..., "keep", part.serial, None), MARSHAL_VERSION)[:-1]
                more -= len(begin)
                out[key] = keep = _optional.Keep(begin, item)
                keeps.append((part, keep))
        frame = (*head, out if is_fields else out[""], attributes or None)
        done: int = segment.put(settings.rules, call, recorded, frame, None, more)
        if done:
            settings.noted.update(looked_at)
            return done
        memo.clock += 1
        for item in again:
            memo.note(item)
            self._note(item)
        try:
            for part, keep in keeps:
                if keep.size >= LARGE:
                    self._note(part.root)
                    part.items = keep.items
                    part.mark = _optional.Same(part.same, part.items)
                    if memo.remember(part, keep.size):
                        segment.kept.add(part.serial)
        except Exception as error:
            _report.let_through(error)  # The frame is there; its numbers are not used.
        return done

    def written(self, frame: Frame, kept: set[int]) -> None:
        """The frame is in the file whose numbers these are."""
        self._memo.clock += 1
        kept.update(frame.fresh)
        if frame.large is not None:
            self._note(frame.large)
        for value in frame.again:
            self._memo.note(value)

    def payload(
        self, head: tuple[Any, ...], value: Any, is_fields: bool, told: Any, kept: set[int]
    ) -> tuple[bytes, Frame] | None:
        """The frame `(*head, value, told)`. None: it is to be written as any other."""
        settings = self._settings
        frame = Frame(kept)
        pieces: list[bytes | None]
        if is_fields:
            harmless = settings.harmless
            frame.taken = len(value)
            pieces = [b"{"]
            for key, item in value.items():
                if type(key) is not str:
                    return None
                if key not in harmless and not (key in settings.rows and value.keys().isdisjoint(names_beside(key))):
                    return None
                pieces += (dumps(key, MARSHAL_VERSION), self._value(item, frame))
            pieces.append(b"0")
        else:
            pieces = [self._value(value, frame)]
        # The frame with None for the value; None is one byte.
        end = dumps(told, MARSHAL_VERSION)
        begin = dumps((*head, None, told), MARSHAL_VERSION)
        whole = [begin[: -1 - len(end)], *(piece for piece in pieces if piece is not None), end]
        if len(whole) < len(pieces) + 2 or frame.taken > settings.quick_items:
            return None
        made = b"".join(whole)
        if len(made) + frame.more > settings.largest:
            return None
        return made, frame

    def _value(self, value: Any, frame: Frame) -> bytes | None:
        settings = self._settings
        if not may_be_large(value):
            return self._encoded(value, frame)
        if id(value) not in settings.noted:
            return self._first(value, self._encoded(value, frame), frame)
        memo = self._memo
        part = memo.find(value)
        if part is not None and (part.serial in frame.kept or part.serial in frame.fresh):
            frame.more += part.size - len(part.same)
            frame.taken += part.items
            return part.same
        is_known = part is not None or memo.is_known(value)
        if is_known:
            part = part or memo.look(value)
        before = frame.taken
        encoded = self._encoded(value, frame)
        if encoded is None:
            return None
        if not is_known:
            frame.again.append(value)
            return encoded
        if part is None or settings.careful:
            settings.noted.discard(id(value))
            return self._first(value, encoded, frame)
        if len(encoded) < LARGE:
            settings.noted.discard(id(value))
        else:
            part.items = frame.taken - before
            if _optional.Same is not None:
                part.mark = _optional.Same(part.same, part.items)
            if memo.remember(part, len(encoded)):
                frame.fresh.append(part.serial)
        # Also where its number is not given out: compiled code sees the size when it is written.
        mark = dumps((..., "keep", part.serial, None), MARSHAL_VERSION)[:-1]
        frame.more -= len(mark)
        return mark + encoded

    def _first(self, value: Any, encoded: bytes | None, frame: Frame) -> bytes | None:
        if encoded is not None and len(encoded) >= LARGE and frame.large is None and not self._settings.careful:
            frame.large = value
        return encoded

    def _encoded(self, value: Any, frame: Frame) -> bytes | None:
        """One value of a frame. Depth counts as within its arguments."""
        settings = self._settings
        found = None if settings.rules is None else settings.rules.measured(value, 1)
        settings.careful = False
        if found is None:
            found = settings.part(value, frame.taken)
            if found is None:
                return None
        encoded, taken = found
        frame.taken += taken
        return encoded


def is_noted(settings: Settings, values: Iterable[Any]) -> bool:
    """Whether one of these values was large to write."""
    noted = settings.noted
    return any(id(value) in noted and may_be_large(value) for value in values)
