"""Spool files as a follower reads them."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from marshal import dumps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from spool_reader import (
    END,
    EVENT,
    FUNCTION,
    RENAME,
    SEGMENT,
    START,
    STATE,
    TASK,
    all_frames,
    read_folder,
    read_segment,
)
from toolbreak import _calls, _optional, _segments, _spool
from toolbreak._spool import SPOOL_VERSION
from toolbreak._values import Settings
from toolbreak._writer import Writer

pytestmark = pytest.mark.essential

numbers = itertools.count(1)
function = SimpleNamespace(
    id=1, kind="tool", name="lookup", qualname="lookup", module="app", path="/app.py", line=3, end_line=5
)
task = SimpleNamespace(id=1, name="main", parent=None)


def call(**changes: Any) -> Any:
    fields: dict[str, Any] = dict(
        number=next(numbers),
        function=function,
        task=task,
        parent=None,
        started_ns=5,
        args={"order_id": 7},
        result={"ok": True},
        error=None,
        attributes={},
    )
    return SimpleNamespace(**{**fields, **changes})


def of_kind(frames: list[tuple[Any, ...]], kind: int) -> list[tuple[Any, ...]]:
    return [frame for frame in frames if frame[0] == kind]


@pytest.fixture(params=["compiled", "python"])
def writer(tmp_path: Path, request: pytest.FixtureRequest) -> Writer:
    made = Writer(str(tmp_path), "12-ab", info={"name": "app.py"})
    task.name = "main"
    if request.param == "python":
        made.settings.rules = None
    return made


def test_a_call(writer: Writer, tmp_path: Path) -> None:
    outer = call()
    inner = call(parent=outer, attributes={"model": "m"})
    writer.start(outer)
    writer.start(inner)
    writer.state(inner, "before", {"messages": []})
    writer.end(inner, 0)
    outer.error = ValueError("no")
    writer.end(outer, 1)
    writer.event("held", outer, {"boundary": "before"})
    writer.event("mark", None)
    task.name = "agent"
    writer.rename(task)
    frames = all_frames(tmp_path)
    assert [frame[0] for frame in frames] == [
        SEGMENT,
        FUNCTION,
        TASK,
        START,
        START,
        STATE,
        END,
        END,
        EVENT,
        EVENT,
        RENAME,
    ]
    segment = frames[0]
    assert (
        segment[1:5] == (SPOOL_VERSION, "12-ab", os.getpid(), os.getppid())
        and segment[6] == threading.current_thread().name
        and segment[9] == {"name": "app.py"}
    )
    assert frames[1] == (FUNCTION, 1, "tool", "lookup", "lookup", "app", "/app.py", 3, 5)
    assert frames[2] == (TASK, 1, "main", 0)
    assert frames[3] == (START, outer.number, 0, 1, 1, 5, {"order_id": 7}, None)
    assert frames[4][2] == outer.number and frames[4][7] == {"model": "m"}
    assert frames[5][3:] == ("before", {"messages": []})
    assert frames[6][1] == inner.number and frames[6][3:] == (0, {"ok": True}, None)
    assert frames[7][3] == 1 and frames[7][4][:4] == (..., "error", "ValueError", "no")
    assert frames[8][2:] == ("held", outer.number, {"boundary": "before"}) and frames[9][2:] == ("mark", 0, {})
    assert list(tmp_path.iterdir())[0].stat().st_mode & 0o777 == 0o600


def test_frames_are_there_before_anything_is_closed(writer: Writer, tmp_path: Path) -> None:
    for count in range(1, 5):
        writer.start(call())
        assert len(of_kind(all_frames(tmp_path), START)) == count


def test_full_segments_and_large_frames(writer: Writer, tmp_path: Path) -> None:
    wanted: list[Any] = []
    for size in [10, 100_000, 100_000, 100_000, 900_000, 900_000, 900_000, 900_000, 900_000, 50] * 2:
        made = call(args={"text": "x" * size})
        wanted.append((made.number, size))
        writer.start(made)
    folder = read_folder(tmp_path)
    assert len(folder) > 2
    assert all(frames[0][0] == SEGMENT for frames in folder.values())
    found = [(frame[1], len(frame[6]["text"])) for frame in of_kind(all_frames(tmp_path), START)]
    assert found == wanted
    assert len(of_kind(all_frames(tmp_path), FUNCTION)) == 1


def test_files_of_a_thread_get_larger(writer: Writer, tmp_path: Path) -> None:
    count = 0
    while not (tmp_path / "12-ab-4.spool").exists():
        count += 1
        writer.start(call(args={"text": "words " * 100}))
    sizes = [(tmp_path / f"12-ab-{number}.spool").stat().st_size for number in range(1, 5)]
    assert sizes == [size + _segments.BEHIND for size in (256 << 10, 1 << 20, 4 << 20, 4 << 20)]
    assert len(of_kind(all_frames(tmp_path), START)) == count


@pytest.mark.skipif(_optional.Cursor is None, reason="the compiled part is not built")
def test_the_input_and_the_result_of_a_workflow_are_written_by_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer(str(tmp_path), "12-ab")
    writer.configure(Settings(references=True))
    flow = SimpleNamespace(**{**vars(function), "id": 2, "kind": "workflow"})
    data: dict[str, Any] = {f"key{index}": {"values": list(range(20)), "text": "words"} for index in range(30)}
    data["more"] = {"texts": [""]}
    given = {"input": {"count": 1, "data": data, "texts": ["words " * 100], "text": "words " * 100, "none": {}}}
    first = call(function=flow, args=given)
    writer.start(first)
    writer.end(call(function=flow, number=first.number, args={}, result=given["input"]), 0)
    monkeypatch.setattr(writer, "_append_state", None)
    for size in (1, 100, 1000):  # The last one has no room in the first file.
        data["more"] = {"texts": [f"words {index} " * 30 for index in range(size)]}
        again = call(function=flow, args=given)
        writer.start(again)
        writer.end(call(function=flow, number=again.number, args={}, result=given["input"]), 0)
    frames = all_frames(tmp_path)
    assert [len(frame[6]["input"]["data"]["more"]["texts"]) for frame in of_kind(frames, START)[1:]] == [1, 100, 1000]
    assert [len(frame[4]["data"]["more"]["texts"]) for frame in of_kind(frames, END)[1:]] == [1, 100, 1000]
    assert of_kind(frames, START)[-1][6] == given and of_kind(frames, END)[-1][4] == given["input"]


@pytest.mark.skipif(_optional.Rules is None, reason="the compiled part is not built")
def test_texts_of_every_kind_are_written_by_compiled_code_as_marshal_writes_them() -> None:
    rules: Any = Settings().rules
    for text in (
        "",
        "a",
        "some text",
        "a" * 46,
        "a" * 300,
        "\x7f",
        "nul \0",
        "\x80",
        "caf\xe9",
        "\u4e2d",
        "\U0001f600",
        "half \ud800",
    ):
        for each in (text, "".join(list(text)), sys.intern(text)):
            encoded = rules.encode(each)
            assert encoded is None or encoded == dumps(each, 2), text
            assert encoded is not None or "\ud800" in text


def test_a_frame_larger_than_any_segment(tmp_path: Path) -> None:

    writer = Writer(str(tmp_path), "1-a", Settings(max_value_bytes=20_000_000))
    made = call(args={"text": "x" * 9_000_000})
    writer.start(made)
    writer.start(call())
    starts = of_kind(all_frames(tmp_path), START)
    assert len(starts) == 2 and len(starts[0][6]["text"]) == 9_000_000


def test_threads_have_segments_of_their_own(writer: Writer, tmp_path: Path) -> None:
    barrier = threading.Barrier(4)

    def work() -> None:
        for index in range(300):
            made = call()
            writer.start(made)
            writer.end(made, 0)
            if index == 0:
                barrier.wait()

    threads = [threading.Thread(target=work, name=f"worker {index}") for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folder = read_folder(tmp_path)
    assert {frames[0][6] for frames in folder.values()} == {f"worker {index}" for index in range(4)}
    assert len(of_kind(all_frames(tmp_path), START)) == len(of_kind(all_frames(tmp_path), END)) == 1200


def test_threads_that_follow_one_another_share_a_file(writer: Writer, tmp_path: Path) -> None:
    for _ in range(20):
        thread = threading.Thread(target=lambda: writer.start(call()))
        thread.start()
        thread.join()
    assert len(list(tmp_path.iterdir())) == 1
    assert len(of_kind(all_frames(tmp_path), START)) == 20


def test_a_call_recorded_in_the_middle_of_an_append_waits(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a signal handler or a finaliser would do: `crc32` is where the append is interrupted here."""
    writer.start(call())
    real = _spool.crc32
    nested = call(args={"nested": True})
    armed = [True]

    def interrupting(data: bytes) -> int:
        if armed:
            armed.clear()
            writer.start(nested)
            writer.end(nested, 0)
        return real(data)

    monkeypatch.setattr(_spool, "crc32", interrupting)
    outer = call(args={"outer": True})
    writer.start(outer)
    frames = all_frames(tmp_path)
    assert [(frame[0], frame[1]) for frame in frames if frame[0] in (START, END)][1:] == [
        (START, outer.number),
        (START, nested.number),
        (END, nested.number),
    ]


