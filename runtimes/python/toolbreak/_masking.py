"""What is a secret, by the name of its key and by its looks. Used while recording, before anything is written."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeGuard

from . import _optional
from ._secret_places import has_name, lowered, replaced, replaced_at
from ._secrets import (
    ABOUT,
    ANYWHERE,
    ENDINGS,
    HINTS,
    KEY_BEFORE,
    LAST,
    MASK,
    PASS_BEFORE,
    PATTERNS,
    ROW_NAMES,
    ROW_VALUES,
    SCHEMA_KEYS,
    SCHEMA_TYPES,
    SELECTORS,
    TOKENS_BEFORE,
    TOKENS_OF_MODELS,
    TYPED_VALUES,
)

# Names are compared as words: `apiKey`, `API-KEY` and `OPENAI_API_KEY` all end in the words "api", "key".
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|[0-9]+")

#: Under what the value of a row may stand.
ALL_ROW_VALUES = (*ROW_VALUES, *TYPED_VALUES)


def names_beside(key: str) -> tuple[str, ...]:
    """What says whose value stands under this key of a row such as `{"name": "DB_PASSWORD", "value": "..."}`."""
    return SELECTORS if key in TYPED_VALUES else ROW_NAMES


_NAME = re.compile(r"[\w.\- /:\[\]()?$@#!*\n]{1,200}\Z")


def masked_by(name: str) -> tuple[Any, ...]:
    """The mark of a value whose key says that it is a secret."""
    return (..., "masked", f"{name} holds a secret")


def name_words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def is_secret_name(name: str) -> bool:
    """Whether values under this key are secrets. `tokens`, `max_tokens` and `token_count` are not, `access_tokens` are."""
    words = name_words(name) if _NAME.match(name) else None
    if not words:
        return False
    last = words[-1]
    if last in ABOUT:
        return False
    if last == "value" and len(words) > 1:
        words = words[:-1]
        last = words[-1]
    for word in words:
        if word in ANYWHERE or word.endswith(ENDINGS):
            return True
    before = words[-2] if len(words) > 1 else ""
    # `passCode`, `openAIKey`: what is one word elsewhere.
    if before + last in ANYWHERE:
        return True
    if last in LAST:
        return before not in TOKENS_OF_MODELS
    if last == "tokens":
        return before in TOKENS_BEFORE
    if last == "pass":
        return before in PASS_BEFORE
    return last in ("key", "keys") and (before in KEY_BEFORE or "".join(words[-3:-1]) in KEY_BEFORE)


def is_secret_selector(selector: str) -> bool:
    """Whether what is typed where this selector of a page points to is a secret: `#password-field`, `input[type="password"]:enabled`."""
    if len(selector) > 200:
        return False
    return any(word == "pwd" or word.endswith(ENDINGS) for word in name_words(selector)) or is_secret_name(selector)


#: Each name of a secret, or of a login, has one of these in it once it is letters alone.
_NAME_HINTS = (b"pass", b"pwd", b"secret", b"credential", b"auth", b"cookie", b"key", b"token", b"bearer", b"jwt")
_NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
#: Longer ones are no names, of which many are looked at together.
_LONGEST_NAME = 100

#: Remembered of a key under which a user and a password may stand.
LOGIN: Any = "login"


def is_login_name(name: str) -> bool:
    """`auth` and `http_auth`: under them a pair is a user and a password, while anything else need not be a secret."""
    return name[-4:] in ("auth", "Auth", "AUTH") and name_words(name)[-1:] == ["auth"]


def is_login(value: Any) -> TypeGuard[tuple[Any, Any]]:
    """A user and a password as HTTP libraries take them. A list may well be one of ways to log in."""
    return type(value) is tuple and len(value) == 2 and all(type(each) in (str, bytes) for each in value)


_PLAIN = (str, int, float, bool, type(None))


def is_no_secret(item: Any) -> bool:
    """What stands under the name of a secret and is none: nothing, a flag, or a JSON schema."""
    if item is None or item is True or item is False:
        return True
    # A key of the app's own class would be asked whether it is equal.
    if type(item) is not dict or not all(type(key) is str and key in SCHEMA_KEYS for key in item):
        return False
    kind = item.get("type")
    return type(kind) is str and kind in SCHEMA_TYPES


def is_word(name: str, row: dict[Any, Any]) -> bool:
    """Whether what stands under this name is one of a model's words, beside its probability."""
    return name == "token" and all(type(key) in _PLAIN for key in row) and type(row.get("logprob")) in (float, int)


