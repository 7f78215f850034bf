"""Where in a text a secret may begin.

The expression of `_secrets.PATTERNS` tries twenty ways at every character, some 3 us each: a tenth of a second for a page of JSON. Each
way needs a word or a sign that is found quickly, so it is tried only where one of these says that it could begin there. What comes out is what
the expression alone would give: a place too many costs time, a place too few would show a secret. Compiled code looks for them more closely
where it is there: `native/_places.c`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from ._secrets import KEY_BEFORE, PASS_BEFORE, ROW_NAMES, TOKENS_BEFORE

#: Words of which one is in every name of a secret.
_NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "authori", "cookie")
#: Of these, what is more than a part of another word by itself.
_WORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "authori", "cookie")
#: What comes before `key` in the name of a secret.
_KEYS = tuple(KEY_BEFORE)
#: With what may stand between.
_LONGEST_KEY = max(map(len, _KEYS)) + 2
#: What comes before `pass` there.
_PASSES = tuple(PASS_BEFORE)
#: What comes before `tokens` there: alone, they are a model's.
_TOKENS = tuple(TOKENS_BEFORE)
#: With what a row begins that says of which secret it is.
_ROWS = tuple(f"{quote}{name}" for name in ROW_NAMES if name.islower() for quote in "\"'")
#: What follows `?`, `&` or `;` in an address that holds a secret.
_QUERIES = ("s", "hmac", "jwt", "auth", "x-", "key=", "code=", "assertion=", "ticket=")
#: What stands at the very begin of a secret.
_BEGINNINGS = (
    "xai-", "xai_", "pplx-", "pplx_", "lsv2-", "lsv2_", "github_pat_", "glpat-", "hf_", "npm_", "AKIA", "ASIA", "AIza", "eyJ", "xox",
    "-----BEGIN", "Basic", "://", "tvly-", "nvapi-", "fc-", "jina_", "e2b_", "r8_", "pcsk_", "SG.", "xapp-", "GOCSPX-", "pypi-", "whsec_",
    "lin_api_",
)  # fmt: skip
#: Letters beside a-z that an expression without case takes for some of them, and `lower` does not.
_OTHER_CASES = {"İ": "i", "ı": "i", "ſ": "s"}

#: The end of a secret's name, from its word on, and what stands behind each: a quote, a blank, or a sign that the secret follows.
_END = (
    r"(?:(?:password|passwd|passphrase|passcode)[a-z0-9_-]{0,20}?|(?:pwd|pass|secret|token|key|credential|cookie)s?|authorization)"
    r"(?:[_-]?[0-9]{1,2}|[_-](?:value|prod|production|dev|test|staging|live|old|main|default))?"
    r"""\\{0,7}[\s"'=:>]"""
)

#: `user:password@`, from the colon on.
_LOGIN = re.compile(r""":[^\s/:@"',]{3,}@""")


def lowered(text: str) -> str:
    """The text without case, each character at its place, and with those of a-z for which an expression without case takes others."""
    if not text.isascii():
        for letter, low in _OTHER_CASES.items():
            text = text.replace(letter, low)
    return text.lower()


def has_name(low: str) -> bool:
    """Whether `NAME_HINT` is in the text that this is `lowered` of."""
    return any(name in low for name in _NAMES) or next(_queries(low), None) is not None


def replaced(text: str, low: str, expression: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> str:
    """`expression.sub(replace, text)`, where `expression` is that of all patterns; `low` is `lowered(text)`."""
    return replaced_at(text, sorted(_places(text, low)), expression, replace)


def replaced_at(
    text: str, places: list[int], expression: re.Pattern[str], replace: Callable[[re.Match[str]], str]
) -> str:
    """The same, where it may match nowhere but at these places, which are in their order."""
    pieces: list[str] = []
    end = 0
    for place in places:
        if place < end:
            continue
        found = expression.match(text, place)
        if found is not None:
            pieces += (text[end:place], replace(found))
            end = found.end()
    return "".join(pieces) + text[end:] if pieces else text


def _places(text: str, low: str) -> set[int]:
    return {at for found in _looks(text, low) for at in found}


def _looks(text: str, low: str) -> Iterator[Iterable[int]]:
    for beginning in _BEGINNINGS:
        yield _all(text, beginning)
    for sign in ("k-", "k_"):
        for at in _all(text, sign):  # `sk-`, `gsk-`
            yield max(0, at - 1), max(0, at - 2)
    yield (at for at in _all(text, "gh") if text.startswith("_", at + 3))
    yield _all(low, "bearer")
    yield _queries(low)
    if "value" in low or "text" in low or "keys" in low:
        # `{"name": "api_key", "value": ...}`
        for name in _ROWS:
            yield _all(low, name)
    if "@" in text:
        yield _logins(text)
    yield _names(text, low)


def _logins(text: str) -> Iterator[int]:
    for login in _LOGIN.finditer(text):
        colon = start = login.start()
        while start > 0 and colon - start <= 64 and _is_of_login(text[start - 1]):
            start -= 1
        yield start


@cache
def _end() -> re.Pattern[str]:
    """Compiled code that looks for secrets needs it never, and most processes of an app hold no secret at all."""
    return re.compile(_END)


def _names(text: str, low: str) -> Iterator[int]:
    done = 0
    names = {at for word in _WORDS for at in _all(low, word)}
    names.update(at for at in _all(low, "key") if low[max(0, at - _LONGEST_KEY) : at].rstrip("_-").endswith(_KEYS))
    names.update(at for at in _all(low, "pass") if low[max(0, at - 12) : at].rstrip("_-").endswith(_PASSES))
    for name in sorted(names):
        if _end().match(low, name) is None:
            continue
        if low.startswith("tokens", name) and not low[max(0, name - 9) : name].rstrip("_-").endswith(_TOKENS):
            continue
        yield name
        # Back to where the whole name begins, and to the quote and the bracket before it.
        start = name
        while start > done and _is_of_name(text[start - 1]):
            start -= 1
        for at in range(max(0, start - 3), name):
            char = text[at]
            if char in "\"'([-_" or (char.isalpha() and not (_is_letter(char) and at > 0 and _is_letter(text[at - 1]))):
                yield at
        done = name


def _all(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _queries(low: str) -> Iterator[int]:
    for sign in "?&;":
        for at in _all(low, sign):
            if low.startswith(_QUERIES, at + 1):
                yield at


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _is_of_name(char: str) -> bool:
    """Of names without case: `K` is the sign of Kelvin, too."""
    return char.isalpha() or char == "_" or char == "-"


def _is_of_login(char: str) -> bool:
    return char.isalnum() or char in "_.-"
