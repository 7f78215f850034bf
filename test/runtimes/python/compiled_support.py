"""What the tests of the compiled part share: a segment, and Python's bytes beside those that C code wrote."""

from __future__ import annotations

from marshal import dumps
from pathlib import Path
from typing import Any

from spool_reader import read_segment
from toolbreak._secrets import ROW_NAMES, ROW_VALUES, TYPED_VALUES
from toolbreak._segments import Segment
from toolbreak._values import Settings

WRITTEN, NOT_PLAIN, NO_ROOM = range(3)

#: What secrets are made of, and what only looks like it.
PIECES = [
    *("sk-", "xox", "b-1", "k_", "ghp_", "gh", "hf_", "npm_", "lsv2_", "glpat-", "eyJ", "AKIA", "ASIA", "AIza", "--"),
    *("password", "Token", "api_key", "secret", "=", ": ", "('", '["', "?", "&sig=", "@", "Bearer ", "BEARER "),
    *(
        "Basic ",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "https://",
        "user:",
        "cookie",
        "pass",
        "0123456789abcdef",
        "ABCDEFGH12345678",
    ),
    *("words", " ", "é", "\ud800", "x", "_", "-", "a" * 40),
]
KEYS = [*ROW_NAMES, *ROW_VALUES, *TYPED_VALUES, "password", "auth", "count", "a", "langgraph.step", "clé"]


class File:
    """One segment, and what it has."""

    def __init__(self, path: Path, size: int = 1 << 20) -> None:
        path.unlink(missing_ok=True)
        self.path = path
        self.segment = Segment(str(path), size, set())

    def put(self, rules: Any, frame: tuple[Any, ...], *rest: Any) -> int:
        return int(self.segment.put(rules, None, 0, frame, *rest))

    def frames(self) -> list[tuple[Any, ...]]:
        return read_segment(self.path)

    def payload(self) -> bytes:
        """Of the first frame."""
        data = self.path.read_bytes()
        length = int.from_bytes(data[8:12], "little")
        return data[16 : 16 + length]


def known(value: Any, **given: Any) -> Any:
    """Settings that saw the value before."""
    made = Settings(**{"seconds": 60.0, **given})
    made.encode(value)
    return made


def check(folder: Path, value: Any) -> int:
    """Puts the value, and looks that it is written as Python code writes it or not at all."""
    rules = known(value)
    encoded = rules.encode(value)
    alone = rules.rules.encode(value)
    file = File(folder / "one.spool")
    try:
        done = file.put(rules.rules, (9, value))
        assert (alone is None) is (done != WRITTEN)
        if done == WRITTEN:
            assert alone == dumps(encoded, 2)
            assert file.payload() == dumps((9, encoded), 2)
            assert len(file.frames()) == 1
        else:
            assert done == NOT_PLAIN
            assert file.segment.place == 8
            assert not any(file.path.read_bytes()[8:])
        return done
    finally:
        file.segment.close()
