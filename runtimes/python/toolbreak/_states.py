"""Frames of workflow states. A state is mostly the same from step to step; what is large and did not change is not walked again."""

from __future__ import annotations

from marshal import dumps
from typing import Any

from . import _report
from ._masking import is_login_name
from ._memo import SMALLEST, Memo
from ._values import MARSHAL_VERSION, Settings

_SCALARS = frozenset(map(id, (bool, float, type(None))))


class StateEncoder:
    """Makes the payload of one frame whose last item is a state. One for each configuration."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._memo = Memo()
        #: Keys that are plain names, as bytes. A key that names a secret, or holds one, is never among them.
        self._keys: dict[str, bytes] = {}

    def forget(self) -> None:
        self._memo.forget()

    def payload(self, head: tuple[Any, ...], state: Any) -> bytes:
        """The frame `(*head, state)`, within the budgets of the settings."""
        settings = self._settings
        if type(state) is dict and state:
            try:
                made = self._in_parts(head, state)
            except Exception as error:
                _report.let_through(error)
                made = None  # A key that is not text, or a change by another thread: the whole walk decides.
            if made is not None:
                return made
        payload = dumps((*head, settings.encode(state)), MARSHAL_VERSION)
        if len(payload) > settings.max_value_bytes + 1000:
            return dumps((*head, settings.bounded(state)), MARSHAL_VERSION)
        return payload

    def _in_parts(self, head: tuple[Any, ...], state: dict[Any, Any]) -> bytes | None:
        keys = self._keys
        find = self._memo.find
        # The frame with None for a state; None is one byte, which the dict takes the place of.
        pieces = [dumps((*head, None), MARSHAL_VERSION)[:-1], b"{"]
        for key, value in state.items():
            if type(key) is not str:
                return None
            pieces.append(keys.get(key) or self._key(key))
            kind = type(value)
            if kind is int or id(kind) in _SCALARS:
                pieces.append(dumps(value if kind is not int else self._settings.encode(value), MARSHAL_VERSION))
            else:
                pieces.append(find(value) or self._part(value))
        if "value" in state or "Value" in state:
            row = state.copy()
            self._settings.masking.row(row)
            if any(row[key] is not value for key, value in state.items()):
                return None
        pieces.append(b"0")
        payload = b"".join(pieces)
        return payload if len(payload) <= self._settings.max_value_bytes else None

    def _key(self, key: str) -> bytes:
        masking = self._settings.masking
        if masking.is_secret_key(key) or is_login_name(key) or masking.text(key) is not key:
            raise ValueError(key)
        encoded = dumps(key, MARSHAL_VERSION)
        if len(key) < 200 and len(self._keys) < 1000:
            self._keys[key] = encoded
        return encoded

    def _part(self, value: Any) -> bytes:
        settings = self._settings
        memo = self._memo
        kind = type(value)
        seen = memo.is_known(value)
        part = memo.look(value) if seen else None
        encoded = dumps(settings.encode(value), MARSHAL_VERSION)
        if part is not None:
            memo.remember(part, encoded)
        elif not seen and len(encoded) >= SMALLEST and kind is not str and kind is not bytes:
            memo.note(value)
        return encoded