def is_option(text: str) -> bool:
    """Such as `--password`: in a command line, the secret is what follows."""
    return text[:1] == "-" and text.lstrip("-")[:1].isalpha() and " " not in text and len(text) < 100


def _replace(match: re.Match[str]) -> str:
    kept = match.lastgroup
    return (match.group(kept) if kept else "") + MASK


def _has_name(text: str) -> bool:
    return has_name(lowered(text))


def may_hold_secret(text: str) -> bool:
    """A cheap necessary condition of `_secret()`: single rare characters first, since looking for one is far quicker than for two, or any expression."""
    if (
        "=" in text
        or ":" in text
        or ("(" in text and ("('" in text or '("' in text or "(b" in text))
        or ("[" in text and ("['" in text or '["' in text or "[b" in text))
        or ("<" in text and "</" in text)
        or ("-" in text and "--" in text)
    ):
        if ("@" in text and ":" in text) or _has_name(text):
            return True
    for first, hints in HINTS:
        if first in text:
            for hint in hints:
                if hint in text:
                    return True
    return False


#: The group of what stays before a secret.
_KEPT = "toolbreak_kept"


def _named_in_text(glob: str) -> re.Pattern[str]:
    """What stands in a text under a name that the person gave: `iban=...`, `"iban": "..."`, `--iban ...`."""
    name = "".join({"*": r"[\w.-]{0,100}", "?": r"[\w.-]"}.get(each) or re.escape(each) for each in glob)
    return re.compile(
        rf"""(?P<{_KEPT}>(?<!\w)(?:{name}\\?["']?\s?(?::=|[=:])\s?(?:b(?=\\?["']))?|--?{name}(?:\s{{1,9}}(?!-)|\\?["'],\s?(?=\\?["'](?!-)))))"""
        r"""(?:\\?"[^"\\\n]{0,2000}\\?"|\\?'[^'\\\n]{0,2000}\\?'|[^\s,;(){}\[\]"'&<>\\]+)""",
        re.IGNORECASE,
    )


def prepare() -> None:
    """Compiles the expression of secrets, so that the first text that may hold one need not wait for it."""
    _secret()


@cache
def _secret() -> re.Pattern[str]:
    """Compiled when a text first looks like one with a secret: that takes longer than all else of a process that only starts and ends."""
    return re.compile("|".join(PATTERNS))


def _without(match: re.Match[str]) -> str:
    if match.start() == match.end():
        return ""  # Nothing at all fits a pattern of the person's own, and hides nothing.
    return (match.group(_KEPT) if _KEPT in match.re.groupindex else "") + MASK


#: So much behind a cut is masked with what is before it: secrets of up to half of that are known with their end.
BEYOND = 16_384


