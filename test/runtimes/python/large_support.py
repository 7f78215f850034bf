"""What the tests of large values share: writers of both ways, and what is in their files."""

from __future__ import annotations

import itertools
from marshal import loads
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from spool_reader import END, START, all_frames
from toolbreak import _optional
from toolbreak._values import Settings
from toolbreak._writer import Writer

numbers = itertools.count(1)
function = SimpleNamespace(
    id=1,
    kind="tool",
    name="f",
    qualname="f",
    module="app",
    path="/app.py",
    line=3,
    end_line=5,
)
task = SimpleNamespace(id=1, name="main", parent=None)
PADDING = "words that make it large " * 200


def call(args: dict[str, Any], **changes: Any) -> Any:
    fields: dict[str, Any] = dict(
        number=next(numbers),
        function=function,
        task=task,
        parent=None,
        started_ns=5,
        args=args,
        result=None,
        error=None,
        attributes={},
        told=0,
    )
    return SimpleNamespace(**{**fields, **changes})


def made_in(folder: Path, way: str, monkeypatch: pytest.MonkeyPatch | None = None, **given: Any) -> Writer:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    made = Writer(str(folder), "12-ab", Settings(**{"seconds": 60.0, **given}))
    if way == "python":
        made.settings.rules = None
        if monkeypatch is not None:
            monkeypatch.setattr(_optional, "Snapshot", None)
    return made


def given_to(writer: Writer, *values: Any) -> None:
    writer.start(call({f"v{index}": value for index, value in enumerate(values)}))


def returned(writer: Writer, value: Any) -> None:
    writer.end(call({}, result=value), 0)


def starts(folder: Path) -> list[Any]:
    return [frame[6] for frame in all_frames(folder) if frame[0] == START]


def results(folder: Path) -> list[Any]:
    return [frame[4] for frame in all_frames(folder) if frame[0] == END]


def sizes(folder: Path, kind: int) -> list[int]:
    """Of the frames of this kind as they are in the files."""
    found: list[int] = []
    for path in sorted(folder.glob("*.spool")):
        data, place = path.read_bytes(), 8
        while place + 8 <= len(data):
            length = int.from_bytes(data[place : place + 4], "little")
            if length in (0, 0xFFFFFFFF):
                break
            if loads(data[place + 8 : place + 8 + length])[0] == kind:
                found.append(length)
            place = (place + 8 + length + 3) & -4
    return found
