"""What is a secret, by the name of its key and by its looks. Used while recording, before anything is written."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from typing import Any

# Names are compared as words: `apiKey`, `API-KEY` and `OPENAI_API_KEY` all end in the words "api", "key".
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|[0-9]+")
_ANYWHERE = frozenset(
    "password passwords passwd passphrase pwd secret secrets credential credentials authorization cookie cookies apikey apikeys".split()
)
_LAST = frozenset(
    "token bearer jwt setcookie authtoken accesstoken refreshtoken idtoken sessiontoken privatekey secretkey accesskey clientsecret".split()
)
_KEY_BEFORE = frozenset(
    "api private secret access signing encryption ssh master auth account subscription license".split()
)
# A name such as `password_length` or `token_count` speaks about a secret and is none.
_ABOUT = frozenset(
    "count counts length len min max limit budget policy required field fields hint prompt url uri expires expiry expiration type ttl usage used size"
    " strength attempts version enabled valid details changed updated created at label title".split()
)
# `next_token` is a page mark, `eos_token` a word of a model's vocabulary.
_TOKENS_OF_MODELS = frozenset(
    "next page continuation eos bos pad unk sep cls mask max min stop end start special per first last new num total".split()
)


_NAME = re.compile(r"[\w.\- /:]{1,100}\Z")


def masked_by(name: str) -> tuple[Any, ...]:
    """The mark of a value whose key says that it is a secret."""
    return (..., "masked", f"{name} holds a secret")


def name_words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def is_secret_name(name: str) -> bool:
    """Whether values under this key are secrets. `tokens`, `max_tokens` and `token_count` are not."""
    words = name_words(name) if _NAME.match(name) else None
    if not words:
        return False
    last = words[-1]
    if last in _ABOUT:
        return False
    if last == "value" and len(words) > 1:
        words = words[:-1]
        last = words[-1]
    for word in words:
        if word in _ANYWHERE:
            return True
    before = words[-2] if len(words) > 1 else ""
    if last in _LAST:
        return before not in _TOKENS_OF_MODELS
    return last in ("key", "keys") and before in _KEY_BEFORE


_NAMED = (
    r"(?:pass(?:word|wd|phrase)|pwd|api[_-]?key|(?:access|secret|private|signing|account)[_-]?key"
    r"|(?:client[_-]?)?secret|(?:[a-z]+[_-])?(?<!next[_-])(?<!page[_-])token|credentials?)"
)
# Each alternative keeps what stands before the secret in a group `k…` and what follows in none. A part that may be looked at again from the next
# place on has an upper bound: without one, a text made of beginnings takes the square of its length, and the app stands still meanwhile.
_PATTERNS = (
    r"(?<![A-Za-z0-9])(?:sk|rk|pk|gsk|xai|pplx|lsv2)[-_](?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{14,}",
    r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}",
    r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})",
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
    r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}",
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
    r"(?P<k1>(?i:authorization|cookie)[\"']?\s*[:=]\s*[\"']?(?:(?:[Bb]asic|[Bb]earer|[Tt]oken|[Dd]igest|[Aa]pi-?[Kk]ey)\s+)?)[^\s\"',}]{4,}",
    r"(?P<k2>[Bb][Ee][Aa][Rr][Ee][Rr]\s+)(?=[^\s]*[0-9]|[^\s]{20})[A-Za-z0-9._~+/=-]{6,}",
    r"(?P<k3>Basic\s+)(?=[A-Za-z0-9+/]*[A-Z0-9=])[A-Za-z0-9+/]{12,}={0,2}",
    r"(?P<k4>://[^\s/:@\"']*:)[^\s/@\"']+(?=@)",
    r"(?P<k5>(?<![A-Za-z])(?i:" + _NAMED + r")(?:\\?[\"'])?\s?[=:]\s?(?:\\?[\"'])?)[^\s\"'&,;\\}\])]{3,}",
    r"(?P<k6>(?<![A-Za-z])(?i:[a-z]+_" + _NAMED + r")(?:\\?[\"'])?\s?[=:]\s?(?:\\?[\"'])?)[^\s\"'&,;\\}\])]{3,}",
    # A pair as text, such as a header.
    r"(?P<k8>\(b?[\"'](?i:[a-z]+[_-])?(?i:" + _NAMED + r")[\"'],\s*b?)[\"'][^\"']*[\"']",
    # A list or a dictionary as text.
    r"(?P<k7>(?<![A-Za-z])(?i:(?:[a-z]+_)?" + _NAMED + r")(?:\\?[\"'])?\s?[=:]\s?)[\[{(][^\[\]{}()]*[\]})]",
)
_SECRET = re.compile("|".join(_PATTERNS))
_NAME_IN_TEXT = re.compile(r"(?i)pass|pwd|secret|token|key|credential|authori|cookie")
MASK = "•••"


def _replace(match: re.Match[str]) -> str:
    kept = match.lastgroup
    return (match.group(kept) if kept else "") + MASK


def may_hold_secret(text: str) -> bool:
    """A cheap necessary condition of `_SECRET`: single rare characters first, since looking for one is far quicker than any expression."""
    if "=" in text or ":" in text or "('" in text or '("' in text:
        if ("@" in text and "://" in text) or _NAME_IN_TEXT.search(text) is not None:
            return True
    if "-" in text and (
        "sk-" in text
        or "xox" in text
        or "k-" in text
        or "glpat-" in text
        or "-----BEGIN" in text
        or "xai-" in text
        or "pplx-" in text
    ):
        return True
    if "_" in text and ("k_" in text or "gh" in text or "hf_" in text or "npm_" in text or "lsv2_" in text):
        return True
    if "J" in text and "eyJ" in text:
        return True
    if "A" in text and ("AKIA" in text or "ASIA" in text or "AIza" in text):
        return True
    return "earer" in text or "EARER" in text or "Basic " in text


class Masking:
    """The usual secrets and those the person named. Answers are remembered for keys; the memory is bounded."""

    def __init__(self, keys: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        self._globs = [re.compile(fnmatch.translate(key), re.IGNORECASE) for key in keys]
        self.problems: list[str] = []
        self.patterns: list[re.Pattern[str]] = []
        for pattern in patterns:
            try:
                self.patterns.append(re.compile(pattern))
            except re.error as error:
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

    def text(self, text: str) -> str:
        """The text with secrets replaced; the same object when there are none."""
        if len(text) >= 8 and may_hold_secret(text):
            replaced = _SECRET.sub(_replace, text)
            if replaced != text:
                text = replaced
        for pattern in self.patterns:
            replaced = pattern.sub(MASK, text)
            if replaced != text:
                text = replaced
        return text

    def binary(self, data: bytes) -> bytes:
        text = data.decode("latin-1")
        masked = self.text(text)
        return data if masked is text else masked.encode("utf-8")
