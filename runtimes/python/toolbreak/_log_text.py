"""What a logpoint says, twice: as the person reads it now, and as it is recorded."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any

from . import _calls, _report, _static
from ._call_types import Call
from ._calls import Quiet
from ._conditions import Expression, describe
from ._masking import MASK, Masking
from ._values import TAG, Settings

_MOST_SECRETS = 1000


class LogText:
    """Text with `{expression}` parts; `{{` and `}}` stand for braces."""

    def __init__(self, text: str) -> None:
        self.parts: list[str | Expression] = []
        plain = ""
        index = 0
        while index < len(text):
            if text[index : index + 2] in ("{{", "}}"):
                plain += text[index]
                index += 2
            elif text[index] == "{":
                end = _closing(text, index)
                self.parts.append(plain)
                plain = ""
                self.parts.append(Expression(text[index + 1 : end]))
                index = end + 1
            else:
                plain += text[index]
                index += 1
        self.parts.append(plain)

    def render(self, call: Call, extra: dict[str, Any] | None = None) -> tuple[str, str]:
        """The text, and the text to record: without what the call's arguments and the shown values hold under telling names."""
        return self._render(lambda part: part.evaluate(call, extra), call, call.args)

    def render_in(self, frame: Any, call: Call | None) -> tuple[str, str]:
        """The same at a line, with the names of its frame."""
        own = frame.f_locals if frame.f_locals is not frame.f_globals else {}
        given = {**(call.args if call is not None else {}), **own}
        return self._render(lambda part: part.evaluate_in(frame, call), call, given)

    def _render(self, evaluate: Callable[[Expression], Any], call: Call | None, given: Any) -> tuple[str, str]:
        settings: Settings | None = _calls.writer.settings if _calls.writer is not None else None
        found: set[str] = set()
        if settings is not None:
            _report.guard(_gather, given, settings, found)
        shown = recorded = ""
        for part in self.parts:
            if isinstance(part, str):
                shown += part
                recorded += part
                continue
            said, hidden = _say(part, evaluate, call, settings, found)
            shown += said
            recorded += MASK if hidden else said
        # Longest first: one secret may be the beginning of another.
        for secret in sorted(found, key=len, reverse=True):
            recorded = recorded.replace(secret, MASK)
        return shown, recorded


def _say(
    part: Expression,
    evaluate: Callable[[Expression], Any],
    call: Call | None,
    settings: Settings | None,
    found: set[str],
) -> tuple[str, bool]:
    """What a part says, and whether its own words tell that it is a secret."""
    try:
        value = evaluate(part)
        with Quiet(call):
            said = value if isinstance(value, str) else repr(value)
    except (Exception, SystemExit) as error:
        _report.let_through(error)
        return f"<{describe(error)}>", False
    if settings is None:
        return said, False
    _report.guard(_gather, value, settings, found)
    return said, type(value) not in (bool, type(None)) and _is_about_secret(part.text, settings.masking)


def _is_about_secret(text: str, masking: Masking) -> bool:
    return any(masking.is_secret_key(word) for word in re.findall(r"\w+", text))


def _gather(value: Any, settings: Settings, found: set[str]) -> None:
    """Adds the texts that recording this value would hide."""
    _compare(value, settings.encode(value), found, 0)


def _compare(value: Any, encoded: Any, found: set[str], depth: int) -> None:
    if depth > 30 or len(found) > _MOST_SECRETS or encoded is value:
        return
    kind = type(value)
    if type(encoded) is tuple and encoded[:1] == (TAG,) and len(encoded) > 1:
        if encoded[1] == "masked":
            _leaves(value, found, set(), depth)
        elif encoded[1] == "object" and type(encoded[3]) is dict:
            fields = _static.shape_of(kind).fields(value) or {}
            for name, item in encoded[3].items():
                if name in fields:
                    _compare(fields[name], item, found, depth + 1)
                elif name == "(value)":
                    _compare(value, item, found, depth + 1)
        elif encoded[1] == "cut" or encoded[1] == "subclass":
            _compare(value, encoded[3], found, depth + 1)
        return
    if type(encoded) is dict or type(encoded) is list or type(encoded) is tuple:
        _compare_items(value, encoded, found, depth + 1)


def _compare_items(value: Any, plain: Any, found: set[str], depth: int) -> None:
    """The same of what is in a container, by whatever class; a cut one may lack items in the middle."""
    if not _static.isinstance_static(value, dict):
        for item, encoded in zip(_items_of(value), plain):
            _compare(item, encoded, found, depth)
        return
    pairs = _static.pairs_of(value)
    if type(plain) is list:
        # Keys that are objects stand in pairs.
        for pair, encoded in zip(pairs, plain):
            _compare(pair, encoded, found, depth)
    elif type(plain) is dict:
        if len(pairs) != len(plain):
            pairs = [(key, item) for key, item in pairs if type(key) is str and key in plain]
            plain = {key: plain[key] for key, _ in pairs}
        for (_, item), encoded in zip(pairs, plain.values()):
            _compare(item, encoded, found, depth)


def _items_of(value: Any) -> list[Any]:
    """What is in a container; of a dict its values."""
    bases: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
    if _static.isinstance_static(value, dict):
        return [item for _, item in _static.pairs_of(value)]
    base = next((base for base in bases if _static.isinstance_static(value, base)), None)
    return [] if base is None else list(base.__iter__(value))


def _leaves(value: Any, found: set[str], seen: set[int], depth: int) -> None:
    kind = type(value)
    if depth > 30 or len(found) > _MOST_SECRETS or id(value) in seen:
        return
    seen.add(id(value))
    if kind is str or kind is bytes:
        text: str = value if kind is str else value.decode("latin-1")
        if len(text) > 2:
            found.update((text, repr(text)[1:-1]))
    else:
        for item in (*_items_of(value), *(_static.shape_of(kind).fields(value) or {}).values()):
            _leaves(item, found, seen, depth + 1)


def _closing(text: str, start: int) -> int:
    depth = 0
    quote = ""
    for index in range(start, len(text)):
        character = text[index]
        if quote:
            if character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                return index
    raise ValueError("a { has no closing }")
