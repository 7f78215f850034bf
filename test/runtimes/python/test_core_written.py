"""What the app writes is told, and the streams are as they were afterwards."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from toolbreak import _written

Told = list[tuple[str, str]]


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """With streams like those of an app; no fixture, since pytest's own are put in place when the test begins."""
    told: Told = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True))
        patch.setattr(sys, "stderr", io.StringIO())
        _written.watch(lambda name, text: told.append((name, text)))
        try:
            yield told
        finally:
            _written.unwatch()


def written() -> bytes:
    return sys.stdout.buffer.getvalue()  # type: ignore[attr-defined]


def test_tells_what_was_written_and_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(monkeypatch) as told:
        print("one", 2)
        sys.stdout.writelines(["three\n", "four"])
        assert "".join(text for _, text in told) == "one 2\nthree\nfour"
        assert {name for name, _ in told} == {"stdout"}
        assert written() == b"one 2\nthree\nfour"
        assert sys.stdout.write("five") == 4


def test_passes_errors_of_writing_on_and_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(monkeypatch) as told:
        with pytest.raises(UnicodeEncodeError):
            print("\xe4", end="")
        with pytest.raises(TypeError):
            sys.stdout.write(3)  # type: ignore[arg-type]
        assert told == []


def test_a_listener_that_fails_breaks_no_write(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[BaseException] = []
    monkeypatch.setattr("toolbreak._report.failure", reported.append)

    def fails(_name: str, _text: str) -> None:
        raise ValueError("no")

    with listening(monkeypatch):
        _written.watch(fails)
        print("on")
        assert written() == b"on\n"
        assert [str(error) for error in reported] == ["no", "no"]


def test_leaves_streams_of_the_app_alone_and_takes_its_own_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(monkeypatch) as told:
        assert isinstance(sys.stderr, io.StringIO)
        print("unseen", file=sys.stderr)
        _written.watch(lambda name, text: told.append((name, text)))
        print("once", end="")
        assert told == [("stdout", "once")]
        _written.unwatch()
        assert "write" not in vars(sys.stdout)
        print("later")
        assert told == [("stdout", "once")]
