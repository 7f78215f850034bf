"""Large values given to calls again and again: what a reader sees is what would be there if all of it were written each time."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from large_support import PADDING, call, given_to, made_in, results, returned, sizes, starts
from spool_reader import END, START, read_folder
from toolbreak import _large
from toolbreak._values import Settings
from toolbreak._writer import Writer

pytestmark = pytest.mark.essential


@pytest.fixture(params=["compiled", "python"])
def writer(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Writer:
    return made_in(tmp_path, request.param, monkeypatch)


def table(rows: int = 300) -> dict[str, Any]:
    return {
        f"key{row}": {
            "name": f"entry {row}",
            "values": list(range(20)),
            "more": (row, [None]),
        }
        for row in range(rows)
    }


def test_what_comes_again_is_referred_to(writer: Writer, tmp_path: Path) -> None:
    value, other = table(), [PADDING]
    for _ in range(6):
        given_to(writer, value, 5, other)
        returned(writer, value)
    assert starts(tmp_path) == [{"v0": value, "v1": 5, "v2": other}] * 6
    assert results(tmp_path) == [value] * 6
    first, *_, last = sizes(tmp_path, START)
    assert first > 30_000 and last < 300
    assert sizes(tmp_path, END)[-1] < 200


@pytest.mark.parametrize(
    "value",
    [
        PADDING,
        PADDING.encode(),
        "é" * 3000,
        (PADDING, [1, 2], {"a": 1}),
        "words " * 100_000,
        b"words " * 100_000,
        ["words " * 100_000],
    ],
    ids=lambda value: f"{type(value).__name__} {len(value)}",
)
def test_texts_bytes_and_tuples_too(writer: Writer, tmp_path: Path, value: Any) -> None:
    for _ in range(4):
        given_to(writer, value)
        returned(writer, value)
    assert starts(tmp_path) == [{"v0": value}] * 4
    assert results(tmp_path) == [value] * 4
    assert sizes(tmp_path, START)[-1] < 100


def test_a_change_deep_inside_is_seen(writer: Writer, tmp_path: Path) -> None:
    value = table()
    expected: list[Any] = []

    def record() -> None:
        given_to(writer, value)
        expected.append({"v0": Settings().encode(value)})

    for _ in range(4):
        record()
    value["key250"]["values"][7] = "changed"
    for _ in range(4):
        record()
    value["key0"]["more"][1].append(1)
    for _ in range(4):
        record()
    value["key9"]["values"][3] = True  # Was 3.
    value["key9"]["values"][1] = True  # Was 1, which equals it.
    for _ in range(4):
        record()
    value["key1"]["name"] = value["key1"].pop("name")
    for _ in range(4):
        record()
    del value["key299"]
    record()
    assert starts(tmp_path) == expected
    assert [repr(each) for each in starts(tmp_path)] == [repr(each) for each in expected]


def test_each_thread_has_it_in_its_own_file(writer: Writer, tmp_path: Path) -> None:
    value = table()
    for _ in range(4):
        given_to(writer, value)

    def work() -> None:
        for _ in range(4):
            given_to(writer, value)
            returned(writer, value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    given_to(writer, value)
    files = read_folder(tmp_path)
    assert len(files) == 2
    assert starts(tmp_path) == [{"v0": value}] * 9
    assert results(tmp_path) == [value] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_writes_it_anew(writer: Writer, tmp_path: Path) -> None:
    value = table()
    for _ in range(4):
        given_to(writer, value)
    child = os.fork()
    if child == 0:
        writer.after_fork("12-child")
        for _ in range(5):
            given_to(writer, value)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    given_to(writer, value)
    files = read_folder(tmp_path)
    assert len(files) == 2
    for frames, count in zip(files.values(), (5, 5)):
        assert [frame[6] for frame in frames if frame[0] == START] == [{"v0": value}] * count


def test_a_new_file_has_it_again(writer: Writer, tmp_path: Path) -> None:
    value = table()
    for number in range(40):
        given_to(writer, value)
        given_to(writer, {"other": number, "fill": [f"{number} {PADDING}"] * 40})
    files = read_folder(tmp_path)
    assert len(files) > 1
    assert [each["v0"] for each in starts(tmp_path)][::2] == [value] * 40
    assert max(sizes(tmp_path, START)[::2][3:]) > 30_000  # Once in each file.
    assert sum(size > 1000 for size in sizes(tmp_path, START)[::2]) <= len(files) + 3


def test_masks_stand_in_it_as_they_would(writer: Writer, tmp_path: Path) -> None:
    value = {
        "password": "hunter2",
        "rows": [{"name": "API_KEY", "value": "abcdef"}],
        "text": PADDING,
        "more": table(5),
    }
    note = PADDING + "Authorization: Bearer abcdefgh12345678"
    for _ in range(6):
        given_to(writer, value, note)
    whole = Settings().encode({"v0": value, "v1": note})
    assert starts(tmp_path) == [whole] * 6
    assert "hunter2" not in repr(whole) and sizes(tmp_path, START)[-1] < 300


def test_names_of_arguments_say_what_is_masked(writer: Writer, tmp_path: Path) -> None:
    value = table()
    for args in (
        {"password": value},
        {"name": "API_KEY", "value": value},
        {"value": value},
        {"auth": (PADDING, PADDING)},
    ):
        for _ in range(4):
            writer.start(call(args))
    expected = [
        Settings().encode(args)
        for args in (
            {"password": value},
            {"name": "API_KEY", "value": value},
            {"value": value},
            {"auth": (PADDING, PADDING)},
        )
    ]
    assert starts(tmp_path) == [each for each in expected for _ in range(4)]
    assert sizes(tmp_path, START)[11] < 200


def test_a_configuration_may_leave_references_out(tmp_path: Path) -> None:
    for way in ("compiled", "python"):
        writer = made_in(tmp_path, way, references=False)
        value = table()
        for _ in range(4):
            given_to(writer, value)
        assert min(sizes(tmp_path, START)) > 30_000


def test_only_so_much_is_kept_alive(writer: Writer) -> None:
    for number in range(60):
        value = {"number": number, "text": [f"{number} {PADDING}" for _ in range(100)]}
        for _ in range(3):
            given_to(writer, value)
    parts = writer.large._memo.parts
    assert 0 < len(parts) < 12
    assert sum(part.size for part in parts.values()) <= _large._MOST_BYTES
    writer.close()
    assert not writer.large._memo.parts


def test_what_a_finaliser_could_tell_is_not_kept(writer: Writer, tmp_path: Path) -> None:
    gone: list[int] = []

    class Row:
        def __del__(self) -> None:
            gone.append(1)

    value = [Row(), PADDING]
    for _ in range(3):
        given_to(writer, value)
    del value
    assert gone == [1]
    assert min(sizes(tmp_path, START)) > 4096