def test_an_exception_in_the_middle_of_an_append_loses_one_frame_at_most(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.start(call())
    real = _spool.crc32

    def interrupted(data: bytes) -> int:
        raise KeyboardInterrupt

    writer.settings.rules = None  # Compiled code is not interrupted.
    monkeypatch.setattr(_spool, "crc32", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.start(call())
    monkeypatch.setattr(_spool, "crc32", real)
    last = call()
    writer.start(last)
    starts = of_kind(all_frames(tmp_path), START)
    assert len(starts) == 2 and starts[-1][1] == last.number


def test_what_an_interrupted_append_left_is_not_read_as_frames(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long frame does not come to its end, and shorter ones follow in its place."""
    real = _spool.crc32

    def interrupted(data: bytes) -> int:
        raise KeyboardInterrupt

    writer.start(call())
    writer.settings.rules = None
    monkeypatch.setattr(_spool, "crc32", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.start(call(args={"text": "x" * 4000}))
    monkeypatch.setattr(_spool, "crc32", real)
    made = [call() for _ in range(100)]
    for each in made:
        writer.start(each)
    assert [frame[1] for frame in of_kind(all_frames(tmp_path), START)][1:] == [each.number for each in made]


def test_a_file_that_was_not_finished_is_no_gap(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal handler's exception, of an alarm say, may come while a file is made."""
    real = _segments.allocate

    def interrupted(file: int, size: int) -> None:
        real(file, size)
        raise TimeoutAlarm

    class TimeoutAlarm(BaseException):
        pass

    monkeypatch.setattr(_segments, "allocate", interrupted)
    with pytest.raises(TimeoutAlarm):
        writer.start(call())
    monkeypatch.setattr(_segments, "allocate", real)
    writer.start(call())
    assert sorted(path.name for path in tmp_path.glob("*.spool")) == ["12-ab-1.spool", "12-ab-2.spool"]
    # It says itself that nothing follows: an empty one would be taken for one that was lost.
    assert (tmp_path / "12-ab-1.spool").read_bytes() == b"TBSPOOL1\xff\xff\xff\xff"
    assert read_segment(tmp_path / "12-ab-1.spool") == []
    assert len(of_kind(read_segment(tmp_path / "12-ab-2.spool"), START)) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_signal_handlers_that_record(writer: Writer, tmp_path: Path) -> None:
    handled: list[int] = []

    def handler(*_: Any) -> None:
        made = call()
        writer.start(made)
        writer.end(made, 0)
        handled.append(made.number)

    old = signal.signal(signal.SIGALRM, handler)
    made = []
    try:
        # Longer than a handler takes on a busy machine: else each begins in the one before it, up to the recursion limit.
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.005)
        while len(handled) < 20:
            made.append(call())
            writer.start(made[-1])
            writer.end(made[-1], 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    frames = all_frames(tmp_path)
    numbers_wanted = sorted([*handled, *(each.number for each in made)])
    assert sorted(frame[1] for frame in of_kind(frames, START)) == numbers_wanted
    assert sorted(frame[1] for frame in of_kind(frames, END)) == numbers_wanted


def test_what_a_handler_records_while_the_first_file_is_opened(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [call() for _ in range(3)]
    allocate = _segments.allocate

    def interrupted(file: int, size: int) -> None:
        for each in made[1:]:
            writer.start(each)
            writer.end(each, 0)
            assert each.recorded == 2
        allocate(file, size)

    monkeypatch.setattr(_segments, "allocate", interrupted)
    writer.start(made[0])
    writer.end(made[0], 0)
    assert [path.name for path in tmp_path.iterdir()] == ["12-ab-1.spool"]
    frames = all_frames(tmp_path)
    wanted = sorted(each.number for each in made)
    assert sorted(frame[1] for frame in of_kind(frames, START)) == wanted
    assert sorted(frame[1] for frame in of_kind(frames, END)) == wanted


def test_a_file_that_cannot_say_what_it_is_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    writer = Writer(str(tmp_path), "1-a", problem=said.append)

    def failing(self: Writer) -> bytes:
        raise ValueError("unmarshallable object")

    monkeypatch.setattr(Writer, "_header", failing)
    for _ in range(3):
        writer.start(call())
    assert (list(tmp_path.iterdir()), len(said), writer.ended) == ([], 1, True)


def test_a_call_whose_arguments_were_interrupted_is_there_without_them(writer: Writer, tmp_path: Path) -> None:
    lost, below = call(), call()
    below.parent = lost
    writer.start(below)
    writer.start_lost(lost)
    assert lost.recorded == 1
    [start] = [frame for frame in of_kind(all_frames(tmp_path), START) if frame[1] == lost.number]
    assert start[6] == {"order_id": (..., "opaque", "", "", "the app interrupted its recording")}


def test_what_is_called_while_a_call_is_written_stands_below_it(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_calls, "writer", writer)
    outer, handler = _calls.function("tool", "outer"), _calls.function("tool", "handler")
    made: list[Any] = []
    encode = writer._encode

    def interrupted(value: Any) -> Any:
        writer._encode = encode
        made.append(_calls.begin(handler, {}))
        raise KeyboardInterrupt

    writer._encode = interrupted
    with pytest.raises(KeyboardInterrupt):
        _calls.begin(outer, {"rows": [1]})
    starts = {frame[3]: frame for frame in of_kind(all_frames(tmp_path), START)}
    assert starts[handler.id][2] == starts[outer.id][1] == made[0].parent.number
    [end] = of_kind(all_frames(tmp_path), END)
    assert (end[1], end[3]) == (starts[outer.id][1], 2)


def test_a_handler_that_raises_while_the_first_file_is_opened(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = call(), call()
    allocate = _segments.allocate

    def interrupted(file: int, size: int) -> None:
        writer.start(first)
        raise KeyboardInterrupt

    monkeypatch.setattr(_segments, "allocate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.start(call())
    monkeypatch.setattr(_segments, "allocate", allocate)
    writer.start(second)
    assert {first.number, second.number} <= {frame[1] for frame in of_kind(all_frames(tmp_path), START)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_its_own(writer: Writer, tmp_path: Path) -> None:
    writer.start(call())
    pid = os.fork()
    if pid == 0:
        try:
            writer.after_fork("13-cd")
            writer.start(call(args={"child": True}))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    writer.start(call())
    folder = read_folder(tmp_path)
    assert set(folder) == {"12-ab-1.spool", "13-cd-1.spool"}
    child = folder["13-cd-1.spool"]
    assert [frame[0] for frame in child] == [SEGMENT, FUNCTION, TASK, START]
    assert child[0][2:4] == ("13-cd", pid)
    assert len(of_kind(folder["12-ab-1.spool"], START)) == 2


def test_the_cap_ends_the_recording_with_a_mark(tmp_path: Path) -> None:
    said: list[str] = []
    writer = Writer(str(tmp_path), "1-a", problem=said.append, limit=1_000_000)
    for _ in range(100):
        writer.start(call(args={"text": "x" * 100_000}))
    assert writer.ended and len(said) == 1 and "Recording ended" in said[0]
    last = all_frames(tmp_path)[-1]
    assert last[0] == EVENT and last[2] == "mark" and "Recording ended" in last[4]["text"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1_000_000
    writer.end(call(), 0)
    writer.event("log", None, {})


def test_a_follower_that_deletes_makes_room(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path), "1-a", limit=9_000_000)
    seen = 0
    for _ in range(40):
        writer.start(call(args={"text": "x" * 900_000}))
        paths = sorted(tmp_path.iterdir(), key=lambda path: int(path.stem.rpartition("-")[2]))
        for path in paths[:-1]:
            path.unlink()
            seen += 1
    assert not writer.ended and seen >= 5


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = Writer(str(tmp_path / "missing"), "1-a")
    for _ in range(3):
        writer.start(call())
    assert writer.ended
    assert capsys.readouterr().err.count("Recording ended") == 1


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    said: list[str] = []
    writer = Writer(str(tmp_path), "1-a", problem=said.append)
    writer.start(call())

    def full(file: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_segments, "allocate", full)
    for _ in range(5):
        writer.start(call(args={"text": "x" * 200_000}))
    assert said == [
        "Recording ended: the spool file could not be written (No space left on device). The app goes on without it."
    ]
    frames = all_frames(tmp_path)
    assert frames[-1][2] == "mark" and len(list(tmp_path.iterdir())) == 1


def test_after_close_nothing_is_written(writer: Writer, tmp_path: Path) -> None:
    writer.start(call())
    writer.close()
    before = all_frames(tmp_path)
    writer.start(call())
    writer.event("log", None, {})
    assert all_frames(tmp_path) == before


def test_secrets_never_reach_the_file(writer: Writer, tmp_path: Path) -> None:
    made = call(args={"api_key": "hunter2-hunter2", "note": "Bearer abcdefgh12345678"})
    writer.start(made)
    made.error = ValueError("password=hunter2-hunter2")
    writer.end(made, 1)
    writer.event("log", made, {"text": "sk-abcdefgh12345678abcd"})
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (b"hunter2", b"abcdefgh12345678"):
        assert secret not in data