def within_edge(masked: Any, size: int, length: int) -> Any:
    """
    The first `size` of a text or bytes of this length that were masked up to `BEYOND` behind them. Masks are shorter than what they hide, so that the
    edge comes nearer: its last half may hold a part of a secret, which without its end is not known for one.
    """
    return masked[: size if length < size + BEYOND else max(0, min(size, len(masked) - BEYOND // 2))]


class Masking:
    """The usual secrets and those the person named. Answers are remembered for keys; the memory is bounded."""

    def __init__(self, keys: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        keys = list(keys)
        self._globs = [re.compile(fnmatch.translate(key), re.IGNORECASE) for key in keys]
        #: What of it cannot be masked, in sentences. With any, nothing may be recorded.
        self.problems: list[str] = []
        #: What the person gave. With any, each text is looked at by them.
        self.patterns: list[re.Pattern[str]] = [_named_in_text(key) for key in keys if key.strip("*?")]
        for pattern in patterns:
            try:
                self.patterns.append(re.compile(pattern))
            except (re.error, OverflowError, RecursionError) as error:
                self.problems.append(f"The mask pattern {pattern!r} does not compile: {error}.")
        self.secret_keys: dict[str, bool] = {}

    def is_secret_key(self, name: str) -> bool:
        known = self.secret_keys.get(name)
        if known is None:
            known = is_secret_name(name) or any(glob.match(name) for glob in self._globs)
            if len(self.secret_keys) > 10_000:
                self.secret_keys.clear()
            if len(name) < 200:
                self.secret_keys[name] = known
        return known

    def none_tells(self, names: list[str]) -> bool:
        """Whether surely none of many names tells something about its value, or holds a secret: they are looked at in one, if that is enough."""
        if self._globs or max(map(len, names)) > _LONGEST_NAME:
            return False
        lines = "\n".join(names)
        letters = lines.encode("utf-8", "surrogatepass").lower().translate(None, _NO_LETTERS)
        return (
            lines.count("\n") == len(names) - 1
            and not any(hint in letters for hint in _NAME_HINTS)
            and set(names).isdisjoint(ALL_ROW_VALUES)
            and (self.holds_none(lines) or all(self.text(name) is name for name in names))
        )

    def holds_none(self, texts: str) -> bool:
        """Whether surely none of many texts, in lines, holds a secret: what a secret needs would be in all of them together, too."""
        return not self.patterns and not may_hold_secret(texts)

    def row(self, row: dict[Any, Any]) -> None:
        """Masks the value of a row such as `{"name": "DB_PASSWORD", "value": "..."}`. All keys have to be exact strings."""
        for key in ALL_ROW_VALUES:
            value = row.get(key)
            if value is None or value is True or value is False:
                continue
            name = self.secret_of_row(row, key)
            if name:
                row[key] = masked_by(name)

    def secret_of_row(self, row: dict[Any, Any], key: str) -> str:
        """The name of a secret that a row has under this key, or nothing. All keys have to be exact strings."""
        found = ""
        for about in names_beside(key):
            name = row.get(about)
            if type(name) is str and (self.is_secret_key(name) or (about in SELECTORS and is_secret_selector(name))):
                found = name
        return found

    def secret_after(self, item: Any, length: int) -> str:
        """Whether the item of a list says that the next one is a secret: a header's name, or an option. Answers the name, or nothing."""
        if type(item) is bytes and len(item) < 200:
            item = item.decode("latin-1")
        if type(item) is not str:
            return ""
        if is_option(item):
            item = item.lstrip("-")
        elif length != 2 or not item.removeprefix("#")[:1].isalpha():
            return ""
        return item if self.is_secret_key(item) else ""

    def text(self, text: str) -> str:
        """The text with secrets replaced; the same object when there are none."""
        find = _optional.secret_places
        return self._masked(text, None if find is None or len(text) < 8 else find(text))

    def _masked(self, text: str, places: list[int] | None) -> str:
        """`places`: where a secret may begin; None: that is to be found."""
        if places is not None:
            if places:
                masked = replaced_at(text, places, _secret(), _replace)
                if masked != text:
                    text = masked
        elif len(text) >= 8 and may_hold_secret(text):
            masked = replaced(text, lowered(text), _secret(), _replace)
            if masked != text:
                text = masked
        for pattern in self.patterns:
            masked = pattern.sub(_without, text)
            if masked != text:
                text = masked
        return text

    def head(self, data: bytes, size: int) -> bytes:
        """The first bytes of more, masked beyond the cut, so that no half of a secret is left at its edge."""
        find = _optional.secret_places
        if find is not None and not self.patterns and find(data, size + BEYOND) == []:
            return data[:size]
        return within_edge(self.binary(data[: size + BEYOND]), size, len(data))

    def binary(self, data: bytes) -> bytes:
        find = _optional.secret_places
        places = None if find is None or len(data) < 8 else find(data)
        if places == [] and not self.patterns:
            return data
        text = data.decode("latin-1")
        masked = self._masked(text, places)
        return data if masked is text else masked.encode("latin-1")
